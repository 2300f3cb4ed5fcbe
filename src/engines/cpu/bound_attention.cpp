#include "engines/cpu/bound_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "engines/cpu/accumulators.h"
#include "ops/alibi.h"

namespace warploom::cpu {
namespace {

constexpr int64_t kPackedPhaseBytes = int64_t{8} << 20;  // of K and V of one phase
constexpr int kScorePadding = 16;                        // floats: rows not a page apart
constexpr int64_t kFloat = sizeof(float);
constexpr double kLn2 = 0.693147180559945309417;

}  // namespace

Result<std::unique_ptr<CpuBoundKernel>> BoundAttention::make(
    std::shared_ptr<const AttentionProgram> program, ir::ShapeTable shapes) {
  auto bound = std::make_unique<BoundAttention>();
  bound->bind(std::move(program), shapes);
  return std::unique_ptr<CpuBoundKernel>(std::move(bound));
}

void BoundAttention::bind(std::shared_ptr<const AttentionProgram> program, ir::ShapeTable shapes) {
  program_ = std::move(program);
  const Machine& machine = program_->machine;
  const GemmKernels& kernels = *program_->kernels;
  if (program_->group.composed_attention) {
    problem_ = AttentionProblem::composed(program_->group, shapes);
    scores_.bind(program_->scores, program_->group, shapes, {{0, 1, 2}, {3}});
  } else {
    PlainInputs inputs;
    inputs.bind({}, program_->group, shapes, machine, layout_);
    problem_ = AttentionProblem(program_->group, shapes, inputs);
  }
  const AttentionProblem& p = problem_;

  const TileShape tile = contraction_tile(kernels);
  query_rows_ = std::clamp<int64_t>(
      std::min(knob_value(program_->knobs, KnobType_t::TILE_M, 2 * tile.rows), p.queries), 1, 256);
  key_block_ = std::clamp<int64_t>(
      round_up(std::min(knob_value(program_->knobs, KnobType_t::TILE_N, 256), p.keys), kernels.nr),
      kernels.nr, 4096);
  query_blocks_ = divide_up(p.queries, query_rows_);
  // Blocks of nearly equal height.
  if (query_blocks_ > 0) query_rows_ = divide_up(p.queries, query_blocks_);

  units_per_batch_ = std::max<int64_t>(std::gcd(p.key_heads, p.value_heads), 1);
  const int64_t units = p.query_heads == 0 ? 0 : p.batch * units_per_batch_;
  const int64_t unit_bytes = std::max<int64_t>(
      KeyValueStore::slot_bytes(p, kernels) * std::max(unit_key_heads(), unit_value_heads()), 1);
  units_per_phase_ =
      std::clamp<int64_t>(kPackedPhaseBytes / unit_bytes, 1, std::max<int64_t>(units, 1));
  phases_ = divide_up(units, units_per_phase_);

  epilogue_.bind(program_->epilogue, program_->group, shapes, {{0, 1, 2}, {3}});
  grid_.row_tasks = p.batch * p.query_heads * query_blocks_;
  grid_.period_tasks = std::max<int64_t>(query_blocks_, 1);
  grid_.period_rows = std::max<int64_t>(p.queries, 1);
  epilogue_.set_grid(grid_, program_->group, layout_);

  const double scores = static_cast<double>(p.batch * p.query_heads) *
                        static_cast<double>(p.queries) * static_cast<double>(p.keys);
  double seen = 1;  // the share of the scores that is computed
  if (p.right_bound) seen *= 0.5;
  if (p.left_bound)
    seen = std::min(seen, static_cast<double>(std::max<int64_t>(*p.left_bound, 1) + key_block_) /
                              static_cast<double>(std::max<int64_t>(p.keys, 1)));
  work_.flops = 2 * scores * seen * static_cast<double>(p.key_size + p.value_size);
  work_.efficiency = 0.85;
  const auto& composed = program_->group.composed_attention;
  const double score_values = composed ? static_cast<double>(composed->scores.values.size()) : 0;
  work_.interpreted =
      scores * seen * (10 + (p.bias ? 4 : 0) + (p.has_alibi ? 2 : 0) + score_values);
  work_.bytes = static_cast<double>(p.q.shape.volume() + p.k.shape.volume() + p.v.shape.volume()) *
                static_cast<double>(p.q.element_bytes());
  work_.tasks = grid_.row_tasks;
  is_parallel_ =
      cpu::predicted_microseconds(work_, machine.kernels->level, 1) >= kParallelMicroseconds;
  store_.bind(p, kernels, key_block_,
              units_per_phase_ * std::max(unit_key_heads(), unit_value_heads()), layout_);
  lay_out_scratch(is_parallel_ ? machine.threads() : 1);
}

void BoundAttention::lay_out_scratch(int64_t threads) {
  const AttentionProblem& p = problem_;
  const GemmKernels& kernels = *program_->kernels;
  packs_queries_ = p.q.type != DataType_t::FLOAT || (p.q.shape.strides[3] != 1 && p.key_size > 1);
  score_stride_ = round_up(key_block_, kScorePadding) + kScorePadding;
  value_stride_ = round_up(std::max<int64_t>(p.value_size, 1), std::max(kernels.nr, kScorePadding));
  packed_query_stride_ = round_up(p.key_size, kScorePadding) + kScorePadding;
  WorkspaceLayout scratch;
  scratch.add("scores", query_rows_ * score_stride_ * kFloat);
  product_at_ = scratch.add("product", query_rows_ * value_stride_ * kFloat);
  output_at_ = scratch.add("output", query_rows_ * value_stride_ * kFloat);
  states_at_ = scratch.add("states", 6 * round_up(query_rows_ * kFloat, kScratchAlignment));
  queries_at_ =
      scratch.add("queries", packs_queries_ ? query_rows_ * packed_query_stride_ * kFloat : 0);
  const int64_t bias_bytes = p.bias ? static_cast<int64_t>(program_->bias.slot_bytes()) : 0;
  tiles_at_ = scratch.add(
      "tiles",
      std::max({epilogue_.scratch_bytes(), bias_bytes,
                program_->group.composed_attention ? scores_.scratch_bytes() : int64_t{0}}));
  scratch_bytes_ = scratch.size();
  scratch_offset_ = layout_.add("scores and sums of each thread", scratch_bytes_ * threads);
}

double BoundAttention::predicted_microseconds() const {
  return cpu::predicted_microseconds(work_, program_->machine.kernels->level,
                                     program_->machine.threads());
}

error_t BoundAttention::launch(void*, std::span<void* const> pointers,
                               void* workspace) const noexcept {
  const Machine& machine = program_->machine;
  Launch launch{pointers, static_cast<std::byte*>(workspace)};
  launch.scale =
      static_cast<float>(problem_.scale_at_launch(*machine.kernels, pointers, launch.workspace));
  // The softmax hides scores behind infinities, which zero would turn into NaN.
  if (launch.scale == 0) launch.scale = std::numeric_limits<float>::denorm_min();
  start_reductions(epilogue_, launch.workspace, machine);
  const int64_t units = problem_.batch * units_per_batch_;
  if (grid_.row_tasks > 0 && problem_.value_size >= 0) {
    for (int64_t phase = 0; phase < phases_; ++phase) {
      const int64_t count = std::min(units_per_phase_, units - phase * units_per_phase_);
      const int64_t heads = unit_key_heads() + unit_value_heads();
      machine.run(count * heads * store_.blocks(), is_parallel_,
                  [&](int64_t task, int) { pack(launch, phase, task); });
      machine.run(count * unit_query_heads() * query_blocks_, is_parallel_,
                  [&](int64_t task, int worker) {
                    const QueryBlock block = query_block(launch, phase, task, worker);
                    const int64_t row_task =
                        (block.batch * problem_.query_heads + block.head) * query_blocks_ +
                        block.first / query_rows_;
                    run_block(launch, block, row_task);
                    store(launch, block, row_task);
                  });
    }
  }
  finish_reductions(epilogue_, pointers, launch.workspace, machine);
  return {};
}

void BoundAttention::pack(const Launch& launch, int64_t phase, int64_t task) const {
  const AttentionProblem& p = problem_;
  const int64_t block = task % store_.blocks();
  task /= store_.blocks();
  const int64_t heads = unit_key_heads() + unit_value_heads();
  const int64_t unit_in_phase = task / heads, head_in_unit = task % heads;
  const int64_t unit = phase * units_per_phase_ + unit_in_phase;
  const int64_t batch = unit / units_per_batch_, group = unit % units_per_batch_;
  const int64_t length =
      p.mask(*program_->machine.kernels, launch.pointers, launch.workspace, batch).keys;
  const bool is_key = head_in_unit < unit_key_heads();
  const PlainTensor& tensor = is_key ? p.k : p.v;
  const int64_t heads_of_kind = is_key ? unit_key_heads() : unit_value_heads();
  const int64_t index = is_key ? head_in_unit : head_in_unit - unit_key_heads();
  const std::byte* head = tensor.data(launch.pointers, launch.workspace) +
                          (batch * tensor.shape.strides[0] +
                           (group * heads_of_kind + index) * tensor.shape.strides[1]) *
                              tensor.element_bytes();
  const int64_t slot = unit_in_phase * heads_of_kind + index;
  if (is_key)
    store_.pack_keys(launch.workspace, slot, block, head, length);
  else
    store_.pack_values(launch.workspace, slot, block, head, length);
}

BoundAttention::QueryBlock BoundAttention::query_block(const Launch& launch, int64_t phase,
                                                       int64_t task, int worker) const {
  const AttentionProblem& p = problem_;
  const int64_t block = task % query_blocks_;
  const int64_t head_in_phase = task / query_blocks_;
  const int64_t unit_in_phase = head_in_phase / unit_query_heads();
  const int64_t head_in_unit = head_in_phase % unit_query_heads();
  const int64_t unit = phase * units_per_phase_ + unit_in_phase;
  QueryBlock q;
  q.batch = unit / units_per_batch_;
  q.head = unit % units_per_batch_ * unit_query_heads() + head_in_unit;
  q.first = block * query_rows_;
  q.rows = std::min(query_rows_, p.queries - q.first);
  q.key_slot =
      unit_in_phase * unit_key_heads() + head_in_unit * unit_key_heads() / unit_query_heads();
  q.value_slot =
      unit_in_phase * unit_value_heads() + head_in_unit * unit_value_heads() / unit_query_heads();
  q.mask = p.mask(*program_->machine.kernels, launch.pointers, launch.workspace, q.batch);

  std::byte* scratch = launch.workspace + scratch_offset_ + worker * scratch_bytes_;
  q.scores = reinterpret_cast<float*>(scratch);
  q.product = reinterpret_cast<float*>(scratch + product_at_);
  q.output = reinterpret_cast<float*>(scratch + output_at_);
  const int64_t row_bytes = round_up(query_rows_ * kFloat, kScratchAlignment);
  auto state = [&](int64_t i) {
    return reinterpret_cast<float*>(scratch + states_at_ + i * row_bytes);
  };
  q.maximum = state(0);
  q.sum = state(1);
  q.rescale = state(2);
  q.statistics = state(3);
  q.begin = reinterpret_cast<int32_t*>(state(4));
  q.end = reinterpret_cast<int32_t*>(state(5));
  q.packed_queries = scratch + queries_at_;
  q.tiles = scratch + tiles_at_;

  const auto& strides = p.q.shape.strides;
  q.queries =
      p.q.data(launch.pointers, launch.workspace) +
      (q.batch * strides[0] + q.head * strides[1] + q.first * strides[2]) * p.q.element_bytes();
  q.query_stride = strides[2] * p.q.element_bytes();
  if (packs_queries_) {
    PackSource source;
    source.data = q.queries;
    source.type = p.q.type;
    source.rows = q.rows;
    source.columns = p.key_size;
    source.row_stride = strides[2];
    source.column_stride = strides[3];
    program_->kernels->pack_a(source, q.packed_queries, packed_query_stride_ * kFloat);
    q.queries = q.packed_queries;
    q.query_stride = packed_query_stride_ * kFloat;
  }
  return q;
}

void BoundAttention::run_block(const Launch& launch, const QueryBlock& q, int64_t) const {
  const SoftmaxKernels& softmax = program_->machine.kernels->softmax;
  start(launch, q);
  for (int64_t row = 0; row < q.rows; ++row)
    std::memset(q.output + row * value_stride_, 0, static_cast<size_t>(value_stride_ * kFloat));

  // Both ends of what a row sees grow with the row.
  KeyRange seen{problem_.keys, 0};
  for (int64_t row = 0; row < q.rows; ++row) {
    const KeyRange range = q.mask.visible(q.first + row);
    if (range.empty()) continue;
    seen.begin = std::min(seen.begin, range.begin);
    seen.end = std::max(seen.end, range.end);
  }
  const int64_t nr = program_->kernels->nr;
  for (int64_t key = seen.begin / nr * nr; key < seen.end; key += key_block_) {
    const int64_t keys = std::min(key_block_, seen.end - key);
    bool sees_all = true;
    for (int64_t row = 0; row < q.rows; ++row) {
      const KeyRange range = q.mask.visible(q.first + row);
      q.begin[row] = static_cast<int32_t>(std::clamp(range.begin - key, int64_t{0}, keys));
      q.end[row] = static_cast<int32_t>(std::clamp(range.end - key, int64_t{0}, keys));
      sees_all &= q.begin[row] == 0 && q.end[row] == keys;
    }
    score(launch, q, key, keys);
    if (program_->group.composed_attention) modify_scores(launch, q, key, keys);
    if (problem_.bias) add_bias(launch, q, key, keys);
    if (problem_.has_alibi) add_slopes(launch, q, key, keys);
    SoftmaxBlock block;
    block.scores = q.scores;
    block.score_stride = score_stride_;
    block.rows = static_cast<int32_t>(q.rows);
    block.columns = static_cast<int32_t>(keys);
    block.padded_columns = static_cast<int32_t>(round_up(keys, kScorePadding));
    block.begin = sees_all ? nullptr : q.begin;
    block.end = sees_all ? nullptr : q.end;
    block.scale = problem_.bias || problem_.has_alibi ? 1.0F : launch.scale;
    block.maximum = q.maximum;
    block.sum = q.sum;
    block.rescale = q.rescale;
    softmax.update(block);
    accumulate(launch, q, key, keys);
    softmax.accumulate(q.output, value_stride_, q.product, value_stride_, q.rescale,
                       static_cast<int32_t>(q.rows), static_cast<int32_t>(problem_.value_size));
  }
  softmax.finish(q.output, value_stride_, q.maximum, q.sum, static_cast<int32_t>(q.rows),
                 static_cast<int32_t>(problem_.value_size), q.statistics, 1);
}

// Scores of keys that no row of a strip sees are not computed: the softmax does not look at them.
void BoundAttention::score(const Launch& launch, const QueryBlock& q, int64_t key,
                           int64_t keys) const {
  const GemmKernels& kernels = *program_->kernels;
  GemmTile tile;
  tile.a_row_stride = q.query_stride;
  tile.c_row_stride = score_stride_ * kFloat;
  tile.k_steps = kernels.k_steps(problem_.key_size);
  const int64_t strips = divide_up(q.rows, kernels.mr);
  for (int64_t column = 0; column < keys; column += kernels.nr) {
    tile.b = store_.key_panel(launch.workspace, q.key_slot, key + column);
    for (int64_t strip = 0; strip < strips; ++strip) {
      const int64_t row = q.rows * strip / strips, end = q.rows * (strip + 1) / strips;
      if (column >= *std::max_element(q.end + row, q.end + end) ||
          column + kernels.nr <= *std::min_element(q.begin + row, q.begin + end))
        continue;
      tile.a = q.queries + row * q.query_stride;
      tile.c = q.scores + row * score_stride_ + column;
      kernels.run(static_cast<int>(end - row), tile);
    }
  }
}

// A sink is a key that comes first and has no value.
void BoundAttention::start(const Launch& launch, const QueryBlock& q) const {
  const KernelTable& kernels = *program_->machine.kernels;
  kernels.softmax.start(q.maximum, q.sum, static_cast<int32_t>(q.rows));
  if (!problem_.sink) return;
  for (int64_t row = 0; row < q.rows; ++row) {
    const double sink = problem_.sink_at_launch(kernels, launch.pointers, launch.workspace, q.batch,
                                                q.head, q.first + row);
    if (sink == -std::numeric_limits<double>::infinity()) continue;
    q.maximum[row] = static_cast<float>(sink / kLn2);
    q.sum[row] = 1;
  }
}

void BoundAttention::modify_scores(const Launch& launch, const QueryBlock& q, int64_t key,
                                   int64_t keys) const {
  const RunContext context{program_->machine.kernels, launch.pointers, launch.workspace, q.tiles};
  const TileShape shape = program_->scores.program.shape();
  const int64_t first = (q.batch * problem_.query_heads + q.head) * problem_.queries + q.first;
  for (int64_t row = 0; row < q.rows;) {
    const int64_t rows =
        std::min<int64_t>({shape.rows, q.rows - row, scores_.rows_in_one_tile(first + row)});
    for (int64_t column = 0; column < keys; column += shape.columns) {
      TileOperand tile;
      tile.data = q.scores + row * score_stride_ + column;
      tile.row_stride = score_stride_;
      tile.column_stride = 1;
      scores_.run_tile(
          context,
          {first + row, rows, key + column, std::min<int64_t>(shape.columns, keys - column)}, {},
          &tile);
    }
    row += rows;
  }
}

// The scale is applied here, unless the bias has done so.
void BoundAttention::add_slopes(const Launch& launch, const QueryBlock& q, int64_t key,
                                int64_t keys) const {
  const float scale = problem_.bias ? 1.0F : launch.scale;
  const auto slope = static_cast<float>(ops::alibi_slope(q.head, problem_.query_heads));
  for (int64_t row = 0; row < q.rows; ++row) {
    float* const scores = q.scores + row * score_stride_;
    const auto distance = static_cast<float>(key - q.first - row);
    for (int64_t column = 0; column < keys; ++column)
      scores[column] = scores[column] * scale + slope * (distance + static_cast<float>(column));
  }
}

void BoundAttention::add_bias(const Launch& launch, const QueryBlock& q, int64_t key,
                              int64_t keys) const {
  const PlainTensor& bias = problem_.bias;
  int64_t strides[4];
  problem_.bias_strides(strides);
  const auto* data =
      bias.data(launch.pointers, launch.workspace) +
      (q.batch * strides[0] + q.head * strides[1] + q.first * strides[2] + key * strides[3]) *
          bias.element_bytes();
  const TileShape shape = program_->bias.shape();
  TileOperand operands[kBiasOperands];
  operands[kScale].data = const_cast<float*>(&launch.scale);
  operands[kScores].row_stride = score_stride_;
  operands[kScores].column_stride = 1;
  operands[kBias].row_stride = strides[2];
  operands[kBias].column_stride = strides[3];
  TileArguments arguments;
  arguments.operands = operands;
  arguments.slots = q.tiles;
  for (int64_t row = 0; row < q.rows; row += shape.rows)
    for (int64_t column = 0; column < keys; column += shape.columns) {
      operands[kScores].data = q.scores + row * score_stride_ + column;
      operands[kBias].data = const_cast<std::byte*>(
          data + (row * strides[2] + column * strides[3]) * bias.element_bytes());
      arguments.rows = static_cast<int32_t>(std::min<int64_t>(shape.rows, q.rows - row));
      arguments.columns = static_cast<int32_t>(std::min<int64_t>(shape.columns, keys - column));
      program_->machine.kernels->run_tile(program_->bias.view(), arguments);
    }
}

// product = probabilities * V. A strip needs only the keys that one of its rows sees; where hidden
// ones among these have NaN or infinite values, each row is multiplied with exactly its own keys.
void BoundAttention::accumulate(const Launch& launch, const QueryBlock& q, int64_t key,
                                int64_t keys) const {
  const GemmKernels& kernels = *program_->kernels;
  const bool is_special =
      store_.has_special_values(launch.workspace, q.value_slot, key, key + keys);
  const int64_t strips = is_special ? q.rows : divide_up(q.rows, kernels.mr);
  GemmTile tile;
  tile.a_row_stride = score_stride_ * kFloat;
  tile.c_row_stride = value_stride_ * kFloat;
  for (int64_t strip = 0; strip < strips; ++strip) {
    const int64_t row = q.rows * strip / strips, end = q.rows * (strip + 1) / strips;
    const int64_t first_key = *std::min_element(q.begin + row, q.begin + end);
    const int64_t last_key = *std::max_element(q.end + row, q.end + end);
    if (first_key >= last_key) {
      for (int64_t r = row; r < end; ++r)
        std::memset(q.product + r * value_stride_, 0, static_cast<size_t>(value_stride_ * kFloat));
      continue;
    }
    tile.a = q.scores + row * score_stride_ + first_key;
    tile.k_steps = last_key - first_key;
    for (int64_t panel = 0; panel < store_.value_panels(); ++panel) {
      tile.b = store_.value_panel(launch.workspace, q.value_slot, panel, key + first_key);
      tile.c = q.product + row * value_stride_ + panel * kernels.nr;
      kernels.run(static_cast<int>(end - row), tile);
    }
  }
}

void BoundAttention::store(const Launch& launch, const QueryBlock& q, int64_t row_task) const {
  const KernelTable& kernels = *program_->machine.kernels;
  const RunContext context{&kernels, launch.pointers, launch.workspace, q.tiles};
  const TileShape shape = program_->epilogue.program.shape();
  const int64_t first = (q.batch * problem_.query_heads + q.head) * problem_.queries + q.first;
  if (problem_.are_empty_rows_nan && problem_.keys > 0)
    for (int64_t row = 0; row < q.rows; ++row)
      if (q.sum[row] == 0)
        std::fill_n(q.output + row * value_stride_, problem_.value_size,
                    std::numeric_limits<float>::quiet_NaN());
  for (int64_t row = 0; row < q.rows;) {
    const int64_t rows =
        std::min<int64_t>({shape.rows, q.rows - row, epilogue_.rows_in_one_tile(first + row)});
    for (int64_t column = 0; column < problem_.value_size; column += shape.columns) {
      TileOperand tile;
      tile.data = q.output + row * value_stride_ + column;
      tile.row_stride = value_stride_;
      tile.column_stride = 1;
      epilogue_.run_tile(context,
                         {first + row, rows, column,
                          std::min<int64_t>(shape.columns, problem_.value_size - column)},
                         {row_task, 0}, &tile);
    }
    row += rows;
  }
  const AttentionProblem& p = problem_;
  for (int64_t row = 0; row < q.rows; ++row) {
    const bool sees_nothing = q.sum[row] == 0;
    const double maximum = sees_nothing ? -std::numeric_limits<double>::infinity()
                                        : static_cast<double>(q.maximum[row]) * kLn2;
    store_row_output(p.stats, launch.pointers, q.batch, q.head, q.first + row, q.statistics[row],
                     kernels);
    store_row_output(p.maximum, launch.pointers, q.batch, q.head, q.first + row, maximum, kernels);
    store_row_output(p.sum, launch.pointers, q.batch, q.head, q.first + row, q.sum[row], kernels);
  }
}

}  // namespace warploom::cpu
