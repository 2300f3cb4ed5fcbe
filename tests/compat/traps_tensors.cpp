// T18 to T28: scalars, uids, names, and what a graph knows of its tensors.
#include <type_traits>

#include "trap.h"

namespace trap {
namespace {

using fe::DataType_t;
using fe::PointwiseMode_t;
using fe::graph::Matmul_attributes;
using fe::graph::ScalarType;
using fe::graph::SDPA_attributes;

// A stored value and a constant need no entry in the pack, a scalar by value takes a host pointer
// at every execution.
TEST(Traps, T19_ThreeKindsOfScalars) {
  Graph graph = float_graph();
  auto x = graph.tensor(like({2, 2}));
  auto stored = graph.tensor(2.0f);
  auto constant = graph.tensor(10.0f, ScalarType::COMPILE_TIME_CONST);
  auto by_value = graph.tensor(like({1, 1}).set_is_pass_by_value(true));
  EXPECT_TRUE(stored->get_pass_by_value().has_value());
  EXPECT_TRUE(constant->get_has_compile_time_constant());
  EXPECT_FALSE(constant->get_pass_by_value().has_value());
  auto y = graph.pointwise(x, stored, pointwise(PointwiseMode_t::MUL));
  y = graph.pointwise(y, constant, pointwise(PointwiseMode_t::ADD));
  y = graph.pointwise(y, by_value, pointwise(PointwiseMode_t::MUL));
  y->set_output(true);
  std::vector<float> values{1, 2, 3, 4}, result(4, NAN);
  float factor = 3;
  Pack pack{{x, values.data()}, {by_value, &factor}, {y, result.data()}};
  EXPECT_GOOD(run(graph, pack));
  EXPECT_EQ(result, (std::vector<float>{36, 42, 48, 54}));
  factor = -1;
  const OwnHandle handle;
  EXPECT_GOOD(run_built(graph, handle, pack));
  EXPECT_EQ(result, (std::vector<float>{-12, -14, -16, -18}));
  pack.erase(by_value);
  EXPECT_CODE(run_built(graph, handle, pack), INVALID_VARIANT_PACK);
}

TEST(Traps, T20_StoredScalarsTakeTheRankOfTheirPartners) {
  Graph graph = float_graph();
  auto scalar = graph.tensor(2.0f);
  EXPECT_EQ(scalar->get_dim(), (Dims{1}));
  graph.pointwise(graph.tensor(like({2, 3, 4})), scalar, pointwise(PointwiseMode_t::MUL))
      ->set_output(true);
  EXPECT_GOOD(graph.validate());
  EXPECT_EQ(scalar->get_dim(), (Dims{1, 1, 1}));
  EXPECT_EQ(scalar->get_stride(), (Dims{1, 1, 1}));
}

TEST(Traps, T21_ScalarsConvertImplicitly) {
  static_assert(std::is_convertible_v<float, Tensor_attributes>);
  static_assert(std::is_convertible_v<double, Tensor_attributes>);
  static_assert(std::is_convertible_v<int32_t, Tensor_attributes>);
  static_assert(std::is_convertible_v<int64_t, Tensor_attributes>);
  static_assert(std::is_convertible_v<half, Tensor_attributes>);
  static_assert(std::is_convertible_v<nv_bfloat16, Tensor_attributes>);
  Graph graph = float_graph();
  EXPECT_EQ(graph.tensor(1)->get_data_type(), DataType_t::INT32);
  EXPECT_EQ(graph.tensor(int64_t{1})->get_data_type(), DataType_t::INT64);
  EXPECT_EQ(graph.tensor(1.0)->get_data_type(), DataType_t::DOUBLE);
  EXPECT_EQ(graph.tensor(1.0f)->get_data_type(), DataType_t::FLOAT);
  EXPECT_EQ(graph.tensor(__float2half(1.0f))->get_data_type(), DataType_t::HALF);
  EXPECT_EQ(graph.tensor(__float2bfloat16(1.0f))->get_data_type(), DataType_t::BFLOAT16);
  EXPECT_EQ(graph.tensor(Tensor_attributes(2.f))->get_data_type(), DataType_t::FLOAT);
  EXPECT_EQ(graph.tensor(__float2half(1.0f), ScalarType::COMPILE_TIME_CONST)->get_data_type(),
            DataType_t::HALF);
  EXPECT_EQ(graph.tensor(7, ScalarType::RUNTIME_PARAM)->get_data_type(), DataType_t::INT32);
  // What the half holds is what the graph reads.
  auto x = graph.tensor(like({1}));
  auto y = graph.pointwise(x, graph.tensor(__float2half(0.5f)), pointwise(PointwiseMode_t::MUL));
  y->set_output(true);
  float three = 3, product = NAN;
  Pack pack{{x, &three}, {y, &product}};
  EXPECT_GOOD(run(graph, pack));
  EXPECT_EQ(product, 1.5f);
}

TEST(Traps, T23_TheGraphKeepsACopyOfAttributes) {
  Graph graph = float_graph();
  Tensor_attributes attributes = like({2, 3}, "first");
  auto x = graph.tensor(attributes);
  attributes.set_name("changed").set_dim({7, 7});
  EXPECT_EQ(x->get_name(), "first");
  EXPECT_EQ(x->get_dim(), (Dims{2, 3}));
  // The pointer that came back is the key, another to an equal tensor is not.
  auto y = graph.pointwise(x, pointwise(PointwiseMode_t::NEG));
  y->set_output(true);
  auto values = counted(6);
  std::vector<float> result(6, NAN);
  Pack pack{{std::make_shared<Tensor_attributes>(*x), values.data()}, {y, result.data()}};
  EXPECT_CODE(run(graph, pack), INVALID_VARIANT_PACK);
}

TEST(Traps, T24_TensorLikeHasNoUidAndNoName) {
  Graph graph = float_graph();
  auto x = graph.tensor(like({2, 3}, "x").set_uid(5).set_data_type(DataType_t::HALF));
  auto nameless = graph.tensor_like(x), named = graph.tensor_like(x, "other");
  EXPECT_EQ(nameless->get_name(), "");
  EXPECT_EQ(named->get_name(), "other");
  EXPECT_FALSE(nameless->has_uid());
  EXPECT_EQ(named->get_dim(), x->get_dim());
  EXPECT_EQ(named->get_data_type(), DataType_t::HALF);
  EXPECT_TRUE(x->has_uid());
}

TEST(Traps, T25_Uid0IsAUidAndOthersFollowFrom1) {
  Graph graph = float_graph();
  auto a = graph.tensor(like({4}).set_uid(0)), b = graph.tensor(like({4}));
  auto c = graph.tensor(like({4}).set_uid(1));
  auto sum = graph.pointwise(a, b, pointwise(PointwiseMode_t::ADD));
  auto y = graph.pointwise(sum, c, pointwise(PointwiseMode_t::MUL));
  y->set_output(true);
  EXPECT_GOOD(graph.validate());
  EXPECT_FALSE(b->has_uid());
  const OwnHandle handle;
  EXPECT_GOOD(graph.build_operation_graph(handle));
  EXPECT_EQ(a->get_uid(), 0);
  EXPECT_EQ(c->get_uid(), 1);
  EXPECT_EQ(b->get_uid(), 2);
  const auto uids = graph.get_variant_pack_uids_sorted();
  EXPECT_EQ(uids.size(), 4u);
  EXPECT_EQ(uids[0], 0);
  Tensor_attributes found;
  EXPECT_GOOD(graph.query_tensor_attributes_of_uid(0, found));
  EXPECT_EQ(found.get_dim(), (Dims{4}));
  EXPECT_CODE(graph.query_tensor_attributes_of_uid(99, found), INVALID_VALUE);
}

TEST(Traps, T26_UidsOfInputsAndResultsAreUnique) {
  Graph inputs = float_graph();
  auto a = inputs.tensor(like({4}, "a").set_uid(3)), b = inputs.tensor(like({4}, "b").set_uid(3));
  inputs.pointwise(a, b, pointwise(PointwiseMode_t::ADD))->set_output(true);
  EXPECT_CODE(inputs.validate(), INVALID_VALUE);
  Graph results = float_graph();
  auto x = results.tensor(like({4}, "x").set_uid(3));
  auto y = results.pointwise(x, pointwise(PointwiseMode_t::ABS));
  y->set_output(true).set_uid(3);
  const auto error = results.validate();
  EXPECT_EQ(error.code, error_code_t::INVALID_VALUE);
  EXPECT_TRUE(says(error, "3") && says(error, y->get_name())) << error;
}

// Diverges: names that are equal or empty keep their tensors apart in JSON.
TEST(Traps, T27_UnusedInputsAreValidatedAndNotAskedFor) {
  Graph graph = float_graph();
  auto a = graph.tensor(like({4}, "same")), b = graph.tensor(like({4}, "same"));
  graph.tensor(like({3}));
  auto y = graph.pointwise(a, b, pointwise(PointwiseMode_t::SUB));
  y->set_output(true);
  json written = graph;
  Graph again;
  EXPECT_GOOD(again.deserialize(written));
  EXPECT_EQ(json(again), written);
  EXPECT_EQ(written["tensors"].size(), 4u);

  std::vector<float> left{4, 3, 2, 1}, right{1, 1, 1, 1}, result(4, NAN);
  Pack pack{{a, left.data()}, {b, right.data()}, {y, result.data()}};
  EXPECT_GOOD(run(graph, pack));
  EXPECT_EQ(result, (std::vector<float>{3, 2, 1, 0}));

  graph.tensor(Tensor_attributes().set_name("without dims"));
  const auto error = graph.validate();
  EXPECT_EQ(error.code, error_code_t::ATTRIBUTE_NOT_SET);
  EXPECT_TRUE(says(error, "without dims")) << error;
}

TEST(Traps, T28_ATensorOfTheUsersMayBeAResult) {
  Graph graph = float_graph();
  auto q = graph.tensor(like({1, 1, 2, 8}));
  auto largest = graph.tensor(like({1, 1, 2, 1}, "largest"));
  auto sum = graph.tensor(like({1, 1, 2, 1}, "sum"));
  auto o = graph.sdpa(q, q, q, SDPA_attributes().set_logit_max(largest).set_score_sum_exp(sum))[0];
  o->set_output(true).set_dim({1, 1, 2, 8}).set_stride({16, 16, 8, 1});
  std::vector<float> values(16, 0.0f), result(16, NAN), maxima(2, NAN), sums(2, NAN);
  values[0] = 2;
  values[8] = 1;
  Pack pack{{q, values.data()}, {o, result.data()}, {largest, maxima.data()}, {sum, sums.data()}};
  EXPECT_GOOD(run(graph, pack));
  // Scores: row 0 has 4 and 2, row 1 has 2 and 1.
  EXPECT_EQ(maxima, (std::vector<float>{4, 2}));
  EXPECT_NEAR(sums[0], 1 + std::exp(-2.0), 1e-5);
  EXPECT_NEAR(sums[1], 1 + std::exp(-1.0), 1e-5);
}

// The rules for kinds of tensors: each is one thing.
TEST(Traps, T19_KindsOfTensorsDoNotMix) {
  EXPECT_CODE(like({1}).set_is_virtual(true).set_is_pass_by_value(true).validate(),
              ATTRIBUTE_NOT_SET);
  EXPECT_CODE(Tensor_attributes(1.0f).set_is_pass_by_value(false).validate(), ATTRIBUTE_NOT_SET);
  EXPECT_CODE(Tensor_attributes(1.0f).set_compile_time_constant(2.0f).validate(),
              ATTRIBUTE_NOT_SET);
  EXPECT_CODE(Tensor_attributes().set_dim({2}).validate(), ATTRIBUTE_NOT_SET);
  EXPECT_CODE(Tensor_attributes().set_dim({2, 3}).set_stride({1}).validate(), ATTRIBUTE_NOT_SET);
  Tensor_attributes constant(3.0f, ScalarType::COMPILE_TIME_CONST);
  EXPECT_TRUE(constant.get_is_pass_by_value());
  constant.set_as_runtime_parameter();
  EXPECT_EQ(std::get<float>(*constant.get_pass_by_value()), 3.0f);
  EXPECT_FALSE(constant.get_has_compile_time_constant());
}

}  // namespace
}  // namespace trap
