#include "api/drawing.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/drawing_model.h"
#include "api/svg_writer.h"

namespace warploom {

namespace {

constexpr double kMargin = 20, kTitleHeight = 24, kFrame = 14;
constexpr LayoutSpacing kInside{.across = 18, .down = 26}, kBetween{.across = 34, .down = 40};
constexpr size_t kColours = 6;  // classes wl-g0 ...
constexpr size_t kLongestTitle = 60;
constexpr double kTitleCharacter = 7.2;

/// Places the items of a cluster and makes its box hold them, with a frame where it has a title.
void place_items(DrawnCluster& cluster) {
  std::vector<LayoutBox> boxes;
  for (const DrawnItem& item : cluster.items) boxes.push_back(item.box);
  const LayoutExtent extent = lay_out(boxes, cluster.edges, kInside);
  cluster.box.width = extent.width;
  cluster.box.height = extent.height;
  double left = 0, top = 0;
  if (!cluster.title.empty()) {
    cluster.title = shortened(cluster.title, kLongestTitle);
    const double inner =
        std::max(extent.width, kTitleCharacter * static_cast<double>(cluster.title.size()));
    left = kFrame + (inner - extent.width) / 2;
    top = kFrame + kTitleHeight;
    cluster.box.width = inner + 2 * kFrame;
    cluster.box.height = extent.height + top + kFrame;
  }
  for (size_t index = 0; index < boxes.size(); ++index) {
    boxes[index].x += left;
    boxes[index].y += top;
    cluster.items[index].box = boxes[index];
  }
  for (LayoutEdge& edge : cluster.edges)
    for (Point& bend : edge.bends) bend = {bend.x + left, bend.y + top};
}

Point moved(Point point, const LayoutBox& cluster) {
  return {point.x + cluster.x, point.y + cluster.y};
}

class Painter {
 public:
  void frame(const DrawnCluster& cluster, size_t index) {
    if (cluster.title.empty()) return;
    const LayoutBox& box = cluster.box;
    const std::string colour = fmt::format("wl-g{}", index % kColours);
    svg_.rectangle("wl-group " + colour, box.x, box.y, box.width, box.height, 10);
    svg_.text("wl-engine " + colour, box.x + kFrame, box.y + 20, cluster.title);
  }

  void edges(const DrawnCluster& cluster) {
    for (const LayoutEdge& edge : cluster.edges) {
      std::vector<Point> bends;
      for (const Point& bend : edge.bends) bends.push_back(moved(bend, cluster.box));
      arrow(cluster, edge.from, bends, cluster, edge.to);
    }
  }

  void arrow(const DrawnCluster& from, size_t from_item, const std::vector<Point>& bends,
             const DrawnCluster& to, size_t to_item) {
    std::vector<Point> points{moved(from.items[from_item].box.bottom(), from.box)};
    points.insert(points.end(), bends.begin(), bends.end());
    points.push_back(moved(to.items[to_item].box.top(), to.box));
    svg_.arrow("wl-edge", points);
  }

  void items(const DrawnCluster& cluster) {
    for (const DrawnItem& item : cluster.items) {
      const double x = item.box.x + cluster.box.x, y = item.box.y + cluster.box.y;
      const double middle = x + item.box.width / 2;
      const bool is_operation = item.css_class == "wl-op" || item.css_class == "wl-view";
      svg_.open_tooltip(item.tooltip);
      svg_.rectangle(item.css_class, x, y, item.box.width, item.box.height,
                     is_operation ? 4 : item.box.height / 2);
      svg_.text("wl-name", middle, y + item.box.height / 2 - 4, item.title, true);
      svg_.text("wl-small", middle, y + item.box.height / 2 + 11, item.detail, true);
      svg_.close();
    }
  }

  std::string document(LayoutExtent extent, const std::string& title) const {
    return svg_.document(extent.width, extent.height, title);
  }

 private:
  SvgWriter svg_;
};

}  // namespace

std::string draw_graph(const ir::FrozenGraph& graph, const std::vector<DrawnGroup>& groups) {
  DrawingModel model = make_model(graph, groups);
  for (DrawnCluster& cluster : model.clusters) place_items(cluster);

  std::vector<LayoutBox> boxes;
  std::vector<LayoutEdge> edges;
  for (const DrawnCluster& cluster : model.clusters) boxes.push_back(cluster.box);
  for (const DrawnLink& link : model.links) edges.push_back({link.from.cluster, link.to.cluster});
  LayoutExtent extent = lay_out(boxes, edges, kBetween);
  for (size_t index = 0; index < boxes.size(); ++index) {
    model.clusters[index].box = boxes[index];
    model.clusters[index].box.x += kMargin;
    model.clusters[index].box.y += kMargin;
  }
  for (LayoutEdge& edge : edges)
    for (Point& bend : edge.bends) bend = {bend.x + kMargin, bend.y + kMargin};
  extent.width += 2 * kMargin;
  extent.height += 2 * kMargin;

  Painter painter;
  for (size_t index = 0; index < model.clusters.size(); ++index)
    painter.frame(model.clusters[index], index);
  for (const DrawnCluster& cluster : model.clusters) painter.edges(cluster);
  for (size_t index = 0; index < edges.size(); ++index) {
    const auto& [from, to] = model.links[index];
    painter.arrow(model.clusters[from.cluster], from.item, edges[index].bends,
                  model.clusters[to.cluster], to.item);
  }
  for (const DrawnCluster& cluster : model.clusters) painter.items(cluster);
  return painter.document(extent, graph.name.empty() ? "Graph" : graph.name);
}

}  // namespace warploom
