#include "graph/shape_inference.h"

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

/// Pointers that own nothing: counting references would cost more than what they are for.
void point_to(std::vector<Tensor_attributes>& tensors, const std::vector<ir::TensorId>& ids,
              std::vector<TensorPtr>& ports) {
  ports.clear();
  for (ir::TensorId id : ids)
    ports.emplace_back(std::shared_ptr<void>(),
                       id == ir::kNoTensor ? nullptr : &tensors[static_cast<size_t>(id)]);
}

void point_to_shapes(const ir::FrozenGraph& graph, const std::vector<ir::TensorId>& ids,
                     std::vector<const ir::Shape*>& shapes) {
  shapes.clear();
  for (ir::TensorId id : ids)
    shapes.push_back(id == ir::kNoTensor ? nullptr : &graph.tensor(id).shape);
}

}  // namespace

ShapeInference::ShapeInference(std::shared_ptr<const ir::FrozenGraph> described)
    : described_(std::move(described)), graph_(std::make_shared<ir::FrozenGraph>(*described_)) {
  templates_.reserve(described_->tensors.size());
  for (const ir::Tensor& tensor : described_->tensors) templates_.push_back(attributes_of(tensor));
  tensors_ = templates_;
}

error_t ShapeInference::infer(const ShapeOverrides& overrides) {
  CHECK_WARPLOOM_ERROR(check_list_lengths(overrides));
  reset();
  CHECK_WARPLOOM_ERROR(override_shapes(overrides));
  for (size_t node = 0; node < graph_->nodes.size(); ++node) CHECK_WARPLOOM_ERROR(infer(node));
  return {};
}

void ShapeInference::reset() {
  tensors_ = templates_;
  for (size_t i = 0; i < tensors_.size(); ++i)
    graph_->tensors[i].shape = described_->tensors[i].shape;
  // Inference changes what an operation says of extents in its own words.
  for (size_t i = 0; i < graph_->nodes.size(); ++i)
    graph_->nodes[i].operation = described_->nodes[i].operation;
}

error_t ShapeInference::override_shapes(const ShapeOverrides& overrides) {
  const std::vector<int64_t>& uids = overrides.uids;
  for (size_t i = 0; i < uids.size(); ++i) {
    if (std::find(uids.begin(), uids.begin() + static_cast<long>(i), uids[i]) !=
        uids.begin() + static_cast<long>(i))
      return refuse(fmt::format("uid {}", uids[i]), "two shapes", "one");
    CHECK_WARPLOOM_ERROR(override_shape(uids[i], overrides.dims[i], overrides.strides[i]));
  }
  return {};
}

error_t ShapeInference::override_shape(int64_t uid, const std::vector<int64_t>& dims,
                                       const std::vector<int64_t>& strides) {
  const auto tensor = std::ranges::find(graph_->tensors, uid, &ir::Tensor::uid);
  if (tensor == graph_->tensors.end())
    return refuse(fmt::format("uid {}", uid), "no tensor of the graph", accepted_uids(*graph_));
  const auto subject = [&] { return fmt::format("tensor \"{}\" (uid {})", tensor->name, uid); };
  if (tensor->is_virtual)
    return refuse(subject(), "a virtual tensor, whose shape follows from those of others",
                  accepted_uids(*graph_));
  if (tensor->value) return refuse(subject(), "a stored scalar", accepted_uids(*graph_));
  const size_t rank = tensor->shape.dims.size();
  if (dims.size() != rank || strides.size() != rank)
    return refuse(subject(), fmt::format("{} dims and {} strides", dims.size(), strides.size()),
                  fmt::format("{} of each, as described", rank));
  tensor->shape.dims = dims;
  tensor->shape.strides = strides;
  tensors_[static_cast<size_t>(tensor - graph_->tensors.begin())].set_dim(dims).set_stride(strides);
  return {};
}

error_t ShapeInference::infer(size_t index) {
  ir::Node& node = graph_->nodes[index];
  point_to(tensors_, node.inputs, ops::inputs(node.operation));
  point_to(tensors_, node.outputs, ops::outputs(node.operation));
  point_to_shapes(*described_, node.inputs, described_inputs_);
  point_to_shapes(*described_, node.outputs, described_outputs_);
  const error_t error = ops::infer_again(node.operation, {described_inputs_, described_outputs_});
  ops::inputs(node.operation).clear();
  ops::outputs(node.operation).clear();
  CHECK_WARPLOOM_ERROR(error);
  for (ir::TensorId id : node.outputs) {
    if (id == ir::kNoTensor) continue;
    const Tensor_attributes& result = tensors_[static_cast<size_t>(id)];
    ir::Shape& shape = graph_->tensors[static_cast<size_t>(id)].shape;
    shape.dims = result.get_dim();
    shape.strides = result.get_stride();
  }
  return {};
}

}  // namespace warploom::graph
