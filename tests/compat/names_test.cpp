// Every name, overload and default that the cuDNN Frontend has: what is missing does not compile.
#include <sstream>
#include <type_traits>

#include "trap.h"

namespace trap {
namespace {

using fe::graph::TensorPtr;
using Uids = std::unordered_map<int64_t, void*>;
using Overrides = std::vector<Dims>;

/// Is there a method of this name that takes these arguments and gives this?
#define EXPECT_METHOD(result, call) \
  static_assert(std::is_same_v<decltype(std::declval<Graph&>().call), result>, #call)
#define EXPECT_CONST_METHOD(result, call) \
  static_assert(std::is_same_v<decltype(std::declval<const Graph&>().call), result>, #call)
template <class T>
T& a() {
  return *static_cast<std::remove_reference_t<T>*>(nullptr);
}

TEST(Names, MethodsOfGraph) {
  using fe::error_t;
  using Modes = std::vector<fe::HeurMode_t>;
  using Knobs = std::unordered_map<fe::KnobType_t, int64_t>;
  using fe::BuildPlanPolicy_t;
  EXPECT_METHOD(Graph&, set_name(""));
  EXPECT_METHOD(Graph&, set_io_data_type(fe::DataType_t::HALF));
  EXPECT_METHOD(Graph&, set_sm_count(8).set_sm_version(90));
  EXPECT_METHOD(Graph&, set_dynamic_shape_enabled(true).set_override_shape_enabled(true));
  EXPECT_METHOD(Graph&, set_kernel_cache(std::make_shared<fe::KernelCache>()));
  EXPECT_METHOD(Graph&, set_device_properties(std::make_shared<const fe::DeviceProperties>()));
  EXPECT_METHOD(Graph&, select_behavior_notes(std::vector<fe::BehaviorNote_t>()));
  EXPECT_METHOD(error_t, validate());
  EXPECT_METHOD(error_t, build_operation_graph(cudnnHandle_t()));
  EXPECT_METHOD(error_t, build_operation_graph());
  EXPECT_METHOD(error_t, create_execution_plans(Modes()));
  EXPECT_METHOD(error_t, create_execution_plan(int64_t(), Knobs()));
  EXPECT_METHOD(error_t, get_engine_count(a<int64_t>()));
  EXPECT_METHOD(error_t, get_knobs_for_engine(int64_t(), a<std::vector<fe::Knob>>()));
  EXPECT_CONST_METHOD(int64_t, get_execution_plan_count());
  EXPECT_METHOD(error_t, check_support());
  EXPECT_METHOD(error_t, check_support(cudnnHandle_t()));
  EXPECT_METHOD(error_t, build_plans());
  EXPECT_METHOD(error_t, build_plans(BuildPlanPolicy_t::ALL, false));
  EXPECT_METHOD(error_t, build_plans(cudnnHandle_t(), BuildPlanPolicy_t::ALL, false));
  EXPECT_METHOD(error_t, build_plan_at_index(int64_t()));
  EXPECT_METHOD(error_t, build_plan_at_index(cudnnHandle_t(), int64_t()));
  EXPECT_METHOD(error_t, build(cudnnHandle_t(), Modes(), BuildPlanPolicy_t::ALL, false));
  EXPECT_METHOD(error_t, build(cudnnHandle_t(), {fe::HeurMode_t::A}));
  EXPECT_METHOD(error_t, build(Modes(), BuildPlanPolicy_t::ALL, false));
  EXPECT_METHOD(error_t, build({fe::HeurMode_t::A, fe::HeurMode_t::B}));
  EXPECT_CONST_METHOD(int64_t, get_workspace_size());
  EXPECT_CONST_METHOD(error_t, get_workspace_size(a<int64_t>()));
  EXPECT_CONST_METHOD(int64_t, get_workspace_size_plan_at_index(0));
  EXPECT_CONST_METHOD(error_t, get_workspace_size_plan_at_index(0, a<int64_t>()));
  EXPECT_CONST_METHOD(int64_t, get_autotune_workspace_size());
  EXPECT_METHOD(error_t, autotune(cudnnHandle_t(), a<Uids>(), nullptr));
  EXPECT_METHOD(error_t, autotune(cudnnHandle_t(), a<Uids>(), nullptr, nullptr));
  EXPECT_METHOD(error_t, autotune(cudnnHandle_t(), a<Pack>(), nullptr));
  EXPECT_CONST_METHOD(error_t, execute(cudnnHandle_t(), a<Pack>(), nullptr));
  EXPECT_CONST_METHOD(error_t, execute(cudnnHandle_t(), a<Uids>(), nullptr));
  EXPECT_CONST_METHOD(
      error_t, execute(cudnnHandle_t(), a<Uids>(), nullptr, Dims(), Overrides(), Overrides()));
  EXPECT_CONST_METHOD(error_t, execute(cudnnHandle_t(), &a<void*>(), 3, nullptr));
  EXPECT_CONST_METHOD(error_t, execute_plan_at_index(cudnnHandle_t(), a<Pack>(), nullptr, 0));
  EXPECT_CONST_METHOD(error_t, execute_plan_at_index(cudnnHandle_t(), a<Uids>(), nullptr, 0));
  EXPECT_CONST_METHOD(error_t, execute_plan_at_index(cudnnHandle_t(), a<Uids>(), nullptr, 0, Dims(),
                                                     Overrides(), Overrides()));
  EXPECT_CONST_METHOD(Dims, get_variant_pack_uids_sorted());
  EXPECT_METHOD(error_t, prepare_variant_pack_template());
  EXPECT_CONST_METHOD(error_t, get_plan_name(a<std::string>()));
  EXPECT_CONST_METHOD(error_t, get_plan_name_at_index(0, a<std::string>()));
  EXPECT_CONST_METHOD(error_t, get_behavior_notes(a<std::vector<fe::BehaviorNote_t>>()));
  EXPECT_CONST_METHOD(error_t, serialize(a<std::vector<uint8_t>>()));
  EXPECT_CONST_METHOD(void, serialize(a<json>()));
  EXPECT_METHOD(error_t, deserialize(json()));
  EXPECT_METHOD(error_t, deserialize(cudnnHandle_t(), std::vector<uint8_t>()));
  EXPECT_METHOD(error_t, warmup(cudnnHandle_t()));
  EXPECT_METHOD(error_t, populate_cuda_graph(cudnnHandle_t(), a<Uids>(), nullptr, nullptr));
  EXPECT_METHOD(error_t, populate_cuda_graph(cudnnHandle_t(), a<Pack>(), nullptr, nullptr));
  EXPECT_METHOD(error_t, update_cuda_graph(cudnnHandle_t(), a<Uids>(), nullptr, nullptr));
  EXPECT_METHOD(error_t, update_cuda_graph(cudnnHandle_t(), a<Pack>(), nullptr, nullptr));
  EXPECT_METHOD(size_t, key());
  EXPECT_CONST_METHOD(std::string, print());
  EXPECT_CONST_METHOD(error_t, query_tensor_attributes_of_uid(0, a<Tensor_attributes>()));
}

template <size_t count>
using Tensors = std::array<Tensor, count>;

TEST(Names, OperationsOfGraph) {
  using namespace fe::graph;
  const Tensor t;
  EXPECT_METHOD(Tensor, tensor(Tensor_attributes()));
  EXPECT_METHOD(Tensor, tensor(1.0f, ScalarType::COMPILE_TIME_CONST));
  EXPECT_METHOD(Tensor, tensor_like(t, ""));
  EXPECT_METHOD(Tensor, conv_fprop(t, t, Conv_fprop_attributes()));
  EXPECT_METHOD(Tensor, conv_dgrad(t, t, Conv_dgrad_attributes()));
  EXPECT_METHOD(Tensor, conv_wgrad(t, t, Conv_wgrad_attributes()));
  EXPECT_METHOD(Tensor, matmul(t, t, Matmul_attributes()));
  EXPECT_METHOD(Tensor, pointwise(t, Pointwise_attributes()));
  EXPECT_METHOD(Tensor, pointwise(t, t, Pointwise_attributes()));
  EXPECT_METHOD(Tensor, pointwise(t, t, t, Pointwise_attributes()));
  EXPECT_METHOD(Tensor, reduction(t, Reduction_attributes()));
  EXPECT_METHOD(Tensor, reshape(t, Reshape_attributes()));
  EXPECT_METHOD(Tensor, transpose(t, Transpose_attributes()));
  EXPECT_METHOD(Tensor, slice(t, Slice_attributes()));
  EXPECT_METHOD(Tensor, concatenate({t, t}, Concatenate_attributes()));
  EXPECT_METHOD(Tensors<2>, resample(t, Resample_attributes()));
  EXPECT_METHOD(Tensor, rng(t, t, Rng_attributes()));
  EXPECT_METHOD(Tensors<2>, block_scale_quantize(t, Block_scale_quantize_attributes()));
  EXPECT_METHOD(Tensor, block_scale_dequantize(t, t, Block_scale_dequantize_attributes()));
  EXPECT_METHOD(Tensors<2>, genstats(t, Genstats_attributes()));
  EXPECT_METHOD(Tensors<6>, bn_finalize(t, t, t, t, t, t, BN_finalize_attributes()));
  EXPECT_METHOD(Tensors<5>, batchnorm(t, t, t, Batchnorm_attributes()));
  EXPECT_METHOD(Tensor, batchnorm_inference(t, t, t, t, t, Batchnorm_inference_attributes()));
  EXPECT_METHOD(Tensors<3>, batchnorm_backward(t, t, t, Batchnorm_backward_attributes()));
  EXPECT_METHOD(Tensors<5>, dbn_weight(t, t, t, t, t, DBN_weight_attributes()));
  EXPECT_METHOD(Tensors<3>, layernorm(t, t, t, Layernorm_attributes()));
  EXPECT_METHOD(Tensors<3>, layernorm_backward(t, t, t, Layernorm_backward_attributes()));
  EXPECT_METHOD(Tensors<3>, adalayernorm(t, t, t, AdaLayernorm_attributes()));
  EXPECT_METHOD(Tensors<3>, adalayernorm_backward(t, t, t, AdaLayernorm_backward_attributes()));
  EXPECT_METHOD(Tensors<2>, rmsnorm(t, t, Rmsnorm_attributes()));
  EXPECT_METHOD(Tensors<3>, rmsnorm_backward(t, t, t, t, Rmsnorm_backward_attributes()));
  EXPECT_METHOD(Tensors<3>, instancenorm(t, t, t, Instancenorm_attributes()));
  EXPECT_METHOD(Tensors<3>, instancenorm_backward(t, t, t, Instancenorm_backward_attributes()));
  EXPECT_METHOD(Tensors<2>, sdpa(t, t, t, SDPA_attributes()));
  EXPECT_METHOD(Tensors<2>, scaled_dot_product_flash_attention(
                                t, t, t, Scaled_dot_product_flash_attention_attributes()));
  EXPECT_METHOD(Tensors<3>, sdpa_backward(t, t, t, t, t, t, SDPA_backward_attributes()));
  EXPECT_METHOD(Tensors<4>, sdpa_fp8(t, t, t, t, t, t, t, t, t, SDPA_fp8_attributes()));
  EXPECT_METHOD(Tensors<3>, sdpa_fp8(t, t, t, t, t, t, SDPA_fp8_attributes()));
  EXPECT_METHOD(Tensors<7>, sdpa_fp8_backward(t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t,
                                              SDPA_fp8_backward_attributes()));
  EXPECT_METHOD(Tensors<6>, sdpa_fp8_backward(t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t,
                                              SDPA_fp8_backward_attributes()));
  EXPECT_METHOD(Tensor, rng(t, t, Rng_attributes()));
  EXPECT_METHOD(Tensors<2>, resample(t, Resample_attributes()));
  EXPECT_METHOD(Tensor, concatenate(std::vector<Tensor>{t, t}, Concatenate_attributes()));
  EXPECT_METHOD(Tensors<2>, block_scale_quantize(t, Block_scale_quantize_attributes()));
  EXPECT_METHOD(Tensor, block_scale_dequantize(t, t, Block_scale_dequantize_attributes()));
  EXPECT_METHOD(Tensor, moe_grouped_matmul(t, t, t, t, t, Moe_grouped_matmul_attributes()));
  EXPECT_METHOD(Tensor, moe_grouped_matmul_bwd(t, t, t, Moe_grouped_matmul_bwd_attributes()));
  EXPECT_METHOD(Tensor, diagonal_band_mask(t, t, t, t, t, t, DiagonalBandMask_attributes()));
}

TEST(Names, DefaultsOfTensors) {
  const Tensor_attributes tensor;
  EXPECT_EQ(tensor.get_name(), "");
  EXPECT_EQ(tensor.get_data_type(), fe::DataType_t::NOT_SET);
  EXPECT_TRUE(tensor.get_dim().empty() && tensor.get_stride().empty());
  EXPECT_FALSE(tensor.get_is_virtual() || tensor.get_is_pass_by_value() || tensor.has_uid());
  EXPECT_FALSE(tensor.get_pass_by_value() || tensor.get_compile_time_constant());
  EXPECT_EQ(tensor.get_reordering_type(), fe::TensorReordering_t::NONE);
  EXPECT_EQ(tensor.get_uid(), 0);
  EXPECT_EQ(tensor.get_ragged_offset(), nullptr);
  EXPECT_EQ(tensor.get_alignment(), 16);
  EXPECT_EQ(tensor.get_vector_count(), 1);
  EXPECT_EQ(tensor.get_vector_dimension(), -1);
  EXPECT_TRUE(Tensor_attributes().set_output(false).get_is_virtual());
  EXPECT_EQ(Tensor_attributes().set_uid(4).clear_uid().has_uid(), false);
  EXPECT_EQ(like({2, 3, 4}).get_volume(), 24);
}

TEST(Names, StrideOrders) {
  using namespace fe::detail;
  EXPECT_EQ(generate_stride({2, 3, 4, 5}, generate_NHWC_stride_order(4)), (Dims{60, 1, 15, 3}));
  EXPECT_EQ(generate_stride({2, 3, 4}, generate_NHWC_stride_order(3)), (Dims{12, 1, 3}));
  EXPECT_EQ(generate_stride({2, 3, 4}, generate_row_major_stride_order(3)), (Dims{12, 4, 1}));
  EXPECT_EQ(generate_stride({2, 3, 4}, generate_column_major_stride_order(3)), (Dims{12, 1, 3}));
}

TEST(Names, DeviceProperties) {
  fe::DeviceProperties properties;
  std::vector<uint8_t> data;
  EXPECT_CODE(properties.status(), ATTRIBUTE_NOT_SET);
  EXPECT_CODE(properties.serialize(data), ATTRIBUTE_NOT_SET);
  EXPECT_TRUE(fe::DeviceProperties().set_device_id(99).build().is_bad());
  const OwnHandle handle;
  EXPECT_GOOD(properties.set_device_id(0).set_handle(handle).build());
  EXPECT_GOOD(properties.status());
  EXPECT_GOOD(properties.serialize(data));
  EXPECT_CODE(properties.deserialize(data), INVALID_VALUE);
  fe::DeviceProperties read;
  EXPECT_GOOD(read.deserialize(data));
  EXPECT_EQ(read.device()->architecture, handle.handle->device().architecture);
  // Cut anywhere, or longer, it is refused.
  for (size_t size = 0; size < data.size(); ++size)
    EXPECT_CODE(fe::DeviceProperties().deserialize({data.begin(), data.begin() + size}),
                UNSUPPORTED_GRAPH_FORMAT);
  data.push_back(0);
  EXPECT_CODE(fe::DeviceProperties().deserialize(data), UNSUPPORTED_GRAPH_FORMAT);
  // Properties of no device are refused where they are used.
  Graph graph = float_graph();
  graph.pointwise(graph.tensor(like({2})), pointwise(fe::PointwiseMode_t::ABS))->set_output(true);
  graph.set_device_properties(std::make_shared<fe::DeviceProperties>());
  EXPECT_CODE(graph.build_operation_graph(), ATTRIBUTE_NOT_SET);
  EXPECT_GOOD(graph.build_operation_graph(handle));
}

// The last member of each enumeration, by its place, and codes in order.
TEST(Names, Enumerations) {
  auto place = [](auto member) { return static_cast<int>(member); };
  EXPECT_EQ(place(fe::DataType_t::COMPLEX_FP64), 20);
  EXPECT_EQ(place(fe::TensorReordering_t::F8_128x4), 3);
  EXPECT_EQ(place(fe::PointwiseMode_t::RECIPROCAL), 50);
  EXPECT_EQ(place(fe::ReductionMode_t::MUL_NO_ZEROS), 9);
  EXPECT_EQ(place(fe::ConvolutionMode_t::CROSS_CORRELATION), 2);
  EXPECT_EQ(place(fe::NormFwdPhase_t::TRAINING), 2);
  EXPECT_EQ(place(fe::NormMode_t::ADA_LAYER_NORM), 6);
  EXPECT_EQ(place(fe::ReshapeMode_t::LOGICAL), 2);
  EXPECT_EQ(place(fe::ResampleMode_t::MAXPOOL), 5);
  EXPECT_EQ(place(fe::PaddingMode_t::ZERO_PAD), 3);
  EXPECT_EQ(place(fe::RngDistribution_t::NORMAL), 3);
  EXPECT_EQ(place(fe::MoeGroupedMatmulMode_t::SCATTER), 3);
  EXPECT_EQ(place(fe::DiagonalAlignment_t::BOTTOM_RIGHT), 1);
  EXPECT_EQ(place(fe::AttentionImplementation_t::UNIFIED), 2);
  EXPECT_EQ(place(fe::HeurMode_t::OPENSOURCE), 3);
  EXPECT_EQ(place(fe::BuildPlanPolicy_t::ALL), 1);
  EXPECT_EQ(place(fe::BehaviorNote_t::CUBLASLT_DEPENDENCY), 5);
  EXPECT_EQ(place(fe::NumericalNote_t::STRICT_NAN_PROP), 10);
  EXPECT_EQ(place(fe::KnobType_t::WARP_SPEC_CFG), 28);
  EXPECT_EQ(place(error_code_t::NVRTC_COMPILATION_FAILED), 15);
  EXPECT_EQ(place(error_code_t::GRAPH_NOT_SUPPORTED), 5);
  const fe::Knob knob(fe::KnobType_t::TILE_M, 64, 8, 8);
  EXPECT_EQ(knob.maxValue, 64);
  EXPECT_EQ(knob.minValue, 8);
}

TEST(Names, Json) {
  EXPECT_EQ(json(fe::DataType_t::BFLOAT16), "BFLOAT16");
  EXPECT_TRUE(json(fe::DataType_t::NOT_SET).is_null());
  EXPECT_EQ(json("RELU_FWD").get<fe::PointwiseMode_t>(), fe::PointwiseMode_t::RELU_FWD);
  EXPECT_EQ(json().get<fe::DataType_t>(), fe::DataType_t::NOT_SET);
  EXPECT_EQ(json(error_code_t::INVALID_VALUE), "INVALID_VALUE");
  const json tensor = like({2, 3}, "x").set_uid(4);
  EXPECT_EQ(tensor["name"], "x");
  EXPECT_EQ(tensor["stride"], json({3, 1}));
  EXPECT_EQ(tensor["uid"], 4);
  const json attributes = fe::graph::Conv_fprop_attributes().set_name("c").set_padding({1, 2});
  EXPECT_EQ(attributes["tag"], "CONV_FPROP");
  EXPECT_EQ(attributes["pre_padding"], json({1, 2}));
  EXPECT_EQ(attributes["math_mode"], "CROSS_CORRELATION");
  const json clip = pointwise(fe::PointwiseMode_t::RELU_FWD).set_relu_lower_clip(1.5f);
  EXPECT_EQ(clip["relu_lower_clip"], "3FC00000");

  Graph graph = float_graph();
  graph.pointwise(graph.tensor(like({2})), pointwise(fe::PointwiseMode_t::ABS));
  std::ostringstream text;
  text << graph;
  EXPECT_EQ(json::parse(text.str()), json(graph));
  EXPECT_EQ(graph.print(), text.str());
  std::ostringstream words;
  words << fe::HeurMode_t::FALLBACK << " " << error_code_t::OK << " " << like({1}, "named");
  EXPECT_EQ(words.str().substr(0, 12), "FALLBACK OK ");
  EXPECT_NE(words.str().find("\"named\""), std::string::npos);
}

TEST(Names, ErrorsAndLogging) {
  const fe::error_t good;
  EXPECT_TRUE(good.is_good() && good == error_code_t::OK);
  const fe::error_object bad(error_code_t::INVALID_VALUE, "why");
  EXPECT_TRUE(bad.is_bad() && bad != error_code_t::OK);
  EXPECT_EQ(bad.get_code(), error_code_t::INVALID_VALUE);
  EXPECT_EQ(bad.get_message(), "why");
  bool& is_logging = fe::isLoggingEnabled();
  const bool before = is_logging;
  is_logging = true;
  EXPECT_TRUE(fe::isLoggingEnabled());
  CUDNN_FE_LOG("a line " << 1);
  is_logging = before;
  EXPECT_THROW(throw fe::cudnnException("text", CUDNN_STATUS_BAD_PARAM), std::runtime_error);
}

// Declared: the program compiles, and validate() names what is not run.
TEST(Names, OperationsThatAreOnlyDeclared) {
  Graph moe = float_graph();
  auto token = moe.tensor(like({1, 6, 8})), weight = moe.tensor(like({2, 8, 4}));
  auto offset = moe.tensor(like({2, 1, 1}).set_data_type(fe::DataType_t::INT32));
  moe.moe_grouped_matmul(token, weight, offset, nullptr, nullptr,
                         fe::graph::Moe_grouped_matmul_attributes()
                             .set_mode(fe::MoeGroupedMatmulMode_t::NONE)
                             .set_top_k(1))
      ->set_output(true);
  auto error = moe.validate();
  EXPECT_EQ(error.code, error_code_t::GRAPH_NOT_SUPPORTED);
  EXPECT_TRUE(says(error, "MOE_GROUPED_MATMUL")) << error;

  Graph gradient = float_graph();
  gradient
      .moe_grouped_matmul_bwd(gradient.tensor(like({1, 6, 4})), gradient.tensor(like({1, 6, 8})),
                              gradient.tensor(like({2, 1, 1})),
                              fe::graph::Moe_grouped_matmul_bwd_attributes())
      ->set_output(true);
  error = gradient.validate();
  EXPECT_EQ(error.code, error_code_t::GRAPH_NOT_SUPPORTED);
  EXPECT_TRUE(says(error, "MOE_GROUPED_MATMUL_BWD")) << error;

  Graph band = float_graph();
  band.diagonal_band_mask(
          band.tensor(like({1, 2, 4, 4})), band.tensor(-1e30f), nullptr, nullptr, nullptr, nullptr,
          fe::graph::DiagonalBandMask_attributes().set_comparison_mode(fe::PointwiseMode_t::CMP_GE))
      ->set_output(true);
  error = band.validate();
  EXPECT_EQ(error.code, error_code_t::GRAPH_NOT_SUPPORTED);
  EXPECT_TRUE(says(error, "DIAGONAL_BAND_MASK")) << error;
}

}  // namespace
}  // namespace trap
