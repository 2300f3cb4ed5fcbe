#pragma once
/// An engine of a user's whose kernels are saved. "test.kept" computes ReLUs of graphs whose name
/// begins with "kept", by three candidates (TILE_M 1, 2, 3). The first is predicted to be the
/// fastest and is the slowest. Every build and load is a line "build 1" or "load 1" in the file
/// that WARPLOOM_TEST_LOG names.
#include <warploom/graph.h>

namespace warploom::test {

void register_kept_engine();

/// y = relu(x) over n floats.
struct KeptGraph {
  explicit KeptGraph(int64_t n);
  graph::Graph graph;
  graph::TensorPtr x, y;
};

/// What the engine's kernels save: "kept <version> <tile>". It loads those of this version alone.
inline constexpr int kKeptVersion = 1;

}  // namespace warploom::test
