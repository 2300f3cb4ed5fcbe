#include <fmt/format.h>

#include "tools/commands.h"
#include "tools/file.h"

namespace warploom::tools {
namespace {

error_t explain_graph(const ExplainOptions& options) {
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

int explain(const ExplainOptions& options) {
  return report(explain_graph(options));
}

}  // namespace warploom::tools
