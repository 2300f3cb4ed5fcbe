// What explain() must tell, line by line where the line is a promise.
#include <gtest/gtest.h>

#include <warploom/graph.h>
#include "api/text_layout.h"

namespace warploom {

namespace {

using namespace graph;

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << '"' << part << "\" is missing in\n" << text;
}

Tensor_attributes row_major(const std::string& name, const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t axis = dims.size() - 1; axis-- > 0;)
    strides[axis] = strides[axis + 1] * dims[axis + 1];
  return Tensor_attributes().set_name(name).set_dim(dims).set_stride(strides);
}

/// matmul -> + bias -> relu -> y, amax(y), and a second matmul that y is not fused with.
void describe(Graph& g) {
  g.set_name("two layers")
      .set_io_data_type(DataType_t::FLOAT)
      .set_intermediate_data_type(DataType_t::FLOAT)
      .set_compute_data_type(DataType_t::FLOAT);
  const auto a = g.tensor(row_major("A", {1, 40, 24})), b = g.tensor(row_major("B", {1, 24, 16}));
  const auto c = g.matmul(a, b, Matmul_attributes().set_name("first"));
  const auto biased =
      g.pointwise(c, g.tensor(row_major("bias", {1, 1, 16})),
                  Pointwise_attributes().set_name("add").set_mode(PointwiseMode_t::ADD));
  const auto y = g.pointwise(
      biased, Pointwise_attributes().set_name("activate").set_mode(PointwiseMode_t::RELU_FWD));
  g.matmul(y, g.tensor(row_major("D", {1, 16, 8})), Matmul_attributes().set_name("second"))
      ->set_output(true);
}

void expect_narrow(const std::string& text) {
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    EXPECT_LE(end - begin, kColumns) << text.substr(begin, end - begin);
}

TEST(Explain, TellsGroupsStopsCandidatesRefusalsAndWorkspace) {
  Graph g;
  describe(g);
  const auto handle = create_handle();
  ASSERT_TRUE(g.build(handle.get(), {HeurMode_t::A}).is_good());
  const std::string text = g.explain();
  expect_narrow(text);
  expect_contains(text, "Graph 'two layers': 4 operations");
  expect_contains(text, "Kernel 1 of 2: contraction");
  expect_contains(text, "t3 = matmul(t1, t2)");
  expect_contains(text, "t5 = t3 + t4");
  expect_contains(text, "t6 = relu(t5)");
  expect_contains(text, "# stored as FLOAT");
  expect_contains(text, "RELU_FWD 'activate' -> MATMUL 'second'");
  expect_contains(text, "MATMUL 'second' begins a kernel of its own");
  expect_contains(text, "refused by  ");
  for (const PlanInfo& plan : g.plans()) {
    if (plan.name.size() < 40) {
      expect_contains(text, plan.name);
    }
  }
  expect_contains(text, "tensor \"activate::OUT_0\"");
  expect_contains(text, "strides [640, 16, 1]");
}

TEST(Explain, BeforePlansItSaysWhatIsMissing) {
  Graph g;
  describe(g);
  EXPECT_FALSE(g.explain().empty());
  const auto handle = create_handle();
  ASSERT_TRUE(g.build_operation_graph(handle.get()).is_good());
  expect_contains(g.explain(), "create_execution_plans()");
}

TEST(TextLayout, UnitsHaveThreeDigits) {
  EXPECT_EQ(time_text(0), "-");
  EXPECT_EQ(time_text(0.5), "500 ns");
  EXPECT_EQ(time_text(12.345), "12.3 us");
  EXPECT_EQ(time_text(9999), "10.0 ms");
  EXPECT_EQ(time_text(2.5e6), "2.50 s");
  EXPECT_EQ(bytes_text(0), "0");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(bytes_text(int64_t{3} << 40), "3.00 TiB");
}

TEST(TextLayout, WrapsAtSpacesAndKeepsLongWords) {
  const std::string words(60, 'a');
  EXPECT_EQ(wrapped("> ", 4, words + ' ' + words), "> " + words + "\n    " + words + "\n");
  const std::string long_word(150, 'b');
  EXPECT_EQ(wrapped("", 2, long_word), long_word + "\n");
  EXPECT_EQ(wrapped("", 2, long_word + " c"), long_word + "\n  c\n");
  const std::string step(70, 's');
  EXPECT_EQ(wrapped("", 2, step + '|' + step), step + "|\n  " + step + "\n");
  EXPECT_EQ(wrapped("x", 2, ""), "x\n");
}

}  // namespace

}  // namespace warploom
