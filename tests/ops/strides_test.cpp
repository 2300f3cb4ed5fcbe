#include "ops/strides.h"

#include <set>

#include <gtest/gtest.h>

namespace warploom::ops {
namespace {

TEST(Strides, Orders) {
  EXPECT_EQ(row_major_strides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(row_major_strides({2, 0, 4}), (Dims{4, 4, 1}));
  EXPECT_EQ(nhwc_strides({2, 3, 4, 5}), (Dims{60, 1, 15, 3}));
  EXPECT_EQ(nhwc_strides({2, 3, 4}), (Dims{12, 1, 3}));
  EXPECT_EQ(nhwc_strides({2, 3, 4, 5, 6}), (Dims{360, 1, 90, 18, 3}));
  EXPECT_EQ(nhwc_strides({2, 3}), (Dims{3, 1}));
  EXPECT_EQ(nhwc_strides({7}), (Dims{1}));
}

TEST(Strides, OrderOfAnother) {
  EXPECT_EQ(strides_in_order_of({2, 3, 4, 5}, {60, 1, 15, 3}), (Dims{60, 1, 15, 3}));
  EXPECT_EQ(strides_in_order_of({2, 3, 4}, {1, 100, 10}), (Dims{1, 8, 2}));
  // Equal strides: the later dim is faster.
  EXPECT_EQ(strides_in_order_of({2, 3, 4}, {0, 0, 0}), (Dims{12, 4, 1}));
  EXPECT_EQ(strides_in_order_of({2, 1, 4}, {4, 4, 1}), (Dims{4, 4, 1}));
}

TEST(Strides, Span) {
  EXPECT_EQ(span_of({2, 3}, {10, 1}), 13);
  EXPECT_EQ(span_of({2, 0}, {10, 1}), 0);
  EXPECT_EQ(span_of({5}, {0}), 1);
}

bool overlap_by_listing(const Dims& dims, const Dims& strides) {
  std::set<int64_t> addresses;
  for (int64_t i = 0; i < dims[0]; ++i)
    for (int64_t j = 0; j < dims[1]; ++j)
      for (int64_t k = 0; k < dims[2]; ++k)
        if (!addresses.insert(i * strides[0] + j * strides[1] + k * strides[2]).second) return true;
  return false;
}

TEST(Strides, OverlapIsExact) {
  int overlapping = 0, separate = 0;
  for (int64_t a = 0; a < 9; ++a)
    for (int64_t b = 0; b < 9; ++b)
      for (int64_t c = 0; c < 9; ++c)
        for (const Dims& dims : {Dims{2, 3, 2}, Dims{3, 1, 4}, Dims{1, 1, 1}, Dims{2, 0, 2}}) {
          const Dims strides{a, b, c};
          const bool expected = overlap_by_listing(dims, strides);
          EXPECT_EQ(elements_overlap(dims, strides), expected)
              << a << " " << b << " " << c << " of " << dims[0] << dims[1] << dims[2];
          ++(expected ? overlapping : separate);
        }
  EXPECT_GT(overlapping, 100);
  EXPECT_GT(separate, 100);
}

TEST(Strides, OverlapOfLargeLayoutsEnds) {
  // Interleaved, but apart: 3 i + 2 j with j < 3.
  EXPECT_FALSE(elements_overlap({2, 3}, {3, 2}));
  EXPECT_TRUE(elements_overlap({1'000'000, 1'000'000}, {999'999, 1'000'000}));
  EXPECT_FALSE(elements_overlap({1'000'000, 1'000'000}, {1'000'000, 1}));
  EXPECT_TRUE(elements_overlap({1'000'000, 1'000'000}, {999'999, 1}));
  // Gives up, and says yes.
  EXPECT_TRUE(
      elements_overlap({1 << 20, 1 << 20, 1 << 20, 1 << 20}, {1000003, 1000033, 1000037, 1000039}));
}

TEST(Strides, CanonicalLayout) {
  EXPECT_EQ(canonical_layout({2, 3, 4}, {12, 4, 1}), canonical_layout({24}, {1}));
  EXPECT_EQ(canonical_layout({2, 3, 4}, {1, 8, 2}), canonical_layout({4, 6}, {6, 1}));
  EXPECT_EQ(canonical_layout({2, 1, 4}, {16, 99, 1}), canonical_layout({2, 4}, {16, 1}));
  EXPECT_FALSE(canonical_layout({2, 3, 4}, {16, 4, 1}) == canonical_layout({24}, {1}));
  EXPECT_EQ(canonical_layout({2, 3}, {0, 1}), canonical_layout({3, 2}, {1, 0}));
}

}  // namespace
}  // namespace warploom::ops
