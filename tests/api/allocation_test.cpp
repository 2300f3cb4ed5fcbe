#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "harness/plan_runner.h"

// The sanitizers replace the same operators.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// Counts what is allocated, in any thread, while it is watched.
namespace {

std::atomic<bool> is_watching = false;
std::atomic<int64_t> allocations = 0;

void* allocate(size_t bytes, size_t alignment) {
  if (is_watching) ++allocations;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) {
  return allocate(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace warploom::graph {
namespace {

TEST(Execute, AllocatesNothing) {
  Graph graph;
  graph.set_io_data_type(DataType_t::FLOAT)
      .set_intermediate_data_type(DataType_t::FLOAT)
      .set_compute_data_type(DataType_t::FLOAT);
  constexpr int64_t kSize = 70;
  const auto matrix =
      Tensor_attributes().set_dim({2, kSize, kSize}).set_stride({kSize * kSize, kSize, 1});
  const TensorPtr a = graph.tensor(matrix), b = graph.tensor(matrix);
  const TensorPtr scaled = graph.pointwise(graph.matmul(a, b, {}), graph.tensor(0.5f),
                                           Pointwise_attributes().set_mode(PointwiseMode_t::MUL));
  const TensorPtr y =
      graph.pointwise(scaled, Pointwise_attributes().set_mode(PointwiseMode_t::GELU_FWD));
  y->set_output(true);
  const TensorPtr most = graph.reduction(y, Reduction_attributes().set_mode(ReductionMode_t::AMAX));
  most->set_output(true).set_dim({1, 1, 1}).set_stride({1, 1, 1});
  ASSERT_TRUE(test::build_every_plan(graph, test::cpu()).is_good());

  std::vector<float> left(2 * kSize * kSize, 1), right(left), out(left), largest(1);
  std::unordered_map<TensorPtr, void*> by_tensor{
      {a, left.data()}, {b, right.data()}, {y, out.data()}, {most, largest.data()}};
  std::unordered_map<int64_t, void*> by_uid;
  for (const auto& [tensor, pointer] : by_tensor) by_uid[tensor->get_uid()] = pointer;
  std::vector<char> workspace(static_cast<size_t>(graph.get_autotune_workspace_size()));
  for (int64_t plan = 0; plan < graph.get_execution_plan_count(); ++plan) {
    // The first run may start threads.
    ASSERT_TRUE(graph.execute_plan_at_index(test::cpu(), by_uid, workspace.data(), plan).is_good());
    allocations = 0;
    is_watching = true;
    const bool is_good =
        graph.execute_plan_at_index(test::cpu(), by_uid, workspace.data(), plan).is_good() &&
        graph.execute_plan_at_index(test::cpu(), by_tensor, workspace.data(), plan).is_good();
    is_watching = false;
    EXPECT_TRUE(is_good);
    EXPECT_EQ(allocations, 0) << graph.plans()[plan].name;
  }
}

}  // namespace
}  // namespace warploom::graph

#endif
