#include "base/data_type.h"
#include "base/float8.h"
#include "engines/cpu/contraction.h"

namespace warploom::cpu {
namespace {

/// The most products of two bytes that an int32 holds: 2^31 / 2^16.
constexpr int64_t kMostIntegerDepth = 32768;
/// Packing takes memory, and the list of partial sums time, in proportion to K: beyond this, the
/// plain loops of the fallback are what is left.
constexpr int64_t kMostDepth = int64_t{1} << 28;

bool is_byte(DataType_t type) {
  return type == DataType_t::INT8 || type == DataType_t::UINT8;
}

bool fits_float(DataType_t type) {
  return base::fits_float(type) || base::is_small_floating(type);
}

}  // namespace

ContractionTypes contraction_types(const fusion::FusionGroup& group) {
  const ir::Node& node = group.node(group.anchor);
  ContractionTypes types{group.tensor(node.inputs[0]).data_type,
                         group.tensor(node.inputs[1]).data_type};
  for (const fusion::Prologue& prologue : group.prologues) {
    (prologue.port == 0 ? types.a : types.b) =
        compute_type(choose_compute(group, prologue.expression));
    types.has_prologue = true;
  }
  return types;
}

const GemmKernels* choose_kernels(const fusion::FusionGroup& group, const KernelTable& table) {
  const ContractionTypes types = contraction_types(group);
  const bool wants_double = group.node(group.anchor).compute_data_type == DataType_t::DOUBLE;
  auto fits_double = [](DataType_t type) { return fits_float(type) || type == DataType_t::DOUBLE; };
  const GemmKernels* kernels = nullptr;
  if (is_byte(types.a) && is_byte(types.b)) {
    if (!types.has_prologue) kernels = &table.gemm_int16;
  } else if (fits_float(types.a) && fits_float(types.b) && !wants_double) {
    const bool is_bfloat16 = types.a == DataType_t::BFLOAT16 && types.b == DataType_t::BFLOAT16;
    kernels = is_bfloat16 && table.gemm_bfloat16 ? &table.gemm_bfloat16 : &table.gemm_float;
  } else if (fits_double(types.a) && fits_double(types.b)) {
    kernels = &table.gemm_double;
  }
  return kernels && *kernels ? kernels : nullptr;
}

engine::Verdict check_contraction(const fusion::FusionGroup& group, const KernelTable& table,
                                  int64_t depth) {
  const ir::TensorId input = group.node(group.anchor).inputs[0];
  const ContractionTypes types = contraction_types(group);
  if (!choose_kernels(group, table))
    return refuse("there is a micro-kernel for the types of the inputs", group.anchor, input,
                  std::string(to_string(types.a)) + " times " + std::string(to_string(types.b)),
                  "FLOAT, HALF, BFLOAT16, 8-bit floats or DOUBLE; INT8 or UINT8 without prologue");
  if (is_byte(types.a) && depth > kMostIntegerDepth)
    return refuse("sums of bytes fit into 32 bits", group.anchor, input,
                  std::to_string(depth) + " products", std::to_string(kMostIntegerDepth));
  if (depth > kMostDepth)
    return refuse("a packed operand has a moderate depth", group.anchor, input,
                  std::to_string(depth) + " products", std::to_string(kMostDepth));
  return engine::Verdict::yes();
}

}  // namespace warploom::cpu
