#include "engines/cpu/generic.h"

#include "engines/cpu/attention_problem.h"
#include "engines/cpu/group_checks.h"
#include "engines/cpu/map.h"
#include "engines/cpu/move.h"
#include "engines/cpu/norm.h"
#include "engines/cpu/plain_attention.h"
#include "engines/cpu/plain_contraction.h"
#include "engines/cpu/reduce.h"

namespace warploom::cpu {

engine::EngineInfo GenericEngine::info() const {
  return {.name = "cpu.generic", .knobs = {}, .is_fallback = true};
}

engine::Verdict GenericEngine::supports(const fusion::FusionGroup& group, const Device&) const {
  if (group.anchor_kind == fusion::AnchorKind::kNorm) return check_norm(group);
  if (group.anchor_kind == fusion::AnchorKind::kComposedAttention)
    return refuse("operations one by one, with what is pointwise around them", group.anchor,
                  ir::kNoTensor, "two matmuls and a softmax", "a kernel for each");
  if (group.anchor_kind == fusion::AnchorKind::kOther)
    return refuse("a kind of operation that has kernels here", group.anchor, ir::kNoTensor,
                  anchor_tag(group),
                  "pointwise, contraction, reduction, normalization, movement or attention");
  if (group.anchor_kind == fusion::AnchorKind::kAttention)
    if (auto verdict = check_attention_options(group); !verdict.is_supported) return verdict;
  return check_group(group);
}

Result<std::unique_ptr<const CpuKernel>> GenericEngine::make_kernel(
    const fusion::FusionGroup& group, const engine::KnobSettings&, const Machine& machine) const {
  switch (group.anchor_kind) {
    case fusion::AnchorKind::kNone:
      return make_map_kernel(group, machine);
    case fusion::AnchorKind::kReduction:
      return make_reduce_kernel(group, machine);
    case fusion::AnchorKind::kMovement:
      return make_move_kernel(group, machine);
    case fusion::AnchorKind::kContraction:
      return make_plain_contraction_kernel(group, machine);
    case fusion::AnchorKind::kAttention:
      return make_plain_attention_kernel(group, machine);
    case fusion::AnchorKind::kNorm:
      return make_norm_kernel(group, machine);
    case fusion::AnchorKind::kComposedAttention:
    case fusion::AnchorKind::kOther:
      break;
  }
  return error_t{error_code_t::GRAPH_NOT_SUPPORTED, "cpu.generic: a group of an unknown kind"};
}

}  // namespace warploom::cpu
