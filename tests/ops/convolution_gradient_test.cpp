// Gradients of convolutions against central differences of the forward one, in double.
#include <gtest/gtest.h>

#include "ops/convolution_problem.h"

namespace warploom::test {
namespace {

constexpr size_t kAxes = 2;
constexpr ops::GraphTypes kAllDouble{DataType_t::DOUBLE, DataType_t::DOUBLE, DataType_t::DOUBLE};

int64_t volume(const Dims& dims) {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

/// sum(dy Y) of the forward convolution.
double loss(const ConvolutionProblem& p, const Values& x, const Values& w, const Values& dy) {
  const Values y = run_one(with(p.attributes<graph::Conv_fprop_attributes>(kAxes),
                                {input("x", p.x_dims(kAxes), DataType_t::DOUBLE),
                                 input("w", p.w_dims(kAxes), DataType_t::DOUBLE)},
                                {output(DataType_t::DOUBLE)}),
                           {x, w}, kAllDouble);
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += dy[i] * y[i];
  return sum;
}

/// The derivative by every element of `values`, which `function` reads.
template <class Function>
Values central_differences(Values& values, Function&& function) {
  constexpr double kStep = 0x1p-10;  // what is differentiated is linear
  Values gradient;
  for (double& value : values) {
    const double middle = value;
    value = middle + kStep;
    const double above = function();
    value = middle - kStep;
    const double below = function();
    value = middle;
    gradient.push_back((above - below) / (2 * kStep));
  }
  return gradient;
}

TEST(ConvGradients, AreThoseOfTheForwardConvolution) {
  const ConvolutionProblem problems[] = {
      {.n = 2,
       .c = 2,
       .k = 3,
       .groups = 1,
       .x = {1, 5, 6},
       .w = {1, 3, 3},
       .pre = {0, 1, 1},
       .post = {0, 1, 1},
       .stride = {1, 1, 1},
       .dilation = {1, 1, 1}},
      {.n = 1,
       .c = 4,
       .k = 6,
       .groups = 2,
       .x = {1, 6, 7},
       .w = {1, 2, 3},
       .pre = {0, 2, 0},
       .post = {0, 0, 1},
       .stride = {1, 2, 3},
       .dilation = {1, 3, 1},
       .is_flipped = true},
      {.n = 1,
       .c = 2,
       .k = 2,
       .groups = 1,
       .x = {1, 6, 6},
       .w = {1, 1, 1},
       .pre = {0, 0, 0},
       .post = {0, 0, 0},
       .stride = {1, 2, 2},
       .dilation = {1, 1, 1}},
  };
  for (const ConvolutionProblem& p : problems) {
    Values x = random_values(volume(p.x_dims(kAxes)), 1);
    Values w = random_values(volume(p.w_dims(kAxes)), 2);
    const Values dy = random_values(volume(p.y_dims(kAxes)), 3);
    const auto tensor = [](const char* name, const Dims& dims) {
      return input(name, dims, DataType_t::DOUBLE);
    };
    const Values dx = run_one(with(p.attributes<graph::Conv_dgrad_attributes>(kAxes),
                                   {tensor("dy", p.y_dims(kAxes)), tensor("w", p.w_dims(kAxes))},
                                   {output(DataType_t::DOUBLE, p.x_dims(kAxes))}),
                              {dy, w}, kAllDouble);
    const Values dw = run_one(with(p.attributes<graph::Conv_wgrad_attributes>(kAxes),
                                   {tensor("dy", p.y_dims(kAxes)), tensor("x", p.x_dims(kAxes))},
                                   {output(DataType_t::DOUBLE, p.w_dims(kAxes))}),
                              {dy, x}, kAllDouble);
    const auto forward = [&] { return loss(p, x, w, dy); };
    expect_near(dx, central_differences(x, forward), 1e-10);
    expect_near(dw, central_differences(w, forward), 1e-10);
  }
}

}  // namespace
}  // namespace warploom::test
