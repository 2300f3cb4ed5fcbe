#include "engines/cpu/kernel_epilogue.h"

#include <algorithm>
#include <array>
#include <limits>

namespace warploom::cpu {
namespace {

/// The operands and clips of a program that is no more than clip(anchor + bias) and a store.
struct SimpleProgram {
  int result = -1, bias = -1;
  bool computes = false;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
};

/// Whether the instruction is clip(sum + bias), the bias or the clip possibly absent.
bool adds_and_clips(const TileInstruction& instruction, int32_t sum, int32_t bias) {
  const bool is_affine = instruction.opcode == TileOpcode::kAffine;
  if (is_affine && instruction.inputs[1] >= 0) return false;  // scales
  const TilePointwise& pointwise = instruction.pointwise;
  const bool clips = pointwise.mode == PointwiseMode_t::RELU_FWD;
  if (clips && pointwise.relu_lower_clip_slope != 0.0) return false;
  if (!clips && !is_affine && pointwise.mode != PointwiseMode_t::ADD) return false;
  const auto uses = [&](int32_t slot) {
    return std::count(std::begin(instruction.inputs), std::end(instruction.inputs), slot);
  };
  const auto absent = uses(-1);
  return uses(sum) == 1 && absent + (bias >= 0 ? uses(bias) : 0) == 3 && absent >= 2;
}

std::optional<SimpleProgram> find_simple_program(const TileProgramView& program) {
  if (program.compute != TileCompute::kFloat) return std::nullopt;
  SimpleProgram simple;
  int32_t value = -1, bias = -1;
  for (int i = 0; i < program.instruction_count; ++i) {
    const TileInstruction& instruction = program.instructions[i];
    switch (instruction.opcode) {
      case TileOpcode::kAnchor:
        value = instruction.result;
        break;
      case TileOpcode::kLoad:
        if (bias >= 0 || simple.computes || instruction.type != DataType_t::FLOAT)
          return std::nullopt;
        bias = instruction.result;
        simple.bias = instruction.operand;
        break;
      case TileOpcode::kPointwise:
      case TileOpcode::kAffine:
        if (simple.computes || value < 0 || !adds_and_clips(instruction, value, bias))
          return std::nullopt;
        simple.computes = true;
        value = instruction.result;
        if (instruction.pointwise.mode == PointwiseMode_t::RELU_FWD) {
          simple.lower = instruction.pointwise.relu_lower_clip;
          simple.upper = instruction.pointwise.relu_upper_clip;
        }
        break;
      case TileOpcode::kStore:
        if (instruction.type != DataType_t::FLOAT || value < 0 || instruction.inputs[0] != value ||
            i + 1 != program.instruction_count)
          return std::nullopt;
        simple.result = instruction.operand;
        return simple;
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

/// Added where there is no bias: unlike 0, it leaves the sign of a zero alone.
constexpr int kMostColumns = 64;
constexpr auto kNegativeZeros = [] {
  std::array<float, kMostColumns> zeros{};
  zeros.fill(-0.0F);
  return zeros;
}();

}  // namespace

std::optional<KernelEpilogue> KernelEpilogue::make(const BoundExpression& epilogue,
                                                   const GemmKernels& kernels, int64_t columns) {
  if (!kernels.finishes || !kernels.fits(columns)) return std::nullopt;
  const auto simple = find_simple_program(epilogue.compiled().program.view());
  if (!simple) return std::nullopt;
  const auto result = epilogue.matrix(simple->result);
  if (!result || result->column_stride != 1) return std::nullopt;
  KernelEpilogue found;
  found.result_ = *result;
  if (simple->bias >= 0) {
    found.bias_ = epilogue.matrix(simple->bias);
    if (!found.bias_ || found.bias_->row_stride != 0 || found.bias_->column_stride != 1)
      return std::nullopt;
  }
  found.computes_ = simple->computes;
  found.lower_ = static_cast<float>(simple->lower);
  found.upper_ = static_cast<float>(simple->upper);
  return found;
}

void KernelEpilogue::aim(GemmTile& tile, std::span<void* const> pointers, int64_t row,
                         int64_t column) const {
  tile.c = static_cast<float*>(pointers[static_cast<size_t>(result_.pointer)]) +
           row * result_.row_stride + column;
  tile.c_row_stride = result_.row_stride * static_cast<int64_t>(sizeof(float));
  if (!computes_) return;
  tile.bias =
      bias_ ? static_cast<const float*>(pointers[static_cast<size_t>(bias_->pointer)]) + column
            : kNegativeZeros.data();
  tile.lower = lower_;
  tile.upper = upper_;
}

}  // namespace warploom::cpu
