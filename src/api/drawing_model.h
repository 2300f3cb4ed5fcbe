#pragma once
/// What a drawing of a graph shows, before it is placed.
#include <string>
#include <vector>

#include "api/drawing.h"
#include "api/layered_layout.h"

namespace warploom {

/// An operation, or a tensor in memory.
struct DrawnItem {
  std::string css_class;
  std::string title = {}, detail = {}, tooltip = {};
  LayoutBox box = {};  ///< within its cluster
};

/// The items of one kernel, or (without a title) one item or a whole graph by itself.
struct DrawnCluster {
  std::string title;
  std::vector<DrawnItem> items;
  std::vector<LayoutEdge> edges;  ///< by index of items
  LayoutBox box;                  ///< within the drawing
};

struct DrawnPlace {
  size_t cluster = 0, item = 0;
};

struct DrawnLink {
  DrawnPlace from, to;
};

struct DrawingModel {
  std::vector<DrawnCluster> clusters;
  std::vector<DrawnLink> links;
};

/// Without groups the graph is one cluster.
DrawingModel make_model(const ir::FrozenGraph& graph, const std::vector<DrawnGroup>& groups);

}  // namespace warploom
