// Every plan that the heuristics offer is built, run by itself, timed; then the fastest is run.
#include <cudnn_frontend.h>

#include "require.h"

namespace fe = cudnn_frontend;

int main() {
  constexpr int64_t m = 48, n = 40, k = 56;
  auto graph = std::make_shared<fe::graph::Graph>();
  graph->set_io_data_type(fe::DataType_t::FLOAT)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  auto matrix = [&](const char* name, int64_t rows, int64_t columns) {
    return graph->tensor(fe::graph::Tensor_attributes()
                             .set_name(name)
                             .set_dim({1, rows, columns})
                             .set_stride({rows * columns, columns, 1}));
  };
  auto A = matrix("A", m, k), B = matrix("B", k, n);
  auto C = graph->matmul(A, B, fe::graph::Matmul_attributes().set_name("matmul"));
  auto Y = graph->pointwise(
      C, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::TANH_FWD));
  Y->set_output(true);

  cudnnHandle_t handle;
  REQUIRE(cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS);
  REQUIRE_GOOD(graph->validate());
  REQUIRE_GOOD(graph->build_operation_graph(handle));
  REQUIRE_GOOD(graph->create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}));
  graph->deselect_workspace_greater_than(int64_t{1} << 30);
  graph->deselect_numeric_notes({fe::NumericalNote_t::NONDETERMINISTIC});
  REQUIRE_GOOD(graph->check_support(handle));

  const int64_t plan_count = graph->get_execution_plan_count();
  REQUIRE(plan_count >= 2);
  int64_t built = 0;
  for (int64_t index = 0; index < plan_count; ++index)
    built += graph->build_plan_at_index(handle, index).is_good();
  REQUIRE(built == plan_count);

  auto a = numbers<float>(m * k, 1), b = numbers<float>(k * n, 2);
  std::vector<double> expected(m * n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t x = 0; x < k; ++x) sum += double(a[i * k + x]) * b[x * n + j];
      expected[i * n + j] = std::tanh(sum);
    }
  std::vector<float> y(m * n);
  auto check = [&] {
    for (size_t i = 0; i < y.size(); ++i) REQUIRE(is_near(y[i], expected[i], 1e-5));
    std::fill(y.begin(), y.end(), NAN);
  };
  std::unordered_map<std::shared_ptr<fe::graph::Tensor_attributes>, void*> variant_pack = {
      {A, a.data()}, {B, b.data()}, {Y, y.data()}};
  for (int64_t index = 0; index < plan_count; ++index) {
    std::string name;
    REQUIRE_GOOD(graph->get_plan_name_at_index(index, name));
    REQUIRE(!name.empty());
    std::vector<fe::BehaviorNote_t> notes;
    REQUIRE_GOOD(graph->get_behavior_notes_for_plan_at_index(index, notes));
    std::vector<int8_t> workspace(graph->get_workspace_size_plan_at_index(index));
    REQUIRE_GOOD(graph->execute_plan_at_index(handle, variant_pack, workspace.data(), index));
    check();
  }

  std::vector<int8_t> workspace(graph->get_autotune_workspace_size());
  REQUIRE_GOOD(graph->autotune(handle, variant_pack, workspace.data()));
  REQUIRE_GOOD(graph->execute(handle, variant_pack, workspace.data()));
  check();
  std::string best, first;
  REQUIRE_GOOD(graph->get_plan_name(best));
  REQUIRE_GOOD(graph->get_plan_name_at_index(0, first));
  REQUIRE(best == first);
  std::cout << "fastest of " << plan_count << ": " << best << "\n";
  cudnnDestroy(handle);
}
