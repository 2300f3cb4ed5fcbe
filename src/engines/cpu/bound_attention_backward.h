#pragma once

#include "engines/cpu/attention_problem.h"
#include "engines/cpu/contraction.h"

namespace warploom::cpu {

struct AttentionBackwardProgram {
  fusion::FusionGroup group;
  Machine machine;
  const GemmKernels* kernels = nullptr;
  TileProgram gradient;  ///< operands in the order of GradientOperand
};

enum GradientOperand {
  kGradientScores,         ///< in: scores; out: probabilities
  kGradientProbabilities,  ///< in: dO V^T; out: scale dS
  kGradientScale,
  kGradientStats,
  kGradientDot,  ///< rowsum(dO O)
  kGradientBias,
  kGradientOperands,
};

/// A task is all that one head of K and V, or several heads that share one, have to do: sums over
/// queries are added in the same order for any number of threads.
class BoundAttentionBackward final : public CpuBoundKernel {
 public:
  static Result<std::unique_ptr<CpuBoundKernel>> make(
      std::shared_ptr<const AttentionBackwardProgram> program, ir::ShapeTable shapes);
  double predicted_microseconds() const override;
  error_t launch(void* stream, std::span<void* const> pointers,
                 void* workspace) const noexcept override;

 private:
  struct Launch {
    std::span<void* const> pointers;
    std::byte* workspace = nullptr;
    float scale = 1;
  };
  /// One head of K or V: packed for products with it, and its gradient so far.
  struct HeadMemory {
    std::byte* transposed = nullptr;  ///< panels of keys
    std::byte* plain = nullptr;       ///< of K: panels of columns
    float* gradient = nullptr;
    bool is_special = false;  ///< holds NaN or infinity
  };
  struct Task {
    int64_t batch = 0, unit = 0;
    BatchMask mask;
    std::byte* scratch = nullptr;
  };
  /// A block of queries of one head.
  struct Block {
    int64_t head = 0, first = 0, rows = 0;
    HeadMemory k, v;
    bool is_special = false;
    float *q = nullptr, *d_o = nullptr;  ///< rows, packed
    std::byte *q_panels = nullptr, *d_o_panels = nullptr;
    float *stats = nullptr, *dot = nullptr, *d_q = nullptr;
    int32_t *begin = nullptr, *end = nullptr;
    float *scores = nullptr, *change = nullptr, *transposed = nullptr;
  };

  void bind(std::shared_ptr<const AttentionBackwardProgram> program, ir::ShapeTable shapes);
  HeadMemory head_memory(const Task& task, bool is_key, int64_t index) const;
  void start_head(const Launch& launch, const Task& task, bool is_key, int64_t index) const;
  void store_head(const Launch& launch, const Task& task, bool is_key, int64_t index) const;
  void run_task(const Launch& launch, int64_t index, int worker) const;
  Block query_block(const Launch& launch, const Task& task, int64_t head, int64_t first) const;
  void run_block(const Launch& launch, const Task& task, Block& block) const;
  void multiply_keys(const Block& block, const float* rows, int64_t row_stride,
                     const std::byte* panels, int64_t panel_stride, int64_t depth, int64_t key,
                     int64_t keys, float* target) const;
  void differentiate(const Launch& launch, const Task& task, const Block& block, int64_t key,
                     int64_t keys) const;
  void add_to_queries(const Block& block, int64_t keys, int64_t key) const;
  void add_to_keys(const Block& block, const float* source, const std::byte* panels,
                   int64_t panel_stride, int64_t size, int64_t stride, float* gradient, int64_t key,
                   int64_t keys) const;
  void store_rows(const Launch& launch, size_t port, int64_t batch, int64_t head, int64_t row,
                  int64_t rows, const float* source, int64_t stride, int64_t size) const;
  const std::byte* row(const Launch& launch, const PlainTensor& tensor, int64_t batch, int64_t head,
                       int64_t row) const;

  std::shared_ptr<const AttentionBackwardProgram> program_;
  AttentionProblem problem_;
  PlainTensor o_, d_o_, stats_;
  ir::Shape gradient_shapes_[3];  // of dQ, dK, dV
  int64_t units_per_batch_ = 1, query_rows_ = 1, key_block_ = 1;
  int64_t key_stride_ = 0, value_stride_ = 0, score_stride_ = 0, transposed_stride_ = 0;  // floats
  int64_t key_panel_ = 0, value_panel_ = 0, plain_panel_ = 0;  // bytes between panels
  int64_t q_panel_ = 0, d_o_panel_ = 0;
  // Within a thread's scratch.
  int64_t scratch_offset_ = 0, scratch_bytes_ = 0;
  int64_t keys_at_ = 0, keys_bytes_ = 0, values_at_ = 0, values_bytes_ = 0, block_at_ = 0;
  int64_t plain_in_key_ = 0, gradient_in_key_ = 0, gradient_in_value_ = 0;
  Work work_;
  bool is_parallel_ = false;
};

}  // namespace warploom::cpu
