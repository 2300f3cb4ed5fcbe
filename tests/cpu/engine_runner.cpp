#include "cpu/engine_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engines/cpu/engines.h"
#include "harness/element.h"
#include "harness/layout.h"

namespace warploom::test {
namespace {

graph::Tensor_attributes attributes_of(const ir::Tensor& tensor) {
  graph::Tensor_attributes attributes;
  attributes.set_name(tensor.name).set_data_type(tensor.data_type);
  attributes.set_dim(tensor.shape.dims).set_stride(tensor.shape.strides);
  return attributes;
}

std::string knobs_text(const engine::Candidate& candidate) {
  std::string text = candidate.engine;
  for (const auto& [knob, value] : candidate.knobs)
    text += " " + std::string(to_string(knob)) + "=" + std::to_string(value);
  return text;
}

void run_once(const engine::BoundKernel& kernel, const fusion::FusionGroup& group,
              const ValuesById& inputs, ValuesById& outputs) {
  std::vector<std::unique_ptr<TensorMemory>> memory;
  std::vector<void*> pointers;
  for (ir::TensorId id : group.inputs) {
    memory.push_back(std::make_unique<TensorMemory>(attributes_of(group.tensor(id))));
    ASSERT_TRUE(inputs.contains(id)) << group.tensor(id).name;
    memory.back()->write(inputs.at(id));
  }
  for (ir::TensorId id : group.outputs)
    memory.push_back(std::make_unique<TensorMemory>(attributes_of(group.tensor(id))));
  for (auto& tensor : memory) pointers.push_back(tensor->pointer());
  GuardedBuffer workspace(kernel.workspace_bytes());
  const error_t error = kernel.launch(nullptr, pointers, workspace.data());
  ASSERT_TRUE(error.is_good()) << error.err_msg;
  EXPECT_TRUE(workspace.guards_are_intact());
  for (size_t i = 0; i < memory.size(); ++i)
    EXPECT_EQ(memory[i]->damage(i >= group.inputs.size()), "");
  for (size_t i = 0; i < group.outputs.size(); ++i)
    outputs[group.outputs[i]] = memory[group.inputs.size() + i]->read();
}

/// Smaller differences are the lowest bits of numbers that float hardly holds.
constexpr double kDenormal = 1e-40;

void expect_near(const Values& got, const Values& expected, double relative,
                 const std::string& name) {
  ASSERT_EQ(got.size(), expected.size()) << name;
  double largest = 0;
  for (double value : expected)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < got.size(); ++i) {
    const bool same = std::isnan(expected[i]) ? std::isnan(got[i])
                      : std::isinf(expected[i])
                          ? got[i] == expected[i]
                          : std::abs(got[i] - expected[i]) <= relative * largest + kDenormal;
    ASSERT_TRUE(same) << name << "[" << i << "] is " << got[i] << ", not " << expected[i];
  }
}

}  // namespace

std::shared_ptr<const engine::Engine> cpu_engine(const std::string& name) {
  static const auto engines = engines::cpu::make_engines();
  for (const auto& engine : engines)
    if (engine->info().name == name) return engine;
  return nullptr;
}

Device cpu_device(int threads) {
  Device device;
  device.parallelism = threads;
  return device;
}

Values random_values(int64_t count, uint64_t seed, double scale, int64_t range) {
  Values values;
  uint64_t state = seed * 0x9E3779B97F4A7C15 + 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    values.push_back(
        static_cast<double>(static_cast<int64_t>(state >> 33) % (2 * range + 1) - range) / scale);
  }
  return values;
}

Accuracy Accuracy::of(DataType_t type, double terms) {
  switch (type) {
    case DataType_t::FLOAT:
      return {terms * 1.2e-7};
    case DataType_t::DOUBLE:
      return {terms * 2.3e-16};
    case DataType_t::HALF:
      return {1e-3 + terms * 1.2e-7};
    case DataType_t::BFLOAT16:
      return {8e-3 + terms * 1.2e-7};
    default:
      return {0};
  }
}

void expect_engine(const std::string& name, const fusion::FusionGroup& group,
                   const ValuesById& inputs, const ValuesById& expected, double terms) {
  const auto engine = cpu_engine(name);
  ASSERT_TRUE(engine) << name;
  std::vector<ValuesById> first;
  for (int threads : {1, 2, 3}) {
    const Device device = cpu_device(threads);
    const engine::Verdict verdict = engine->supports(group, device);
    ASSERT_TRUE(verdict.is_supported)
        << name << ": " << verdict.refusal.rule << ": " << verdict.refusal.found;
    auto candidates = engine->candidates(group, device);
    ASSERT_TRUE(candidates.is_good()) << candidates.error().err_msg;
    // In an order that does not depend on the predictions for so many threads.
    std::sort(candidates.value().begin(), candidates.value().end(),
              [](const auto& a, const auto& b) { return a.knobs < b.knobs; });
    for (size_t i = 0; i < candidates.value().size(); ++i) {
      const engine::Candidate& candidate = candidates.value()[i];
      SCOPED_TRACE(knobs_text(candidate) + ", threads " + std::to_string(threads));
      auto kernel = engine->build(group, candidate, device);
      ASSERT_TRUE(kernel.is_good()) << kernel.error().err_msg;
      std::vector<ir::Shape> shapes;
      for (const ir::Tensor& tensor : group.graph->tensors) shapes.push_back(tensor.shape);
      auto bound = kernel.value()->bind(shapes);
      ASSERT_TRUE(bound.is_good()) << bound.error().err_msg;
      EXPECT_EQ(bound.value()->workspace_bytes(), candidate.workspace_bytes);
      ValuesById outputs;
      run_once(*bound.value(), group, inputs, outputs);
      if (testing::Test::HasFatalFailure()) return;
      for (const auto& [id, values] : expected)
        expect_near(outputs[id], values, Accuracy::of(group.tensor(id).data_type, terms).relative,
                    group.tensor(id).name);
      if (testing::Test::HasFatalFailure()) return;
      if (threads == 1)
        first.push_back(std::move(outputs));
      else
        for (const auto& [id, values] : first[i])
          EXPECT_TRUE(values.empty() || std::memcmp(values.data(), outputs[id].data(),
                                                    values.size() * sizeof(double)) == 0)
              << group.tensor(id).name << " depends on the number of threads";
    }
  }
}

void expect_engine_and_generic(const std::string& engine, const fusion::FusionGroup& group,
                               const ValuesById& inputs, const ValuesById& expected, double terms) {
  expect_engine(engine, group, inputs, expected, terms);
  if (!testing::Test::HasFatalFailure())
    expect_engine("cpu.generic", group, inputs, expected, terms);
}

Values as_stored(const Values& values, DataType_t type, const std::vector<int64_t>& dims,
                 const std::string& layout) {
  graph::Tensor_attributes attributes;
  attributes.set_data_type(type).set_dim(dims).set_stride(strides_of_layout(layout, dims));
  TensorMemory memory(attributes);
  memory.write(values);
  return memory.read();
}

Values rounded(Values values, DataType_t type) {
  for (double& value : values) value = round_to(value, type);
  return values;
}

}  // namespace warploom::test
