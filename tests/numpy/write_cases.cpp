// write_cases FOLDER: runs every conformance case on the reference engine and writes, for each
// point, NAME.json (graph, tensors, error) and NAME.f64 (the values of its tensors, one after the
// other).
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "harness/case_file.h"

namespace warploom::test {
namespace {

error_t build(const CasePoint& point, graph::Graph& graph) {
  CHECK_WARPLOOM_ERROR(graph.from_json(point.graph.dump()));
  CHECK_WARPLOOM_ERROR(graph.validate());
  CHECK_WARPLOOM_ERROR(graph.build_operation_graph(cpu()));
  CHECK_WARPLOOM_ERROR(graph.create_execution_plan("reference", {}));
  return graph.build_plans(cpu());
}

error_t run(const CasePoint& point, ValuesByUid& values, Json& tensors) {
  graph::Graph graph;
  CHECK_WARPLOOM_ERROR(build(point, graph));
  std::vector<int64_t> outputs;
  for (const CaseTensor& tensor : memory_tensors(point))
    if (tensor.is_output) outputs.push_back(tensor.uid);
  values = make_inputs(point, graph);
  PlanRun run = run_plan(graph, cpu(), 0, values, outputs);
  CHECK_WARPLOOM_ERROR(run.error);
  values.merge(run.outputs);
  for (const CaseTensor& tensor : memory_tensors(point)) {
    graph::Tensor_attributes attributes;
    CHECK_WARPLOOM_ERROR(graph.query_tensor_attributes_of_uid(tensor.uid, attributes));
    tensors.push_back({{"uid", tensor.uid},
                       {"name", tensor.name},
                       {"is_output", tensor.is_output},
                       {"data_type", to_string(attributes.get_data_type())},
                       {"dim", attributes.get_dim()},
                       {"stride", attributes.get_stride()}});
  }
  return {};
}

void write(const std::filesystem::path& folder, const CasePoint& point) {
  Json record{{"bindings", point.bindings}, {"graph", point.graph}, {"tensors", Json::array()}};
  ValuesByUid values;
  const error_t error = point.error.empty()
                            ? run(point, values, record["tensors"])
                            : error_t(error_code_t::UNSUPPORTED_GRAPH_FORMAT, point.error);
  record["error"] = error.get_message();
  std::ofstream(folder / (point.name + ".json")) << record;
  std::ofstream stream(folder / (point.name + ".f64"), std::ios::binary);
  if (error.is_bad()) return;
  for (const Json& tensor : record["tensors"]) {
    const Values& content = values.at(tensor["uid"]);
    stream.write(reinterpret_cast<const char*>(content.data()),
                 static_cast<std::streamsize>(content.size() * sizeof(double)));
  }
}

}  // namespace
}  // namespace warploom::test

int main(int count, char** arguments) {
  using namespace warploom::test;
  if (count != 2) {
    std::fputs("usage: write_cases FOLDER\n", stderr);
    return 2;
  }
  for (const CasePoint& point : load_cases(WARPLOOM_SOURCE_DIR "/tests/conformance"))
    if (!point.is_long) write(arguments[1], point);
}
