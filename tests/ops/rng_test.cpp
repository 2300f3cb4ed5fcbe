#include <gtest/gtest.h>

#include "ops/operation_runner.h"
#include "ops/philox.h"

namespace warploom::test {
namespace {

using enum DataType_t;
using graph::Rng_attributes;
using ops::PhiloxBlock;

// The vectors that Random123, the authors' library, is tested with.
static_assert(ops::philox({0, 0, 0, 0}, 0, 0) ==
              PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(ops::philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffff,
                          0xffffffff) ==
              PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(ops::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822,
                          0x299f31d0) ==
              PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

// Key: seed. Counter: element / 4, then offset, low words first.
static_assert(ops::random_word(0x299f31d0a4093822, 0x0370734413198a2e,
                               4 * (uint64_t{0x05a308d3} << 32 | 0x243f6a88) + 2) ==
              ops::philox({0x243f6a88, 0x05a308d3, 0x13198a2e, 0x03707344}, 0xa4093822,
                          0x299f31d0)[2]);

static_assert(ops::bernoulli_threshold(0) == 0);
static_assert(ops::bernoulli_threshold(1) == uint64_t{1} << 32);
static_assert(ops::bernoulli_threshold(0.5) == uint64_t{1} << 31);
static_assert(ops::bernoulli_threshold(0x1p-40) == 1);

Rng_attributes bernoulli(double probability) {
  return Rng_attributes()
      .set_name("rng")
      .set_distribution(RngDistribution_t::BERNOULLI)
      .set_bernoulli_probability(probability);
}

TensorPtr number(const std::string& name, DataType_t type = INT64) {
  return input(name, {1, 1, 1}, type);
}

// 1 where the word is less than probability 2^32; words of seed 0 and offset 0 from the first
// vector above.
TEST(Rng, BernoulliOfTheFirstWords) {
  const double words[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (double probability : {0.25, 0.5, 0.6055, 0.6056, 0.8, 0.9}) {
    const Values found = run_one(with(bernoulli(probability).set_dim({2, 2, 1}),
                                      {number("seed"), number("offset")}, {output(FLOAT)}),
                                 {{0}, {0}});
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(found.at(i), words[i] < probability * 0x1p32) << probability << ' ' << i;
  }
}

TEST(Rng, IsOfSeedOffsetAndRowMajorIndexAlone) {
  const Dims dims{3, 5, 7};
  const double seed = 1234567890123, offset = 987654321;
  Values expected;
  for (uint64_t i = 0; i < 105; ++i)
    expected.push_back(ops::random_word(1234567890123, 987654321, i) <
                       ops::bernoulli_threshold(0.3));
  const auto attributes = bernoulli(0.3);
  for (const Dims& strides : {Dims{35, 7, 1}, Dims{1, 3, 15}, Dims{100, 1, 10}})
    for (DataType_t type : {FLOAT, HALF, BOOLEAN, INT8, FP8_E4M3})
      EXPECT_EQ(run_one(with(attributes, {number("seed"), number("offset")},
                             {output(type, dims, strides)}),
                        {{seed}, {offset}}),
                expected);
  EXPECT_EQ(
      run_one(with(bernoulli(0.3).set_seed(1234567890123).set_dim(dims).set_stride({1, 3, 15}),
                   {nullptr, number("offset", INT32)}, {output()}),
              {{}, {offset}}),
      expected);
  // Negative seeds are their 64 bits; without an offset it is 0.
  EXPECT_EQ(run_one(with(bernoulli(0.5).set_seed(-1).set_dim({1}), {}, {output()}), {}).at(0),
            ops::random_word(~uint64_t{0}, 0, 0) < uint64_t{1} << 31);
}

TEST(Rng, EndsOfProbability) {
  const auto attributes = [](double probability) {
    return with(bernoulli(probability).set_seed(5).set_dim({40}), {}, {output()});
  };
  EXPECT_EQ(run_one(attributes(0), {}), Values(40, 0.0));
  EXPECT_EQ(run_one(attributes(1), {}), Values(40, 1.0));
}

TEST(Rng, ShapeAndMistakes) {
  const TensorPtr y = output();
  expect_accepted(with(bernoulli(0.5).set_seed(1).set_dim({2, 3, 4}), {}, {y}));
  EXPECT_EQ(y->get_stride(), (Dims{12, 1, 3}));
  const auto refused = [](const Rng_attributes& attributes, const std::vector<TensorPtr>& inputs,
                          error_code_t code, std::initializer_list<std::string_view> parts) {
    expect_refused(with(attributes, inputs, {output()}), code, parts);
  };
  const auto unset = error_code_t::ATTRIBUTE_NOT_SET, value = error_code_t::INVALID_VALUE;
  refused(bernoulli(0.5).set_seed(1), {}, unset, {"field dim"});
  refused(bernoulli(0.5).set_dim({2}), {}, unset, {"port Seed", "field seed"});
  refused(Rng_attributes().set_dim({2}).set_seed(1), {}, unset, {"field distribution"});
  refused(bernoulli(0.5).set_dim({2}).set_seed(1).set_bernoulli_probability(std::nullopt), {},
          unset, {"field bernoulli_probability"});
  refused(bernoulli(1.5).set_dim({2}).set_seed(1), {}, value,
          {"field bernoulli_probability", "1.5"});
  refused(bernoulli(0.5).set_distribution(RngDistribution_t::NORMAL).set_dim({2}).set_seed(1), {},
          error_code_t::GRAPH_NOT_SUPPORTED, {"NORMAL", "BERNOULLI"});
  refused(bernoulli(0.5).set_dim({2}), {number("seed", FLOAT)}, value,
          {"\"seed\" (port Seed)", "FLOAT", "INT64"});
  refused(bernoulli(0.5).set_dim({2}), {input("seed", {2}, INT64)}, value, {"one element"});
}

}  // namespace
}  // namespace warploom::test
