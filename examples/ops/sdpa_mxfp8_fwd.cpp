#include "ops/example.h"

// Both scores are 0, so the probabilities are 1/2 and 1/2. The scales of V are 2, all others 1:
// they fill whole tiles of 128 x 4, so that their order does not show.
EXAMPLE(sdpa_mxfp8_fwd) {
  graph::Graph graph = float_graph();
  constexpr DataType_t kType = DataType_t::FP8_E4M3;
  TensorPtr q = input(graph, "q", {1, 1, 1, 2}, kType);
  TensorPtr k = input(graph, "k", {1, 1, 2, 2}, kType), v = input(graph, "v", {1, 1, 2, 2}, kType);
  std::vector<TensorPtr> scales;
  for (const char* name : {"descale_q", "descale_k", "descale_v"}) {
    scales.push_back(input(graph, name, {1, 1, 128, 4}, DataType_t::FP8_E8M0));
    scales.back()->set_reordering_type(TensorReordering_t::F8_128x4);
  }
  auto [o, stats, amax_o] =
      graph.sdpa_fp8(q, k, v, scales[0], scales[1], scales[2],
                     graph::SDPA_fp8_attributes().set_attn_scale(1.0f).set_generate_stats(false));
  o->set_output(true).set_dim({1, 1, 1, 2}).set_stride({2, 2, 2, 1});
  amax_o->set_output(true).set_dim({1, 1, 1, 1}).set_data_type(DataType_t::FLOAT);

  // 1, 0; zeros; and 1, 2, 3, 4 as FP8_E4M3. 127 is 1 and 128 is 2 as FP8_E8M0.
  std::vector<uint8_t> q_data{0x38, 0}, k_data(4, 0), v_data{0x38, 0x40, 0x44, 0x48};
  std::vector<uint8_t> ones(512, 127), twos(512, 128);
  std::vector<float> o_data(2), amax_o_data(1);
  run(graph, {{q, q_data.data()},
              {k, k_data.data()},
              {v, v_data.data()},
              {scales[0], ones.data()},
              {scales[1], ones.data()},
              {scales[2], twos.data()},
              {o, o_data.data()},
              {amax_o, amax_o_data.data()}});
  expect(o_data, {(2 + 6) / 2.0, (4 + 8) / 2.0});
  expect(amax_o_data, {6});
}
