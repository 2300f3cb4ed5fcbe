#pragma once
/// Fusion groups written by hand, for engines to run without the rest of the library.
#include <string>
#include <vector>

#include <warploom/fusion_group.h>

namespace warploom::test {

using Dims = std::vector<int64_t>;

class GroupBuilder {
 public:
  /// A tensor in memory; `layout` as in harness/layout.h.
  ir::TensorId stored(const std::string& name, DataType_t type, Dims dims,
                      const std::string& layout = "row_major");
  ir::TensorId stored(const std::string& name, DataType_t type, Dims dims, Dims strides);
  ir::TensorId virtual_tensor(DataType_t type, Dims dims);

  /// The operation that the group is about. Tensors by port; kNoTensor for unused ones.
  void anchor(fusion::AnchorKind kind, graph::Operation operation, std::vector<ir::TensorId> inputs,
              std::vector<ir::TensorId> outputs, DataType_t compute = DataType_t::FLOAT);

  // The following add to the epilogue, or to the prologue that was begun last.
  void begin_prologue(size_t port);
  void begin_epilogue(ir::TensorId domain);
  int anchor_value();
  int load(ir::TensorId tensor);
  int pointwise(const graph::Pointwise_attributes& operation, std::vector<int> operands,
                ir::TensorId result, DataType_t compute = DataType_t::FLOAT);
  int pointwise(PointwiseMode_t mode, std::vector<int> operands, ir::TensorId result,
                DataType_t compute = DataType_t::FLOAT);
  void store(int value);
  void reduce(int value, ReductionMode_t mode, ir::TensorId result,
              DataType_t compute = DataType_t::FLOAT);

  fusion::FusionGroup build();

 private:
  fusion::Expression& expression();
  void add_input(ir::TensorId tensor);

  ir::FrozenGraph graph_;
  fusion::FusionGroup group_;
  bool in_prologue_ = false;
};

}  // namespace warploom::test
