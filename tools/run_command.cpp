#include <fmt/format.h>

#include <chrono>

#include "tools/commands.h"
#include "tools/progress.h"

namespace warploom::tools {
namespace {

struct Target {
  const TensorMemory* memory;
  std::string file;
};

Result<std::vector<Target>> targets_of(Workload& workload,
                                       const std::vector<std::string>& outputs) {
  std::vector<Target> targets;
  for (const std::string& output : outputs) {
    const size_t equals = output.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == output.size()) {
      return error_t{error_code_t::INVALID_VALUE,
                     fmt::format("--output {}: TENSOR=FILE expected", output)};
    }
    Result<TensorMemory*> memory = workload.find(output.substr(0, equals), true);
    if (memory.is_bad()) return memory.error();
    targets.push_back({memory.value(), output.substr(equals + 1)});
  }
  return targets;
}

error_t run_graph(const RunOptions& options) {
  Result<Workload> loaded = Workload::load(options.workload);
  if (loaded.is_bad()) return loaded.error();
  Workload& workload = loaded.value();
  CHECK_WARPLOOM_ERROR(workload.bind(options.workload.inputs));
  CHECK_WARPLOOM_ERROR(workload.require_all_inputs());
  // Everything the user wrote is checked before the first file is touched.
  Result<std::vector<Target>> targets = targets_of(workload, options.outputs);
  if (targets.is_bad()) return targets.error();

  Progress progress("building the plan");
  Result<int64_t> plan = workload.build_plan(options.plan);
  if (plan.is_bad()) return plan.error();
  std::string name;
  CHECK_WARPLOOM_ERROR(workload.graph().get_plan_name_at_index(plan.value(), name));
  progress.step("running " + name);
  const auto start = std::chrono::steady_clock::now();
  CHECK_WARPLOOM_ERROR(workload.execute(plan.value()));
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  progress.step("writing");
  for (const Target& target : targets.value()) {
    CHECK_WARPLOOM_ERROR(write_npy(target.file, target.memory->to_array()));
  }

  fmt::print("ran {} in {:.3f} ms\n", name, elapsed.count());
  for (const Target& target : targets.value()) {
    const ir::Tensor& tensor = target.memory->tensor();
    fmt::print("{} = {} {}\n", target.file, tensor.name,
               describe(tensor.data_type, tensor.shape.dims));
  }
  return {};
}

}  // namespace

int run(const RunOptions& options) {
  return report(run_graph(options));
}

}  // namespace warploom::tools
