#pragma once
/// Places boxes in layers, sources above what they lead to, with few crossings.
#include <cstddef>
#include <vector>

namespace warploom {

struct Point {
  double x = 0, y = 0;
};

enum class LayerPin { kNone, kFirst, kLast };

struct LayoutBox {
  double width = 0, height = 0;
  LayerPin pin = LayerPin::kNone;
  double x = 0, y = 0;  ///< set by lay_out: upper left corner
  Point top() const { return {x + width / 2, y}; }
  Point bottom() const { return {x + width / 2, y + height}; }
};

/// From the bottom of one box to the top of another. The edges of a layout form no cycle.
struct LayoutEdge {
  size_t from = 0, to = 0;
  std::vector<Point> bends = {};  ///< set by lay_out: where it passes the layers in between
};

struct LayoutSpacing {
  double across = 24, down = 36;
};

struct LayoutExtent {
  double width = 0, height = 0;
};

/// Longest-path layers (sources directly above their first reader), barycentre ordering, and
/// positions that minimize the squared length of edges across.
LayoutExtent lay_out(std::vector<LayoutBox>& boxes, std::vector<LayoutEdge>& edges,
                     LayoutSpacing spacing);

}  // namespace warploom
