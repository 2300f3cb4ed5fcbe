#include "engines/cpu/bound_filter_gradient.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "engines/cpu/accumulators.h"
#include "engines/cpu/anchor_tiles.h"
#include "engines/cpu/special_values.h"
#include "ops/convolution_parts.h"

namespace warploom::cpu {
namespace {

constexpr int64_t kMostChunkColumns = 256;     // pixels
constexpr int64_t kMostCopyBytes = 128 << 10;  // of X for one chunk: a part of the L2 cache
/// A block's filters and channels at most, and of DY the bytes of a panel of one chunk. With one
/// tap the sums are few, and what is packed is used once: larger blocks of fewer pixels.
struct BlockSizes {
  int64_t filters, channels, panel_bytes;
};
constexpr BlockSizes kManyTaps{128, 64, 16 << 10}, kOneTap{256, 256, 8 << 10};
constexpr int64_t kMostSplitBytes = int64_t{32} << 20;  // of all sums
constexpr int64_t kManyGradientTasks = 32;
constexpr int64_t kMostSumColumns = 64;  // of a tile

}  // namespace

Result<std::unique_ptr<CpuBoundKernel>> BoundFilterGradient::make(
    std::shared_ptr<const ConvolutionGradientProgram> program, ir::ShapeTable shapes) {
  auto bound = std::make_unique<BoundFilterGradient>();
  bound->bind(std::move(program), shapes);
  return std::unique_ptr<CpuBoundKernel>(std::move(bound));
}

BoundFilterGradient::Axis BoundFilterGradient::make_axis(const ConvolutionGeometry& geometry,
                                                         int axis) {
  Axis result;
  for (int64_t tap = 0; tap < geometry.window[axis]; ++tap) {
    const int64_t distance = tap * geometry.dilation[axis] - geometry.padding[axis];
    const int64_t shift = floor_divide(distance, geometry.stride[axis]);
    const int64_t phase = distance - shift * geometry.stride[axis];
    auto known = std::find(result.phases.begin(), result.phases.end(), phase);
    result.part.push_back(known - result.phases.begin());
    if (known == result.phases.end()) result.phases.push_back(phase);
    result.shift.push_back(shift);
  }
  result.least_shift = *std::min_element(result.shift.begin(), result.shift.end());
  result.most_shift = *std::max_element(result.shift.begin(), result.shift.end());
  return result;
}

void BoundFilterGradient::bind(std::shared_ptr<const ConvolutionGradientProgram> program,
                               ir::ShapeTable shapes) {
  program_ = std::move(program);
  const fusion::FusionGroup& group = program_->group;
  const Machine& machine = program_->machine;
  const ir::Node& node = group.node(group.anchor);
  constexpr ops::ConvolutionParts kPart = ops::kParts<graph::Conv_wgrad_attributes>;
  inputs_.bind(program_->prologues, group, shapes, machine, layout_);
  dy_ = inputs_[kPart.y.port];
  x_ = inputs_[kPart.x.port];
  dy_strides_ = ConvolutionStrides(dy_.shape);
  x_strides_ = ConvolutionStrides(x_.shape);
  geometry_ =
      ConvolutionGeometry(*group.anchor_as<graph::Conv_wgrad_attributes>(), x_.shape,
                          shapes[static_cast<size_t>(node.outputs[kPart.w.port])], dy_.shape);
  const ConvolutionGeometry& g = geometry_;
  for (int i = 0; i < 3; ++i) {
    axes_[i] = make_axis(g, i);
    reads_outside_ |=
        g.padding[i] > 0 ||
        (g.y[i] - 1) * g.stride[i] + (g.window[i] - 1) * g.dilation[i] - g.padding[i] >= g.x[i];
  }
  cut();

  const int rank = shapes[static_cast<size_t>(program_->epilogue.domain)].rank();
  WalkOrder order;
  for (int axis = 2; axis < rank; ++axis) order.row_axes.push_back(axis);
  order.row_axes.push_back(1);
  order.column_axes.push_back(0);
  epilogue_.bind(program_->epilogue, group, shapes, order);
  const TileShape tile = program_->epilogue.program.shape();
  assert(tile.columns <= kMostSumColumns && program_->kernels->k_per_step == 1);
  grid_ = cut_rows(epilogue_, tile.rows);
  epilogue_.set_grid(grid_, group, layout_);

  work_.flops = g.flops();
  work_.element_bytes = program_->kernels->c_bytes == 8 ? 8 : 4;
  work_.efficiency =
      0.7 * static_cast<double>(g.filters) /
      static_cast<double>(std::max<int64_t>(round_up(g.filters, program_->kernels->narrow.nr), 1));
  work_.bytes = static_cast<double>(x_.shape.volume() + dy_.shape.volume()) * 4;
  is_parallel_ =
      cpu::predicted_microseconds(work_, machine.kernels->level, 1) >= kParallelMicroseconds;
  work_.tasks = splits_ * blocks();

  const int64_t threads = is_parallel_ ? machine.threads() : 1;
  sums_offset_ = layout_.add("sums of each split", splits_ * blocks() * sum_bytes_);
  scratch_stride_ = x_bytes_ + dy_bytes_;
  scratch_offset_ = layout_.add("X and DY of each thread", scratch_stride_ * threads);
  sum_tile_offset_ = round_up(epilogue_.scratch_bytes(), kScratchAlignment);
  tiles_stride_ =
      sum_tile_offset_ + round_up(static_cast<int64_t>(tile.rows) * tile.columns * 8, 64);
  tiles_offset_ = layout_.add("tiles of each thread", tiles_stride_ * threads);
}

void BoundFilterGradient::cut() {
  const ConvolutionGeometry& g = geometry_;
  const GemmKernels& kernels = *program_->kernels;
  const BlockSizes& most_of = g.taps() == 1 ? kOneTap : kManyTaps;
  const int64_t bytes = kernels.a_bytes;
  const int64_t width = std::max<int64_t>(g.y[2], 1), height = std::max<int64_t>(g.y[1], 1);
  column_chunks_ = divide_up(width, kMostChunkColumns);
  const int64_t chunk_columns = divide_up(width, column_chunks_);
  chunk_rows_ =
      std::clamp<int64_t>(most_of.panel_bytes / (chunk_columns * kernels.step_bytes()), 1, height);

  // The copy of X: [channel][tap in depth][part][row][part][pixel].
  const auto lay_out = [&] {
    column_part_bytes_ = axes_[2].length(chunk_columns) * bytes;
    row_bytes_ = axes_[2].parts() * column_part_bytes_;
    row_part_bytes_ = axes_[1].length(chunk_rows_) * row_bytes_;
    depth_bytes_ = axes_[1].parts() * row_part_bytes_;
    channel_bytes_ = round_up(g.window[0] * depth_bytes_, bytes * 16);
    // Channels a page apart would fall on the same lines of the L1 cache.
    if (channel_bytes_ % kPage == 0) channel_bytes_ += kScratchAlignment;
  };
  lay_out();
  block_channels_ = std::clamp<int64_t>(kMostCopyBytes / channel_bytes_, kernels.mr,
                                        std::max<int64_t>(most_of.channels, kernels.mr));
  block_channels_ =
      std::min(block_channels_ / kernels.mr * kernels.mr, std::max<int64_t>(g.channels, 1));
  channel_blocks_ = divide_up(g.channels, block_channels_);
  if (channel_blocks_ > 0)
    block_channels_ =
        std::min(block_channels_, round_up(divide_up(g.channels, channel_blocks_), kernels.mr));
  channel_blocks_ = divide_up(g.channels, block_channels_);
  block_filters_ = std::min<int64_t>(round_up(std::max<int64_t>(g.filters, 1), kernels.nr),
                                     round_up(most_of.filters, kernels.nr));
  filter_blocks_ = divide_up(g.filters, block_filters_);
  row_chunks_ = divide_up(height, chunk_rows_);
  chunks_ = g.y_pixels() == 0 ? 0 : g.images * g.y[0] * row_chunks_ * column_chunks_;

  sum_stride_ = block_filters_;
  sum_bytes_ = g.taps() * block_channels_ * sum_stride_ * kernels.c_bytes;
  const int64_t count = std::max<int64_t>(blocks(), 1);
  const int64_t most = std::max<int64_t>(kMostSplitBytes / (count * sum_bytes_), 1);
  splits_ = std::clamp<int64_t>(std::min({divide_up(kManyGradientTasks, count), most, chunks_}), 1,
                                kManyGradientTasks);
  panel_bytes_ = chunk_rows_ * chunk_columns * kernels.step_bytes();
  dy_bytes_ = block_filters_ / kernels.nr * panel_bytes_;
  x_bytes_ = round_up(block_channels_ * channel_bytes_, kScratchAlignment);
}

BoundFilterGradient::Chunk BoundFilterGradient::chunk(int64_t index) const {
  const ConvolutionGeometry& g = geometry_;
  Chunk chunk;
  const int64_t column = index % column_chunks_;
  index /= column_chunks_;
  chunk.row = index % row_chunks_ * chunk_rows_;
  chunk.rows = std::min(chunk_rows_, g.y[1] - chunk.row);
  index /= row_chunks_;
  chunk.depth = index % g.y[0];
  chunk.image = index / g.y[0];
  const int64_t most = divide_up(g.y[2], column_chunks_);
  chunk.column = column * most;
  chunk.columns = std::max<int64_t>(std::min(most, g.y[2] - chunk.column), 0);
  return chunk;
}

BoundFilterGradient::Block BoundFilterGradient::block(int64_t index) const {
  Block block;
  block.channel = index % channel_blocks_ * block_channels_;
  block.channels = std::min(block_channels_, geometry_.channels - block.channel);
  index /= channel_blocks_;
  block.filter = index % filter_blocks_ * block_filters_;
  block.filters = std::min(block_filters_, geometry_.filters - block.filter);
  block.group = index / filter_blocks_;
  return block;
}

double BoundFilterGradient::predicted_microseconds() const {
  return cpu::predicted_microseconds(work_, program_->machine.kernels->level,
                                     program_->machine.threads());
}

error_t BoundFilterGradient::launch(void*, std::span<void* const> pointers,
                                    void* workspace) const noexcept {
  const Machine& machine = program_->machine;
  const Launch launch{pointers, static_cast<std::byte*>(workspace)};
  inputs_.run_prologues(machine, pointers, launch.workspace);
  start_reductions(epilogue_, launch.workspace, machine);
  if (epilogue_.rows() > 0 && epilogue_.columns() > 0) {
    machine.run(splits_ * blocks(), is_parallel_,
                [&](int64_t task, int worker) { run_task(launch, task, worker); });
    machine.run(grid_.row_tasks, is_parallel_,
                [&](int64_t task, int worker) { finish_rows(launch, task, worker); });
  }
  finish_reductions(epilogue_, pointers, launch.workspace, machine);
  return {};
}

// A block of one split: chunk by chunk.
void BoundFilterGradient::run_task(const Launch& launch, int64_t task, int worker) const {
  const GemmKernels& kernels = *program_->kernels;
  const int64_t split = task / blocks();
  const Block here = block(task % blocks());
  std::byte* const x = launch.workspace + scratch_offset_ + worker * scratch_stride_;
  std::byte* const dy = x + x_bytes_;
  std::byte* const sums = sums_of(launch, split, task % blocks());
  std::memset(sums, 0, static_cast<size_t>(sum_bytes_));
  const int64_t panels = divide_up(here.filters, kernels.nr);
  for (int64_t i = chunks_ * split / splits_; i < chunks_ * (split + 1) / splits_; ++i) {
    const Chunk pixels = chunk(i);
    if (pixels.columns == 0) continue;
    pack_dy(launch, pixels, here, dy);
    pack_x(launch, pixels, here, x);
    const bool stays_inside =
        reads_outside_ &&
        has_special_values(dy, kernels.a_type, panels * panel_bytes_ / kernels.a_bytes);
    multiply(pixels, here, x, dy, stays_inside, sums);
  }
}

// Panels of filters, rows of pixels one after the other.
void BoundFilterGradient::pack_dy(const Launch& launch, const Chunk& chunk, const Block& block,
                                  std::byte* target) const {
  const GemmKernels& kernels = *program_->kernels;
  const int64_t panels = divide_up(block.filters, kernels.nr);
  if (chunk.rows * chunk.columns * kernels.step_bytes() < panel_bytes_)
    std::memset(target, 0, static_cast<size_t>(panels * panel_bytes_));
  for (int64_t row = 0; row < chunk.rows; ++row) {
    const int64_t at[3] = {chunk.depth, chunk.row + row, chunk.column};
    const int64_t first = block.group * geometry_.filters + block.filter;
    PackSource source;
    source.data =
        dy_.data(launch.pointers, launch.workspace) +
        (chunk.image * dy_strides_.outer + first * dy_strides_.channel + dy_strides_.offset(at)) *
            dy_.element_bytes();
    source.type = dy_.type;
    source.rows = chunk.columns;
    source.columns = block.filters;
    source.row_stride = dy_strides_.spatial[2];
    source.column_stride = dy_strides_.channel;
    kernels.pack_b(source, target + row * chunk.columns * kernels.step_bytes(), panel_bytes_);
  }
}

void BoundFilterGradient::pack_x(const Launch& launch, const Chunk& chunk, const Block& block,
                                 std::byte* target) const {
  const ConvolutionGeometry& g = geometry_;
  const GemmKernels& kernels = *program_->kernels;
  const std::byte* const image = x_.data(launch.pointers, launch.workspace) +
                                 (chunk.image * x_strides_.outer +
                                  (block.group * g.channels + block.channel) * x_strides_.channel) *
                                     x_.element_bytes();
  const int64_t length = axes_[2].length(chunk.columns);
  // A row of a part, of all channels.
  const auto copy_row = [&](int64_t depth, int64_t height, int64_t part, std::byte* row) {
    // Entry i is pixel first + i * stride.
    const int64_t stride = g.stride[2];
    const int64_t first =
        (chunk.column + axes_[2].least_shift) * stride + axes_[2].phases[static_cast<size_t>(part)];
    int64_t begin = std::clamp<int64_t>(floor_divide(stride - 1 - first, stride), 0, length);
    int64_t end =
        std::clamp<int64_t>(floor_divide(g.x[2] - first + stride - 1, stride), begin, length);
    if (depth < 0 || depth >= g.x[0] || height < 0 || height >= g.x[1]) begin = end = 0;
    const auto clear = [&](int64_t from, int64_t to) {
      if (from == to) return;
      for (int64_t c = 0; c < block.channels; ++c)
        std::memset(row + c * channel_bytes_ + from * kernels.a_bytes, 0,
                    static_cast<size_t>((to - from) * kernels.a_bytes));
    };
    clear(0, begin);
    clear(end, length);
    if (begin == end) return;
    const int64_t at[3] = {depth, height, first + begin * stride};
    PackSource source;
    source.data = image + x_strides_.offset(at) * x_.element_bytes();
    source.type = x_.type;
    source.rows = block.channels;
    source.columns = end - begin;
    source.row_stride = x_strides_.channel;
    source.column_stride = stride * x_strides_.spatial[2];
    kernels.pack_a(source, row + begin * kernels.a_bytes, channel_bytes_);
  };
  for (int64_t t = 0; t < g.window[0]; ++t) {
    const int64_t depth = chunk.depth * g.stride[0] + t * g.dilation[0] - g.padding[0];
    for (int64_t p = 0; p < axes_[1].parts(); ++p)
      for (int64_t i = 0; i < axes_[1].length(chunk.rows); ++i) {
        const int64_t height = (chunk.row + axes_[1].least_shift + i) * g.stride[1] +
                               axes_[1].phases[static_cast<size_t>(p)];
        for (int64_t part = 0; part < axes_[2].parts(); ++part)
          copy_row(depth, height, part,
                   target + t * depth_bytes_ + p * row_part_bytes_ + i * row_bytes_ +
                       part * column_part_bytes_);
      }
  }
}

void BoundFilterGradient::multiply(const Chunk& chunk, const Block& block, const std::byte* x,
                                   const std::byte* dy, bool stays_inside, std::byte* sums) const {
  const ConvolutionGeometry& g = geometry_;
  const GemmKernels& kernels = *program_->kernels;
  GemmTile call;
  call.a_row_stride = channel_bytes_;
  call.a_batch_stride = row_bytes_;
  call.b_batch_stride = chunk.columns * kernels.step_bytes();
  call.c_row_stride = sum_stride_ * kernels.c_bytes;
  call.accumulate = 1;
  for (int64_t column = 0; column < block.filters; column += kernels.nr) {
    const GemmShape& shape = kernels.shape_for(block.filters - column);
    call.b = dy + column / kernels.nr * panel_bytes_;
    const int64_t strips = divide_up(block.channels, shape.mr);
    for (int64_t s = 0; s < strips; ++s) {
      const int64_t begin = block.channels * s / strips, end = block.channels * (s + 1) / strips;
      for (int64_t tap = 0; tap < g.taps(); ++tap) {
        const int64_t at[3] = {tap / (g.window[1] * g.window[2]), tap / g.window[2] % g.window[1],
                               tap % g.window[2]};
        const auto h = static_cast<size_t>(at[1]), w = static_cast<size_t>(at[2]);
        call.a = x + begin * channel_bytes_ + at[0] * depth_bytes_ +
                 axes_[1].part[h] * row_part_bytes_ +
                 (axes_[1].shift[h] - axes_[1].least_shift) * row_bytes_ +
                 axes_[2].part[w] * column_part_bytes_ +
                 (axes_[2].shift[w] - axes_[2].least_shift) * kernels.a_bytes;
        call.c = sums + ((tap * block_channels_ + begin) * sum_stride_ + column) * kernels.c_bytes;
        multiply_tap(chunk, at, stays_inside, call, shape, static_cast<int>(end - begin));
      }
    }
  }
}

// All rows of pixels at once, or, where DY is infinite or NaN, those pixels only that read inside
// the image: what lies outside contributes nothing.
void BoundFilterGradient::multiply_tap(const Chunk& chunk, const int64_t (&tap)[3],
                                       bool stays_inside, GemmTile call, const GemmShape& shape,
                                       int rows) const {
  const ConvolutionGeometry& g = geometry_;
  const GemmKernels& kernels = *program_->kernels;
  if (!stays_inside) {
    call.k_steps = chunk.columns;
    call.batch = chunk.rows;
    shape.run(rows, call);
    return;
  }
  const auto x_at = [&](int axis, int64_t y) {
    return y * g.stride[axis] + tap[axis] * g.dilation[axis] - g.padding[axis];
  };
  const auto is_inside = [&](int axis, int64_t y) {
    return x_at(axis, y) >= 0 && x_at(axis, y) < g.x[axis];
  };
  if (!is_inside(0, chunk.depth)) return;
  int64_t begin = 0, end = chunk.columns;
  while (begin < end && !is_inside(2, chunk.column + begin)) ++begin;
  while (begin < end && !is_inside(2, chunk.column + end - 1)) --end;
  if (begin == end) return;
  call.k_steps = end - begin;
  call.batch = 1;
  const auto* const a = static_cast<const std::byte*>(call.a) + begin * kernels.a_bytes;
  const auto* const b = static_cast<const std::byte*>(call.b) + begin * kernels.step_bytes();
  for (int64_t row = 0; row < chunk.rows; ++row) {
    if (!is_inside(1, chunk.row + row)) continue;
    call.a = a + row * call.a_batch_stride;
    call.b = b + row * call.b_batch_stride;
    shape.run(rows, call);
  }
}

void BoundFilterGradient::finish_rows(const Launch& launch, int64_t task, int worker) const {
  const TileShape shape = program_->epilogue.program.shape();
  std::byte* const scratch = launch.workspace + tiles_offset_ + worker * tiles_stride_;
  const RunContext context{program_->machine.kernels, launch.pointers, launch.workspace, scratch};
  const int64_t end = std::min(epilogue_.rows(), (task + 1) * grid_.period_rows);
  for (int64_t row = task * grid_.period_rows; row < end;) {
    // A tile is within one tap and one block of channels, and within one block of filters.
    const int64_t channel = row % geometry_.channels;
    const int64_t rows = std::min<int64_t>({shape.rows, end - row, geometry_.channels - channel,
                                            block_channels_ - channel % block_channels_,
                                            epilogue_.rows_in_one_tile(row)});
    for (int64_t column = 0; column < epilogue_.columns();) {
      const int64_t filter = column % geometry_.filters;
      const int64_t columns = std::min<int64_t>(
          {shape.columns, geometry_.filters - filter, block_filters_ - filter % block_filters_});
      const Region region{row, rows, column, columns};
      TileOperand tile;
      tile.data = scratch + sum_tile_offset_;
      tile.row_stride = shape.columns;
      tile.column_stride = 1;
      add_up(launch, region, scratch + sum_tile_offset_);
      epilogue_.run_tile(context, region, {task, 0}, &tile);
      column += columns;
    }
    row += rows;
  }
}

// A tap's position in the copies and in the filter differ where the mode flips the window.
void BoundFilterGradient::add_up(const Launch& launch, const Region& region,
                                 std::byte* tile) const {
  const ConvolutionGeometry& g = geometry_;
  const int64_t position = region.row / g.channels, channel = region.row % g.channels;
  const int64_t tap = g.flips ? g.taps() - 1 - position : position;
  const int64_t filter = region.column % g.filters;
  const int64_t index =
      (region.column / g.filters * filter_blocks_ + filter / block_filters_) * channel_blocks_ +
      channel / block_channels_;
  const int64_t tile_columns = program_->epilogue.program.shape().columns;
  const auto add = [&]<class T>(T) {
    double total[kMostSumColumns];
    for (int64_t r = 0; r < region.rows; ++r) {
      const int64_t offset = (tap * block_channels_ + channel % block_channels_ + r) * sum_stride_ +
                             filter % block_filters_;
      std::fill(total, total + region.columns, 0.0);
      for (int64_t split = 0; split < splits_; ++split) {
        const T* const sums = reinterpret_cast<const T*>(sums_of(launch, split, index)) + offset;
        for (int64_t c = 0; c < region.columns; ++c) total[c] += static_cast<double>(sums[c]);
      }
      T* const row = reinterpret_cast<T*>(tile) + r * tile_columns;
      for (int64_t c = 0; c < region.columns; ++c) row[c] = static_cast<T>(total[c]);
    }
  };
  program_->kernels->c_bytes == 8 ? add(double{}) : add(float{});
}

}  // namespace warploom::cpu
