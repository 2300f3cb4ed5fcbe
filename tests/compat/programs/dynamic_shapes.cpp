// One kernel cache for graphs of many sizes; one graph that runs other sizes than it was built for.
#include <cudnn_frontend.h>

#include "require.h"

namespace fe = cudnn_frontend;

enum UIDs : int64_t { A_UID = 1, B_UID, C_UID };

namespace {

std::shared_ptr<fe::graph::Graph> matmul_graph(int64_t b, int64_t m, int64_t n, int64_t k) {
  auto graph = std::make_shared<fe::graph::Graph>();
  graph->set_io_data_type(fe::DataType_t::FLOAT)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  auto A = graph->tensor(
      fe::graph::Tensor_attributes().set_uid(A_UID).set_dim({b, m, k}).set_stride({m * k, k, 1}));
  auto B = graph->tensor(
      fe::graph::Tensor_attributes().set_uid(B_UID).set_dim({b, k, n}).set_stride({k * n, n, 1}));
  auto C = graph->matmul(A, B, fe::graph::Matmul_attributes());
  auto Y = graph->pointwise(
      C, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::RELU_FWD));
  Y->set_output(true).set_uid(C_UID);
  return graph;
}

void check(const std::vector<float>& y, const std::vector<float>& a, const std::vector<float>& x,
           int64_t b, int64_t m, int64_t n, int64_t k) {
  for (int64_t ib = 0; ib < b; ++ib)
    for (int64_t im = 0; im < m; ++im)
      for (int64_t in = 0; in < n; ++in) {
        double sum = 0;
        for (int64_t ik = 0; ik < k; ++ik)
          sum += double(a[(ib * m + im) * k + ik]) * x[(ib * k + ik) * n + in];
        REQUIRE(is_near(y[(ib * m + im) * n + in], std::max(0.0, sum), 1e-5));
      }
}

}  // namespace

int main() {
  cudnnHandle_t handle;
  REQUIRE(cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS);

  auto kernel_cache = std::make_shared<fe::KernelCache>();
  REQUIRE(!kernel_cache->is_finalized());
  size_t key = 0;
  const std::vector<std::vector<int64_t>> sizes = {{2, 8, 8, 8}, {3, 17, 5, 40}, {1, 64, 33, 9}};
  for (const auto& size : sizes) {
    const int64_t b = size[0], m = size[1], n = size[2], k = size[3];
    auto graph = matmul_graph(b, m, n, k);
    graph->set_dynamic_shape_enabled(true).set_kernel_cache(kernel_cache);
    REQUIRE_GOOD(graph->validate());
    REQUIRE_GOOD(graph->build_operation_graph(handle));
    if (key == 0) key = graph->key();
    REQUIRE(graph->key() == key);
    REQUIRE_GOOD(graph->create_execution_plans({fe::HeurMode_t::A}));
    REQUIRE_GOOD(graph->check_support(handle));
    REQUIRE_GOOD(graph->build_plans(handle));
    REQUIRE(kernel_cache->is_finalized());
    auto a = numbers<float>(b * m * k, 1), x = numbers<float>(b * k * n, 2);
    std::vector<float> y(b * m * n, NAN);
    std::unordered_map<int64_t, void*> variant_pack = {
        {A_UID, a.data()}, {B_UID, x.data()}, {C_UID, y.data()}};
    std::vector<int8_t> workspace(graph->get_workspace_size());
    REQUIRE_GOOD(graph->execute(handle, variant_pack, workspace.data()));
    check(y, a, x, b, m, n, k);
  }
  std::string cache_text;
  REQUIRE_GOOD(kernel_cache->to_json(cache_text));
  fe::KernelCache copy;
  REQUIRE_GOOD(copy.from_json(cache_text));
  REQUIRE(copy.is_finalized());

  auto graph = matmul_graph(2, 64, 64, 64);
  graph->set_override_shape_enabled(true);
  REQUIRE_GOOD(graph->build(handle, {fe::HeurMode_t::A}));
  std::vector<int64_t> override_uids = {A_UID, B_UID, C_UID};
  for (const auto& size : sizes) {
    const int64_t b = size[0], m = size[1], n = size[2], k = size[3];
    std::vector<std::vector<int64_t>> override_shapes = {{b, m, k}, {b, k, n}, {b, m, n}};
    std::vector<std::vector<int64_t>> override_strides = {
        {m * k, k, 1}, {k * n, n, 1}, {m * n, n, 1}};
    auto a = numbers<float>(b * m * k, 3), x = numbers<float>(b * k * n, 4);
    std::vector<float> y(b * m * n, NAN);
    std::unordered_map<int64_t, void*> variant_pack = {
        {A_UID, a.data()}, {B_UID, x.data()}, {C_UID, y.data()}};
    int64_t workspace_size = 0;
    REQUIRE_GOOD(graph->get_workspace_size(workspace_size, override_uids, override_shapes,
                                           override_strides));
    std::vector<int8_t> workspace(workspace_size);
    REQUIRE_GOOD(graph->execute(handle, variant_pack, workspace.data(), override_uids,
                                override_shapes, override_strides));
    check(y, a, x, b, m, n, k);
  }
  cudnnDestroy(handle);
}
