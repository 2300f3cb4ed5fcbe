// Graph::serialize and deserialize.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include <warploom/version.h>

#include "api/scripted_engine.h"
#include "harness/describe.h"
#include "harness/reload.h"
#include "serialize/plan_container.h"

namespace warploom::test {
namespace {

using Code = error_code_t;
using Bytes = std::vector<uint8_t>;

/// A convolution with bias and ReLU: one kernel.
struct Convolution {
  graph::Graph graph = describe();
  graph::TensorPtr x, w, bias, y;
  Convolution() {
    graph.set_name("convolution");
    x = input(graph, "X", {1, 8, 9, 7}, "channels_last");
    w = input(graph, "W", {5, 8, 3, 3}, "channels_last");
    bias = input(graph, "bias", {1, 5, 1, 1});
    x->set_uid(70);
    auto sum = graph.pointwise(
        graph.conv_fprop(
            x, w,
            graph::Conv_fprop_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation(
                {1, 1})),
        bias, pointwise(PointwiseMode_t::ADD));
    y = graph.pointwise(sum, pointwise(PointwiseMode_t::RELU_FWD));
    output(y);
  }
  ValuesByUid inputs() const {
    ValuesByUid values;
    for (const auto& tensor : {x, w, bias})
      values[tensor->get_uid()] =
          random_values(tensor->get_dim(), DataType_t::FLOAT, tensor->get_uid());
    return values;
  }
};

Bytes serialized(const graph::Graph& graph) {
  Bytes data;
  const error_t error = graph.serialize(data);
  EXPECT_TRUE(error.is_good()) << error;
  return data;
}

serialize::PlanContainer content_of(const Bytes& data) {
  serialize::PlanContainer container;
  EXPECT_TRUE(serialize::read_plan_container(data, container).is_good());
  return container;
}

std::string candidate_of(const graph::Graph& graph) {
  std::string name;
  EXPECT_TRUE(graph.get_plan_name(name).is_good());
  return name;
}

TEST(Persistence, EveryPlanComesBackAsItWas) {
  Convolution described;
  ASSERT_TRUE(build_every_plan(described.graph, cpu()).is_good());
  ASSERT_GT(described.graph.get_execution_plan_count(), 3);
  for (int64_t i = 0; i < described.graph.get_execution_plan_count(); ++i)
    EXPECT_EQ(
        difference_after_reload(described.graph, i, described.inputs(), {described.y->get_uid()}),
        "")
        << described.graph.plans()[static_cast<size_t>(i)].name;
}

TEST(Persistence, WhatWasLoadedCanBeUsedLikeWhatWasBuilt) {
  Convolution described;
  ASSERT_TRUE(described.graph.build(cpu(), {HeurMode_t::A}).is_good());
  graph::Graph loaded;
  ASSERT_TRUE(loaded.deserialize(cpu(), serialized(described.graph)).is_good());
  EXPECT_TRUE(loaded.warmup(cpu()).is_good());
  EXPECT_EQ(candidate_of(loaded), candidate_of(described.graph));
  EXPECT_EQ(loaded.get_variant_pack_uids_sorted(), described.graph.get_variant_pack_uids_sorted());
  graph::Tensor_attributes tensor;
  ASSERT_TRUE(loaded.query_tensor_attributes_of_uid(70, tensor).is_good());
  EXPECT_EQ(tensor.get_name(), "X");
  EXPECT_EQ(tensor.get_stride(), described.x->get_stride());
  std::vector<BehaviorNote_t> notes;
  EXPECT_TRUE(loaded.get_behavior_notes(notes).is_good());
  EXPECT_NE(loaded.explain().find(candidate_of(described.graph)), std::string::npos);
  EXPECT_EQ(serialized(loaded), serialized(described.graph)) << "the same bytes once more";
  // More plans of the graph are listed behind it.
  ASSERT_TRUE(loaded.create_execution_plans({HeurMode_t::A}).is_good());
  EXPECT_GT(loaded.get_execution_plan_count(), 1);
  EXPECT_TRUE(loaded.build_plans(BuildPlanPolicy_t::ALL).is_good());
  EXPECT_EQ(candidate_of(loaded), candidate_of(described.graph));
}

TEST(Persistence, PlansOfChosenKnobsAndAfterAutotuneComeBack) {
  ScriptedGraph described("scripted slow");
  ASSERT_TRUE(described.graph.build_operation_graph(cpu()).is_good());
  ASSERT_TRUE(described.graph.create_execution_plans({HeurMode_t::A}).is_good());
  ASSERT_TRUE(
      described.graph.create_execution_plan("test.scripted", {{KnobType_t::TILE_M, 4}}).is_good());
  const int64_t chosen = described.graph.get_execution_plan_count() - 1;
  const ValuesByUid inputs{{described.x->get_uid(), {1, 2, 3, 4}}};
  EXPECT_EQ(difference_after_reload(described.graph, chosen, inputs, {described.y->get_uid()}), "");

  ASSERT_TRUE(described.graph.build_plans(BuildPlanPolicy_t::ALL).is_good());
  std::vector<float> x(4), y(4);
  std::vector<char> workspace(described.graph.get_autotune_workspace_size());
  std::unordered_map<int64_t, void*> pack{{described.x->get_uid(), x.data()},
                                          {described.y->get_uid(), y.data()}};
  ASSERT_TRUE(described.graph
                  .autotune(cpu(), pack, workspace.data(), {.budget = std::chrono::milliseconds(1)})
                  .is_good());
  EXPECT_EQ(difference_after_reload(described.graph, 0, inputs, {described.y->get_uid()}), "");
}

TEST(Persistence, KernelsAreLoadedFromWhatTheySavedWhereThatIsTrusted) {
  ScriptedGraph described("scripted saving");
  ASSERT_TRUE(described.graph.build_operation_graph(cpu()).is_good());
  ASSERT_TRUE(
      described.graph.create_execution_plan("test.scripted", {{KnobType_t::TILE_M, 5}}).is_good());
  ASSERT_TRUE(described.graph.build_plans().is_good());
  const Bytes data = serialized(described.graph);
  serialize::PlanContainer content = content_of(data);
  ASSERT_EQ(content.payloads.size(), 1u);
  EXPECT_EQ(content.payloads[0].size(), std::string("tile 5").size());

  const auto expect_counts = [before = scripted_counts()](int built, int loaded) {
    EXPECT_EQ(scripted_counts().built - before.built, built);
    EXPECT_EQ(scripted_counts().loaded - before.loaded, loaded);
  };
  graph::Graph loaded;
  ASSERT_TRUE(loaded.deserialize(cpu(), data).is_good());
  expect_counts(0, 1);
  EXPECT_EQ(serialized(loaded), data);
  ASSERT_TRUE(loaded.deserialize(cpu(), data, {.trust_payload = false}).is_good());
  expect_counts(1, 1);
  EXPECT_EQ(serialized(loaded), data);
  EXPECT_EQ(difference_after_reload(described.graph, 0, {{described.x->get_uid(), {1, 2, 3, 4}}},
                                    {described.y->get_uid()}),
            "");
  expect_counts(1, 2);

  // What the engine refuses to load is an error, and no reason to build unasked.
  content.payloads[0][0] = std::byte{'T'};
  const Bytes damaged = serialize::write_plan_container(content);
  const error_t error = loaded.deserialize(cpu(), damaged);
  EXPECT_NE(error.err_msg.find("scripted damage"), std::string::npos) << error;
  expect_counts(1, 2);
  EXPECT_TRUE(loaded.deserialize(cpu(), damaged, {.trust_payload = false}).is_good());
  expect_counts(2, 2);
  EXPECT_TRUE(loaded.deserialize(cpu(), damaged, {.rebuild_if_unsuitable = true}).is_good());
  expect_counts(3, 2);
}

TEST(Persistence, ShortenedNamesComeBack) {
  graph::Graph graph = describe();
  auto x = input(graph, "X", {4, 6});
  auto y = x;
  for (int i = 0; i < 40; ++i)
    y = graph.matmul(y, input(graph, "B" + std::to_string(i), {6, 6}), graph::Matmul_attributes());
  output(y);
  ASSERT_TRUE(graph.build(cpu(), {HeurMode_t::A}, BuildPlanPolicy_t::ALL).is_good());
  ASSERT_NE(candidate_of(graph).find("+"), std::string::npos) << candidate_of(graph);
  EXPECT_GT(content_of(serialized(graph)).plan_name.size(), candidate_of(graph).size());
  ValuesByUid inputs;
  for (int64_t uid : graph.get_variant_pack_uids_sorted()) {
    graph::Tensor_attributes tensor;
    ASSERT_TRUE(graph.query_tensor_attributes_of_uid(uid, tensor).is_good());
    if (uid != y->get_uid()) inputs[uid] = random_values(tensor.get_dim(), DataType_t::FLOAT, uid);
  }
  for (int64_t i = 0; i < graph.get_execution_plan_count(); i += 7)
    EXPECT_EQ(difference_after_reload(graph, i, inputs, {y->get_uid()}), "") << i;
}

TEST(Persistence, PlansOfACacheAndForOtherShapesComeBack) {
  for (const bool has_cache : {false, true}) {
    Convolution described;
    described.graph.set_override_shape_enabled(!has_cache).set_dynamic_shape_enabled(has_cache);
    const auto cache = std::make_shared<KernelCache>();
    if (has_cache) {
      Convolution first;
      first.graph.set_dynamic_shape_enabled(true).set_kernel_cache(cache);
      ASSERT_TRUE(first.graph.build(cpu(), {HeurMode_t::A}).is_good());
      described.graph.set_kernel_cache(cache);
    }
    ASSERT_TRUE(described.graph.build(cpu(), {HeurMode_t::A}).is_good());
    EXPECT_EQ(
        difference_after_reload(described.graph, 0, described.inputs(), {described.y->get_uid()}),
        "");
    if (has_cache) continue;
    graph::Graph loaded;
    ASSERT_TRUE(loaded.deserialize(cpu(), serialized(described.graph)).is_good());
    int64_t before = 0, after = 0;
    const std::vector<int64_t> uids{described.x->get_uid(), described.y->get_uid()};
    const std::vector<std::vector<int64_t>> dims{{2, 8, 5, 6}, {2, 5, 5, 6}},
        strides{{240, 1, 48, 8}, {150, 1, 30, 5}};
    const auto error = loaded.get_workspace_size(after, uids, dims, strides);
    ASSERT_TRUE(error.is_good()) << error;
    ASSERT_TRUE(described.graph.get_workspace_size(before, uids, dims, strides).is_good());
    EXPECT_EQ(after, before);
  }
}

TEST(Persistence, AGraphThatWasChangedIsNotTheOneThatWasBuilt) {
  Convolution described;
  ASSERT_TRUE(described.graph.build(cpu(), {HeurMode_t::A}).is_good());
  described.w->set_stride({72, 9, 3, 1});
  Bytes data;
  EXPECT_EQ(described.graph.serialize(data).code, Code::INVALID_VALUE);
  ASSERT_TRUE(described.graph.build(cpu(), {HeurMode_t::A}).is_good());
  EXPECT_TRUE(described.graph.serialize(data).is_good());
}

TEST(Persistence, WithoutACandidateThereIsNothingToSerialize) {
  Convolution described;
  Bytes data{1, 2, 3};
  const auto expect_missing = [&](const char* step) {
    const error_t error = described.graph.serialize(data);
    EXPECT_EQ(error.code, Code::GRAPH_EXECUTION_FAILED);
    EXPECT_NE(error.err_msg.find("serialize: call " + std::string(step)), std::string::npos)
        << error;
    EXPECT_EQ(data, (Bytes{1, 2, 3}));
  };
  expect_missing("build_operation_graph()");
  ASSERT_TRUE(described.graph.build_operation_graph(cpu()).is_good());
  expect_missing("create_execution_plans()");
  ASSERT_TRUE(described.graph.create_execution_plans({HeurMode_t::A}).is_good());
  expect_missing("build_plans()");
  EXPECT_TRUE(described.graph.warmup(cpu()).is_bad());
  EXPECT_EQ(described.graph.warmup(nullptr).code, Code::HANDLE_ERROR);
  EXPECT_EQ(described.graph.deserialize(nullptr, data).code, Code::HANDLE_ERROR);
}

TEST(Persistence, WhatIsRefusedLeavesTheGraphAsItWas) {
  Convolution described;
  ASSERT_TRUE(described.graph.build(cpu(), {HeurMode_t::A}).is_good());
  const Bytes before = serialized(described.graph);
  EXPECT_EQ(described.graph.deserialize(cpu(), {1, 2, 3}).code, Code::UNSUPPORTED_GRAPH_FORMAT);
  EXPECT_EQ(serialized(described.graph), before);
}

/// What a changed container of a convolution gives, with and without leave to plan anew.
struct Changed {
  error_t strict, lenient;
  graph::Graph rebuilt;
  explicit Changed(const Bytes& data) {
    graph::Graph refused;
    strict = refused.deserialize(cpu(), data);
    lenient = rebuilt.deserialize(cpu(), data, {.rebuild_if_unsuitable = true});
  }
};

TEST(Persistence, UnsuitablePlansAreRefusedOrPlannedAnew) {
  Convolution described;
  ASSERT_TRUE(described.graph.build(cpu(), {HeurMode_t::A}).is_good());
  const Bytes data = serialized(described.graph);
  const auto expect_rebuilt = [&](const Bytes& changed, const std::string& part) {
    SCOPED_TRACE(part);
    const Changed result(changed);
    EXPECT_TRUE(result.strict.is_bad());
    EXPECT_NE(result.strict.err_msg.find(part), std::string::npos) << result.strict;
    ASSERT_TRUE(result.lenient.is_good()) << result.lenient;
    EXPECT_EQ(serialized(result.rebuilt), data);
  };
  const auto with = [&](auto&& change) {
    serialize::PlanContainer container = content_of(data);
    change(container);
    return serialize::write_plan_container(container);
  };
  expect_rebuilt(with([](auto& c) { c.library_version = "99.0.0"; }), "is of version 99.0.0");
  expect_rebuilt(with([](auto& c) { c.architecture = "avx1024"; }), "CPU (avx1024)");
  expect_rebuilt(with([](auto& c) { c.device_type = DeviceType::CUDA; }), "is for CUDA");
  expect_rebuilt(with([](auto& c) { c.plan_name = "user.engine"; }), "no plan \"user.engine\"");
  expect_rebuilt(with([](auto& c) { c.payloads.resize(9); }), "found 9 saved kernels, accepted 1");
  // Damage behind the graph, and the graph's own.
  Bytes damaged = data;
  damaged.back() ^= 1;
  expect_rebuilt(damaged, "is damaged");
  damaged.pop_back();
  expect_rebuilt(damaged, "is cut off");
  damaged.resize(100);
  EXPECT_TRUE(Changed(damaged).lenient.is_bad());
  damaged = data;
  damaged[100] ^= 4;
  const Changed broken(damaged);
  EXPECT_NE(broken.lenient.err_msg.find("is damaged"), std::string::npos) << broken.lenient;
  // A container that is whole, about a graph that is none.
  const Changed senseless(with([](auto& c) { c.graph_json = "{\"nodes\": 3}"; }));
  EXPECT_NE(senseless.strict.err_msg.find("/nodes"), std::string::npos) << senseless.strict;
  EXPECT_NE(senseless.lenient.err_msg.find("/nodes"), std::string::npos) << senseless.lenient;
}

}  // namespace
}  // namespace warploom::test
