#include <algorithm>

#include "ops/reference_families.h"

namespace warploom::ops {
namespace {

using Matmul = graph::Matmul_attributes;

// The part of a matrix that is in use; beyond it `padding` is read.
template <class Number>
void pad(Number* matrix, int64_t rows, int64_t columns, int64_t rows_in_use, int64_t columns_in_use,
         Number padding) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = row < rows_in_use ? columns_in_use : 0; column < columns; ++column)
      matrix[row * columns + column] = padding;
}

int64_t size_in_use(const ReferenceTensor& sizes, const Index& batch, int64_t size) {
  if (!sizes) return size;
  return std::clamp<int64_t>(load<int64_t>(sizes, offset_of(*sizes.shape, batch)), 0, size);
}

// One matrix of a batch, row-major. A smaller batch serves runs of consecutive results.
template <class Number>
void unpack_matrix(const ReferenceTensor& tensor, const ReferenceTensor& result, const Index& batch,
                   Number* matrix) {
  const ir::Shape& shape = *tensor.shape;
  const size_t rank = shape.dims.size();
  int64_t start = 0;
  for (size_t i = 0; i + 2 < rank; ++i)
    start += batch[i] / (result.shape->dims[i] / shape.dims[i]) * shape.strides[i];
  for (int64_t row = 0; row < shape.dims[rank - 2]; ++row)
    for (int64_t column = 0; column < shape.dims[rank - 1]; ++column)
      *matrix++ = load<Number>(
          tensor, start + row * shape.strides[rank - 2] + column * shape.strides[rank - 1]);
}

}  // namespace

// One matrix of each operand, and one of the result.
ElementCount scratch_elements(const Matmul&, const ReferenceTensors& tensors) {
  const auto& a = tensors.inputs[Matmul::A].shape->dims;
  const auto& b = tensors.inputs[Matmul::B].shape->dims;
  const ElementCount m = a[a.size() - 2], k = a.back(), n = b.back();
  return m * k + k * n + m * n;
}

template <class Number>
void reference(const Matmul& matmul, const ReferenceTensors& tensors, Number* scratch) {
  const ReferenceTensor& a_tensor = tensors.inputs[Matmul::A];
  const ReferenceTensor& b_tensor = tensors.inputs[Matmul::B];
  const ReferenceTensor& c_tensor = tensors.outputs[Matmul::C];
  const auto& c_dims = c_tensor.shape->dims;
  const size_t rank = c_dims.size();
  const int64_t m = c_dims[rank - 2], n = c_dims[rank - 1], k = a_tensor.shape->dims[rank - 1];
  Number* a = scratch;
  Number* b = a + m * k;
  Number* c = b + k * n;
  Number padding{};
  if constexpr (std::is_same_v<Number, int64_t>)
    padding = base::to_int64(matmul.get_padding());
  else
    padding = matmul.get_padding();

  for_each_index(std::span(c_dims).first(rank - 2), [&](const Index& batch) {
    const int64_t m_used = size_in_use(tensors.inputs[Matmul::M_override], batch, m);
    const int64_t n_used = size_in_use(tensors.inputs[Matmul::N_override], batch, n);
    const int64_t k_used = size_in_use(tensors.inputs[Matmul::K_override], batch, k);
    unpack_matrix(a_tensor, c_tensor, batch, a);
    unpack_matrix(b_tensor, c_tensor, batch, b);
    pad(a, m, k, m_used, k_used, padding);
    pad(b, k, n, k_used, n_used, padding);
    std::fill(c, c + m * n, Number{});
    for (int64_t i = 0; i < m; ++i)
      for (int64_t step = 0; step < k; ++step)
        for (int64_t j = 0; j < n; ++j)
          c[i * n + j] = multiply_add(c[i * n + j], a[i * k + step], b[step * n + j]);
    Index index = batch;
    for (index[rank - 2] = 0; index[rank - 2] < m; ++index[rank - 2])
      for (index[rank - 1] = 0; index[rank - 1] < n; ++index[rank - 1])
        store(c_tensor, offset_of(*c_tensor.shape, index),
              c[index[rank - 2] * n + index[rank - 1]]);
  });
}

template void reference(const Matmul&, const ReferenceTensors&, double*);
template void reference(const Matmul&, const ReferenceTensors&, int64_t*);

}  // namespace warploom::ops
