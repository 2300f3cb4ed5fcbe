#pragma once
/// A partition in the making: every step in one group, groups joined pass by pass.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <warploom/fusion_group.h>

#include "fusion/style.h"

namespace warploom::fusion {

using StepId = int32_t;
using GroupId = int32_t;
inline constexpr int32_t kNoId = -1;

/// What a step is to its group.
enum class Role : uint8_t {
  kAnchor,
  kPrologue,
  kEpilogue,
  kReduction,
  kScore,  ///< before the anchor of a composed attention
};

/// One evaluation of a node. A node has one step, and one more for each group that computes it
/// again.
struct Step {
  ir::NodeId node = ir::kNoNode;
  std::vector<StepId> producers = {};  ///< by input port; kNoId where read from memory
  std::vector<StepId> consumers = {};  ///< each once
  GroupId group = kNoId;               ///< kNoId: dropped
  Role role = Role::kEpilogue;
  bool is_copy = false;  ///< its result is stored by another step, or not at all
};

/// The steps that matter of a composed attention.
struct Composition {
  StepId score_matmul = kNoId;
  StepId scores = kNoId;   ///< what the softmax reads
  StepId softmax = kNoId;  ///< kNoId where it is written out
};

struct GroupDraft {
  AnchorKind kind = AnchorKind::kNone;
  StepId anchor = kNoId;
  ir::TensorId domain = ir::kNoTensor;  ///< of the epilogue
  std::vector<StepId> steps;            ///< empty once the group has joined another
  std::optional<Composition> composition = std::nullopt;
  bool is_view = false;  ///< a view of memory: nothing runs, nothing joins
};

class Grouping {
 public:
  /// Every one of `nodes` (in topological order) in a group of its own. `is_stored`, by tensor:
  /// written to memory whoever reads it.
  Grouping(std::shared_ptr<const ir::FrozenGraph> graph, std::span<const ir::NodeId> nodes,
           std::vector<bool> is_stored, const Style& style);

  const ir::FrozenGraph& graph() const { return *graph_; }
  const std::shared_ptr<const ir::FrozenGraph>& shared_graph() const { return graph_; }
  const Style& style() const { return style_; }

  /// In topological order, but for copies, which stand at the end.
  StepId step_count() const { return static_cast<StepId>(steps_.size()); }
  const Step& step(StepId id) const { return steps_[static_cast<size_t>(id)]; }
  GroupId group_count() const { return static_cast<GroupId>(groups_.size()); }
  const GroupDraft& group(GroupId id) const { return groups_[static_cast<size_t>(id)]; }
  GroupDraft& group(GroupId id) { return groups_[static_cast<size_t>(id)]; }
  const GroupDraft& group_of(StepId id) const { return group(step(id).group); }

  const ir::Node& node(StepId id) const { return graph_->node(step(id).node); }
  /// The result of a step; of an anchor with several, the first.
  ir::TensorId result(StepId id) const { return node(id).outputs[0]; }
  const std::vector<int64_t>& dims(ir::TensorId id) const { return graph_->tensor(id).shape.dims; }
  bool is_pointwise(StepId id) const {
    return std::holds_alternative<graph::Pointwise_attributes>(node(id).operation);
  }
  /// Whether the consumer reads this very tensor from the producer.
  bool reads(StepId consumer, StepId producer, ir::TensorId tensor) const;

  bool is_stored(ir::TensorId id) const { return is_stored_[static_cast<size_t>(id)]; }
  /// Whether `tensor`, a result of `producer`, must be in memory when `together` are one group
  /// (kNoId: the producer's group alone).
  bool needs_memory(StepId producer, ir::TensorId tensor, GroupId together = kNoId) const;

  void drop(StepId id);
  /// Moves every step of `guest` into `host`. Roles stay.
  void join(GroupId host, GroupId guest);
  void set_role(StepId id, Role role) { steps_[static_cast<size_t>(id)].role = role; }
  /// Adds a step that evaluates the node of `original` again, into `host`; its producers are those
  /// of the original. Consumers are moved with `redirect`.
  StepId add_copy(StepId original, GroupId host);
  void redirect(StepId consumer, StepId from, StepId to);

  /// A way from one group to another through a third: the step of `to` and its input port where it
  /// arrives. Two groups joined across such a way would wait for themselves.
  struct Detour {
    StepId step = kNoId;
    size_t port = 0;
  };
  std::optional<Detour> find_detour(GroupId from, GroupId to) const;

  /// Remembers why two nodes did not get together; the last reason counts.
  void stop(ir::NodeId producer, ir::NodeId consumer, std::string reason);
  const std::string* find_stop(ir::NodeId producer, ir::NodeId consumer) const;

 private:
  bool reaches(GroupId from, GroupId to, std::vector<bool>& visited) const;

  std::shared_ptr<const ir::FrozenGraph> graph_;
  Style style_;
  std::vector<bool> is_stored_;
  std::vector<Step> steps_;
  std::vector<GroupDraft> groups_;
  std::map<std::pair<ir::NodeId, ir::NodeId>, std::string> stops_;
};

}  // namespace warploom::fusion
