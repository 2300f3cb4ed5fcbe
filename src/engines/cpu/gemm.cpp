#include "engines/cpu/gemm.h"

#include "engines/cpu/bound_gemm.h"
#include "engines/cpu/group_checks.h"

namespace warploom::cpu {
namespace {

using graph::Matmul_attributes;

constexpr TileShape kPrologueTile{32, 64};

}  // namespace

engine::EngineInfo GemmEngine::info() const {
  return {.name = "cpu.gemm",
          .knobs = {{KnobType_t::TILE_M, 256, 8, 1},
                    {KnobType_t::TILEK, 4096, 64, 64},
                    {KnobType_t::SPLIT_COLS, 64, 1, 1}}};
}

engine::Verdict GemmEngine::supports(const fusion::FusionGroup& group, const Device& device) const {
  constexpr std::string_view kAnchor = "one matmul";
  if (auto verdict = check_anchor(group, fusion::AnchorKind::kContraction, kAnchor);
      !verdict.is_supported)
    return verdict;
  if (!group.anchor_as<Matmul_attributes>())
    return refuse(kAnchor, group.anchor, ir::kNoTensor, anchor_tag(group), "MATMUL");
  if (auto verdict = check_group(group); !verdict.is_supported) return verdict;
  const ir::Node& node = group.node(group.anchor);
  for (size_t port : {Matmul_attributes::M_override, Matmul_attributes::N_override,
                      Matmul_attributes::K_override})
    if (port < node.inputs.size() && node.inputs[port] != ir::kNoTensor)
      return refuse("sizes are those of the tensors", group.anchor, node.inputs[port],
                    "an override of a size", "none");
  return check_contraction(group, *machine_for(device).kernels,
                           group.tensor(node.inputs[0]).shape.dims.back());
}

std::vector<engine::KnobSettings> GemmEngine::configurations(const fusion::FusionGroup& group,
                                                             const Device& device) const {
  const GemmKernels& kernels = *choose_kernels(group, *machine_for(device).kernels);
  const TileShape tile = contraction_tile(kernels);
  std::vector<engine::KnobSettings> all;
  auto add = [&](int64_t rows, int64_t depth) {
    all.push_back({{KnobType_t::TILE_M, rows}, {KnobType_t::TILEK, depth}});
  };
  add(2 * tile.rows, 512);
  add(tile.rows, 512);
  add(4 * tile.rows, 512);
  add(2 * tile.rows, 256);
  add(tile.rows, 256);
  return all;
}

Result<std::unique_ptr<const CpuKernel>> GemmEngine::make_kernel(const fusion::FusionGroup& group,
                                                                 const engine::KnobSettings& knobs,
                                                                 const Machine& machine) const {
  auto program = std::make_shared<GemmProgram>();
  program->group = group;
  program->machine = machine;
  program->knobs = knobs;
  program->kernels = choose_kernels(group, *machine.kernels);
  if (!program->kernels)
    return error_t{error_code_t::GRAPH_NOT_SUPPORTED,
                   "cpu.gemm: no micro-kernel for the types of " + group.node(group.anchor).name};
  program->epilogue = compile_epilogue(group, *program->kernels);
  for (const fusion::Prologue& prologue : group.prologues) {
    CompileOptions options;
    options.shape = kPrologueTile;
    options.tile_store = program->kernels->a_type;
    program->prologues[prologue.port] = compile_expression(group, prologue.expression, options);
  }
  return std::unique_ptr<const CpuKernel>(
      std::make_unique<SharedProgramKernel<GemmProgram, BoundGemm>>(std::move(program)));
}

}  // namespace warploom::cpu
