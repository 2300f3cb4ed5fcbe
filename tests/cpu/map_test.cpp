#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cpu/engine_runner.h"
#include "cpu/group_builder.h"

namespace warploom::test {
namespace {

using fusion::AnchorKind;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

int64_t product(const Dims& dims) {
  int64_t result = 1;
  for (int64_t dim : dims) result *= dim;
  return result;
}

/// Row-major index into a tensor of `dims` of the point with row-major index `i` of `domain`.
size_t broadcast(int64_t i, const Dims& domain, const Dims& dims) {
  int64_t index = 0, unit = 1;
  for (size_t axis = domain.size(); axis-- > 0; i /= domain[axis]) {
    const size_t missing = domain.size() - dims.size();
    if (axis < missing) continue;
    const int64_t dim = dims[axis - missing];
    if (dim != 1) index += i % domain[axis] * unit;
    unit *= dim;
  }
  return static_cast<size_t>(index);
}

struct Tensor {
  Dims dims;
  std::string layout = "row_major";
  DataType_t type = DataType_t::FLOAT;
};

/// y = relu(a * b + c), its sum over `sum_axes`, and its largest magnitude.
void check_chain(const Dims& domain, const Tensor& a, const Tensor& b, const Tensor& c,
                 const std::string& layout = "row_major", DataType_t type = DataType_t::FLOAT,
                 std::vector<size_t> sum_axes = {}) {
  SCOPED_TRACE(a.layout + ", " + b.layout + ", " + c.layout + " to " + layout + " " +
               std::string(to_string(type)));
  GroupBuilder builder;
  const Values va = as_stored(random_values(product(a.dims), 1), a.type, a.dims, a.layout);
  const Values vb = as_stored(random_values(product(b.dims), 2), b.type, b.dims, b.layout);
  const Values vc = as_stored(random_values(product(c.dims), 3), c.type, c.dims, c.layout);
  const bool is_double = type == DataType_t::DOUBLE;
  const DataType_t compute = is_double ? DataType_t::DOUBLE : DataType_t::FLOAT;
  Dims sum_dims = domain;
  for (size_t axis : sum_axes) sum_dims[axis] = 1;
  const auto ta = builder.stored("a", a.type, a.dims, a.layout);
  const auto tb = builder.stored("b", b.type, b.dims, b.layout);
  const auto tc = builder.stored("c", c.type, c.dims, c.layout);
  const auto p = builder.virtual_tensor(compute, domain),
             s = builder.virtual_tensor(compute, domain);
  const auto y = builder.stored("y", type, domain, layout);
  const auto sum = builder.stored("sum", compute, sum_dims);
  const auto amax = builder.stored("amax", compute, Dims(domain.size(), 1));
  builder.begin_epilogue(y);
  const int x =
      builder.pointwise(PointwiseMode_t::MUL, {builder.load(ta), builder.load(tb)}, p, compute);
  const int z = builder.pointwise(PointwiseMode_t::ADD, {x, builder.load(tc)}, s, compute);
  const int out = builder.pointwise(PointwiseMode_t::RELU_FWD, {z}, y, compute);
  builder.store(out);
  builder.reduce(out, ReductionMode_t::ADD, sum, compute);
  builder.reduce(out, ReductionMode_t::AMAX, amax, compute);

  Values vy, v_sum(static_cast<size_t>(product(sum_dims)), 0);
  double largest = 0;
  for (int64_t i = 0; i < product(domain); ++i) {
    double value = va[broadcast(i, domain, a.dims)] * vb[broadcast(i, domain, b.dims)] +
                   vc[broadcast(i, domain, c.dims)];
    value = std::max(value, 0.0);
    vy.push_back(value);
  }
  vy = rounded(vy, type);
  for (int64_t i = 0; i < product(domain); ++i) {
    v_sum[broadcast(i, domain, sum_dims)] += vy[static_cast<size_t>(i)];
    largest = std::max(largest, vy[static_cast<size_t>(i)]);
  }
  // All values are multiples of 1/64 and below 16: products, sums and their order are exact.
  expect_engine_and_generic("cpu.map", builder.build(), {{ta, va}, {tb, vb}, {tc, vc}},
                            {{y, vy}, {sum, v_sum}, {amax, {largest}}}, 0);
}

TEST(CpuMap, Tails) {
  for (int64_t n : {1, 2, 7, 8, 9, 31, 33, 63, 65, 97, 127, 129, 255, 257, 2047, 2049, 70001}) {
    check_chain({n}, {{n}}, {{1}}, {{n}}, "row_major", DataType_t::FLOAT, {0});
    check_chain({3, n}, {{3, n}}, {{n}}, {{3, 1}}, "padded", DataType_t::FLOAT, {1});
    check_chain({n, 3}, {{n, 3}}, {{n, 1}}, {{1, 3}}, "row_major", DataType_t::FLOAT, {0});
  }
}

TEST(CpuMap, LayoutsThatDiffer) {
  const Dims domain{3, 17, 5, 9};
  for (const char* a : {"row_major", "channels_last", "padded", "reversed", "spread"})
    for (const char* y : {"row_major", "channels_last", "padded"}) {
      check_chain(domain, {domain, a}, {{17, 1, 1}}, {domain, "channels_last"}, y,
                  DataType_t::FLOAT, {0, 2, 3});
      check_chain(domain, {domain, a}, {{1, 17, 1, 9}, "padded"}, {domain, "all_repeated"}, y,
                  DataType_t::FLOAT, {1});
    }
  check_chain({70, 80}, {{70, 80}, "column_major"}, {{1}}, {{70, 80}}, "row_major",
              DataType_t::FLOAT, {0});
}

TEST(CpuMap, Ranks) {
  check_chain({2, 3, 1, 2, 3, 1, 2, 5}, {{2, 3, 1, 2, 3, 1, 2, 5}, "padded"},
              {{2, 1, 1, 2, 1, 1, 2, 1}, "odd_ones"}, {{5}}, "reversed", DataType_t::FLOAT,
              {1, 4, 7});
}

TEST(CpuMap, Types) {
  const Dims domain{7, 65};
  for (DataType_t type :
       {DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16, DataType_t::DOUBLE,
        DataType_t::INT8, DataType_t::UINT8, DataType_t::INT32, DataType_t::INT64})
    check_chain(domain, {domain, "row_major", type}, {{65}, "row_major", type},
                {domain, "padded", type}, "row_major", type, {0});
}

TEST(CpuMap, Empty) {
  check_chain({0, 5}, {{0, 5}}, {{1, 5}}, {{1, 1}}, "row_major", DataType_t::FLOAT, {0});
  check_chain({4, 0}, {{4, 0}}, {{1, 1}}, {{4, 1}}, "row_major", DataType_t::FLOAT, {1});
}

TEST(CpuMap, WideIntegersStayExact) {
  GroupBuilder builder;
  const auto a = builder.stored("a", DataType_t::INT64, {2});
  const auto y = builder.stored("y", DataType_t::INT64, {2});
  builder.begin_epilogue(y);
  const int x = builder.load(a);
  builder.store(builder.pointwise(PointwiseMode_t::SUB, {x, x}, y, DataType_t::INT64));
  const double big = 9007199254740992.0;
  expect_engine_and_generic("cpu.map", builder.build(), {{a, {big, -big}}}, {{y, {0, 0}}}, 0);
}

// As integers, quotients are truncated; in a floating-point kernel they would not be.
TEST(CpuMap, IntegerOperationsStayIntegerOperations) {
  const Values a{7, -7, 9}, b{2, 2, 0};
  for (bool is_mixed : {false, true}) {
    GroupBuilder builder;
    const auto ta = builder.stored("a", DataType_t::INT32, {3});
    const auto tb = builder.stored("b", DataType_t::INT32, {3});
    const auto q = builder.stored("q", DataType_t::INT32, {3});
    const auto y = builder.stored("y", DataType_t::FLOAT, {3});
    builder.begin_epilogue(q);
    const int quotient = builder.pointwise(
        PointwiseMode_t::DIV, {builder.load(ta), builder.load(tb)}, q, DataType_t::INT32);
    builder.store(quotient);
    if (is_mixed) builder.store(builder.pointwise(PointwiseMode_t::SQRT, {quotient}, y));
    const auto group = builder.build();
    if (is_mixed)
      EXPECT_FALSE(cpu_engine("cpu.map")->supports(group, cpu_device(1)).is_supported);
    else
      expect_engine_and_generic("cpu.map", group, {{ta, a}, {tb, b}}, {{q, {3, -3, 2147483647}}},
                                0);
  }
}

TEST(CpuMap, NanAndIndex) {
  GroupBuilder builder;
  const Dims dims{3, 4, 70};
  Values values = random_values(product(dims), 1);
  values[100] = kNan;
  const auto a = builder.stored("a", DataType_t::FLOAT, dims, "padded");
  const auto row = builder.virtual_tensor(DataType_t::INT32, dims);
  const auto y = builder.stored("y", DataType_t::FLOAT, dims);
  const auto most = builder.stored("max", DataType_t::FLOAT, {3, 1, 1});
  builder.begin_epilogue(y);
  const int x = builder.load(a);
  graph::Pointwise_attributes index;
  index.set_mode(PointwiseMode_t::GEN_INDEX).set_axis(1);
  const int i = builder.pointwise(index, {x}, row);
  const int sum = builder.pointwise(PointwiseMode_t::ADD, {x, i}, y);
  builder.store(sum);
  builder.reduce(sum, ReductionMode_t::MAX, most);
  Values expected = values, largest(3, -std::numeric_limits<double>::infinity());
  for (size_t k = 0; k < expected.size(); ++k) {
    expected[k] += static_cast<double>(k / 70 % 4);
    double& m = largest[k / 280];
    m = std::isnan(m) || std::isnan(expected[k]) ? kNan : std::max(m, expected[k]);
  }
  expect_engine_and_generic("cpu.map", builder.build(), {{a, values}},
                            {{y, expected}, {most, largest}}, 0);
}

double reduce(ReductionMode_t mode, const Values& values) {
  double sum = 0, product = 1, least = std::numeric_limits<double>::infinity(), most = -least;
  double magnitude = 0, magnitudes = 0, squares = 0, non_zeros = 1;
  for (double x : values) {
    sum += x;
    product *= x;
    least = std::min(least, x);
    most = std::max(most, x);
    magnitude = std::max(magnitude, std::abs(x));
    magnitudes += std::abs(x);
    squares += x * x;
    if (x != 0) non_zeros *= x;
  }
  switch (mode) {
    case ReductionMode_t::ADD:
      return sum;
    case ReductionMode_t::MUL:
      return product;
    case ReductionMode_t::MIN:
      return least;
    case ReductionMode_t::MAX:
      return most;
    case ReductionMode_t::AMAX:
      return magnitude;
    case ReductionMode_t::AVG:
      return sum / static_cast<double>(values.size());
    case ReductionMode_t::NORM1:
      return magnitudes;
    case ReductionMode_t::NORM2:
      return std::sqrt(squares);
    case ReductionMode_t::MUL_NO_ZEROS:
      return non_zeros;
    default:
      return kNan;
  }
}

/// y = reduce(x * x / 4) + 1, or the plain reduction of x.
void check_reduction(const Dims& dims, const std::vector<size_t>& axes, const std::string& layout,
                     ReductionMode_t mode, DataType_t type = DataType_t::FLOAT,
                     bool is_fused = false) {
  SCOPED_TRACE(layout + ", " + std::string(to_string(mode)) + ", " + std::string(to_string(type)));
  GroupBuilder builder;
  Dims y_dims = dims;
  for (size_t axis : axes) y_dims[axis] = 1;
  const Values x =
      rounded(random_values(product(dims), 1, mode == ReductionMode_t::MUL ? 16 : 8), type);
  const DataType_t compute = type == DataType_t::DOUBLE ? type : DataType_t::FLOAT;
  const auto tx = builder.stored("x", type, dims, layout);
  const auto vx = is_fused ? builder.virtual_tensor(compute, dims) : tx;
  const auto y = builder.stored("y", compute, y_dims);
  const auto z = builder.stored("z", compute, y_dims, "padded");
  graph::Reduction_attributes attributes;
  attributes.set_mode(mode);
  builder.anchor(AnchorKind::kReduction, attributes, {vx}, {y}, compute);
  if (is_fused) {
    builder.begin_prologue(0);
    const int loaded = builder.load(tx);
    builder.pointwise(PointwiseMode_t::MUL, {loaded, loaded}, vx, compute);
  }
  builder.begin_epilogue(y);
  const int anchor = builder.anchor_value();
  builder.store(anchor);
  if (is_fused) builder.store(builder.pointwise(PointwiseMode_t::SQRT, {anchor}, z, compute));

  std::vector<Values> groups(static_cast<size_t>(product(y_dims)));
  for (int64_t i = 0; i < product(dims); ++i) {
    const double value = x[static_cast<size_t>(i)];
    groups[broadcast(i, dims, y_dims)].push_back(is_fused ? value * value : value);
  }
  Values vy, vz;
  for (const Values& group : groups) {
    vy.push_back(reduce(mode, group));
    vz.push_back(std::sqrt(vy.back()));
  }
  ValuesById expected{{y, vy}};
  if (is_fused) expected[z] = vz;
  expect_engine_and_generic("cpu.reduce", builder.build(), {{tx, x}}, expected, 8);
}

TEST(CpuReduce, EveryMode) {
  for (ReductionMode_t mode :
       {ReductionMode_t::ADD, ReductionMode_t::MUL, ReductionMode_t::MIN, ReductionMode_t::MAX,
        ReductionMode_t::AMAX, ReductionMode_t::AVG, ReductionMode_t::NORM1, ReductionMode_t::NORM2,
        ReductionMode_t::MUL_NO_ZEROS})
    for (DataType_t type : {DataType_t::FLOAT, DataType_t::BFLOAT16, DataType_t::DOUBLE,
                            DataType_t::INT8, DataType_t::INT32}) {
      check_reduction({5, 37}, {1}, "row_major", mode, type);
      check_reduction({37, 5}, {0}, "padded", mode, type);
    }
}

TEST(CpuReduce, EverySetOfAxes) {
  const Dims dims{3, 17, 4, 9};
  for (unsigned set = 0; set < 16; ++set) {
    std::vector<size_t> axes;
    for (size_t axis = 0; axis < 4; ++axis)
      if ((set >> axis & 1) != 0) axes.push_back(axis);
    for (const char* layout : {"row_major", "channels_last", "padded", "reversed"}) {
      check_reduction(dims, axes, layout, ReductionMode_t::ADD);
      check_reduction(dims, axes, layout, ReductionMode_t::MAX, DataType_t::HALF, true);
    }
  }
}

TEST(CpuReduce, ToOneElement) {
  for (int64_t n : {1, 2, 7, 8, 9, 31, 33, 63, 65, 97, 127, 129, 100003, 300000})
    check_reduction({n}, {0}, "row_major", ReductionMode_t::ADD, DataType_t::FLOAT, true);
  check_reduction({700, 129}, {0, 1}, "padded", ReductionMode_t::NORM2);
}

TEST(CpuReduce, LongAndShort) {
  check_reduction({2, 90001}, {1}, "row_major", ReductionMode_t::ADD);
  check_reduction({90001, 2}, {0}, "row_major", ReductionMode_t::ADD);
  check_reduction({300, 300}, {0}, "row_major", ReductionMode_t::ADD, DataType_t::FLOAT, true);
  check_reduction({9001, 11}, {1}, "row_major", ReductionMode_t::AVG, DataType_t::FLOAT, true);
}

TEST(CpuReduce, NothingToReduce) {
  check_reduction({5, 0}, {1}, "row_major", ReductionMode_t::ADD);
  check_reduction({0, 5}, {0}, "row_major", ReductionMode_t::MUL);
  check_reduction({0, 5}, {1}, "row_major", ReductionMode_t::MAX);
  check_reduction({5, 0}, {1}, "row_major", ReductionMode_t::AVG);
  check_reduction({5, 0}, {1}, "row_major", ReductionMode_t::MIN);
}

}  // namespace
}  // namespace warploom::test
