#include "engines/cpu/attention.h"

#include "base/data_type.h"
#include "engines/cpu/bound_attention.h"
#include "engines/cpu/group_checks.h"

namespace warploom::cpu {
namespace {

using SDPA = graph::SDPA_attributes;

constexpr TileShape kModifierTile{28, 64};  // of scores

TileProgram bias_program(DataType_t bias_type) {
  TileProgramBuilder builder(TileCompute::kFloat);
  const TileValue scores = builder.load(kScores, DataType_t::FLOAT);
  const TileValue scale = builder.load(kScale, DataType_t::FLOAT);
  const TileValue bias = builder.load(kBias, bias_type);
  const TileValue scaled = builder.pointwise({.mode = PointwiseMode_t::MUL}, scores, scale);
  const TileValue sum = builder.pointwise({.mode = PointwiseMode_t::ADD}, scaled, bias);
  builder.store(kScores, DataType_t::FLOAT, sum);
  return builder.build(kModifierTile);
}

// The parts of a composed attention: what is multiplied, and in which arithmetic.
engine::Verdict check_composed(const fusion::FusionGroup& group) {
  using Matmul = graph::Matmul_attributes;
  const fusion::ComposedAttention& parts = *group.composed_attention;
  const ir::Node& scores = group.node(parts.score_matmul);
  for (ir::TensorId id : {scores.inputs[Matmul::A], scores.inputs[Matmul::B],
                          group.node(group.anchor).inputs[Matmul::B]})
    if (const DataType_t type = group.tensor(id).data_type; !base::fits_float(type))
      return refuse("scores are computed in float", group.anchor, id, std::string(to_string(type)),
                    "FLOAT, HALF or BFLOAT16");
  for (ir::NodeId id : group.nodes)
    if (const DataType_t type = group.node(id).compute_data_type; !base::fits_float(type))
      return refuse("scores are computed in float", id, ir::kNoTensor, std::string(to_string(type)),
                    "FLOAT, HALF or BFLOAT16");
  if (parts.scores.values.front().is_rounded)
    return refuse("scores are computed in float", parts.score_matmul, scores.outputs[0],
                  std::string(to_string(group.tensor(scores.outputs[0]).data_type)),
                  "FLOAT, HALF or BFLOAT16");
  if (choose_compute(group, parts.scores) != TileCompute::kFloat)
    return refuse("scores are modified in float", parts.score_matmul, scores.outputs[0],
                  "an operand of type DOUBLE or INT64", "FLOAT, HALF, BFLOAT16 or INT32");
  return engine::Verdict::yes();
}

}  // namespace

engine::EngineInfo AttentionEngine::info() const {
  return {.name = "cpu.attention",
          .knobs = {{KnobType_t::TILE_M, 256, 8, 1}, {KnobType_t::TILE_N, 4096, 32, 32}}};
}

engine::Verdict AttentionEngine::supports(const fusion::FusionGroup& group,
                                          const Device& device) const {
  const bool is_composed = group.anchor_kind == fusion::AnchorKind::kComposedAttention;
  if (!is_composed)
    if (auto verdict = check_anchor(group, fusion::AnchorKind::kAttention, "one attention");
        !verdict.is_supported)
      return verdict;
  if (auto verdict = check_group(group); !verdict.is_supported) return verdict;
  if (!machine_for(device).kernels->gemm_float)
    return refuse("there is a micro-kernel for float", group.anchor, ir::kNoTensor,
                  device.architecture, "generic");
  if (is_composed) return check_composed(group);
  if (auto verdict = check_attention_options(group); !verdict.is_supported) return verdict;
  const ir::Node& node = group.node(group.anchor);
  if (!group.prologues.empty())
    return refuse("nothing is computed before an attention", group.anchor,
                  node.inputs[group.prologues.front().port], "pointwise work on an input", "none");
  for (size_t port : {SDPA::Q, SDPA::K, SDPA::V}) {
    const DataType_t type = group.tensor(node.inputs[port]).data_type;
    if (!base::fits_float(type))
      return refuse("scores are computed in float", group.anchor, node.inputs[port],
                    std::string(to_string(type)), "FLOAT, HALF or BFLOAT16");
  }
  if (node.compute_data_type == DataType_t::DOUBLE)
    return refuse("scores are computed in float", group.anchor, ir::kNoTensor,
                  "compute data type DOUBLE", "FLOAT");
  return engine::Verdict::yes();
}

std::vector<engine::KnobSettings> AttentionEngine::configurations(const fusion::FusionGroup&,
                                                                  const Device& device) const {
  const int64_t rows = contraction_tile(machine_for(device).kernels->gemm_float).rows;
  std::vector<engine::KnobSettings> all;
  auto add = [&](int64_t queries, int64_t keys) {
    all.push_back({{KnobType_t::TILE_M, queries}, {KnobType_t::TILE_N, keys}});
  };
  add(2 * rows, 256);
  add(4 * rows, 256);
  add(2 * rows, 512);
  add(2 * rows, 128);
  return all;
}

Result<std::unique_ptr<const CpuKernel>> AttentionEngine::make_kernel(
    const fusion::FusionGroup& group, const engine::KnobSettings& knobs,
    const Machine& machine) const {
  auto program = std::make_shared<AttentionProgram>();
  program->group = group;
  program->machine = machine;
  program->knobs = knobs;
  program->kernels = &machine.kernels->gemm_float;
  const TileShape tile = contraction_tile(*program->kernels);
  CompileOptions options;
  options.shape = {tile.rows, tile.columns};
  options.anchor_type = DataType_t::FLOAT;
  program->epilogue = compile_expression(group, group.epilogue, options);
  if (group.composed_attention) {
    program->scores = compile_expression(group, group.composed_attention->scores,
                                         {.shape = kModifierTile,
                                          .anchor_type = DataType_t::FLOAT,
                                          .tile_store = DataType_t::FLOAT});
    return std::unique_ptr<const CpuKernel>(
        std::make_unique<SharedProgramKernel<AttentionProgram, BoundAttention>>(
            std::move(program)));
  }
  const ir::TensorId bias = port_tensor(group.node(group.anchor), SDPA::Bias);
  if (bias != ir::kNoTensor) program->bias = bias_program(group.tensor(bias).data_type);
  return std::unique_ptr<const CpuKernel>(
      std::make_unique<SharedProgramKernel<AttentionProgram, BoundAttention>>(std::move(program)));
}

}  // namespace warploom::cpu
