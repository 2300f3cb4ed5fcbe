#include <gtest/gtest.h>

#include "cpu/engine_runner.h"
#include "cpu/group_builder.h"

namespace warploom::test {
namespace {

using fusion::AnchorKind;

int64_t product(const Dims& dims) {
  int64_t result = 1;
  for (int64_t dim : dims) result *= dim;
  return result;
}

struct Side {
  Dims dims;
  std::string layout = "row_major";
};

/// `source` says which element of X, by its row-major number, each element of Y is.
template <class Source>
void check(const graph::Operation& operation, const Side& x, const Side& y, Source source,
           DataType_t x_type = DataType_t::FLOAT, DataType_t y_type = DataType_t::FLOAT) {
  SCOPED_TRACE(x.layout + " to " + y.layout + ", " + std::string(to_string(x_type)) + " to " +
               std::string(to_string(y_type)));
  GroupBuilder builder;
  const Values values = as_stored(random_values(product(x.dims), 1), x_type, x.dims, x.layout);
  Values expected;
  for (int64_t i = 0; i < product(y.dims); ++i)
    expected.push_back(values[static_cast<size_t>(source(i))]);
  const auto tx = builder.stored("X", x_type, x.dims, x.layout);
  const auto ty = builder.stored("Y", y_type, y.dims, y.layout);
  builder.anchor(AnchorKind::kMovement, operation, {tx}, {ty});
  expect_engine_and_generic("cpu.move", builder.build(), {{tx, values}},
                            {{ty, rounded(expected, y_type)}}, 0);
}

void check_transpose(const Dims& dims, const std::vector<int64_t>& permutation,
                     const std::string& x_layout, const std::string& y_layout,
                     DataType_t x_type = DataType_t::FLOAT, DataType_t y_type = DataType_t::FLOAT) {
  graph::Transpose_attributes transpose;
  transpose.set_permutation(permutation);
  Dims y_dims, strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) strides[i] = stride;
  for (int64_t from : permutation) y_dims.push_back(dims[static_cast<size_t>(from)]);
  check(
      transpose, {dims, x_layout}, {y_dims, y_layout},
      [&](int64_t i) {
        int64_t index = 0;
        for (size_t axis = y_dims.size(); axis-- > 0; i /= y_dims[axis])
          index += i % y_dims[axis] * strides[static_cast<size_t>(permutation[axis])];
        return index;
      },
      x_type, y_type);
}

TEST(CpuMove, Transposes) {
  for (const char* x : {"row_major", "padded", "reversed", "odd_ones", "last_repeated"})
    for (const char* y : {"row_major", "channels_last", "padded"}) {
      check_transpose({3, 17, 5, 9}, {0, 2, 3, 1}, x, y);
      check_transpose({3, 17, 1, 9}, {3, 2, 1, 0}, x, y);
      check_transpose({3, 17, 5, 9}, {0, 1, 2, 3}, x, y);
    }
  check_transpose({300, 257}, {1, 0}, "row_major", "row_major");
  check_transpose({2, 2, 2, 2, 3, 2, 2, 2}, {7, 0, 6, 1, 5, 2, 4, 3}, "row_major", "padded");
}

TEST(CpuMove, EveryTypeAsBytes) {
  for (DataType_t type :
       {DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16, DataType_t::DOUBLE,
        DataType_t::INT8, DataType_t::UINT8, DataType_t::INT32, DataType_t::INT64})
    check_transpose({5, 33, 17}, {2, 0, 1}, "padded", "row_major", type, type);
}

// A virtual half is carried as float.
TEST(CpuMove, ConvertsToWhatAVirtualTensorIsCarriedIn) {
  check_transpose({5, 33, 17}, {2, 0, 1}, "padded", "row_major", DataType_t::HALF,
                  DataType_t::FLOAT);
  check_transpose({5, 33, 17}, {0, 1, 2}, "row_major", "padded", DataType_t::FLOAT,
                  DataType_t::BFLOAT16);
}

void check_reshape(const Side& x, const Side& y, DataType_t y_type = DataType_t::FLOAT) {
  graph::Reshape_attributes reshape;
  reshape.set_reshape_mode(ReshapeMode_t::LOGICAL).set_dim(y.dims);
  check(
      reshape, x, y, [](int64_t i) { return i; }, DataType_t::FLOAT, y_type);
}

TEST(CpuMove, LogicalReshapes) {
  for (const char* x : {"row_major", "padded", "column_major", "channels_last"})
    for (const char* y : {"row_major", "padded", "reversed"}) {
      check_reshape({{4, 6, 10}, x}, {{24, 10}, y});
      check_reshape({{4, 6, 10}, x}, {{2, 2, 1, 3, 20}, y});
      check_reshape({{4, 6, 10}, x}, {{240}, y});
      check_reshape({{6, 35}, x}, {{10, 21}, y});  // no axes in common
      check_reshape({{6, 35}, x}, {{10, 21}, y}, DataType_t::HALF);
      check_reshape({{1, 1}, x}, {{1, 1, 1}, y});
    }
  check_reshape({{600, 350}, "padded"}, {{1000, 210}, "row_major"});
  check_reshape({{70000}}, {{70000, 1}});
  check_reshape({{0, 5}}, {{5, 0}});
}

TEST(CpuMove, ViewOnlyReshapeIsALayoutOverTheSameMemory) {
  GroupBuilder builder;
  graph::Reshape_attributes reshape;
  reshape.set_reshape_mode(ReshapeMode_t::VIEW_ONLY).set_dim({6, 4});
  const auto tx = builder.stored("X", DataType_t::FLOAT, {4, 6}, Dims{1, 4});
  const auto ty = builder.stored("Y", DataType_t::FLOAT, {6, 4}, Dims{4, 1});
  builder.anchor(AnchorKind::kMovement, reshape, {tx}, {ty});
  Values x = random_values(24, 1), y;
  for (size_t i = 0; i < 24; ++i) y.push_back(x[i % 4 * 6 + i / 4]);
  expect_engine_and_generic("cpu.move", builder.build(), {{tx, x}}, {{ty, y}}, 0);
}

TEST(CpuMove, Slices) {
  graph::Slice_attributes slice;
  slice.set_slices({{1, 3}, {0, 17}, {4, 9}}).set_strides({1, 5, 2});
  auto source = [](int64_t i) {
    const int64_t a = i / (4 * 3), b = i / 3 % 4, c = i % 3;
    return ((1 + a) * 17 + b * 5) * 9 + 4 + c * 2;
  };
  for (const char* x : {"row_major", "padded", "channels_last"})
    for (const char* y : {"row_major", "reversed"})
      check(slice, {{3, 17, 9}, x}, {{2, 4, 3}, y}, source);
}

TEST(CpuMove, ASliceThatNobodyAskedForIsNotWritten) {
  GroupBuilder builder;
  graph::Slice_attributes slice;
  slice.set_slices({{0, 2}});
  const auto tx = builder.stored("X", DataType_t::FLOAT, {3});
  const auto ty = builder.stored("Y", DataType_t::FLOAT, {2});
  builder.anchor(AnchorKind::kMovement, slice, {tx}, {ty});
  const auto group = builder.build();
  const auto engine = cpu_engine("cpu.move");
  auto candidates = engine->candidates(group, cpu_device(1));
  ASSERT_TRUE(candidates.is_good());
  auto kernel = engine->build(group, candidates.value()[0], cpu_device(1));
  ASSERT_TRUE(kernel.is_good());
  std::vector<ir::Shape> shapes{group.tensor(tx).shape, group.tensor(ty).shape};
  auto bound = kernel.value()->bind(shapes);
  ASSERT_TRUE(bound.is_good());
  float x[3] = {1, 2, 3};
  void* const pointers[] = {x, nullptr};
  EXPECT_TRUE(bound.value()->launch(nullptr, pointers, nullptr).is_good());
}

}  // namespace
}  // namespace warploom::test
