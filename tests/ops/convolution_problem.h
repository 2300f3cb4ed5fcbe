#pragma once
#include <array>

#include "ops/operation_runner.h"

namespace warploom::test {

/// A convolution in up to 3 spatial dimensions, given as 3.
struct ConvolutionProblem {
  int64_t n, c, k, groups;
  std::array<int64_t, 3> x, w, pre, post, stride, dilation;
  bool is_flipped = false;

  int64_t y(size_t i) const {
    return 1 + (x[i] + pre[i] + post[i] - (dilation[i] * (w[i] - 1) + 1)) / stride[i];
  }
  /// With the last `rank` spatial dimensions alone.
  Dims x_dims(size_t rank) const { return dims(n, c, x, rank); }
  Dims w_dims(size_t rank) const { return dims(k, c / groups, w, rank); }
  Dims y_dims(size_t rank) const { return dims(n, k, {y(0), y(1), y(2)}, rank); }

  template <class Attributes>
  Attributes attributes(size_t rank) const {
    return Attributes()
        .set_name("conv1")
        .set_pre_padding(last(pre, rank))
        .set_post_padding(last(post, rank))
        .set_stride(last(stride, rank))
        .set_dilation(last(dilation, rank))
        .set_convolution_mode(is_flipped ? ConvolutionMode_t::CONVOLUTION
                                         : ConvolutionMode_t::CROSS_CORRELATION);
  }

 private:
  static Dims last(const std::array<int64_t, 3>& values, size_t rank) {
    return Dims(values.end() - static_cast<int64_t>(rank), values.end());
  }
  static Dims dims(int64_t a, int64_t b, const std::array<int64_t, 3>& spatial, size_t rank) {
    Dims result{a, b};
    const Dims rest = last(spatial, rank);
    result.insert(result.end(), rest.begin(), rest.end());
    return result;
  }
};

/// Calls function(x, w, y), positions in row-major order, for every product X W that is a term of
/// an element of Y: straight from the definition.
template <class Function>
void for_each_term(const ConvolutionProblem& p, Function&& function) {
  const int64_t cg = p.c / p.groups, kg = p.k / p.groups;
  size_t y = 0;
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t k = 0; k < p.k; ++k)
      for (int64_t yd = 0; yd < p.y(0); ++yd)
        for (int64_t yh = 0; yh < p.y(1); ++yh)
          for (int64_t yw = 0; yw < p.y(2); ++yw, ++y)
            for (int64_t c = 0; c < cg; ++c)
              for (int64_t rd = 0; rd < p.w[0]; ++rd)
                for (int64_t rh = 0; rh < p.w[1]; ++rh)
                  for (int64_t rw = 0; rw < p.w[2]; ++rw) {
                    const int64_t d = yd * p.stride[0] + rd * p.dilation[0] - p.pre[0];
                    const int64_t h = yh * p.stride[1] + rh * p.dilation[1] - p.pre[1];
                    const int64_t i = yw * p.stride[2] + rw * p.dilation[2] - p.pre[2];
                    if (d < 0 || d >= p.x[0] || h < 0 || h >= p.x[1] || i < 0 || i >= p.x[2])
                      continue;
                    const int64_t fd = p.is_flipped ? p.w[0] - 1 - rd : rd;
                    const int64_t fh = p.is_flipped ? p.w[1] - 1 - rh : rh;
                    const int64_t fw = p.is_flipped ? p.w[2] - 1 - rw : rw;
                    const int64_t channel = k / kg * cg + c;
                    function(static_cast<size_t>(
                                 (((n * p.c + channel) * p.x[0] + d) * p.x[1] + h) * p.x[2] + i),
                             static_cast<size_t>(
                                 (((k * cg + c) * p.w[0] + fd) * p.w[1] + fh) * p.w[2] + fw),
                             y);
                  }
}

}  // namespace warploom::test
