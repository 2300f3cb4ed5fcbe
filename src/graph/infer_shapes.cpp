#include "graph/infer_shapes.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ops/infer_again.h"
#include "ops/reflection.h"

namespace warploom::graph {
namespace {

error_t refuse(std::string_view subject, std::string_view found, std::string_view accepted) {
  return {error_code_t::INVALID_VALUE,
          fmt::format("Override of shapes: {}: found {}, accepted {}", subject, found, accepted)};
}

std::string accepted_uids(const ir::FrozenGraph& graph) {
  std::vector<int64_t> uids;
  for (const ir::Tensor& tensor : graph.tensors)
    if (!tensor.is_virtual && !tensor.value) uids.push_back(tensor.uid);
  std::ranges::sort(uids);
  return fmt::format("one of {}", fmt::join(uids, ", "));
}

error_t check_list_lengths(const ShapeOverrides& overrides) {
  const size_t count = overrides.uids.size();
  if (overrides.dims.size() == count && overrides.strides.size() == count) return {};
  return refuse("the lists",
                fmt::format("{} uids, {} shapes and {} strides", count, overrides.dims.size(),
                            overrides.strides.size()),
                "as many shapes and strides as uids");
}

error_t override_shape(ir::FrozenGraph& graph, int64_t uid, const std::vector<int64_t>& dims,
                       const std::vector<int64_t>& strides) {
  const auto tensor = std::ranges::find(graph.tensors, uid, &ir::Tensor::uid);
  if (tensor == graph.tensors.end())
    return refuse(fmt::format("uid {}", uid), "no tensor of the graph", accepted_uids(graph));
  const std::string subject = fmt::format("tensor \"{}\" (uid {})", tensor->name, uid);
  if (tensor->is_virtual)
    return refuse(subject, "a virtual tensor, whose shape follows from those of others",
                  accepted_uids(graph));
  if (tensor->value) return refuse(subject, "a stored scalar", accepted_uids(graph));
  const size_t rank = tensor->shape.dims.size();
  if (dims.size() != rank || strides.size() != rank)
    return refuse(subject, fmt::format("{} dims and {} strides", dims.size(), strides.size()),
                  fmt::format("{} of each, as described", rank));
  tensor->shape = {dims, strides};
  return {};
}

/// A tensor as the description had it, with its shape where that is known before inference.
Tensor_attributes attributes_of(const ir::Tensor& tensor) {
  Tensor_attributes attributes;
  if (tensor.value) attributes = Tensor_attributes(*tensor.value, ScalarType::RUNTIME_PARAM);
  attributes.set_name(tensor.name)
      .set_data_type(tensor.declared_type)
      .set_is_virtual(tensor.is_virtual)
      .set_alignment(tensor.alignment)
      .set_is_pass_by_value(tensor.is_pass_by_value);
  if (!tensor.is_virtual) attributes.set_dim(tensor.shape.dims).set_stride(tensor.shape.strides);
  return attributes;
}

/// Infers node by node.
class Inference {
 public:
  Inference(const ir::FrozenGraph& described, ir::FrozenGraph& graph)
      : described_(described), graph_(graph) {
    tensors_.reserve(graph.tensors.size());
    for (const ir::Tensor& tensor : graph.tensors) tensors_.push_back(attributes_of(tensor));
  }

  error_t run() {
    for (ir::Node& node : graph_.nodes) CHECK_WARPLOOM_ERROR(infer(node));
    return {};
  }

 private:
  error_t infer(ir::Node& node) {
    const auto inputs = described_shapes(node.inputs), outputs = described_shapes(node.outputs);
    ops::inputs(node.operation) = tensors(node.inputs);
    ops::outputs(node.operation) = tensors(node.outputs);
    CHECK_WARPLOOM_ERROR(ops::infer_again(node.operation, {inputs, outputs}));
    for (ir::TensorId id : node.outputs) {
      if (id == ir::kNoTensor) continue;
      const Tensor_attributes& result = tensors_[static_cast<size_t>(id)];
      graph_.tensors[static_cast<size_t>(id)].shape = {result.get_dim(), result.get_stride()};
    }
    ops::inputs(node.operation).clear();
    ops::outputs(node.operation).clear();
    return {};
  }

  /// Pointers that own nothing: counting references would cost more than what they are for.
  std::vector<TensorPtr> tensors(const std::vector<ir::TensorId>& ids) {
    std::vector<TensorPtr> result;
    result.reserve(ids.size());
    for (ir::TensorId id : ids)
      result.emplace_back(std::shared_ptr<void>(),
                          id == ir::kNoTensor ? nullptr : &tensors_[static_cast<size_t>(id)]);
    return result;
  }

  std::vector<const ir::Shape*> described_shapes(const std::vector<ir::TensorId>& ids) const {
    std::vector<const ir::Shape*> result;
    result.reserve(ids.size());
    for (ir::TensorId id : ids)
      result.push_back(id == ir::kNoTensor ? nullptr : &described_.tensor(id).shape);
    return result;
  }

  const ir::FrozenGraph& described_;
  ir::FrozenGraph& graph_;
  std::vector<Tensor_attributes> tensors_;  ///< by TensorId
};

}  // namespace

Result<std::shared_ptr<const ir::FrozenGraph>> infer_shapes(const ir::FrozenGraph& graph,
                                                            const ShapeOverrides& overrides) {
  CHECK_WARPLOOM_ERROR(check_list_lengths(overrides));
  auto shaped = std::make_shared<ir::FrozenGraph>(graph);
  for (size_t i = 0; i < overrides.uids.size(); ++i) {
    if (std::ranges::count(overrides.uids.begin(), overrides.uids.begin() + static_cast<long>(i),
                           overrides.uids[i]) > 0)
      return refuse(fmt::format("uid {}", overrides.uids[i]), "two shapes", "one");
    CHECK_WARPLOOM_ERROR(
        override_shape(*shaped, overrides.uids[i], overrides.dims[i], overrides.strides[i]));
  }
  CHECK_WARPLOOM_ERROR(Inference(graph, *shaped).run());
  return std::shared_ptr<const ir::FrozenGraph>(std::move(shaped));
}

}  // namespace warploom::graph
