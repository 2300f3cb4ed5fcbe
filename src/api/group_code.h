#pragma once
/// A fusion group written as code that a person reads.
#include <string>
#include <vector>

#include <warploom/fusion_group.h>

namespace warploom {

struct CodeLine {
  std::string code;    ///< "t7 = relu(t6)"
  std::string remark;  ///< what becomes of the value, or its name
};

/// "t7": tensors are called by their uids, which variant packs use too.
std::string variable(const ir::FrozenGraph& graph, ir::TensorId tensor);

/// Prologues, anchor, epilogue and reductions of a group, in the order of evaluation.
std::vector<CodeLine> code_of(const fusion::FusionGroup& group);

}  // namespace warploom
