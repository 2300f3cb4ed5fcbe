#include <gtest/gtest.h>

#include "harness/plan_runner.h"

namespace warploom::graph {
namespace {

using test::cpu;
using Code = error_code_t;

Graph float_graph() {
  Graph graph;
  graph.set_io_data_type(DataType_t::FLOAT)
      .set_intermediate_data_type(DataType_t::FLOAT)
      .set_compute_data_type(DataType_t::FLOAT);
  return graph;
}

Tensor_attributes vector_of(const char* name, int64_t n = 4) {
  return Tensor_attributes().set_name(name).set_dim({n}).set_stride({1});
}

Pointwise_attributes mode(PointwiseMode_t value, const char* name) {
  return Pointwise_attributes().set_mode(value).set_name(name);
}

/// Every message has all of `parts`.
void expect_refused(Graph& graph, Code code, std::initializer_list<const char*> parts) {
  for (const error_t& error : {graph.validate(), graph.build(cpu(), {HeurMode_t::A})}) {
    EXPECT_EQ(error.code, code) << error;
    for (const char* part : parts)
      EXPECT_NE(error.err_msg.find(part), std::string::npos) << error << "\nlacks: " << part;
  }
  EXPECT_EQ(graph.get_execution_plan_count(), 0);
}

TEST(InvalidGraph, DuplicateUidsNameUidAndTensors) {
  Graph graph = float_graph();
  const TensorPtr a = graph.tensor(vector_of("first").set_uid(5));
  graph.pointwise(a, mode(PointwiseMode_t::NEG, "neg"))
      ->set_output(true)
      .set_uid(5)
      .set_name("second");
  expect_refused(graph, Code::INVALID_VALUE, {"5", "\"first\"", "\"second\""});
}

TEST(InvalidGraph, UnusedInputsAreCheckedToo) {
  Graph graph = float_graph();
  graph.tensor(Tensor_attributes().set_name("lonely").set_dim({4}));
  expect_refused(graph, Code::ATTRIBUTE_NOT_SET, {"lonely"});
}

TEST(InvalidGraph, TensorsOfAnotherGraphAreRefused) {
  Graph other = float_graph(), graph = float_graph();
  const TensorPtr foreign = other.tensor(vector_of("foreign"));
  graph.pointwise(foreign, mode(PointwiseMode_t::NEG, "neg"))->set_output(true);
  expect_refused(graph, Code::INVALID_VALUE, {"\"neg\"", "IN_0", "\"foreign\""});

  Graph third = float_graph();
  const TensorPtr result = other.pointwise(foreign, mode(PointwiseMode_t::NEG, "theirs"));
  third.pointwise(result, mode(PointwiseMode_t::ABS, "ours"))->set_output(true);
  expect_refused(third, Code::INVALID_VALUE, {"\"ours\"", "\"theirs::OUT_0\""});
}

TEST(InvalidGraph, VirtualInputsHaveNoValue) {
  Graph graph = float_graph();
  const TensorPtr x = graph.tensor(vector_of("ghost").set_is_virtual(true));
  graph.pointwise(x, mode(PointwiseMode_t::NEG, "neg"))->set_output(true);
  expect_refused(graph, Code::INVALID_VALUE, {"\"ghost\"", "virtual"});
}

TEST(InvalidGraph, ResultsAreNoScalarsOfTheHost) {
  Graph graph = float_graph();
  const TensorPtr x = graph.tensor(vector_of("X"));
  graph.pointwise(x, mode(PointwiseMode_t::NEG, "neg"))
      ->set_output(true)
      .set_is_pass_by_value(true);
  EXPECT_TRUE(graph.validate().is_bad());
}

TEST(InvalidGraph, MissingInputsAreNamedNotFollowed) {
  Graph graph = float_graph();
  const TensorPtr x = graph.tensor(vector_of("X"));
  graph.pointwise(x, nullptr, mode(PointwiseMode_t::ADD, "add"))->set_output(true);
  expect_refused(graph, Code::ATTRIBUTE_NOT_SET, {"add", "IN_1"});
  Graph null = float_graph();
  null.matmul(nullptr, nullptr, Matmul_attributes().set_name("mm"));
  expect_refused(null, Code::ATTRIBUTE_NOT_SET, {"mm", "A"});
}

TEST(InvalidGraph, CyclesAreShown) {
  Graph graph;
  const error_t read = graph.from_json(R"({
    "context": {"io_data_type": "FLOAT", "intermediate_data_type": "FLOAT",
                "compute_data_type": "FLOAT"},
    "nodes": [
      {"tag": "POINTWISE", "name": "first", "mode": "ADD", "inputs": {"IN_0": "x", "IN_1": "b"},
       "outputs": {"OUT_0": "a"}},
      {"tag": "POINTWISE", "name": "second", "mode": "NEG", "inputs": {"IN_0": "a"},
       "outputs": {"OUT_0": "b"}},
      {"tag": "POINTWISE", "name": "after", "mode": "NEG", "inputs": {"IN_0": "b"},
       "outputs": {"OUT_0": "y"}}],
    "tensors": {"x": {"name": "x", "dim": [4], "stride": [1]},
                "a": {"name": "a", "is_virtual": true}, "b": {"name": "b", "is_virtual": true},
                "y": {"name": "y"}}})");
  ASSERT_TRUE(read.is_good()) << read;
  expect_refused(graph, Code::INVALID_VALUE, {"cycle", "\"first\"", "\"second\""});
  EXPECT_EQ(graph.validate().err_msg.find("\"after\""), std::string::npos)
      << "a node behind the cycle is not in it";
}

TEST(InvalidGraph, ATensorHasOneProducer) {
  Graph graph;
  ASSERT_TRUE(graph
                  .from_json(R"({
    "context": {"compute_data_type": "FLOAT", "io_data_type": "FLOAT"},
    "nodes": [
      {"tag": "POINTWISE", "name": "first", "mode": "NEG", "inputs": {"IN_0": "x"},
       "outputs": {"OUT_0": "y"}},
      {"tag": "POINTWISE", "name": "second", "mode": "ABS", "inputs": {"IN_0": "x"},
       "outputs": {"OUT_0": "y"}}],
    "tensors": {"x": {"name": "x", "dim": [4], "stride": [1]}, "y": {"name": "y"}}})")
                  .is_good());
  expect_refused(graph, Code::INVALID_VALUE, {"\"y\"", "\"first\"", "\"second\""});
}

TEST(InvalidGraph, NodesOutOfOrderAreSorted) {
  Graph graph;
  ASSERT_TRUE(graph
                  .from_json(R"({
    "context": {"compute_data_type": "FLOAT", "io_data_type": "FLOAT",
                "intermediate_data_type": "FLOAT"},
    "nodes": [
      {"tag": "POINTWISE", "name": "second", "mode": "NEG", "inputs": {"IN_0": "h"},
       "outputs": {"OUT_0": "2"}},
      {"tag": "POINTWISE", "name": "first", "mode": "ABS", "inputs": {"IN_0": "1"},
       "outputs": {"OUT_0": "h"}}],
    "tensors": {"1": {"name": "x", "dim": [2], "stride": [1], "uid": 1, "uid_assigned": true},
                "h": {"name": "h", "is_virtual": true},
                "2": {"name": "y", "uid": 2, "uid_assigned": true}}})")
                  .is_good());
  const error_t built = graph.build(cpu(), {HeurMode_t::A});
  ASSERT_TRUE(built.is_good()) << built;
  std::vector<float> in{-3, 4}, out(2);
  std::vector<char> workspace(static_cast<size_t>(graph.get_workspace_size()));
  std::unordered_map<int64_t, void*> pack{{1, in.data()}, {2, out.data()}};
  ASSERT_TRUE(graph.execute(cpu(), pack, workspace.data()).is_good());
  EXPECT_EQ(out, (std::vector<float>{-3, -4}));
}

// B142
TEST(InvalidGraph, MessagesHaveTensorFoundAndAccepted) {
  const auto image = [](const char* name, std::vector<int64_t> dim) {
    std::vector<int64_t> stride(dim.size(), 1);
    for (size_t i = dim.size() - 1; i-- > 0;) stride[i] = stride[i + 1] * dim[i + 1];
    return Tensor_attributes().set_name(name).set_dim(dim).set_stride(stride);
  };
  Graph channels = float_graph();
  channels
      .conv_fprop(channels.tensor(image("image", {1, 7, 8, 8})),
                  channels.tensor(image("weight", {4, 2, 3, 3})),
                  Conv_fprop_attributes()
                      .set_name("conv")
                      .set_padding({1, 1})
                      .set_stride({1, 1})
                      .set_dilation({1, 1}))
      ->set_output(true);
  EXPECT_TRUE(channels.validate().is_bad());
  for (const char* part : {"conv", "image", "7", "2"})
    EXPECT_NE(channels.validate().err_msg.find(part), std::string::npos) << channels.validate();

  Graph untyped;
  untyped.set_compute_data_type(DataType_t::FLOAT);
  untyped.pointwise(untyped.tensor(vector_of("typeless")), mode(PointwiseMode_t::NEG, "neg"))
      ->set_output(true);
  expect_refused(untyped, Code::ATTRIBUTE_NOT_SET, {"typeless"});

  Graph contradicted = float_graph();
  contradicted.pointwise(contradicted.tensor(vector_of("X", 4)), mode(PointwiseMode_t::NEG, "neg"))
      ->set_name("Y")
      .set_output(true)
      .set_dim({5})
      .set_stride({1});
  EXPECT_TRUE(contradicted.validate().is_bad());
  for (const char* part : {"neg", "Y", "5", "4"})
    EXPECT_NE(contradicted.validate().err_msg.find(part), std::string::npos)
        << contradicted.validate();
}

}  // namespace
}  // namespace warploom::graph
