// Random graphs of all operations go through JSON and containers and come back as they were.
#include <gtest/gtest.h>

#include "fuzz/random_graph.h"
#include "harness/reload.h"

namespace warploom::test {
namespace {

std::string reread(const std::string& json) {
  graph::Graph graph;
  const auto error = graph.from_json(json);
  return error.is_good() ? graph.to_json() : error.err_msg;
}

std::vector<int64_t> uids_of(const RandomGraph& random) {
  std::vector<int64_t> uids;
  for (const auto& output : random.outputs) uids.push_back(output.tensor->get_uid());
  return uids;
}

void round_trip(uint32_t seed) {
  RandomGraph random(seed, RandomGraph::Operations::kAll);
  SCOPED_TRACE("WARPLOOM_FUZZ_SEED=" + std::to_string(seed) + ": " + random.description);
  EXPECT_EQ(reread(random.graph.to_json()), random.graph.to_json()) << "as described";
  const auto error = build_every_plan(random.graph, cpu());
  ASSERT_TRUE(error.is_good()) << error;
  const std::string json = random.graph.to_json();
  EXPECT_EQ(reread(json), json) << "with everything inferred";

  ValuesByUid inputs;
  for (const auto& [tensor, values] : random.inputs) inputs[tensor->get_uid()] = values;
  const auto plans = random.graph.plans();
  for (size_t i = 0; i < plans.size(); ++i)
    EXPECT_EQ(
        difference_after_reload(random.graph, static_cast<int64_t>(i), inputs, uids_of(random)), "")
        << "plan " << plans[i].name;

  // The same graph from JSON is planned the same.
  graph::Graph read;
  ASSERT_TRUE(read.from_json(json).is_good());
  ASSERT_TRUE(read.build(cpu(), {HeurMode_t::A}).is_good());
  EXPECT_EQ(read.key(), random.graph.key());
  EXPECT_EQ(read.plans()[0].name, plans[0].name);
  const PlanRun expected = run_plan(random.graph, cpu(), 0, inputs, uids_of(random));
  const PlanRun got = run_plan(read, cpu(), 0, inputs, uids_of(random));
  EXPECT_EQ(bit_difference(got.outputs, expected.outputs), "") << "through JSON";
}

TEST(RoundTrip, RandomGraphsComeBackAsTheyWere) {
  for (uint32_t seed : seeds(60)) {
    round_trip(seed);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RoundTripLong, RandomGraphsComeBackAsTheyWere) {
  for (uint32_t seed : seeds(3000)) {
    round_trip(seed);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace warploom::test
