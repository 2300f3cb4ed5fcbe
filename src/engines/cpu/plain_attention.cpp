#include "engines/cpu/plain_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engines/cpu/anchor_tiles.h"
#include "engines/cpu/attention_problem.h"
#include "engines/cpu/cost_model.h"
#include "ops/alibi.h"

namespace warploom::cpu {
namespace {

constexpr TileShape kValueTile{1, 256};
constexpr int64_t kRowsPerTask = 16;

struct PlainAttentionProgram {
  fusion::FusionGroup group;
  Machine machine;
  std::vector<StoredPrologue> prologues;
  CompiledExpression epilogue;
};

class BoundPlainAttention final : public CpuBoundKernel {
 public:
  static Result<std::unique_ptr<CpuBoundKernel>> make(
      std::shared_ptr<const PlainAttentionProgram> program, ir::ShapeTable shapes) {
    auto bound = std::make_unique<BoundPlainAttention>();
    bound->bind(std::move(program), shapes);
    return std::unique_ptr<CpuBoundKernel>(std::move(bound));
  }

  double predicted_microseconds() const override {
    return cpu::predicted_microseconds(work(), program_->machine.kernels->level,
                                       program_->machine.threads());
  }

  error_t launch(void*, std::span<void* const> pointers, void* workspace) const noexcept override {
    auto* memory = static_cast<std::byte*>(workspace);
    const Machine& machine = program_->machine;
    inputs_.run_prologues(machine, pointers, memory);
    start_reductions(epilogue_, memory, machine);
    const double scale = problem_.scale_at_launch(*machine.kernels, pointers, memory);
    machine.run(rows_ == 0 ? 0 : grid_.row_tasks, is_parallel_, [&](int64_t task, int worker) {
      RunContext context{machine.kernels, pointers, memory,
                         memory + scratch_offset_ + worker * scratch_stride_};
      auto* numbers =
          reinterpret_cast<double*>(memory + numbers_offset_ + worker * numbers_stride_);
      const int64_t end = std::min(rows_, (task + 1) * grid_.period_rows);
      for (int64_t row = task * grid_.period_rows; row < end; ++row)
        run_row(row, task, scale, context, numbers);
    });
    finish_reductions(epilogue_, pointers, memory, machine);
    return {};
  }

 private:
  void bind(std::shared_ptr<const PlainAttentionProgram> program, ir::ShapeTable shapes) {
    program_ = std::move(program);
    const Machine& machine = program_->machine;
    inputs_.bind(program_->prologues, program_->group, shapes, machine, layout_);
    problem_ = AttentionProblem(program_->group, shapes, inputs_);
    rows_ = problem_.batch * problem_.query_heads * problem_.queries;
    epilogue_.bind(program_->epilogue, program_->group, shapes, {{0, 1, 2}, {3}});
    grid_ = cut_rows(epilogue_, kRowsPerTask);
    epilogue_.set_grid(grid_, program_->group, layout_);
    is_parallel_ =
        cpu::predicted_microseconds(work(), machine.kernels->level, 1) >= kParallelMicroseconds;
    const int64_t threads = is_parallel_ ? machine.threads() : 1;
    scratch_stride_ = epilogue_.scratch_bytes();
    scratch_offset_ = layout_.add("tiles of each thread", scratch_stride_ * threads);
    numbers_stride_ = round_up(
        (2 * problem_.key_size + problem_.keys + 2 * problem_.value_size) * 8, kScratchAlignment);
    numbers_offset_ = layout_.add("scores of each thread", numbers_stride_ * threads);
  }

  Work work() const {
    Work work;
    work.scalar_operations = static_cast<double>(rows_) * static_cast<double>(problem_.keys) *
                             static_cast<double>(problem_.key_size + problem_.value_size);
    work.tasks = grid_.row_tasks;
    return work;
  }

  void load_row(const PlainTensor& tensor, int64_t batch, int64_t head, int64_t position,
                const RunContext& context, double* target) const {
    const auto& strides = tensor.shape.strides;
    const int64_t offset = batch * strides[0] + head * strides[1] + position * strides[2];
    context.kernels->convert(
        tensor.data(context.pointers, context.workspace) + offset * tensor.element_bytes(),
        tensor.type, strides[3], target, DataType_t::DOUBLE, 1, tensor.shape.dims[3]);
  }

  void run_row(int64_t row, int64_t task, double scale, const RunContext& context,
               double* numbers) const {
    const AttentionProblem& p = problem_;
    double* query = numbers;
    double* key = query + p.key_size;
    double* scores = key + p.key_size;
    double* value = scores + p.keys;
    double* output = value + p.value_size;
    const int64_t i = row % p.queries;
    const int64_t head = row / p.queries % p.query_heads;
    const int64_t batch = row / p.queries / p.query_heads;
    const KeyRange range =
        p.mask(*context.kernels, context.pointers, context.workspace, batch).visible(i);

    load_row(p.q, batch, head, i, context, query);
    const double sink =
        p.sink_at_launch(*context.kernels, context.pointers, context.workspace, batch, head, i);
    double maximum = sink;
    const int64_t key_head = head * p.key_heads / p.query_heads;
    for (int64_t j = range.begin; j < range.end; ++j) {
      load_row(p.k, batch, key_head, j, context, key);
      double score = 0;
      for (int64_t d = 0; d < p.key_size; ++d) score += query[d] * key[d];
      scores[j] = score * scale;
    }
    if (p.bias) add_bias(batch, head, i, range, context, scores);
    if (p.has_alibi) {
      const double slope = ops::alibi_slope(head, p.query_heads);
      for (int64_t j = range.begin; j < range.end; ++j)
        scores[j] += slope * static_cast<double>(j - i);
    }
    for (int64_t j = range.begin; j < range.end; ++j)
      maximum = scores[j] > maximum || std::isnan(scores[j]) ? scores[j] : maximum;

    std::fill(output, output + p.value_size, 0.0);
    const int64_t value_head = head * p.value_heads / p.query_heads;
    // All scores at -inf is a fully masked row too.
    const bool sees_nothing = maximum == -std::numeric_limits<double>::infinity();
    double sum = sees_nothing ? 0 : std::exp(sink - maximum);
    for (int64_t j = range.begin; j < range.end && !sees_nothing; ++j) {
      const double probability = std::exp(scores[j] - maximum);
      sum += probability;
      if (probability == 0) continue;
      load_row(p.v, batch, value_head, j, context, value);
      for (int64_t d = 0; d < p.value_size; ++d) output[d] += probability * value[d];
    }
    if (sum != 0)
      for (int64_t d = 0; d < p.value_size; ++d) output[d] /= sum;
    store_row_output(p.stats, context.pointers, batch, head, i,
                     sees_nothing ? maximum : maximum + std::log(sum), *context.kernels);
    store_row_output(p.maximum, context.pointers, batch, head, i, maximum, *context.kernels);
    store_row_output(p.sum, context.pointers, batch, head, i, sum, *context.kernels);
    store_output(row, task, context, output);
  }

  void add_bias(int64_t batch, int64_t head, int64_t query, const KeyRange& range,
                const RunContext& context, double* scores) const {
    int64_t strides[4];
    problem_.bias_strides(strides);
    const PlainTensor& bias = problem_.bias;
    const std::byte* data = bias.data(context.pointers, context.workspace);
    const int64_t offset = batch * strides[0] + head * strides[1] + query * strides[2];
    for (int64_t j = range.begin; j < range.end; ++j) {
      double element = 0;
      context.kernels->convert(data + (offset + j * strides[3]) * bias.element_bytes(), bias.type,
                               1, &element, DataType_t::DOUBLE, 1, 1);
      scores[j] += element;
    }
  }

  void store_output(int64_t row, int64_t task, const RunContext& context,
                    const double* output) const {
    const DataType_t type = compute_type(program_->epilogue.program.compute());
    for (int64_t column = 0; column < problem_.value_size; column += kValueTile.columns) {
      const int64_t columns = std::min<int64_t>(kValueTile.columns, problem_.value_size - column);
      context.kernels->convert(output + column, DataType_t::DOUBLE, 1, epilogue_.anchor(context),
                               type, 1, columns);
      epilogue_.run_tile(context, {row, 1, column, columns}, {task, 0});
    }
  }

  std::shared_ptr<const PlainAttentionProgram> program_;
  PlainInputs inputs_;
  AttentionProblem problem_;
  BoundExpression epilogue_;
  TaskGrid grid_;
  int64_t rows_ = 0;
  int64_t scratch_offset_ = 0, scratch_stride_ = 0, numbers_offset_ = 0, numbers_stride_ = 0;
  bool is_parallel_ = false;
};

}  // namespace

std::unique_ptr<const CpuKernel> make_plain_attention_kernel(const fusion::FusionGroup& group,
                                                             const Machine& machine) {
  auto program = std::make_shared<PlainAttentionProgram>();
  program->group = group;
  program->machine = machine;
  program->prologues = stored_prologues(group);
  program->epilogue = compile_expression(group, group.epilogue, {.shape = kValueTile});
  return std::make_unique<SharedProgramKernel<PlainAttentionProgram, BoundPlainAttention>>(
      std::move(program));
}

}  // namespace warploom::cpu
