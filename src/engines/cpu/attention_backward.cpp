#include "engines/cpu/attention_backward.h"

#include "base/data_type.h"
#include "engines/cpu/bound_attention_backward.h"
#include "engines/cpu/group_checks.h"

namespace warploom::cpu {
namespace {

using Backward = graph::SDPA_backward_attributes;

/// P = exp(scale score + bias - stats), dS = scale P (dP - D).
TileProgram gradient_program(DataType_t bias_type) {
  TileProgramBuilder builder(TileCompute::kFloat);
  const auto apply = [&](PointwiseMode_t mode, TileValue a, TileValue b = {}) {
    return builder.pointwise({.mode = mode}, a, b);
  };
  const TileValue scale = builder.load(kGradientScale, DataType_t::FLOAT);
  TileValue score =
      apply(PointwiseMode_t::MUL, builder.load(kGradientScores, DataType_t::FLOAT), scale);
  if (bias_type != DataType_t::NOT_SET)
    score = apply(PointwiseMode_t::ADD, score, builder.load(kGradientBias, bias_type));
  const TileValue stats = builder.load(kGradientStats, DataType_t::FLOAT);
  const TileValue probability =
      apply(PointwiseMode_t::EXP, apply(PointwiseMode_t::SUB, score, stats));
  const TileValue change = builder.load(kGradientProbabilities, DataType_t::FLOAT);
  const TileValue dot = builder.load(kGradientDot, DataType_t::FLOAT);
  const TileValue d_score =
      apply(PointwiseMode_t::MUL, apply(PointwiseMode_t::MUL, probability, scale),
            apply(PointwiseMode_t::SUB, change, dot));
  builder.store(kGradientScores, DataType_t::FLOAT, probability);
  builder.store(kGradientProbabilities, DataType_t::FLOAT, d_score);
  return builder.build({28, 64});
}

engine::Verdict check_options(const fusion::FusionGroup& group) {
  const ir::Node& node = group.node(group.anchor);
  const auto* attributes = group.anchor_as<Backward>();
  const auto refuse_option = [&](ir::TensorId tensor, const char* option) {
    return refuse("the gradient of attention has scale, bias, padding mask and bounds",
                  group.anchor, tensor, option, "none");
  };
  if (attributes->get_alibi_mask()) return refuse_option(ir::kNoTensor, "alibi_mask");
  if (attributes->get_dropout_probability())
    return refuse_option(port_tensor(node, Backward::Seed), "dropout");
  if (const ir::TensorId mask = port_tensor(node, Backward::Dropout_mask); mask != ir::kNoTensor)
    return refuse_option(mask, "a dropout mask");
  for (size_t port : {Backward::dBias, Backward::DSINK_TOKEN})
    if (node.outputs[port] != ir::kNoTensor)
      return refuse_option(node.outputs[port], "a gradient summed over batches");
  return engine::Verdict::yes();
}

}  // namespace

engine::EngineInfo AttentionBackwardEngine::info() const {
  return {.name = "cpu.attention_backward", .knobs = {}};
}

engine::Verdict AttentionBackwardEngine::supports(const fusion::FusionGroup& group,
                                                  const Device& device) const {
  if (!group.anchor_as<Backward>())
    return refuse("one gradient of attention", group.anchor, ir::kNoTensor, anchor_tag(group),
                  "SDPA_BWD");
  if (auto verdict = check_group(group); !verdict.is_supported) return verdict;
  if (group.nodes.size() != 1)
    return refuse("nothing is computed with the gradients", group.anchor, ir::kNoTensor,
                  std::to_string(group.nodes.size()) + " operations", "1");
  if (auto verdict = check_options(group); !verdict.is_supported) return verdict;
  const ir::Node& node = group.node(group.anchor);
  for (size_t port = Backward::Q; port <= Backward::Stats; ++port)
    if (const DataType_t type = group.tensor(node.inputs[port]).data_type; !base::fits_float(type))
      return refuse("gradients are computed in float", group.anchor, node.inputs[port],
                    std::string(to_string(type)), "FLOAT, HALF or BFLOAT16");
  if (node.compute_data_type == DataType_t::DOUBLE)
    return refuse("gradients are computed in float", group.anchor, ir::kNoTensor,
                  "compute data type DOUBLE", "FLOAT");
  if (!machine_for(device).kernels->gemm_float)
    return refuse("there is a micro-kernel for float", group.anchor, ir::kNoTensor,
                  device.architecture, "generic");
  return engine::Verdict::yes();
}

Result<std::unique_ptr<const CpuKernel>> AttentionBackwardEngine::make_kernel(
    const fusion::FusionGroup& group, const engine::KnobSettings&, const Machine& machine) const {
  auto program = std::make_shared<AttentionBackwardProgram>();
  program->group = group;
  program->machine = machine;
  program->kernels = &machine.kernels->gemm_float;
  const ir::TensorId bias = port_tensor(group.node(group.anchor), Backward::Bias);
  program->gradient =
      gradient_program(bias == ir::kNoTensor ? DataType_t::NOT_SET : group.tensor(bias).data_type);
  return std::unique_ptr<const CpuKernel>(
      std::make_unique<SharedProgramKernel<AttentionBackwardProgram, BoundAttentionBackward>>(
          std::move(program)));
}

}  // namespace warploom::cpu
