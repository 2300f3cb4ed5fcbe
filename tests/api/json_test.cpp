#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "harness/plan_runner.h"

namespace warploom::graph {
namespace {

using Code = error_code_t;
using Json = nlohmann::json;

Tensor_attributes tensor_of(std::vector<int64_t> dim) {
  std::vector<int64_t> stride(dim.size(), 1);
  for (size_t i = dim.size() - 1; i-- > 0;) stride[i] = stride[i + 1] * dim[i + 1];
  return Tensor_attributes().set_dim(dim).set_stride(stride);
}

/// Every operation, and every kind of value in a file.
Graph everything() {
  Graph graph;
  graph.set_name("everything")
      .set_io_data_type(DataType_t::HALF)
      .set_compute_data_type(DataType_t::FLOAT)
      .set_sm_count(7)
      .set_sm_version(90);
  const TensorPtr image = graph.tensor(tensor_of({2, 4, 8, 8}).set_name("image").set_uid(0));
  const TensorPtr weight =
      graph.tensor(tensor_of({6, 4, 3, 3}).set_name("weight").set_alignment(2).set_uid(-3));
  const TensorPtr conv = graph.conv_fprop(image, weight,
                                          Conv_fprop_attributes()
                                              .set_name("conv")
                                              .set_pre_padding({1, 0})
                                              .set_post_padding({0, 2})
                                              .set_stride({1, 2})
                                              .set_dilation({1, 1})
                                              .set_compute_data_type(DataType_t::DOUBLE));
  TensorPtr chain = graph.pointwise(conv, graph.tensor(0.1f),
                                    Pointwise_attributes()
                                        .set_mode(PointwiseMode_t::MUL)
                                        .set_relu_upper_clip(std::nextafter(6.f, 7.f))
                                        .set_swish_beta(std::numeric_limits<float>::infinity()));
  for (const pass_by_values_t value :
       {pass_by_values_t(int64_t{1} << 62), pass_by_values_t(int32_t{-5}),
        pass_by_values_t(half(0.3f)), pass_by_values_t(-0.0f), pass_by_values_t(0.1),
        pass_by_values_t(std::nan("")), pass_by_values_t(bfloat16(0.7f))})
    chain = graph.pointwise(chain, graph.tensor(value, ScalarType::RUNTIME_PARAM),
                            Pointwise_attributes().set_mode(PointwiseMode_t::ADD));
  chain = graph.pointwise(chain, graph.tensor(2.5, ScalarType::COMPILE_TIME_CONST),
                          Pointwise_attributes().set_mode(PointwiseMode_t::GEN_INDEX).set_axis(1));
  graph.reduction(chain, Reduction_attributes().set_mode(ReductionMode_t::AMAX))
      ->set_output(true)
      .set_dim({1, 1, 1, 1})
      .set_stride({1, 1, 1, 1});
  const TensorPtr a = graph.tensor(tensor_of({2, 4, 16, 8})),
                  b = graph.tensor(tensor_of({2, 4, 8, 16}));
  graph.matmul(a, b, Matmul_attributes().set_padding(-std::numeric_limits<double>::infinity()))
      ->set_reordering_type(TensorReordering_t::F16x16);
  const auto [o, stats] = graph.sdpa(a, a, a,
                                     SDPA_attributes()
                                         .set_name("sdpa")
                                         .set_generate_stats(true)
                                         .set_attn_scale(0.125f)
                                         .set_causal_mask_bottom_right(true)
                                         .set_diagonal_band_left_bound(9));
  o->set_output(true).set_dim({2, 4, 16, 8}).set_stride({512, 128, 8, 1});
  stats->set_output(true).set_data_type(DataType_t::FLOAT);
  const TensorPtr moved = graph.transpose(a, Transpose_attributes().set_permutation({0, 2, 1, 3}));
  const TensorPtr cut = graph.slice(
      moved,
      Slice_attributes().set_slices({{0, 1}, {2, 14}, {0, 4}, {1, 7}}).set_strides({1, 3, 1, 2}));
  graph
      .reshape(cut, Reshape_attributes().set_reshape_mode(ReshapeMode_t::LOGICAL).set_dim({4, 12}))
      ->set_output(true)
      .set_vector_count_and_dimension(4, 1);
  // Names that repeat, that are empty, and that look like uids.
  graph.tensor(tensor_of({1}).set_name("0"));
  graph.tensor(tensor_of({1}).set_name("twin"));
  graph.tensor(tensor_of({2}).set_name("twin"));
  graph.tensor(tensor_of({3}));
  return graph;
}

TEST(GraphJson, IsReadAsItWasWritten) {
  const Graph graph = everything();
  const std::string text = graph.to_json();
  EXPECT_EQ(text.find('\n'), std::string::npos);
  Graph copy;
  const error_t error = copy.from_json(text);
  ASSERT_TRUE(error.is_good()) << error;
  EXPECT_EQ(copy.to_json(), text);
  EXPECT_EQ(copy.print(), text);
  EXPECT_EQ(copy.key(), graph.key());
}

TEST(GraphJson, HasTheCompatibleNamesAndEncodings) {
  const Json json = Json::parse(everything().to_json());
  EXPECT_EQ(json["json_version"], "1.0");
  EXPECT_EQ(json["context"]["name"], "everything");
  EXPECT_EQ(json["context"]["io_data_type"], "HALF");
  EXPECT_EQ(json["context"]["intermediate_data_type"], Json()) << "NOT_SET is null";
  EXPECT_EQ(json["context"]["is_dynamic_shape_enabled"], false);
  const Json& conv = json["nodes"][0];
  EXPECT_EQ(conv["tag"], "CONV_FPROP");
  EXPECT_EQ(conv["inputs"], (Json{{"X", "0"}, {"W", "-3"}}));
  EXPECT_EQ(conv["pre_padding"], (Json{1, 0}));
  EXPECT_EQ(conv["math_mode"], "CROSS_CORRELATION");
  const Json& mul = json["nodes"][1];
  EXPECT_EQ(mul["mode"], "MUL");
  EXPECT_EQ(mul["swish_beta"], "7F800000");
  EXPECT_EQ(mul["relu_upper_clip"], "40C00001");
  EXPECT_EQ(mul["elu_alpha"], Json());
  const Json& image = json["tensors"]["0"];
  EXPECT_EQ(image["name"], "image");
  EXPECT_EQ(image["uid"], 0);
  EXPECT_EQ(image["uid_assigned"], true);
  EXPECT_EQ(image["pass_by_value"], Json());
  const Json& scalar = json["tensors"][mul["inputs"]["IN_1"].get<std::string>()];
  EXPECT_EQ(scalar["pass_by_value"], (Json{{"index", 3}, {"value", "3DCCCCCD"}}));
  EXPECT_EQ(scalar["is_pass_by_value"], true);
}

TEST(GraphJson, ReadsAFileOfTheCompatibleFormat) {
  Graph graph;
  const error_t error = graph.from_json(R"({
    "context": {"name": "", "compute_data_type": "FLOAT", "intermediate_data_type": "FLOAT",
                "io_data_type": "FLOAT", "sm_count": -1, "is_dynamic_shape_enabled": false,
                "is_override_shape_enabled": false},
    "cudnn_backend_version": "9.22.0", "cudnn_frontend_version": 12300, "json_version": "1.0",
    "nodes": [{"tag": "POINTWISE", "name": "relu", "compute_data_type": null, "mode": "RELU_FWD",
               "axis": null, "relu_lower_clip": 0.5, "relu_upper_clip": null,
               "relu_lower_clip_slope": "3F000000", "swish_beta": null, "elu_alpha": null,
               "softplus_beta": null, "inputs": {"IN_0": "1"}, "outputs": {"OUT_0": "2"}}],
    "tensors": {
      "1": {"name": "x", "data_type": "FLOAT", "dim": [3], "stride": [1], "is_virtual": false,
            "pass_by_value": null, "is_pass_by_value": false, "reordering_type": "NONE", "uid": 1,
            "uid_assigned": true},
      "2": {"name": "y", "data_type": null, "dim": [], "stride": [], "is_virtual": false,
            "pass_by_value": null, "is_pass_by_value": false, "reordering_type": "NONE", "uid": 2,
            "uid_assigned": true}}})");
  ASSERT_TRUE(error.is_good()) << error;
  const error_t built = graph.build(test::cpu(), {HeurMode_t::A});
  ASSERT_TRUE(built.is_good()) << built;
  std::vector<float> in{-1, 0.25, 2}, out(3);
  std::vector<char> workspace(static_cast<size_t>(graph.get_workspace_size()));
  std::unordered_map<int64_t, void*> pack{{1, in.data()}, {2, out.data()}};
  ASSERT_TRUE(graph.execute(test::cpu(), pack, workspace.data()).is_good());
  EXPECT_EQ(out, (std::vector<float>{0.5f + 0.5f * -1.5f, 0.5f + 0.5f * -0.25f, 2}));
}

/// A small valid file, to be damaged.
Json valid() {
  return Json::parse(R"({
    "context": {"name": "g", "compute_data_type": "FLOAT", "io_data_type": "FLOAT"},
    "json_version": "1.0",
    "nodes": [{"tag": "POINTWISE", "name": "n", "mode": "ADD",
               "inputs": {"IN_0": "x", "IN_1": "s"}, "outputs": {"OUT_0": "y"}}],
    "tensors": {"x": {"name": "x", "dim": [3], "stride": [1]},
                "s": {"name": "s", "pass_by_value": {"index": 3, "value": 1.5}},
                "y": {"name": "y"}}})");
}

struct Damage {
  const char* pointer;
  Json value;
  const char* path;  ///< in the message
};

TEST(GraphJson, NamesThePathOfWhatIsWrong) {
  ASSERT_TRUE(Graph().from_json(valid().dump()).is_good());
  const std::vector<Damage> damages{
      {"/json_version", "2.0", "/json_version"},
      {"/json_version", 1.0, "/json_version"},
      {"/surplus", 1, "/surplus"},
      {"/context", Json::array(), "/context"},
      {"/context/io_data_type", "FLOAT32", "/context/io_data_type"},
      {"/context/sm_count", 1e10, "/context/sm_count"},
      {"/context/sm_count", int64_t{1} << 40, "/context/sm_count"},
      {"/context/surplus", 1, "/context/surplus"},
      {"/nodes", Json::object(), "/nodes"},
      {"/nodes/0", 3, "/nodes/0"},
      {"/nodes/0/tag", "NO_SUCH_OPERATION", "/nodes/0/tag"},
      {"/nodes/0/tag", Json(), "/nodes/0/tag"},
      {"/nodes/0/mode", 7, "/nodes/0/mode"},
      {"/nodes/0/surplus", 1, "/nodes/0/surplus"},
      {"/nodes/0/axis", 1.5, "/nodes/0/axis"},
      {"/nodes/0/axis", UINT64_MAX, "/nodes/0/axis"},
      {"/nodes/0/relu_lower_clip", "3F0000", "/nodes/0/relu_lower_clip"},
      {"/nodes/0/relu_lower_clip", "3F0000GG", "/nodes/0/relu_lower_clip"},
      {"/nodes/0/relu_lower_clip", 1e300, "/nodes/0/relu_lower_clip"},
      {"/nodes/0/inputs/IN_0", "nobody", "/nodes/0/inputs/IN_0"},
      {"/nodes/0/inputs/IN_0", Json::array(), "/nodes/0/inputs/IN_0"},
      {"/nodes/0/inputs/IN_9", "x", "/nodes/0/inputs/IN_9"},
      {"/nodes/0/outputs", "y", "/nodes/0/outputs"},
      {"/tensors", 1, "/tensors"},
      {"/tensors/x", 1, "/tensors/x"},
      {"/tensors/x/dim", "3", "/tensors/x/dim"},
      {"/tensors/x/dim", Json{3.0}, "/tensors/x/dim"},
      {"/tensors/x/dim", Json{1e30}, "/tensors/x/dim"},
      {"/tensors/x/uid", "1", "/tensors/x/uid"},
      {"/tensors/x/is_virtual", 1, "/tensors/x/is_virtual"},
      {"/tensors/x/surplus", 1, "/tensors/x/surplus"},
      {"/tensors/x/ragged_offset_name", "x", "/tensors/x/ragged_offset"},
      {"/tensors/x/ragged_offset_name", "nobody", "/tensors/x/ragged_offset"},
      {"/tensors/s/pass_by_value", 1.5, "/tensors/s/pass_by_value"},
      {"/tensors/s/pass_by_value/index", 6, "/tensors/s/pass_by_value"},
      {"/tensors/s/pass_by_value/index", -1, "/tensors/s/pass_by_value"},
      {"/tensors/s/pass_by_value/value", "x", "/tensors/s/pass_by_value"},
      {"/tensors/s/pass_by_value/more", 1, "/tensors/s/pass_by_value"},
  };
  for (const Damage& damage : damages) {
    Json json = valid();
    json[Json::json_pointer(damage.pointer)] = damage.value;
    Graph graph;
    const error_t error = graph.from_json(json.dump());
    EXPECT_EQ(error.code, Code::UNSUPPORTED_GRAPH_FORMAT) << damage.pointer << damage.value;
    EXPECT_NE(error.err_msg.find(damage.path), std::string::npos) << error;
  }
  Json without_nodes = valid();
  without_nodes.erase("nodes");
  EXPECT_EQ(Graph().from_json(without_nodes.dump()).code, Code::UNSUPPORTED_GRAPH_FORMAT);
}

TEST(GraphJson, RefusesTextThatIsNone) {
  const std::string text = valid().dump();
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_EQ(Graph().from_json(text.substr(0, length)).code, Code::UNSUPPORTED_GRAPH_FORMAT);
  for (const std::string& bad :
       {std::string("\xff\xfe"), std::string("null"), std::string("[]"), std::string("{}x"),
        std::string("{\"nodes\": [NaN]}"), std::string("{\"nodes\": [1e999]}"),
        std::string("{\"nodes\": [], \"nodes\": []}"), std::string(1 << 20, '['),
        std::string("{\"nodes\":") + std::string(1 << 20, '['), std::string("\0", 1)})
    EXPECT_EQ(Graph().from_json(bad).code, Code::UNSUPPORTED_GRAPH_FORMAT) << bad.substr(0, 40);
}

TEST(GraphJson, AFailedReadLeavesTheGraph) {
  Graph graph = everything();
  const std::string before = graph.to_json();
  EXPECT_TRUE(graph.from_json("{").is_bad());
  EXPECT_EQ(graph.to_json(), before);
}

TEST(GraphJson, AnyBytesMayBeInNames) {
  Graph graph;
  graph.set_name("\xff\"\\\n");
  graph.tensor(tensor_of({1}).set_name("\xc3("));
  Graph copy;
  EXPECT_TRUE(copy.from_json(graph.to_json()).is_good());
}

TEST(GraphJson, WithInsaneExtentsIsReadAndThenRefused) {
  for (const int64_t extent : {INT64_MAX, INT64_MIN, int64_t{-1}, int64_t{1} << 40}) {
    Json json = valid();
    json["tensors"]["x"]["dim"] = {extent, extent, extent};
    json["tensors"]["x"]["stride"] = {extent, extent, 1};
    Graph graph;
    ASSERT_TRUE(graph.from_json(json.dump()).is_good());
    EXPECT_TRUE(graph.build(test::cpu(), {HeurMode_t::A}).is_bad()) << extent;
  }
  Json json = valid();
  json["tensors"]["x"]["dim"] = std::vector<int64_t>(1000, 1);
  json["tensors"]["x"]["stride"] = std::vector<int64_t>(1000, 1);
  Graph graph;
  ASSERT_TRUE(graph.from_json(json.dump()).is_good());
  EXPECT_TRUE(graph.validate().is_bad());
}

}  // namespace
}  // namespace warploom::graph
