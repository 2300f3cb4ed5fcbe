#include <algorithm>

#include "engines/cpu/contraction_gather.h"
#include "ops/convolution_parts.h"

// Every convolution Y = X * W is a product of matrices whose depth runs over steps (positions of
// the window, or of Y) and over a run within each (channels, or images). A is the operand that
// moves with the window and may lie outside its tensor:
//
//              rows            columns   A    B    step           run
//   forward    images, y       filters   X    W    in the window  channels of a group
//   for X      images, x       channels  DY   W    in the window  filters of a group
//   for W      channels, tap   filters   X    DY   in Y           images

namespace warploom::cpu {
namespace {

using Position = int64_t[3];

/// A spatial position, or a position in the window, of a tensor.
class Grid {
 public:
  explicit Grid(const ir::Shape& shape) : shape_(shape) {}

  int axes() const { return shape_.rank() - 2; }
  int64_t extent(int axis) const { return shape_.dims[static_cast<size_t>(axis) + 2]; }
  int64_t volume() const {
    int64_t product = 1;
    for (int i = 0; i < axes(); ++i) product *= extent(i);
    return product;
  }
  /// The position that the last digits of `index` say; returns what is left of it.
  int64_t split(int64_t index, Position& at) const {
    for (int i = axes(); i-- > 0; index /= extent(i)) at[i] = index % extent(i);
    return index;
  }
  bool contains(const Position& at) const {
    for (int i = 0; i < axes(); ++i)
      if (at[i] < 0 || at[i] >= extent(i)) return false;
    return true;
  }
  int64_t offset(const Position& at) const {
    int64_t sum = 0;
    for (int i = 0; i < axes(); ++i) sum += at[i] * shape_.strides[static_cast<size_t>(i) + 2];
    return sum;
  }

 private:
  ir::Shape shape_;
};

class ConvolutionGather : public ContractionGather {
 public:
  void gather_a(const Memory& memory, int64_t row, int64_t column, int64_t begin, int64_t n,
                void* target, DataType_t type) const final {
    const int64_t base = row_offset(row) + column / columns_per_group * a_group_stride_;
    for_each_step(begin, n, [&](int64_t step, int64_t first, int64_t count, int64_t done) {
      Position at{};
      auto* to = static_cast<std::byte*>(target) + done * detail::get_data_type_size(type);
      if (!locate(row, step, at)) {
        const double zero = 0;
        return memory.kernels->convert(&zero, DataType_t::DOUBLE, 0, to, type, 1, count);
      }
      copy(memory, a_, base + a_grid_.offset(at) + first * a_run_stride_, a_run_stride_, to, type,
           1, count);
    });
  }

  bool marks_outside() const final { return true; }

  void mark_outside(int64_t row, int64_t begin, int64_t n, uint8_t* flags) const final {
    for_each_step(begin, n, [&](int64_t step, int64_t, int64_t count, int64_t done) {
      Position at{};
      std::fill(flags + done, flags + done + count, !locate(row, step, at));
    });
  }

  void gather_b(const Memory& memory, int64_t, int64_t column, int64_t begin, int64_t n,
                void* target, DataType_t type, int64_t stride) const final {
    for_each_step(begin, n, [&](int64_t step, int64_t first, int64_t count, int64_t done) {
      copy(memory, b_, column_offset(column, step) + first * b_run_stride_, b_run_stride_,
           static_cast<std::byte*>(target) + done * stride * detail::get_data_type_size(type), type,
           stride, count);
    });
  }

 protected:
  ConvolutionGather(const graph::ConvolutionFields& fields, const PlainTensor& a,
                    const PlainTensor& b, const ir::Shape& window)
      : a_(a), b_(b), a_grid_(a.shape), window_(window), fields_(fields) {}

  /// Of A: of the row, but for its spatial position. Of B: of a column at a step.
  virtual int64_t row_offset(int64_t row) const = 0;
  virtual int64_t column_offset(int64_t column, int64_t step) const = 0;
  /// Where A is read; false outside.
  virtual bool locate(int64_t row, int64_t step, Position& at) const = 0;

  void set_extents(int64_t row_count, int64_t column_count, int64_t groups, int64_t steps,
                   int64_t run) {
    rows = row_count;
    rows_per_batch = std::max<int64_t>(rows, 1);
    columns = column_count;
    columns_per_group = std::max<int64_t>(columns / groups, 1);
    run_ = run;
    depth = steps * run;
  }

  /// Where position `y` reads X with position `tap` of the window.
  bool position_in_x(const Grid& x, const Position& y, const Position& tap, Position& at) const {
    for (int i = 0; i < x.axes(); ++i) at[i] = y[i] * stride(i) + tap[i] * dilation(i) - padding(i);
    return x.contains(at);
  }
  /// The position in Y that reads `x` with position `tap` of the window, if there is one.
  bool position_in_y(const Grid& y, const Position& x, const Position& tap, Position& at) const {
    for (int i = 0; i < y.axes(); ++i) {
      const int64_t scaled = x[i] + padding(i) - tap[i] * dilation(i);
      if (scaled < 0 || scaled % stride(i) != 0) return false;
      at[i] = scaled / stride(i);
    }
    return y.contains(at);
  }
  /// Of the filter's element at position `tap` of the window, which the mode may flip.
  int64_t tap_offset(int64_t tap) const {
    Position at{};
    window_.split(tap, at);
    if (fields_.get_convolution_mode() == ConvolutionMode_t::CONVOLUTION)
      for (int i = 0; i < window_.axes(); ++i) at[i] = window_.extent(i) - 1 - at[i];
    return window_.offset(at);
  }

  PlainTensor a_, b_;
  Grid a_grid_, window_;
  int64_t a_group_stride_ = 0, a_run_stride_ = 0, b_run_stride_ = 0;

 private:
  int64_t stride(int axis) const { return fields_.get_stride()[static_cast<size_t>(axis)]; }
  int64_t dilation(int axis) const { return fields_.get_dilation()[static_cast<size_t>(axis)]; }
  int64_t padding(int axis) const { return fields_.get_pre_padding()[static_cast<size_t>(axis)]; }

  static void copy(const Memory& memory, const PlainTensor& tensor, int64_t offset,
                   int64_t from_stride, void* to, DataType_t type, int64_t to_stride, int64_t n) {
    memory.kernels->convert(
        tensor.data(memory.pointers, memory.workspace) + offset * tensor.element_bytes(),
        tensor.type, from_stride, to, type, to_stride, n);
  }

  /// fn(step, first of the run, count, done)
  template <class Function>
  void for_each_step(int64_t begin, int64_t n, Function&& fn) const {
    for (int64_t done = 0; done < n;) {
      const int64_t step = (begin + done) / run_, first = (begin + done) % run_;
      const int64_t count = std::min(run_ - first, n - done);
      fn(step, first, count, done);
      done += count;
    }
  }

  graph::ConvolutionFields fields_;
  int64_t run_ = 1;
};

class ForwardGather final : public ConvolutionGather {
 public:
  ForwardGather(const graph::ConvolutionFields& fields, const PlainTensor& x, const PlainTensor& w,
                const ir::Shape& y, int64_t groups)
      : ConvolutionGather(fields, x, w, w.shape), y_(y) {
    const int64_t channels = w.shape.dims[1];
    set_extents(y.dims[0] * y_.volume(), y.dims[1], groups, window_.volume(), channels);
    column_axis = 1;
    a_group_stride_ = channels * x.shape.strides[1];
    a_run_stride_ = x.shape.strides[1];
    b_run_stride_ = w.shape.strides[1];
  }

 private:
  int64_t row_offset(int64_t row) const override { return row / y_.volume() * a_.shape.strides[0]; }
  int64_t column_offset(int64_t column, int64_t step) const override {
    return column * b_.shape.strides[0] + tap_offset(step);
  }
  bool locate(int64_t row, int64_t step, Position& at) const override {
    Position y{}, tap{};
    y_.split(row, y);
    window_.split(step, tap);
    return position_in_x(a_grid_, y, tap, at);
  }

  Grid y_;
};

class ImageGradientGather final : public ConvolutionGather {
 public:
  ImageGradientGather(const graph::ConvolutionFields& fields, const PlainTensor& dy,
                      const PlainTensor& w, const ir::Shape& dx, int64_t groups)
      : ConvolutionGather(fields, dy, w, w.shape), dx_(dx) {
    const int64_t filters = w.shape.dims[0] / groups;
    set_extents(dx.dims[0] * dx_.volume(), dx.dims[1], groups, window_.volume(), filters);
    column_axis = 1;
    a_group_stride_ = filters * dy.shape.strides[1];
    a_run_stride_ = dy.shape.strides[1];
    b_run_stride_ = w.shape.strides[0];
    b_group_stride_ = filters * w.shape.strides[0];
  }

 private:
  int64_t row_offset(int64_t row) const override {
    return row / dx_.volume() * a_.shape.strides[0];
  }
  int64_t column_offset(int64_t column, int64_t step) const override {
    return column / columns_per_group * b_group_stride_ +
           column % columns_per_group * b_.shape.strides[1] + tap_offset(step);
  }
  bool locate(int64_t row, int64_t step, Position& at) const override {
    Position x{}, tap{};
    dx_.split(row, x);
    window_.split(step, tap);
    return position_in_y(a_grid_, x, tap, at);
  }

  Grid dx_;
  int64_t b_group_stride_ = 0;
};

class FilterGradientGather final : public ConvolutionGather {
 public:
  FilterGradientGather(const graph::ConvolutionFields& fields, const PlainTensor& x,
                       const PlainTensor& dy, const ir::Shape& dw, int64_t groups)
      : ConvolutionGather(fields, x, dy, dw), dy_(dy.shape) {
    set_extents(dw.dims[1] * window_.volume(), dw.dims[0], groups, dy_.volume(), dy.shape.dims[0]);
    column_axis = 0;
    a_group_stride_ = dw.dims[1] * x.shape.strides[1];
    a_run_stride_ = x.shape.strides[0];
    b_run_stride_ = dy.shape.strides[0];
    flips_ = fields.get_convolution_mode() == ConvolutionMode_t::CONVOLUTION;
  }

 private:
  int64_t row_offset(int64_t row) const override {
    return row / window_.volume() * a_.shape.strides[1];
  }
  int64_t column_offset(int64_t column, int64_t step) const override {
    Position y{};
    dy_.split(step, y);
    return column * b_.shape.strides[1] + dy_.offset(y);
  }
  bool locate(int64_t row, int64_t step, Position& at) const override {
    Position y{}, tap{};
    dy_.split(step, y);
    window_.split(row, tap);
    for (int i = 0; i < window_.axes() && flips_; ++i) tap[i] = window_.extent(i) - 1 - tap[i];
    return position_in_x(a_grid_, y, tap, at);
  }

  Grid dy_;
  bool flips_ = false;
};

}  // namespace

std::unique_ptr<ContractionGather> make_convolution_gather(const fusion::FusionGroup& group,
                                                           ir::ShapeTable shapes,
                                                           const PlainInputs& inputs) {
  const ir::Node& node = group.node(group.anchor);
  const ops::ConvolutionParts parts = *ops::find_parts(node.operation);
  const auto shape = [&](ops::ConvolutionPort port) -> const ir::Shape& {
    return shapes[static_cast<size_t>(port.of(node.inputs, node.outputs))];
  };
  const int64_t channels = shape(parts.x).dims[1], group_channels = shape(parts.w).dims[1];
  const int64_t groups = group_channels == 0 ? 1 : std::max<int64_t>(channels / group_channels, 1);
  if (const auto* dgrad = group.anchor_as<graph::Conv_dgrad_attributes>())
    return std::make_unique<ImageGradientGather>(*dgrad, inputs[parts.y.port], inputs[parts.w.port],
                                                 shape(parts.x), groups);
  if (const auto* wgrad = group.anchor_as<graph::Conv_wgrad_attributes>())
    return std::make_unique<FilterGradientGather>(*wgrad, inputs[parts.x.port],
                                                  inputs[parts.y.port], shape(parts.w), groups);
  return std::make_unique<ForwardGather>(*group.anchor_as<graph::Conv_fprop_attributes>(),
                                         inputs[parts.x.port], inputs[parts.w.port], shape(parts.y),
                                         groups);
}

}  // namespace warploom::cpu
