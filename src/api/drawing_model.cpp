#include "api/drawing_model.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "api/group_code.h"
#include "api/svg_writer.h"
#include "fusion/reasons.h"
#include "ops/reflection.h"

namespace warploom {

namespace {

constexpr size_t kLongestLine = 44;
constexpr double kBoxHeight = 40, kPillHeight = 36, kPadding = 14;
constexpr double kTitleWidth = 7.1, kDetailWidth = 6.3;  // of a character

void set_size(DrawnItem& item, double height) {
  item.title = shortened(item.title, kLongestLine);
  item.detail = shortened(item.detail, kLongestLine);
  item.box.height = height;
  item.box.width = 2 * kPadding + std::max(kTitleWidth * static_cast<double>(item.title.size()),
                                           kDetailWidth * static_cast<double>(item.detail.size()));
}

std::string type_and_dims(const ir::Tensor& tensor) {
  return fmt::format("{} {}", to_string(tensor.data_type), fusion::label_dims(tensor.shape.dims));
}

DrawnItem operation_item(const ir::FrozenGraph& graph, ir::NodeId id, const char* css_class) {
  const ir::Node& node = graph.node(id);
  const ir::TensorId result = node.outputs[0];
  DrawnItem item{.css_class = css_class,
                 .title = fusion::label(graph, id),
                 .detail = variable(graph, result) + "  " + type_and_dims(graph.tensor(result))};
  item.tooltip = fmt::format("{}, computed in {}", item.title, to_string(node.compute_data_type));
  set_size(item, kBoxHeight);
  return item;
}

DrawnItem tensor_item(const ir::FrozenGraph& graph, ir::TensorId id) {
  const ir::Tensor& tensor = graph.tensor(id);
  DrawnItem item{.css_class = tensor.is_virtual                ? "wl-work"
                              : tensor.producer == ir::kNoNode ? "wl-in"
                                                               : "wl-out",
                 .title = variable(graph, id),
                 .detail = type_and_dims(tensor)};
  if (!tensor.name.empty()) item.title += "  " + tensor.name;
  if (tensor.value)
    item.detail += fmt::format(
        " = {:.6g}",
        std::visit([](auto value) { return static_cast<double>(value); }, *tensor.value));
  item.tooltip = fmt::format("uid {} '{}': {}, strides {}{}", tensor.uid, tensor.name, item.detail,
                             fusion::label_dims(tensor.shape.strides),
                             tensor.is_virtual ? ", in the workspace" : "");
  set_size(item, kPillHeight);
  return item;
}

class ModelBuilder {
 public:
  explicit ModelBuilder(const ir::FrozenGraph& graph) : graph_(graph) {}

  /// A kernel with what it reads above its operations and what it writes below.
  void add_kernel(const std::string& title, const std::vector<ir::NodeId>& nodes,
                  const std::vector<ir::TensorId>& outputs) {
    const size_t cluster = begin(title);
    std::map<ir::TensorId, size_t> items;  // by tensor: the item from which edges come
    for (ir::NodeId node : nodes) {
      std::set<size_t> sources;
      for (ir::TensorId input : graph_.node(node).inputs) {
        if (input == ir::kNoTensor) continue;
        if (!items.contains(input)) items[input] = add_read(cluster, input);
        sources.insert(items[input]);
      }
      const size_t item = add_item(cluster, operation_item(graph_, node, "wl-op"));
      for (size_t source : sources) edges(cluster).push_back({source, item});
      for (ir::TensorId output : graph_.node(node).outputs)
        if (output != ir::kNoTensor) items[output] = item;
    }
    for (ir::TensorId output : outputs) {
      const size_t item = add_item(cluster, tensor_item(graph_, output));
      model_.clusters[cluster].items[item].box.pin = LayerPin::kLast;
      edges(cluster).push_back({items.at(output), item});
      sources_[output] = {cluster, item};
    }
  }

  /// An operation for which nothing runs: a view, or one that nobody needs.
  void add_view(ir::NodeId node) {
    const size_t cluster = begin("");
    const size_t item = add_item(cluster, operation_item(graph_, node, "wl-view"));
    for (ir::TensorId input : graph_.node(node).inputs) {
      if (input == ir::kNoTensor) continue;
      if (graph_.tensor(input).producer == ir::kNoNode)
        edges(cluster).push_back({add_item(cluster, tensor_item(graph_, input)), item});
      else
        readers_.push_back({input, {cluster, item}});
    }
    for (ir::TensorId output : graph_.node(node).outputs)
      if (output != ir::kNoTensor) sources_[output] = {cluster, item};
  }

  DrawingModel take() {
    for (const auto& [tensor, to] : readers_)
      if (const auto from = sources_.find(tensor); from != sources_.end())
        model_.links.push_back({from->second, to});
    return std::move(model_);
  }

 private:
  size_t begin(const std::string& title) {
    model_.clusters.emplace_back().title = title;
    return model_.clusters.size() - 1;
  }

  std::vector<LayoutEdge>& edges(size_t cluster) { return model_.clusters[cluster].edges; }

  size_t add_item(size_t cluster, DrawnItem item) {
    model_.clusters[cluster].items.push_back(std::move(item));
    return model_.clusters[cluster].items.size() - 1;
  }

  size_t add_read(size_t cluster, ir::TensorId tensor) {
    const size_t item = add_item(cluster, tensor_item(graph_, tensor));
    if (graph_.tensor(tensor).producer == ir::kNoNode) return item;
    model_.clusters[cluster].items[item].box.pin = LayerPin::kFirst;
    readers_.push_back({tensor, {cluster, item}});
    return item;
  }

  const ir::FrozenGraph& graph_;
  DrawingModel model_;
  std::map<ir::TensorId, DrawnPlace> sources_;
  std::vector<std::pair<ir::TensorId, DrawnPlace>> readers_;
};

}  // namespace

DrawingModel make_model(const ir::FrozenGraph& graph, const std::vector<DrawnGroup>& groups) {
  ModelBuilder builder(graph);
  std::set<ir::NodeId> drawn;
  for (size_t index = 0; index < groups.size(); ++index) {
    const fusion::FusionGroup& group = *groups[index].group;
    builder.add_kernel(fmt::format("{}  {}", index + 1, groups[index].engine), group.nodes,
                       group.outputs);
    drawn.insert(group.nodes.begin(), group.nodes.end());
  }
  std::vector<ir::NodeId> others;
  std::vector<ir::TensorId> outputs;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (drawn.contains(static_cast<ir::NodeId>(id))) continue;
    others.push_back(static_cast<ir::NodeId>(id));
    for (ir::TensorId output : graph.nodes[id].outputs)
      if (output != ir::kNoTensor && !graph.tensor(output).is_virtual) outputs.push_back(output);
  }
  if (groups.empty())
    builder.add_kernel("", others, outputs);
  else
    for (ir::NodeId node : others) builder.add_view(node);
  return builder.take();
}

}  // namespace warploom
