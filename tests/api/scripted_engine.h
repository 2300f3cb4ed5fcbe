#pragma once
/// An engine that shows who ran: its kernels fill every output with the value of the TILE_M knob
/// that they were built with. It takes whole graphs whose name begins with "scripted", is predicted
/// to be faster than anything else, the smaller the knob the faster, and needs 1000 bytes of
/// workspace per unit of it. What it says of notes, failures and delays follows the graph's name.
#include <warploom/graph.h>

namespace warploom::test {

/// Registers "test.scripted" and "test.stubborn" (which takes nothing, with a reason), once.
void register_scripted_engines();

/// A graph of one float ReLU over n elements, with this name.
struct ScriptedGraph {
  explicit ScriptedGraph(const std::string& name, int64_t n = 4);
  graph::Graph graph;
  graph::TensorPtr x, y;
};

/// How many scripted kernels were built, and loaded from what they saved: those of graphs with
/// "saving" in their names save their knob as text.
struct ScriptedCounts {
  int built = 0, loaded = 0;
};
ScriptedCounts scripted_counts();

/// The stream that a scripted kernel was last launched into.
void* last_scripted_stream();

/// TILE_M knobs of the scripted candidates, in the order of predicted time.
inline constexpr int64_t kScriptedTiles[] = {1, 2, 3};

}  // namespace warploom::test
