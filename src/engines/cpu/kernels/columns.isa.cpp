#include "engines/cpu/kernels/levels.h"
#include "engines/cpu/kernels/row_step.h"

// Every column has statistics of its own. Memory is read as it lies, a few rows at a time: what
// belongs to columns is then loaded, and stored, once for all of those rows.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

constexpr int kRowsAtOnce = 4;

template <int count>
struct Rows {};

/// body(first row, Rows<how many>)
template <class Body>
WARPLOOM_INLINE void for_each_rows(int64_t rows, Body&& body) {
  int64_t r = 0;
  for (; r + kRowsAtOnce <= rows; r += kRowsAtOnce) body(r, Rows<kRowsAtOnce>{});
  for (; r < rows; ++r) body(r, Rows<1>{});
}

/// What a column has, for the columns of a step.
WARPLOOM_INLINE TwoF64 load_two(const double* p) {
  return {load(p), load(p + kLanes<double>)};
}
WARPLOOM_INLINE void store_two(double* p, TwoF64 v) {
  store(p, v.low);
  store(p + kLanes<double>, v.high);
}

template <class T>
const T* elements(ColumnMatrix matrix, int64_t row) {
  return static_cast<const T*>(matrix.data) + row * matrix.stride;
}

template <class T, int count>
WARPLOOM_INLINE void add_shifted(const T* x, int64_t stride, int64_t columns, const double* shift,
                                 double* sums, double* squares) {
  int64_t c = 0;
  for (; c + kStep <= columns; c += kStep) {
    const TwoF64 shifts = load_two(shift + c);
    TwoF64 sum = load_two(sums + c), square = load_two(squares + c);
    for (int r = 0; r < count; ++r) {
      const TwoF64 v = load_step(x + r * stride + c);
      const F64 low = v.low - shifts.low, high = v.high - shifts.high;
      sum.low += low, sum.high += high;
      square.low = fma(low, low, square.low), square.high = fma(high, high, square.high);
    }
    store_two(sums + c, sum);
    store_two(squares + c, square);
  }
  for (; c < columns; ++c)
    for (int r = 0; r < count; ++r) {
      const double left = static_cast<double>(x[r * stride + c]) - shift[c];
      sums[c] += left;
      squares[c] += left * left;
    }
}

template <class T>
void shifted_sums(ColumnMatrix x, int64_t rows, int64_t columns, const double* shift, double* sums,
                  double* squares) {
  for_each_rows(rows, [&]<int count>(int64_t r, Rows<count>) {
    add_shifted<T, count>(elements<T>(x, r), x.stride, columns, shift, sums, squares);
  });
}

template <class T, int count>
WARPLOOM_INLINE void normalize_rows(const T* x, int64_t stride, int64_t columns, const double* mean,
                                    const double* factor, const double* offset, T* y,
                                    int64_t y_stride) {
  int64_t c = 0;
  for (; c + kStep <= columns; c += kStep) {
    const TwoF64 means = load_two(mean + c), factors = load_two(factor + c);
    const TwoF64 offsets = load_two(offset + c);
    for (int r = 0; r < count; ++r) {
      const TwoF64 v = load_step(x + r * stride + c);
      store_step(y + r * y_stride + c, {fma(v.low - means.low, factors.low, offsets.low),
                                        fma(v.high - means.high, factors.high, offsets.high)});
    }
  }
  for (; c < columns; ++c)
    for (int r = 0; r < count; ++r)
      y[r * y_stride + c] = static_cast<T>(
          (static_cast<double>(x[r * stride + c]) - mean[c]) * factor[c] + offset[c]);
}

template <class T>
void normalize(ColumnMatrix x, int64_t rows, int64_t columns, const double* mean,
               const double* factor, const double* offset, void* y, int64_t y_stride) {
  for_each_rows(rows, [&]<int count>(int64_t r, Rows<count>) {
    normalize_rows<T, count>(elements<T>(x, r), x.stride, columns, mean, factor, offset,
                             static_cast<T*>(y) + r * y_stride, y_stride);
  });
}

template <class T, int count>
WARPLOOM_INLINE void add_gradient(const T* dy, int64_t dy_stride, const T* x, int64_t x_stride,
                                  int64_t columns, const double* mean, double* sums,
                                  double* products) {
  int64_t c = 0;
  for (; c + kStep <= columns; c += kStep) {
    const TwoF64 means = load_two(mean + c);
    TwoF64 sum = load_two(sums + c), product = load_two(products + c);
    for (int r = 0; r < count; ++r) {
      const TwoF64 v = load_step(x + r * x_stride + c), g = load_step(dy + r * dy_stride + c);
      sum.low += g.low, sum.high += g.high;
      product.low = fma(g.low, v.low - means.low, product.low);
      product.high = fma(g.high, v.high - means.high, product.high);
    }
    store_two(sums + c, sum);
    store_two(products + c, product);
  }
  for (; c < columns; ++c)
    for (int r = 0; r < count; ++r) {
      const auto g = static_cast<double>(dy[r * dy_stride + c]);
      sums[c] += g;
      products[c] += g * (static_cast<double>(x[r * x_stride + c]) - mean[c]);
    }
}

template <class T>
void gradient_sums(ColumnMatrix dy, ColumnMatrix x, int64_t rows, int64_t columns,
                   const double* mean, double* sums, double* products) {
  for_each_rows(rows, [&]<int count>(int64_t r, Rows<count>) {
    add_gradient<T, count>(elements<T>(dy, r), dy.stride, elements<T>(x, r), x.stride, columns,
                           mean, sums, products);
  });
}

/// For every column.
struct ColumnWeights {
  const double *mean, *of_dy, *of_x, *offset;
};

template <class T, int count>
WARPLOOM_INLINE void write_gradient(const T* dy, int64_t dy_stride, const T* x, int64_t x_stride,
                                    int64_t columns, const ColumnWeights& weights, T* dx,
                                    int64_t dx_stride) {
  int64_t c = 0;
  for (; c + kStep <= columns; c += kStep) {
    const TwoF64 means = load_two(weights.mean + c), by_dy = load_two(weights.of_dy + c);
    const TwoF64 by_x = load_two(weights.of_x + c), rest = load_two(weights.offset + c);
    for (int r = 0; r < count; ++r) {
      const TwoF64 v = load_step(x + r * x_stride + c), g = load_step(dy + r * dy_stride + c);
      store_step(dx + r * dx_stride + c,
                 {fma(g.low, by_dy.low, fma(v.low - means.low, by_x.low, rest.low)),
                  fma(g.high, by_dy.high, fma(v.high - means.high, by_x.high, rest.high))});
    }
  }
  for (; c < columns; ++c)
    for (int r = 0; r < count; ++r)
      dx[r * dx_stride + c] = static_cast<T>(
          static_cast<double>(dy[r * dy_stride + c]) * weights.of_dy[c] +
          ((static_cast<double>(x[r * x_stride + c]) - weights.mean[c]) * weights.of_x[c] +
           weights.offset[c]));
}

template <class T>
void gradient(ColumnMatrix dy, ColumnMatrix x, int64_t rows, int64_t columns, const double* mean,
              const double* of_dy, const double* of_x, const double* offset, void* dx,
              int64_t dx_stride) {
  const ColumnWeights weights{mean, of_dy, of_x, offset};
  for_each_rows(rows, [&]<int count>(int64_t r, Rows<count>) {
    write_gradient<T, count>(elements<T>(dy, r), dy.stride, elements<T>(x, r), x.stride, columns,
                             weights, static_cast<T*>(dx) + r * dx_stride, dx_stride);
  });
}

template <class T>
ColumnKernels columns_of() {
  return {shifted_sums<T>, normalize<T>, gradient_sums<T>, gradient<T>};
}

}  // namespace

ColumnKernels float_columns() {
  return columns_of<float>();
}

ColumnKernels double_columns() {
  return columns_of<double>();
}

}  // namespace warploom::cpu::WARPLOOM_ISA
