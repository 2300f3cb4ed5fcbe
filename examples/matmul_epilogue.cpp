/// A matmul with an epilogue and two outputs: Y = tanh(A B) in bfloat16, and the sum of each row.
/// Shows 16-bit types, transposition by strides, a reduction, and the plan that was chosen.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <unordered_map>
#include <vector>

#include <warploom/warploom.h>

using namespace warploom;
using graph::TensorPtr;

void must(const error_object& error) {
  if (error.is_good()) return;
  std::cerr << error << "\n";
  std::exit(1);
}

int main() {
  constexpr int64_t m = 64, k = 128, n = 32;
  graph::Graph graph;
  graph.set_io_data_type(DataType_t::BFLOAT16)
      .set_intermediate_data_type(DataType_t::FLOAT)
      .set_compute_data_type(DataType_t::FLOAT);
  auto a = graph.tensor(
      graph::Tensor_attributes().set_name("A").set_dim({1, m, k}).set_stride({m * k, k, 1}));
  // B is stored as [n, k]: its strides make it the [k, n] that matmul reads.
  auto b = graph.tensor(
      graph::Tensor_attributes().set_name("B").set_dim({1, k, n}).set_stride({n * k, 1, k}));
  auto product = graph.matmul(a, b, graph::Matmul_attributes());
  auto y =
      graph.pointwise(product, graph::Pointwise_attributes().set_mode(PointwiseMode_t::TANH_FWD));
  y->set_output(true);
  auto sums = graph.reduction(y, graph::Reduction_attributes().set_mode(ReductionMode_t::ADD));
  sums->set_output(true).set_data_type(DataType_t::FLOAT);
  sums->set_dim({1, m, 1}).set_stride({m, 1, 1});

  std::unique_ptr<Handle> handle = create_handle();
  must(graph.build(handle.get(), {HeurMode_t::A}));
  std::string plan;
  must(graph.get_plan_name(plan));

  std::vector<bfloat16> a_data(m * k, bfloat16(0.5f)), b_data(n * k, bfloat16(0.0078125f));
  std::vector<bfloat16> y_data(m * n);
  std::vector<float> sum_data(m);
  std::vector<char> workspace(static_cast<size_t>(graph.get_workspace_size()));
  std::unordered_map<TensorPtr, void*> pack{
      {a, a_data.data()}, {b, b_data.data()}, {y, y_data.data()}, {sums, sum_data.data()}};
  must(graph.execute(handle.get(), pack, workspace.data()));

  std::printf("plan %s\ntanh(0.5) = %.4f in bfloat16, times 32 = %.4f\n", plan.c_str(),
              static_cast<double>(float(y_data[0])), sum_data[0]);
}
