#include <gtest/gtest.h>

#include "harness/plan_runner.h"
#include "smoke/graphs.h"

namespace warploom::test {
namespace {

// Every second column, transposed, dealt out anew, then summed by row.
TEST(Smoke, SliceTransposeReshapeReduce) {
  constexpr int64_t kRows = 6, kColumns = 21, kTaken = 10, kNewRows = 4, kNewColumns = 15;
  auto graph = float_graph();
  auto x = input(graph, "x", {1, kRows, kColumns});
  auto slice = graph.slice(x, graph::Slice_attributes()
                                  .set_slices({{0, 1}, {0, kRows}, {1, kColumns}})
                                  .set_strides({1, 1, 2}));
  auto transposed =
      graph.transpose(slice, graph::Transpose_attributes().set_permutation({0, 2, 1}));
  auto dealt = graph.reshape(transposed, graph::Reshape_attributes()
                                             .set_dim({1, kNewRows, kNewColumns})
                                             .set_stride({kNewRows * kNewColumns, kNewColumns, 1})
                                             .set_reshape_mode(ReshapeMode_t::LOGICAL));
  keep(dealt, {1, kNewRows, kNewColumns});
  auto sums = graph.reduction(dealt, graph::Reduction_attributes().set_mode(ReductionMode_t::ADD));
  keep(sums, {1, kNewRows, 1});

  const Values values = spread_values(kRows * kColumns, 1);
  Values moved, row_sums(kNewRows, 0.0);
  for (int64_t column = 0; column < kTaken; ++column)
    for (int64_t row = 0; row < kRows; ++row)
      moved.push_back(values[row * kColumns + 1 + 2 * column]);
  for (size_t i = 0; i < moved.size(); ++i) row_sums[i / kNewColumns] += moved[i];
  expect_every_plan(graph, {{x, values}}, {{dealt, moved, Tolerance::exact()}, {sums, row_sums}});
}

}  // namespace
}  // namespace warploom::test
