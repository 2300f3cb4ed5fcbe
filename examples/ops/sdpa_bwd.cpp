#include "ops/example.h"

// One query over two keys. The scores are ln 3 and 0, so P is 3/4 and 1/4, and O is (2, 3).
// dO V^T is 3 and 11, D is 5, so dS is 3/4 (3 - 5) and 1/4 (11 - 5).
EXAMPLE(sdpa_bwd) {
  graph::Graph graph = float_graph();
  TensorPtr q = input(graph, "q", {1, 1, 1, 2});
  TensorPtr k = input(graph, "k", {1, 1, 2, 2}), v = input(graph, "v", {1, 1, 2, 2});
  TensorPtr o = input(graph, "o", {1, 1, 1, 2}), d_o = input(graph, "dO", {1, 1, 1, 2});
  TensorPtr stats = input(graph, "stats", {1, 1, 1, 1});
  auto [dq, dk, dv] = graph.sdpa_backward(q, k, v, o, d_o, stats,
                                          graph::SDPA_backward_attributes().set_attn_scale(1.0f));
  dq->set_output(true).set_dim({1, 1, 1, 2}).set_stride({2, 2, 2, 1});
  dk->set_output(true).set_dim({1, 1, 2, 2}).set_stride({4, 4, 2, 1});
  dv->set_output(true).set_dim({1, 1, 2, 2}).set_stride({4, 4, 2, 1});

  const float ln3 = std::log(3.0f);
  std::vector<float> q_data{1, 0}, k_data{ln3, 0, 0, 0}, v_data{1, 2, 5, 6};
  std::vector<float> o_data{2, 3}, d_o_data{1, 1}, stats_data{std::log(4.0f)};
  std::vector<float> dq_data(2), dk_data(4), dv_data(4);
  run(graph, {{q, q_data.data()},
              {k, k_data.data()},
              {v, v_data.data()},
              {o, o_data.data()},
              {d_o, d_o_data.data()},
              {stats, stats_data.data()},
              {dq, dq_data.data()},
              {dk, dk_data.data()},
              {dv, dv_data.data()}});
  expect(dq_data, {-1.5 * ln3, 0});
  expect(dk_data, {-1.5, 0, 1.5, 0});
  expect(dv_data, {0.75, 0.75, 0.25, 0.25});
}
