#include "tools/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "tools/file.h"
#include "tools/random_data.h"

namespace warploom::tools {
namespace {

error_t invalid(std::string message) {
  return {error_code_t::INVALID_VALUE, std::move(message)};
}

std::optional<int64_t> to_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_read(const ir::FrozenGraph& graph, const ir::Tensor& tensor) {
  if (!tensor.consumers.empty()) return true;
  return std::any_of(graph.tensors.begin(), graph.tensors.end(), [&](const ir::Tensor& other) {
    return other.ragged_offset != ir::kNoTensor &&
           graph.tensor(other.ragged_offset).uid == tensor.uid;
  });
}

}  // namespace

Result<std::unique_ptr<Handle>> create_handle(const std::string& device) {
  HandleOptions options;
  if (device == "cpu") options.device = DeviceType::CPU;
  if (device == "cuda") options.device = DeviceType::CUDA;
  std::unique_ptr<Handle> handle;
  CHECK_WARPLOOM_ERROR(Handle::create(handle, options));
  return handle;
}

Result<Workload> Workload::load(const WorkloadOptions& options) {
  Result<std::string> text = read_text(options.graph);
  if (text.is_bad()) return text.error();
  Result<std::unique_ptr<Handle>> handle = create_handle(options.device);
  if (handle.is_bad()) return handle.error();

  Workload workload;
  workload.handle_ = std::move(handle).value();
  const auto prepare = [&]() -> error_t {
    graph::Graph& graph = workload.graph_;
    CHECK_WARPLOOM_ERROR(graph.from_json(text.value()));
    CHECK_WARPLOOM_ERROR(graph.validate());
    CHECK_WARPLOOM_ERROR(graph.build_operation_graph(workload.handle_.get()));
    return graph.create_execution_plans(options.modes);
  };
  if (error_t error = prepare(); error.is_bad()) {
    return error_t(error.code, fmt::format("{}: {}", options.graph.string(), error.err_msg));
  }
  workload.frozen_ = workload.graph_.frozen();
  return workload;
}

Result<int64_t> Workload::build_plan(const std::string& plan) {
  const int64_t count = graph_.get_execution_plan_count();
  if (plan.empty()) {
    CHECK_WARPLOOM_ERROR(graph_.build_plans(handle_.get(), BuildPlanPolicy_t::HEURISTICS_CHOICE));
    std::string name;
    CHECK_WARPLOOM_ERROR(graph_.get_plan_name(name));
    return build_plan(name);
  }
  int64_t index = -1;
  if (const std::optional<int64_t> number = to_integer(plan)) {
    if (*number < 0 || *number >= count) {
      return invalid(fmt::format("plan {}: the graph has {} plans, 0 to {} (see `warploom bench`)",
                                 plan, count, count - 1));
    }
    index = *number;
  } else {
    const std::vector<graph::PlanInfo> plans = graph_.plans();
    const auto found = std::find_if(plans.begin(), plans.end(),
                                    [&](const graph::PlanInfo& info) { return info.name == plan; });
    if (found != plans.end()) {
      index = found - plans.begin();
    } else {
      CHECK_WARPLOOM_ERROR(graph_.create_execution_plan_by_name(plan));
      index = graph_.get_execution_plan_count() - 1;
    }
  }
  CHECK_WARPLOOM_ERROR(graph_.build_plan_at_index(handle_.get(), index));
  return index;
}

Result<int64_t> Workload::build_reference_plan() {
  CHECK_WARPLOOM_ERROR(graph_.create_execution_plan("reference", {}));
  const int64_t index = graph_.get_execution_plan_count() - 1;
  CHECK_WARPLOOM_ERROR(graph_.build_plan_at_index(handle_.get(), index));
  return index;
}

error_t Workload::bind(const std::vector<std::string>& inputs) {
  for (const ir::Tensor& tensor : frozen_->tensors) {
    const bool is_output = tensor.producer != ir::kNoNode;
    if (tensor.is_virtual || tensor.value.has_value()) continue;
    if (!is_output && !is_read(*frozen_, tensor)) continue;
    Result<TensorMemory> memory = TensorMemory::allocate(tensor);
    if (memory.is_bad()) return memory.error();
    pack_[tensor.uid] = memory.value().pointer();
    bindings_.push_back({std::move(memory).value(), is_output, false});
  }
  for (const std::string& input : inputs) {
    const size_t equals = input.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == input.size()) {
      return invalid(fmt::format("--input {}: TENSOR=FILE expected", input));
    }
    Result<TensorMemory*> memory = find(input.substr(0, equals), false);
    if (memory.is_bad()) return memory.error();
    const std::string file = input.substr(equals + 1);
    Result<NpyArray> array = read_npy(file);
    if (array.is_bad()) return array.error();
    if (error_t error = memory.value()->assign(array.value()); error.is_bad()) {
      return {error.code, fmt::format("{}: {}", file, error.err_msg)};
    }
    for (Binding& binding : bindings_) {
      if (&binding.memory != memory.value()) continue;
      if (binding.is_filled) return invalid(fmt::format("--input {}: given twice", input));
      binding.is_filled = true;
    }
  }
  return {};
}

error_t Workload::require_all_inputs() const {
  std::vector<std::string> missing;
  for (const Binding& binding : bindings_) {
    const ir::Tensor& tensor = binding.memory.tensor();
    if (binding.is_output || binding.is_filled) continue;
    missing.push_back(fmt::format("'{}' (uid {}), {}", tensor.name, tensor.uid,
                                  describe(tensor.data_type, tensor.shape.dims)));
  }
  if (missing.empty()) return {};
  return invalid(fmt::format("no --input for {}", fmt::join(missing, "; ")));
}

void Workload::fill_with_random_data(uint64_t seed) {
  for (Binding& binding : bindings_) {
    if (!binding.is_output && !binding.is_filled) fill_randomly(binding.memory, *frozen_, seed);
  }
}

error_t Workload::execute(int64_t plan) {
  for (TensorMemory* output : outputs()) output->poison();
  int64_t bytes = 0;
  CHECK_WARPLOOM_ERROR(graph_.get_workspace_size_plan_at_index(plan, bytes));
  const AlignedMemory workspace(bytes);
  return execute(plan, workspace.data());
}

error_t Workload::execute(int64_t plan, void* workspace) {
  return graph_.execute_plan_at_index(handle_.get(), pack_, workspace, plan);
}

error_t Workload::autotune(std::chrono::milliseconds budget) {
  const AlignedMemory workspace(graph_.get_autotune_workspace_size());
  graph::AutotuneOptions options;
  options.budget = budget;
  return graph_.autotune(handle_.get(), pack_, workspace.data(), options);
}

std::vector<TensorMemory*> Workload::outputs() {
  std::vector<TensorMemory*> result;
  for (Binding& binding : bindings_) {
    if (binding.is_output) result.push_back(&binding.memory);
  }
  return result;
}

Result<TensorMemory*> Workload::find(const std::string& name_or_uid, bool is_output) {
  std::vector<TensorMemory*> named, numbered;
  std::vector<std::string> all;
  const std::optional<int64_t> uid = to_integer(name_or_uid);
  for (Binding& binding : bindings_) {
    if (binding.is_output != is_output) continue;
    const ir::Tensor& tensor = binding.memory.tensor();
    if (tensor.name == name_or_uid) named.push_back(&binding.memory);
    if (tensor.uid == uid) numbered.push_back(&binding.memory);
    all.push_back(fmt::format("'{}' (uid {})", tensor.name, tensor.uid));
  }
  if (named.size() == 1) return named.front();
  if (named.empty() && numbered.size() == 1) return numbered.front();
  const std::string_view kind = is_output ? "output" : "input";
  if (!named.empty()) {
    return invalid(fmt::format("several {}s are named '{}': use the uid ({}s: {})", kind,
                               name_or_uid, kind, fmt::join(all, ", ")));
  }
  return invalid(fmt::format("the graph has no {} '{}'; it has {}", kind, name_or_uid,
                             all.empty() ? "none" : fmt::format("{}", fmt::join(all, ", "))));
}

}  // namespace warploom::tools
