#include "stores/worker_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <sstream>

#include "stores/kept_engine.h"

namespace warploom::test {
namespace {

using graph::Graph;

/// 0 when it is good; else it is shown.
int status_of(const error_t& error) {
  if (error.is_bad()) fmt::print("error: {}\n", error.err_msg);
  return error.is_bad() ? 1 : 0;
}

void print_line(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

/// Lists the plans of mode B, without those of the engines of the CPU.
error_t list_kept_plans(KeptGraph& kept) {
  CHECK_WARPLOOM_ERROR(kept.graph.build_operation_graph(cpu()));
  CHECK_WARPLOOM_ERROR(kept.graph.create_execution_plans({HeurMode_t::B}));
  kept.graph.deselect_engines({"cpu"});
  return {};
}

error_t autotune(Graph& graph, const Inputs& inputs, const graph::TensorPtr& y) {
  std::vector<TensorMemory> memory;
  std::unordered_map<int64_t, void*> pack;
  for (const auto& [tensor, values] : inputs) {
    memory.emplace_back(*tensor).write(values);
    pack[tensor->get_uid()] = memory.back().pointer();
  }
  TensorMemory output(*y);
  pack[y->get_uid()] = output.pointer();
  std::vector<char> workspace(static_cast<size_t>(graph.get_autotune_workspace_size()));
  graph::AutotuneOptions options;
  options.budget = std::chrono::milliseconds(1);
  return graph.autotune(cpu(), pack, workspace.data(), options);
}

/// Whether every built plan gives what is expected.
error_t check_plans(const Graph& graph, const Inputs& inputs, const graph::TensorPtr& y,
                    const Values& expected) {
  ValuesByUid values;
  for (const auto& [tensor, of_tensor] : inputs) values[tensor->get_uid()] = of_tensor;
  const auto plans = graph.plans();
  for (size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i].is_built) continue;
    PlanRun run = run_plan(graph, cpu(), static_cast<int64_t>(i), values, {y->get_uid()});
    CHECK_WARPLOOM_ERROR(run.error);
    const std::string mismatch =
        compare(run.outputs[y->get_uid()], expected, Tolerance::of(DataType_t::FLOAT));
    if (!mismatch.empty() || !run.damage.empty())
      return {error_code_t::GRAPH_EXECUTION_FAILED,
              fmt::format("{}: {} {}", plans[i].name, mismatch, run.damage)};
  }
  return {};
}

Values numbers(int64_t count) {
  Values values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i * 7 % 11 - 5));
  return values;
}

error_t tune(int64_t n) {
  KeptGraph kept(n);
  CHECK_WARPLOOM_ERROR(list_kept_plans(kept));
  CHECK_WARPLOOM_ERROR(kept.graph.build_plans(BuildPlanPolicy_t::ALL));
  CHECK_WARPLOOM_ERROR(autotune(kept.graph, {{kept.x, numbers(n)}}, kept.y));
  for (const auto& plan : kept.graph.plans())
    if (plan.is_built) print_line(plan.name);
  return {};
}

error_t choose(int64_t n) {
  KeptGraph kept(n);
  CHECK_WARPLOOM_ERROR(list_kept_plans(kept));
  CHECK_WARPLOOM_ERROR(kept.graph.build_plans());
  Values expected = numbers(n);
  for (double& value : expected) value = std::max(value, 0.0);
  CHECK_WARPLOOM_ERROR(check_plans(kept.graph, {{kept.x, numbers(n)}}, kept.y, expected));
  std::string name;
  CHECK_WARPLOOM_ERROR(kept.graph.get_plan_name(name));
  print_line(name);
  return {};
}

error_t churn(uint32_t seed) {
  std::minstd_rand random(seed);
  for (int round = 0; round < 12; ++round) {
    const int number = static_cast<int>(random() % (kChurnGraphs + 1));
    if (number == kChurnGraphs) {
      CHECK_WARPLOOM_ERROR(choose(64));
      continue;
    }
    ChurnGraph churned = churn_graph(number);
    CHECK_WARPLOOM_ERROR(churned.graph.build(cpu(), {HeurMode_t::B}, BuildPlanPolicy_t::ALL));
    CHECK_WARPLOOM_ERROR(check_plans(churned.graph, churned.inputs, churned.y, churned.expected));
    CHECK_WARPLOOM_ERROR(autotune(churned.graph, churned.inputs, churned.y));
    for (const auto& plan : churned.graph.plans())
      if (plan.is_built && plan.groups.size() == 1)
        print_line(fmt::format("tuned {} {}", number, plan.name));
  }
  return {};
}

error_t record(int64_t number) {
  // The times of one process after the other, as fast as can be: most of the time is spent writing.
  for (int64_t i = 0; i < kRecords; ++i) {
    plan::TuningMemory memory(base::process_store());
    const auto [problem, offer, microseconds] = recorded(number, i);
    memory.record({{problem.key, {{problem.extents, {{offer, {microseconds, 1, i + 1}}}}}}});
    print_line(fmt::format("recorded {} {}", number, i));
  }
  return {};
}

}  // namespace

Recorded recorded(int64_t number, int64_t i) {
  return {{fmt::format("problem {}", i % 3), {{number}, 0}},
          fmt::format("offer {}", i),
          static_cast<double>(1000 * number + i + 1)};
}

ChurnGraph churn_graph(int number) {
  ChurnGraph churned;
  const int64_t rows = 8 * (number + 1), inner = 24, columns = 40;
  churned.graph.set_io_data_type(DataType_t::FLOAT)
      .set_intermediate_data_type(DataType_t::FLOAT)
      .set_compute_data_type(DataType_t::FLOAT);
  const auto input = [&](const char* name, int64_t n, int64_t m) {
    auto tensor = churned.graph.tensor(
        graph::Tensor_attributes().set_name(name).set_dim({1, n, m}).set_stride({n * m, m, 1}));
    churned.inputs.emplace_back(tensor, numbers(n * m));
    return tensor;
  };
  auto a = input("A", rows, inner), b = input("B", inner, columns),
       bias = input("bias", 1, columns);
  auto product = churned.graph.matmul(a, b, graph::Matmul_attributes());
  auto sum = churned.graph.pointwise(product, bias,
                                     graph::Pointwise_attributes().set_mode(PointwiseMode_t::ADD));
  churned.y = churned.graph.pointwise(
      sum, graph::Pointwise_attributes().set_mode(PointwiseMode_t::RELU_FWD));
  churned.y->set_output(true);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      double value = churned.inputs[2].second[static_cast<size_t>(j)];
      for (int64_t k = 0; k < inner; ++k)
        value += churned.inputs[0].second[static_cast<size_t>(i * inner + k)] *
                 churned.inputs[1].second[static_cast<size_t>(k * columns + j)];
      churned.expected.push_back(std::max(value, 0.0));
    }
  return churned;
}

int do_task(const std::string& task) {
  std::istringstream words(task);
  std::string what;
  int64_t number = 0;
  words >> what >> number;
  if (what == "tune") return status_of(tune(number));
  if (what == "choose") return status_of(choose(number));
  if (what == "build")
    return status_of(churn_graph(static_cast<int>(number))
                         .graph.build(cpu(), {HeurMode_t::B}, BuildPlanPolicy_t::ALL));
  if (what == "record") return status_of(record(number));
  if (what == "churn") return status_of(churn(static_cast<uint32_t>(number)));
  return 2;
}

}  // namespace warploom::test
