#include "engines/cpu/bound_convolution.h"

#include <algorithm>

#include "engines/cpu/special_values.h"

namespace warploom::cpu {
namespace {

constexpr int64_t kWindowBytes = 128 << 10;  // of a padded copy: half of a small L2 cache
constexpr int64_t kPanelBytes = 16 << 10;    // of B for one step: half of the L1 cache
constexpr int64_t kLongRow = 512;            // pixels

}  // namespace

Result<std::unique_ptr<CpuBoundKernel>> BoundConvolution::make(
    std::shared_ptr<const ConvolutionProgram> program, ir::ShapeTable shapes) {
  auto bound = std::make_unique<BoundConvolution>();
  bound->bind(std::move(program), shapes);
  return std::unique_ptr<CpuBoundKernel>(std::move(bound));
}

void BoundConvolution::bind(std::shared_ptr<const ConvolutionProgram> program,
                            ir::ShapeTable shapes) {
  base_ = program_ = std::move(program);
  const fusion::FusionGroup& group = base_->group;
  const GemmKernels& kernels = *base_->kernels;
  problem_ = ConvolutionProblem(group, shapes);
  const ConvolutionProblem& p = problem_;
  epilogue_.bind(base_->epilogue, group, shapes,
                 convolution_order(shapes[static_cast<size_t>(base_->epilogue.domain)].rank()));
  groups_ = slots_per_phase_ = p.groups;
  group_columns_ = p.group_outputs;
  channels_ = round_up(p.group_inputs, kernels.k_per_step);
  panel_stride_ = p.taps() * channels_ / kernels.k_per_step * kernels.step_bytes();

  const double outputs = static_cast<double>(p.images) * static_cast<double>(p.output_pixels()) *
                         static_cast<double>(p.groups * p.group_outputs);
  work_.flops = 2 * outputs * static_cast<double>(p.taps() * p.group_inputs);
  work_.element_bytes = kernels.c_bytes == 8 ? 8 : 4;
  is_direct_ = reads_image_directly();
  cut();
  const int64_t most_rows = divide_up(p.output[1], row_blocks_);
  const int64_t most_columns = divide_up(p.output[2], column_blocks_);
  if (is_direct_) {
    const int64_t bytes = p.x.element_bytes();
    layout_of_a_ = {p.stride[2] * p.x_strides[2] * bytes,
                    p.stride[1] * p.x_strides[1] * bytes,
                    {p.dilation[0] * p.x_strides[0] * bytes, p.dilation[1] * p.x_strides[1] * bytes,
                     p.dilation[2] * p.x_strides[2] * bytes}};
  } else {
    window_.bind(p, group, shapes, program_->prologue ? &*program_->prologue : nullptr,
                 kernels.a_bytes, kernels.k_per_step, most_rows, most_columns);
    a_scratch_bytes_ = window_.bytes();
    layout_of_a_ = {window_.pixel_step(),
                    window_.row_step(),
                    {window_.tap_step(0), window_.tap_step(1), window_.tap_step(2)}};
  }
  add_steps();
  row_tasks_per_phase_ = grid_.row_tasks;

  // Strips are even parts of a row of pixels.
  const double strip = static_cast<double>(most_columns) /
                       static_cast<double>(divide_up(most_columns, kernels.mr) * kernels.mr);
  work_.efficiency =
      0.9 * strip * static_cast<double>(p.group_outputs) /
      static_cast<double>(std::max<int64_t>(round_up(p.group_outputs, kernels.narrow.nr), 1));
  work_.interpreted =
      outputs * base_->epilogue.program.view().instruction_count +
      static_cast<double>(p.taps() * channels_) * static_cast<double>(p.groups * p.group_outputs);
  work_.bytes = 4 * outputs + static_cast<double>(p.x.shape.volume() * p.x.element_bytes());
  finish_bind();
  prologue_offset_ =
      layout_.add("tiles of the prologue", window_.scratch_bytes() * base_->machine.threads());
  flags_offset_ = layout_.add("panels of W that hold NaN or infinity", groups_ * panels_);
}

// Channels consecutive, whole steps, nothing outside the image, and no two rows on the same lines
// of the L1 cache.
bool BoundConvolution::reads_image_directly() const {
  const ConvolutionProblem& p = problem_;
  const GemmKernels& kernels = *base_->kernels;
  return p.groups == 1 && !program_->prologue && p.x.type == kernels.a_type &&
         (p.x_channel_stride == 1 || p.group_inputs == 1) && channels_ == p.group_inputs &&
         !p.has_padding() && p.stride[2] * p.x_strides[2] * p.x.element_bytes() % kPage != 0;
}

void BoundConvolution::cut() {
  constexpr int64_t kManyTasks = 32;
  constexpr double kFlopsPerTask = 2e6;
  const ConvolutionProblem& p = problem_;
  const TileShape tile = contraction_tile(*base_->kernels);
  const int64_t height = std::max<int64_t>(p.output[1], 1);
  const int64_t width = std::max<int64_t>(p.output[2], 1);
  const auto wanted =
      static_cast<int64_t>(std::clamp(work_.flops / kFlopsPerTask, 1.0, 1.0 * kManyTasks));

  int64_t rows_in_block = 1;
  if (width > kLongRow) {
    column_blocks_ = divide_up(width, kLongRow / 2);
  } else {
    const int64_t pixels = knob_value(base_->knobs, KnobType_t::TILE_M,
                                      8 * contraction_tile(*base_->kernels, group_columns_).rows);
    const int64_t row_bytes = (width * p.stride[2] + p.window[2] * p.dilation[2]) * channels_ *
                              base_->kernels->a_bytes * p.stride[1] * p.window[0];
    rows_in_block = std::max<int64_t>(pixels / width, 1);
    if (!is_direct_) {
      const int64_t halo = (p.window[1] - 1) * p.dilation[1];
      rows_in_block = std::clamp<int64_t>(kWindowBytes / row_bytes - halo, 1, rows_in_block);
    }
    const int64_t blocks = divide_up(wanted, std::max<int64_t>(p.images * p.output[0], 1));
    rows_in_block = std::min(rows_in_block, divide_up(height, blocks));
    rows_in_block = std::max(rows_in_block, std::min(height, divide_up(tile.rows, width)));
  }
  row_blocks_ = divide_up(height, rows_in_block);
  grid_.period_tasks = p.output[0] * row_blocks_ * column_blocks_;
  grid_.period_rows = std::max<int64_t>(p.output_pixels(), 1);
  grid_.row_tasks = p.images * grid_.period_tasks;

  const int64_t columns = std::max<int64_t>(group_columns_, 1);
  const int64_t tasks = std::max<int64_t>(grid_.row_tasks * p.groups, 1);
  const int64_t column_tasks =
      knob_value(base_->knobs, KnobType_t::SPLIT_COLS, divide_up(wanted, tasks));
  columns_per_task_ = round_up(
      divide_up(columns, std::clamp<int64_t>(column_tasks, 1, divide_up(columns, tile.columns))),
      tile.columns);
  grid_.column_tasks = p.groups * divide_up(columns, columns_per_task_);
}

// One step a filter row, or one for all rows of a small filter, or one a tap where neighbouring
// taps are not neighbours in memory.
void BoundConvolution::add_steps() {
  const ConvolutionProblem& p = problem_;
  const GemmKernels& kernels = *base_->kernels;
  const int64_t pixel_bytes = channels_ * kernels.a_bytes;
  const int64_t tap_bytes = channels_ / kernels.k_per_step * kernels.step_bytes();
  const bool is_row_consecutive = p.window[2] == 1 || layout_of_a_.tap[2] == pixel_bytes;
  const int64_t taps_in_step = is_row_consecutive ? p.window[2] : 1;
  const int64_t k_steps = taps_in_step * channels_ / kernels.k_per_step;
  const bool takes_all_rows =
      is_row_consecutive && p.window[2] * p.window[1] * tap_bytes <= kPanelBytes;
  // Long sums over channels are cut, so that a panel's part stays in the L1 cache.
  const int64_t most = std::max<int64_t>(kPanelBytes / kernels.step_bytes(), 1);
  if (k_steps == 0) return;
  for (int64_t t = 0; t < p.window[0]; ++t)
    for (int64_t r = 0; r < (takes_all_rows ? 1 : p.window[1]); ++r)
      for (int64_t s = 0; s < p.window[2]; s += taps_in_step) {
        const int64_t tap = (t * p.window[1] + r) * p.window[2] + s;
        SumStep step;
        step.a_offset = t * layout_of_a_.tap[0] + r * layout_of_a_.tap[1] + s * layout_of_a_.tap[2];
        step.a_batch_stride = layout_of_a_.tap[1];
        step.b_offset = tap * tap_bytes;
        step.batch = takes_all_rows ? p.window[1] : 1;
        const int64_t parts = step.batch == 1 ? divide_up(k_steps, most) : 1;
        for (int64_t part = 0; part < parts; ++part) {
          const int64_t begin = k_steps * part / parts, end = k_steps * (part + 1) / parts;
          SumStep piece = step;
          piece.a_offset += begin * kernels.k_per_step * kernels.a_bytes;
          piece.b_offset += begin * kernels.step_bytes();
          piece.k_steps = end - begin;
          piece.b_batch_stride = piece.k_steps * kernels.step_bytes();
          steps_.push_back(piece);
        }
      }
}

void BoundConvolution::pack_b(const Launch& launch, int64_t, int64_t slot, int64_t begin,
                              int64_t end, int) const {
  const ConvolutionProblem& p = problem_;
  const GemmKernels& kernels = *base_->kernels;
  const int64_t first = begin * kernels.nr;
  const int64_t last = std::min(end * kernels.nr, group_columns_);
  const int64_t output = slot * p.group_outputs + first;
  const std::byte* data = p.w.data(launch.pointers, launch.workspace);
  const int64_t tap_bytes = channels_ / kernels.k_per_step * kernels.step_bytes();
  for (int64_t tap = 0; tap < p.taps(); ++tap) {
    PackSource source;
    source.data = data + (output * p.w_output_stride + p.tap_offset(tap)) * p.w.element_bytes();
    source.type = p.w.type;
    source.rows = p.group_inputs;
    source.columns = last - first;
    source.row_stride = p.w_input_stride;
    source.column_stride = p.w_output_stride;
    kernels.pack_b(source, b_panel(launch, slot, begin) + tap * tap_bytes, panel_stride_);
  }
  if (!p.has_padding()) return;
  for (int64_t panel = begin; panel < end; ++panel)
    launch.workspace[flags_offset_ + slot * panels_ + panel] = std::byte{has_special_values(
        b_panel(launch, slot, panel), kernels.a_type, panel_stride_ / kernels.a_bytes)};
}

PixelBlock BoundConvolution::block(int64_t index) const {
  const int64_t(&output)[3] = problem_.output;
  return PixelBlocks{{output[0], output[1], output[2]}, row_blocks_, column_blocks_}.block(index);
}

RowTask BoundConvolution::row_task(int64_t index) const {
  const PixelBlock b = block(index);
  const ConvolutionProblem& p = problem_;
  const int64_t row =
      ((b.image * p.output[0] + b.depth) * p.output[1] + b.row) * p.output[2] + b.column;
  return {row, b.rows * b.columns, index};
}

RowSource BoundConvolution::rows_of_a(const Launch& launch, const RowTask& task, int64_t group,
                                      int worker) const {
  const ConvolutionProblem& p = problem_;
  const PixelBlock b = block(task.batch);
  RowSource rows;
  rows.row_stride = layout_of_a_.pixel;
  rows.run_length = b.columns;
  rows.run_stride = layout_of_a_.row;
  // Where whole rows of pixels follow each other, the block is one run.
  if (rows.run_stride == b.columns * rows.row_stride) rows.run_length = task.rows;
  if (is_direct_) {
    rows.a = p.x.data(launch.pointers, launch.workspace) +
             (b.image * p.x_image_stride + b.depth * p.stride[0] * p.x_strides[0]) *
                 p.x.element_bytes() +
             b.row * layout_of_a_.row + b.column * layout_of_a_.pixel;
    return rows;
  }
  const RunContext context{base_->machine.kernels, launch.pointers, launch.workspace,
                           launch.workspace + prologue_offset_ + worker * window_.scratch_bytes()};
  window_.copy(context, b, group, base_->kernels->pack_a, a_scratch(launch, worker));
  rows.a = a_scratch(launch, worker);
  return rows;
}

int64_t BoundConvolution::slot_of_b(const RowTask&, int64_t group) const {
  return group;
}

// What lies outside the image contributes nothing, even where the filter is infinite or NaN.
void BoundConvolution::multiply(const Launch& launch, const Product& product) const {
  if (problem_.has_padding() && has_special_filter(launch, product))
    multiply_inside(product);
  else
    BoundContraction::multiply(launch, product);
}

bool BoundConvolution::has_special_filter(const Launch& launch, const Product& product) const {
  const std::byte* flags = launch.workspace + flags_offset_ + product.group * panels_ +
                           product.column / base_->kernels->nr;
  return std::any_of(flags, flags + divide_up(product.columns, base_->kernels->nr),
                     [](std::byte flag) { return flag != std::byte{0}; });
}

// Pixel by pixel and tap by tap, those taps only that lie inside the image.
void BoundConvolution::multiply_inside(const Product& product) const {
  const ConvolutionProblem& p = problem_;
  const GemmKernels& kernels = *base_->kernels;
  const PixelBlock b = block(product.task.batch);
  const int64_t tap_bytes = channels_ / kernels.k_per_step * kernels.step_bytes();
  const int64_t panels = divide_up(product.columns, kernels.nr);
  const int64_t panel_bytes = static_cast<int64_t>(kernels.nr) * kernels.c_bytes;
  const auto run = [&](GemmTile call, int64_t row, int64_t panel) {
    call.c = static_cast<std::byte*>(call.c) + row * call.c_row_stride + panel * panel_bytes;
    if (call.bias) call.bias += panel * kernels.nr;
    kernels.shape_for(product.columns - panel * kernels.nr).run(1, call);
  };
  GemmTile finish = product.tile;  // of no products at all, once the sums are complete
  finish.batch = 0;
  GemmTile start = finish;
  start.bias = nullptr;
  finish.accumulate = 1;
  GemmTile call = start;
  call.batch = 1;
  call.accumulate = 1;
  call.k_steps = channels_ / kernels.k_per_step;
  for (int64_t r = 0; r < product.rows; ++r) {
    const int64_t at = product.row + r;
    const int64_t pixel[3] = {b.depth, b.row + at / b.columns, b.column + at % b.columns};
    const std::byte* row =
        product.a.a + at / b.columns * layout_of_a_.row + at % b.columns * layout_of_a_.pixel;
    for (int64_t panel = 0; panel < panels; ++panel) run(start, r, panel);
    for (int64_t tap = 0; tap < p.taps(); ++tap) {
      const int64_t position[3] = {tap / (p.window[1] * p.window[2]),
                                   tap / p.window[2] % p.window[1], tap % p.window[2]};
      bool is_inside = true;
      const std::byte* a = row;
      for (int i = 0; i < 3; ++i) {
        const int64_t x = pixel[i] * p.stride[i] + position[i] * p.dilation[i] - p.pre_padding[i];
        is_inside &= x >= 0 && x < p.input[i];
        a += position[i] * layout_of_a_.tap[i];
      }
      if (!is_inside) continue;
      call.a = a;
      for (int64_t panel = 0; panel < panels; ++panel) {
        call.b = product.panel + panel * panel_stride_ + tap * tap_bytes;
        run(call, r, panel);
      }
    }
    if (finish.bias)
      for (int64_t panel = 0; panel < panels; ++panel) run(finish, r, panel);
  }
}

}  // namespace warploom::cpu
