#include <fmt/format.h>

#include "tools/commands.h"
#include "tools/comparison.h"
#include "tools/progress.h"

namespace warploom::tools {
namespace {

std::string quoted(const std::string& argument) {
  const bool is_plain = argument.find_first_not_of(
                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                            "_-+./:=,@%") == std::string::npos;
  if (is_plain && !argument.empty()) return argument;
  std::string result = "'";
  for (char symbol : argument)
    result += symbol == '\'' ? std::string("'\\''") : std::string(1, symbol);
  return result + "'";
}

std::string repeating_command(const CheckOptions& options, const std::string& plan) {
  std::string command =
      fmt::format("warploom check {} --plan {} --seed {}", quoted(options.workload.graph.string()),
                  quoted(plan), options.seed);
  for (const std::string& input : options.workload.inputs) {
    command += fmt::format(" --input {}", quoted(input));
  }
  if (!options.workload.device.empty()) command += " --device " + options.workload.device;
  if (options.tolerance >= 0) command += fmt::format(" --tolerance {}", options.tolerance);
  return command;
}

/// The plans that are compared with the reference, by index.
Result<std::vector<int64_t>> chosen_plans(Workload& workload, const std::string& plan) {
  std::vector<int64_t> indices;
  if (!plan.empty()) {
    Result<int64_t> index = workload.build_plan(plan);
    if (index.is_bad()) return index.error();
    indices.push_back(index.value());
    return indices;
  }
  for (int64_t i = 0; i < workload.graph().get_execution_plan_count(); ++i) indices.push_back(i);
  return indices;
}

/// Runs one plan and prints its line; false when it does not agree with the reference.
bool check_plan(Workload& workload, int64_t index, const std::vector<NpyArray>& wanted,
                const CheckOptions& options, Progress& progress) {
  std::string name;
  error_t error = workload.graph().get_plan_name_at_index(index, name);
  if (error.is_good()) {
    error = workload.graph().build_plan_at_index(&workload.handle(), index);
  }
  if (error.is_good()) error = workload.execute(index);
  if (error.is_bad()) {
    progress.print(fmt::format("FAILED  {}\n        {}\n", name, error.err_msg));
    return false;
  }
  bool passed = true;
  std::string lines;
  const std::vector<TensorMemory*> outputs = workload.outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ir::Tensor& tensor = outputs[i]->tensor();
    const double tolerance =
        options.tolerance >= 0 ? options.tolerance : tolerance_of(tensor, workload.frozen());
    const Comparison comparison = compare(*outputs[i], wanted[i], tolerance);
    lines += fmt::format("        {} {}: error {:.2g}, tolerance {:.2g}", tensor.name,
                         describe(tensor.data_type, tensor.shape.dims), comparison.error,
                         comparison.tolerance);
    if (!comparison.passed()) {
      passed = false;
      lines += fmt::format("; worst at {}", comparison.worst);
    }
    lines += '\n';
  }
  progress.print(fmt::format("{}  {}\n{}", passed ? "ok    " : "FAILED", name, lines));
  return passed;
}

}  // namespace

int check(const CheckOptions& options) {
  Result<Workload> loaded = Workload::load(options.workload);
  if (loaded.is_bad()) return report(loaded.error());
  Workload& workload = loaded.value();
  if (error_t error = workload.bind(options.workload.inputs); error.is_bad()) return report(error);
  workload.fill_with_random_data(options.seed);

  Progress progress("running the reference engine");
  Result<std::vector<int64_t>> plans = chosen_plans(workload, options.plan);
  if (plans.is_bad()) return report(plans.error());
  Result<int64_t> reference = workload.build_reference_plan();
  if (reference.is_bad()) return report(reference.error());
  if (error_t error = workload.execute(reference.value()); error.is_bad()) return report(error);
  std::vector<NpyArray> wanted;
  for (TensorMemory* output : workload.outputs()) wanted.push_back(output->to_array());

  std::vector<std::string> failures;
  for (int64_t index : plans.value()) {
    std::string name;
    if (workload.graph().get_plan_name_at_index(index, name).is_bad()) continue;
    progress.step("checking " + name);
    if (!check_plan(workload, index, wanted, options, progress)) failures.push_back(name);
  }
  const size_t count = plans.value().size();
  progress.print(fmt::format("{} of {} plans agree with the reference engine\n",
                             count - failures.size(), count));
  for (const std::string& name : failures) {
    progress.print(fmt::format("repeat with: {}\n", repeating_command(options, name)));
  }
  return failures.empty() ? kOk : kCheckFailed;
}

}  // namespace warploom::tools
