// Causal attention with fewer heads of K and V than of Q, in half precision, and the statistics
// that its gradient takes.
#include <cudnn_frontend.h>

#include "require.h"

namespace fe = cudnn_frontend;

enum UIDs { Q_UID = 1, K_UID, V_UID, O_UID, STATS_UID };

namespace {

constexpr int64_t b = 2, h = 4, h_kv = 2, s = 19, d = 16;

std::shared_ptr<fe::graph::Graph> create_sdpa_graph(float attn_scale, bool generate_stats,
                                                    bool causal_mask) {
  auto graph = std::make_shared<fe::graph::Graph>();
  graph->set_io_data_type(fe::DataType_t::HALF)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  auto input = [&](const char* name, int64_t uid, int64_t heads) {
    return graph->tensor(fe::graph::Tensor_attributes()
                             .set_name(name)
                             .set_uid(uid)
                             .set_dim({b, heads, s, d})
                             .set_stride({heads * s * d, s * d, d, 1}));
  };
  auto Q = input("Q", Q_UID, h), K = input("K", K_UID, h_kv), V = input("V", V_UID, h_kv);
  auto sdpa_options = fe::graph::SDPA_attributes()
                          .set_name("flash_attention")
                          .set_generate_stats(generate_stats)
                          .set_attn_scale(attn_scale);
  if (causal_mask)
    sdpa_options.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT)
        .set_diagonal_band_right_bound(0);
  auto [O, Stats] = graph->sdpa(Q, K, V, sdpa_options);
  // Tokens before heads, as a following projection wants it.
  O->set_output(true).set_dim({b, h, s, d}).set_stride({s * h * d, d, h * d, 1}).set_uid(O_UID);
  REQUIRE((Stats != nullptr) == generate_stats);
  if (generate_stats)
    Stats->set_output(true).set_data_type(fe::DataType_t::FLOAT).set_uid(STATS_UID);
  return graph;
}

}  // namespace

int main() {
  const float scale = 1.0f / std::sqrt(float(d));
  auto graph = create_sdpa_graph(scale, true, true);
  cudnnHandle_t handle;
  REQUIRE(cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS);
  REQUIRE_GOOD(graph->build(handle, {fe::HeurMode_t::A}));

  auto q = numbers<half>(b * h * s * d, 1), k = numbers<half>(b * h_kv * s * d, 2),
       v = numbers<half>(b * h_kv * s * d, 3);
  std::vector<half> o(b * h * s * d);
  std::vector<float> stats(b * h * s, NAN);
  int64_t workspace_size;
  REQUIRE_GOOD(graph->get_workspace_size(workspace_size));
  std::vector<int8_t> workspace(workspace_size);
  std::unordered_map<fe::graph::Tensor_attributes::uid_t, void*> variant_pack = {
      {Q_UID, q.data()},
      {K_UID, k.data()},
      {V_UID, v.data()},
      {O_UID, o.data()},
      {STATS_UID, stats.data()}};
  REQUIRE_GOOD(graph->execute(handle, variant_pack, workspace.data()));

  for (int64_t ib = 0; ib < b; ++ib)
    for (int64_t ih = 0; ih < h; ++ih)
      for (int64_t i = 0; i < s; ++i) {
        const int64_t row = ((ib * h + ih) * s + i), kv = ib * h_kv + ih * h_kv / h;
        std::vector<double> weight(i + 1);
        double sum = 0;
        for (int64_t j = 0; j <= i; ++j) {
          double score = 0;
          for (int64_t x = 0; x < d; ++x)
            score += double(float(q[row * d + x])) * double(float(k[(kv * s + j) * d + x]));
          sum += weight[j] = std::exp(score * scale);
        }
        REQUIRE(is_near(stats[row], std::log(sum), 1e-4));
        for (int64_t x = 0; x < d; ++x) {
          double expected = 0;
          for (int64_t j = 0; j <= i; ++j)
            expected += weight[j] / sum * double(float(v[(kv * s + j) * d + x]));
          REQUIRE(is_near(float(o[((ib * s + i) * h + ih) * d + x]), expected, 2e-3));
        }
      }
  cudnnDestroy(handle);
}
