#include <cmath>
#include <random>

#include "cpu_kernels/elements_reference.h"
#include "cpu_kernels/guarded.h"
#include "cpu_kernels/levels.h"

// The online softmax over several blocks, against a softmax over the whole row in double.

namespace warploom::cpu {
namespace {

class SoftmaxTest : public KernelTest {};

struct Case {
  int rows, columns, block;
  float scale;
  bool bfloat16, limits;
  float spread;  // of the scores
};

void check(const SoftmaxKernels& softmax, const Case& c) {
  std::mt19937 random(4);
  std::normal_distribution<float> normal(0.0f, c.spread);
  const int head = 5;  // columns of V
  std::vector<float> scores(static_cast<size_t>(c.rows * c.columns));
  for (float& s : scores) s = normal(random);
  std::vector<float> values(static_cast<size_t>(c.columns * head));
  for (float& v : values) v = normal(random);
  std::vector<int> begin(static_cast<size_t>(c.rows)), end(begin);
  for (int i = 0; i < c.rows; ++i) {
    const auto k = static_cast<size_t>(i);
    begin[k] = c.limits ? static_cast<int>(random() % static_cast<unsigned>(c.columns)) - 3 : 0;
    end[k] = c.limits ? static_cast<int>(random() % static_cast<unsigned>(c.columns + 6)) - 2
                      : c.columns;
    if (i == 2) begin[k] = end[k];  // sees nothing
  }
  for (int i = 0; i < c.rows; ++i) {  // what is hidden may be anything
    for (int j = 0; j < c.columns; ++j) {
      const bool seen = j >= begin[static_cast<size_t>(i)] && j < end[static_cast<size_t>(i)];
      if (!seen) scores[static_cast<size_t>(i * c.columns + j)] = j % 2 == 0 ? NAN : INFINITY;
    }
  }

  Guarded<float> maximum(static_cast<size_t>(c.rows)), sum(static_cast<size_t>(c.rows));
  Guarded<float> rescale(static_cast<size_t>(c.rows)), output(static_cast<size_t>(c.rows * head));
  softmax.start(maximum.data(), sum.data(), c.rows);
  for (int first = 0; first < c.columns; first += c.block) {
    const int width = std::min(c.block, c.columns - first), padded = (width + 15) / 16 * 16;
    Guarded<float> block(static_cast<size_t>(c.rows * padded));
    Guarded<uint16_t> narrow(static_cast<size_t>(c.rows * padded));
    std::vector<int> b(begin), e(end);
    for (int i = 0; i < c.rows; ++i) {
      b[static_cast<size_t>(i)] -= first;
      e[static_cast<size_t>(i)] -= first;
      for (int j = 0; j < width; ++j) {
        block[static_cast<size_t>(i * padded + j)] =
            scores[static_cast<size_t>(i * c.columns + first + j)];
      }
    }
    SoftmaxBlock update;
    update.scores = block.data();
    update.score_stride = padded;
    if (c.bfloat16) {
      update.bfloat16 = narrow.data();
      update.bfloat16_stride = padded;
    }
    update.rows = c.rows;
    update.columns = width;
    update.padded_columns = padded;
    update.begin = b.data();
    update.end = e.data();
    update.scale = c.scale;
    update.maximum = maximum.data();
    update.sum = sum.data();
    update.rescale = rescale.data();
    softmax.update(update);
    std::vector<float> product(static_cast<size_t>(c.rows * head));
    for (int i = 0; i < c.rows; ++i) {
      for (int j = 0; j < padded; ++j) {
        const auto k = static_cast<size_t>(i * padded + j);
        const float p = c.bfloat16
                            ? static_cast<float>(read_element(&narrow[k], DataType_t::BFLOAT16))
                            : block[k];
        if (j >= width || j < b[static_cast<size_t>(i)] || j >= e[static_cast<size_t>(i)]) {
          ASSERT_EQ(p, 0.0f) << "row " << i << " column " << first + j;
          continue;
        }
        for (int h = 0; h < head; ++h) {
          product[static_cast<size_t>(i * head + h)] +=
              p * values[static_cast<size_t>((first + j) * head + h)];
        }
      }
    }
    softmax.accumulate(output.data(), head, product.data(), head, rescale.data(), c.rows, head);
  }
  Guarded<float> statistics(static_cast<size_t>(c.rows * 2));
  softmax.finish(output.data(), head, maximum.data(), sum.data(), c.rows, head, statistics.data(),
                 2);

  for (int i = 0; i < c.rows; ++i) {
    double largest = -INFINITY, total = 0.0;
    std::vector<double> expected(static_cast<size_t>(head));
    const int low = std::max(0, begin[static_cast<size_t>(i)]);
    const int high = std::min(c.columns, end[static_cast<size_t>(i)]);
    const auto scaled = [&](int j) {
      return static_cast<double>(c.scale) * scores[static_cast<size_t>(i * c.columns + j)];
    };
    for (int j = low; j < high; ++j) largest = std::max(largest, scaled(j));
    for (int j = low; j < high; ++j) {
      const double p = std::exp(scaled(j) - largest);
      total += p;
      for (int h = 0; h < head; ++h) {
        expected[static_cast<size_t>(h)] += p * values[static_cast<size_t>(j * head + h)];
      }
    }
    const double tolerance = c.bfloat16 ? 1.5e-2 * c.spread : 4e-6 * (1 + c.spread * c.spread);
    for (int h = 0; h < head; ++h) {
      const double e = low >= high ? 0.0 : expected[static_cast<size_t>(h)] / total;
      ASSERT_NEAR(output[static_cast<size_t>(i * head + h)], e, tolerance) << "row " << i;
    }
    const float lse = statistics[static_cast<size_t>(2 * i)];
    if (low >= high) {
      ASSERT_EQ(lse, -INFINITY);
    } else {
      ASSERT_NEAR(lse, largest + std::log(total), 1e-5 * (1 + std::fabs(largest)));
    }
  }
}

TEST_P(SoftmaxTest, Blocks) {
  for (bool bfloat16 : {false, true}) {
    for (bool limits : {false, true}) {
      for (int columns : {1, 5, 15, 16, 17, 31, 48, 100}) {
        for (int block : {16, 48, 128}) {
          check(table().softmax, {7, columns, block, 0.125f, bfloat16, limits, 3.0f});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(SoftmaxTest, ScoresFarFromZeroAndNegativeScale) {
  check(table().softmax, {5, 70, 16, 1.0f, false, true, 1.0f});
  check(table().softmax, {5, 70, 32, -0.5f, false, true, 2.0f});
  check(table().softmax, {5, 70, 32, 1.0f, false, false, 50.0f});
}

TEST_P(SoftmaxTest, MinusInfinityHidesNanShows) {
  float scores[2][16];
  for (auto& row : scores) {
    for (float& s : row) s = -INFINITY;
  }
  scores[1][3] = NAN;
  scores[1][4] = 1.0f;
  float maximum[2], sum[2], rescale[2];
  table().softmax.start(maximum, sum, 2);
  SoftmaxBlock block;
  block.scores = &scores[0][0];
  block.score_stride = 16;
  block.rows = 2;
  block.columns = block.padded_columns = 16;
  block.maximum = maximum;
  block.sum = sum;
  block.rescale = rescale;
  table().softmax.update(block);
  for (float p : scores[0]) EXPECT_EQ(p, 0.0f);
  EXPECT_EQ(sum[0], 0.0f);
  EXPECT_TRUE(std::isnan(sum[1]));
  float output[2] = {NAN, 1.0f}, statistics[2];
  table().softmax.finish(output, 1, maximum, sum, 2, 1, statistics, 1);
  EXPECT_EQ(output[0], 0.0f);
  EXPECT_EQ(statistics[0], -INFINITY);
  EXPECT_TRUE(std::isnan(output[1]));
}

WARPLOOM_KERNEL_TESTS(SoftmaxTest);

}  // namespace
}  // namespace warploom::cpu
