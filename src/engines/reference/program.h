#pragma once
#include <array>
#include <memory>
#include <vector>

#include <warploom/engine.h>

#include "ops/reference.h"

namespace warploom::engines::reference {

/// Where a tensor lies while a group runs.
struct Location {
  enum class Kind { kUnused, kPointer, kWorkspace, kConstant };
  Kind kind = Kind::kUnused;
  int64_t position = 0;  ///< index of the pointer, byte offset, or index of the constant
  DataType_t type = DataType_t::NOT_SET;
  ir::TensorId tensor = ir::kNoTensor;
};

/// One operation with its tensors by port.
struct Step {
  ir::NodeId node = ir::kNoNode;
  ops::Arithmetic arithmetic = ops::Arithmetic::kFloat;
  std::vector<Location> inputs, outputs;
};

/// The work of a group for particular shapes: its nodes in order, and a workspace that holds the
/// tensors between them and the scratch of the one that runs.
class Program {
 public:
  static Result<std::shared_ptr<const Program>> make(const fusion::FusionGroup& group,
                                                     ir::ShapeTable shapes);

  int64_t workspace_bytes() const { return workspace_bytes_; }
  const std::vector<engine::WorkspacePart>& workspace_parts() const { return parts_; }
  void run(std::span<void* const> pointers, std::byte* workspace) const;

 private:
  explicit Program(const fusion::FusionGroup& group, ir::ShapeTable shapes);
  error_t add_tensors();
  error_t add_scratch();
  Location locate(ir::TensorId tensor);
  error_t reserve(const std::string& purpose, __int128 bytes, int64_t& offset);
  ops::ReferenceTensor resolve(const Location& location, std::span<void* const> pointers,
                               std::byte* workspace) const;

  std::shared_ptr<const ir::FrozenGraph> graph_;
  std::vector<ir::TensorId> external_;  // in the order of the pointers
  std::vector<ir::Shape> shapes_;       // by TensorId
  std::vector<Step> steps_;
  std::vector<Location> internal_;  // of the tensors in the workspace
  std::vector<std::array<std::byte, 8>> constants_;
  std::vector<engine::WorkspacePart> parts_;
  int64_t workspace_bytes_ = 0;
  int64_t scratch_offset_ = 0;
};

}  // namespace warploom::engines::reference
