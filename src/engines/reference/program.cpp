#include "engines/reference/program.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "base/data_type.h"
#include "base/element.h"
#include "ops/reflection.h"
#include "ops/strides.h"

namespace warploom::engines::reference {
namespace {

constexpr int64_t kAlignment = 64;
constexpr size_t kMostPorts = std::size(graph::Concatenate_attributes::kInputs);

// A virtual float is not rounded; anything else is what its type can hold.
DataType_t type_in_workspace(DataType_t type) {
  return base::is_floating(type) ? DataType_t::DOUBLE : type;
}

ops::ReferenceTensors tensors_of(std::span<const ops::ReferenceTensor> inputs,
                                 std::span<const ops::ReferenceTensor> outputs) {
  return {inputs, outputs};
}

}  // namespace

Program::Program(const fusion::FusionGroup& group, ir::ShapeTable shapes)
    : graph_(group.graph), shapes_(shapes.begin(), shapes.end()) {
  external_ = group.inputs;
  external_.insert(external_.end(), group.outputs.begin(), group.outputs.end());
  for (ir::NodeId node : group.nodes)
    steps_.push_back({.node = node,
                      .arithmetic = ops::arithmetic_of(*graph_, graph_->node(node)),
                      .inputs = {},
                      .outputs = {}});
}

Result<std::shared_ptr<const Program>> Program::make(const fusion::FusionGroup& group,
                                                     ir::ShapeTable shapes) {
  std::shared_ptr<Program> program(new Program(group, shapes));
  CHECK_WARPLOOM_ERROR(program->add_tensors());
  CHECK_WARPLOOM_ERROR(program->add_scratch());
  return std::shared_ptr<const Program>(std::move(program));
}

error_t Program::reserve(const std::string& purpose, __int128 bytes, int64_t& offset) {
  constexpr __int128 kMost = INT64_MAX / 2;
  if (bytes > kMost - workspace_bytes_)
    return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
            "reference: " + purpose + " does not fit in any workspace"};
  offset = workspace_bytes_;
  parts_.push_back({purpose, offset, static_cast<int64_t>(bytes)});
  workspace_bytes_ += (static_cast<int64_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
  return {};
}

// Tensors that neither come in nor go out: what nodes of the group pass to each other.
error_t Program::add_tensors() {
  for (const Step& step : steps_)
    for (ir::TensorId id : graph_->node(step.node).outputs) {
      if (id == ir::kNoTensor || std::ranges::find(external_, id) != external_.end()) continue;
      const ir::Tensor& tensor = graph_->tensor(id);
      const ir::Shape& shape = shapes_[static_cast<size_t>(id)];
      Location location{.kind = Location::Kind::kWorkspace,
                        .position = 0,
                        .type = type_in_workspace(tensor.data_type),
                        .tensor = id};
      const __int128 bits = __int128{ops::span_of(shape.dims, shape.strides)} *
                            detail::get_element_size_in_bits(location.type);
      CHECK_WARPLOOM_ERROR(
          reserve("values of \"" + tensor.name + "\"", (bits + 7) / 8, location.position));
      internal_.push_back(location);
    }
  for (Step& step : steps_) {
    for (ir::TensorId id : graph_->node(step.node).inputs) step.inputs.push_back(locate(id));
    for (ir::TensorId id : graph_->node(step.node).outputs) step.outputs.push_back(locate(id));
    assert(step.inputs.size() <= kMostPorts && step.outputs.size() <= kMostPorts);
  }
  return {};
}

Location Program::locate(ir::TensorId id) {
  if (id == ir::kNoTensor) return {};
  const ir::Tensor& tensor = graph_->tensor(id);
  if (auto found = std::ranges::find(internal_, id, &Location::tensor); found != internal_.end())
    return *found;
  if (auto found = std::ranges::find(external_, id); found != external_.end())
    return {Location::Kind::kPointer, found - external_.begin(), tensor.data_type, id};
  assert(tensor.value.has_value());
  base::store_scalar(constants_.emplace_back().data(), tensor.data_type, *tensor.value);
  return {Location::Kind::kConstant, static_cast<int64_t>(constants_.size()) - 1, tensor.data_type,
          id};
}

ops::ReferenceTensor Program::resolve(const Location& location, std::span<void* const> pointers,
                                      std::byte* workspace) const {
  const auto position = static_cast<size_t>(location.position);
  void* data = nullptr;
  switch (location.kind) {
    case Location::Kind::kUnused:
      return {};
    case Location::Kind::kPointer:
      if (!pointers.empty()) data = pointers[position];
      break;
    case Location::Kind::kWorkspace:
      if (workspace) data = workspace + position;
      break;
    case Location::Kind::kConstant:
      data = const_cast<std::byte*>(constants_[position].data());
      break;
  }
  return {data, location.type, &shapes_[static_cast<size_t>(location.tensor)],
          graph_->tensor(location.tensor).reordering};
}

error_t Program::add_scratch() {
  int64_t most = 0;
  for (const Step& step : steps_) {
    std::array<ops::ReferenceTensor, kMostPorts> inputs, outputs;
    for (size_t i = 0; i < step.inputs.size(); ++i)
      inputs[i] = resolve(step.inputs[i], {}, nullptr);
    for (size_t i = 0; i < step.outputs.size(); ++i)
      outputs[i] = resolve(step.outputs[i], {}, nullptr);
    const int64_t bytes =
        ops::scratch_bytes(graph_->node(step.node).operation, tensors_of(inputs, outputs));
    if (bytes < 0)
      return reserve("operands of \"" + graph_->node(step.node).name + "\" as doubles",
                     __int128{INT64_MAX}, scratch_offset_);
    most = std::max(most, bytes);
  }
  return most == 0 ? error_t{} : reserve("operands as doubles", most, scratch_offset_);
}

void Program::run(std::span<void* const> pointers, std::byte* workspace) const {
  for (const Step& step : steps_) {
    std::array<ops::ReferenceTensor, kMostPorts> inputs, outputs;
    for (size_t i = 0; i < step.inputs.size(); ++i)
      inputs[i] = resolve(step.inputs[i], pointers, workspace);
    for (size_t i = 0; i < step.outputs.size(); ++i)
      outputs[i] = resolve(step.outputs[i], pointers, workspace);
    ops::evaluate(graph_->node(step.node).operation, step.arithmetic, tensors_of(inputs, outputs),
                  workspace + scratch_offset_);
  }
}

}  // namespace warploom::engines::reference
