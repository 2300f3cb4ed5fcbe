#include "tools/commands.h"

#include <fmt/format.h>

namespace warploom::tools {

int report(const error_t& error) {
  if (error.is_good()) return kOk;
  fmt::print(stderr, "warploom: error: {}\n", error.err_msg);
  return kWrongUse;
}

void add_graph_argument(CLI::App& command, WorkloadOptions& options) {
  command.add_option("graph", options.graph, "The graph, as JSON (Graph::to_json())")
      ->required()
      ->type_name("GRAPH.json");
  command.add_option("--device", options.device, "Device to run on; a usable GPU, or else the CPU")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->type_name("cpu|cuda");
}

void add_input_option(CLI::App& command, WorkloadOptions& options) {
  command
      .add_option("-i,--input", options.inputs,
                  "Data of an input: the tensor's name or uid, and a .npy file of the tensor's\n"
                  "dims and data type. Repeat it for every input")
      ->type_name("TENSOR=FILE.npy")
      ->allow_extra_args(false);
}

void add_plan_option(CLI::App& command, std::string& plan) {
  command
      .add_option("-p,--plan", plan,
                  "Only this plan: its name, or its index in the list that `warploom bench` shows")
      ->type_name("NAME|INDEX");
}

}  // namespace warploom::tools
