#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cpu/engine_runner.h"
#include "cpu/group_builder.h"

namespace warploom::test {
namespace {

using fusion::AnchorKind;

struct Sizes {
  Dims a_batch, b_batch;
  int64_t m, n, k;
};

Dims with(Dims batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

int64_t product(const Dims& dims) {
  int64_t result = 1;
  for (int64_t dim : dims) result *= dim;
  return result;
}

/// Row-major C of row-major A and B; batch dims are broadcast, or divide the other's.
Values multiply(const Sizes& s, const Values& a, const Values& b, Dims& c_dims) {
  Dims batch = s.a_batch;
  for (size_t i = 0; i < batch.size(); ++i) batch[i] = std::max(batch[i], s.b_batch[i]);
  c_dims = with(batch, s.m, s.n);
  Values c(static_cast<size_t>(product(c_dims)), 0);
  for (int64_t index = 0; index < product(batch); ++index) {
    int64_t a_index = 0, b_index = 0, rest = index, a_unit = 1, b_unit = 1;
    for (size_t i = batch.size(); i-- > 0; rest /= batch[i]) {
      a_index += rest % batch[i] / (batch[i] / s.a_batch[i]) * a_unit;
      b_index += rest % batch[i] / (batch[i] / s.b_batch[i]) * b_unit;
      a_unit *= s.a_batch[i];
      b_unit *= s.b_batch[i];
    }
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < s.k; ++k)
          sum += a[static_cast<size_t>((a_index * s.m + i) * s.k + k)] *
                 b[static_cast<size_t>((b_index * s.k + k) * s.n + j)];
        c[static_cast<size_t>((index * s.m + i) * s.n + j)] = sum;
      }
  }
  return c;
}

struct Layouts {
  std::string a = "row_major", b = "row_major", c = "row_major";
};

void check_plain(const Sizes& sizes, DataType_t a_type, DataType_t b_type, DataType_t c_type,
                 const Layouts& layouts = {}, const std::string& engine = "cpu.gemm",
                 DataType_t compute = DataType_t::FLOAT) {
  SCOPED_TRACE("m " + std::to_string(sizes.m) + ", n " + std::to_string(sizes.n) + ", k " +
               std::to_string(sizes.k) + ", " + std::string(to_string(a_type)) + ", " + layouts.a +
               ", " + layouts.b + ", " + layouts.c);
  GroupBuilder builder;
  const Dims a_dims = with(sizes.a_batch, sizes.m, sizes.k);
  const Dims b_dims = with(sizes.b_batch, sizes.k, sizes.n);
  const Values a = random_values(product(a_dims), 1), b = random_values(product(b_dims), 2);
  const Values a_values = as_stored(a, a_type, a_dims, layouts.a);
  const Values b_values = as_stored(b, b_type, b_dims, layouts.b);
  Dims c_dims;
  const Values c = multiply(sizes, a_values, b_values, c_dims);
  const auto ta = builder.stored("A", a_type, a_dims, layouts.a);
  const auto tb = builder.stored("B", b_type, b_dims, layouts.b);
  const auto tc = builder.stored("C", c_type, c_dims, layouts.c);
  builder.anchor(AnchorKind::kContraction, graph::Matmul_attributes(), {ta, tb}, {tc}, compute);
  builder.begin_epilogue(tc);
  builder.store(builder.anchor_value());
  expect_engine(engine, builder.build(), {{ta, a_values}, {tb, b_values}},
                {{tc, rounded(c, c_type)}}, static_cast<double>(sizes.k) / 4 + 4);
}

TEST(CpuGemm, Tails) {
  const int64_t sizes[] = {1, 2, 7, 8, 9, 31, 33, 63, 65, 97, 127, 129};
  for (int64_t size : sizes) {
    check_plain({{}, {}, size, 33, 17}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT);
    check_plain({{}, {}, 13, size, 9}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT);
    check_plain({{}, {}, 7, 31, size}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT);
  }
}

TEST(CpuGemm, LongSumsAndManyBlocks) {
  check_plain({{}, {}, 61, 70, 1100}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT);
  check_plain({{}, {}, 300, 200, 70}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT);
}

// B is read where it lies.
TEST(CpuGemm, FewRows) {
  const DataType_t type = DataType_t::FLOAT;
  for (int64_t m : {1, 2, 6, 7})
    for (int64_t n : {1, 8, 16, 24, 40, 72, 136}) {
      check_plain({{}, {}, m, n, 65}, type, type, type, {"row_major", "padded", "padded"});
      check_plain({{3}, {3}, m, n, 200}, type, type, type, {"column_major", "row_major", "padded"});
    }
  for (int64_t k : {0, 1, 63, 64, 129}) check_plain({{2}, {2}, 1, 32, k}, type, type, type);
  check_plain({{3, 4}, {1, 4}, 2, 32, 70}, type, type, type);
  check_plain({{3, 4}, {3, 4}, 1, 32, 70}, type, type, type, {"padded", "padded", "padded"});
  check_plain({{2}, {2}, 1, 32, 70}, DataType_t::DOUBLE, DataType_t::DOUBLE, DataType_t::DOUBLE);
}

TEST(CpuGemm, FewRowsCopyNothing) {
  constexpr int64_t kDepth = 512, kColumns = 512;
  GroupBuilder builder;
  const auto ta = builder.stored("A", DataType_t::FLOAT, {1, kDepth});
  const auto tb = builder.stored("B", DataType_t::FLOAT, {kDepth, kColumns});
  const auto tc = builder.stored("C", DataType_t::FLOAT, {1, kColumns});
  builder.anchor(AnchorKind::kContraction, graph::Matmul_attributes(), {ta, tb}, {tc});
  builder.begin_epilogue(tc);
  builder.store(builder.anchor_value());
  const auto candidates = cpu_engine("cpu.gemm")->candidates(builder.build(), cpu_device(2));
  ASSERT_TRUE(candidates.is_good());
  for (const engine::Candidate& candidate : candidates.value())
    EXPECT_LT(candidate.workspace_bytes, kDepth * kColumns);
}

TEST(CpuGemm, Layouts) {
  for (const char* a : {"row_major", "column_major", "padded", "spread", "all_repeated"})
    for (const char* b : {"row_major", "column_major", "padded", "last_repeated"})
      for (const char* c : {"row_major", "column_major", "padded", "spread"}) {
        const bool repeats = std::string(a) == "all_repeated" || std::string(b) == "last_repeated";
        if (repeats) continue;
        check_plain({{2}, {2}, 19, 37, 23}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT,
                    {a, b, c});
      }
}

TEST(CpuGemm, BatchBroadcast) {
  check_plain({{3, 4}, {3, 4}, 9, 33, 17}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT);
  check_plain({{3, 4}, {1, 1}, 9, 33, 17}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT);
  check_plain({{3, 1}, {1, 4}, 9, 33, 17}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT);
  check_plain({{1, 1}, {3, 4}, 9, 33, 17}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT);
  check_plain({{2, 6}, {2, 2}, 5, 18, 7}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT);
  check_plain({{2, 2}, {1, 6}, 5, 18, 7}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT,
              {"padded", "column_major", "column_major"});
  check_plain({{5, 3}, {1, 1}, 1, 33, 17}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT,
              {"padded", "row_major", "padded"});
}

TEST(CpuGemm, Types) {
  for (DataType_t type : {DataType_t::HALF, DataType_t::BFLOAT16, DataType_t::DOUBLE}) {
    check_plain({{2}, {2}, 31, 33, 65}, type, type, type);
    check_plain({{2}, {2}, 31, 33, 65}, type, type, DataType_t::FLOAT,
                {"column_major", "column_major", "column_major"});
    check_plain({{2}, {1}, 31, 33, 65}, type, DataType_t::FLOAT, DataType_t::FLOAT);
  }
  for (DataType_t type : {DataType_t::INT8, DataType_t::UINT8}) {
    check_plain({{2}, {2}, 31, 33, 65}, type, type, DataType_t::INT32, {}, "cpu.gemm",
                DataType_t::INT32);
    check_plain({{2}, {2}, 31, 33, 65}, type, DataType_t::INT8, DataType_t::FLOAT);
  }
}

TEST(CpuGeneric, MatmulOfEveryType) {
  for (DataType_t type :
       {DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16, DataType_t::DOUBLE})
    check_plain({{2}, {1}, 33, 67, 300}, type, type, type, {"padded", "column_major", "padded"},
                "cpu.generic");
  for (DataType_t type :
       {DataType_t::INT8, DataType_t::UINT8, DataType_t::INT32, DataType_t::INT64})
    check_plain({{2}, {4}, 9, 67, 30}, type, type, DataType_t::INT64, {}, "cpu.generic",
                DataType_t::INT64);
}

TEST(CpuGemm, NothingToSum) {
  check_plain({{2}, {2}, 5, 33, 0}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT);
  check_plain({{2}, {2}, 5, 33, 0}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT, {},
              "cpu.generic");
  check_plain({{2}, {2}, 0, 33, 4}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT);
  check_plain({{0}, {0}, 3, 33, 4}, DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT);
}

double gelu(double x) {
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

/// relu(A) * B * scale + bias -> GELU -> out, with its AMAX, sums of rows, of columns and of
/// batches.
void check_fused(const Sizes& sizes, const std::string& c_layout, DataType_t out_type) {
  GroupBuilder builder;
  const Dims a_dims = with(sizes.a_batch, sizes.m, sizes.k);
  const Dims b_dims = with(sizes.b_batch, sizes.k, sizes.n);
  const Values a = random_values(product(a_dims), 3), b = random_values(product(b_dims), 4);
  Values a_relu = a;
  for (double& value : a_relu) value = std::max(value, 0.0);
  Dims c_dims;
  Values c = multiply(sizes, a_relu, b, c_dims);
  const int64_t batches = c_dims[0];
  const Values bias = random_values(sizes.n, 5);
  const double scale = 0.25;

  const auto ta = builder.stored("A", DataType_t::FLOAT, a_dims, "padded");
  const auto ra = builder.virtual_tensor(DataType_t::FLOAT, a_dims);
  const auto tb = builder.stored("B", DataType_t::FLOAT, b_dims);
  const auto tc = builder.virtual_tensor(DataType_t::FLOAT, c_dims);
  const auto ts = builder.stored("scale", DataType_t::FLOAT, {1, 1, 1});
  const auto scaled = builder.virtual_tensor(DataType_t::FLOAT, c_dims);
  const auto tbias = builder.stored("bias", DataType_t::FLOAT, {1, 1, sizes.n});
  const auto sum = builder.virtual_tensor(DataType_t::FLOAT, c_dims);
  const auto out = builder.stored("out", out_type, c_dims, c_layout);
  const auto amax = builder.stored("amax", DataType_t::FLOAT, {1, 1, 1});
  const auto rows = builder.stored("row sums", DataType_t::FLOAT, {batches, sizes.m, 1});
  const auto columns = builder.stored("column sums", DataType_t::FLOAT, {batches, 1, sizes.n});
  const auto over_batch = builder.stored("batch sums", DataType_t::FLOAT, {1, sizes.m, sizes.n});
  builder.anchor(AnchorKind::kContraction, graph::Matmul_attributes(), {ra, tb}, {tc});
  builder.begin_prologue(0);
  builder.pointwise(PointwiseMode_t::RELU_FWD, {builder.load(ta)}, ra);
  builder.begin_epilogue(tc);
  const int v_scaled =
      builder.pointwise(PointwiseMode_t::MUL, {builder.anchor_value(), builder.load(ts)}, scaled);
  const int v_sum = builder.pointwise(PointwiseMode_t::ADD, {v_scaled, builder.load(tbias)}, sum);
  const int v_out = builder.pointwise(PointwiseMode_t::GELU_FWD, {v_sum}, out);
  builder.store(v_out);
  builder.reduce(v_out, ReductionMode_t::AMAX, amax);
  builder.reduce(v_out, ReductionMode_t::ADD, rows);
  builder.reduce(v_out, ReductionMode_t::ADD, columns);
  builder.reduce(v_out, ReductionMode_t::ADD, over_batch);

  for (size_t i = 0; i < c.size(); ++i)
    c[i] = gelu(c[i] * scale + bias[i % static_cast<size_t>(sizes.n)]);
  c = rounded(c, out_type);
  Values amax_values{0}, row_values(static_cast<size_t>(batches * sizes.m), 0);
  Values column_values(static_cast<size_t>(batches * sizes.n), 0);
  Values batch_values(static_cast<size_t>(sizes.m * sizes.n), 0);
  for (int64_t i = 0; i < batches; ++i)
    for (int64_t r = 0; r < sizes.m; ++r)
      for (int64_t j = 0; j < sizes.n; ++j) {
        const double value = c[static_cast<size_t>((i * sizes.m + r) * sizes.n + j)];
        amax_values[0] = std::max(amax_values[0], std::abs(value));
        row_values[static_cast<size_t>(i * sizes.m + r)] += value;
        column_values[static_cast<size_t>(i * sizes.n + j)] += value;
        batch_values[static_cast<size_t>(r * sizes.n + j)] += value;
      }
  // Rounded outputs may differ by a unit in the last place, and so may their sums.
  const double terms = out_type == DataType_t::FLOAT ? 100 : 40000;
  expect_engine_and_generic("cpu.gemm", builder.build(),
                            {{ta, a}, {tb, b}, {ts, {scale}}, {tbias, bias}},
                            {{out, c},
                             {amax, amax_values},
                             {rows, row_values},
                             {columns, column_values},
                             {over_batch, batch_values}},
                            terms);
}

TEST(CpuGemm, FusedChain) {
  check_fused({{3}, {3}, 65, 70, 33}, "row_major", DataType_t::FLOAT);
  check_fused({{3}, {1}, 65, 70, 33}, "padded", DataType_t::FLOAT);
  check_fused({{3}, {3}, 65, 70, 33}, "column_major", DataType_t::FLOAT);
  check_fused({{2}, {2}, 31, 129, 300}, "row_major", DataType_t::BFLOAT16);
}

// B's prologue is applied while panels are packed; what lies beside it may not leak in.
TEST(CpuGemm, PrologueOnB) {
  for (const char* layout : {"row_major", "column_major"}) {
    const Sizes sizes{{2}, {2}, 21, 37, 45};
    GroupBuilder builder;
    const Values a = random_values(2 * 21 * 45, 6), b = random_values(2 * 45 * 37, 7);
    const Values factor = random_values(45, 8);
    Values scaled = b;
    for (size_t i = 0; i < b.size(); ++i) scaled[i] *= factor[i / 37 % 45];
    Dims c_dims;
    const Values c = multiply(sizes, a, scaled, c_dims);
    const auto ta = builder.stored("A", DataType_t::FLOAT, {2, 21, 45});
    const auto tb = builder.stored("B", DataType_t::FLOAT, {2, 45, 37}, layout);
    const auto tf = builder.stored("factor", DataType_t::FLOAT, {1, 45, 1});
    const auto vb = builder.virtual_tensor(DataType_t::FLOAT, {2, 45, 37});
    const auto tc = builder.stored("C", DataType_t::FLOAT, c_dims, layout);
    builder.anchor(AnchorKind::kContraction, graph::Matmul_attributes(), {ta, vb}, {tc});
    builder.begin_prologue(1);
    builder.pointwise(PointwiseMode_t::MUL, {builder.load(tb), builder.load(tf)}, vb);
    builder.begin_epilogue(tc);
    builder.store(builder.anchor_value());
    expect_engine_and_generic("cpu.gemm", builder.build(), {{ta, a}, {tb, b}, {tf, factor}},
                              {{tc, c}});
  }
}

TEST(CpuGemm, NanStaysInItsRowAndColumn) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const Sizes sizes{{1}, {1}, 9, 35, 11};
  GroupBuilder builder;
  Values a = random_values(9 * 11, 1), b = random_values(11 * 35, 2);
  for (double& value : b) value = std::abs(value) + 1;
  a[3 * 11 + 10] = nan;
  a[5 * 11] = inf;
  b[4 * 35 + 34] = nan;
  Dims c_dims;
  const Values c = multiply(sizes, a, b, c_dims);
  const auto ta = builder.stored("A", DataType_t::FLOAT, {1, 9, 11}, "padded");
  const auto tb = builder.stored("B", DataType_t::FLOAT, {1, 11, 35}, "padded");
  const auto tc = builder.stored("C", DataType_t::FLOAT, c_dims, "padded");
  builder.anchor(AnchorKind::kContraction, graph::Matmul_attributes(), {ta, tb}, {tc});
  builder.begin_epilogue(tc);
  builder.store(builder.anchor_value());
  expect_engine_and_generic("cpu.gemm", builder.build(), {{ta, a}, {tb, b}}, {{tc, c}});
}

TEST(CpuGeneric, MatmulOverrides) {
  const Sizes sizes{{2}, {2}, 5, 6, 7};
  GroupBuilder builder;
  Values a = random_values(2 * 5 * 7, 1), b = random_values(2 * 7 * 6, 2);
  const auto ta = builder.stored("A", DataType_t::FLOAT, {2, 5, 7});
  const auto tb = builder.stored("B", DataType_t::FLOAT, {2, 7, 6});
  const auto tm = builder.stored("M", DataType_t::INT32, {2, 1, 1});
  const auto tn = builder.stored("N", DataType_t::INT32, {2, 1, 1});
  const auto tk = builder.stored("K", DataType_t::INT32, {2, 1, 1});
  const Values m{3, 5}, n{6, 2}, k{7, 4};
  const double padding = 0.5;
  Values padded_a = a, padded_b = b;
  for (int64_t batch = 0; batch < 2; ++batch) {
    const auto at = static_cast<size_t>(batch);
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t j = 0; j < 7; ++j)
        if (static_cast<double>(i) >= m[at] || static_cast<double>(j) >= k[at])
          padded_a[static_cast<size_t>((batch * 5 + i) * 7 + j)] = padding;
    for (int64_t i = 0; i < 7; ++i)
      for (int64_t j = 0; j < 6; ++j)
        if (static_cast<double>(i) >= k[at] || static_cast<double>(j) >= n[at])
          padded_b[static_cast<size_t>((batch * 7 + i) * 6 + j)] = padding;
  }
  Dims c_dims;
  const Values c = multiply(sizes, padded_a, padded_b, c_dims);
  const auto tc = builder.stored("C", DataType_t::FLOAT, c_dims);
  graph::Matmul_attributes attributes;
  attributes.set_padding(padding);
  builder.anchor(AnchorKind::kContraction, attributes, {ta, tb, tm, tn, tk}, {tc});
  builder.begin_epilogue(tc);
  builder.store(builder.anchor_value());
  const auto group = builder.build();
  EXPECT_FALSE(cpu_engine("cpu.gemm")->supports(group, cpu_device(1)).is_supported);
  expect_engine("cpu.generic", group, {{ta, a}, {tb, b}, {tm, m}, {tn, n}, {tk, k}}, {{tc, c}});
}

TEST(CpuGeneric, WideIntegersStayExact) {
  GroupBuilder builder;
  const auto ta = builder.stored("A", DataType_t::INT32, {2, 3});
  const auto tb = builder.stored("B", DataType_t::INT32, {3, 2});
  const auto tc = builder.stored("C", DataType_t::INT64, {2, 2});
  builder.anchor(AnchorKind::kContraction, graph::Matmul_attributes(), {ta, tb}, {tc},
                 DataType_t::INT64);
  builder.begin_epilogue(tc);
  builder.store(builder.anchor_value());
  // Its square is odd and above 2^53, where doubles are even.
  const double big = 94906267, square_plus_1 = 9007199515875290;
  expect_engine("cpu.generic", builder.build(),
                {{ta, {big, 1, 0, 0, 0, 1}}, {tb, {big, 1, 1, 2, 3, 4}}},
                {{tc, {square_plus_1, big + 2, 3, 4}}});
}

}  // namespace
}  // namespace warploom::test
