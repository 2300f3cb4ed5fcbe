#include "engines/cpu/image_window.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace warploom::cpu {

PixelBlock PixelBlocks::block(int64_t index) const {
  PixelBlock block;
  const int64_t column_block = index % column_blocks;
  index /= column_blocks;
  const int64_t row_block = index % row_blocks;
  index /= row_blocks;
  block.depth = index % extents[0];
  block.image = index / extents[0];
  block.row = extents[1] * row_block / row_blocks;
  block.rows = extents[1] * (row_block + 1) / row_blocks - block.row;
  block.column = extents[2] * column_block / column_blocks;
  block.columns = extents[2] * (column_block + 1) / column_blocks - block.column;
  return block;
}

void ImageWindow::bind(const ConvolutionProblem& problem, const fusion::FusionGroup& group,
                       ir::ShapeTable shapes, const CompiledExpression* prologue,
                       int64_t element_bytes, int64_t channel_unit, int64_t most_rows,
                       int64_t most_columns) {
  problem_ = problem;
  prologue_ = prologue;
  element_bytes_ = element_bytes;
  pixel_bytes_ = round_up(problem.group_inputs, channel_unit) * element_bytes;
  if (pixel_bytes_ % kPage == 0) pixel_bytes_ += kScratchAlignment;
  most_rows_ = most_rows;
  row_bytes_ = round_up(extent(2, most_columns) * pixel_bytes_, kScratchAlignment);
  if (row_bytes_ % kPage == 0) row_bytes_ += kScratchAlignment;
  if (!prologue) return;
  [[maybe_unused]] bool is_bound =
      expression_.bind(*prologue, group, shapes,
                       convolution_order(shapes[static_cast<size_t>(prologue->domain)].rank()));
  assert(is_bound);
}

int64_t ImageWindow::tap_step(int axis) const {
  switch (axis) {
    case ConvolutionProblem::kDepth:
      return slice_bytes();
    case ConvolutionProblem::kHeight:
      return problem_.dilation[1] * row_bytes_;
    default:
      return problem_.dilation[2] * pixel_bytes_;
  }
}

void ImageWindow::copy(const RunContext& context, const PixelBlock& block, int64_t group,
                       void (*pack)(const PackSource&, void*, int64_t), std::byte* target) const {
  const int64_t rows = extent(1, block.rows);
  for (int64_t t = 0; t < problem_.window[0]; ++t) {
    const int64_t depth =
        block.depth * problem_.stride[0] + t * problem_.dilation[0] - problem_.pre_padding[0];
    const int64_t first = block.row * problem_.stride[1] - problem_.pre_padding[1];
    std::byte* row = target + t * slice_bytes();
    for (int64_t i = 0; i < rows; ++i, row += row_bytes_)
      copy_row(context, block, group, depth, first + i * source_step(1), pack, row);
  }
}

void ImageWindow::copy_row(const RunContext& context, const PixelBlock& block, int64_t group,
                           int64_t depth, int64_t height,
                           void (*pack)(const PackSource&, void*, int64_t),
                           std::byte* target) const {
  const ConvolutionProblem& p = problem_;
  const int64_t count = extent(2, block.columns), step = source_step(2);
  const int64_t first = block.column * p.stride[2] - p.pre_padding[2];
  // Copied pixels are first + i * step; those from `begin` to `end` lie inside the image.
  int64_t begin = first >= 0 ? 0 : std::min(divide_up(-first, step), count);
  int64_t end = first >= p.input[2] ? 0 : std::min(divide_up(p.input[2] - first, step), count);
  if (depth < 0 || depth >= p.input[0] || height < 0 || height >= p.input[1]) end = 0;
  end = std::max(end, begin);
  if (begin == end) begin = end = count;
  std::memset(target, 0, static_cast<size_t>(begin * pixel_bytes_));
  std::memset(target + end * pixel_bytes_, 0, static_cast<size_t>((count - end) * pixel_bytes_));
  if (begin == end) return;
  target += begin * pixel_bytes_;
  const int64_t width = first + begin * step;

  if (prologue_) {
    if (pixel_bytes_ != p.group_inputs * element_bytes_)
      std::memset(target, 0, static_cast<size_t>((end - begin) * pixel_bytes_));
    const int64_t row_of_image = (block.image * p.input[0] + depth) * p.input[1] + height;
    const TileShape shape = prologue_->program.shape();
    for (int64_t i = 0; i < end - begin;) {
      const int64_t pixel = row_of_image * p.input[2] + width + i * step;
      const int64_t pixels = step == 1 ? std::min<int64_t>({shape.rows, end - begin - i,
                                                            expression_.rows_in_one_tile(pixel)})
                                       : 1;
      for (int64_t c = 0; c < p.group_inputs; c += shape.columns) {
        TileOperand tile;
        tile.data = target + i * pixel_bytes_ + c * element_bytes_;
        tile.row_stride = pixel_bytes_ / element_bytes_;
        tile.column_stride = 1;
        expression_.run_tile(context,
                             {pixel, pixels, group * p.group_inputs + c,
                              std::min<int64_t>(shape.columns, p.group_inputs - c)},
                             {}, &tile);
      }
      i += pixels;
    }
    return;
  }
  PackSource source;
  source.data = p.x.data(context.pointers, context.workspace) +
                (block.image * p.x_image_stride + depth * p.x_strides[0] + height * p.x_strides[1] +
                 width * p.x_strides[2] + group * p.group_inputs * p.x_channel_stride) *
                    p.x.element_bytes();
  source.type = p.x.type;
  source.rows = end - begin;
  source.columns = p.group_inputs;
  source.row_stride = step * p.x_strides[2];
  source.column_stride = p.x_channel_stride;
  if (source.column_stride == 1 && source.row_stride == source.columns &&
      pixel_bytes_ == source.columns * element_bytes_) {
    // Pixels without gaps on either side are one long row.
    source.columns *= source.rows;
    source.rows = 1;
  }
  pack(source, target, pixel_bytes_);
}

}  // namespace warploom::cpu
