// T29 to T38 and T52 to T57: plans, filters, serialization, keys.
#include <set>
#include <type_traits>

#include "trap.h"

namespace trap {
namespace {

using fe::BehaviorNote_t;
using fe::BuildPlanPolicy_t;
using fe::HeurMode_t;
using fe::NumericalNote_t;
using fe::PointwiseMode_t;
using fe::graph::Matmul_attributes;
using fe::graph::SDPA_attributes;

/// y = relu(a b), uids 1, 2 and 3.
struct Matmul {
  Graph graph = float_graph();
  Tensor a, b, y;
  std::vector<float> left, right, result;
  std::unordered_map<int64_t, void*> pack;

  explicit Matmul(int64_t m = 24, int64_t n = 16, int64_t k = 8)
      : left(counted(m * k)), right(counted(k * n)), result(m * n, NAN) {
    a = graph.tensor(like({1, m, k}).set_uid(1));
    b = graph.tensor(like({1, k, n}).set_uid(2));
    y = graph.pointwise(graph.matmul(a, b, Matmul_attributes()),
                        pointwise(PointwiseMode_t::RELU_FWD));
    y->set_output(true).set_uid(3);
    pack = {{1, left.data()}, {2, right.data()}, {3, result.data()}};
  }
  fe::error_t plan(cudnnHandle_t handle) {
    CHECK_CUDNN_FRONTEND_ERROR(graph.build_operation_graph(handle));
    return graph.create_execution_plans({HeurMode_t::A, HeurMode_t::FALLBACK});
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all(static_cast<size_t>(graph.get_execution_plan_count()));
    for (size_t i = 0; i < all.size(); ++i)
      EXPECT_GOOD(graph.get_plan_name_at_index(static_cast<int64_t>(i), all[i]));
    return all;
  }
};

// Diverges: every step may be repeated, and the user's tensors stay as they are.
TEST(Traps, T29_StepsMayBeSkippedAndRepeated) {
  const OwnHandle handle;
  Matmul matmul;
  EXPECT_GOOD(matmul.graph.build_operation_graph(handle));
  EXPECT_GOOD(matmul.graph.validate());
  EXPECT_GOOD(matmul.graph.validate());
  EXPECT_GOOD(matmul.graph.build_operation_graph(handle));
  EXPECT_GOOD(matmul.plan(handle));
  EXPECT_GOOD(matmul.graph.build_plans());
  EXPECT_GOOD(run_built(matmul.graph, handle, matmul.pack));

  Graph graph = float_graph();
  auto q = graph.tensor(like({1, 2, 5, 8})), k = graph.tensor(like({1, 2, 7, 8}));
  auto v = graph.tensor(like({1, 2, 7, 4}));
  auto o = graph.sdpa(q, k, v, SDPA_attributes().set_attn_scale(0.5f))[0];
  o->set_output(true).set_dim({1, 2, 5, 4}).set_stride(row_major({1, 2, 5, 4}));
  EXPECT_GOOD(graph.build(handle, {HeurMode_t::A}));
  EXPECT_GOOD(graph.build(handle, {HeurMode_t::A}));
  EXPECT_EQ(k->get_dim(), (Dims{1, 2, 7, 8}));
  EXPECT_EQ(k->get_stride(), row_major({1, 2, 7, 8}));
  EXPECT_EQ(v->get_dim(), (Dims{1, 2, 7, 4}));
}

TEST(Traps, T30_NoteFiltersActOnPlansThatAreListedOthersWait) {
  const OwnHandle handle;
  Matmul early;
  early.graph.select_behavior_notes({BehaviorNote_t::CUBLASLT_DEPENDENCY});
  EXPECT_GOOD(early.plan(handle));
  EXPECT_GOOD(early.graph.check_support());

  Matmul late;
  EXPECT_GOOD(late.plan(handle));
  late.graph.select_behavior_notes({BehaviorNote_t::CUBLASLT_DEPENDENCY});
  EXPECT_CODE(late.graph.check_support(), GRAPH_EXECUTION_PLAN_CREATION_FAILED);
  // Nothing lifts the bar.
  late.graph.select_behavior_notes({});
  EXPECT_CODE(late.graph.build_plans(), GRAPH_EXECUTION_PLAN_CREATION_FAILED);

  Matmul lazy;
  lazy.graph.deselect_engines({"cpu"});
  EXPECT_GOOD(lazy.plan(handle));
  EXPECT_CODE(lazy.graph.check_support(), GRAPH_EXECUTION_PLAN_CREATION_FAILED);
  lazy.graph.deselect_engines({});
  EXPECT_GOOD(lazy.graph.check_support());
}

// Diverges: the candidate of ALL is the best ranked plan, not the last; unbuilt plans ask for
// nothing.
TEST(Traps, T31_AllBuildsEveryPlanAndKeepsTheBestRanked) {
  const OwnHandle handle;
  Matmul matmul;
  EXPECT_GOOD(matmul.plan(handle));
  EXPECT_EQ(matmul.graph.get_autotune_workspace_size(), 0);
  EXPECT_GOOD(matmul.graph.build_plans(BuildPlanPolicy_t::ALL));
  std::string candidate;
  EXPECT_GOOD(matmul.graph.get_plan_name(candidate));
  EXPECT_EQ(candidate, matmul.names().front());
  int64_t most = 0;
  for (int64_t i = 0; i < matmul.graph.get_execution_plan_count(); ++i) {
    int64_t bytes = -1;
    EXPECT_GOOD(matmul.graph.get_workspace_size_plan_at_index(i, bytes));
    most = std::max(most, bytes);
  }
  EXPECT_EQ(matmul.graph.get_autotune_workspace_size(), most);
}

// Diverges: names and notes move with their plans.
TEST(Traps, T32_AutotuneMovesNamesWithTheirPlans) {
  const OwnHandle handle;
  Matmul matmul;
  EXPECT_GOOD(matmul.plan(handle));
  EXPECT_GOOD(matmul.graph.build_plans(BuildPlanPolicy_t::ALL));
  const auto before = matmul.names();
  std::unordered_map<std::string, int64_t> workspaces;
  for (size_t i = 0; i < before.size(); ++i)
    workspaces[before[i]] = matmul.graph.get_workspace_size_plan_at_index(static_cast<int64_t>(i));
  std::vector<char> workspace(matmul.graph.get_autotune_workspace_size());
  EXPECT_GOOD(matmul.graph.autotune(handle, matmul.pack, workspace.data()));
  const auto after = matmul.names();
  EXPECT_EQ(std::multiset<std::string>(before.begin(), before.end()),
            std::multiset<std::string>(after.begin(), after.end()));
  for (size_t i = 0; i < after.size(); ++i)
    EXPECT_EQ(matmul.graph.get_workspace_size_plan_at_index(static_cast<int64_t>(i)),
              workspaces[after[i]]);
  std::string candidate;
  EXPECT_GOOD(matmul.graph.get_plan_name(candidate));
  EXPECT_EQ(candidate, after.front());
}

TEST(Traps, T33_CheckSupportMayBeSkippedAndASecondBuildKeepsTheCandidate) {
  const OwnHandle handle;
  Matmul matmul;
  EXPECT_GOOD(matmul.plan(handle));
  ASSERT_GE(matmul.graph.get_execution_plan_count(), 2);
  EXPECT_GOOD(matmul.graph.build_plan_at_index(1));
  std::string chosen, candidate;
  EXPECT_GOOD(matmul.graph.get_plan_name(chosen));
  EXPECT_EQ(chosen, matmul.names()[1]);
  EXPECT_GOOD(matmul.graph.build_plans());
  EXPECT_GOOD(matmul.graph.get_plan_name(candidate));
  EXPECT_EQ(candidate, chosen);
}

// Diverges: one plan, one set of notes, however it came into the list.
TEST(Traps, T34_NotesAreNotRepeated) {
  const OwnHandle handle;
  Matmul matmul;
  EXPECT_GOOD(matmul.plan(handle));
  EXPECT_GOOD(matmul.graph.create_execution_plan(0, {}));
  for (int64_t i = 0; i < matmul.graph.get_execution_plan_count(); ++i) {
    std::vector<BehaviorNote_t> notes;
    EXPECT_GOOD(matmul.graph.get_behavior_notes_for_plan_at_index(i, notes));
    EXPECT_EQ(std::set<BehaviorNote_t>(notes.begin(), notes.end()).size(), notes.size());
    EXPECT_EQ(std::count(notes.begin(), notes.end(), BehaviorNote_t::NOT_SET), 0);
  }
  const auto names = matmul.names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  std::vector<BehaviorNote_t> notes;
  EXPECT_CODE(matmul.graph.get_behavior_notes_for_plan_at_index(1000, notes),
              GRAPH_EXECUTION_FAILED);
}

TEST(Traps, T35_TheWorkspaceSizeAsAValueHidesErrors) {
  Matmul matmul;
  int64_t bytes = -1;
  EXPECT_TRUE(matmul.graph.get_workspace_size(bytes).is_bad());
  EXPECT_EQ(matmul.graph.get_workspace_size(), 0);
  EXPECT_EQ(matmul.graph.get_workspace_size_plan_at_index(3), 0);
}

// Diverges: the maps are taken by reference and left alone.
TEST(Traps, T36_PacksAreReferencesThatStayAsTheyAre) {
  const OwnHandle handle;
  Matmul matmul;
  EXPECT_GOOD(matmul.graph.build(handle, {HeurMode_t::A}));
  matmul.pack[77] = nullptr;  // uids that are not the graph's are ignored
  const auto before = matmul.pack;
  EXPECT_GOOD(run_built(matmul.graph, handle, matmul.pack));
  EXPECT_EQ(matmul.pack, before);
  EXPECT_CODE(matmul.graph.populate_cuda_graph(handle, matmul.pack, nullptr, nullptr),
              GRAPH_NOT_SUPPORTED);
  EXPECT_EQ(matmul.pack, before);
  void* pointers[] = {matmul.left.data(), matmul.right.data()};
  EXPECT_CODE(matmul.graph.execute(handle, pointers, 2, nullptr), INVALID_VARIANT_PACK);
}

// Diverges: nothing throws, sdpa() neither; what is wrong is said by validate().
TEST(Traps, T37_DescribingNeverThrows) {
  Graph graph = float_graph();
  auto q = graph.tensor(like({1, 3, 4, 8})), k = graph.tensor(like({1, 2, 4, 8}));
  EXPECT_NO_THROW({
    auto o = graph.sdpa(q, k, k, SDPA_attributes())[0];
    o->set_output(true).set_dim({1, 3, 4, 8}).set_stride(row_major({1, 3, 4, 8}));
  });
  EXPECT_CODE(graph.validate(), GRAPH_NOT_SUPPORTED);
  Graph reduction = float_graph();
  EXPECT_NO_THROW(reduction.reduction(reduction.tensor(like({2})), {})->set_output(true));
  EXPECT_CODE(reduction.validate(), ATTRIBUTE_NOT_SET);
}

TEST(Traps, T38_FiltersReturnTheGraphAndNoError) {
  const OwnHandle handle;
  Matmul matmul;
  static_assert(
      std::is_same_v<decltype(matmul.graph.deselect_engines({"no such engine"})), Graph&>);
  matmul.graph.deselect_engines({"no such engine"})
      .deselect_numeric_notes({NumericalNote_t::WINOGRAD})
      .deselect_behavior_notes({BehaviorNote_t::RUNTIME_COMPILATION})
      .deselect_workspace_greater_than(int64_t{1} << 40)
      .deselect_shared_mem_greater_than(int64_t{1} << 30)
      .select_numeric_notes({});
  EXPECT_GOOD(matmul.graph.build(handle, {HeurMode_t::A}));
}

// Diverges: every operation comes back, and AUTO as AUTO.
TEST(Traps, T52_NoOperationVanishesInJson) {
  Graph graph = float_graph();
  auto x = graph.tensor(like({2, 3, 4, 8}));
  auto scale = graph.tensor(like({1, 3, 4, 8}));
  auto y = graph.layernorm(x, scale, scale,
                           fe::graph::Layernorm_attributes()
                               .set_forward_phase(fe::NormFwdPhase_t::INFERENCE)
                               .set_epsilon(1e-5f))[0];
  auto o = graph.sdpa(y, y, y, SDPA_attributes())[0];
  o->set_output(true).set_dim({2, 3, 4, 8}).set_stride(row_major({2, 3, 4, 8}));
  json written = graph, again;
  EXPECT_EQ(written["nodes"].size(), 2u);
  EXPECT_EQ(written["nodes"][1]["implementation"], "AUTO");
  Graph read;
  EXPECT_GOOD(read.deserialize(written));
  read.serialize(again);
  EXPECT_EQ(again, written);
  EXPECT_GOOD(read.validate());

  written["nodes"][0]["tag"] = "NO_SUCH_OPERATION";
  const auto error = read.deserialize(written);
  EXPECT_EQ(error.code, error_code_t::UNSUPPORTED_GRAPH_FORMAT);
  EXPECT_TRUE(says(error, "NO_SUCH_OPERATION")) << error;
}

// Diverges: plan names are there after deserialize. Packs are by uid.
TEST(Traps, T53_ADeserializedPlanIsWhole) {
  const OwnHandle handle;
  Matmul matmul;
  std::vector<uint8_t> data;
  EXPECT_TRUE(matmul.graph.serialize(data).is_bad());
  EXPECT_GOOD(matmul.graph.build(handle, {HeurMode_t::A}));
  EXPECT_GOOD(matmul.graph.serialize(data));
  Graph read;
  EXPECT_GOOD(read.deserialize(handle, data));
  EXPECT_EQ(read.get_execution_plan_count(), 1);
  std::string name, original;
  EXPECT_GOOD(read.get_plan_name(name));
  EXPECT_GOOD(matmul.graph.get_plan_name(original));
  EXPECT_EQ(name, original);
  EXPECT_EQ(read.get_workspace_size(), matmul.graph.get_workspace_size());
  EXPECT_GOOD(run_built(matmul.graph, handle, matmul.pack));
  const auto expected = matmul.result;
  std::fill(matmul.result.begin(), matmul.result.end(), NAN);
  EXPECT_GOOD(run_built(read, handle, matmul.pack));
  EXPECT_EQ(matmul.result, expected);
  Pack by_tensor{{matmul.a, matmul.left.data()}, {matmul.b, matmul.right.data()}};
  EXPECT_TRUE(run_built(read, handle, by_tensor).is_bad());
  EXPECT_GOOD(read.warmup(handle));
}

TEST(Traps, T55_TheKeyIsStableAndWithoutShapesWhereTheyAreDynamic) {
  const OwnHandle handle;
  auto key_of = [&](int64_t m, bool is_dynamic, PointwiseMode_t mode) {
    Graph graph = float_graph();
    auto x = graph.tensor(like({m, 8}));
    graph.set_dynamic_shape_enabled(is_dynamic);
    graph.pointwise(x, pointwise(mode))->set_output(true);
    EXPECT_GOOD(graph.validate());
    EXPECT_GOOD(graph.build_operation_graph(handle));
    const size_t key = graph.key();
    EXPECT_GOOD(graph.create_execution_plans({HeurMode_t::A}));
    EXPECT_GOOD(graph.build_plans());
    EXPECT_EQ(graph.key(), key);
    return key;
  };
  const auto relu = PointwiseMode_t::RELU_FWD, tanh = PointwiseMode_t::TANH_FWD;
  EXPECT_EQ(key_of(4, true, relu), key_of(5, true, relu));
  EXPECT_EQ(key_of(4, false, relu), key_of(4, false, relu));
  EXPECT_NE(key_of(4, false, relu), key_of(5, false, relu));
  EXPECT_NE(key_of(4, true, relu), key_of(4, true, tanh));
}

TEST(Traps, T56_ScalesAreNotNegativeUnlessTheySaySo) {
  const json attributes = fe::graph::Block_scale_dequantize_attributes().set_block_size(32);
  EXPECT_EQ(attributes["is_negative_scale"], false);
}

TEST(Traps, T57_SettersOfTensorsTakeVariablesAndTemporaries) {
  Graph graph = float_graph();
  auto x = graph.tensor(like({2, 4}));
  auto scale = graph.tensor(like({1, 4}));
  auto epsilon = graph.tensor(1e-5f);
  auto attributes =
      fe::graph::Layernorm_attributes().set_forward_phase(fe::NormFwdPhase_t::INFERENCE);
  graph.layernorm(x, scale, scale, attributes.set_epsilon(epsilon))[0]->set_output(true);
  graph.layernorm(x, scale, scale, attributes.set_epsilon(graph.tensor(1e-5f)))[0]->set_output(
      true);
  graph.layernorm(x, scale, scale, attributes.set_epsilon(1e-5f))[0]->set_output(true);
  EXPECT_GOOD(graph.validate());
}

}  // namespace
}  // namespace trap
