#include <gtest/gtest.h>

#include <sstream>

#include "api/scripted_engine.h"
#include "harness/plan_runner.h"

namespace warploom::graph {
namespace {

using test::cpu;
using test::ScriptedGraph;
using Code = error_code_t;

Tensor_attributes vector_of(int64_t n) {
  return Tensor_attributes().set_dim({n}).set_stride({1}).set_data_type(DataType_t::FLOAT);
}

Pointwise_attributes mode(PointwiseMode_t value) {
  return Pointwise_attributes().set_mode(value).set_compute_data_type(DataType_t::FLOAT);
}

void expect_error(const error_t& error, Code code, const std::string& part) {
  EXPECT_EQ(error.code, code) << error;
  EXPECT_NE(error.err_msg.find(part), std::string::npos) << error << "\nlacks: " << part;
}

TEST(Lifecycle, EmptyGraphIsValidAndHasNoPlans) {
  Graph graph;
  EXPECT_TRUE(graph.validate().is_good());
  EXPECT_TRUE(graph.build_operation_graph(cpu()).is_good());
  expect_error(graph.create_execution_plans({HeurMode_t::A}), Code::HEURISTIC_QUERY_FAILED,
               "no operations");
}

TEST(Lifecycle, WithoutOutputsThereIsNothingToRun) {
  Graph graph;
  graph.pointwise(graph.tensor(vector_of(4)), mode(PointwiseMode_t::NEG))
      ->set_data_type(DataType_t::FLOAT);
  ASSERT_TRUE(graph.build_operation_graph(cpu()).is_good());
  expect_error(graph.create_execution_plans({HeurMode_t::A}), Code::HEURISTIC_QUERY_FAILED,
               "set_output");
  expect_error(graph.create_execution_plan("reference", {}), Code::HEURISTIC_QUERY_FAILED,
               "set_output");
  EXPECT_TRUE(graph.create_execution_plan_by_name("reference").is_bad());
  EXPECT_TRUE(graph.build_plans().is_bad());
  EXPECT_FALSE(graph.explain().empty());
  EXPECT_FALSE(graph.to_svg().empty());
}

TEST(Lifecycle, CallsOutOfOrderNameTheOneThatIsMissing) {
  ScriptedGraph scripted("scripted");
  Graph& graph = scripted.graph;
  std::unordered_map<int64_t, void*> pack;
  int64_t number = 0;
  std::string text;
  expect_error(graph.create_execution_plans({HeurMode_t::A}), Code::HEURISTIC_QUERY_FAILED,
               "build_operation_graph()");
  expect_error(graph.create_execution_plan("reference", {}), Code::HEURISTIC_QUERY_FAILED,
               "build_operation_graph()");
  expect_error(graph.create_execution_plan_by_name("reference"), Code::HEURISTIC_QUERY_FAILED,
               "build_operation_graph()");
  expect_error(graph.get_engine_count(number), Code::HEURISTIC_QUERY_FAILED,
               "build_operation_graph()");
  expect_error(graph.check_support(), Code::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
               "build_operation_graph()");
  expect_error(graph.execute(cpu(), pack, nullptr), Code::GRAPH_EXECUTION_FAILED,
               "build_operation_graph()");
  EXPECT_EQ(graph.frozen(), nullptr);
  ASSERT_TRUE(graph.build_operation_graph(cpu()).is_good());
  EXPECT_NE(graph.frozen(), nullptr);
  expect_error(graph.check_support(), Code::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
               "create_execution_plans()");
  expect_error(graph.build_plans(), Code::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
               "create_execution_plans()");
  expect_error(graph.build_plan_at_index(0), Code::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
               "create_execution_plans()");
  expect_error(graph.create_execution_plans({}), Code::HEURISTIC_QUERY_FAILED, "no mode");
  ASSERT_TRUE(graph.create_execution_plans({HeurMode_t::A}).is_good());
  expect_error(graph.execute(cpu(), pack, nullptr), Code::GRAPH_EXECUTION_FAILED, "build_plans()");
  expect_error(graph.get_workspace_size(number), Code::GRAPH_EXECUTION_FAILED, "build_plans()");
  expect_error(graph.get_plan_name(text), Code::GRAPH_EXECUTION_FAILED, "build_plans()");
  EXPECT_EQ(graph.get_workspace_size(), 0);
  EXPECT_EQ(graph.get_autotune_workspace_size(), 0);
}

TEST(Lifecycle, StepsMayBeRepeated) {
  ScriptedGraph scripted("scripted");
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(scripted.graph.validate().is_good());
    ASSERT_TRUE(scripted.graph.build(cpu(), {HeurMode_t::A}).is_good());
    ASSERT_TRUE(scripted.graph.build_plans().is_good());
  }
  EXPECT_EQ(scripted.x->get_uid(), 1);
}

TEST(Lifecycle, ANewOperationDropsThePlans) {
  ScriptedGraph scripted("scripted");
  ASSERT_TRUE(scripted.graph.build(cpu(), {HeurMode_t::A}).is_good());
  scripted.graph.pointwise(scripted.y, mode(PointwiseMode_t::NEG))->set_output(true);
  EXPECT_EQ(scripted.graph.get_execution_plan_count(), 0);
  EXPECT_TRUE(scripted.graph.build_plans().is_bad());
  EXPECT_TRUE(scripted.graph.build(cpu(), {HeurMode_t::A}).is_good());
}

TEST(Lifecycle, NullHandlesAreErrors) {
  ScriptedGraph scripted("scripted");
  std::unordered_map<int64_t, void*> pack;
  expect_error(scripted.graph.build_operation_graph(nullptr), Code::HANDLE_ERROR, "null");
  expect_error(scripted.graph.build(nullptr, {HeurMode_t::A}), Code::HANDLE_ERROR, "null");
  ASSERT_TRUE(scripted.graph.build({HeurMode_t::A}).is_good()) << "the default device is the CPU";
  expect_error(scripted.graph.execute(nullptr, pack, nullptr), Code::HANDLE_ERROR, "null");
}

TEST(Lifecycle, WhatThisVersionLacksSaysSo) {
  ScriptedGraph scripted("scripted");
  Graph& graph = scripted.graph;
  std::unordered_map<int64_t, void*> pack;
  expect_error(graph.populate_cuda_graph(cpu(), pack, nullptr, nullptr), Code::GRAPH_NOT_SUPPORTED,
               "populate_cuda_graph");
  expect_error(graph.update_cuda_graph(cpu(), pack, nullptr, nullptr), Code::GRAPH_NOT_SUPPORTED,
               "update_cuda_graph");
}

TEST(Lifecycle, ACopyIsADescription) {
  ScriptedGraph scripted("scripted");
  ASSERT_TRUE(scripted.graph.build(cpu(), {HeurMode_t::A}).is_good());
  Graph copy = scripted.graph;
  EXPECT_EQ(copy.get_execution_plan_count(), 0);
  EXPECT_EQ(copy.to_json(), scripted.graph.to_json());
  ASSERT_TRUE(copy.build(cpu(), {HeurMode_t::A}).is_good());
  copy.pointwise(scripted.y, mode(PointwiseMode_t::NEG));
  EXPECT_GT(scripted.graph.get_execution_plan_count(), 0) << "the copied graph keeps its plans";
}

TEST(Lifecycle, AMovedFromGraphIsAnEmptyOne) {
  ScriptedGraph scripted("scripted");
  ASSERT_TRUE(scripted.graph.build(cpu(), {HeurMode_t::A}).is_good());
  Graph target = std::move(scripted.graph);
  EXPECT_GT(target.get_execution_plan_count(), 0);
  Graph& empty = scripted.graph;
  std::unordered_map<int64_t, void*> pack;
  std::string text;
  EXPECT_TRUE(empty.execute(cpu(), pack, nullptr).is_bad());
  EXPECT_TRUE(empty.get_plan_name(text).is_bad());
  EXPECT_TRUE(empty.check_support().is_bad());
  EXPECT_EQ(empty.get_execution_plan_count(), 0);
  EXPECT_TRUE(empty.get_variant_pack_uids_sorted().empty());
  EXPECT_EQ(empty.to_json(), Graph().to_json());
  EXPECT_FALSE(empty.explain().empty());
  EXPECT_FALSE(empty.to_svg().empty());
  EXPECT_TRUE(empty.validate().is_good());
  empty = target;
  EXPECT_EQ(empty.to_json(), target.to_json());
}

TEST(Tensors, AreCopiesAndTheirPointerIsTheirIdentity) {
  Graph graph;
  Tensor_attributes attributes = vector_of(3).set_name("original").set_uid(7);
  const TensorPtr tensor = graph.tensor(attributes);
  attributes.set_name("changed");
  EXPECT_EQ(tensor->get_name(), "original");

  const TensorPtr like = graph.tensor_like(tensor);
  EXPECT_FALSE(like->has_uid());
  EXPECT_EQ(like->get_name(), "");
  EXPECT_EQ(like->get_dim(), tensor->get_dim());
  EXPECT_EQ(graph.tensor_like(tensor, "named")->get_name(), "named");
  EXPECT_NE(graph.tensor_like(nullptr), nullptr);
}

TEST(Tensors, ImplicitScalarsStoreTheirValue) {
  Graph graph;
  const TensorPtr tensor = graph.tensor(5.0f);
  EXPECT_EQ(tensor->get_data_type(), DataType_t::FLOAT);
  EXPECT_TRUE(tensor->get_is_pass_by_value());
  EXPECT_EQ(std::get<float>(*tensor->get_pass_by_value()), 5.0f);
  EXPECT_EQ(tensor->get_dim(), (std::vector<int64_t>{1}));
  EXPECT_EQ(graph.tensor(5)->get_data_type(), DataType_t::INT32);
  EXPECT_EQ(graph.tensor(int64_t{5})->get_data_type(), DataType_t::INT64);
  EXPECT_EQ(graph.tensor(5.0)->get_data_type(), DataType_t::DOUBLE);
  EXPECT_EQ(graph.tensor(half(5.f))->get_data_type(), DataType_t::HALF);
  EXPECT_EQ(graph.tensor(bfloat16(5.f))->get_data_type(), DataType_t::BFLOAT16);
  EXPECT_EQ(graph.tensor(Tensor_attributes(2.f))->get_data_type(), DataType_t::FLOAT);
  const TensorPtr constant = graph.tensor(2.5f, ScalarType::COMPILE_TIME_CONST);
  EXPECT_TRUE(constant->get_has_compile_time_constant());
  EXPECT_FALSE(constant->get_pass_by_value().has_value());
}

TEST(Uids, FillFromOneSkippingWhatIsTaken) {
  Graph graph;
  const TensorPtr a = graph.tensor(vector_of(4)), b = graph.tensor(vector_of(4).set_uid(2)),
                  c = graph.tensor(vector_of(4).set_uid(0));
  const TensorPtr unused = graph.tensor(vector_of(4).set_uid(3));
  const TensorPtr sum = graph.pointwise(a, b, mode(PointwiseMode_t::ADD));
  const TensorPtr result = graph.pointwise(sum, c, mode(PointwiseMode_t::ADD));
  sum->set_data_type(DataType_t::FLOAT);
  result->set_data_type(DataType_t::FLOAT).set_output(true);
  EXPECT_FALSE(a->has_uid());
  const error_t error = graph.build_operation_graph(cpu());
  ASSERT_TRUE(error.is_good()) << error;
  EXPECT_EQ(a->get_uid(), 1);
  EXPECT_EQ(b->get_uid(), 2);
  EXPECT_EQ(c->get_uid(), 0) << "0 is a uid like any other";
  EXPECT_EQ(sum->get_uid(), 4);
  EXPECT_EQ(result->get_uid(), 5);
  EXPECT_EQ(graph.get_variant_pack_uids_sorted(), (std::vector<int64_t>{0, 1, 2, 5}))
      << "a tensor that nothing reads is not asked for";

  Tensor_attributes found;
  ASSERT_TRUE(graph.query_tensor_attributes_of_uid(5, found).is_good());
  EXPECT_EQ(found.get_name(), "1::OUT_0");
  ASSERT_TRUE(graph.query_tensor_attributes_of_uid(3, found).is_good()) << unused->get_uid();
  expect_error(graph.query_tensor_attributes_of_uid(99, found), Code::INVALID_VALUE, "99");
}

TEST(Names, FollowTheNode) {
  Graph graph;
  const auto image = Tensor_attributes().set_dim({1, 1, 2, 2}).set_stride({4, 4, 2, 1});
  const TensorPtr a = graph.tensor(image), b = graph.tensor(image), named = graph.tensor(image);
  named->set_name("mine");
  EXPECT_EQ(graph.matmul(a, named, {})->get_name(), "0::C");
  EXPECT_EQ(a->get_name(), "0::A");
  EXPECT_EQ(named->get_name(), "mine");
  EXPECT_EQ(graph.pointwise(a, b, Pointwise_attributes().set_name("add"))->get_name(),
            "add::OUT_0");
  EXPECT_EQ(b->get_name(), "add::IN_1");
  const TensorPtr w = graph.tensor(image);
  EXPECT_EQ(graph.conv_fprop(a, w, {})->get_name(), "2::Y");
  EXPECT_EQ(w->get_name(), "");
  EXPECT_EQ(graph.reduction(a, {})->get_name(), "::Y");
  EXPECT_EQ(graph.slice(a, Slice_attributes().set_name("s"))->get_name(), "s::Y");
  const auto [o, no_stats] = graph.sdpa(a, b, w, SDPA_attributes().set_name("sdpa"));
  EXPECT_EQ(o->get_name(), "sdpa::O");
  EXPECT_EQ(no_stats, nullptr);
  const auto [o2, stats] =
      graph.sdpa(a, b, w, SDPA_attributes().set_name("sdpa").set_generate_stats(true));
  ASSERT_NE(stats, nullptr);
  EXPECT_EQ(stats->get_name(), "sdpa::Stats");
  EXPECT_TRUE(o2->get_is_virtual());
}

TEST(Key, IsOfTheDescription) {
  auto key_of = [](int64_t n, const char* name) {
    ScriptedGraph scripted(name, n);
    EXPECT_TRUE(scripted.graph.build_operation_graph(cpu()).is_good());
    const size_t key = scripted.graph.key();
    EXPECT_TRUE(scripted.graph.create_execution_plans({HeurMode_t::A}).is_good());
    EXPECT_TRUE(scripted.graph.build_plans().is_good());
    EXPECT_EQ(scripted.graph.key(), key) << "fixed from build_operation_graph on";
    return key;
  };
  EXPECT_EQ(key_of(4, "scripted"), key_of(4, "scripted"));
  EXPECT_NE(key_of(4, "scripted"), key_of(5, "scripted"));
  EXPECT_NE(key_of(4, "scripted"), key_of(4, "scripted too"));
}

TEST(Handles, ChecksWhatIsAskedFor) {
  std::unique_ptr<Handle> handle;
  HandleOptions options;
  options.device = DeviceType::CUDA;
  expect_error(Handle::create(handle, options), Code::INVALID_CUDA_DEVICE, "CPU");
  EXPECT_EQ(handle, nullptr);
  options.device = DeviceType::CPU;
  options.ordinal = 1;
  expect_error(Handle::create(handle, options), Code::INVALID_VALUE, "ordinal");
  options.ordinal = 0;
  ASSERT_TRUE(Handle::create(handle, options).is_good());
  EXPECT_EQ(handle->device().type, DeviceType::CPU);
  EXPECT_GE(handle->device().parallelism, 1);
  int stream = 0;
  handle->set_stream(&stream);
  EXPECT_EQ(handle->get_stream(), &stream);
  expect_error(set_num_threads(0), Code::INVALID_VALUE, "accepted 1 or more");
  const int threads = get_num_threads();
  ASSERT_TRUE(set_num_threads(3).is_good());
  EXPECT_EQ(get_num_threads(), 3);
  ASSERT_TRUE(set_num_threads(threads).is_good());
}

TEST(Lifecycle, RefusesValuesOutsideAnEnumeration) {
  ScriptedGraph scripted("enumerations");
  expect_error(scripted.graph.build(cpu(), {static_cast<HeurMode_t>(77)}), Code::INVALID_VALUE,
               "no member of value 77");
  ScriptedGraph other("enumerations");
  expect_error(other.graph.build(cpu(), {HeurMode_t::A}, static_cast<BuildPlanPolicy_t>(9)),
               Code::INVALID_VALUE, "no member of value 9");
}

// The variables are read once in a process: each case is a process of its own.
TEST(LogDeathTest, WritesTheGraphOnOneLineWhenAskedTo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto validate_with = [](const char* level, const char* file, const char* prefix) {
    setenv((std::string(prefix) + "_LOG_INFO").c_str(), level, 1);
    setenv((std::string(prefix) + "_LOG_FILE").c_str(), file, 1);
    ScriptedGraph scripted("logged");
    const bool is_good = scripted.graph.validate().is_good();
    std::fputs("done\n", stderr);
    std::exit(is_good ? 0 : 1);
  };
  const auto success = testing::ExitedWithCode(0);
  EXPECT_EXIT(validate_with("1", "stderr", "WARPLOOM"), success,
              "\\[warploom\\] validate \\{.*\"logged\".*\\}\ndone");
  EXPECT_EXIT(validate_with("10", "stderr", "CUDNN_FRONTEND"), success,
              "\\[warploom\\] validate \\{.*\\}\ndone");
  EXPECT_EXIT(validate_with("0", "stderr", "WARPLOOM"), success, "^done");
}

}  // namespace
}  // namespace warploom::graph
