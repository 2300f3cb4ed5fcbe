/// Causal attention with grouped heads and the statistics that a backward pass needs, addressed by
/// uids instead of tensor pointers.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <unordered_map>
#include <vector>

#include <warploom/warploom.h>

using namespace warploom;

void must(const error_object& error) {
  if (error.is_good()) return;
  std::cerr << error << "\n";
  std::exit(1);
}

enum Uid : int64_t { kQ = 1, kK, kV, kO, kStats };

int main() {
  constexpr int64_t batch = 2, query_heads = 8, key_heads = 2, length = 128, size = 64;
  const auto tensor = [](Uid uid, int64_t heads, int64_t width) {
    return graph::Tensor_attributes()
        .set_uid(uid)
        .set_dim({batch, heads, length, width})
        .set_stride({heads * length * width, length * width, width, 1});
  };

  graph::Graph graph;
  graph.set_io_data_type(DataType_t::FLOAT)
      .set_intermediate_data_type(DataType_t::FLOAT)
      .set_compute_data_type(DataType_t::FLOAT);
  auto q = graph.tensor(tensor(kQ, query_heads, size));
  auto k = graph.tensor(tensor(kK, key_heads, size));  // four query heads read each of these
  auto v = graph.tensor(tensor(kV, key_heads, size));
  auto [o, stats] = graph.sdpa(
      q, k, v,
      graph::SDPA_attributes().set_causal_mask(true).set_generate_stats(true).set_attn_scale(
          1.0f / std::sqrt(float(size))));
  const graph::Tensor_attributes output = tensor(kO, query_heads, size);
  o->set_output(true).set_uid(kO).set_dim(output.get_dim()).set_stride(output.get_stride());
  stats->set_output(true).set_uid(kStats);

  std::unique_ptr<Handle> handle = create_handle();
  must(graph.build(handle.get(), {HeurMode_t::A}));

  std::vector<float> q_data(batch * query_heads * length * size, 0.0f);
  std::vector<float> k_data(batch * key_heads * length * size, 1.0f), v_data(k_data.size());
  for (size_t i = 0; i < v_data.size(); ++i) {
    v_data[i] = float(i / size % length);  // a row's values are its number
  }
  std::vector<float> o_data(q_data.size()), stats_data(batch * query_heads * length);
  std::vector<char> workspace(static_cast<size_t>(graph.get_workspace_size()));
  std::unordered_map<int64_t, void*> pack{{kQ, q_data.data()},
                                          {kK, k_data.data()},
                                          {kV, v_data.data()},
                                          {kO, o_data.data()},
                                          {kStats, stats_data.data()}};
  must(graph.execute(handle.get(), pack, workspace.data()));

  // Queries of zeros weigh every visible row alike: the mean of 0 ... 100, and the logarithm of
  // 101.
  std::printf("O[100] = %.3f, exp(Stats[100]) = %.3f\n", o_data[100 * size],
              std::exp(stats_data[100]));
}
