#include <fmt/format.h>

#include "tools/commands.h"
#include "tools/file.h"

namespace warploom::tools {
namespace {

struct ExplainOptions {
  WorkloadOptions workload;
  std::string plan;
  std::string svg;
};

error_t explain(const ExplainOptions& options) {
  Result<Workload> loaded = Workload::load(options.workload);
  if (loaded.is_bad()) return loaded.error();
  Workload& workload = loaded.value();
  Result<int64_t> plan = workload.build_plan(options.plan);
  // Why nothing takes the graph is what the explanation is for.
  fmt::print("{}\n", workload.graph().explain());
  if (plan.is_bad()) return plan.error();
  if (options.svg.empty()) return {};
  CHECK_WARPLOOM_ERROR(write_text(options.svg, workload.graph().to_svg()));
  fmt::print("drawn in {}\n", options.svg);
  return {};
}

}  // namespace

void add_explain_command(CLI::App& program, int& exit_status) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = program.add_subcommand(
      "explain", "Show how a graph is fused, its plans, every refusal, the workspace");
  add_graph_argument(*command, options->workload);
  add_plan_option(*command, options->plan);
  command->add_option("--svg", options->svg, "Draw the graph and its groups into this file")
      ->type_name("FILE.svg");
  command->callback([=, &exit_status] { exit_status = report(explain(*options)); });
}

}  // namespace warploom::tools
