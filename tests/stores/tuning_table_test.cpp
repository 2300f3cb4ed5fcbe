#include "plan/tuning_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace warploom::plan {
namespace {

TuningTable example() {
  TuningTable table;
  table[{{4, 5, 0}, 7}]["cpu.gemm:tile_m=8"] = {12.5, 10, 100};
  table[{{4, 5, 0}, 7}]["cpu.generic"] = {1e6, 0, -1};
  table[{{}, 0}][""] = {1, std::nan(""), 3};
  return table;
}

bool is_same(const TuningTable& a, const TuningTable& b) {
  return encode_tuning_table(a) == encode_tuning_table(b);
}

TEST(TuningTable, SurvivesItsBytes) {
  const auto bytes = encode_tuning_table(example());
  const auto parsed = parse_tuning_table(bytes);
  ASSERT_TRUE(parsed.is_good()) << parsed.error();
  const TuningTable& table = parsed.value();
  ASSERT_EQ(table.size(), 2u);
  const auto& times = table.at({{4, 5, 0}, 7});
  EXPECT_EQ(times.at("cpu.gemm:tile_m=8").measured_microseconds, 12.5);
  EXPECT_EQ(times.at("cpu.gemm:tile_m=8").predicted_microseconds, 10);
  EXPECT_EQ(times.at("cpu.gemm:tile_m=8").when_ns, 100);
  EXPECT_EQ(times.at("cpu.generic").when_ns, -1);
  EXPECT_TRUE(is_same(table, example()));
}

TEST(TuningTable, CutAtAnyLengthIsRefused) {
  const auto bytes = encode_tuning_table(example());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_TRUE(parse_tuning_table(std::span(bytes).first(size)).is_bad()) << size;
  auto longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_TRUE(parse_tuning_table(longer).is_bad());
}

TEST(TuningTable, NumbersThatAreNoneAreRefused) {
  for (const double time : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    TuningTable table = example();
    table.begin()->second.begin()->second.measured_microseconds = time;
    EXPECT_TRUE(parse_tuning_table(encode_tuning_table(table)).is_bad()) << time;
  }
  TuningTable negative;
  negative[{{-1}, 0}]["x"] = {1, 1, 1};
  EXPECT_TRUE(parse_tuning_table(encode_tuning_table(negative)).is_bad());
  // Counts that promise more than there is: nothing is allocated for them.
  for (size_t at = 0; at + 8 <= encode_tuning_table(example()).size(); at += 8) {
    auto bytes = encode_tuning_table(example());
    for (size_t i = 0; i < 8; ++i) bytes[at + i] = std::byte{0xff};
    (void)parse_tuning_table(bytes);
  }
}

TEST(TuningTable, TheNewestTimeWinsInAnyOrder) {
  TuningTable older, newer;
  older[{{1}, 0}]["a"] = {1, 1, 10};
  older[{{1}, 0}]["b"] = {2, 1, 30};
  newer[{{1}, 0}]["a"] = {3, 1, 20};
  newer[{{2}, 0}]["a"] = {4, 1, 20};
  TuningTable one = older, other = newer;
  merge(one, newer);
  merge(other, older);
  EXPECT_TRUE(is_same(one, other));
  EXPECT_EQ(one.at({{1}, 0}).at("a").measured_microseconds, 3);
  EXPECT_EQ(one.at({{1}, 0}).at("b").measured_microseconds, 2);
  EXPECT_EQ(one.size(), 2u);
}

TEST(TuningTable, KeepsTheNewestWithinItsBounds) {
  TuningTable table;
  for (int64_t i = 0; i < 3 * static_cast<int64_t>(kMostExtents); ++i) {
    TuningTable one;
    for (int64_t k = 0; k < 3 * static_cast<int64_t>(kMostOffers); k += 100)
      one[{{i}, 0}]["offer " + std::to_string(k)] = {1, 1, i + k};
    merge(table, one);
  }
  EXPECT_EQ(table.size(), kMostExtents);
  EXPECT_EQ(table.begin()->first.values[0], 2 * static_cast<int64_t>(kMostExtents));
  TuningTable wide;
  for (int64_t k = 0; k < 3 * static_cast<int64_t>(kMostOffers); ++k)
    wide[{{1}, 0}][std::to_string(k)] = {1, 1, k};
  merge(table, wide);
  ASSERT_TRUE(parse_tuning_table(encode_tuning_table(table)).is_good());
}

}  // namespace
}  // namespace warploom::plan
