#include <algorithm>

#include <fmt/format.h>

#include "ops/families.h"
#include "ops/strides.h"

namespace warploom::ops {
namespace {

using Matmul = graph::Matmul_attributes;

// The larger of two batch extents where the other divides it; a 1 gives way to a 0.
bool combine_batch(int64_t a, int64_t b, int64_t& combined) {
  combined = a == 1 ? b : b == 1 ? a : std::max(a, b);
  const int64_t least = std::min(a, b);
  return a == b || a == 1 || b == 1 || (least > 0 && combined % least == 0);
}

error_t check_override(const Matmul& matmul, const Site& site, size_t port, const Dims& batch) {
  if (!matmul.inputs[port]) return {};
  const graph::Tensor_attributes& tensor = *matmul.inputs[port];
  if (tensor.get_data_type() != DataType_t::INT32 && tensor.get_data_type() != DataType_t::INT64)
    return site.refuse(error_code_t::INVALID_VALUE, site.input(port) + ", data type",
                       show(tensor.get_data_type()), "INT32 or INT64");
  Dims accepted = batch;
  accepted.resize(batch.size() + 2, 1);
  if (tensor.get_dim() != accepted)
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port) + ", dims",
                       show(tensor.get_dim()), show(accepted) + ": one size for each batch");
  return {};
}

}  // namespace

error_t validate(const Matmul& matmul, const Site& site) {
  const Dims& a = matmul.inputs[Matmul::A]->get_dim();
  const Dims& b = matmul.inputs[Matmul::B]->get_dim();
  if (a.size() < 2)
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(Matmul::A),
                       show(a.size()) + " dims", "2 or more");
  if (b.size() != a.size())
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(Matmul::B),
                       show(b.size()) + " dims",
                       fmt::format("{}, as {} has", a.size(), site.input(Matmul::A)));
  const size_t rank = a.size();
  if (a[rank - 1] != b[rank - 2])
    return site.refuse(
        error_code_t::SHAPE_DEDUCTION_FAILED, site.input(Matmul::B, rank - 2, "K"),
        show(b[rank - 2]),
        fmt::format("{}, dim {} of {}", a[rank - 1], rank - 1, site.input(Matmul::A)));
  Dims batch(rank - 2);
  for (size_t i = 0; i < batch.size(); ++i)
    if (!combine_batch(a[i], b[i], batch[i]))
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(Matmul::B, i, "batch"),
                         show(b[i]),
                         fmt::format("a divisor or a multiple of {}, dim {} of {}", a[i], i,
                                     site.input(Matmul::A)));
  for (size_t port : {Matmul::M_override, Matmul::N_override, Matmul::K_override})
    CHECK_WARPLOOM_ERROR(check_override(matmul, site, port, batch));
  return {};
}

error_t infer(Matmul& matmul, const Site& site) {
  const Dims& a = matmul.inputs[Matmul::A]->get_dim();
  const Dims& b = matmul.inputs[Matmul::B]->get_dim();
  Dims c = a;
  for (size_t i = 0; i + 2 < c.size(); ++i) combine_batch(a[i], b[i], c[i]);
  c.back() = b.back();
  graph::Tensor_attributes& output = *matmul.outputs[Matmul::C];
  CHECK_WARPLOOM_ERROR(infer_dims(site, Matmul::C, output, c));
  if (output.get_stride().empty()) output.set_stride(row_major_strides(c));
  return {};
}

}  // namespace warploom::ops
