#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "harness/element.h"
#include "ops/operation_runner.h"

namespace warploom::test {
namespace {

using enum DataType_t;
using graph::Block_scale_dequantize_attributes;
using graph::Block_scale_quantize_attributes;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Block_scale_quantize_attributes quantize(int32_t block) {
  return Block_scale_quantize_attributes().set_name("quantize").set_block_size(block);
}

Block_scale_dequantize_attributes dequantize(const std::vector<int32_t>& blocks) {
  return Block_scale_dequantize_attributes().set_name("dequantize").set_block_size(blocks);
}

TensorPtr tiled(const TensorPtr& tensor) {
  tensor->set_reordering_type(TensorReordering_t::F8_128x4);
  return tensor;
}

TEST(BlockScale, ScalesThatArePowersOfTwoRoundUp) {
  const auto found =
      run(with(quantize(4), {input("x", {2, 8})}, {output(FP8_E4M3), output(FP8_E8M0)}),
          {{448, -1, 0, 2, 449, 1, 1, 0, 0, 0, 0, 0, 7, -3, 3.5, 0.25}});
  EXPECT_EQ(found.at(1), (Values{1, 2, 0x1p-127, 0x1p-6}));
  EXPECT_EQ(found.at(0), (Values{448, -1, 0, 2, 224, 0.5, 0.5, 0, 0, 0, 0, 0, 448, -192, 224, 16}));
}

TEST(BlockScale, ScalesOfOtherTypesRoundToNearest) {
  // 6 / 6 = 1; 13.9 / 6 = 2.3167 -> 2.25: 13.9 / 2.25 = 6.18 saturates.
  const auto found =
      run(with(quantize(2), {input("x", {4}, DOUBLE)}, {output(FP4_E2M1), output(FP8_E4M3)}),
          {{6, -2.6, 13.9, -2}});
  EXPECT_EQ(found.at(1), (Values{1, 2.25}));
  EXPECT_EQ(found.at(0), (Values{6, -3, 6, -1}));
  // A scale that rounds to 0 gives zeros.
  const auto tiny =
      run(with(quantize(2), {input("x", {2}, DOUBLE)}, {output(FP4_E2M1), output(FP8_E4M3)}),
          {{1e-4, -1e-5}});
  EXPECT_EQ(tiny.at(1), (Values{0}));
  EXPECT_EQ(tiny.at(0), (Values{0, 0}));
}

TEST(BlockScale, NanSpoilsItsBlockAlone) {
  const auto found = run(with(quantize(2), {input("x", {4})}, {output(FP8_E5M2), output(FP8_E8M0)}),
                         {{1, kNan, 3, 4}});
  expect_near(found.at(1), {kNan, 0x1p-13});
  expect_near(found.at(0), {kNan, kNan, 3 * 0x1p13, 4 * 0x1p13});
}

TEST(BlockScale, AxisAndTranspose) {
  const TensorPtr y = output(FP8_E4M3), scale = output(FP8_E8M0);
  expect_accepted(
      with(quantize(32).set_axis(1).set_transpose(true), {input("x", {2, 64, 96})}, {y, scale}));
  EXPECT_EQ(y->get_stride(), (Dims{6144, 1, 64}));
  EXPECT_EQ(scale->get_dim(), (Dims{2, 2, 96}));
  EXPECT_EQ(scale->get_stride(), (Dims{192, 1, 2}));
  const auto found =
      run(with(quantize(2).set_axis(0), {input("x", {2, 2})}, {output(FP8_E4M3), output(FLOAT)}),
          {{448, 2, 1, -4}});
  EXPECT_EQ(found.at(1), (Values{1, static_cast<double>(4.0f / 448)}));
  EXPECT_EQ(found.at(0), (Values{448, 224, 1, -448}));
}

// What comes back differs by less than half a step of the element type at its block's scale.
TEST(BlockScale, ThereAndBackThroughTiles) {
  const Dims dims{2, 130, 96};
  const Values x = random_values(2 * 130 * 96, 9);
  const auto quantized = run(with(quantize(32), {input("x", dims)},
                                  {output(FP8_E4M3), tiled(output(FP8_E8M0, {2, 130, 3}))}),
                             {x});
  const Values back = run_one(
      with(dequantize({1, 32}),
           {input("q", dims, FP8_E4M3), tiled(input("scale", {2, 130, 3}, FP8_E8M0))}, {output()}),
      {quantized.at(0), quantized.at(1)});
  for (size_t i = 0; i < x.size(); ++i) {
    const double scale = quantized[1][i / 96 * 3 + i % 96 / 32];
    EXPECT_EQ(quantized[0][i], round_to(x[i] / scale, FP8_E4M3));
    EXPECT_EQ(back.at(i), quantized[0][i] * scale);
  }
}

TEST(BlockScale, TilesMayBeDeclaredWhole) {
  const Values x = count_up(6);
  const auto found = run(with(quantize(2), {input("x", {3, 2}, DOUBLE)},
                              {output(FP8_E5M2), tiled(output(FP8_E4M3, {128, 4}))}),
                         {x});
  EXPECT_EQ(found.at(1).size(), 512u);
  EXPECT_EQ(found[1][4], round_to(4 / 57344.0, FP8_E4M3));
  EXPECT_EQ(found[1][1], 0);
  const Values back =
      run_one(with(dequantize({1, 2}),
                   {input("q", {3, 2}, FP8_E5M2), tiled(input("scale", {128, 4}, FP8_E4M3))},
                   {output(DOUBLE)}),
              {found[0], found[1]});
  EXPECT_EQ(back, Values(6, 0.0));  // scales this small round to 0
}

TEST(BlockScale, DequantizeInTwoDimensions) {
  const Values found =
      run_one(with(dequantize({2, 3}),
                   {input("q", {1, 3, 4}, FP4_E2M1), input("scale", {1, 2, 2}, FLOAT)}, {output()}),
              {{1, 2, 3, 4, -1, -2, -3, -4, 0, 0.5, 1.5, 6}, {1, 10, 100, 1000}});
  EXPECT_EQ(found, (Values{1, 2, 3, 40, -1, -2, -3, -40, 0, 50, 150, 6000}));
}

TEST(BlockScale, Mistakes) {
  const auto shape = error_code_t::SHAPE_DEDUCTION_FAILED, value = error_code_t::INVALID_VALUE;
  const auto unsupported = error_code_t::GRAPH_NOT_SUPPORTED;
  const TensorPtr x = input("x", {4, 48});
  const auto outputs = [](DataType_t y = FP8_E4M3, DataType_t scale = FP8_E8M0) {
    return std::vector{output(y), output(scale)};
  };
  expect_refused(with(quantize(32), {x}, outputs()), shape, {"\"x\"", "48", "multiple of 32"});
  expect_refused(with(quantize(0), {x}, outputs()), value, {"field block_size"});
  expect_refused(with(Block_scale_quantize_attributes(), {x}, outputs()),
                 error_code_t::ATTRIBUTE_NOT_SET, {"field block_size"});
  expect_refused(with(quantize(16).set_axis(2), {x}, outputs()), value, {"field axis", "0 to 1"});
  expect_refused(with(quantize(16), {x}, outputs(FLOAT)), unsupported, {"port Y", "FLOAT"});
  expect_refused(with(quantize(16), {x}, outputs(FP8_E4M3, FP4_E2M1)), unsupported,
                 {"port scale", "FP4_E2M1"});
  expect_refused(with(quantize(16), {x}, {output(FP8_E4M3), output(FP8_E8M0, {4, 4})}), shape,
                 {"port scale", "[4, 4]", "[4, 3]"});
  const TensorPtr q = input("q", {4, 48}, FP8_E4M3);
  expect_refused(with(dequantize({1, 16}), {q, input("scale", {4, 2}, FLOAT)}, {output()}), shape,
                 {"\"scale\"", "[4, 2]", "[4, 3]"});
  expect_refused(with(dequantize({1, 1, 16}), {q, input("scale", {4, 3}, FLOAT)}, {output()}),
                 value, {"field block_size", "at most 2"});
  expect_refused(with(dequantize({1, 16}).set_is_negative_scale(true),
                      {q, input("scale", {4, 3}, FLOAT)}, {output()}),
                 unsupported, {"is_negative_scale"});
  expect_refused(with(dequantize({1, 16}), {q, tiled(input("scale", {4, 3}, FLOAT))}, {output()}),
                 value, {"F8_128x4", "8-bit float"});
  // Other operations read tensors by their strides.
  expect_refused(with(graph::Pointwise_attributes().set_mode(PointwiseMode_t::NEG),
                      {tiled(input("scale", {4, 3}, FP8_E8M0))}, {output()}),
                 unsupported, {"\"scale\"", "reordering", "F8_128x4"});
  expect_refused(with(graph::Pointwise_attributes()
                          .set_mode(PointwiseMode_t::NEG)
                          .set_compute_data_type(FP8_E4M3),
                      {x}, {output()}),
                 unsupported, {"compute data type", "FP8_E4M3"});
}

}  // namespace
}  // namespace warploom::test
