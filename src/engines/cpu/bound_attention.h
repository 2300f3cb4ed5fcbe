#pragma once

#include "engines/cpu/contraction.h"
#include "engines/cpu/key_value_store.h"

namespace warploom::cpu {

struct AttentionProgram {
  fusion::FusionGroup group;
  Machine machine;
  const GemmKernels* kernels = nullptr;
  CompiledExpression epilogue;
  CompiledExpression scores;  ///< of a composed attention: applied to every tile of scores
  TileProgram bias;  ///< scores = scores * scale + bias; operands in the order of BiasOperand
  engine::KnobSettings knobs;
};

enum BiasOperand { kScores, kScale, kBias, kBiasOperands };

class BoundAttention final : public CpuBoundKernel {
 public:
  static Result<std::unique_ptr<CpuBoundKernel>> make(
      std::shared_ptr<const AttentionProgram> program, ir::ShapeTable shapes);
  double predicted_microseconds() const override;
  error_t launch(void* stream, std::span<void* const> pointers,
                 void* workspace) const noexcept override;

 private:
  struct Launch {
    std::span<void* const> pointers;
    std::byte* workspace = nullptr;
    float scale = 1;
  };
  /// A block of queries of one head, and the memory of the thread that works on it.
  struct QueryBlock {
    int64_t batch = 0, head = 0, first = 0, rows = 0;
    int64_t key_slot = 0, value_slot = 0;
    const std::byte* queries = nullptr;
    int64_t query_stride = 0;  // bytes
    BatchMask mask;
    float *scores = nullptr, *product = nullptr, *output = nullptr;
    float *maximum = nullptr, *sum = nullptr, *rescale = nullptr, *statistics = nullptr;
    int32_t *begin = nullptr, *end = nullptr;
    std::byte* packed_queries = nullptr;
    std::byte* tiles = nullptr;
  };

  void bind(std::shared_ptr<const AttentionProgram> program, ir::ShapeTable shapes);
  void lay_out_scratch(int64_t threads);
  void pack(const Launch& launch, int64_t phase, int64_t task) const;
  QueryBlock query_block(const Launch& launch, int64_t phase, int64_t task, int worker) const;
  void run_block(const Launch& launch, const QueryBlock& q, int64_t row_task) const;
  void score(const Launch& launch, const QueryBlock& q, int64_t key, int64_t keys) const;
  void start(const Launch& launch, const QueryBlock& q) const;
  void modify_scores(const Launch& launch, const QueryBlock& q, int64_t key, int64_t keys) const;
  void add_slopes(const Launch& launch, const QueryBlock& q, int64_t key, int64_t keys) const;
  void add_bias(const Launch& launch, const QueryBlock& q, int64_t key, int64_t keys) const;
  void accumulate(const Launch& launch, const QueryBlock& q, int64_t key, int64_t keys) const;
  void store(const Launch& launch, const QueryBlock& q, int64_t row_task) const;

  // Heads that share keys or values form a unit; a phase packs and computes some units.
  int64_t unit_query_heads() const { return problem_.query_heads / units_per_batch_; }
  int64_t unit_key_heads() const { return problem_.key_heads / units_per_batch_; }
  int64_t unit_value_heads() const { return problem_.value_heads / units_per_batch_; }

  std::shared_ptr<const AttentionProgram> program_;
  AttentionProblem problem_;
  KeyValueStore store_;
  BoundExpression epilogue_, scores_;
  TaskGrid grid_;
  Work work_;
  int64_t query_rows_ = 0, key_block_ = 0, query_blocks_ = 0;
  int64_t units_per_batch_ = 1, units_per_phase_ = 1, phases_ = 0;
  bool packs_queries_ = false, is_parallel_ = false;
  int64_t score_stride_ = 0, value_stride_ = 0, packed_query_stride_ = 0;  // floats
  // Of one thread, within its scratch.
  int64_t scratch_offset_ = 0, scratch_bytes_ = 0;
  int64_t product_at_ = 0, output_at_ = 0, states_at_ = 0, queries_at_ = 0, tiles_at_ = 0;
};

}  // namespace warploom::cpu
