#include "engines/cpu/move.h"

#include <optional>

#include "base/float8.h"
#include "engines/cpu/cost_model.h"
#include "engines/cpu/expression_compiler.h"
#include "engines/cpu/group_checks.h"
#include "engines/cpu/strided_copy.h"

namespace warploom::cpu {
namespace {

struct MoveProgram {
  fusion::FusionGroup group;
  Machine machine;
};

// 8-bit floats are moved as bytes: a conversion would saturate an infinity.
DataType_t moved_type(DataType_t type) {
  return base::is_small_floating(type) ? DataType_t::UINT8 : type;
}

// Where X's elements lie on Y's axes; nullopt where a logical reshape has no common axes.
std::optional<std::vector<CopyAxis>> axes_of(const graph::Reshape_attributes& reshape,
                                             const ir::Shape& x, const ir::Shape& y) {
  if (reshape.get_reshape_mode() == ReshapeMode_t::LOGICAL)
    return common_axes(x.dims, x.strides, y.dims, y.strides);
  std::vector<CopyAxis> axes;
  for (size_t i = 0; i < y.dims.size(); ++i)
    axes.push_back({y.dims[i], y.strides[i], y.strides[i]});
  return axes;
}

std::optional<std::vector<CopyAxis>> axes_of(const graph::Transpose_attributes& transpose,
                                             const ir::Shape& x, const ir::Shape& y) {
  std::vector<CopyAxis> axes;
  for (size_t i = 0; i < y.dims.size(); ++i) {
    auto from = static_cast<size_t>(transpose.get_permutation()[i]);
    axes.push_back({y.dims[i], x.strides[from], y.strides[i]});
  }
  return axes;
}

std::optional<std::vector<CopyAxis>> axes_of(const graph::Slice_attributes& slice,
                                             const ir::Shape& x, const ir::Shape& y) {
  std::vector<CopyAxis> axes;
  for (size_t i = 0; i < y.dims.size(); ++i) {
    const int64_t step = slice.get_strides().empty() ? 1 : slice.get_strides()[i];
    axes.push_back({y.dims[i], x.strides[i] * step, y.strides[i]});
  }
  return axes;
}

std::optional<std::vector<CopyAxis>> axes_of(const graph::Concatenate_attributes&,
                                             const ir::Shape& x, const ir::Shape& y) {
  std::vector<CopyAxis> axes;
  for (size_t i = 0; i < y.dims.size(); ++i)
    axes.push_back({x.dims[i], x.strides[i], y.strides[i]});
  return axes;
}

template <class Other>
std::optional<std::vector<CopyAxis>> axes_of(const Other&, const ir::Shape&, const ir::Shape&) {
  return std::nullopt;
}

int64_t first_element(const graph::Operation& operation, const ir::Shape& x) {
  int64_t offset = 0;
  if (auto* slice = std::get_if<graph::Slice_attributes>(&operation))
    for (size_t i = 0; i < x.strides.size(); ++i)
      offset += slice->get_slices()[i].first * x.strides[i];
  return offset;
}

// Element by element through two odometers: reshapes between dims that have no common axes.
class ReshapeWalk {
 public:
  ReshapeWalk(ir::Shape x, ir::Shape y) : x_(std::move(x)), y_(std::move(y)) {}

  void run(const std::byte* source, DataType_t source_type, std::byte* target,
           DataType_t target_type, const Machine& machine, bool is_parallel) const {
    constexpr int64_t kPiece = 8192;
    const int64_t total = y_.volume();
    const int64_t source_bytes = detail::get_data_type_size(source_type);
    const int64_t target_bytes = detail::get_data_type_size(target_type);
    machine.run(divide_up(total, kPiece), is_parallel, [&](int64_t piece, int) {
      const int64_t end = std::min(total, (piece + 1) * kPiece);
      for (int64_t i = piece * kPiece; i < end; ++i)
        machine.kernels->convert(source + offset(x_, i) * source_bytes, source_type, 1,
                                 target + offset(y_, i) * target_bytes, target_type, 1, 1);
    });
  }

 private:
  static int64_t offset(const ir::Shape& shape, int64_t index) {
    int64_t offset = 0;
    for (size_t axis = shape.dims.size(); axis-- > 0; index /= shape.dims[axis])
      offset += index % shape.dims[axis] * shape.strides[axis];
    return offset;
  }

  ir::Shape x_, y_;
};

/// One input's way to the output.
struct Part {
  size_t pointer = 0;  ///< of the input
  DataType_t type = DataType_t::NOT_SET;
  int64_t source_offset = 0, target_offset = 0;  // bytes
  std::optional<StridedCopy> copy;
  std::optional<ReshapeWalk> walk;  // otherwise
};

class BoundMove final : public CpuBoundKernel {
 public:
  static Result<std::unique_ptr<CpuBoundKernel>> make(std::shared_ptr<const MoveProgram> program,
                                                      ir::ShapeTable shapes) {
    auto bound = std::make_unique<BoundMove>();
    bound->bind(std::move(program), shapes);
    return std::unique_ptr<CpuBoundKernel>(std::move(bound));
  }

  double predicted_microseconds() const override {
    return cpu::predicted_microseconds(work_, program_->machine.kernels->level,
                                       program_->machine.threads());
  }

  error_t launch(void*, std::span<void* const> pointers, void*) const noexcept override {
    auto* target = static_cast<std::byte*>(pointers.back());
    if (!target || work_.bytes == 0) return {};  // a slice that nobody wants copied, or empty
    for (const Part& part : parts_) {
      const auto* source = static_cast<const std::byte*>(pointers[part.pointer]);
      if (part.copy)
        part.copy->run(source + part.source_offset, target + part.target_offset, program_->machine,
                       is_parallel_);
      else
        part.walk->run(source, part.type, target, target_type_, program_->machine, is_parallel_);
    }
    return {};
  }

 private:
  void bind(std::shared_ptr<const MoveProgram> program, ir::ShapeTable shapes) {
    program_ = std::move(program);
    const ir::Node& node = program_->group.node(program_->group.anchor);
    const ir::Shape& y = shapes[static_cast<size_t>(node.outputs[0])];
    target_type_ = moved_type(program_->group.tensor(node.outputs[0]).data_type);
    const int64_t target_bytes = detail::get_data_type_size(target_type_);
    work_.tasks = 64;
    const auto* concatenate = std::get_if<graph::Concatenate_attributes>(&node.operation);
    int64_t begin = 0;  // of an input along the axis
    for (const ir::TensorId input : node.inputs) {
      if (input == ir::kNoTensor) continue;
      const ir::Shape& x = shapes[static_cast<size_t>(input)];
      const DataType_t type = moved_type(program_->group.tensor(input).data_type);
      const int64_t source_bytes = detail::get_data_type_size(type);
      const int64_t elements = concatenate ? x.volume() : y.volume();
      if (elements == 0) continue;
      work_.bytes += static_cast<double>(elements * (source_bytes + target_bytes));
      Part& part = parts_.emplace_back();
      part.type = type;
      part.pointer = static_cast<size_t>(pointer_index(program_->group, input));
      part.source_offset = first_element(node.operation, x) * source_bytes;
      if (concatenate) {
        const auto axis = static_cast<size_t>(*concatenate->get_axis());
        part.target_offset = begin * y.strides[axis] * target_bytes;
        begin += x.dims[axis];
      }
      if (auto axes =
              std::visit([&](const auto& op) { return axes_of(op, x, y); }, node.operation)) {
        part.copy.emplace(*std::move(axes), type, target_type_);
      } else {
        part.walk.emplace(x, y);
        work_.scalar_operations = 10 * static_cast<double>(y.volume());
      }
    }
    is_parallel_ = cpu::predicted_microseconds(work_, program_->machine.kernels->level, 1) >=
                   kParallelMicroseconds;
  }

  std::shared_ptr<const MoveProgram> program_;
  std::vector<Part> parts_;
  DataType_t target_type_ = DataType_t::NOT_SET;
  Work work_;
  bool is_parallel_ = false;
};

}  // namespace

std::unique_ptr<const CpuKernel> make_move_kernel(const fusion::FusionGroup& group,
                                                  const Machine& machine) {
  auto program = std::make_shared<MoveProgram>(MoveProgram{group, machine});
  return std::make_unique<SharedProgramKernel<MoveProgram, BoundMove>>(std::move(program));
}

engine::EngineInfo MoveEngine::info() const {
  return {.name = "cpu.move", .knobs = {}};
}

engine::Verdict MoveEngine::supports(const fusion::FusionGroup& group, const Device&) const {
  auto verdict = check_anchor(group, fusion::AnchorKind::kMovement,
                              "one reshape, transpose, slice or concatenation");
  return verdict.is_supported ? check_group(group) : verdict;
}

Result<std::unique_ptr<const CpuKernel>> MoveEngine::make_kernel(const fusion::FusionGroup& group,
                                                                 const engine::KnobSettings&,
                                                                 const Machine& machine) const {
  return make_move_kernel(group, machine);
}

}  // namespace warploom::cpu
