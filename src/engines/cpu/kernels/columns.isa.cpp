#include "engines/cpu/kernels/levels.h"
#include "engines/cpu/kernels/row_step.h"

// Every column has statistics of its own: down a strip of columns one vector wide, with the
// strip's statistics and sums in registers.

namespace warploom::cpu::WARPLOOM_ISA {
namespace {

/// Statistics of a strip.
WARPLOOM_INLINE TwoF64 load_two(const double* p) {
  return {load(p), load(p + kLanes<double>)};
}
WARPLOOM_INLINE void add_two(double* p, TwoF64 v) {
  store(p, load(p) + v.low);
  store(p + kLanes<double>, load(p + kLanes<double>) + v.high);
}

template <class T>
const T* elements(ColumnMatrix matrix) {
  return static_cast<const T*>(matrix.data);
}

template <class T>
void shifted_sums(ColumnMatrix x, int64_t rows, int64_t columns, const double* shift, double* sums,
                  double* squares) {
  int64_t c = 0;
  for (; c + kStep <= columns; c += kStep) {
    const TwoF64 shifts = load_two(shift + c);
    TwoF64 sum{}, square{};
    const T* at = elements<T>(x) + c;
    for (int64_t r = 0; r < rows; ++r, at += x.stride) {
      const TwoF64 v = load_step(at);
      const F64 low = v.low - shifts.low, high = v.high - shifts.high;
      sum.low += low, sum.high += high;
      square.low = fma(low, low, square.low), square.high = fma(high, high, square.high);
    }
    add_two(sums + c, sum);
    add_two(squares + c, square);
  }
  for (; c < columns; ++c) {
    double sum = 0, square = 0;
    const T* at = elements<T>(x) + c;
    for (int64_t r = 0; r < rows; ++r, at += x.stride) {
      const double left = static_cast<double>(*at) - shift[c];
      sum += left;
      square += left * left;
    }
    sums[c] += sum;
    squares[c] += square;
  }
}

template <class T>
void normalize(ColumnMatrix x, int64_t rows, int64_t columns, const double* mean,
               const double* factor, const double* offset, void* y, int64_t y_stride) {
  int64_t c = 0;
  for (; c + kStep <= columns; c += kStep) {
    const TwoF64 means = load_two(mean + c), factors = load_two(factor + c);
    const TwoF64 offsets = load_two(offset + c);
    const T* at = elements<T>(x) + c;
    T* to = static_cast<T*>(y) + c;
    for (int64_t r = 0; r < rows; ++r, at += x.stride, to += y_stride) {
      const TwoF64 v = load_step(at);
      store_step(to, {fma(v.low - means.low, factors.low, offsets.low),
                      fma(v.high - means.high, factors.high, offsets.high)});
    }
  }
  for (; c < columns; ++c) {
    const T* at = elements<T>(x) + c;
    T* to = static_cast<T*>(y) + c;
    for (int64_t r = 0; r < rows; ++r, at += x.stride, to += y_stride)
      *to = static_cast<T>((static_cast<double>(*at) - mean[c]) * factor[c] + offset[c]);
  }
}

template <class T>
void gradient_sums(ColumnMatrix dy, ColumnMatrix x, int64_t rows, int64_t columns,
                   const double* mean, double* sums, double* products) {
  int64_t c = 0;
  for (; c + kStep <= columns; c += kStep) {
    const TwoF64 means = load_two(mean + c);
    TwoF64 sum{}, product{};
    const T *at = elements<T>(x) + c, *gradient = elements<T>(dy) + c;
    for (int64_t r = 0; r < rows; ++r, at += x.stride, gradient += dy.stride) {
      const TwoF64 v = load_step(at), g = load_step(gradient);
      sum.low += g.low, sum.high += g.high;
      product.low = fma(g.low, v.low - means.low, product.low);
      product.high = fma(g.high, v.high - means.high, product.high);
    }
    add_two(sums + c, sum);
    add_two(products + c, product);
  }
  for (; c < columns; ++c) {
    double sum = 0, product = 0;
    const T *at = elements<T>(x) + c, *gradient = elements<T>(dy) + c;
    for (int64_t r = 0; r < rows; ++r, at += x.stride, gradient += dy.stride) {
      const auto g = static_cast<double>(*gradient);
      sum += g;
      product += g * (static_cast<double>(*at) - mean[c]);
    }
    sums[c] += sum;
    products[c] += product;
  }
}

template <class T>
void gradient(ColumnMatrix dy, ColumnMatrix x, int64_t rows, int64_t columns, const double* mean,
              const double* of_dy, const double* of_x, const double* offset, void* dx,
              int64_t dx_stride) {
  int64_t c = 0;
  for (; c + kStep <= columns; c += kStep) {
    const TwoF64 means = load_two(mean + c), by_dy = load_two(of_dy + c);
    const TwoF64 by_x = load_two(of_x + c), rest = load_two(offset + c);
    const T *at = elements<T>(x) + c, *gradient = elements<T>(dy) + c;
    T* to = static_cast<T*>(dx) + c;
    for (int64_t r = 0; r < rows; ++r, at += x.stride, gradient += dy.stride, to += dx_stride) {
      const TwoF64 v = load_step(at), g = load_step(gradient);
      store_step(to, {fma(g.low, by_dy.low, fma(v.low - means.low, by_x.low, rest.low)),
                      fma(g.high, by_dy.high, fma(v.high - means.high, by_x.high, rest.high))});
    }
  }
  for (; c < columns; ++c) {
    const T *at = elements<T>(x) + c, *gradient = elements<T>(dy) + c;
    T* to = static_cast<T*>(dx) + c;
    for (int64_t r = 0; r < rows; ++r, at += x.stride, gradient += dy.stride, to += dx_stride)
      *to = static_cast<T>(static_cast<double>(*gradient) * of_dy[c] +
                           ((static_cast<double>(*at) - mean[c]) * of_x[c] + offset[c]));
  }
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
