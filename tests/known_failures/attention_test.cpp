// Failures known of other libraries' attention; README.md says where each comes from.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/element.h"
#include "harness/layout.h"
#include "known_failures/attention_problem.h"

namespace warploom::test {
namespace {

using enum DataType_t;
using enum DiagonalAlignment_t;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The mask of a single query row is not dropped: the first key alone, or all of them.
TEST(KnownFailures, B1_CausalDecodeWithGroupedHeads) {
  AttentionProblem p;
  p.batches = 2;
  p.set_heads(32, 8);
  p.set_size(128);
  p.type = BFLOAT16;
  p.keys = 257;
  p.scale = 0.09f;
  p.right_bound = 0;
  p.randomise();
  for (const auto alignment : {TOP_LEFT, BOTTOM_RIGHT}) {
    p.alignment = alignment;
    check_attention(p);
  }
  p.alignment = TOP_LEFT;
  const Values o = attention_by_loops(p).o;
  for (int64_t h = 0; h < 32; ++h)
    EXPECT_EQ(View(o, p.dims_o())(1, h, 0, 5), View(p.v, p.dims_v())(1, h / 4, 0, 5));
}

TEST(KnownFailures, B2_CausalWithFewerQueriesThanKeys) {
  AttentionProblem p;
  p.rows = 3;
  p.keys = 5;
  p.type = HALF;
  p.scale = 0.125f;
  p.right_bound = 0;
  p.randomise();
  for (const auto alignment : {TOP_LEFT, BOTTOM_RIGHT}) {
    p.alignment = alignment;
    check_attention(p);
  }
}

// Rows 0 to 2 see no key: O = 0 and Stats = -inf, not NaN and not the mean of V.
TEST(KnownFailures, B3_BottomRightCausalWithMoreQueriesThanKeys) {
  AttentionProblem p;
  p.rows = 5;
  p.keys = 2;
  p.right_bound = 0;
  p.alignment = BOTTOM_RIGHT;
  for (const auto type : {FLOAT, HALF}) {
    p.type = type;
    p.randomise();
    check_attention(p);
  }
  const AttentionAnswer answer = attention_by_loops(p);
  EXPECT_EQ(answer.stats[2], -kInfinity);
  EXPECT_EQ(answer.o[2 * 64], 0);
  EXPECT_TRUE(std::isfinite(answer.stats[3]));

  p.rows = p.keys = 64;
  p.lengths = {{5}, {2}};
  p.randomise();
  check_attention(p);
}

TEST(KnownFailures, B5_LengthsOfZero) {
  AttentionProblem p;
  p.batches = 3;
  p.set_heads(2, 2);
  p.rows = p.keys = 64;
  p.lengths = {{5, 17, 64}, {0, 17, 64}};
  for (const auto type : {FLOAT, HALF, BFLOAT16}) {
    p.type = type;
    p.randomise();
    check_attention(p);
  }
}

// What lies beyond a length is never multiplied, not even by 0.
TEST(KnownFailures, B8_NaNBeyondTheLengthOfKeys) {
  AttentionProblem p;
  p.set_heads(2, 1);
  p.rows = 20;
  p.keys = 128;
  p.lengths = {{20}, {50}};
  for (const auto type : {FLOAT, HALF, BFLOAT16}) {
    p.type = type;
    p.randomise();
    for (int64_t j = 50; j < 128; ++j)
      for (int64_t d = 0; d < 64; ++d)
        p.k[static_cast<size_t>(j * 64 + d)] = p.v[static_cast<size_t>(j * 64 + d)] = kNaN;
    check_attention(p);
  }
}

TEST(KnownFailures, B11_FloatBiasWithHalfInputs) {
  AttentionProblem p;
  p.set_heads(4, 4);
  p.set_size(16);
  p.rows = p.keys = 32;
  p.scale = 0.25f;
  p.bias_dims = Dims{1, 1, 32, 32};
  for (const auto type : {HALF, BFLOAT16}) {
    p.type = type;
    p.randomise();
    p.bias = generate(*p.bias_dims, [](const Dims& at) { return at[3] <= at[2] ? 0 : -kInfinity; });
    check_attention(p);
  }
}

TEST(KnownFailures, B12_BiasShapes) {
  AttentionProblem p;
  p.batches = 2;
  p.set_heads(4, 4);
  p.set_size(32);
  p.rows = 40;
  p.keys = 72;
  p.scale = 0.2f;
  for (const Dims& dims : {Dims{1, 1, 40, 72}, Dims{1, 4, 40, 72}, Dims{2, 1, 40, 72},
                           Dims{2, 4, 40, 72}, Dims{2, 1, 1, 72}, Dims{1, 1, 1, 72}}) {
    p.bias_dims = dims;
    p.randomise();
    check_attention(p);
  }
}

TEST(KnownFailures, B15_KeysExpandedWithStrideZero) {
  for (const int64_t keys : {33, 65, 97}) {
    for (const bool over_heads : {true, false}) {
      AttentionProblem p;
      p.batches = 2;
      p.set_heads(4, 4);
      p.set_size(32);
      p.type = BFLOAT16;
      p.rows = 9;
      p.keys = keys;
      p.bias_dims = Dims{1, 1, 9, keys};
      p.randomise();
      p.strides_k = p.strides_v =
          over_heads ? Dims{keys * 32, 0, 32, 1} : Dims{0, keys * 32, 32, 1};
      for (Values* values : {&p.k, &p.v})
        *values = generate(p.dims_k(), [&, from = *values](const Dims& at) {
          return View(from, p.dims_k())(over_heads ? at[0] : 0, over_heads ? 0 : at[1], at[2],
                                        at[3]);
        });
      check_attention(p);
    }
  }
}

TEST(KnownFailures, B17_QueriesInsidePackedQkv) {
  AttentionProblem p;
  p.batches = 4;
  p.set_heads(32, 4);
  p.set_size(128);
  p.type = HALF;
  p.keys = 20;
  p.scale = 0.09f;
  p.strides_q = {5120, 128, 5120, 1};
  p.randomise();
  check_attention(p);
}

// Every score is about -100: a padded key that scores 0 would take all the weight.
void check_far_from_zero(int64_t rows, int64_t keys, int64_t size, DataType_t type, Plans plans) {
  SCOPED_TRACE(std::to_string(rows) + " queries, " + std::to_string(keys) + " keys");
  AttentionProblem p;
  p.rows = rows;
  p.keys = keys;
  p.set_size(size);
  p.type = type;
  p.scale = static_cast<float>(100.0 / static_cast<double>(size));
  p.q = random_values(p.dims_q(), p.type, 1, 0.9, 1.1);
  p.k = random_values(p.dims_k(), p.type, 2, -1.1, -0.9);
  p.v = random_values(p.dims_v(), p.type, 3, 0.5, 2);
  check_attention(p, plans);
}

TEST(KnownFailures, B19_TailsWithScoresFarBelowZero) {
  for (const int64_t rows : {1, 7, 33, 65})
    for (const int64_t keys : {1, 2, 7, 31, 33, 63, 65, 96, 97, 127, 129, 130, 191, 257})
      check_far_from_zero(rows, keys, 64, rows % 2 ? FLOAT : BFLOAT16, Plans::kEvery);
}

TEST(KnownFailuresLong, B19_TailsWithScoresFarBelowZero) {
  const int64_t lengths[] = {1, 2, 7, 31, 33, 63, 65, 96, 97, 127, 129, 130, 191, 257, 2731};
  for (const int64_t rows : lengths)
    for (const int64_t keys : lengths)
      for (const int64_t size : {64, 128})
        check_far_from_zero(rows, keys, size, HALF, Plans::kFirst);
}

TEST(KnownFailures, B20_HeadSizes) {
  const std::pair<int64_t, int64_t> sizes[] = {
      {8, 8},     {24, 24},   {40, 40},   {72, 72},   {80, 80}, {96, 96}, {104, 104}, {128, 64},
      {128, 144}, {160, 160}, {192, 128}, {256, 256}, {4, 4},   {12, 12}, {20, 20}};
  for (const auto& [qk, v] : sizes) {
    for (const auto type : {FLOAT, HALF}) {
      AttentionProblem p;
      p.rows = 10;
      p.keys = 35;
      p.size_qk = qk;
      p.size_v = v;
      p.type = type;
      p.scale = 0.1f;
      p.randomise();
      check_attention(p);
    }
  }
}

// Row i sees keys i - 2 to i: the left bound counts the diagonal.
TEST(KnownFailures, B27_SlidingWindowCountsTheDiagonal) {
  AttentionProblem p;
  p.rows = p.keys = 8;
  p.left_bound = 3;
  p.right_bound = 0;
  // Equal scores: O is the mean of the values seen, and V[j] = 2^j tells which they are.
  p.q = Values(8 * 64, 0.0);
  p.k = random_values(p.dims_k(), p.type, 1);
  p.v = generate(p.dims_v(), [](const Dims& at) { return std::exp2(at[2]); });
  check_attention(p);
  EXPECT_NEAR(attention_by_loops(p).o[5 * 64], (8 + 16 + 32) / 3.0, 1e-9);
}

TEST(KnownFailuresLong, B27_SlidingWindowOfHalfTheSequence) {
  AttentionProblem p;
  p.set_heads(2, 2);
  p.rows = p.keys = 2048;
  p.type = HALF;
  p.scale = 0.125f;
  p.left_bound = 1024;
  p.right_bound = 0;
  p.randomise();
  check_attention(p, Plans::kFirst);
}

// A left bound alone hides nothing of the future.
TEST(KnownFailures, B28_LeftBoundAlone) {
  AttentionProblem p;
  p.rows = p.keys = 8;
  p.left_bound = 2;
  p.q = Values(8 * 64, 0.0);
  p.k = random_values(p.dims_k(), p.type, 1);
  p.v = generate(p.dims_v(), [](const Dims& at) { return std::exp2(at[2]); });
  check_attention(p);
  EXPECT_NEAR(attention_by_loops(p).o[0], 255 / 8.0, 1e-9);
  p.right_bound = 0;
  check_attention(p);
  EXPECT_NEAR(attention_by_loops(p).o[7 * 64], (64 + 128) / 2.0, 1e-9);
}

TEST(KnownFailures, B31_DifferentHeadsOfKeysAndValues) {
  AttentionProblem p;
  p.batches = 2;
  p.heads_q = 8;
  p.heads_k = 4;
  p.heads_v = 2;
  p.set_size(16);
  p.rows = 6;
  p.keys = 13;
  p.randomise();
  check_attention(p);
}

TEST(KnownFailures, B35_OutputStridesOfTheUser) {
  AttentionProblem p;
  p.batches = 2;
  p.set_heads(3, 3);
  p.set_size(16);
  p.rows = 7;
  p.keys = 9;
  p.type = HALF;
  p.randomise();
  const Dims heads_inside{7 * 3 * 16, 16, 3 * 16, 1};
  p.strides_o = heads_inside;
  check_attention(p);
  p.strides_o = {};
  p.strides_q = heads_inside;
  check_attention(p);
}

TEST(KnownFailures, B39_EmptyBatch) {
  AttentionProblem p;
  p.batches = 0;
  p.set_heads(10, 10);
  p.rows = 3952;
  p.keys = 16;
  p.type = HALF;
  check_attention(p);
}

TEST(KnownFailures, B41_LogitsAndValuesOfTensOfThousands) {
  AttentionProblem p;
  p.rows = 8;
  p.keys = 40;
  p.type = HALF;
  for (const float scale : {1.0f, 1e-3f}) {
    for (const double sign : {1.0, -1.0}) {
      p.scale = scale;
      p.q = random_values(p.dims_q(), HALF, 1, 29, 31);
      p.k = random_values(p.dims_k(), HALF, 2, sign * 29, sign * 31);
      p.v = random_values(p.dims_v(), HALF, 3, 59000, 61000);
      check_attention(p);
    }
  }
  EXPECT_TRUE(std::isfinite(attention_by_loops(p).stats[0]));
}

TEST(KnownFailures, B42_LengthsOfOneDimension) {
  AttentionProblem p;
  p.batches = 3;
  p.set_heads(2, 2);
  p.set_size(16);
  p.rows = 6;
  p.keys = 11;
  p.lengths = {{6, 2, 4}, {11, 3, 1}};
  p.length_dims = {3};
  p.randomise();
  check_attention(p);
}

TEST(KnownFailures, B45_PaddingOfQueriesAndKeys) {
  AttentionProblem p;
  p.batches = 2;
  p.set_heads(4, 4);
  p.set_size(128);
  p.rows = 8;
  p.keys = 16;
  p.lengths = {{7, 8}, {7, 16}};
  for (const auto type : {FLOAT, BFLOAT16}) {
    p.type = type;
    p.randomise();
    check_attention(p);
  }
}

// The second run reads its own layout, not that of the first.
TEST(KnownFailures, B129_SameShapesOtherStrides) {
  AttentionProblem p;
  p.batches = 2;
  p.set_heads(8, 8);
  p.set_size(128);
  p.rows = 64;
  p.keys = 128;
  p.type = BFLOAT16;
  p.scale = 0.09f;
  p.randomise();
  check_attention(p, Plans::kFirst);
  // K and V interleaved in one buffer: a token is 2 H D elements from the next.
  p.strides_k = p.strides_v = {128 * 2 * 8 * 128, 128, 2 * 8 * 128, 1};
  check_attention(p, Plans::kFirst);
}

}  // namespace
}  // namespace warploom::test
