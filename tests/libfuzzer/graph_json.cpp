// Graph JSON: any text is read or refused, what is read is written the same again, and freezes or
// is refused.
#include <cstdlib>
#include <string>

#include <warploom/graph.h>

namespace {

using warploom::graph::Graph;

void check_is_written_the_same(const Graph& graph) {
  const std::string text = graph.to_json();
  Graph copy;
  if (copy.from_json(text).is_bad() || copy.to_json() != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static warploom::Handle& handle = *warploom::create_handle().release();
  Graph graph;
  if (graph.from_json(std::string(data, data + size)).is_bad()) return 0;
  check_is_written_the_same(graph);
  if (graph.build_operation_graph(&handle).is_bad()) return 0;
  check_is_written_the_same(graph);
  return 0;
}
