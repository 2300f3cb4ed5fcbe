#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engines/cpu/bound_expression.h"
#include "engines/cpu/machine.h"

namespace warploom::cpu {

/// A tensor in memory that a kernel reads element by element.
struct PlainTensor {
  ir::Shape shape;
  DataType_t type = DataType_t::NOT_SET;
  int pointer = -1;              ///< of the kernel's pointers, or else:
  int64_t workspace_offset = 0;  ///< computed into the workspace

  explicit operator bool() const { return type != DataType_t::NOT_SET; }
  int64_t element_bytes() const { return detail::get_data_type_size(type); }
  const std::byte* data(std::span<void* const> pointers, const std::byte* workspace) const {
    return pointer >= 0 ? static_cast<const std::byte*>(pointers[static_cast<size_t>(pointer)])
                        : workspace + workspace_offset;
  }
};

/// The tensor at a port of a node; empty where the port is not used.
ir::TensorId port_tensor(const ir::Node& node, size_t port);

/// A tensor straight from the group's inputs; empty for kNoTensor.
PlainTensor plain_tensor(const fusion::FusionGroup& group, ir::ShapeTable shapes, ir::TensorId id);
/// An anchor's input, straight from the group's inputs.
PlainTensor plain_input(const fusion::FusionGroup& group, ir::ShapeTable shapes, size_t port);

/// A prologue whose result is computed as a whole before the anchor starts.
class StoredPrologue {
 public:
  StoredPrologue(const fusion::FusionGroup& group, const fusion::Prologue& prologue);
  size_t port() const { return port_; }
  const CompiledExpression& compiled() const { return compiled_; }
  DataType_t type() const { return compute_type(compiled_.program.compute()); }

 private:
  size_t port_;
  CompiledExpression compiled_;
};

class BoundStoredPrologue {
 public:
  BoundStoredPrologue(const StoredPrologue& prologue, const fusion::FusionGroup& group,
                      ir::ShapeTable shapes, const Machine& machine, WorkspaceLayout& layout);
  const PlainTensor& result() const { return result_; }
  void run(const Machine& machine, std::span<void* const> pointers, std::byte* workspace) const;

 private:
  BoundExpression expression_;
  PlainTensor result_;
  int64_t scratch_offset_ = 0;
};

/// All inputs of an anchor, those with prologues computed into the workspace.
class PlainInputs {
 public:
  /// `prologues` must outlive this.
  void bind(const std::vector<StoredPrologue>& prologues, const fusion::FusionGroup& group,
            ir::ShapeTable shapes, const Machine& machine, WorkspaceLayout& layout);
  const PlainTensor& operator[](size_t port) const { return inputs_[port]; }
  void run_prologues(const Machine& machine, std::span<void* const> pointers,
                     std::byte* workspace) const;

 private:
  std::vector<PlainTensor> inputs_;
  std::vector<BoundStoredPrologue> prologues_;
};

std::vector<StoredPrologue> stored_prologues(const fusion::FusionGroup& group);

}  // namespace warploom::cpu
