#include "fusion/random_graph.h"

#include <random>

namespace warploom::fusion_test {

namespace {

// All whole tensors are cubes, so that any two fit each other and everything can be wired anyhow.
constexpr int64_t kSize = 4;

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {
    const Dims shapes[] = {{kSize, kSize, kSize},
                           {kSize, kSize, kSize},
                           {1, kSize, 1},
                           {kSize, 1, kSize},
                           {kSize},
                           {1, 1, 1}};
    for (const Dims& dims : shapes) values_.push_back(graph_.input(dims));
    values_.push_back(graph_.scalar(2));
  }

  void add_node() {
    switch (pick(12)) {
      case 0:
        return keep(graph_.matmul(whole(), whole()));
      case 1:
        return keep(graph_.reduce(ReductionMode_t::ADD, whole(), reduced_dims()));
      case 2:
        return keep(graph_.transpose(whole(), {0, 2, 1}));
      case 3:
        return keep(graph_.slice(whole(), {{0, kSize}, {0, kSize}, {1, 2}}));
      case 4:
        return keep(graph_.reshape(whole(), {kSize, kSize, kSize}, ReshapeMode_t::LOGICAL));
      case 5:
        return keep(graph_.index(any(), 0));
      case 6:
        return keep(graph_.relu(any()));
      case 7:
        return keep(graph_.pointwise(PointwiseMode_t::BINARY_SELECT, {any(), any(), any()}));
      default:
        return keep(graph_.add(any(), any()));
    }
  }

  GraphBuilder take() {
    graph_.output(values_.back());
    return std::move(graph_);
  }

 private:
  size_t pick(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }

  /// Recent results more often, so that long chains arise.
  Id any() {
    const size_t recent = std::min<size_t>(values_.size(), 6);
    return pick(3) == 0 ? values_[pick(values_.size())]
                        : values_[values_.size() - 1 - pick(recent)];
  }

  Id whole() {
    for (int attempt = 0; attempt < 20; ++attempt)
      if (const Id id = any(); graph_.dims(id) == Dims{kSize, kSize, kSize}) return id;
    return values_.front();
  }

  Dims reduced_dims() {
    Dims dims{kSize, kSize, kSize};
    for (int64_t& dim : dims)
      if (pick(2) == 0) dim = 1;
    return dims;
  }

  void keep(Id id) {
    if (pick(6) == 0) graph_.output(id);
    if (pick(12) != 0) values_.push_back(id);
  }

  std::mt19937 random_;
  GraphBuilder graph_;
  std::vector<Id> values_;
};

}  // namespace

GraphBuilder random_graph(uint32_t seed, int node_count) {
  Generator generator(seed);
  for (int node = 0; node < node_count; ++node) generator.add_node();
  return generator.take();
}

}  // namespace warploom::fusion_test
