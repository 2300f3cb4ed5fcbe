#include "engines/cpu/accumulators.h"

#include <algorithm>

namespace warploom::cpu {
namespace {

constexpr int64_t kPiece = 4096;          // accumulators handled at a time
constexpr int64_t kParallelFrom = 65536;  // accumulators worth sharing among threads

// Elements [begin, end) of a row-major sequence to a tensor of any strides.
void scatter(const BoundReduction& reduction, const std::byte* source, int64_t begin, int64_t end,
             std::byte* target, const KernelTable& kernels) {
  const ir::Shape& shape = reduction.result;
  const DataType_t source_type = reduction.integer ? DataType_t::INT64 : DataType_t::DOUBLE;
  const int64_t element = detail::get_data_type_size(reduction.type);
  const int rank = shape.rank();
  // The last axis that has more than one element makes the runs.
  int inner = rank - 1;
  while (inner > 0 && shape.dims[static_cast<size_t>(inner)] == 1) --inner;
  const int64_t length = rank == 0 ? 1 : shape.dims[static_cast<size_t>(inner)];
  const int64_t stride = rank == 0 ? 0 : shape.strides[static_cast<size_t>(inner)];
  while (begin < end) {
    int64_t rest = begin / length, within = begin % length, offset = within * stride;
    for (int axis = inner - 1; axis >= 0; --axis) {
      auto a = static_cast<size_t>(axis);
      offset += rest % shape.dims[a] * shape.strides[a];
      rest /= shape.dims[a];
    }
    int64_t n = std::min(end - begin, length - within);
    kernels.convert(source, source_type, 1, target + offset * element, reduction.type, stride, n);
    source += n * static_cast<int64_t>(sizeof(double));
    begin += n;
  }
}

}  // namespace

void start_reductions(const BoundExpression& expression, std::byte* workspace,
                      const Machine& machine) {
  for (const BoundReduction& reduction : expression.reductions()) {
    const int64_t total = reduction.slices() * reduction.volume;
    std::byte* base = workspace + reduction.offset;
    machine.run(divide_up(total, kPiece), total >= kParallelFrom, [&](int64_t piece, int) {
      int64_t begin = piece * kPiece;
      machine.kernels->reduction.fill(reduction.mode, reduction.integer,
                                      base + begin * static_cast<int64_t>(sizeof(double)),
                                      std::min(kPiece, total - begin));
    });
  }
}

void* combine_slices(const BoundReduction& reduction, std::byte* workspace, int64_t begin,
                     int64_t end, const KernelTable& kernels) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(double));
  std::byte* target = workspace + reduction.offset + begin * kBytes;
  const std::byte* source = target;
  for (int64_t slice = 1; slice < reduction.slices(); ++slice) {
    source += reduction.volume * kBytes;
    kernels.reduction.combine(reduction.mode, reduction.integer, target, source, end - begin);
  }
  kernels.reduction.finish(reduction.mode, reduction.integer, target, reduction.count, end - begin);
  return target;
}

void finish_reductions(const BoundExpression& expression, std::span<void* const> pointers,
                       std::byte* workspace, const Machine& machine) {
  for (const BoundReduction& reduction : expression.reductions()) {
    auto* output = static_cast<std::byte*>(pointers[static_cast<size_t>(reduction.pointer)]);
    const int64_t total = reduction.slices() * reduction.volume;
    machine.run(divide_up(reduction.volume, kPiece), total >= kParallelFrom,
                [&](int64_t piece, int) {
                  int64_t begin = piece * kPiece;
                  int64_t end = std::min(begin + kPiece, reduction.volume);
                  auto* values = static_cast<const std::byte*>(
                      combine_slices(reduction, workspace, begin, end, *machine.kernels));
                  scatter(reduction, values, begin, end, output, *machine.kernels);
                });
  }
}

}  // namespace warploom::cpu
