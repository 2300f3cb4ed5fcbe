#include "ops/reference.h"

#include "ops/reference_families.h"

namespace warploom::ops {

int64_t scratch_bytes(const graph::Operation& operation, const ReferenceTensors& tensors) {
  constexpr ElementCount kMost = INT64_MAX / 8;
  const ElementCount elements = std::visit(
      [&](const auto& attributes) { return scratch_elements(attributes, tensors); }, operation);
  return elements > kMost ? -1 : static_cast<int64_t>(elements * 8);
}

void evaluate(const graph::Operation& operation, Arithmetic arithmetic,
              const ReferenceTensors& tensors, void* scratch) {
  std::visit(
      [&](const auto& attributes) {
        auto* integers = static_cast<int64_t*>(scratch);
        auto* numbers = static_cast<double*>(scratch);
        if constexpr (requires { reference(attributes, tensors); }) {
          reference(attributes, tensors);
        } else if constexpr (requires { reference(attributes, tensors, integers); }) {
          if (arithmetic == Arithmetic::kInteger)
            reference(attributes, tensors, integers);
          else
            reference(attributes, tensors, numbers);
        } else {
          reference(attributes, tensors, numbers);
        }
      },
      operation);
}

}  // namespace warploom::ops
