#pragma once
/// One operation, described, checked and computed without a graph.
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <warploom/ops/operation.h>

#include "harness/tensor_memory.h"
#include "ops/check.h"

namespace warploom::test {

using graph::TensorPtr;
using Dims = std::vector<int64_t>;

/// A graph input, row-major unless strides are given.
TensorPtr input(const std::string& name, const Dims& dims, DataType_t type = DataType_t::FLOAT,
                const Dims& strides = {});
/// What a Graph's method returns before the user says more: virtual, without dims.
TensorPtr result(const std::string& name = "result");
/// The same, made an output.
TensorPtr output(DataType_t type = DataType_t::NOT_SET, const Dims& dims = {},
                 const Dims& strides = {});

inline constexpr ops::GraphTypes kAllFloat{DataType_t::FLOAT, DataType_t::FLOAT, DataType_t::FLOAT};

/// `attributes` with these tensors, by port.
template <class Attributes>
Attributes with(Attributes attributes, std::vector<TensorPtr> inputs,
                std::vector<TensorPtr> outputs) {
  attributes.inputs = std::move(inputs);
  attributes.outputs = std::move(outputs);
  if (attributes.name.empty()) attributes.name = "node";
  return attributes;
}

/// Checks, and expects an error of this code whose message has all the parts.
void expect_refused(graph::Operation operation, error_code_t code,
                    std::initializer_list<std::string_view> parts,
                    const ops::GraphTypes& types = kAllFloat);
/// Checks, and expects no error.
void expect_accepted(graph::Operation operation, const ops::GraphTypes& types = kAllFloat);

/// Checks the operation and computes it on poisoned, guarded memory: the values of its outputs by
/// port (empty where there is none). `inputs` by port. Elements that are not inputs keep their
/// bytes.
std::vector<Values> run(graph::Operation operation, const std::vector<Values>& inputs,
                        const ops::GraphTypes& types = kAllFloat);
/// The first output alone.
Values run_one(graph::Operation operation, const std::vector<Values>& inputs,
               const ops::GraphTypes& types = kAllFloat);

/// 1, 2, 3 ... scaled.
Values count_up(int64_t count, double scale = 1);
/// Uniform in -1 to 1 with a fixed seed; multiples of 1/64, so that sums of products are exact.
Values random_values(int64_t count, uint32_t seed = 1);

void expect_near(const Values& found, const Values& expected, double tolerance = 1e-12);

}  // namespace warploom::test
