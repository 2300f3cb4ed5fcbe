// A batch of matmuls that share one B, plus a bias that is a row, scaled by a stored scalar;
// compiled without the JSON library.
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <warploom/compat/cudnn_frontend.h>

#include "require.h"

#ifdef INCLUDE_NLOHMANN_JSON_HPP_
#error "CUDNN_FRONTEND_SKIP_JSON_LIB does not keep the JSON library out"
#endif

namespace fe = cudnn_frontend;

enum UIDs : int64_t { A_UID, B_UID, BIAS_UID, C_UID };

int main() {
  constexpr int64_t b = 3, m = 17, n = 21, k = 33;
  constexpr float scale = 0.25f;
  // At global scope there is no `json` but this one.
  const int json = 1;

  fe::graph::Graph graph{};
  graph.set_io_data_type(fe::DataType_t::BFLOAT16)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  auto A = graph.tensor(fe::graph::Tensor_attributes()
                            .set_name("A")
                            .set_dim({b, m, k})
                            .set_stride({m * k, k, 1})
                            .set_uid(A_UID));
  // Column-major: the transpose is in the strides.
  auto B = graph.tensor(fe::graph::Tensor_attributes()
                            .set_name("B")
                            .set_dim({1, k, n})
                            .set_stride({k * n, 1, k})
                            .set_uid(B_UID));
  auto bias = graph.tensor(fe::graph::Tensor_attributes()
                               .set_name("bias")
                               .set_dim({1, 1, n})
                               .set_stride({n, n, 1})
                               .set_data_type(fe::DataType_t::FLOAT)
                               .set_uid(BIAS_UID));
  auto product = graph.matmul(A, B, fe::graph::Matmul_attributes().set_name("gemm"));
  auto scaled =
      graph.pointwise(product, graph.tensor(scale),
                      fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::MUL));
  auto C = graph.pointwise(scaled, bias,
                           fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::ADD));
  C->set_output(true).set_data_type(fe::DataType_t::FLOAT).set_uid(C_UID);
  REQUIRE(product->get_name() == "gemm::C");

  cudnnHandle_t handle;
  REQUIRE(cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS);
  cudaStream_t stream = nullptr;
  REQUIRE(cudnnSetStream(handle, stream) == CUDNN_STATUS_SUCCESS);
  REQUIRE(cudnnGetStream(handle, &stream) == CUDNN_STATUS_SUCCESS && stream == nullptr);

  // Every step without a handle.
  REQUIRE_GOOD(graph.validate());
  REQUIRE_GOOD(graph.build_operation_graph());
  REQUIRE_GOOD(graph.create_execution_plans({fe::HeurMode_t::A}));
  REQUIRE_GOOD(graph.check_support());
  REQUIRE_GOOD(graph.build_plans(fe::BuildPlanPolicy_t::ALL));
  REQUIRE(graph.get_variant_pack_uids_sorted() ==
          (std::vector<int64_t>{A_UID, B_UID, BIAS_UID, C_UID}));

  auto a_data = numbers<nv_bfloat16>(b * m * k, 1), b_data = numbers<nv_bfloat16>(k * n, 2);
  auto bias_data = numbers<float>(n, 3);
  std::vector<float> c_data(b * m * n, NAN);
  std::vector<char> workspace(graph.get_workspace_size());
  std::unordered_map<int64_t, void*> variant_pack = {{A_UID, a_data.data()},
                                                     {B_UID, b_data.data()},
                                                     {BIAS_UID, bias_data.data()},
                                                     {C_UID, c_data.data()}};
  REQUIRE_GOOD(graph.execute(handle, variant_pack, workspace.data()));
  for (int64_t ib = 0; ib < b; ++ib)
    for (int64_t im = 0; im < m; ++im)
      for (int64_t in = 0; in < n; ++in) {
        double sum = 0;
        for (int64_t ik = 0; ik < k; ++ik)
          sum += double(float(a_data[(ib * m + im) * k + ik])) * double(float(b_data[in * k + ik]));
        REQUIRE(is_near(c_data[(ib * m + im) * n + in], sum * scale + bias_data[in], 1e-5));
      }

  // The same plan by pointers in the order of the uids.
  std::vector<float> again(c_data.size(), NAN);
  void* pointers[] = {a_data.data(), b_data.data(), bias_data.data(), again.data()};
  REQUIRE_GOOD(graph.execute(handle, pointers, 4, workspace.data()));
  REQUIRE(again == c_data);
  REQUIRE(cudnnDestroy(handle) == CUDNN_STATUS_SUCCESS);
  return json - 1;
}
