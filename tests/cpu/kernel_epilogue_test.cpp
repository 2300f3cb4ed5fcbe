#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "cpu/engine_runner.h"
#include "cpu/group_builder.h"
#include "engines/cpu/contraction.h"

// Epilogues that the micro-kernels do themselves, and some that are nearly so.

namespace warploom::test {
namespace {

using fusion::AnchorKind;

enum class Epilogue {
  kNone,
  kBias,
  kBiasFirst,  // bias + sum
  kRelu,
  kClip,
  kBiasRelu,
  kBiasClip,
  // Not for kernels:
  kLeakyRelu,
  kBiasOfRows,
  kScalarBias,
  kBiasTwice,
  kDouble,  // sum + sum
  kBiasHalf,
  kScaleBias,
};

bool kernels_do(Epilogue epilogue) {
  return epilogue <= Epilogue::kBiasClip;
}

graph::Pointwise_attributes relu(double lower, double upper, double slope) {
  graph::Pointwise_attributes attributes;
  attributes.set_mode(PointwiseMode_t::RELU_FWD);
  attributes.set_relu_lower_clip(static_cast<float>(lower));
  attributes.set_relu_upper_clip(static_cast<float>(upper));
  attributes.set_relu_lower_clip_slope(static_cast<float>(slope));
  return attributes;
}

struct Case {
  Epilogue epilogue = Epilogue::kBiasRelu;
  int64_t m = 13, n = 24, k = 9;
  std::string layout = "row_major";
  bool has_nan = false;
};

/// What becomes of a sum, computed from the definition.
double finished(Epilogue epilogue, double sum, double bias) {
  const double infinity = std::numeric_limits<double>::infinity();
  auto clip = [](double x, double lower, double upper) {
    return x < lower ? lower : x > upper ? upper : x;  // NaN stays
  };
  switch (epilogue) {
    case Epilogue::kNone:
      return sum;
    case Epilogue::kRelu:
      return clip(sum, 0, infinity);
    case Epilogue::kClip:
      return clip(sum, -0.5, 1.5);
    case Epilogue::kBiasRelu:
      return clip(sum + bias, 0, infinity);
    case Epilogue::kBiasClip:
      return clip(sum + bias, -0.5, 1.5);
    case Epilogue::kLeakyRelu:
      return sum < 0 ? 0.25 * sum : sum;
    case Epilogue::kDouble:
      return sum + sum;
    case Epilogue::kBiasTwice:
      return sum + bias + bias;
    case Epilogue::kScaleBias:
      return sum * 0.5 + bias;
    default:
      return sum + bias;
  }
}

void check(const Case& c) {
  SCOPED_TRACE(testing::Message() << "epilogue " << static_cast<int>(c.epilogue) << ", m " << c.m
                                  << " n " << c.n << " k " << c.k << " " << c.layout);
  Values a = random_values(c.m * c.k, 3), b = random_values(c.k * c.n, 4);
  if (c.has_nan && c.m > 1) a[static_cast<size_t>(c.k)] = std::numeric_limits<double>::quiet_NaN();
  if (c.has_nan) b[0] = std::numeric_limits<double>::infinity();
  const bool is_row_bias = c.epilogue == Epilogue::kBiasOfRows;
  const bool is_scalar = c.epilogue == Epilogue::kScalarBias;
  const int64_t bias_count = is_row_bias ? c.m : is_scalar ? 1 : c.n;
  const Values bias = random_values(bias_count, 5);
  Values y;
  for (int64_t i = 0; i < c.m; ++i)
    for (int64_t j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < c.k; ++l)
        sum += a[static_cast<size_t>(i * c.k + l)] * b[static_cast<size_t>(l * c.n + j)];
      y.push_back(finished(c.epilogue, sum,
                           bias[static_cast<size_t>(is_row_bias ? i
                                                    : is_scalar ? 0
                                                                : j)]));
    }

  GroupBuilder builder;
  const DataType_t type = DataType_t::FLOAT;
  const auto ta = builder.stored("A", type, {1, c.m, c.k});
  const auto tb = builder.stored("B", type, {1, c.k, c.n});
  const bool adds = c.epilogue != Epilogue::kNone && c.epilogue != Epilogue::kRelu &&
                    c.epilogue != Epilogue::kClip && c.epilogue != Epilogue::kLeakyRelu &&
                    c.epilogue != Epilogue::kDouble;
  const auto tbias =
      adds ? builder.stored("bias", c.epilogue == Epilogue::kBiasHalf ? DataType_t::HALF : type,
                            {1, is_row_bias ? c.m : 1, is_row_bias || is_scalar ? 1 : c.n})
           : ir::kNoTensor;
  const auto tscale =
      c.epilogue == Epilogue::kScaleBias ? builder.stored("scale", type, {1, 1, 1}) : ir::kNoTensor;
  const Dims dims{1, c.m, c.n};
  const auto sums = c.epilogue == Epilogue::kNone ? builder.stored("Y", type, dims, c.layout)
                                                  : builder.virtual_tensor(type, dims);
  const auto ty = c.epilogue == Epilogue::kNone ? sums : builder.stored("Y", type, dims, c.layout);
  const bool clips = c.epilogue == Epilogue::kBiasRelu || c.epilogue == Epilogue::kBiasClip;
  const bool has_middle =
      clips || c.epilogue == Epilogue::kBiasTwice || c.epilogue == Epilogue::kScaleBias;
  const auto middle = has_middle ? builder.virtual_tensor(type, dims) : ir::kNoTensor;
  builder.anchor(AnchorKind::kContraction, graph::Matmul_attributes(), {ta, tb}, {sums});
  builder.begin_epilogue(sums);
  const int sum = builder.anchor_value();
  const double infinity = std::numeric_limits<double>::infinity();
  int value = sum;
  switch (c.epilogue) {
    case Epilogue::kNone:
      break;
    case Epilogue::kRelu:
      value = builder.pointwise(relu(0, infinity, 0), {sum}, ty);
      break;
    case Epilogue::kClip:
      value = builder.pointwise(relu(-0.5, 1.5, 0), {sum}, ty);
      break;
    case Epilogue::kLeakyRelu:
      value = builder.pointwise(relu(0, infinity, 0.25), {sum}, ty);
      break;
    case Epilogue::kDouble:
      value = builder.pointwise(PointwiseMode_t::ADD, {sum, sum}, ty);
      break;
    case Epilogue::kBiasFirst:
      value = builder.pointwise(PointwiseMode_t::ADD, {builder.load(tbias), sum}, ty);
      break;
    case Epilogue::kBiasRelu:
    case Epilogue::kBiasClip: {
      const int added = builder.pointwise(PointwiseMode_t::ADD, {sum, builder.load(tbias)}, middle);
      const bool is_relu = c.epilogue == Epilogue::kBiasRelu;
      value = builder.pointwise(is_relu ? relu(0, infinity, 0) : relu(-0.5, 1.5, 0), {added}, ty);
      break;
    }
    case Epilogue::kBiasTwice: {
      const int loaded = builder.load(tbias);
      const int once = builder.pointwise(PointwiseMode_t::ADD, {sum, loaded}, middle);
      value = builder.pointwise(PointwiseMode_t::ADD, {once, loaded}, ty);
      break;
    }
    case Epilogue::kScaleBias: {
      const int scaled =
          builder.pointwise(PointwiseMode_t::MUL, {sum, builder.load(tscale)}, middle);
      value = builder.pointwise(PointwiseMode_t::ADD, {scaled, builder.load(tbias)}, ty);
      break;
    }
    default:
      value = builder.pointwise(PointwiseMode_t::ADD, {sum, builder.load(tbias)}, ty);
  }
  builder.store(value);
  const fusion::FusionGroup group = builder.build();

  const cpu::GemmKernels& kernels = cpu::kernel_table().gemm_float;
  const cpu::CompiledExpression compiled = cpu::compile_epilogue(group, kernels);
  cpu::BoundExpression bound;
  ASSERT_TRUE(bound.bind(
      compiled, group, cpu::declared_shapes(group),
      c.layout == "column_major" ? cpu::WalkOrder{{0, 2}, {1}} : cpu::WalkOrder{{0, 1}, {2}}));
  // Kernels see a column-major result transposed: what was a bias of rows is one of columns.
  const bool is_transposed = c.layout == "column_major";
  const int64_t columns = is_transposed ? c.m : c.n;
  const bool is_for_kernels = is_transposed && adds ? is_row_bias : kernels_do(c.epilogue);
  EXPECT_EQ(cpu::KernelEpilogue::make(bound, kernels, columns).has_value(),
            is_for_kernels && kernels.fits(columns));

  ValuesById inputs{{ta, a}, {tb, b}};
  if (adds) inputs[tbias] = bias;
  if (tscale != ir::kNoTensor) inputs[tscale] = {0.5};
  expect_engine("cpu.gemm", group, inputs, {{ty, y}});
}

TEST(CpuKernelEpilogue, Kinds) {
  for (int kind = 0; kind <= static_cast<int>(Epilogue::kScaleBias); ++kind)
    for (const char* layout : {"row_major", "padded", "column_major"})
      check({.epilogue = static_cast<Epilogue>(kind), .m = 48, .n = 64, .layout = layout});
}

TEST(CpuKernelEpilogue, Tails) {
  for (int64_t n : {1, 7, 8, 12, 16, 24, 40, 56, 64, 72, 96, 136})
    for (int64_t m : {1, 12, 37, 250}) check({.m = m, .n = n, .layout = "padded"});
}

TEST(CpuKernelEpilogue, SumsOfAnyLength) {
  for (int64_t k : {0, 1, 511, 513, 1100})
    for (int64_t n : {8, 64}) check({.m = 13, .n = n, .k = k, .layout = "padded"});
}

TEST(CpuKernelEpilogue, NanAndInfinity) {
  for (Epilogue epilogue : {Epilogue::kNone, Epilogue::kBias, Epilogue::kRelu, Epilogue::kClip,
                            Epilogue::kBiasRelu, Epilogue::kBiasClip})
    check({.epilogue = epilogue, .n = 32, .has_nan = true});
}

}  // namespace
}  // namespace warploom::test
