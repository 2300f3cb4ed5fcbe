// T1 to T18: versions, layout, shapes and data types that follow from others.
#include "trap.h"

namespace trap {
namespace {

using fe::DataType_t;
using fe::PointwiseMode_t;
using fe::graph::Conv_dgrad_attributes;
using fe::graph::Conv_fprop_attributes;
using fe::graph::Conv_wgrad_attributes;
using fe::graph::Layernorm_attributes;
using fe::graph::Matmul_attributes;
using fe::graph::Reduction_attributes;
using fe::graph::Reshape_attributes;
using fe::graph::SDPA_attributes;
using fe::graph::Slice_attributes;
using fe::graph::Transpose_attributes;

TEST(Traps, T01_VersionsPassTheChecksOfPrograms) {
  static_assert(CUDNN_VERSION >= 92200 && CUDNN_VERSION < 99900);
  static_assert(CUDNN_FRONTEND_VERSION == 12300);
  static_assert(fe::detail::get_compiled_version() == CUDNN_VERSION);
  EXPECT_EQ(cudnnGetVersion(), static_cast<size_t>(CUDNN_VERSION));
  EXPECT_EQ(fe::detail::get_backend_version(), cudnnGetVersion());
  EXPECT_GE(std::min(fe::detail::get_compiled_version(), fe::detail::get_backend_version()),
            91301u);
  EXPECT_GE(cudnnGetCudartVersion(), 12000u);
  EXPECT_EQ(fe::detail::get_backend_version_string(), "9.22.0");
  EXPECT_EQ(fe::detail::convert_version_to_str(8907), "8.9.7");
  EXPECT_EQ(fe::detail::convert_version_to_str(90000), "9.0.0");
  EXPECT_EQ(fe::detail::convert_version_to_str(123456), "12.34.56");
}

TEST(Traps, T02_DimsAreLogicalAndDefaultStridesPutDimension1First) {
  Graph graph = float_graph();
  // The image lies row-major in memory; what convolution makes of it has the channel fastest.
  auto image = graph.tensor(like({2, 4, 6, 6}));
  auto y = graph.conv_fprop(
      image, graph.tensor(like({8, 4, 3, 3})),
      Conv_fprop_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1}));
  auto x = graph.tensor(like({2, 3, 4}));
  auto reduced = graph.reduction(x, Reduction_attributes().set_mode(fe::ReductionMode_t::ADD));
  reduced->set_dim({2, 3, 1});
  auto kept = graph.reduction(x, Reduction_attributes().set_mode(fe::ReductionMode_t::ADD));
  auto product = graph.matmul(x, graph.tensor(like({2, 4, 5})), Matmul_attributes());
  auto reshaped = graph.reshape(
      x, Reshape_attributes().set_dim({2, 3, 4}).set_reshape_mode(fe::ReshapeMode_t::LOGICAL));
  auto transposed = graph.transpose(x, Transpose_attributes().set_permutation({2, 0, 1}));
  auto sliced = graph.slice(x, Slice_attributes().set_slices({{0, 2}, {1, 3}, {0, 4}}));
  auto channels_last =
      graph.tensor(Tensor_attributes().set_dim({2, 4, 6, 6}).set_stride({4 * 6 * 6, 1, 4 * 6, 4}));
  auto [normalized, mean, inv_variance] = graph.layernorm(
      channels_last, graph.tensor(like({1, 4, 6, 6})), graph.tensor(like({1, 4, 6, 6})),
      Layernorm_attributes().set_forward_phase(fe::NormFwdPhase_t::INFERENCE).set_epsilon(1e-5f));
  for (auto& result : {y, reduced, kept, product, reshaped, normalized}) result->set_output(true);
  graph.pointwise(transposed, pointwise(PointwiseMode_t::ABS))->set_output(true);
  graph.pointwise(sliced, pointwise(PointwiseMode_t::ABS))->set_output(true);
  EXPECT_GOOD(graph.validate());
  EXPECT_EQ(y->get_dim(), (Dims{2, 8, 6, 6}));
  EXPECT_EQ(y->get_stride(), (Dims{8 * 36, 1, 8 * 6, 8}));
  EXPECT_EQ(reduced->get_stride(), (Dims{3, 1, 3}));
  EXPECT_EQ(kept->get_stride(), (Dims{12, 1, 3}));
  EXPECT_EQ(product->get_stride(), (Dims{15, 5, 1}));
  EXPECT_EQ(reshaped->get_stride(), (Dims{12, 1, 3}));
  EXPECT_EQ(transposed->get_stride(), (Dims{1, 12, 4}));
  EXPECT_EQ(sliced->get_stride(), (Dims{12, 4, 1}));
  EXPECT_EQ(normalized->get_stride(), channels_last->get_stride());
}

TEST(Traps, T03_GradientsOfNormsPutDimension1FirstWhateverTheInput) {
  Graph graph = float_graph();
  auto x = graph.tensor(like({2, 4, 3, 5})), dy = graph.tensor(like({2, 4, 3, 5}));
  auto scale = graph.tensor(like({1, 4, 3, 5}));
  auto [dx, dscale, dbias] = graph.layernorm_backward(
      dy, x, scale,
      fe::graph::Layernorm_backward_attributes().set_saved_mean_and_inv_variance(
          graph.tensor(like({2, 1, 1, 1})), graph.tensor(like({2, 1, 1, 1}))));
  for (auto& result : {dx, dscale, dbias}) result->set_output(true);
  EXPECT_GOOD(graph.validate());
  EXPECT_EQ(dx->get_stride(), (Dims{4 * 15, 1, 4 * 5, 4}));
  EXPECT_EQ(dscale->get_stride(), (Dims{4 * 15, 1, 4 * 5, 4}));
}

TEST(Traps, T04_PointwiseTakesTheStridesOfItsLastInputThatFits) {
  Graph graph = float_graph();
  auto row_major_tensor = graph.tensor(like({2, 3, 4}));
  auto other = graph.tensor(Tensor_attributes().set_dim({2, 3, 4}).set_stride({1, 2, 6}));
  auto one = graph.tensor(like({1, 1, 1}));
  auto first = graph.pointwise(row_major_tensor, other, pointwise(PointwiseMode_t::ADD));
  auto second = graph.pointwise(other, row_major_tensor, pointwise(PointwiseMode_t::ADD));
  auto with_bias = graph.pointwise(other, one, pointwise(PointwiseMode_t::ADD));
  for (auto& result : {first, second, with_bias}) result->set_output(true);
  EXPECT_GOOD(graph.validate());
  EXPECT_EQ(first->get_stride(), other->get_stride());
  EXPECT_EQ(second->get_stride(), row_major_tensor->get_stride());
  EXPECT_EQ(with_bias->get_stride(), other->get_stride());
}

// Equal strides had no order of their own: here the later dim is the faster one.
TEST(Traps, T05_OfEqualStridesTheLaterDimIsFaster) {
  Graph graph = float_graph();
  auto a = graph.tensor(Tensor_attributes().set_dim({2, 1, 4}).set_stride({4, 4, 1}));
  auto b = graph.tensor(Tensor_attributes().set_dim({1, 3, 1}).set_stride({1, 1, 1}));
  auto sum = graph.pointwise(a, b, pointwise(PointwiseMode_t::ADD));
  graph.pointwise(sum, pointwise(PointwiseMode_t::ABS))->set_output(true);
  EXPECT_GOOD(graph.validate());
  EXPECT_EQ(sum->get_stride(), (Dims{12, 4, 1}));
}

// Diverges: dims that contradict the inferred ones are refused, with both.
TEST(Traps, T06_DimsOfResultsAreCompared) {
  Graph graph = float_graph();
  auto a = graph.tensor(like({2, 3, 4})), b = graph.tensor(like({2, 4, 5}));
  auto c = graph.matmul(a, b, Matmul_attributes().set_name("gemm"));
  c->set_output(true).set_dim({2, 3, 6}).set_stride({18, 6, 1});
  const auto error = graph.validate();
  EXPECT_EQ(error.code, error_code_t::SHAPE_DEDUCTION_FAILED);
  EXPECT_TRUE(says(error, "gemm::C") && says(error, "6") && says(error, "5")) << error;

  // Strides are a choice.
  c->set_dim({2, 3, 5}).set_stride({1, 2, 6});
  EXPECT_GOOD(graph.validate());
  EXPECT_EQ(c->get_stride(), (Dims{1, 2, 6}));
}

TEST(Traps, T07_AReductionWithoutDimsReducesNothing) {
  Graph graph = float_graph();
  auto x = graph.tensor(like({2, 3}));
  auto y = graph.reduction(x, Reduction_attributes().set_mode(fe::ReductionMode_t::ADD));
  y->set_output(true).set_stride({3, 1});
  auto values = counted(6);
  std::vector<float> result(6, NAN);
  Pack pack{{x, values.data()}, {y, result.data()}};
  EXPECT_GOOD(run(graph, pack));
  EXPECT_EQ(y->get_dim(), (Dims{2, 3}));
  EXPECT_EQ(result, values);
}

// Diverges: all of them at validate(), as ATTRIBUTE_NOT_SET.
TEST(Traps, T08_SomeResultsNeedTheUsersDims) {
  const Dims pads{1, 1}, ones{1, 1};
  Graph dgrad = float_graph();
  dgrad
      .conv_dgrad(dgrad.tensor(like({1, 4, 6, 6})), dgrad.tensor(like({4, 2, 3, 3})),
                  Conv_dgrad_attributes().set_padding(pads).set_stride(ones).set_dilation(ones))
      ->set_output(true);
  EXPECT_CODE(dgrad.validate(), ATTRIBUTE_NOT_SET);
  Graph wgrad = float_graph();
  wgrad
      .conv_wgrad(wgrad.tensor(like({1, 4, 6, 6})), wgrad.tensor(like({1, 2, 6, 6})),
                  Conv_wgrad_attributes().set_padding(pads).set_stride(ones).set_dilation(ones))
      ->set_output(true);
  EXPECT_CODE(wgrad.validate(), ATTRIBUTE_NOT_SET);
  Graph attention = float_graph();
  auto q = attention.tensor(like({1, 2, 4, 8}));
  attention.sdpa(q, q, q, SDPA_attributes())[0]->set_output(true);
  EXPECT_CODE(attention.validate(), ATTRIBUTE_NOT_SET);
  Graph reshape = float_graph();
  reshape.reshape(reshape.tensor(like({2, 3})), Reshape_attributes())->set_output(true);
  EXPECT_CODE(reshape.validate(), ATTRIBUTE_NOT_SET);
}

// Diverges: what does not fit is refused. Transposition is still in the strides alone.
TEST(Traps, T09_MatmulOperandsMustFit) {
  auto refused = [](const Dims& a, const Dims& b) {
    Graph graph = float_graph();
    graph.matmul(graph.tensor(like(a)), graph.tensor(like(b)), Matmul_attributes())
        ->set_output(true);
    return graph.validate().code;
  };
  EXPECT_EQ(refused({2, 3, 4}, {2, 5, 6}), error_code_t::SHAPE_DEDUCTION_FAILED);
  EXPECT_EQ(refused({2, 3, 4}, {4, 6}), error_code_t::SHAPE_DEDUCTION_FAILED);
  EXPECT_EQ(refused({2, 3, 4}, {3, 4, 6}), error_code_t::SHAPE_DEDUCTION_FAILED);
  EXPECT_EQ(refused({6, 3, 4}, {2, 4, 6}), error_code_t::OK);

  Graph graph = float_graph();
  auto a = graph.tensor(Tensor_attributes().set_dim({1, 2, 3}).set_stride({6, 1, 2}));
  auto b = graph.tensor(like({1, 3, 1}));
  auto c = graph.matmul(a, b, Matmul_attributes());
  c->set_output(true);
  auto columns = counted(6);
  std::vector<float> ones(3, 1.0f), sums(2, NAN);
  Pack pack{{a, columns.data()}, {b, ones.data()}, {c, sums.data()}};
  EXPECT_GOOD(run(graph, pack));
  EXPECT_EQ(sums, (std::vector<float>{(1 + 3 + 5) / 8.0f, (2 + 4 + 6) / 8.0f}));
}

TEST(Traps, T10_TensorsOfRank2Run) {
  Graph graph = float_graph();
  auto a = graph.tensor(like({2, 3})), b = graph.tensor(like({3, 2}));
  auto c = graph.matmul(a, b, Matmul_attributes());
  auto y = graph.pointwise(c, pointwise(PointwiseMode_t::NEG));
  y->set_output(true);
  auto left = counted(6), right = counted(6);
  std::vector<float> result(4, NAN);
  Pack pack{{a, left.data()}, {b, right.data()}, {y, result.data()}};
  EXPECT_GOOD(run(graph, pack));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) sum += double(left[i * 3 + k]) * right[k * 2 + j];
      EXPECT_FLOAT_EQ(result[i * 2 + j], -sum);
    }
}

// Diverges: a scale of lower rank is aligned right, where it was undefined. The statistics' dims
// follow the scale's either way.
TEST(Traps, T11_TheScaleSaysWhichAxesAreNormalized) {
  for (const Dims& scale_dims : {Dims{1, 1, 4}, Dims{4}}) {
    Graph graph = float_graph();
    auto x = graph.tensor(like({2, 3, 4}));
    auto scale = graph.tensor(like(scale_dims)), bias = graph.tensor(like(scale_dims));
    auto [y, mean, inv_variance] = graph.layernorm(
        x, scale, bias,
        Layernorm_attributes().set_forward_phase(fe::NormFwdPhase_t::TRAINING).set_epsilon(1e-5f));
    for (auto& result : {y, mean, inv_variance}) result->set_output(true);
    EXPECT_GOOD(graph.validate());
    EXPECT_EQ(mean->get_dim(), (Dims{2, 3, 1}));
  }
  Graph graph = float_graph();
  auto [y, mean, inv_variance] = graph.layernorm(
      graph.tensor(like({2, 3, 4})), graph.tensor(like({1, 3, 4})), graph.tensor(like({1, 3, 4})),
      Layernorm_attributes().set_forward_phase(fe::NormFwdPhase_t::TRAINING).set_epsilon(1e-5f));
  for (auto& result : {y, mean, inv_variance}) result->set_output(true);
  EXPECT_GOOD(graph.validate());
  EXPECT_EQ(inv_variance->get_dim(), (Dims{2, 1, 1}));
}

// Diverges: a slice that is an output is written where the pack has a pointer for it, packed;
// without one it is not asked for. Two slices of one tensor do not disturb each other, and BOOLEAN
// has an offset.
TEST(Traps, T12_SlicesAreViewsOrWritten) {
  Graph graph = float_graph();
  auto x = graph.tensor(like({4, 6}).set_uid(1));
  auto left = graph.slice(x, Slice_attributes().set_slices({{0, 4}, {0, 2}}));
  auto right = graph.slice(x, Slice_attributes().set_slices({{1, 4}, {3, 6}}).set_strides({2, 1}));
  left->set_output(true).set_uid(2);
  right->set_output(true).set_uid(3);
  auto mask = graph.tensor(like({4}).set_uid(4).set_data_type(DataType_t::BOOLEAN));
  auto tail = graph.slice(mask, Slice_attributes().set_slices({{1, 3}}));
  auto inverted = graph.pointwise(tail, pointwise(PointwiseMode_t::LOGICAL_NOT));
  inverted->set_output(true).set_uid(5).set_data_type(DataType_t::BOOLEAN);

  auto values = counted(24);
  std::vector<float> first(8, NAN), second(6, NAN);
  std::vector<uint8_t> bits{1, 0, 1, 1}, result(2, 9);
  std::unordered_map<int64_t, void*> pack{{1, values.data()},
                                          {2, first.data()},
                                          {3, second.data()},
                                          {4, bits.data()},
                                          {5, result.data()}};
  EXPECT_GOOD(run(graph, pack));
  EXPECT_EQ(left->get_stride(), (Dims{2, 1}));
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j) EXPECT_EQ(first[i * 2 + j], values[i * 6 + j]);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_EQ(second[i * 3 + j], values[(1 + 2 * i) * 6 + 3 + j]);
  EXPECT_EQ(result, (std::vector<uint8_t>{1, 0}));

  EXPECT_EQ(graph.get_variant_pack_uids_sorted(), (std::vector<int64_t>{1, 4, 5}));
  std::fill(first.begin(), first.end(), NAN);
  pack.erase(3);
  const OwnHandle handle;
  EXPECT_GOOD(run_built(graph, handle, pack));
  EXPECT_EQ(first[0], values[0]);
}

TEST(Traps, T13_TheDataTypeIsChosenWhenItIsInferred) {
  Graph graph;
  graph.set_io_data_type(DataType_t::HALF)
      .set_intermediate_data_type(DataType_t::FLOAT)
      .set_compute_data_type(DataType_t::FLOAT);
  auto x = graph.tensor(like({2, 3}));
  auto y = graph.pointwise(x, pointwise(PointwiseMode_t::ABS));
  auto z = graph.pointwise(y, pointwise(PointwiseMode_t::NEG));
  z->set_output(true);
  EXPECT_GOOD(graph.validate());
  EXPECT_EQ(y->get_data_type(), DataType_t::FLOAT);
  EXPECT_EQ(z->get_data_type(), DataType_t::HALF);
  y->set_output(true);
  EXPECT_GOOD(graph.validate());
  EXPECT_EQ(y->get_data_type(), DataType_t::FLOAT);
}

// Diverges: what only moves elements takes its input's type where none is set.
TEST(Traps, T14_MovedElementsKeepTheirType) {
  Graph graph = float_graph(DataType_t::HALF);
  auto x = graph.tensor(like({2, 3}));
  auto transposed = graph.transpose(x, Transpose_attributes().set_permutation({1, 0}));
  graph.pointwise(transposed, pointwise(PointwiseMode_t::ABS))->set_output(true);
  EXPECT_GOOD(graph.validate());
  EXPECT_EQ(transposed->get_data_type(), DataType_t::HALF);

  auto slice = graph.slice(x, Slice_attributes().set_slices({{0, 1}, {0, 3}}));
  slice->set_output(true).set_data_type(DataType_t::FLOAT);
  EXPECT_CODE(graph.validate(), INVALID_VALUE);
}

// Diverges: found by validate(), not when the graph is lowered. Attention asks for nothing more.
TEST(Traps, T15_MissingDataTypesAreFoundByValidate) {
  Graph no_io;
  no_io.set_compute_data_type(DataType_t::FLOAT);
  no_io.pointwise(no_io.tensor(like({2})), pointwise(PointwiseMode_t::ABS))->set_output(true);
  EXPECT_CODE(no_io.validate(), ATTRIBUTE_NOT_SET);
  Graph no_compute;
  no_compute.set_io_data_type(DataType_t::FLOAT);
  no_compute.pointwise(no_compute.tensor(like({2})), pointwise(PointwiseMode_t::ABS))
      ->set_output(true);
  const auto error = no_compute.validate();
  EXPECT_EQ(error.code, error_code_t::ATTRIBUTE_NOT_SET);
  EXPECT_TRUE(says(error, "compute")) << error;

  Graph attention;
  attention.set_io_data_type(DataType_t::HALF).set_compute_data_type(DataType_t::FLOAT);
  auto q = attention.tensor(like({1, 2, 4, 8}));
  attention.sdpa(q, q, q, SDPA_attributes())[0]
      ->set_output(true)
      .set_dim({1, 2, 4, 8})
      .set_stride({64, 32, 8, 1});
  EXPECT_GOOD(attention.validate());
}

TEST(Traps, T16_BooleansAreBytes) {
  Graph graph = float_graph();
  auto x = graph.tensor(like({5}));
  auto is_positive = graph.pointwise(x, graph.tensor(0.0f), pointwise(PointwiseMode_t::CMP_GT));
  is_positive->set_output(true).set_data_type(DataType_t::BOOLEAN);
  std::vector<float> values{-1, 2, 0, 3, NAN};
  std::vector<uint8_t> result(6, 7);
  Pack pack{{x, values.data()}, {is_positive, result.data()}};
  EXPECT_GOOD(run(graph, pack));
  EXPECT_EQ(result, (std::vector<uint8_t>{0, 1, 0, 1, 0, 7}));
}

TEST(Traps, T17_StatisticsHaveTheIoTypeUnlessSet) {
  Graph graph = float_graph(DataType_t::HALF);
  auto q = graph.tensor(like({1, 2, 4, 8}));
  auto [o, stats] = graph.sdpa(q, q, q, SDPA_attributes().set_generate_stats(true));
  o->set_output(true).set_dim({1, 2, 4, 8}).set_stride({64, 32, 8, 1});
  stats->set_output(true);
  auto scale = graph.tensor(like({1, 1, 1, 8}));
  auto [y, mean, inv_variance] = graph.layernorm(
      q, scale, scale,
      Layernorm_attributes().set_forward_phase(fe::NormFwdPhase_t::TRAINING).set_epsilon(1e-5f));
  for (auto& result : {y, mean, inv_variance}) result->set_output(true);
  inv_variance->set_data_type(DataType_t::FLOAT);
  EXPECT_GOOD(graph.validate());
  EXPECT_EQ(stats->get_data_type(), DataType_t::HALF);
  EXPECT_EQ(mean->get_data_type(), DataType_t::HALF);
  EXPECT_EQ(inv_variance->get_data_type(), DataType_t::FLOAT);
}

TEST(Traps, T18_TheOrderOfScalarTypesIsPartOfFiles) {
  using Scalar = Tensor_attributes::pass_by_values_t;
  static_assert(std::is_same_v<std::variant_alternative_t<0, Scalar>, int64_t>);
  static_assert(std::is_same_v<std::variant_alternative_t<1, Scalar>, int32_t>);
  static_assert(std::is_same_v<std::variant_alternative_t<3, Scalar>, float>);
  static_assert(std::is_same_v<std::variant_alternative_t<4, Scalar>, double>);
  auto index = [](const Tensor_attributes& scalar) {
    json value = scalar;
    return value["pass_by_value"]["index"].get<int>();
  };
  EXPECT_EQ(index(int64_t{1}), 0);
  EXPECT_EQ(index(1), 1);
  EXPECT_EQ(index(__float2half(1.0f)), 2);
  EXPECT_EQ(index(1.0f), 3);
  EXPECT_EQ(index(1.0), 4);
  EXPECT_EQ(index(__float2bfloat16(1.0f)), 5);
  const json one = Tensor_attributes(1.0f);
  EXPECT_EQ(one["pass_by_value"]["value"], "3F800000");
}

}  // namespace
}  // namespace trap
