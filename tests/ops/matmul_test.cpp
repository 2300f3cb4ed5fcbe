#include <cmath>

#include <gtest/gtest.h>

#include "ops/operation_runner.h"

namespace warploom::test {
namespace {

using graph::Matmul_attributes;

Matmul_attributes matmul() {
  return Matmul_attributes().set_name("fc");
}

graph::Operation product(const Dims& a, const Dims& b, DataType_t type = DataType_t::DOUBLE) {
  return with(matmul(), {input("a", a, type), input("b", b, type)}, {output(type)});
}

Dims inferred_dims(const Dims& a, const Dims& b) {
  const TensorPtr c = output();
  expect_accepted(with(matmul(), {input("a", a), input("b", b)}, {c}));
  return c->get_dim();
}

TEST(MatmulInference, Dims) {
  EXPECT_EQ(inferred_dims({2, 3}, {3, 5}), (Dims{2, 5}));
  EXPECT_EQ(inferred_dims({16, 512, 1024}, {1, 1024, 512}), (Dims{16, 512, 512}));
  EXPECT_EQ(inferred_dims({2, 8, 4, 3}, {2, 2, 3, 5}), (Dims{2, 8, 4, 5}));
  EXPECT_EQ(inferred_dims({1, 2, 4, 3}, {6, 8, 3, 5}), (Dims{6, 8, 4, 5}));
  EXPECT_EQ(inferred_dims({4, 0}, {0, 5}), (Dims{4, 5}));
  EXPECT_EQ(inferred_dims({0, 4, 3}, {1, 3, 5}), (Dims{0, 4, 5}));
  const TensorPtr c = output();
  expect_accepted(with(matmul(), {input("a", {2, 4, 3}), input("b", {2, 3, 5})}, {c}));
  EXPECT_EQ(c->get_stride(), (Dims{20, 5, 1}));
}

TEST(MatmulErrors, Shapes) {
  const auto shape = error_code_t::SHAPE_DEDUCTION_FAILED;
  expect_refused(product({3}, {3}), shape,
                 {"MATMUL \"fc\"", "\"a\" (port A)", "1 dims", "2 or more"});
  expect_refused(product({2, 4, 3}, {3, 5}), shape, {"\"b\" (port B)", "2 dims", "accepted 3"});
  expect_refused(product({2, 4, 3}, {2, 7, 5}), shape,
                 {"\"b\" (port B), dim 1 (K)", "found 7", "accepted 3", "dim 2 of tensor \"a\""});
  expect_refused(product({4, 4, 3}, {3, 3, 5}), shape,
                 {"\"b\" (port B), dim 0 (batch)", "found 3", "multiple of 4"});
  expect_refused(product({0, 4, 3}, {3, 3, 5}), shape, {"dim 0 (batch)", "found 3"});
  expect_refused(
      with(matmul(), {input("a", {2, 3}), input("b", {3, 4})}, {output(DataType_t::FLOAT, {2, 5})}),
      shape, {"port C), dim 1", "5 in [2, 5]", "4 of [2, 4]"});
}

TEST(MatmulErrors, Overrides) {
  const auto a = input("a", {6, 4, 3}), b = input("b", {2, 3, 5});
  expect_refused(with(matmul(), {a, b, input("m", {6, 1, 1})}, {output()}),
                 error_code_t::INVALID_VALUE,
                 {"\"m\" (port M_override), data type", "FLOAT", "INT32 or INT64"});
  expect_refused(with(matmul(), {a, b, nullptr, nullptr, input("k", {2, 1, 1}, DataType_t::INT32)},
                      {output()}),
                 error_code_t::SHAPE_DEDUCTION_FAILED,
                 {"\"k\" (port K_override), dims", "[2, 1, 1]", "[6, 1, 1]"});
}

// --- Values ---

Values expected_product(int64_t batch, int64_t m, int64_t k, int64_t n, const Values& a,
                        const Values& b, int64_t a_batch, int64_t b_batch) {
  Values c;
  for (int64_t t = 0; t < batch; ++t)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t s = 0; s < k; ++s)
          sum += a[static_cast<size_t>((t / (batch / a_batch) * m + i) * k + s)] *
                 b[static_cast<size_t>((t / (batch / b_batch) * k + s) * n + j)];
        c.push_back(sum);
      }
  return c;
}

TEST(Matmul, Plain) {
  EXPECT_EQ(run_one(product({2, 2}, {2, 2}), {{1, 2, 3, 4}, {5, 6, 7, 8}}),
            (Values{19, 22, 43, 50}));
  for (int64_t k : {1, 13, 103}) {
    const Values a = random_values(7 * k), b = random_values(k * 5, 2);
    EXPECT_EQ(run_one(product({7, k}, {k, 5}), {a, b}), expected_product(1, 7, k, 5, a, b, 1, 1));
  }
}

// B94, and batches that divide: each entry serves consecutive ones.
TEST(Matmul, BatchesBroadcastInRuns) {
  for (auto [a_batch, b_batch] :
       {std::pair{1, 8}, std::pair{8, 1}, std::pair{8, 2}, std::pair{4, 8}}) {
    const Values a = random_values(a_batch * 6), b = random_values(b_batch * 12, 2);
    EXPECT_EQ(run_one(product({a_batch, 2, 3}, {b_batch, 3, 4}), {a, b}),
              expected_product(8, 2, 3, 4, a, b, a_batch, b_batch))
        << a_batch << " " << b_batch;
  }
  // Two batch dims broadcast each on its own: [2, 1] with [1, 3].
  const Values found = run_one(product({2, 1, 1, 1}, {1, 3, 1, 1}), {{2, 3}, {5, 7, 11}});
  EXPECT_EQ(found, (Values{10, 14, 22, 15, 21, 33}));
}

TEST(Matmul, TransposedAndOddStrides) {
  const Values a = random_values(6), b = random_values(12, 2);
  const Values expected = expected_product(1, 2, 3, 4, a, b, 1, 1);
  EXPECT_EQ(run_one(with(matmul(),
                         {input("a", {1, 2, 3}, DataType_t::FLOAT, {77, 1, 2}),
                          input("b", {1, 3, 4}, DataType_t::FLOAT, {0, 1, 9})},
                         {output(DataType_t::FLOAT, {1, 2, 4}, {5, 1, 3})}),
                    {a, b}),
            expected);
  // B92: both strides of a vector are 1.
  EXPECT_EQ(run_one(with(matmul(),
                         {input("a", {3, 1}, DataType_t::FLOAT, {1, 1}),
                          input("b", {1, 2}, DataType_t::FLOAT, {1, 1})},
                         {output()}),
                    {{1, 2, 3}, {10, 20}}),
            (Values{10, 20, 20, 40, 30, 60}));
}

TEST(Matmul, NothingToSumIsZero) {
  EXPECT_EQ(run_one(product({2, 0}, {0, 3}), {{}, {}}), Values(6, 0.0));
  EXPECT_EQ(run_one(product({0, 2}, {2, 3}), {{}, count_up(6)}), Values());
  EXPECT_EQ(run_one(product({0, 2, 2}, {1, 2, 3}), {{}, count_up(6)}), Values());
}

TEST(Matmul, AccumulatesInDouble) {
  // In float, 2^24 + 1 is lost.
  const TensorPtr c = output(DataType_t::DOUBLE);
  EXPECT_EQ(run_one(with(matmul(), {input("a", {1, 3}), input("b", {3, 1})}, {c}),
                    {{16777216, 1, 1}, {1, 1, 1}}),
            Values{16777218});
  // Rounded once, at the end.
  EXPECT_EQ(
      run_one(with(matmul(),
                   {input("a", {1, 3}, DataType_t::HALF), input("b", {3, 1}, DataType_t::HALF)},
                   {output(DataType_t::HALF)}),
              {{65504, 65504, -65504}, {1, 1, 1}}),
      Values{65504});
}

TEST(Matmul, IntegersAreExact) {
  const int64_t large = (int64_t{1} << 53) + 2;
  const Matmul_attributes attributes = matmul().set_compute_data_type(DataType_t::INT64);
  // (2^53 + 2) 1 + 1 1: a double cannot hold it, an int64_t can; the difference shows it.
  const auto b = input("b", {3, 1}, DataType_t::INT64);
  EXPECT_EQ(run_one(with(attributes, {input("a", {1, 3}, DataType_t::INT64), b},
                         {output(DataType_t::INT64)}),
                    {{static_cast<double>(large), 1, static_cast<double>(-large)}, {1, 1, 1}}),
            Values{1});
  EXPECT_EQ(
      run_one(with(matmul().set_compute_data_type(DataType_t::INT32),
                   {input("a", {1, 2}, DataType_t::UINT8), input("b", {2, 1}, DataType_t::INT8)},
                   {output(DataType_t::INT8)}),
              {{255, 255}, {127, -126}}),
      Values{127});
}

TEST(Matmul, NanAndInfinity) {
  const double nan = std::nan(""), inf = INFINITY;
  expect_near(run_one(product({2, 2}, {2, 2}), {{nan, 0, 1, 1}, {1, inf, 0, 1}}),
              {nan, nan, 1, inf});
}

// Beyond the size in use A and B are read as the padding value, and C is what comes of that.
TEST(Matmul, Overrides) {
  const Values a = count_up(2 * 3 * 2), b = count_up(2 * 2 * 2, 0.5);
  const auto sizes = [](const char* name) { return input(name, {2, 1, 1}, DataType_t::INT32); };
  for (double padding : {0.0, 2.0}) {
    const Values m{2, 5}, n{1, -3}, k{1, 2};  // clamped to 0 and the extent
    const Values found = run_one(
        with(matmul().set_padding(padding),
             {input("a", {2, 3, 2}), input("b", {2, 2, 2}), sizes("m"), sizes("n"), sizes("k")},
             {output()}),
        {a, b, m, n, k});
    Values expected;
    for (int64_t t = 0; t < 2; ++t)
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t j = 0; j < 2; ++j) {
          const auto batch = static_cast<size_t>(t);
          double sum = 0;
          for (int64_t s = 0; s < 2; ++s) {
            const bool in_k = static_cast<double>(s) < k[batch];
            const double x = in_k && static_cast<double>(i) < m[batch]
                                 ? a[static_cast<size_t>((t * 3 + i) * 2 + s)]
                                 : padding;
            const double y = in_k && static_cast<double>(j) < n[batch]
                                 ? b[static_cast<size_t>((t * 2 + s) * 2 + j)]
                                 : padding;
            sum += x * y;
          }
          expected.push_back(sum);
        }
    EXPECT_EQ(found, expected) << padding;
  }
}

}  // namespace
}  // namespace warploom::test
