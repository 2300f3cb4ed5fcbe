#include <cmath>
#include <random>
#include <string>

#include "cpu_kernels/elements_reference.h"
#include "cpu_kernels/guarded.h"
#include "cpu_kernels/levels.h"

// Packing and micro-kernels together, against double loops over the unpacked matrices.

namespace warploom::cpu {
namespace {

class GemmTest : public KernelTest {};

/// A matrix of any type and strides in guarded memory, and its values.
struct Matrix {
  DataType_t type;
  int64_t rows, columns, row_stride, column_stride;
  std::vector<double> values;
  Guarded<uint8_t> memory;
  const char* origin;

  Matrix(DataType_t type, int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride,
         std::mt19937& random)
      : type(type),
        rows(rows),
        columns(columns),
        row_stride(row_stride),
        column_stride(column_stride),
        values(static_cast<size_t>(rows * columns)),
        memory(static_cast<size_t>((extent() + 1) * element_bytes(type))) {
    int64_t lowest = 0;
    if (row_stride < 0) lowest += row_stride * (rows - 1);
    if (column_stride < 0) lowest += column_stride * (columns - 1);
    origin = reinterpret_cast<char*>(memory.data()) - lowest * element_bytes(type);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const int64_t offset = i * row_stride + j * column_stride;
        void* element = const_cast<char*>(origin) + offset * element_bytes(type);
        write_element(element, type, random_value(type, random));
      }
    }
    for (int64_t i = 0; i < rows; ++i) {  // read back: broadcast elements were written repeatedly
      for (int64_t j = 0; j < columns; ++j) {
        const int64_t offset = i * row_stride + j * column_stride;
        values[static_cast<size_t>(i * columns + j)] =
            read_element(origin + offset * element_bytes(type), type);
      }
    }
  }

  int64_t extent() const {
    return rows == 0 || columns == 0
               ? 0
               : std::abs(row_stride) * (rows - 1) + std::abs(column_stride) * (columns - 1);
  }
  double at(int64_t i, int64_t j) const { return values[static_cast<size_t>(i * columns + j)]; }
  PackSource source() const { return {origin, type, rows, columns, row_stride, column_stride}; }
};

/// C = A B (+ C) on one row strip, the columns of `shape` of all panels; compares with the sum in
/// double. C need not be aligned.
void check(const GemmKernels& gemm, const GemmShape& shape, const Matrix& a, const Matrix& b,
           bool accumulate, double tolerance) {
  const int64_t m = a.rows, n = b.columns, k = a.columns, steps = gemm.k_steps(k);
  const int64_t panels = (n + gemm.nr - 1) / gemm.nr;
  const int64_t panel_bytes = steps * gemm.step_bytes();
  const int64_t a_stride = steps * gemm.k_per_step * gemm.a_bytes;
  Guarded<char> packed_a(static_cast<size_t>(m * a_stride));
  Guarded<char> packed_b(static_cast<size_t>(panels * panel_bytes), 64);
  gemm.pack_a(a.source(), packed_a.data(), a_stride);
  gemm.pack_b(b.source(), packed_b.data(), panel_bytes);
  const int64_t c_stride = (shape.nr + 1) * gemm.c_bytes;
  for (int64_t panel = 0; panel < panels; ++panel) {
    Guarded<char> c(static_cast<size_t>((m * (shape.nr + 1) - 1) * gemm.c_bytes));
    const DataType_t c_type = gemm.c_bytes == 8 ? DataType_t::DOUBLE
                              : gemm.a_bytes == 2 && gemm.a_type == DataType_t::NOT_SET
                                  ? DataType_t::INT32
                                  : DataType_t::FLOAT;
    if (accumulate) {
      for (int64_t i = 0; i < m * (shape.nr + 1) - 1; ++i) {
        write_element(c.data() + i * gemm.c_bytes, c_type, 3.0);
      }
    }
    GemmTile tile;
    tile.a = packed_a.data();
    tile.a_row_stride = a_stride;
    tile.b = packed_b.data() + panel * panel_bytes;
    tile.c = c.data();
    tile.c_row_stride = c_stride;
    tile.k_steps = steps;
    tile.accumulate = accumulate ? 1 : 0;
    const auto gap = [&](int64_t i) {  // between rows of C
      return std::string(c.data() + i * c_stride + shape.nr * gemm.c_bytes,
                         static_cast<size_t>(gemm.c_bytes));
    };
    const std::string untouched = m > 1 ? gap(0) : "";
    shape.run(static_cast<int>(m), tile);
    ASSERT_TRUE(c.front_untouched());
    for (int64_t i = 0; i + 1 < m; ++i) ASSERT_EQ(gap(i), untouched);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < shape.nr; ++j) {
        double expected = accumulate ? 3.0 : 0.0, magnitude = std::fabs(expected);
        const int64_t column = panel * gemm.nr + j;
        for (int64_t l = 0; column < n && l < k; ++l) {
          expected += a.at(i, l) * b.at(l, column);
          magnitude += std::fabs(a.at(i, l) * b.at(l, column));
        }
        const double got = read_element(c.data() + i * c_stride + j * gemm.c_bytes, c_type);
        ASSERT_NEAR(got, expected, tolerance * magnitude)
            << "m " << m << " n " << n << " k " << k << " row " << i << " column " << column;
      }
    }
  }
}

double tolerance_of(const GemmKernels& gemm, int64_t k) {
  const double terms = static_cast<double>(k) + 2.0;
  if (gemm.c_bytes == 8) return terms * 0x1p-52;
  if (gemm.k_per_step == 2 && gemm.a_type == DataType_t::NOT_SET) return 0.0;
  return terms * 0x1p-23;
}

void check_shape(const GemmKernels& gemm, const GemmShape& shape, DataType_t type) {
  std::mt19937 random(7);
  for (int m = 1; m <= shape.mr; ++m) {
    for (int64_t k : {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 64}) {
      const int64_t n = 1 + (m * 7 + k * 3) % (2 * gemm.nr);
      const Matrix a(type, m, k, k + 1, 1, random), b(type, k, n, n, 1, random);
      check(gemm, shape, a, b, (m + k) % 2 == 0, tolerance_of(gemm, k));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  for (int64_t n = 1; n <= 2 * gemm.nr && shape.mr > 0; ++n) {  // every remainder of N
    const Matrix a(type, shape.mr, 5, 5, 1, random), b(type, 5, n, n + 2, 1, random);
    check(gemm, shape, a, b, false, tolerance_of(gemm, 5));
    if (testing::Test::HasFatalFailure()) return;
  }
}

void check_all(const GemmKernels& gemm, DataType_t type) {
  if (!gemm) GTEST_SKIP() << "this level has no such kernel";
  check_shape(gemm, gemm, type);
  check_shape(gemm, gemm.narrow, type);
  check_shape(gemm, gemm.narrowest, type);
}

void check_strides(const GemmKernels& gemm, DataType_t type) {
  if (!gemm) GTEST_SKIP() << "this level has no such kernel";
  std::mt19937 random(11);
  struct Strides {
    int64_t row, column;
  };
  const int64_t m = gemm.mr - 1, n = gemm.nr + 3, k = 37;
  for (Strides sa : {Strides{k, 1}, Strides{1, m}, Strides{2 * k, 2}, Strides{-k, 1},
                     Strides{k, -1}, Strides{0, 1}, Strides{1, 0}, Strides{0, 0}, Strides{1, -m}}) {
    for (Strides sb :
         {Strides{n, 1}, Strides{1, k}, Strides{3 * n, 3}, Strides{1, k + 5}, Strides{-n, 1},
          Strides{0, 1}, Strides{1, 0}, Strides{0, 0}, Strides{1, -k}}) {
      const Matrix a(type, m, k, sa.row, sa.column, random),
          b(type, k, n, sb.row, sb.column, random);
      check(gemm, gemm, a, b, false, tolerance_of(gemm, k));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST_P(GemmTest, ShapesForColumns) {
  for (const GemmKernels* gemm :
       {&table().gemm_float, &table().gemm_bfloat16, &table().gemm_int16, &table().gemm_double}) {
    if (!*gemm) continue;
    EXPECT_EQ(gemm->narrow.nr * 2, gemm->nr);
    const int64_t quarter = gemm->narrowest.nr;
    EXPECT_TRUE(quarter == 0 || quarter * 4 == gemm->nr);
    EXPECT_EQ(&gemm->shape_for(1), quarter != 0 ? &gemm->narrowest : &gemm->narrow);
    EXPECT_EQ(&gemm->shape_for(quarter + 1), &gemm->narrow);
    EXPECT_EQ(&gemm->shape_for(gemm->narrow.nr), &gemm->narrow);
    EXPECT_EQ(&gemm->shape_for(gemm->narrow.nr + 1), gemm);
    EXPECT_EQ(&gemm->shape_for(gemm->nr), gemm);
    EXPECT_EQ(gemm->fits(gemm->nr + quarter), true);
    EXPECT_EQ(gemm->fits(gemm->nr + gemm->narrow.nr), true);
    EXPECT_EQ(gemm->fits(gemm->nr + gemm->narrow.nr + 1), false);
    EXPECT_EQ(gemm->fits(gemm->nr - 1), false);
  }
}

TEST_P(GemmTest, Float) {
  check_all(table().gemm_float, DataType_t::FLOAT);
}
TEST_P(GemmTest, BFloat16) {
  check_all(table().gemm_bfloat16, DataType_t::BFLOAT16);
}
TEST_P(GemmTest, Int8) {
  check_all(table().gemm_int16, DataType_t::INT8);
}
TEST_P(GemmTest, Double) {
  check_all(table().gemm_double, DataType_t::DOUBLE);
}

TEST_P(GemmTest, FloatStrides) {
  for (DataType_t type : {DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16,
                          DataType_t::INT8, DataType_t::UINT8, DataType_t::INT32,
                          DataType_t::BOOLEAN, DataType_t::DOUBLE, DataType_t::INT64}) {
    check_strides(table().gemm_float, type);
  }
}
TEST_P(GemmTest, BFloat16Strides) {
  check_strides(table().gemm_bfloat16, DataType_t::BFLOAT16);
}
TEST_P(GemmTest, Int8Strides) {
  check_strides(table().gemm_int16, DataType_t::INT8);
  check_strides(table().gemm_int16, DataType_t::UINT8);
}
TEST_P(GemmTest, DoubleStrides) {
  for (DataType_t type : {DataType_t::DOUBLE, DataType_t::FLOAT, DataType_t::HALF,
                          DataType_t::BFLOAT16, DataType_t::INT32}) {
    check_strides(table().gemm_double, type);
  }
}

// A batch sums over several pieces of A and B; pieces of B need not touch.
void check_batch(const GemmKernels& gemm, const GemmShape& shape) {
  const int64_t k = 5, batch = 3, a_batch = 7, b_batch = 6;
  for (int m = 1; m <= shape.mr; ++m) {
    std::vector<float> a(static_cast<size_t>(m * 40 + 40));
    Guarded<float> b(static_cast<size_t>(((batch - 1) * b_batch + k) * gemm.nr), 64);
    Guarded<float> c(static_cast<size_t>(m * shape.nr));
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = static_cast<float>(static_cast<int>(i * 7 % 23) - 11);
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = static_cast<float>(static_cast<int>(i * 5 % 19) - 9);
    GemmTile tile;
    tile.a = a.data();
    tile.a_row_stride = 40 * 4;
    tile.a_batch_stride = a_batch * 4;
    tile.b = b.data();
    tile.b_batch_stride = b_batch * gemm.nr * 4;
    tile.c = c.data();
    tile.c_row_stride = shape.nr * 4;
    tile.k_steps = k;
    tile.batch = batch;
    shape.run(m, tile);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < shape.nr; ++j) {
        double expected = 0.0;
        for (int64_t t = 0; t < batch; ++t) {
          for (int64_t l = 0; l < k; ++l) {
            expected += static_cast<double>(a[static_cast<size_t>(i * 40 + t * a_batch + l)]) *
                        b[static_cast<size_t>((t * b_batch + l) * gemm.nr + j)];
          }
        }
        ASSERT_EQ(c[static_cast<size_t>(i * shape.nr + j)], expected);  // integers: exact
      }
    }
    tile.batch = 0;
    shape.run(m, tile);
    for (int i = 0; i < m * shape.nr; ++i) ASSERT_EQ(c[static_cast<size_t>(i)], 0.0f);
  }
}

TEST_P(GemmTest, Batch) {
  check_batch(table().gemm_float, table().gemm_float);
  check_batch(table().gemm_float, table().gemm_float.narrow);
  check_batch(table().gemm_float, table().gemm_float.narrowest);
}

// A row's bits depend neither on how many rows or columns are computed with it nor on how K is
// split.
void check_splits(const GemmKernels& gemm, const GemmShape& shape) {
  std::mt19937 random(3);
  const int64_t k = 100;
  const Matrix a(DataType_t::FLOAT, gemm.mr, k, k, 1, random);
  const Matrix b(DataType_t::FLOAT, k, gemm.nr, gemm.nr, 1, random);
  Guarded<float> whole(static_cast<size_t>(gemm.mr * gemm.nr), 64);
  Guarded<float> part(static_cast<size_t>(shape.nr));
  Guarded<char> panel(static_cast<size_t>(k * gemm.step_bytes()), 64);
  gemm.pack_b(b.source(), panel.data(), k * gemm.step_bytes());
  GemmTile tile;
  tile.a = a.origin;
  tile.a_row_stride = k * 4;
  tile.b = panel.data();
  tile.c = whole.data();
  tile.c_row_stride = gemm.nr * 4;
  tile.k_steps = k;
  gemm.run(gemm.mr, tile);
  for (int row = 0; row < gemm.mr; ++row) {
    GemmTile piece = tile;
    piece.c = part.data();
    piece.a = a.origin + row * k * 4;
    piece.k_steps = 33;
    shape.run(1, piece);
    piece.a = a.origin + (row * k + 33) * 4;
    piece.b = panel.data() + 33 * gemm.step_bytes();
    piece.k_steps = k - 33;
    piece.accumulate = 1;
    shape.run(1, piece);
    ASSERT_EQ(std::memcmp(part.data(), whole.data() + row * gemm.nr,
                          static_cast<size_t>(shape.nr) * sizeof(float)),
              0);
  }
}

TEST_P(GemmTest, SameBitsForEverySplit) {
  check_splits(table().gemm_float, table().gemm_float);
  check_splits(table().gemm_float, table().gemm_float.narrow);
  if (table().gemm_float.narrowest.nr != 0)
    check_splits(table().gemm_float, table().gemm_float.narrowest);
}

// Bias and clips come after all else, also after what C held; NaN passes through the clips.
void check_finish(const GemmKernels& gemm, const GemmShape& shape) {
  constexpr int64_t k = 4;  // of bfloat16 two steps, else four
  const int64_t steps = gemm.k_steps(k);
  for (int m = 1; m <= shape.mr; ++m) {
    for (int variant = 0; variant < 4; ++variant) {
      const bool clips = variant % 2 != 0, accumulates = variant >= 2;
      std::vector<float> a(static_cast<size_t>(m * k));
      for (size_t i = 0; i < a.size(); ++i)
        a[i] = static_cast<float>(static_cast<int>(i * 5 % 13) - 6);
      std::vector<float> b(static_cast<size_t>(k * gemm.nr));
      for (size_t i = 0; i < b.size(); ++i)
        b[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
      Guarded<char> packed_a(static_cast<size_t>(m * steps * gemm.k_per_step * gemm.a_bytes));
      Guarded<char> panel(static_cast<size_t>(steps * gemm.step_bytes()), 64);
      gemm.pack_a({a.data(), DataType_t::FLOAT, m, k, k, 1}, packed_a.data(),
                  steps * gemm.k_per_step * gemm.a_bytes);
      gemm.pack_b({b.data(), DataType_t::FLOAT, k, gemm.nr, gemm.nr, 1}, panel.data(),
                  steps * gemm.step_bytes());
      Guarded<float> bias(static_cast<size_t>(shape.nr)), c(static_cast<size_t>(m * shape.nr));
      for (int j = 0; j < shape.nr; ++j) bias[static_cast<size_t>(j)] = static_cast<float>(j) - 3;
      bias[1] = std::nanf("");
      bias[2] = INFINITY;
      for (size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i % 5);
      GemmTile tile;
      tile.a = packed_a.data();
      tile.a_row_stride = steps * gemm.k_per_step * gemm.a_bytes;
      tile.b = panel.data();
      tile.c = c.data();
      tile.c_row_stride = shape.nr * 4;
      tile.k_steps = steps;
      tile.accumulate = accumulates ? 1 : 0;
      tile.bias = bias.data();
      if (clips) tile.lower = -2, tile.upper = 30;
      shape.run(m, tile);
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < shape.nr; ++j) {
          const auto at = static_cast<size_t>(i * shape.nr + j);
          double expected = bias[static_cast<size_t>(j)];
          if (accumulates) expected += static_cast<double>(at % 5);
          for (int64_t l = 0; l < k; ++l)
            expected += static_cast<double>(a[static_cast<size_t>(i * k + l)]) *
                        b[static_cast<size_t>(l * gemm.nr + j)];
          if (clips && expected < -2) expected = -2;
          if (clips && expected > 30) expected = 30;
          if (std::isnan(expected))
            ASSERT_TRUE(std::isnan(c[at])) << m << " " << variant << " " << i << " " << j;
          else
            ASSERT_EQ(c[at], expected) << m << " " << variant << " " << i << " " << j;
        }
      }
    }
  }
}

TEST_P(GemmTest, Finish) {
  EXPECT_TRUE(table().gemm_float.finishes);
  for (const GemmKernels* gemm : {&table().gemm_float, &table().gemm_bfloat16}) {
    if (!*gemm || gemm->kernels == nullptr) continue;
    check_finish(*gemm, *gemm);
    check_finish(*gemm, gemm->narrow);
    check_finish(*gemm, gemm->narrowest);
  }
}

TEST_P(GemmTest, NanAndInfinityPass) {
  const GemmKernels& gemm = table().gemm_float;
  Guarded<float> panel(static_cast<size_t>(2 * gemm.nr), 64);
  Guarded<float> c(static_cast<size_t>(gemm.nr), 64);
  for (size_t i = 0; i < panel.size(); ++i) panel[i] = 1.0f;
  panel[1] = std::nanf("");
  panel[2] = INFINITY;
  const float a[2] = {2.0f, 3.0f};
  GemmTile tile;
  tile.a = a;
  tile.b = panel.data();
  tile.c = c.data();
  tile.k_steps = 2;
  gemm.run(1, tile);
  EXPECT_EQ(c[0], 5.0f);
  EXPECT_TRUE(std::isnan(c[1]));
  EXPECT_EQ(c[2], INFINITY);
}

WARPLOOM_KERNEL_TESTS(GemmTest);

}  // namespace
}  // namespace warploom::cpu
