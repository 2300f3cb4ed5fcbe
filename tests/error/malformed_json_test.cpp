// Text that is not a graph: an error with the path of what is wrong, whatever the text.
#include <gtest/gtest.h>

#include "harness/case_file.h"

namespace warploom::test {
namespace {

Json valid_graph() {
  Json graph = Json::parse(R"({
    "context": {"name": "valid"},
    "tensors": {
      "X": {"dim": [1, 4, 6, 6], "stride": "channels_last"},
      "W": {"dim": [8, 4, 3, 3], "stride": "channels_last"},
      "scale": {"pass_by_value": 0.5, "data_type": "FLOAT"},
      "Y": {"is_virtual": false}
    },
    "nodes": [
      {"tag": "CONV_FPROP", "name": "conv", "compute_data_type": "FLOAT", "math_mode": "CROSS_CORRELATION", "stride": [1, 1],
       "dilation": [1, 1], "pre_padding": [1, 1], "post_padding": [1, 1], "inputs": {"X": "X", "W": "W"}, "outputs": {"Y": "C"}},
      {"tag": "POINTWISE", "name": "scaled", "mode": "MUL", "inputs": {"IN_0": "C", "IN_1": "scale"}, "outputs": {"OUT_0": "S"}},
      {"tag": "POINTWISE", "name": "relu", "mode": "RELU_FWD", "relu_lower_clip": 0.25, "inputs": {"IN_0": "S"}, "outputs": {"OUT_0": "Y"}}
    ]
  })");
  complete_graph(graph);
  return graph;
}

// A graph that reads as it should: the others differ from it by one mistake.
TEST(MalformedJson, TheGraphTheyStartFromIsRead) {
  graph::Graph graph;
  error_t error = graph.from_json(valid_graph().dump());
  ASSERT_TRUE(error.is_good()) << error;
  error = graph.validate();
  EXPECT_TRUE(error.is_good()) << error;
}

void expect_refused(const std::string& text, const std::vector<std::string>& parts = {}) {
  graph::Graph graph;
  graph.set_name("untouched");
  const error_t error = graph.from_json(text);
  EXPECT_EQ(error.get_code(), error_code_t::UNSUPPORTED_GRAPH_FORMAT)
      << error << "\nfor " << text.substr(0, 400);
  EXPECT_FALSE(error.get_message().empty());
  for (const std::string& part : parts)
    EXPECT_NE(error.get_message().find(part), std::string::npos)
        << "'" << part << "' is not in: " << error;
}

TEST(MalformedJson, NotJson) {
  for (const char* text : {"", " ", "{", "}", "nonsense", "\xff\xfe", "{\"a\": }", "{\"a\": 1,}",
                           "[1, 2", "\"text", "0x10", "nan"})
    expect_refused(text);
  expect_refused(std::string("{}\0{}", 5));
}

TEST(MalformedJson, JsonOfAnotherKind) {
  for (const char* text : {"null", "[]", "{}", "1", "\"graph\"", "true", "[{\"tag\": \"MATMUL\"}]"})
    expect_refused(text);
}

TEST(MalformedJson, CutAnywhere) {
  const std::string whole = valid_graph().dump();
  for (size_t length = 0; length < whole.size(); ++length) {
    graph::Graph graph;
    EXPECT_TRUE(graph.from_json(whole.substr(0, length)).is_bad()) << "cut at " << length;
  }
}

TEST(MalformedJson, NestedWithoutEnd) {
  expect_refused(std::string(1000000, '['));
  expect_refused(std::string(200000, '[') + std::string(200000, ']'));
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  expect_refused(objects);
}

void expect_refused_with(const std::string& pointer, const Json& value,
                         const std::vector<std::string>& parts = {}) {
  SCOPED_TRACE(pointer + " = " + value.dump());
  Json graph = valid_graph();
  graph[Json::json_pointer(pointer)] = value;
  expect_refused(graph.dump(), parts);
}

TEST(MalformedJson, UnknownNames) {
  expect_refused_with("/json_version", "99.0", {"json_version", "99.0"});
  expect_refused_with("/surprise", 1, {"surprise"});
  expect_refused_with("/context/surprise", 1, {"context", "surprise"});
  expect_refused_with("/context/io_data_type", "FLOATY", {"io_data_type", "FLOATY"});
  expect_refused_with("/nodes/0/tag", "CONV", {"nodes", "0", "CONV"});
  expect_refused_with("/nodes/0/surprise", 1, {"nodes", "0", "surprise"});
  expect_refused_with("/nodes/0/inputs/Z", "1", {"nodes", "0", "Z"});
  expect_refused_with("/nodes/1/outputs/Y", "1", {"nodes", "1", "Y"});
  expect_refused_with("/nodes/1/mode", "MULTIPLY", {"nodes", "1", "mode", "MULTIPLY"});
  expect_refused_with("/tensors/1/surprise", 1, {"tensors", "1", "surprise"});
  expect_refused_with("/tensors/1/data_type", 3, {"tensors", "1", "data_type"});
}

TEST(MalformedJson, ReferencesThatLeadNowhere) {
  expect_refused_with("/nodes/0/inputs/X", "4711", {"nodes", "0", "X", "4711"});
  expect_refused_with("/nodes/0/outputs/Y", "4711", {"nodes", "0", "Y", "4711"});
  expect_refused_with("/nodes/0/inputs", Json::array());
  expect_refused_with("/nodes/0", nullptr);
  expect_refused_with("/tensors", Json::array());
  expect_refused_with("/nodes", Json::object());
}

TEST(MalformedJson, ValuesOutsideTheirType) {
  expect_refused_with("/tensors/1/dim", Json::array({1, 4, 6.5, 6}), {"tensors", "1", "dim"});
  expect_refused_with("/tensors/1/dim", Json::array({1, "4", 6, 6}), {"dim"});
  expect_refused_with("/tensors/1/dim", Json::array({1, 1e30, 6, 6}), {"dim"});
  expect_refused_with("/tensors/1/dim", Json::array({1, UINT64_MAX, 6, 6}), {"dim"});
  expect_refused_with("/tensors/1/dim", "1,4,6,6", {"dim"});
  expect_refused_with("/tensors/1/uid", 1.5, {"uid"});
  expect_refused_with("/tensors/1/is_virtual", "no", {"is_virtual"});
  expect_refused_with("/tensors/3/pass_by_value", Json{{"index", 9}, {"value", 1}},
                      {"pass_by_value"});
  expect_refused_with("/tensors/3/pass_by_value", Json{{"index", -1}, {"value", 1}},
                      {"pass_by_value"});
  expect_refused_with("/tensors/3/pass_by_value", Json{{"value", 1}}, {"pass_by_value"});
  expect_refused_with("/tensors/3/pass_by_value", "half", {"pass_by_value"});
  expect_refused_with("/nodes/2/relu_lower_clip", "3E80000", {"relu_lower_clip"});
  expect_refused_with("/nodes/2/relu_lower_clip", "ZZZZZZZZ", {"relu_lower_clip"});
  expect_refused_with("/nodes/0/stride", 1, {"stride"});
  expect_refused_with("/nodes/0/name", 1, {"name"});
}

// Every value replaced by one of every other kind: read or refused, never anything else.
void replace_each(const Json& value, const std::string& pointer, int& refused) {
  const Json others[] = {nullptr,
                         true,
                         -1,
                         1e300,
                         "text",
                         Json::array(),
                         Json::object(),
                         Json::array({Json::object()})};
  for (const Json& other : others) {
    Json graph = valid_graph();
    graph[Json::json_pointer(pointer)] = other;
    graph::Graph read;
    error_t error = read.from_json(graph.dump());
    if (error.is_good()) error = read.validate();
    refused += error.is_bad();
    EXPECT_EQ(error.is_bad(), !error.get_message().empty()) << pointer << " = " << other;
  }
  if (!value.is_structured()) return;
  for (const auto& [key, part] : value.items()) replace_each(part, pointer + "/" + key, refused);
}

TEST(MalformedJson, AnyValueOfAnyOtherKind) {
  int refused = 0;
  replace_each(valid_graph(), "", refused);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace warploom::test
