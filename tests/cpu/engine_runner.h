#pragma once
/// Runs groups on engines, on poisoned memory, and compares with what a test computed itself.
#include <map>
#include <memory>
#include <string>

#include <warploom/engine.h>

#include "harness/tensor_memory.h"

namespace warploom::test {

using ValuesById = std::map<ir::TensorId, Values>;

/// The engine of this name. Null if there is none.
std::shared_ptr<const engine::Engine> cpu_engine(const std::string& name);

Device cpu_device(int threads);

/// Reproducible values: small integers divided by `scale`.
Values random_values(int64_t count, uint64_t seed, double scale = 8, int64_t range = 16);

struct Accuracy {
  double relative = 0;  ///< of the largest magnitude in the tensor
  static Accuracy of(DataType_t type, double terms = 64);
};

/// Fails the test unless every candidate of the engine gives `expected`, with 1, 2 and 3 threads
/// the same bits, and writes nothing else.
void expect_engine(const std::string& engine, const fusion::FusionGroup& group,
                   const ValuesById& inputs, const ValuesById& expected, double terms = 64);

/// expect_engine for the named engine and for the fallback.
void expect_engine_and_generic(const std::string& engine, const fusion::FusionGroup& group,
                               const ValuesById& inputs, const ValuesById& expected,
                               double terms = 64);

/// What memory of this type and layout makes of these values: rounded, and where a stride is 0, one
/// for all.
Values as_stored(const Values& values, DataType_t type, const std::vector<int64_t>& dims,
                 const std::string& layout);

/// What the tensor's type makes of these values.
Values rounded(Values values, DataType_t type);

}  // namespace warploom::test
