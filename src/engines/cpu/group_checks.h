#pragma once

#include <warploom/engine.h>

namespace warploom::cpu {

/// What every engine here asks of a group: element types and layouts that the kernels read and
/// write, expressions whose outputs cover their domain.
engine::Verdict check_group(const fusion::FusionGroup& group);

/// No, unless the group's anchor is of this kind.
engine::Verdict check_anchor(const fusion::FusionGroup& group, fusion::AnchorKind kind,
                             std::string_view rule);

/// What there is instead of the anchor that was hoped for, e.g. "CONV_DGRAD".
std::string anchor_tag(const fusion::FusionGroup& group);

/// As in "[16, 64, 56, 56]".
std::string dims_text(const std::vector<int64_t>& dims);

}  // namespace warploom::cpu
