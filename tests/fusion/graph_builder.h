#pragma once
/// Frozen graphs written by hand, so that these tests need nothing but the layer they test.
#include <memory>
#include <string>
#include <vector>

#include <warploom/frozen_graph.h>

namespace warploom::fusion_test {

using Dims = std::vector<int64_t>;
using Id = ir::TensorId;

class GraphBuilder {
 public:
  Id input(Dims dims, const std::string& name = "", DataType_t type = DataType_t::FLOAT);
  /// A host scalar.
  Id scalar(float value, const std::string& name = "");

  Id pointwise(PointwiseMode_t mode, std::vector<Id> inputs, const std::string& name = "");
  Id add(Id a, Id b, const std::string& name = "") {
    return pointwise(PointwiseMode_t::ADD, {a, b}, name);
  }
  Id mul(Id a, Id b, const std::string& name = "") {
    return pointwise(PointwiseMode_t::MUL, {a, b}, name);
  }
  Id relu(Id a, const std::string& name = "") {
    return pointwise(PointwiseMode_t::RELU_FWD, {a}, name);
  }
  Id index(Id like, int64_t axis, const std::string& name = "");
  Id matmul(Id a, Id b, const std::string& name = "");
  /// Same padding for windows of 3, none for windows of 1.
  Id conv(Id x, Id w, const std::string& name = "");
  /// {O, Stats}
  std::pair<Id, Id> attention(Id q, Id k, Id v, const std::string& name = "");
  Id softmax(Id x, const std::string& name = "");
  Id reduce(ReductionMode_t mode, Id x, Dims dims, const std::string& name = "");
  Id transpose(Id x, std::vector<int64_t> permutation, const std::string& name = "");
  Id slice(Id x, std::vector<std::pair<int64_t, int64_t>> slices, const std::string& name = "");
  Id reshape(Id x, Dims dims, ReshapeMode_t mode, const std::string& name = "");

  Id output(Id tensor);
  ir::Tensor& tensor(Id id) { return graph_.tensors[static_cast<size_t>(id)]; }
  const Dims& dims(Id id) { return tensor(id).shape.dims; }

  std::shared_ptr<const ir::FrozenGraph> freeze() const {
    return std::make_shared<const ir::FrozenGraph>(graph_);
  }

 private:
  Id add_tensor(Dims dims, const std::string& name, DataType_t type);
  Id add_node(graph::Operation operation, std::vector<Id> inputs, Dims dims,
              const std::string& name);

  ir::FrozenGraph graph_;
};

}  // namespace warploom::fusion_test
