#include "ops/example.h"

// One query over two keys. The scores are ln 3 and 0, so the weights 3/4 and 1/4.
EXAMPLE(sdpa) {
  graph::Graph graph = float_graph();
  TensorPtr q = input(graph, "q", {1, 1, 1, 2});
  TensorPtr k = input(graph, "k", {1, 1, 2, 2}), v = input(graph, "v", {1, 1, 2, 2});
  auto [o, stats] =
      graph.sdpa(q, k, v, graph::SDPA_attributes().set_attn_scale(1.0f).set_generate_stats(true));
  o->set_output(true).set_dim({1, 1, 1, 2}).set_stride({2, 2, 2, 1});
  stats->set_output(true).set_data_type(DataType_t::FLOAT);

  std::vector<float> q_data{1, 0}, k_data{std::log(3.0f), 0, 0, 0}, v_data{1, 2, 5, 6};
  std::vector<float> o_data(2), stats_data(1);
  run(graph, {{q, q_data.data()},
              {k, k_data.data()},
              {v, v_data.data()},
              {o, o_data.data()},
              {stats, stats_data.data()}});
  expect(o_data, {0.75 * 1 + 0.25 * 5, 0.75 * 2 + 0.25 * 6});
  expect(stats_data, {std::log(3.0 + 1.0)});
}
