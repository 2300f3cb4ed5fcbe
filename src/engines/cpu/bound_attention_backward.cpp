#include "engines/cpu/bound_attention_backward.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "engines/cpu/special_values.h"

namespace warploom::cpu {
namespace {

using Backward = graph::SDPA_backward_attributes;

constexpr int64_t kFloatBytes = sizeof(float);
constexpr int64_t kMostQueries = 64, kMostKeys = 256;
constexpr int64_t kRowPadding = 16;  // floats

/// Parts of a block's memory, in this order.
struct BlockLayout {
  WorkspaceLayout layout;
  int64_t add(int64_t floats) { return layout.add("", floats * kFloatBytes); }
};

}  // namespace

Result<std::unique_ptr<CpuBoundKernel>> BoundAttentionBackward::make(
    std::shared_ptr<const AttentionBackwardProgram> program, ir::ShapeTable shapes) {
  auto bound = std::make_unique<BoundAttentionBackward>();
  bound->bind(std::move(program), shapes);
  return std::unique_ptr<CpuBoundKernel>(std::move(bound));
}

void BoundAttentionBackward::bind(std::shared_ptr<const AttentionBackwardProgram> program,
                                  ir::ShapeTable shapes) {
  program_ = std::move(program);
  const GemmKernels& kernels = *program_->kernels;
  problem_ = AttentionProblem::backward(program_->group, shapes);
  const AttentionProblem& p = problem_;
  o_ = plain_input(program_->group, shapes, Backward::O);
  d_o_ = plain_input(program_->group, shapes, Backward::dO);
  stats_ = plain_input(program_->group, shapes, Backward::Stats);
  for (size_t i = 0; i < 3; ++i)
    gradient_shapes_[i] =
        shapes[static_cast<size_t>(program_->group.node(program_->group.anchor).outputs[i])];

  units_per_batch_ = std::max<int64_t>(std::gcd(p.key_heads, p.value_heads), 1);
  query_rows_ = std::clamp<int64_t>(p.queries, 1, kMostQueries);
  key_block_ = round_up(std::clamp<int64_t>(p.keys, 1, kMostKeys), kernels.nr);
  const int64_t width = std::max<int64_t>(kernels.nr, kRowPadding);
  key_stride_ = round_up(std::max<int64_t>(p.key_size, 1), width);
  value_stride_ = round_up(std::max<int64_t>(p.value_size, 1), width);
  score_stride_ = key_block_ + kRowPadding;
  transposed_stride_ = round_up(query_rows_, kRowPadding) + kRowPadding;
  key_panel_ = kernels.k_steps(p.key_size) * kernels.step_bytes();
  value_panel_ = kernels.k_steps(p.value_size) * kernels.step_bytes();
  plain_panel_ = kernels.k_steps(p.keys) * kernels.step_bytes();
  q_panel_ = d_o_panel_ = kernels.k_steps(query_rows_) * kernels.step_bytes();

  WorkspaceLayout key, value, scratch;
  const int64_t key_panels = divide_up(p.keys, kernels.nr);
  key.add("panels of keys", key_panels * key_panel_);
  plain_in_key_ = key.add("panels of columns", divide_up(p.key_size, kernels.nr) * plain_panel_);
  gradient_in_key_ = key.add("gradient", p.keys * key_stride_ * kFloatBytes);
  value.add("panels of keys", key_panels * value_panel_);
  gradient_in_value_ = value.add("gradient", p.keys * value_stride_ * kFloatBytes);
  // One flag a head: whether it holds NaN or infinity.
  keys_bytes_ = key.size() + kScratchAlignment;
  values_bytes_ = value.size() + kScratchAlignment;
  keys_at_ = scratch.add("keys", keys_bytes_ * (p.key_heads / units_per_batch_));
  values_at_ = scratch.add("values", values_bytes_ * (p.value_heads / units_per_batch_));
  BlockLayout block;
  block.add(query_rows_ * key_stride_);
  block.add(query_rows_ * value_stride_);
  block.layout.add("", divide_up(p.key_size, kernels.nr) * q_panel_);
  block.layout.add("", divide_up(p.value_size, kernels.nr) * d_o_panel_);
  block.add(value_stride_);
  for (int i = 0; i < 4; ++i) block.add(query_rows_);
  block.add(query_rows_ * key_stride_);
  for (int i = 0; i < 2; ++i) block.add(query_rows_ * score_stride_);
  block.add(key_block_ * transposed_stride_);
  block.layout.add("", static_cast<int64_t>(program_->gradient.slot_bytes()));
  block_at_ = scratch.add("block of queries", block.layout.size());
  scratch_bytes_ = scratch.size();

  const double scores = static_cast<double>(p.batch * p.query_heads) *
                        static_cast<double>(p.queries) * static_cast<double>(p.keys);
  const double seen = p.right_bound ? 0.5 : 1;
  work_.flops = 2 * scores * seen * static_cast<double>(3 * p.key_size + 2 * p.value_size);
  work_.efficiency = 0.7;
  work_.interpreted = scores * seen * 24;
  work_.bytes = static_cast<double>(p.q.shape.volume() + p.k.shape.volume() + p.v.shape.volume()) *
                static_cast<double>(p.q.element_bytes()) * 2;
  work_.tasks = p.batch * units_per_batch_;
  is_parallel_ = cpu::predicted_microseconds(work_, program_->machine.kernels->level, 1) >=
                 kParallelMicroseconds;
  const int64_t threads = is_parallel_ ? program_->machine.threads() : 1;
  scratch_offset_ =
      layout_.add("keys, values, gradients and scores of each thread", scratch_bytes_ * threads);
}

double BoundAttentionBackward::predicted_microseconds() const {
  return cpu::predicted_microseconds(work_, program_->machine.kernels->level,
                                     program_->machine.threads());
}

error_t BoundAttentionBackward::launch(void*, std::span<void* const> pointers,
                                       void* workspace) const noexcept {
  Launch launch{pointers, static_cast<std::byte*>(workspace)};
  launch.scale = static_cast<float>(
      problem_.scale_at_launch(*program_->machine.kernels, pointers, launch.workspace));
  program_->machine.run(problem_.batch * units_per_batch_, is_parallel_,
                        [&](int64_t task, int worker) { run_task(launch, task, worker); });
  return {};
}

const std::byte* BoundAttentionBackward::row(const Launch& launch, const PlainTensor& tensor,
                                             int64_t batch, int64_t head, int64_t row) const {
  const std::vector<int64_t>& strides = tensor.shape.strides;
  return tensor.data(launch.pointers, launch.workspace) +
         (batch * strides[0] + head * strides[1] + row * strides[2]) * tensor.element_bytes();
}

BoundAttentionBackward::HeadMemory BoundAttentionBackward::head_memory(const Task& task,
                                                                       bool is_key,
                                                                       int64_t index) const {
  std::byte* const base =
      task.scratch + (is_key ? keys_at_ + index * keys_bytes_ : values_at_ + index * values_bytes_);
  HeadMemory memory;
  memory.transposed = base + kScratchAlignment;
  memory.plain = memory.transposed + plain_in_key_;
  memory.gradient = reinterpret_cast<float*>(memory.transposed +
                                             (is_key ? gradient_in_key_ : gradient_in_value_));
  memory.is_special = *base != std::byte{0};
  return memory;
}

// Packs the keys in use, and starts the gradient at zero.
void BoundAttentionBackward::start_head(const Launch& launch, const Task& task, bool is_key,
                                        int64_t index) const {
  const GemmKernels& kernels = *program_->kernels;
  const PlainTensor& tensor = is_key ? problem_.k : problem_.v;
  const int64_t heads = (is_key ? problem_.key_heads : problem_.value_heads) / units_per_batch_;
  HeadMemory memory = head_memory(task, is_key, index);
  PackSource source;
  source.data = row(launch, tensor, task.batch, task.unit * heads + index, 0);
  source.type = tensor.type;
  source.rows = tensor.shape.dims[3];
  source.columns = task.mask.keys;
  source.row_stride = tensor.shape.strides[3];
  source.column_stride = tensor.shape.strides[2];
  const int64_t panel = is_key ? key_panel_ : value_panel_;
  bool is_special = false;
  if (task.mask.keys > 0) {
    kernels.pack_b(source, memory.transposed, panel);
    for (int64_t i = 0; i < divide_up(task.mask.keys, kernels.nr); ++i)
      is_special |= has_special_values(memory.transposed + i * panel, kernels.a_type,
                                       panel / kernels.a_bytes);
    if (is_key) {
      std::swap(source.rows, source.columns);
      std::swap(source.row_stride, source.column_stride);
      kernels.pack_b(source, memory.plain, plain_panel_);
    }
  }
  memory.transposed[-kScratchAlignment] = std::byte{is_special};
  const int64_t stride = is_key ? key_stride_ : value_stride_;
  std::memset(memory.gradient, 0, static_cast<size_t>(problem_.keys * stride * kFloatBytes));
}

void BoundAttentionBackward::store_rows(const Launch& launch, size_t port, int64_t batch,
                                        int64_t head, int64_t first, int64_t rows,
                                        const float* source, int64_t stride, int64_t size) const {
  const ir::TensorId id = program_->group.node(program_->group.anchor).outputs[port];
  const int pointer = pointer_index(program_->group, id);
  if (pointer < 0) return;
  const DataType_t type = program_->group.tensor(id).data_type;
  const std::vector<int64_t>& strides = gradient_shapes_[port].strides;
  auto* const base = static_cast<std::byte*>(launch.pointers[static_cast<size_t>(pointer)]);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t offset = batch * strides[0] + head * strides[1] + (first + i) * strides[2];
    program_->machine.kernels->convert(source + i * stride, DataType_t::FLOAT, 1,
                                       base + offset * detail::get_data_type_size(type), type,
                                       strides[3], size);
  }
}

void BoundAttentionBackward::store_head(const Launch& launch, const Task& task, bool is_key,
                                        int64_t index) const {
  const int64_t heads = (is_key ? problem_.key_heads : problem_.value_heads) / units_per_batch_;
  store_rows(launch, is_key ? Backward::dK : Backward::dV, task.batch, task.unit * heads + index, 0,
             problem_.keys, head_memory(task, is_key, index).gradient,
             is_key ? key_stride_ : value_stride_,
             is_key ? problem_.key_size : problem_.value_size);
}

void BoundAttentionBackward::run_task(const Launch& launch, int64_t index, int worker) const {
  const AttentionProblem& p = problem_;
  Task task;
  task.batch = index / units_per_batch_;
  task.unit = index % units_per_batch_;
  task.mask = p.mask(*program_->machine.kernels, launch.pointers, launch.workspace, task.batch);
  task.scratch = launch.workspace + scratch_offset_ + worker * scratch_bytes_;
  const int64_t key_heads = p.key_heads / units_per_batch_;
  const int64_t value_heads = p.value_heads / units_per_batch_;
  for (int64_t head = 0; head < key_heads; ++head) start_head(launch, task, true, head);
  for (int64_t head = 0; head < value_heads; ++head) start_head(launch, task, false, head);
  const int64_t query_heads = p.query_heads / units_per_batch_;
  for (int64_t head = 0; head < query_heads; ++head)
    for (int64_t first = 0; first < p.queries; first += query_rows_) {
      Block block = query_block(launch, task, head, first);
      run_block(launch, task, block);
      store_rows(launch, Backward::dQ, task.batch, task.unit * query_heads + head, first,
                 std::min(query_rows_, p.queries - first), block.d_q, key_stride_, p.key_size);
    }
  for (int64_t head = 0; head < key_heads; ++head) store_head(launch, task, true, head);
  for (int64_t head = 0; head < value_heads; ++head) store_head(launch, task, false, head);
}

// Rows beyond the length may hold anything and are left out.
BoundAttentionBackward::Block BoundAttentionBackward::query_block(const Launch& launch,
                                                                  const Task& task, int64_t head,
                                                                  int64_t first) const {
  const AttentionProblem& p = problem_;
  const GemmKernels& kernels = *program_->kernels;
  const int64_t query_heads = p.query_heads / units_per_batch_;
  Block block;
  block.head = task.unit * query_heads + head;
  block.first = first;
  block.rows = std::clamp<int64_t>(task.mask.queries - first, 0, query_rows_);
  block.k = head_memory(task, true, head * (p.key_heads / units_per_batch_) / query_heads);
  block.v = head_memory(task, false, head * (p.value_heads / units_per_batch_) / query_heads);

  std::byte* const base = task.scratch + block_at_;
  BlockLayout layout;
  const auto floats = [&](int64_t count) {
    return reinterpret_cast<float*>(base + layout.add(count));
  };
  block.q = floats(query_rows_ * key_stride_);
  block.d_o = floats(query_rows_ * value_stride_);
  block.q_panels = base + layout.layout.add("", divide_up(p.key_size, kernels.nr) * q_panel_);
  block.d_o_panels = base + layout.layout.add("", divide_up(p.value_size, kernels.nr) * d_o_panel_);
  float* const o_row = floats(value_stride_);
  block.stats = floats(query_rows_);
  block.dot = floats(query_rows_);
  block.begin = reinterpret_cast<int32_t*>(floats(query_rows_));
  block.end = reinterpret_cast<int32_t*>(floats(query_rows_));
  block.d_q = floats(query_rows_ * key_stride_);
  block.scores = floats(query_rows_ * score_stride_);
  block.change = floats(query_rows_ * score_stride_);
  block.transposed = floats(key_block_ * transposed_stride_);
  std::memset(block.d_q, 0, static_cast<size_t>(query_rows_ * key_stride_ * kFloatBytes));
  if (block.rows == 0) return block;

  const auto pack = [&](const PlainTensor& tensor, float* rows, int64_t stride, std::byte* panels,
                        int64_t panel_stride) {
    PackSource source;
    source.data = row(launch, tensor, task.batch, block.head, first);
    source.type = tensor.type;
    source.rows = block.rows;
    source.columns = tensor.shape.dims[3];
    source.row_stride = tensor.shape.strides[2];
    source.column_stride = tensor.shape.strides[3];
    kernels.pack_a(source, rows, stride * kFloatBytes);
    kernels.pack_b(source, panels, panel_stride);
    for (int64_t i = 0; i < block.rows; ++i)
      block.is_special |= has_special_values(rows + i * stride, DataType_t::FLOAT, source.columns);
  };
  pack(p.q, block.q, key_stride_, block.q_panels, q_panel_);
  pack(d_o_, block.d_o, value_stride_, block.d_o_panels, d_o_panel_);
  block.is_special |= block.k.is_special;
  const KernelTable& table = *program_->machine.kernels;
  for (int64_t i = 0; i < block.rows; ++i) {
    table.convert(row(launch, stats_, task.batch, block.head, first + i), stats_.type, 1,
                  block.stats + i, DataType_t::FLOAT, 1, 1);
    table.convert(row(launch, o_, task.batch, block.head, first + i), o_.type, o_.shape.strides[3],
                  o_row, DataType_t::FLOAT, 1, p.value_size);
    double dot = 0;
    for (int64_t d = 0; d < p.value_size; ++d)
      dot += static_cast<double>(o_row[d]) * static_cast<double>(block.d_o[i * value_stride_ + d]);
    block.dot[i] = static_cast<float>(dot);
  }
  return block;
}

void BoundAttentionBackward::run_block(const Launch& launch, const Task& task, Block& block) const {
  const auto sees = [&](int64_t row) {
    // A row with Stats = -inf saw nothing, and has no gradient.
    if (block.stats[row] == -std::numeric_limits<float>::infinity()) return KeyRange{};
    return task.mask.visible(block.first + row);
  };
  KeyRange seen{problem_.keys, 0};
  for (int64_t row = 0; row < block.rows; ++row)
    if (const KeyRange range = sees(row); !range.empty()) {
      seen.begin = std::min(seen.begin, range.begin);
      seen.end = std::max(seen.end, range.end);
    }
  const GemmKernels& kernels = *program_->kernels;
  for (int64_t key = seen.begin / kernels.nr * kernels.nr; key < seen.end; key += key_block_) {
    const int64_t keys = std::min(key_block_, seen.end - key);
    for (int64_t row = 0; row < block.rows; ++row) {
      const KeyRange range = sees(row);
      const bool is_empty = range.empty();
      block.begin[row] =
          is_empty ? 0 : static_cast<int32_t>(std::clamp(range.begin - key, int64_t{0}, keys));
      block.end[row] =
          is_empty ? 0 : static_cast<int32_t>(std::clamp(range.end - key, int64_t{0}, keys));
    }
    multiply_keys(block, block.q, key_stride_, block.k.transposed, key_panel_, problem_.key_size,
                  key, keys, block.scores);
    multiply_keys(block, block.d_o, value_stride_, block.v.transposed, value_panel_,
                  problem_.value_size, key, keys, block.change);
    differentiate(launch, task, block, key, keys);
    add_to_queries(block, keys, key);
    add_to_keys(block, block.change, block.q_panels, q_panel_, problem_.key_size, key_stride_,
                block.k.gradient, key, keys);
    add_to_keys(block, block.scores, block.d_o_panels, d_o_panel_, problem_.value_size,
                value_stride_, block.v.gradient, key, keys);
  }
}

// target = rows x keys.
void BoundAttentionBackward::multiply_keys(const Block& block, const float* rows,
                                           int64_t row_stride, const std::byte* panels,
                                           int64_t panel_stride, int64_t depth, int64_t key,
                                           int64_t keys, float* target) const {
  const GemmKernels& kernels = *program_->kernels;
  GemmTile tile;
  tile.a_row_stride = row_stride * kFloatBytes;
  tile.c_row_stride = score_stride_ * kFloatBytes;
  tile.k_steps = kernels.k_steps(depth);
  for (int64_t column = 0; column < keys; column += kernels.nr) {
    tile.b = panels + (key + column) / kernels.nr * panel_stride;
    for (int64_t row = 0; row < block.rows; row += kernels.mr) {
      tile.a = rows + row * row_stride;
      tile.c = target + row * score_stride_ + column;
      kernels.run(static_cast<int>(std::min<int64_t>(kernels.mr, block.rows - row)), tile);
    }
  }
}

// Scores become probabilities, what multiplies them scaled gradients of scores; 0 where hidden.
void BoundAttentionBackward::differentiate(const Launch& launch, const Task& task,
                                           const Block& block, int64_t key, int64_t keys) const {
  const TileShape shape = program_->gradient.shape();
  const PlainTensor& bias = problem_.bias;
  int64_t strides[4] = {};
  const std::byte* data = nullptr;
  if (bias) {
    problem_.bias_strides(strides);
    data = bias.data(launch.pointers, launch.workspace) +
           (task.batch * strides[0] + block.head * strides[1] + block.first * strides[2] +
            key * strides[3]) *
               bias.element_bytes();
  }
  TileOperand operands[kGradientOperands];
  for (int which : {kGradientScores, kGradientProbabilities}) {
    operands[which].row_stride = score_stride_;
    operands[which].column_stride = 1;
  }
  operands[kGradientStats].row_stride = operands[kGradientDot].row_stride = 1;
  operands[kGradientScale].data = const_cast<float*>(&launch.scale);
  operands[kGradientBias].row_stride = strides[2];
  operands[kGradientBias].column_stride = strides[3];
  TileArguments arguments;
  arguments.operands = operands;
  arguments.slots = reinterpret_cast<std::byte*>(block.transposed) +
                    round_up(key_block_ * transposed_stride_ * kFloatBytes, kScratchAlignment);
  for (int64_t row = 0; row < block.rows; row += shape.rows)
    for (int64_t column = 0; column < keys; column += shape.columns) {
      const int64_t at = row * score_stride_ + column;
      operands[kGradientScores].data = block.scores + at;
      operands[kGradientProbabilities].data = block.change + at;
      operands[kGradientStats].data = block.stats + row;
      operands[kGradientDot].data = block.dot + row;
      if (bias)
        operands[kGradientBias].data = const_cast<std::byte*>(
            data + (row * strides[2] + column * strides[3]) * bias.element_bytes());
      arguments.rows = static_cast<int32_t>(std::min<int64_t>(shape.rows, block.rows - row));
      arguments.columns = static_cast<int32_t>(std::min<int64_t>(shape.columns, keys - column));
      program_->machine.kernels->run_tile(program_->gradient.view(), arguments);
    }
  for (int64_t row = 0; row < block.rows; ++row)
    for (float* values : {block.scores, block.change}) {
      float* const line = values + row * score_stride_;
      std::fill(line, line + block.begin[row], 0.0F);
      std::fill(line + block.end[row], line + keys, 0.0F);
    }
}

// dQ += dS K. Where hidden keys may be NaN or infinite, every row is multiplied with its own keys.
void BoundAttentionBackward::add_to_queries(const Block& block, int64_t keys, int64_t key) const {
  const GemmKernels& kernels = *program_->kernels;
  GemmTile tile;
  tile.a_row_stride = score_stride_ * kFloatBytes;
  tile.c_row_stride = key_stride_ * kFloatBytes;
  tile.accumulate = 1;
  const int64_t height = block.is_special ? 1 : kernels.mr;
  for (int64_t row = 0; row < block.rows; row += height) {
    const int64_t rows = std::min(height, block.rows - row);
    const int64_t begin = block.is_special ? block.begin[row] : 0;
    const int64_t end = block.is_special ? block.end[row] : keys;
    if (begin >= end) continue;
    tile.a = block.change + row * score_stride_ + begin;
    tile.k_steps = end - begin;
    for (int64_t panel = 0; panel < divide_up(problem_.key_size, kernels.nr); ++panel) {
      tile.b = block.k.plain + panel * plain_panel_ + (key + begin) * kernels.step_bytes();
      tile.c = block.d_q + row * key_stride_ + panel * kernels.nr;
      kernels.run(static_cast<int>(rows), tile);
    }
  }
}

// gradient[key ...] += source^T rows.
void BoundAttentionBackward::add_to_keys(const Block& block, const float* source,
                                         const std::byte* panels, int64_t panel_stride,
                                         int64_t size, int64_t stride, float* gradient, int64_t key,
                                         int64_t keys) const {
  const GemmKernels& kernels = *program_->kernels;
  PackSource transposed;
  transposed.data = source;
  transposed.rows = keys;
  transposed.columns = block.rows;
  transposed.row_stride = 1;
  transposed.column_stride = score_stride_;
  kernels.pack_a(transposed, block.transposed, transposed_stride_ * kFloatBytes);
  GemmTile tile;
  tile.a_row_stride = transposed_stride_ * kFloatBytes;
  tile.c_row_stride = stride * kFloatBytes;
  tile.accumulate = 1;
  const int64_t height = block.is_special ? 1 : kernels.mr;
  for (int64_t row = 0; row < keys; row += height) {
    int64_t begin = 0, end = block.rows;
    if (block.is_special) {
      // The queries that see a key are neighbours.
      while (begin < end && !(block.begin[begin] <= row && row < block.end[begin])) ++begin;
      while (end > begin && !(block.begin[end - 1] <= row && row < block.end[end - 1])) --end;
      if (begin == end) continue;
    }
    tile.a = block.transposed + row * transposed_stride_ + begin;
    tile.k_steps = end - begin;
    for (int64_t panel = 0; panel < divide_up(size, kernels.nr); ++panel) {
      tile.b = panels + panel * panel_stride + begin * kernels.step_bytes();
      tile.c = gradient + (key + row) * stride + panel * kernels.nr;
      kernels.run(static_cast<int>(std::min(height, keys - row)), tile);
    }
  }
}

}  // namespace warploom::cpu
