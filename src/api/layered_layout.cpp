#include "api/layered_layout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace warploom {

namespace {

constexpr int kOrderingSweeps = 12;
constexpr int kPlacingSweeps = 12;
constexpr double kBendWidth = 6;

/// A box, or a place where an edge passes a layer.
struct Item {
  double width = 0, center = 0;
  size_t layer = 0;
  std::vector<size_t> above = {}, below = {};
};

class Layers {
 public:
  Layers(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges) {
    for (const LayoutBox& box : boxes) items_.push_back({.width = box.width});
    choose_layers(boxes, edges);
    for (const LayoutEdge& edge : edges) add_edge(edge);
    for (const Item& item : items_) rows_.resize(std::max(rows_.size(), item.layer + 1));
    for (size_t id = 0; id < items_.size(); ++id) rows_[items_[id].layer].push_back(id);
  }

  void order() {
    for (int sweep = 0; sweep < kOrderingSweeps; ++sweep) {
      const bool is_down = sweep % 2 == 0;
      std::vector<double> place(items_.size());
      for (const auto& row : rows_)
        for (size_t index = 0; index < row.size(); ++index)
          place[row[index]] = static_cast<double>(index) / static_cast<double>(row.size());
      for (size_t step = 0; step < rows_.size(); ++step) {
        auto& row = rows_[is_down ? step : rows_.size() - 1 - step];
        std::vector<double> wish(items_.size());
        for (size_t id : row) {
          const auto& neighbours = is_down ? items_[id].above : items_[id].below;
          wish[id] = place[id];
          if (neighbours.empty()) continue;
          wish[id] = 0;
          for (size_t other : neighbours)
            wish[id] += place[other] / static_cast<double>(neighbours.size());
        }
        std::stable_sort(row.begin(), row.end(),
                         [&](size_t a, size_t b) { return wish[a] < wish[b]; });
        for (size_t index = 0; index < row.size(); ++index)
          place[row[index]] = static_cast<double>(index) / static_cast<double>(row.size());
      }
    }
  }

  void place(double gap) {
    for (auto& row : rows_) {
      double x = 0;
      for (size_t id : row) {
        items_[id].center = x + items_[id].width / 2;
        x += items_[id].width + gap;
      }
      for (size_t id : row) items_[id].center -= x / 2;
    }
    for (int sweep = 0; sweep < kPlacingSweeps; ++sweep)
      for (size_t step = 0; step < rows_.size(); ++step)
        place_row(rows_[sweep % 2 == 0 ? step : rows_.size() - 1 - step], gap);
  }

  const std::vector<Item>& items() const { return items_; }
  const std::vector<std::vector<size_t>>& rows() const { return rows_; }
  /// The items at which an edge bends, from above.
  const std::vector<std::vector<size_t>>& bends() const { return bends_; }

 private:
  void choose_layers(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges) {
    // Repeated relaxation settles after as many rounds as the longest path has edges.
    size_t last = 0;
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (const LayoutEdge& edge : edges) {
        const size_t least = items_[edge.from].layer + 1;
        if (items_[edge.to].layer >= least) continue;
        items_[edge.to].layer = least;
        has_changed = true;
      }
    }
    for (const Item& item : items_) last = std::max(last, item.layer);
    std::vector<bool> is_source(items_.size(), true);
    for (const LayoutEdge& edge : edges) is_source[edge.to] = false;
    for (size_t id = 0; id < items_.size(); ++id) {
      if (boxes[id].pin == LayerPin::kLast) items_[id].layer = std::max<size_t>(last, 1);
      if (!is_source[id] || boxes[id].pin != LayerPin::kNone) continue;
      size_t first = SIZE_MAX;
      for (const LayoutEdge& edge : edges)
        if (edge.from == id) first = std::min(first, items_[edge.to].layer);
      if (first != SIZE_MAX) items_[id].layer = first - 1;
    }
  }

  void add_edge(const LayoutEdge& edge) {
    std::vector<size_t> bends;
    size_t from = edge.from;
    const size_t target = items_[edge.to].layer;
    for (size_t layer = items_[edge.from].layer + 1; layer < target; ++layer) {
      items_.push_back({.width = kBendWidth, .layer = layer});
      bends.push_back(items_.size() - 1);
      connect(from, bends.back());
      from = bends.back();
    }
    connect(from, edge.to);
    bends_.push_back(std::move(bends));
  }

  void connect(size_t from, size_t to) {
    items_[from].below.push_back(to);
    items_[to].above.push_back(from);
  }

  /// Moves the row's items as near as their order and widths allow to the mean of their
  /// neighbours: isotonic regression by pooling adjacent violators.
  void place_row(const std::vector<size_t>& row, double gap) {
    struct Pool {
      double sum;
      double count;
      double mean() const { return sum / count; }
    };
    std::vector<Pool> pools;
    std::vector<double> offsets;
    double offset = 0;
    for (size_t index = 0; index < row.size(); ++index) {
      const Item& item = items_[row[index]];
      if (index > 0) offset += (items_[row[index - 1]].width + item.width) / 2 + gap;
      offsets.push_back(offset);
      double wish = 0;
      for (size_t other : item.above) wish += items_[other].center;
      for (size_t other : item.below) wish += items_[other].center;
      const size_t count = item.above.size() + item.below.size();
      wish = count == 0 ? item.center : wish / static_cast<double>(count);
      pools.push_back({wish - offset, 1});
      while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
        const Pool merged{pools[pools.size() - 2].sum + pools.back().sum,
                          pools[pools.size() - 2].count + pools.back().count};
        pools.resize(pools.size() - 2);
        pools.push_back(merged);
      }
    }
    size_t index = 0;
    for (const Pool& pool : pools)
      for (int i = 0; i < static_cast<int>(pool.count); ++i, ++index)
        items_[row[index]].center = pool.mean() + offsets[index];
  }

  std::vector<Item> items_;  // boxes first
  std::vector<std::vector<size_t>> rows_, bends_;
};

}  // namespace

LayoutExtent lay_out(std::vector<LayoutBox>& boxes, std::vector<LayoutEdge>& edges,
                     LayoutSpacing spacing) {
  if (boxes.empty()) return {};
  Layers layers(boxes, edges);
  layers.order();
  layers.place(spacing.across);

  double left = INFINITY, right = -INFINITY;
  for (const Item& item : layers.items()) {
    left = std::min(left, item.center - item.width / 2);
    right = std::max(right, item.center + item.width / 2);
  }
  std::vector<std::pair<double, double>> spans;  // of layers, from top to bottom
  double y = 0;
  for (const auto& row : layers.rows()) {
    double height = 0;
    for (size_t id : row)
      if (id < boxes.size()) height = std::max(height, boxes[id].height);
    for (size_t id : row)
      if (id < boxes.size()) {
        boxes[id].x = layers.items()[id].center - boxes[id].width / 2 - left;
        boxes[id].y = y + (height - boxes[id].height) / 2;
      }
    spans.emplace_back(y, y + height);
    y += height + spacing.down;
  }
  for (size_t index = 0; index < edges.size(); ++index) {
    edges[index].bends.clear();
    for (size_t bend : layers.bends()[index]) {
      const Item& item = layers.items()[bend];
      // Straight through the layer, so that it meets none of its boxes.
      edges[index].bends.push_back({item.center - left, spans[item.layer].first});
      edges[index].bends.push_back({item.center - left, spans[item.layer].second});
    }
  }
  return {right - left, y - spacing.down};
}

}  // namespace warploom
