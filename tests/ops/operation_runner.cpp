#include "ops/operation_runner.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "ops/arithmetic.h"
#include "ops/ragged.h"
#include "ops/reference.h"
#include "ops/reflection.h"
#include "ops/strides.h"

namespace warploom::test {

TensorPtr input(const std::string& name, const Dims& dims, DataType_t type, const Dims& strides) {
  auto tensor = std::make_shared<graph::Tensor_attributes>();
  tensor->set_name(name).set_dim(dims).set_data_type(type).set_stride(
      strides.empty() ? ops::row_major_strides(dims) : strides);
  return tensor;
}

TensorPtr result(const std::string& name) {
  auto tensor = std::make_shared<graph::Tensor_attributes>();
  tensor->set_name(name).set_is_virtual(true);
  return tensor;
}

TensorPtr output(DataType_t type, const Dims& dims, const Dims& strides) {
  TensorPtr tensor = result("out");
  tensor->set_output(true).set_data_type(type).set_dim(dims).set_stride(strides);
  return tensor;
}

void expect_refused(graph::Operation operation, error_code_t code,
                    std::initializer_list<std::string_view> parts, const ops::GraphTypes& types) {
  const error_t error = ops::infer_and_validate(operation, types);
  EXPECT_EQ(to_string(error.code), to_string(code)) << error.err_msg;
  for (std::string_view part : parts)
    EXPECT_NE(error.err_msg.find(part), std::string::npos)
        << "no \"" << part << "\" in: " << error.err_msg;
  // Whatever is wrong, the message says where.
  EXPECT_EQ(error.err_msg.find(std::string(ops::tag(operation)) + " \"" + ops::name(operation)), 0u)
      << error.err_msg;
}

void expect_accepted(graph::Operation operation, const ops::GraphTypes& types) {
  const error_t error = ops::infer_and_validate(operation, types);
  EXPECT_TRUE(error.is_good()) << error.err_msg;
}

namespace {

struct Placed {
  std::unique_ptr<TensorMemory> memory;
  ir::Shape shape;
  DataType_t type = DataType_t::NOT_SET;
  TensorReordering_t reordering = TensorReordering_t::NONE;

  explicit Placed(const TensorPtr& tensor) {
    if (!tensor) return;
    memory = std::make_unique<TensorMemory>(*tensor);
    shape = {tensor->get_dim(), tensor->get_stride()};
    type = tensor->get_data_type();
    reordering = tensor->get_reordering_type();
  }
  std::string damage(bool may_change) const { return memory ? memory->damage(may_change) : ""; }
  ops::ReferenceTensor reference() {
    return memory ? ops::ReferenceTensor{memory->pointer(), type, &shape, reordering}
                  : ops::ReferenceTensor{};
  }
};

ops::Arithmetic arithmetic_of(const graph::Operation& operation) {
  ir::FrozenGraph graph;
  ir::Node node;
  node.operation = operation;
  node.compute_data_type = ops::compute_data_type(operation);
  for (const TensorPtr& tensor : ops::inputs(operation)) {
    node.inputs.push_back(tensor ? static_cast<ir::TensorId>(graph.tensors.size()) : ir::kNoTensor);
    if (!tensor) continue;
    graph.tensors.emplace_back().data_type = tensor->get_data_type();
  }
  return ops::arithmetic_of(graph, node);
}

}  // namespace

std::vector<Values> run(graph::Operation operation, const std::vector<Values>& values,
                        const ops::GraphTypes& types) {
  const error_t error = ops::infer_and_validate(operation, types);
  EXPECT_TRUE(error.is_good()) << error.err_msg;
  if (error.is_bad()) return {};
  ops::set_ragged_ports(operation);
  std::vector<Placed> inputs, outputs;
  for (const TensorPtr& tensor : ops::inputs(operation)) inputs.emplace_back(tensor);
  for (const TensorPtr& tensor : ops::outputs(operation)) outputs.emplace_back(tensor);
  std::vector<ops::ReferenceTensor> input_tensors, output_tensors;
  for (size_t port = 0; port < inputs.size(); ++port) {
    if (inputs[port].memory && port < values.size()) inputs[port].memory->write(values[port]);
    input_tensors.push_back(inputs[port].reference());
  }
  for (Placed& placed : outputs) output_tensors.push_back(placed.reference());
  const ops::ReferenceTensors tensors{input_tensors, output_tensors};
  GuardedBuffer scratch(ops::scratch_bytes(operation, tensors));
  ops::evaluate(operation, arithmetic_of(operation), tensors, scratch.data());

  EXPECT_TRUE(scratch.guards_are_intact());
  std::vector<Values> found;
  for (Placed& placed : inputs) EXPECT_EQ(placed.damage(false), "");
  for (Placed& placed : outputs) {
    EXPECT_EQ(placed.damage(true), "");
    found.push_back(placed.memory ? placed.memory->read() : Values{});
  }
  return found;
}

Values run_one(graph::Operation operation, const std::vector<Values>& inputs,
               const ops::GraphTypes& types) {
  std::vector<Values> outputs = run(std::move(operation), inputs, types);
  return outputs.empty() ? Values{} : outputs[0];
}

Values count_up(int64_t count, double scale) {
  Values values;
  for (int64_t i = 1; i <= count; ++i) values.push_back(static_cast<double>(i) * scale);
  return values;
}

Values random_values(int64_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  Values values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back((static_cast<double>(generator() % 129) - 64) / 64);
  return values;
}

void expect_near(const Values& found, const Values& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(found[i])) << "element " << i << " is " << found[i];
    } else if (std::isinf(expected[i]) || std::isinf(found[i]) || std::isnan(found[i])) {
      EXPECT_EQ(found[i], expected[i]) << "element " << i;
    } else {
      EXPECT_NEAR(found[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i])))
          << "element " << i;
    }
  }
}

}  // namespace warploom::test
