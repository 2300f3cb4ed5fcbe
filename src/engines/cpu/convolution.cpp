#include "engines/cpu/convolution.h"

#include "engines/cpu/bound_convolution.h"
#include "engines/cpu/group_checks.h"

namespace warploom::cpu {
namespace {

using graph::Conv_fprop_attributes;

constexpr TileShape kPrologueTile{32, 64};

}  // namespace

engine::EngineInfo ConvolutionEngine::info() const {
  return {.name = "cpu.conv",
          .knobs = {{KnobType_t::TILE_M, 4096, 8, 1}, {KnobType_t::SPLIT_COLS, 64, 1, 1}}};
}

engine::Verdict ConvolutionEngine::supports(const fusion::FusionGroup& group,
                                            const Device& device) const {
  constexpr std::string_view kAnchor = "one forward convolution";
  if (auto verdict = check_anchor(group, fusion::AnchorKind::kContraction, kAnchor);
      !verdict.is_supported)
    return verdict;
  if (!group.anchor_as<Conv_fprop_attributes>())
    return refuse(kAnchor, group.anchor, ir::kNoTensor, anchor_tag(group), "CONV_FPROP");
  if (auto verdict = check_group(group); !verdict.is_supported) return verdict;
  const ir::Node& node = group.node(group.anchor);
  for (const fusion::Prologue& prologue : group.prologues)
    if (prologue.port != Conv_fprop_attributes::X)
      return refuse("pointwise work before a convolution is on its image", group.anchor,
                    node.inputs[prologue.port], "on the filter", "on the image");
  int64_t depth = 1;
  const std::vector<int64_t>& filter = group.tensor(node.inputs[1]).shape.dims;
  for (size_t axis = 1; axis < filter.size(); ++axis) depth *= filter[axis];
  return check_contraction(group, *machine_for(device).kernels, depth);
}

std::vector<engine::KnobSettings> ConvolutionEngine::configurations(
    const fusion::FusionGroup& group, const Device& device) const {
  const GemmKernels& kernels = *choose_kernels(group, *machine_for(device).kernels);
  const ConvolutionProblem problem(group, declared_shapes(group));
  const int64_t rows = contraction_tile(kernels, problem.group_outputs).rows;
  std::vector<engine::KnobSettings> all;
  for (int64_t tiles : {8, 4, 16, 2}) all.push_back({{KnobType_t::TILE_M, tiles * rows}});
  return all;
}

Result<std::unique_ptr<const CpuKernel>> ConvolutionEngine::make_kernel(
    const fusion::FusionGroup& group, const engine::KnobSettings& knobs,
    const Machine& machine) const {
  auto program = std::make_shared<ConvolutionProgram>();
  program->group = group;
  program->machine = machine;
  program->knobs = knobs;
  program->kernels = choose_kernels(group, *machine.kernels);
  if (!program->kernels)
    return error_t{error_code_t::GRAPH_NOT_SUPPORTED,
                   "cpu.conv: no micro-kernel for the types of " + group.node(group.anchor).name};
  program->epilogue = compile_epilogue(group, *program->kernels);
  for (const fusion::Prologue& prologue : group.prologues) {
    CompileOptions options;
    options.shape = kPrologueTile;
    options.tile_store = program->kernels->a_type;
    program->prologue = compile_expression(group, prologue.expression, options);
  }
  return std::unique_ptr<const CpuKernel>(
      std::make_unique<SharedProgramKernel<ConvolutionProgram, BoundConvolution>>(
          std::move(program)));
}

}  // namespace warploom::cpu
