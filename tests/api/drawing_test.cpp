// Drawings are well-formed, complete, and hold what they should where it should be.
#include <set>

#include <gtest/gtest.h>

#include <warploom/graph.h>
#include "api/layered_layout.h"
#include "api/svg_writer.h"

namespace warploom {

namespace {

using namespace graph;

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << '"' << part << "\" is missing in\n" << text;
}

/// Element names open and close in turn; no markup is left in text.
void expect_well_formed(const std::string& svg) {
  std::vector<std::string> open;
  for (size_t at = 0; (at = svg.find('<', at)) != std::string::npos;) {
    const size_t end = svg.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = svg.substr(at + 1, end - at - 1);
    ASSERT_EQ(tag.find('<'), std::string::npos) << tag;
    const std::string name =
        tag.substr(tag[0] == '/', tag.find_first_of(" /\n", 1) - (tag[0] == '/'));
    if (tag[0] == '/') {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), tag.substr(1));
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    at = end;
  }
  EXPECT_TRUE(open.empty());
}

Graph relu_graph(const std::string& name) {
  Graph g;
  g.set_io_data_type(DataType_t::FLOAT).set_compute_data_type(DataType_t::FLOAT);
  g.set_intermediate_data_type(DataType_t::FLOAT);
  const auto x = g.tensor(Tensor_attributes().set_name(name).set_dim({4, 4}).set_stride({4, 1}));
  g.pointwise(x, Pointwise_attributes().set_name("act").set_mode(PointwiseMode_t::RELU_FWD))
      ->set_output(true);
  return g;
}

TEST(Drawing, ShowsTensorsOperationsAndKernels) {
  Graph g = relu_graph("input");
  const auto handle = create_handle();
  ASSERT_TRUE(g.build_operation_graph(handle.get()).is_good());
  const std::string bare = g.to_svg();
  expect_well_formed(bare);
  expect_contains(bare, "RELU_FWD 'act'");
  expect_contains(bare, "input");
  expect_contains(bare, "FLOAT [4, 4]");
  EXPECT_EQ(bare.find("wl-g0\" x"), std::string::npos);
  ASSERT_TRUE(g.build(handle.get(), {HeurMode_t::A}).is_good());
  std::string name;
  ASSERT_TRUE(g.get_plan_name(name).is_good());
  expect_contains(g.to_svg(), name);
  expect_contains(g.to_svg(), "wl-group wl-g0");
}

TEST(Drawing, EscapesWhatUsersWrite) {
  Graph g = relu_graph("<a & \"b\">\x01\xff</title>");
  const auto handle = create_handle();
  ASSERT_TRUE(g.build_operation_graph(handle.get()).is_good());
  const std::string svg = g.to_svg();
  expect_well_formed(svg);
  expect_contains(svg, "&lt;a &amp; &quot;b&quot;&gt;??&lt;/title&gt;");
}

TEST(Drawing, EmptyGraph) {
  expect_well_formed(Graph().to_svg());
}

TEST(XmlText, KeepsUtf8AndReplacesTheRest) {
  EXPECT_EQ(xml_text("\xce\xb1 \xe2\x82\xac"), "\xce\xb1 \xe2\x82\xac");
  EXPECT_EQ(xml_text("\xc3("), "?(");
  EXPECT_EQ(xml_text("\xe2\x82"), "??");
  EXPECT_EQ(xml_text(std::string_view("\0\n", 2)), "??");
  EXPECT_EQ(shortened("\xce\xb1\xce\xb2\xce\xb3", 2), "\xce\xb1\xce\xb2...");
  EXPECT_EQ(shortened("abc", 3), "abc");
}

TEST(LayeredLayout, BoxesOfALayerKeepApartAndEdgesGoDown) {
  std::vector<LayoutBox> boxes;
  std::vector<LayoutEdge> edges;
  for (size_t id = 0; id < 60; ++id) {
    boxes.push_back({.width = 20.0 + static_cast<double>(id * 7 % 50), .height = 30});
    for (size_t step : {1, 5, 17})
      if (id >= step && id % step != 2) edges.push_back({id - step, id});
  }
  const LayoutExtent extent = lay_out(boxes, edges, {.across = 10, .down = 20});
  for (size_t a = 0; a < boxes.size(); ++a) {
    EXPECT_GE(boxes[a].x, -1e-6);
    EXPECT_LE(boxes[a].x + boxes[a].width, extent.width + 1e-6);
    EXPECT_LE(boxes[a].y + boxes[a].height, extent.height + 1e-6);
    for (size_t b = a + 1; b < boxes.size(); ++b) {
      const bool is_apart = boxes[a].x + boxes[a].width + 9.99 <= boxes[b].x ||
                            boxes[b].x + boxes[b].width + 9.99 <= boxes[a].x ||
                            boxes[a].y != boxes[b].y;
      EXPECT_TRUE(is_apart) << a << ' ' << b;
    }
  }
  for (const LayoutEdge& edge : edges)
    EXPECT_LE(boxes[edge.from].y + boxes[edge.from].height, boxes[edge.to].y);
}

TEST(LayeredLayout, SourcesStandAboveTheirFirstReader) {
  // 0 -> 1 -> 2 -> 3, and 4 -> 3.
  std::vector<LayoutBox> boxes(5, {.width = 10, .height = 10});
  std::vector<LayoutEdge> edges{{0, 1}, {1, 2}, {2, 3}, {4, 3}};
  lay_out(boxes, edges, {.across = 5, .down = 5});
  EXPECT_EQ(boxes[4].y, boxes[2].y);
}

}  // namespace

}  // namespace warploom
