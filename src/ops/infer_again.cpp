#include "ops/infer_again.h"

#include <algorithm>
#include <concepts>

#include <fmt/format.h>

#include "ops/check.h"
#include "ops/reflection.h"
#include "ops/reshape_axes.h"
#include "ops/site.h"
#include "ops/strides.h"
#include "ops/virtual_strides.h"

namespace warploom::ops {
namespace {

using graph::Reduction_attributes;
using graph::Reshape_attributes;
using graph::SDPA_attributes;
using graph::SDPA_backward_attributes;
using graph::Slice_attributes;
using graph::Tensor_attributes;

Dims strides_of(const graph::Operation& operation, const DescribedPorts& described, size_t output) {
  const graph::TensorPtr &x = inputs(operation)[0], &y = outputs(operation)[output];
  const ir::Shape& old_y = *described.outputs[output];
  if (!x) return packed_like(y->get_dim(), old_y.dims, old_y.strides);  // random numbers
  return virtual_strides(operation, {*described.inputs[0], old_y}, x->get_stride(), y->get_dim());
}

// --- Before inference: what the operation or its result says of extents ---

template <class Attributes>
error_t follow(Attributes&, const Site&, const DescribedPorts&) {
  return {};
}

error_t follow(Reduction_attributes& reduction, const Site& site, const DescribedPorts& described) {
  Tensor_attributes& y = *reduction.outputs[Reduction_attributes::Y];
  if (!y.get_is_virtual()) return {};
  const Dims& x = reduction.inputs[Reduction_attributes::X]->get_dim();
  const ir::Shape &old_x = *described.inputs[0], &old_y = *described.outputs[0];
  Dims dims = x;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (old_x.dims[i] == 1 && x[i] != 1)
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED,
                         site.input(Reduction_attributes::X, i), show(x[i]),
                         fmt::format("1, as described: {} was 1 as well, so that it is not known "
                                     "whether this dim is reduced",
                                     site.output(Reduction_attributes::Y, i)));
    if (old_y.dims[i] == 1) dims[i] = 1;
  }
  y.set_dim(dims);
  return {};
}

// The strides are settled later; until then there must be some.
void follow_dims(Tensor_attributes& result, const Dims& dims) {
  if (result.get_is_virtual()) result.set_dim(dims).set_stride(row_major_strides(dims));
}

template <std::derived_from<SDPA_attributes> Attention>
error_t follow(Attention& sdpa, const Site&, const DescribedPorts&) {
  Dims dims = sdpa.inputs[SDPA_attributes::Q]->get_dim();
  dims[3] = sdpa.inputs[SDPA_attributes::V]->get_dim()[3];
  follow_dims(*sdpa.outputs[SDPA_attributes::O], dims);
  return {};
}

error_t follow(SDPA_backward_attributes& backward, const Site&, const DescribedPorts&) {
  using Backward = SDPA_backward_attributes;
  for (const auto& [input, output] : {std::pair{Backward::Q, Backward::dQ},
                                      {Backward::K, Backward::dK},
                                      {Backward::V, Backward::dV}})
    follow_dims(*backward.outputs[output], backward.inputs[input]->get_dim());
  return {};
}

error_t follow(Slice_attributes& slice, const Site&, const DescribedPorts& described) {
  const Dims &x = slice.inputs[0]->get_dim(), &old_x = described.inputs[0]->dims;
  auto slices = slice.get_slices();
  for (size_t i = 0; i < slices.size(); ++i)
    if (slices[i].second == old_x[i]) slices[i].second = x[i];
  slice.set_slices(std::move(slices));
  return {};
}

// Where nothing but the result says its dims, they stay, as does the extent that was pooled.
error_t follow(graph::Rng_attributes& rng, const Site&, const DescribedPorts& described) {
  Tensor_attributes& y = *rng.outputs[0];
  if (y.get_is_virtual()) {
    y.set_dim(described.outputs[0]->dims);
    return {};
  }
  if (!rng.get_dim().empty()) rng.set_dim(y.get_dim());
  if (!rng.get_stride().empty()) rng.set_stride(y.get_stride());
  return {};
}

error_t follow(graph::Resample_backward_attributes& resample, const Site&,
               const DescribedPorts& described) {
  Tensor_attributes& dx = *resample.outputs[0];
  if (!dx.get_is_virtual()) return {};
  const Dims& dy = resample.inputs[0]->get_dim();
  Dims dims = described.outputs[0]->dims;
  std::copy_n(dy.begin(), 2, dims.begin());
  dx.set_dim(dims);
  return {};
}

// Extent of the parts of an axis that was split: the first that is more than 1 changes.
bool split_again(const Dims& old_y, const AxisBlock& block, int64_t elements, Dims& dims) {
  const auto begin = old_y.begin() + static_cast<long>(block.y_begin);
  const auto end = old_y.begin() + static_cast<long>(block.y_end);
  const auto first = std::find_if(begin, end, [](int64_t dim) { return dim != 1; });
  const auto changing = static_cast<size_t>((first == end ? begin : first) - old_y.begin());
  int64_t others = 1;
  for (size_t i = block.y_begin; i < block.y_end; ++i)
    if (i != changing) others *= old_y[i];
  if (others == 0 || elements % others != 0) return false;
  dims[changing] = elements / others;
  return true;
}

error_t reshape_again(const std::vector<AxisBlock>& blocks, const Reshape_attributes& reshape,
                      const Site& site, const DescribedPorts& described, Dims& dims) {
  const Dims& x = reshape.inputs[0]->get_dim();
  const Dims &old_x = described.inputs[0]->dims, &old_y = described.outputs[0]->dims;
  dims = old_y;
  for (const AxisBlock& block : blocks) {
    int64_t elements = 1;
    bool is_same = true;
    for (size_t i = block.x_begin; i < block.x_end; ++i) {
      is_same &= x[i] == old_x[i];
      if (__builtin_mul_overflow(elements, x[i], &elements))
        return site.refuse(error_code_t::INVALID_VALUE, site.input(0), show(x),
                           "fewer elements than 2^63");
    }
    if (is_same) continue;
    const bool is_clear = (block.is_split() || block.is_merged()) && block.y_begin < block.y_end;
    if (!is_clear || !split_again(old_y, block, elements, dims))
      return site.refuse(
          error_code_t::SHAPE_DEDUCTION_FAILED, site.output(0) + ", dims",
          fmt::format("no dims that follow from {} as {} follows from {}", show(x), show(old_y),
                      show(old_x)),
          "changed dims that are kept, merged into one, or split so that only the first part "
          "changes");
  }
  return {};
}

error_t follow(Reshape_attributes& reshape, const Site& site, const DescribedPorts& described) {
  const Tensor_attributes& x = *reshape.inputs[0];
  Tensor_attributes& y = *reshape.outputs[0];
  const ir::Shape &old_x = *described.inputs[0], &old_y = *described.outputs[0];
  if (!y.get_is_virtual()) {
    reshape.set_dim(y.get_dim());
    if (!reshape.get_stride().empty()) reshape.set_stride(y.get_stride());
    return {};
  }
  Dims dims = old_y.dims, strides = old_y.strides;
  if (x.get_dim() != old_x.dims || x.get_stride() != old_x.strides) {
    const auto blocks = matching_axes(old_x.dims, old_y.dims);
    CHECK_WARPLOOM_ERROR(reshape_again(
        blocks.value_or(std::vector{AxisBlock{0, old_x.dims.size(), 0, old_y.dims.size()}}),
        reshape, site, described, dims));
    strides = virtual_strides(reshape, {old_x, old_y}, x.get_stride(), dims);
  }
  y.set_dim(dims).set_stride(strides);
  reshape.set_dim(dims);
  if (!reshape.get_stride().empty()) reshape.set_stride(strides);
  return {};
}

}  // namespace

error_t infer_again(graph::Operation& operation, const DescribedPorts& described) {
  CHECK_WARPLOOM_ERROR(
      std::visit([&](auto& attributes) { return follow(attributes, Site(attributes), described); },
                 operation));
  CHECK_WARPLOOM_ERROR(infer_and_validate(operation, {}));
  // A reshape has its strides already.
  if (std::holds_alternative<Reshape_attributes>(operation)) return {};
  for (size_t port = 0; port < outputs(operation).size(); ++port)
    if (const auto& result = outputs(operation)[port]; result && result->get_is_virtual())
      result->set_stride(strides_of(operation, described, port));
  return {};
}

}  // namespace warploom::ops
