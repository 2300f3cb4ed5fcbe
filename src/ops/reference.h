#pragma once
#include <span>

#include <warploom/frozen_graph.h>

#include "ops/arithmetic.h"

// What every operation computes: plain loops in double (in int64_t where the arithmetic is
// kInteger), each result rounded once to the type in which it is stored. This is the meaning of the
// operations; docs/semantics.md says the same in words.

namespace warploom::ops {

/// A tensor in memory. `type` is how its elements lie there, not what the graph declares: a virtual
/// float that must not be rounded lies there as DOUBLE.
struct ReferenceTensor {
  void* data = nullptr;  ///< null where an optional port is not used
  DataType_t type = DataType_t::NOT_SET;
  const ir::Shape* shape = nullptr;
  TensorReordering_t reordering = TensorReordering_t::NONE;

  explicit operator bool() const { return shape != nullptr; }
};

/// The tensors of one operation, by port.
struct ReferenceTensors {
  std::span<const ReferenceTensor> inputs, outputs;
};

/// Bytes of scratch memory, aligned to 8, that `evaluate` needs; data pointers are not looked at.
/// Negative if there are more than int64_t can count.
int64_t scratch_bytes(const graph::Operation& operation, const ReferenceTensors& tensors);

/// Computes the outputs. Allocates nothing. Tensors have the shapes that validation asks for.
void evaluate(const graph::Operation& operation, Arithmetic arithmetic,
              const ReferenceTensors& tensors, void* scratch);

}  // namespace warploom::ops
