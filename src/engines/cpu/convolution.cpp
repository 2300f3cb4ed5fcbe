#include "engines/cpu/convolution.h"

#include "engines/cpu/bound_convolution.h"
#include "engines/cpu/bound_filter_gradient.h"
#include "engines/cpu/bound_image_gradient.h"
#include "engines/cpu/group_checks.h"
#include "ops/convolution_parts.h"

namespace warploom::cpu {
namespace {

using graph::Conv_fprop_attributes;

using graph::Conv_dgrad_attributes;
using graph::Conv_wgrad_attributes;

constexpr TileShape kPrologueTile{32, 64};

// Neighbouring pixels are not pairs in every tap's part of the copy: no kernels of pairs.
const GemmKernels* filter_gradient_kernels(const fusion::FusionGroup& group,
                                           const KernelTable& table) {
  const GemmKernels* kernels = choose_kernels(group, table);
  if (kernels == &table.gemm_bfloat16) return &table.gemm_float;
  return kernels == &table.gemm_float || kernels == &table.gemm_double ? kernels : nullptr;
}

Result<std::unique_ptr<const CpuKernel>> make_gradient_kernel(const fusion::FusionGroup& group,
                                                              const engine::KnobSettings& knobs,
                                                              const Machine& machine) {
  const bool is_of_filter = group.anchor_as<Conv_wgrad_attributes>() != nullptr;
  auto program = std::make_shared<ConvolutionGradientProgram>();
  program->group = group;
  program->machine = machine;
  program->knobs = knobs;
  program->kernels = is_of_filter ? filter_gradient_kernels(group, *machine.kernels)
                                  : choose_kernels(group, *machine.kernels);
  if (!program->kernels)
    return error_t{error_code_t::GRAPH_NOT_SUPPORTED,
                   "cpu.conv: no micro-kernel for the types of " + group.node(group.anchor).name};
  program->prologues = stored_prologues(group);
  if (is_of_filter) {
    program->epilogue = compile_expression(
        group, group.epilogue,
        {.shape = contraction_tile(*program->kernels), .anchor_type = sum_type(*program->kernels)});
    return std::unique_ptr<const CpuKernel>(
        std::make_unique<SharedProgramKernel<ConvolutionGradientProgram, BoundFilterGradient>>(
            std::move(program)));
  }
  program->epilogue = compile_epilogue(group, *program->kernels);
  return std::unique_ptr<const CpuKernel>(
      std::make_unique<SharedProgramKernel<ConvolutionGradientProgram, BoundImageGradient>>(
          std::move(program)));
}

}  // namespace

engine::EngineInfo ConvolutionEngine::info() const {
  return {.name = "cpu.conv",
          .knobs = {{KnobType_t::TILE_M, 4096, 8, 1}, {KnobType_t::SPLIT_COLS, 64, 1, 1}}};
}

engine::Verdict ConvolutionEngine::supports(const fusion::FusionGroup& group,
                                            const Device& device) const {
  constexpr std::string_view kAnchor = "one convolution or gradient of one";
  if (auto verdict = check_anchor(group, fusion::AnchorKind::kContraction, kAnchor);
      !verdict.is_supported)
    return verdict;
  const ir::Node& node = group.node(group.anchor);
  const auto parts = ops::find_parts(node.operation);
  if (!parts)
    return refuse(kAnchor, group.anchor, ir::kNoTensor, anchor_tag(group),
                  "CONV_FPROP, CONV_DGRAD or CONV_WGRAD");
  if (auto verdict = check_group(group); !verdict.is_supported) return verdict;
  const KernelTable& kernels = *machine_for(device).kernels;
  if (group.anchor_as<Conv_wgrad_attributes>()) {
    if (auto verdict = check_contraction(group, kernels, 1); !verdict.is_supported) return verdict;
    if (filter_gradient_kernels(group, kernels)) return engine::Verdict::yes();
    return refuse("sums over pixels are of floating-point products", group.anchor, node.inputs[0],
                  std::string(to_string(contraction_types(group).a)),
                  "FLOAT, HALF, BFLOAT16 or DOUBLE");
  }
  const bool is_forward = group.anchor_as<Conv_fprop_attributes>() != nullptr;
  for (const fusion::Prologue& prologue : group.prologues)
    if (is_forward && prologue.port != Conv_fprop_attributes::X)
      return refuse("pointwise work before a convolution is on its image", group.anchor,
                    node.inputs[prologue.port], "on the filter", "on the image");
  // Of a forward convolution channels and taps are summed over; of the image's gradient filters.
  const std::vector<int64_t>& filter =
      group.tensor(parts->w.of(node.inputs, node.outputs)).shape.dims;
  int64_t depth = 1;
  for (size_t axis = 0; axis < filter.size(); ++axis)
    if (axis != (is_forward ? 0u : 1u)) depth *= filter[axis];
  return check_contraction(group, kernels, depth);
}

std::vector<engine::KnobSettings> ConvolutionEngine::configurations(
    const fusion::FusionGroup& group, const Device& device) const {
  if (!group.anchor_as<Conv_fprop_attributes>()) return {engine::KnobSettings{}};
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
  if (group.anchor_as<Conv_dgrad_attributes>() || group.anchor_as<Conv_wgrad_attributes>())
    return make_gradient_kernel(group, knobs, machine);
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
