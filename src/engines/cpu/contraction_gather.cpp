#include "engines/cpu/contraction_gather.h"

#include <algorithm>
#include <cstring>

namespace warploom::cpu {
namespace {

void fill(void* target, DataType_t type, int64_t stride, int64_t n, double value,
          const KernelTable& kernels) {
  kernels.convert(&value, DataType_t::DOUBLE, 0, target, type, stride, n);
}

class MatmulGather final : public ContractionGather {
 public:
  MatmulGather(const fusion::FusionGroup& group, ir::ShapeTable shapes, const PlainInputs& inputs)
      : a_(inputs[graph::Matmul_attributes::A]),
        b_(inputs[graph::Matmul_attributes::B]),
        padding_(group.anchor_as<graph::Matmul_attributes>()->get_padding()) {
    for (size_t i = 0; i < 3; ++i) overrides_[i] = inputs[graph::Matmul_attributes::M_override + i];
    result_ = shapes[static_cast<size_t>(group.node(group.anchor).outputs[0])];
    const auto rank = result_.dims.size();
    rows = 1;
    for (size_t axis = 0; axis + 1 < rank; ++axis) rows *= result_.dims[axis];
    columns = columns_per_group = result_.dims[rank - 1];
    rows_per_batch = result_.dims[rank - 2];
    depth = a_.shape.dims[rank - 1];
    column_axis = static_cast<int>(rank) - 1;
  }

  void gather_a(const Memory& memory, int64_t row, int64_t, int64_t begin, int64_t n, void* target,
                DataType_t type) const override {
    const int64_t batch = row / rows_per_batch, m = row % rows_per_batch;
    const auto rank = a_.shape.dims.size();
    int64_t inside = limit(memory, kK, batch, depth);
    if (m >= limit(memory, kM, batch, rows_per_batch)) inside = 0;
    copy(memory, a_, batch_offset(a_, batch) + m * a_.shape.strides[rank - 2],
         a_.shape.strides[rank - 1], inside, begin, n, target, type, 1);
  }

  void gather_b(const Memory& memory, int64_t row, int64_t column, int64_t begin, int64_t n,
                void* target, DataType_t type, int64_t stride) const override {
    const int64_t batch = row / rows_per_batch;
    const auto rank = b_.shape.dims.size();
    int64_t inside = limit(memory, kK, batch, depth);
    if (column >= limit(memory, kN, batch, columns)) inside = 0;
    copy(memory, b_, batch_offset(b_, batch) + column * b_.shape.strides[rank - 1],
         b_.shape.strides[rank - 2], inside, begin, n, target, type, stride);
  }

 private:
  enum Override { kM, kN, kK };

  // An operand's batch dim may divide the result's: each entry then serves a run of batches.
  int64_t batch_offset(const PlainTensor& tensor, int64_t batch) const {
    int64_t offset = 0;
    for (size_t axis = result_.dims.size() - 2; axis-- > 0; batch /= result_.dims[axis]) {
      const int64_t at = batch % result_.dims[axis];
      offset += at * tensor.shape.dims[axis] / result_.dims[axis] * tensor.shape.strides[axis];
    }
    return offset;
  }

  int64_t limit(const Memory& memory, Override which, int64_t batch, int64_t most) const {
    const PlainTensor& sizes = overrides_[which];
    if (!sizes) return most;
    int64_t value = 0;
    memory.kernels->convert(sizes.data(memory.pointers, memory.workspace) +
                                batch_offset(sizes, batch) * sizes.element_bytes(),
                            sizes.type, 1, &value, DataType_t::INT64, 1, 1);
    return std::clamp(value, int64_t{0}, most);
  }

  void copy(const Memory& memory, const PlainTensor& tensor, int64_t offset, int64_t step,
            int64_t inside, int64_t begin, int64_t n, void* target, DataType_t type,
            int64_t stride) const {
    const int64_t real = std::clamp(inside - begin, int64_t{0}, n);
    if (real > 0)
      memory.kernels->convert(tensor.data(memory.pointers, memory.workspace) +
                                  (offset + begin * step) * tensor.element_bytes(),
                              tensor.type, step, target, type, stride, real);
    if (real < n)
      fill(static_cast<std::byte*>(target) + real * stride * detail::get_data_type_size(type), type,
           stride, n - real, padding_, *memory.kernels);
  }

  PlainTensor a_, b_, overrides_[3];
  double padding_;
  ir::Shape result_;
};

class ConvolutionGather final : public ContractionGather {
 public:
  ConvolutionGather(const fusion::FusionGroup& group, ir::ShapeTable shapes,
                    const PlainInputs& inputs)
      : x_(inputs[graph::Conv_fprop_attributes::X]),
        w_(inputs[graph::Conv_fprop_attributes::W]),
        attributes_(*group.anchor_as<graph::Conv_fprop_attributes>()) {
    result_ = shapes[static_cast<size_t>(group.node(group.anchor).outputs[0])];
    spatial_ = static_cast<int>(result_.dims.size()) - 2;
    channels_ = w_.shape.dims[1];
    rows = result_.dims[0];
    taps_ = 1;
    for (int i = 0; i < spatial_; ++i) {
      rows *= result_.dims[static_cast<size_t>(i) + 2];
      taps_ *= w_.shape.dims[static_cast<size_t>(i) + 2];
    }
    rows_per_batch = std::max<int64_t>(rows, 1);
    columns = result_.dims[1];
    const int64_t groups = channels_ == 0 ? 1 : std::max<int64_t>(x_.shape.dims[1] / channels_, 1);
    columns_per_group = std::max<int64_t>(columns / groups, 1);
    depth = taps_ * channels_;
    column_axis = 1;
  }

  void gather_a(const Memory& memory, int64_t row, int64_t column, int64_t begin, int64_t n,
                void* target, DataType_t type) const override {
    int64_t at[3];
    row = split(row, at);
    const int64_t base =
        row * x_.shape.strides[0] + column / columns_per_group * channels_ * x_.shape.strides[1];
    for_each_tap(begin, n, [&](int64_t tap, int64_t channel, int64_t count, int64_t done) {
      int64_t position[3];
      auto* to = static_cast<std::byte*>(target) + done * detail::get_data_type_size(type);
      if (!locate(at, tap, position)) return fill(to, type, 1, count, 0, *memory.kernels);
      int64_t offset = base + channel * x_.shape.strides[1];
      for (int i = 0; i < spatial_; ++i)
        offset += position[i] * x_.shape.strides[static_cast<size_t>(i) + 2];
      memory.kernels->convert(
          x_.data(memory.pointers, memory.workspace) + offset * x_.element_bytes(), x_.type,
          x_.shape.strides[1], to, type, 1, count);
    });
  }

  bool marks_outside() const override { return true; }

  void mark_outside(int64_t row, int64_t begin, int64_t n, uint8_t* flags) const override {
    int64_t at[3], position[3];
    split(row, at);
    for_each_tap(begin, n, [&](int64_t tap, int64_t, int64_t count, int64_t done) {
      std::fill(flags + done, flags + done + count, !locate(at, tap, position));
    });
  }

  void gather_b(const Memory& memory, int64_t, int64_t column, int64_t begin, int64_t n,
                void* target, DataType_t type, int64_t stride) const override {
    const bool flips = attributes_.get_convolution_mode() == ConvolutionMode_t::CONVOLUTION;
    for_each_tap(begin, n, [&](int64_t tap, int64_t channel, int64_t count, int64_t done) {
      int64_t offset = column * w_.shape.strides[0] + channel * w_.shape.strides[1];
      for (int i = spatial_; i-- > 0;) {
        const auto axis = static_cast<size_t>(i) + 2;
        int64_t r = tap % w_.shape.dims[axis];
        tap /= w_.shape.dims[axis];
        if (flips) r = w_.shape.dims[axis] - 1 - r;
        offset += r * w_.shape.strides[axis];
      }
      memory.kernels->convert(
          w_.data(memory.pointers, memory.workspace) + offset * w_.element_bytes(), w_.type,
          w_.shape.strides[1],
          static_cast<std::byte*>(target) + done * stride * detail::get_data_type_size(type), type,
          stride, count);
    });
  }

 private:
  // The output position of a row; returns the image.
  int64_t split(int64_t row, int64_t (&at)[3]) const {
    for (int i = spatial_; i-- > 0;) {
      const int64_t extent = result_.dims[static_cast<size_t>(i) + 2];
      at[i] = row % extent;
      row /= extent;
    }
    return row;
  }

  // Where a tap reads; false outside the image.
  bool locate(const int64_t (&at)[3], int64_t tap, int64_t (&position)[3]) const {
    bool is_inside = true;
    for (int i = spatial_; i-- > 0;) {
      const auto axis = static_cast<size_t>(i) + 2, field = static_cast<size_t>(i);
      position[i] = at[i] * attributes_.get_stride()[field] +
                    tap % w_.shape.dims[axis] * attributes_.get_dilation()[field] -
                    attributes_.get_pre_padding()[field];
      tap /= w_.shape.dims[axis];
      is_inside &= position[i] >= 0 && position[i] < x_.shape.dims[axis];
    }
    return is_inside;
  }

  // Depth runs over taps, and over the channels of each: fn(tap, first channel, channels, done).
  template <class Function>
  void for_each_tap(int64_t begin, int64_t n, Function&& fn) const {
    for (int64_t done = 0; done < n;) {
      const int64_t tap = (begin + done) / channels_, channel = (begin + done) % channels_;
      const int64_t count = std::min(channels_ - channel, n - done);
      fn(tap, channel, count, done);
      done += count;
    }
  }

  PlainTensor x_, w_;
  graph::Conv_fprop_attributes attributes_;
  ir::Shape result_;
  int spatial_ = 0;
  int64_t channels_ = 0, taps_ = 1;
};

}  // namespace

std::unique_ptr<ContractionGather> make_contraction_gather(const fusion::FusionGroup& group,
                                                           ir::ShapeTable shapes,
                                                           const PlainInputs& inputs) {
  if (group.anchor_as<graph::Matmul_attributes>())
    return std::make_unique<MatmulGather>(group, shapes, inputs);
  return std::make_unique<ConvolutionGather>(group, shapes, inputs);
}

}  // namespace warploom::cpu
