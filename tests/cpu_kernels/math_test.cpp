#include <bit>
#include <cmath>
#include <random>

#include "cpu_kernels/levels.h"

// Elementary functions of the interpreter against the C library in double.

namespace warploom::cpu {
namespace {

class MathTest : public KernelTest {};

constexpr int kTile = 1024;

/// mode(x, y) of every element, through a program.
std::vector<float> evaluate(const KernelTable& table, const TilePointwise& mode, bool binary,
                            const std::vector<float>& x, const std::vector<float>& y) {
  TileProgramBuilder builder(TileCompute::kFloat);
  const TileValue a = builder.load(0, DataType_t::FLOAT);
  const TileValue b = binary ? builder.load(1, DataType_t::FLOAT) : TileValue{};
  builder.store(2, DataType_t::FLOAT, builder.pointwise(mode, a, b));
  const TileProgram program = builder.build({.rows = 1, .columns = kTile});
  std::vector<std::byte> memory(program.slot_bytes() + 64);
  void* slots = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) & ~63ull);
  std::vector<float> result(x.size());
  for (size_t i = 0; i < x.size(); i += kTile) {
    const TileOperand operands[] = {
        {.data = const_cast<float*>(x.data() + i), .column_stride = 1},
        {.data = binary ? const_cast<float*>(y.data() + i) : nullptr, .column_stride = 1},
        {.data = result.data() + i, .column_stride = 1}};
    const int n = static_cast<int>(std::min<size_t>(kTile, x.size() - i));
    table.run_tile(program.view(), {operands, slots, 1, n});
  }
  return result;
}

/// Distance in units of the float's last place, denormals included.
double ulps(float got, double exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0.0 : INFINITY;
  const auto rounded = static_cast<float>(exact);
  if (std::isinf(rounded) || std::isinf(got)) {
    // The largest float and infinity are one unit apart.
    if (got == rounded) return 0.0;
    return std::fabs(got) == 0x1.fffffep127f || std::fabs(rounded) == 0x1.fffffep127f ? 1.0
                                                                                      : INFINITY;
  }
  const int exponent = exact == 0.0 ? -126 : std::max(std::ilogb(exact), -126);
  return std::fabs(got - exact) / std::ldexp(1.0, exponent - 23);
}

struct Function {
  const char* name;
  TilePointwise mode;
  double (*exact)(double);
  double low, high;  // where samples are dense; bit patterns of all floats come on top
  double most_ulps;
  double floor = 0.0;  // absolute error that is forgiven
};

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}
double normal(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}
double gelu_inner(double x) {
  return std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x);
}

const Function kFunctions[] = {
    {"exp", {PointwiseMode_t::EXP}, [](double x) { return std::exp(x); }, -104, 89, 1.2},
    {"log", {PointwiseMode_t::LOG}, [](double x) { return std::log(x); }, 0, 10, 1.2},
    {"tanh", {PointwiseMode_t::TANH_FWD}, [](double x) { return std::tanh(x); }, -10, 10, 1.5},
    {"erf", {PointwiseMode_t::ERF}, [](double x) { return std::erf(x); }, -5, 5, 1.5},
    {"sigmoid", {PointwiseMode_t::SIGMOID_FWD}, sigmoid, -104, 20, 1.5},
    {"sin", {PointwiseMode_t::SIN}, [](double x) { return std::sin(x); }, -1000, 1000, 0.6},
    {"cos", {PointwiseMode_t::COS}, [](double x) { return std::cos(x); }, -1000, 1000, 0.6},
    {"tan", {PointwiseMode_t::TAN}, [](double x) { return std::tan(x); }, -1000, 1000, 0.6},
    {"sqrt", {PointwiseMode_t::SQRT}, [](double x) { return std::sqrt(x); }, 0, 100, 0.5001},
    {"rsqrt", {PointwiseMode_t::RSQRT}, [](double x) { return 1 / std::sqrt(x); }, 0, 100, 1.5},
    {"reciprocal", {PointwiseMode_t::RECIPROCAL}, [](double x) { return 1 / x; }, -9, 9, 0.5001},
    {"floor", {PointwiseMode_t::FLOOR}, [](double x) { return std::floor(x); }, -99, 99, 0},
    {"ceil", {PointwiseMode_t::CEIL}, [](double x) { return std::ceil(x); }, -99, 99, 0},
    {"abs", {PointwiseMode_t::ABS}, [](double x) { return std::fabs(x); }, -99, 99, 0},
    {"neg", {PointwiseMode_t::NEG}, [](double x) { return -x; }, -99, 99, 0},
    {"softplus",
     {PointwiseMode_t::SOFTPLUS_FWD},
     [](double x) { return x > 50 ? x : std::log1p(std::exp(x)); },
     -100,
     20,
     2.0},
    {"elu",
     {PointwiseMode_t::ELU_FWD},
     [](double x) { return x < 0 ? std::expm1(x) : x; },
     -20,
     2,
     1.5},
    {"swish",
     {PointwiseMode_t::SWISH_FWD},
     [](double x) { return x * sigmoid(x); },
     -90,
     20,
     1.5,
     1e-37},
    // Relative to the terms of 1 + erf: the argument's rounding error grows with x^2 in the tail.
    {"gelu",
     {PointwiseMode_t::GELU_FWD},
     [](double x) { return x * normal(x); },
     -8,
     8,
     4.0,
     1.5e-7},
    {"gelu_tanh",
     {PointwiseMode_t::GELU_APPROX_TANH_FWD},
     [](double x) { return x * sigmoid(2 * gelu_inner(x)); },
     -12,
     8,
     1.5,
     1e-37},
};

TEST_P(MathTest, UnitsInTheLastPlace) {
  constexpr int kSamples = 200'000;
  for (const Function& f : kFunctions) {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> dense(static_cast<float>(f.low),
                                                static_cast<float>(f.high));
    std::vector<float> x;
    for (int i = 0; i < kSamples; ++i) x.push_back(dense(random));
    for (int i = 0; i < kSamples; ++i) {
      x.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
    }
    for (float special :
         {0.0f,       -0.0f,     INFINITY,    -INFINITY,  std::nanf(""),   0x1p-149f,
          -0x1p-149f, 0x1p-126f, 1.0f,        -1.0f,      0x1.fffffep127f, -0x1.fffffep127f,
          88.72284f,  88.72283f, -103.97208f, -87.33655f, 0.625f,          0.921875f,
          4.0f,       0.5f}) {
      x.push_back(special);
    }
    const std::vector<float> y = evaluate(table(), f.mode, false, x, {});
    double worst = 0.0;
    float where = 0.0f;
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = f.exact(x[i]);
      double error = ulps(y[i], exact);
      if (std::fabs(y[i] - exact) <= f.floor) error = 0.0;
      if (error > worst) {
        worst = error;
        where = x[i];
      }
    }
    RecordProperty(f.name, std::to_string(worst));
    EXPECT_LE(worst, f.most_ulps) << f.name << " at " << where;
  }
}

TEST_P(MathTest, Power) {
  std::mt19937 random(6);
  std::vector<float> x, y;
  std::uniform_real_distribution<float> base(0.0f, 10.0f), exponent(-40.0f, 40.0f);
  for (int i = 0; i < 200'000; ++i) {
    x.push_back(base(random));
    y.push_back(exponent(random));
  }
  for (int i = 0; i < 100'000; ++i) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
    y.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  }
  const float specials[] = {0.0f,          -0.0f, 1.0f,   -1.0f,       2.0f,     -2.0f,
                            3.0f,          -3.0f, 0.5f,   -0.5f,       INFINITY, -INFINITY,
                            std::nanf(""), 1e30f, -1e30f, 16777217.0f, 0x1p-149f};
  for (float a : specials) {
    for (float b : specials) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  const std::vector<float> z = evaluate(table(), {PointwiseMode_t::POW}, true, x, y);
  double worst = 0.0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = ulps(z[i], std::pow(static_cast<double>(x[i]), static_cast<double>(y[i])));
    ASSERT_LE(error, 0.6) << x[i] << " ^ " << y[i] << " = " << z[i];
    worst = std::max(worst, error);
  }
  RecordProperty("pow", std::to_string(worst));
}

// Gradients: an absolute bound, scaled with the gradient.
struct Gradient {
  const char* name;
  TilePointwise mode;
  double (*slope)(double);
};

double gelu_tanh_slope(double x) {
  const double t = std::tanh(gelu_inner(x));
  const double du = std::sqrt(2.0 / M_PI) * (1 + 3 * 0.044715 * x * x);
  return 0.5 * (1 + t) + (1 - t * t == 0 ? 0 : 0.5 * x * (1 - t * t) * du);
}

const Gradient kGradients[] = {
    {"tanh", {PointwiseMode_t::TANH_BWD}, [](double x) { return 1 - std::tanh(x) * std::tanh(x); }},
    {"sigmoid", {PointwiseMode_t::SIGMOID_BWD}, [](double x) { return sigmoid(x) * sigmoid(-x); }},
    {"elu", {PointwiseMode_t::ELU_BWD}, [](double x) { return x < 0 ? std::exp(x) : 1.0; }},
    {"softplus", {PointwiseMode_t::SOFTPLUS_BWD}, [](double x) { return sigmoid(x); }},
    {"swish",
     {PointwiseMode_t::SWISH_BWD},
     [](double x) { return sigmoid(x) * (1 + x * sigmoid(-x)); }},
    {"gelu",
     {PointwiseMode_t::GELU_BWD},
     [](double x) { return normal(x) + x * std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI); }},
    {"gelu_tanh", {PointwiseMode_t::GELU_APPROX_TANH_BWD}, gelu_tanh_slope},
    {"relu", {PointwiseMode_t::RELU_BWD}, [](double x) { return x > 0 ? 1.0 : 0.0; }},
};

TEST_P(MathTest, Gradients) {
  for (const Gradient& g : kGradients) {
    std::mt19937 random(8);
    std::uniform_real_distribution<float> dense(-12.0f, 12.0f);
    std::vector<float> dy, x;
    for (int i = 0; i < 100'000; ++i) {
      dy.push_back(dense(random));
      x.push_back(dense(random));
    }
    for (float extreme : {1e10f, -1e10f, 1e30f, -1e30f, 0.0f, -0.0f}) {
      dy.push_back(1.0f);
      x.push_back(extreme);
    }
    const std::vector<float> dx = evaluate(table(), g.mode, true, dy, x);
    for (size_t i = 0; i < x.size(); ++i) {
      const double slope = g.slope(x[i]);
      ASSERT_NEAR(dx[i], dy[i] * slope, 6e-7 * std::fabs(dy[i]) * (1 + std::fabs(slope)))
          << g.name << " at " << x[i];
    }
    const float nan = std::nanf("");
    EXPECT_TRUE(std::isnan(evaluate(table(), g.mode, true, {1.0f}, {nan})[0])) << g.name;
    EXPECT_TRUE(std::isnan(evaluate(table(), g.mode, true, {nan}, {1.0f})[0])) << g.name;
  }
}

WARPLOOM_KERNEL_TESTS(MathTest);

}  // namespace
}  // namespace warploom::cpu
