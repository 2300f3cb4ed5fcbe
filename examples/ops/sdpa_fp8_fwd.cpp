#include "ops/example.h"

// Both scores are 0, so the probabilities are 1/2 and 1/2. V is stored as its halves, O as its
// half.
EXAMPLE(sdpa_fp8_fwd) {
  graph::Graph graph = float_graph();
  constexpr DataType_t kType = DataType_t::FP8_E4M3;
  TensorPtr q = input(graph, "q", {1, 1, 1, 2}, kType);
  TensorPtr k = input(graph, "k", {1, 1, 2, 2}, kType), v = input(graph, "v", {1, 1, 2, 2}, kType);
  std::vector<TensorPtr> scales;
  for (const char* name :
       {"descale_q", "descale_k", "descale_v", "descale_s", "scale_s", "scale_o"})
    scales.push_back(input(graph, name, {1, 1, 1, 1}));
  auto [o, stats, amax_s, amax_o] =
      graph.sdpa_fp8(q, k, v, scales[0], scales[1], scales[2], scales[3], scales[4], scales[5],
                     graph::SDPA_fp8_attributes().set_attn_scale(1.0f).set_generate_stats(false));
  o->set_output(true).set_data_type(kType).set_dim({1, 1, 1, 2}).set_stride({2, 2, 2, 1});
  amax_s->set_output(true).set_dim({1, 1, 1, 1}).set_data_type(DataType_t::FLOAT);
  amax_o->set_output(true).set_dim({1, 1, 1, 1}).set_data_type(DataType_t::FLOAT);

  // 1, 0; zeros; and 1, 2, 3, 4 as FP8_E4M3.
  std::vector<uint8_t> q_data{0x38, 0}, k_data(4, 0), v_data{0x38, 0x40, 0x44, 0x48}, o_data(2);
  std::vector<float> scale_data{1, 1, 2, 0.5, 2, 0.5}, amax_s_data(1), amax_o_data(1);
  std::unordered_map<TensorPtr, void*> pack{
      {q, q_data.data()}, {k, k_data.data()},           {v, v_data.data()},
      {o, o_data.data()}, {amax_s, amax_s_data.data()}, {amax_o, amax_o_data.data()}};
  for (size_t i = 0; i < scales.size(); ++i) pack[scales[i]] = &scale_data[i];
  run(graph, std::move(pack));
  expect(o_data, {0x40, 0x44});  // 2 and 3: half of (2 + 6) / 2 and (4 + 8) / 2
  expect(amax_s_data, {0.5});
  expect(amax_o_data, {6});
}
