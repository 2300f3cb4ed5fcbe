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

}  // namespace

std::unique_ptr<ContractionGather> make_contraction_gather(const fusion::FusionGroup& group,
                                                           ir::ShapeTable shapes,
                                                           const PlainInputs& inputs) {
  if (group.anchor_as<graph::Matmul_attributes>())
    return std::make_unique<MatmulGather>(group, shapes, inputs);
  return make_convolution_gather(group, shapes, inputs);
}

}  // namespace warploom::cpu
