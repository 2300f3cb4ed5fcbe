#include "engines/cpu/bound_image_gradient.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engines/cpu/special_values.h"
#include "ops/convolution_parts.h"

namespace warploom::cpu {
namespace {

constexpr int64_t kGradientWindowBytes = 128 << 10;  // of a copy of DY: half of a small L2 cache
constexpr int64_t kLongGradientRow = 512;            // pixels

}  // namespace

Result<std::unique_ptr<CpuBoundKernel>> BoundImageGradient::make(
    std::shared_ptr<const ConvolutionGradientProgram> program, ir::ShapeTable shapes) {
  auto bound = std::make_unique<BoundImageGradient>();
  bound->bind(std::move(program), shapes);
  return std::unique_ptr<CpuBoundKernel>(std::move(bound));
}

void BoundImageGradient::bind(std::shared_ptr<const ConvolutionGradientProgram> program,
                              ir::ShapeTable shapes) {
  base_ = program_ = std::move(program);
  const fusion::FusionGroup& group = base_->group;
  const GemmKernels& kernels = *base_->kernels;
  const ir::Node& node = group.node(group.anchor);
  constexpr ops::ConvolutionParts kPart = ops::kParts<graph::Conv_dgrad_attributes>;
  inputs_.bind(program_->prologues, group, shapes, base_->machine, layout_);
  dy_ = inputs_[kPart.y.port];
  w_ = inputs_[kPart.w.port];
  dy_strides_ = ConvolutionStrides(dy_.shape);
  w_strides_ = ConvolutionStrides(w_.shape);
  const ir::Shape& dx = shapes[static_cast<size_t>(node.outputs[kPart.x.port])];
  geometry_ = ConvolutionGeometry(*group.anchor_as<graph::Conv_dgrad_attributes>(), dx, w_.shape,
                                  dy_.shape);
  const ConvolutionGeometry& g = geometry_;
  for (int i = 0; i < 3; ++i) {
    const int64_t common = std::gcd(g.stride[i], g.dilation[i]);
    reach_steps_[i] = g.stride[i] / common;
    reach_distances_[i] = g.dilation[i] / common;
  }
  epilogue_.bind(base_->epilogue, group, shapes,
                 convolution_order(shapes[static_cast<size_t>(base_->epilogue.domain)].rank()));
  groups_ = slots_per_phase_ = g.groups;
  group_columns_ = g.channels;
  depth_ = round_up(g.filters, kernels.k_per_step);
  panel_stride_ = g.taps() * tap_bytes();
  work_.flops = g.flops();
  work_.element_bytes = kernels.c_bytes == 8 ? 8 : 4;

  reads_outside_ = reads_outside();
  is_direct_ = g.groups == 1 && dy_.type == kernels.a_type &&
               (dy_strides_.channel == 1 || g.filters == 1) && depth_ == g.filters &&
               !reads_outside_ && dy_strides_.spatial[2] * dy_.element_bytes() % kPage != 0;
  cut();
  if (is_direct_) {
    for (int i = 0; i < 3; ++i) pixel_strides_[i] = dy_strides_.spatial[i] * dy_.element_bytes();
  } else {
    int64_t& pixel = pixel_strides_[2] = depth_ * kernels.a_bytes;
    if (pixel % kPage == 0) pixel += kScratchAlignment;
    const int64_t columns = pixel_count(2, 0, divide_up(g.x[2], blocks_.column_blocks)) + 1;
    const int64_t rows = pixel_count(1, 0, divide_up(g.x[1], blocks_.row_blocks)) + 1;
    int64_t& row = pixel_strides_[1] = round_up(columns * pixel, kScratchAlignment);
    if (row % kPage == 0) row += kScratchAlignment;
    pixel_strides_[0] = rows * row;
    a_scratch_bytes_ = (pixel_count(0, 0, 1) + 1) * pixel_strides_[0];
  }
  // Where taps are added up one after the other, the sums are kept in a tile.
  if (g.window[0] * g.window[1] > 1) steps_.assign(2, SumStep{.batch = 0});
  row_tasks_per_phase_ = grid_.row_tasks;

  const double outputs = static_cast<double>(g.images) * static_cast<double>(g.x_pixels()) *
                         static_cast<double>(g.groups * g.channels);
  work_.efficiency =
      0.8 * static_cast<double>(g.channels) /
      static_cast<double>(std::max<int64_t>(round_up(g.channels, kernels.narrow.nr), 1));
  work_.interpreted =
      outputs * base_->epilogue.program.view().instruction_count +
      static_cast<double>(g.taps() * depth_) * static_cast<double>(g.groups * g.channels);
  work_.bytes = 4 * outputs +
                static_cast<double>(dy_.shape.volume()) * static_cast<double>(dy_.element_bytes());
  finish_bind();
  flags_offset_ = layout_.add("panels of W that hold NaN or infinity", groups_ * panels_);
}

int64_t BoundImageGradient::tap_bytes() const {
  return depth_ / base_->kernels->k_per_step * base_->kernels->step_bytes();
}

// x + padding = y stride + tap dilation.
BoundImageGradient::Reach BoundImageGradient::reach(int axis, int64_t x) const {
  const ConvolutionGeometry& g = geometry_;
  Reach found{.step = reach_steps_[axis], .dy = reach_distances_[axis]};
  const int64_t most = std::min(found.step, g.window[axis]);
  for (found.first = 0; found.first < most; ++found.first) {
    const int64_t scaled = x + g.padding[axis] - found.first * g.dilation[axis];
    if (scaled % g.stride[axis] != 0) continue;
    found.y = floor_divide(scaled, g.stride[axis]);
    found.count = divide_up(g.window[axis] - found.first, found.step);
    break;
  }
  return found;
}

int64_t BoundImageGradient::first_pixel(int axis, int64_t x) const {
  const ConvolutionGeometry& g = geometry_;
  const int64_t least = x + g.padding[axis] - (g.window[axis] - 1) * g.dilation[axis];
  return floor_divide(least + g.stride[axis] - 1, g.stride[axis]);
}

int64_t BoundImageGradient::pixel_count(int axis, int64_t x, int64_t count) const {
  const int64_t last =
      floor_divide(x + count - 1 + geometry_.padding[axis], geometry_.stride[axis]);
  return std::max<int64_t>(last - first_pixel(axis, x) + 1, 0);
}

bool BoundImageGradient::reads_outside() const {
  for (int i = 0; i < 3; ++i) {
    const int64_t first = first_pixel(i, 0);
    if (first < 0 || first + pixel_count(i, 0, geometry_.x[i]) > geometry_.y[i]) return true;
  }
  return false;
}

// Blocks of full rows of DX, or parts of a long row; an even number of columns of A.
void BoundImageGradient::cut() {
  constexpr int64_t kManyTasks = 32;
  constexpr double kFlopsPerTask = 2e6;
  const ConvolutionGeometry& g = geometry_;
  const TileShape tile = contraction_tile(*base_->kernels);
  const int64_t height = std::max<int64_t>(g.x[1], 1), width = std::max<int64_t>(g.x[2], 1);
  const auto wanted =
      static_cast<int64_t>(std::clamp(work_.flops / kFlopsPerTask, 1.0, 1.0 * kManyTasks));
  blocks_.extents[0] = g.x[0], blocks_.extents[1] = g.x[1], blocks_.extents[2] = g.x[2];
  int64_t rows_in_block = 1;
  if (width > kLongGradientRow) {
    blocks_.column_blocks = divide_up(width, kLongGradientRow / 2);
  } else {
    const int64_t pixels = knob_value(base_->knobs, KnobType_t::TILE_M,
                                      8 * contraction_tile(*base_->kernels, group_columns_).rows);
    rows_in_block = std::max<int64_t>(pixels / width, 1);
    if (!is_direct_) {
      const int64_t row_bytes = pixel_count(2, 0, width) * std::max<int64_t>(depth_, 1) *
                                base_->kernels->a_bytes *
                                std::max<int64_t>(pixel_count(0, 0, 1), 1);
      const int64_t rows = kGradientWindowBytes / std::max<int64_t>(row_bytes, 1);
      const int64_t halo = (g.window[1] - 1) * g.dilation[1];
      rows_in_block = std::clamp<int64_t>(rows * g.stride[1] - halo, 1, rows_in_block);
    }
    const int64_t blocks = divide_up(wanted, std::max<int64_t>(g.images * g.x[0], 1));
    rows_in_block = std::min(rows_in_block, divide_up(height, blocks));
    rows_in_block = std::max(rows_in_block, std::min(height, divide_up(tile.rows, width)));
  }
  blocks_.row_blocks = divide_up(height, rows_in_block);
  grid_.period_tasks = g.x[0] * blocks_.row_blocks * blocks_.column_blocks;
  grid_.period_rows = std::max<int64_t>(g.x_pixels(), 1);
  grid_.row_tasks = g.images * grid_.period_tasks;

  const int64_t columns = std::max<int64_t>(group_columns_, 1);
  const int64_t tasks = std::max<int64_t>(grid_.row_tasks * g.groups, 1);
  const int64_t column_tasks =
      knob_value(base_->knobs, KnobType_t::SPLIT_COLS, divide_up(wanted, tasks));
  columns_per_task_ = round_up(
      divide_up(columns, std::clamp<int64_t>(column_tasks, 1, divide_up(columns, tile.columns))),
      tile.columns);
  grid_.column_tasks = g.groups * divide_up(columns, columns_per_task_);
}

void BoundImageGradient::prepare(const Launch& launch) const {
  inputs_.run_prologues(base_->machine, launch.pointers, launch.workspace);
}

void BoundImageGradient::pack_b(const Launch& launch, int64_t, int64_t slot, int64_t begin,
                                int64_t end, int) const {
  const ConvolutionGeometry& g = geometry_;
  const GemmKernels& kernels = *base_->kernels;
  const int64_t first = begin * kernels.nr;
  const std::byte* const data = w_.data(launch.pointers, launch.workspace);
  for (int64_t tap = 0; tap < g.taps(); ++tap) {
    const int64_t at[3] = {g.filter_position(0, tap / (g.window[1] * g.window[2])),
                           g.filter_position(1, tap / g.window[2] % g.window[1]),
                           g.filter_position(2, tap % g.window[2])};
    PackSource source;
    source.data = data + (slot * g.filters * w_strides_.outer + first * w_strides_.channel +
                          w_strides_.offset(at)) *
                             w_.element_bytes();
    source.type = w_.type;
    source.rows = g.filters;
    source.columns = std::min(end * kernels.nr, group_columns_) - first;
    source.row_stride = w_strides_.outer;
    source.column_stride = w_strides_.channel;
    kernels.pack_b(source, b_panel(launch, slot, begin) + tap * tap_bytes(), panel_stride_);
  }
  if (!reads_outside_) return;
  for (int64_t panel = begin; panel < end; ++panel)
    launch.workspace[flags_offset_ + slot * panels_ + panel] = std::byte{has_special_values(
        b_panel(launch, slot, panel), kernels.a_type, panel_stride_ / kernels.a_bytes)};
}

RowTask BoundImageGradient::row_task(int64_t index) const {
  const PixelBlock b = blocks_.block(index);
  const ConvolutionGeometry& g = geometry_;
  const int64_t row = ((b.image * g.x[0] + b.depth) * g.x[1] + b.row) * g.x[2] + b.column;
  return {row, b.rows * b.columns, index};
}

// A: where pixel 0 of DY is, in memory or as if the copy went so far.
RowSource BoundImageGradient::rows_of_a(const Launch& launch, const RowTask& task, int64_t group,
                                        int worker) const {
  const ConvolutionGeometry& g = geometry_;
  const PixelBlock b = blocks_.block(task.batch);
  RowSource rows;
  rows.run_length = b.columns;
  const std::byte* const image =
      dy_.data(launch.pointers, launch.workspace) +
      (b.image * dy_strides_.outer + group * g.filters * dy_strides_.channel) * dy_.element_bytes();
  if (is_direct_) {
    rows.a = image;
    return rows;
  }
  const int64_t first[3] = {first_pixel(0, b.depth), first_pixel(1, b.row),
                            first_pixel(2, b.column)};
  const int64_t count[3] = {pixel_count(0, b.depth, 1), pixel_count(1, b.row, b.rows),
                            pixel_count(2, b.column, b.columns)};
  std::byte* const copy = a_scratch(launch, worker);
  const int64_t begin = std::clamp<int64_t>(-first[2], 0, count[2]);
  const int64_t end = std::clamp<int64_t>(g.y[2] - first[2], begin, count[2]);
  for (int64_t d = 0; d < count[0]; ++d)
    for (int64_t h = 0; h < count[1]; ++h) {
      std::byte* const row = copy + d * pixel_strides_[0] + h * pixel_strides_[1];
      const int64_t at[3] = {first[0] + d, first[1] + h, first[2] + begin};
      const bool is_inside = at[0] >= 0 && at[0] < g.y[0] && at[1] >= 0 && at[1] < g.y[1];
      const int64_t from = is_inside ? begin : 0, to = is_inside ? end : 0;
      const auto clear = [&](int64_t pixel, int64_t pixels) {
        std::memset(row + pixel * pixel_strides_[2], 0,
                    static_cast<size_t>(pixels * pixel_strides_[2]));
      };
      clear(0, from);
      clear(to, count[2] - to);
      if (from == to) continue;
      PackSource source;
      source.data = image + dy_strides_.offset(at) * dy_.element_bytes();
      source.type = dy_.type;
      source.rows = to - from;
      source.columns = g.filters;
      source.row_stride = dy_strides_.spatial[2];
      source.column_stride = dy_strides_.channel;
      base_->kernels->pack_a(source, row + from * pixel_strides_[2], pixel_strides_[2]);
    }
  rows.a = copy - first[0] * pixel_strides_[0] - first[1] * pixel_strides_[1] -
           first[2] * pixel_strides_[2];
  return rows;
}

bool BoundImageGradient::has_special_filter(const Launch& launch, const Product& product) const {
  const std::byte* flags = launch.workspace + flags_offset_ + product.group * panels_ +
                           product.column / base_->kernels->nr;
  return std::any_of(flags, flags + divide_up(product.columns, base_->kernels->nr),
                     [](std::byte flag) { return flag != std::byte{0}; });
}

void BoundImageGradient::multiply(const Launch& launch, const Product& product) const {
  const PixelBlock b = blocks_.block(product.task.batch);
  const bool stays_inside = reads_outside_ && has_special_filter(launch, product);
  for (int64_t r = 0; r < product.rows;) {
    const int64_t count = std::min(product.rows - r, b.columns - (product.row + r) % b.columns);
    multiply_run(product, b, r, count, stays_inside);
    r += count;
  }
}

// Rows [row, row + count) of the product, pixels of one row of DX: those a stride apart at a time.
void BoundImageGradient::multiply_run(const Product& product, const PixelBlock& block, int64_t row,
                                      int64_t count, bool stays_inside) const {
  const int64_t stride = geometry_.stride[2];
  const int64_t at = product.row + row, column = block.column + at % block.columns;
  Reach reaches[3] = {reach(0, block.depth), reach(1, block.row + at / block.columns), {}};
  for (int64_t phase = 0; phase < std::min(stride, count); ++phase) {
    reaches[2] = reach(2, column + phase);
    GemmTile tile = product.tile;
    tile.c = static_cast<std::byte*>(tile.c) + (row + phase) * tile.c_row_stride;
    tile.c_row_stride *= stride;
    tile.a_row_stride = pixel_strides_[2];
    const std::byte* a = product.a.a;
    for (int i = 0; i < 3; ++i) a += reaches[i].y * pixel_strides_[i];
    const int64_t pixels = divide_up(count - phase, stride);
    if (!stays_inside) {
      multiply_pixels(product, reaches, a, pixels, tile);
      continue;
    }
    for (int64_t i = 0; i < pixels; ++i) {
      multiply_inside(product, reaches, a, tile);
      ++reaches[2].y;
      a += pixel_strides_[2];
      tile.c = static_cast<std::byte*>(tile.c) + tile.c_row_stride;
    }
  }
}

// A call for each pair of depth and height, for all taps along the width.
void BoundImageGradient::multiply_pixels(const Product& product, const Reach (&reach)[3],
                                         const std::byte* a, int64_t rows, GemmTile tile) const {
  const GemmKernels& kernels = *base_->kernels;
  const auto [in_depth, in_height, in_width] = reach;
  const int64_t panels = divide_up(product.columns, kernels.nr);
  const int64_t panel_bytes = static_cast<int64_t>(kernels.nr) * kernels.c_bytes;
  const bool reaches_any = in_depth.count * in_height.count * in_width.count > 0;
  const int64_t rounds = reaches_any ? in_depth.count * in_height.count : 1;
  tile.k_steps = depth_ / kernels.k_per_step;
  tile.batch = reaches_any ? in_width.count : 0;
  tile.a_batch_stride = -in_width.dy * pixel_strides_[2];
  tile.b_batch_stride = in_width.step * tap_bytes();
  for (int64_t round = 0; round < rounds; ++round) {
    const int64_t d = reaches_any ? round / in_height.count : 0;
    const int64_t h = reaches_any ? round % in_height.count : 0;
    const int64_t tap = ((in_depth.first + d * in_depth.step) * geometry_.window[1] +
                         in_height.first + h * in_height.step) *
                            geometry_.window[2] +
                        in_width.first;
    const std::byte* const pixels =
        a - d * in_depth.dy * pixel_strides_[0] - h * in_height.dy * pixel_strides_[1];
    for (int64_t panel = 0; panel < panels; ++panel) {
      const GemmShape& shape = kernels.shape_for(product.columns - panel * kernels.nr);
      GemmTile call = tile;
      call.accumulate = round > 0 ? 1 : 0;
      call.b = product.panel + panel * panel_stride_ + tap * tap_bytes();
      call.bias = round + 1 == rounds && tile.bias ? tile.bias + panel * kernels.nr : nullptr;
      const int64_t strips = divide_up(rows, shape.mr);
      for (int64_t s = 0, done = 0; s < strips; ++s) {
        const int64_t next = rows * (s + 1) / strips;
        call.a = pixels + done * call.a_row_stride;
        call.c = static_cast<std::byte*>(tile.c) + done * tile.c_row_stride + panel * panel_bytes;
        shape.run(static_cast<int>(next - done), call);
        done = next;
      }
    }
  }
}

// One pixel, with those taps only that reach a pixel of DY: what lies outside contributes nothing,
// even where the filter is infinite or NaN.
void BoundImageGradient::multiply_inside(const Product& product, const Reach (&reach)[3],
                                         const std::byte* a, GemmTile tile) const {
  const ConvolutionGeometry& g = geometry_;
  const GemmKernels& kernels = *base_->kernels;
  const int64_t panel_bytes = static_cast<int64_t>(kernels.nr) * kernels.c_bytes;
  const auto [in_depth, in_height, in_width] = reach;
  for (int64_t panel = 0; panel * kernels.nr < product.columns; ++panel) {
    const GemmShape& shape = kernels.shape_for(product.columns - panel * kernels.nr);
    GemmTile call = tile;
    call.c = static_cast<std::byte*>(tile.c) + panel * panel_bytes;
    call.bias = nullptr;
    call.batch = 0;
    shape.run(1, call);
    call.accumulate = 1;
    call.k_steps = depth_ / kernels.k_per_step;
    call.batch = 1;
    for (int64_t d = 0; d < in_depth.count; ++d)
      for (int64_t h = 0; h < in_height.count; ++h)
        for (int64_t w = 0; w < in_width.count; ++w) {
          const int64_t y[3] = {in_depth.y - d * in_depth.dy, in_height.y - h * in_height.dy,
                                in_width.y - w * in_width.dy};
          if (y[0] < 0 || y[0] >= g.y[0] || y[1] < 0 || y[1] >= g.y[1] || y[2] < 0 ||
              y[2] >= g.y[2])
            continue;
          const int64_t tap = ((in_depth.first + d * in_depth.step) * g.window[1] +
                               in_height.first + h * in_height.step) *
                                  g.window[2] +
                              in_width.first + w * in_width.step;
          call.a = a - d * in_depth.dy * pixel_strides_[0] - h * in_height.dy * pixel_strides_[1] -
                   w * in_width.dy * pixel_strides_[2];
          call.b = product.panel + panel * panel_stride_ + tap * tap_bytes();
          shape.run(1, call);
        }
    if (!tile.bias) continue;
    call.bias = tile.bias + panel * kernels.nr;
    call.batch = 0;
    shape.run(1, call);
  }
}

}  // namespace warploom::cpu
