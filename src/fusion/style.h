#pragma once
#include <cstddef>
#include <string_view>

namespace warploom::fusion {

/// What a partition fuses. Engines differ in what they do well, so several are offered and the
/// predicted times decide.
struct Style {
  std::string_view name;
  bool has_composed_attention = true;  ///< attention written as single operations
  bool has_epilogues = true;           ///< pointwise operations behind an anchor
  bool has_prologues = true;           ///< pointwise operations before an anchor
  bool has_reductions = true;          ///< reductions of what a group computes
  bool has_regions = true;             ///< pointwise operations with each other
  bool has_recomputation = true;       ///< cheap values computed again instead of stored
  /// Bounds of one group, so that kernels have a bounded number of live values and arguments.
  size_t most_values = 64;    ///< of one expression
  size_t most_pointers = 32;  ///< inputs and outputs
};

inline constexpr Style kFullyFused{"fully fused"};
inline constexpr Style kNoComposedAttention{.name = "attention not composed",
                                            .has_composed_attention = false};
inline constexpr Style kNoRecomputation{.name = "nothing computed twice",
                                        .has_recomputation = false};
inline constexpr Style kNoPrologues{.name = "without prologues", .has_prologues = false};
inline constexpr Style kNoReductions{.name = "without reductions in groups",
                                     .has_reductions = false};
inline constexpr Style kEpiloguesOnly{
    .name = "epilogues only", .has_prologues = false, .has_reductions = false};
inline constexpr Style kAnchorsAlone{.name = "anchors alone",
                                     .has_composed_attention = false,
                                     .has_epilogues = false,
                                     .has_prologues = false,
                                     .has_reductions = false};
inline constexpr Style kSingleOperations{.name = "single operations",
                                         .has_composed_attention = false,
                                         .has_epilogues = false,
                                         .has_prologues = false,
                                         .has_reductions = false,
                                         .has_regions = false,
                                         .has_recomputation = false};

/// Most fused first.
inline constexpr Style kStyles[] = {kFullyFused,   kNoComposedAttention, kNoRecomputation,
                                    kNoPrologues,  kNoReductions,        kEpiloguesOnly,
                                    kAnchorsAlone, kSingleOperations};

}  // namespace warploom::fusion
