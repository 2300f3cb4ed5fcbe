// Failures known of other libraries' plans when shapes change; README.md says where each comes
// from.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "harness/describe.h"
#include "harness/plan_runner.h"
#include "plan/kernel.h"

namespace warploom::test {
namespace {

using enum DataType_t;

/// Q, K, V and O of attention, described for one size and run on others.
struct Attention {
  graph::Graph graph = describe(FLOAT);
  graph::TensorPtr q, k, v, o;

  Attention(const Dims& query, const Dims& key) {
    q = input(graph, "Q", query);
    k = input(graph, "K", key);
    v = input(graph, "V", key);
    o = graph.sdpa(q, k, v, graph::SDPA_attributes().set_name("sdpa").set_attn_scale(0.25f))[0];
    output(o, query, "row_major");
  }
};

Dims row_major(const Dims& d) {
  return {d[1] * d[2] * d[3], d[2] * d[3], d[3], 1};
}

/// Memory for a shape and strides, filled where elements are.
struct Memory {
  Dims dims, strides;
  std::vector<float> data;
  Memory(Dims d, Dims s, unsigned seed) : dims(std::move(d)), strides(std::move(s)) {
    int64_t last = 0;
    for (size_t i = 0; i < dims.size(); ++i) last += (dims[i] - 1) * strides[i];
    data.resize(static_cast<size_t>(last + 1));
    std::mt19937 random(seed);
    for (float& value : data) value = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  }
  float operator()(int64_t a, int64_t b, int64_t c, int64_t d) const {
    return data[static_cast<size_t>(a * strides[0] + b * strides[1] + c * strides[2] +
                                    d * strides[3])];
  }
};

double largest_error(const Memory& q, const Memory& k, const Memory& v, const Memory& o) {
  double worst = 0;
  for (int64_t b = 0; b < q.dims[0]; ++b)
    for (int64_t h = 0; h < q.dims[1]; ++h)
      for (int64_t i = 0; i < q.dims[2]; ++i) {
        std::vector<double> weights(static_cast<size_t>(k.dims[2]));
        double sum = 0;
        for (int64_t j = 0; j < k.dims[2]; ++j) {
          double score = 0;
          for (int64_t d = 0; d < q.dims[3]; ++d) score += double{q(b, h, i, d)} * k(b, h, j, d);
          sum += weights[static_cast<size_t>(j)] = std::exp(0.25 * score);
        }
        for (int64_t d = 0; d < v.dims[3]; ++d) {
          double value = 0;
          for (int64_t j = 0; j < k.dims[2]; ++j)
            value += weights[static_cast<size_t>(j)] / sum * v(b, h, j, d);
          worst = std::max(worst, std::abs(value - o(b, h, i, d)));
        }
      }
  return worst;
}

/// Runs `attention` on these shapes and strides; the largest error, or infinity with the message.
double run(const Attention& attention, const Memory& q, const Memory& k, const Memory& v) {
  Memory o(q.dims, row_major(q.dims), 0);
  const std::vector<int64_t> uids{attention.q->get_uid(), attention.k->get_uid(),
                                  attention.v->get_uid(), attention.o->get_uid()};
  const std::vector<Dims> dims{q.dims, k.dims, v.dims, o.dims};
  const std::vector<Dims> strides{q.strides, k.strides, v.strides, o.strides};
  std::unordered_map<int64_t, void*> pack{{uids[0], const_cast<float*>(q.data.data())},
                                          {uids[1], const_cast<float*>(k.data.data())},
                                          {uids[2], const_cast<float*>(v.data.data())},
                                          {uids[3], o.data.data()}};
  int64_t bytes = 0;
  error_t error = attention.graph.get_workspace_size(bytes, uids, dims, strides);
  std::vector<char> workspace(static_cast<size_t>(bytes));
  if (error.is_good())
    error = attention.graph.execute(cpu(), pack, workspace.data(), bytes, uids, dims, strides);
  EXPECT_TRUE(error.is_good()) << error;
  return error.is_good() ? largest_error(q, k, v, o) : INFINITY;
}

// Contiguous K and V, then both in one buffer, then contiguous again, through one plan.
TEST(KnownFailures, B129_OnePlanSameShapesOtherStrides) {
  const Dims query{2, 8, 64, 32}, key{2, 8, 128, 32};
  Attention attention(query, key);
  attention.graph.set_override_shape_enabled(true);
  ASSERT_TRUE(attention.graph.build(cpu(), {HeurMode_t::A}).is_good());
  const Dims interleaved{128 * 2 * 8 * 32, 32, 2 * 8 * 32, 1};
  for (const Dims& strides : {row_major(key), interleaved, row_major(key)})
    EXPECT_LT(run(attention, Memory(query, row_major(query), 1), Memory(key, strides, 2),
                  Memory(key, strides, 3)),
              1e-5);
}

// Two hundred (batch, s_q, s_kv) after the first build: none is built again.
TEST(KnownFailures, B132_ManySequenceLengthsBuildNothing) {
  Attention attention({1, 2, 16, 8}, {1, 2, 16, 8});
  attention.graph.set_override_shape_enabled(true);
  ASSERT_TRUE(attention.graph.build(cpu(), {HeurMode_t::A}).is_good());
  const int64_t made = plan::made_kernel_count();
  std::mt19937 random(132);
  for (int i = 0; i < 200; ++i) {
    const auto batch = static_cast<int64_t>(1 + random() % 3);
    const Dims query{batch, 2, static_cast<int64_t>(1 + random() % 50), 8};
    const Dims key{batch, 2, static_cast<int64_t>(1 + random() % 90), 8};
    ASSERT_LT(run(attention, Memory(query, row_major(query), 1), Memory(key, row_major(key), 2),
                  Memory(key, row_major(key), 3)),
              1e-5)
        << i;
  }
  EXPECT_EQ(plan::made_kernel_count(), made);
}

// The sizes of an image pyramid in turns: from the second round on, nothing is new.
TEST(KnownFailures, B134_PyramidSizesReachASteadyState) {
  const auto cache = std::make_shared<KernelCache>();
  int64_t made = 0;
  for (int round = 0; round < 50; ++round) {
    for (int64_t size = 256; size <= 384; size += 32) {
      graph::Graph graph = describe(FLOAT);
      const auto x = input(graph, "X", {1, 1, size, size}), w = input(graph, "W", {2, 1, 3, 3});
      const auto y = graph.conv_fprop(x, w,
                                      graph::Conv_fprop_attributes()
                                          .set_name("conv")
                                          .set_padding({1, 1})
                                          .set_stride({1, 1})
                                          .set_dilation({1, 1}));
      output(y, {1, 2, size, size}, "row_major");
      graph.set_dynamic_shape_enabled(true).set_kernel_cache(cache);
      ASSERT_TRUE(graph.build(cpu(), {HeurMode_t::A}).is_good());
      if (made == 0) made = plan::made_kernel_count();
      if (round % 25 != 0) continue;
      std::vector<float> ones(static_cast<size_t>(size * size), 1.0f), filter(18, 0.5f);
      std::vector<float> result(2 * ones.size());
      std::vector<char> workspace(static_cast<size_t>(graph.get_workspace_size()));
      std::unordered_map<graph::TensorPtr, void*> pack{
          {x, ones.data()}, {w, filter.data()}, {y, result.data()}};
      ASSERT_TRUE(graph.execute(cpu(), pack, workspace.data()).is_good());
      // Taps inside the image, half each: a corner has 4 of the 9, an edge 6.
      for (int64_t h = 0; h < size; ++h)
        for (int64_t v = 0; v < size; ++v) {
          const int64_t taps =
              (h == 0 || h == size - 1 ? 2 : 3) * (v == 0 || v == size - 1 ? 2 : 3);
          ASSERT_EQ(result[static_cast<size_t>(h * size + v)], 0.5f * static_cast<float>(taps));
        }
    }
  }
  EXPECT_EQ(plan::made_kernel_count(), made);
}

}  // namespace
}  // namespace warploom::test
