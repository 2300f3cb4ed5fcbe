// The lines of docs/divergences.md that have no trap's number.
#include "trap.h"

namespace trap {
namespace {

using fe::BuildPlanPolicy_t;
using fe::DataType_t;
using fe::HeurMode_t;
using fe::PointwiseMode_t;
using fe::graph::Matmul_attributes;
using fe::graph::ScalarType;
using fe::graph::SDPA_attributes;

/// |x|, uids 1 and 2.
Graph absolute(const Dims& dims = {4}) {
  Graph graph = float_graph();
  auto x = graph.tensor(like(dims, "x").set_uid(1));
  graph.pointwise(x, pointwise(PointwiseMode_t::ABS))->set_output(true).set_uid(2);
  return graph;
}

TEST(Divergences, AMissingInputIsNamed) {
  Graph graph = float_graph();
  graph.matmul(graph.tensor(like({2, 2})), nullptr, Matmul_attributes().set_name("gemm"))
      ->set_output(true);
  const auto error = graph.validate();
  EXPECT_EQ(error.code, error_code_t::ATTRIBUTE_NOT_SET);
  EXPECT_TRUE(says(error, "gemm") && says(error, "port B")) << error;
}

TEST(Divergences, NodesMayBeDescribedInAnyOrder) {
  Graph graph = float_graph();
  auto later = graph.tensor(like({3}));
  auto y = graph.pointwise(later, pointwise(PointwiseMode_t::NEG));
  y->set_output(true);
  // `later` becomes a result after it was read.
  auto x = graph.tensor(like({1, 1, 3, 8}));
  later->set_dim({1, 1, 3, 1}).set_stride({3, 3, 1, 1}).set_is_virtual(true);
  auto o = graph.sdpa(x, x, x, SDPA_attributes().set_logit_max(later))[0];
  o->set_output(true).set_dim({1, 1, 3, 8}).set_stride({24, 24, 8, 1});
  auto data = counted(24);
  std::vector<float> attention(24, NAN), negated(3, NAN);
  Pack pack{{x, data.data()}, {o, attention.data()}, {y, negated.data()}};
  EXPECT_GOOD(run(graph, pack));
  for (int i = 0; i < 3; ++i) {
    double most = -INFINITY;
    for (int j = 0; j < 3; ++j) {
      double score = 0;
      for (int d = 0; d < 8; ++d) score += double(data[i * 8 + d]) * data[j * 8 + d];
      most = std::max(most, score);
    }
    EXPECT_NEAR(negated[i], -most, 1e-4);
  }
}

TEST(Divergences, VirtualHalvesAreNotRounded) {
  Graph graph;
  graph.set_io_data_type(DataType_t::FLOAT)
      .set_intermediate_data_type(DataType_t::HALF)
      .set_compute_data_type(DataType_t::FLOAT);
  auto x = graph.tensor(like({2}));
  auto large = graph.pointwise(x, graph.tensor(1e6f), pointwise(PointwiseMode_t::MUL));
  auto y = graph.pointwise(large, graph.tensor(1e6f), pointwise(PointwiseMode_t::DIV));
  y->set_output(true);
  std::vector<float> values{1.0001f, 3}, result(2, NAN);
  Pack pack{{x, values.data()}, {y, result.data()}};
  EXPECT_GOOD(run(graph, pack));
  EXPECT_NEAR(result[0], 1.0001f, 1e-6);
  EXPECT_NEAR(result[1], 3, 1e-6);
}

TEST(Divergences, SizesOfBooleans) {
  EXPECT_EQ(fe::detail::get_data_type_size(DataType_t::BOOLEAN), 1);
  EXPECT_EQ(fe::detail::get_element_size_in_bits(DataType_t::BOOLEAN), 8);
  EXPECT_EQ(fe::detail::get_data_type_size(DataType_t::BFLOAT16), 2);
  EXPECT_EQ(fe::detail::get_data_type_size(DataType_t::INT64), 8);
}

TEST(Divergences, Plans) {
  const OwnHandle handle;
  Graph graph = absolute();
  // Without a handle and without device properties; in parallel.
  EXPECT_GOOD(graph.build_operation_graph());
  EXPECT_GOOD(graph.create_execution_plans({HeurMode_t::A, HeurMode_t::FALLBACK}));
  EXPECT_GOOD(graph.build_plans(BuildPlanPolicy_t::ALL, true));
  std::string name;
  EXPECT_CODE(graph.get_plan_name_at_index(1000, name), GRAPH_EXECUTION_FAILED);
  EXPECT_CODE(graph.build_plan_at_index(-1), GRAPH_EXECUTION_FAILED);

  std::vector<float> values{1, -2, 3, -4}, result(4, NAN);
  std::unordered_map<int64_t, void*> pack{{1, values.data()}, {2, nullptr}};
  EXPECT_CODE(run_built(graph, handle, pack), INVALID_VARIANT_PACK);
  pack[2] = result.data();
  EXPECT_GOOD(run_built(graph, handle, pack));
  EXPECT_EQ(result, (std::vector<float>{1, 2, 3, 4}));

  // Part of a component is none.
  Graph filtered = absolute();
  filtered.deselect_engines({"cp"});
  EXPECT_GOOD(filtered.build(handle, {HeurMode_t::A}));
  // All refusals, not only that there are some.
  Graph barred = absolute();
  barred.deselect_engines({"cpu", "reference"});
  EXPECT_GOOD(barred.build_operation_graph(handle));
  EXPECT_GOOD(barred.create_execution_plans({HeurMode_t::A}));
  EXPECT_TRUE(says(barred.check_support(), "cpu"));
}

TEST(Divergences, AUsedKernelCacheReadsNothing) {
  const OwnHandle handle;
  auto cache = std::make_shared<fe::KernelCache>();
  Graph graph = absolute();
  graph.set_dynamic_shape_enabled(true).set_kernel_cache(cache);
  EXPECT_GOOD(graph.build(handle, {HeurMode_t::A}));
  std::string text;
  EXPECT_GOOD(cache->to_json(text));
  EXPECT_CODE(cache->from_json(text), INVALID_VALUE);
  Graph not_dynamic = absolute();
  not_dynamic.set_kernel_cache(cache);
  EXPECT_CODE(not_dynamic.validate(), GRAPH_NOT_SUPPORTED);
}

TEST(Divergences, JsonKeepsAllThatTensorsHave) {
  Graph graph = float_graph();
  auto x = graph.tensor(like({4}, "x").set_uid(1).set_alignment(64));
  auto constant = graph.tensor(2.5f, ScalarType::COMPILE_TIME_CONST);
  graph.pointwise(x, constant, pointwise(PointwiseMode_t::MUL))->set_output(true).set_uid(2);
  Graph read;
  EXPECT_GOOD(read.deserialize(json(graph)));
  Tensor_attributes found;
  EXPECT_GOOD(read.query_tensor_attributes_of_uid(1, found));
  EXPECT_EQ(found.get_alignment(), 64);
  std::vector<float> values{1, 2, 3, 4}, result(4, NAN);
  std::unordered_map<int64_t, void*> pack{{1, values.data()}, {2, result.data()}};
  EXPECT_GOOD(run(read, pack));
  EXPECT_EQ(result, (std::vector<float>{2.5f, 5, 7.5f, 10}));

  auto foreign = json(graph);
  foreign["nodes"][0]["no_such_field"] = 1;
  const auto error = read.deserialize(foreign);
  EXPECT_EQ(error.code, error_code_t::UNSUPPORTED_GRAPH_FORMAT);
  EXPECT_TRUE(says(error, "no_such_field")) << error;
}

// Windows may be given as fractions, as of cuDNN; channels last follows from dims as for
// convolutions.
TEST(Names, PoolingTakesFractions) {
  Graph graph = float_graph();
  auto x = graph.tensor(like({1, 2, 4, 4}));
  const std::vector<cudnnFraction_t> two{{2, 1}, {2, 1}}, none{{0, 1}, {0, 1}};
  auto [y, index] = graph.resample(x, fe::graph::Resample_attributes()
                                          .set_resampling_mode(fe::ResampleMode_t::MAXPOOL)
                                          .set_padding_mode(fe::PaddingMode_t::NEG_INF_PAD)
                                          .set_window(two)
                                          .set_stride(two)
                                          .set_pre_padding(none)
                                          .set_post_padding(none)
                                          .set_generate_index(false));
  EXPECT_EQ(index, nullptr);
  y->set_output(true);
  auto values = counted(32);
  std::vector<float> result(8, NAN);
  Pack pack{{x, values.data()}, {y, result.data()}};
  EXPECT_GOOD(run(graph, pack));
  EXPECT_EQ(y->get_stride(), (Dims{8, 1, 4, 2}));
  for (int c = 0; c < 2; ++c)
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        EXPECT_EQ(result[(i * 2 + j) * 2 + c], values[c * 16 + (2 * i + 1) * 4 + 2 * j + 1]);
}

}  // namespace
}  // namespace trap
