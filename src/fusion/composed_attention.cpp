// Before anything else is joined: matmul, pointwise work, softmax and matmul are one attention,
// which never stores its scores. What is between the two matmuls must be read by nobody else.
#include <algorithm>
#include <set>

#include "fusion/passes.h"
#include "ops/norm.h"

namespace warploom::fusion {

namespace {

using graph::Matmul_attributes;
using graph::Pointwise_attributes;
using graph::Reduction_attributes;
using graph::Softmax_attributes;

/// The steps of a softmax, and what it reads.
struct SoftmaxSteps {
  std::vector<StepId> steps;
  StepId scores = kNoId;
  bool is_operation = false;
};

class Recognition {
 public:
  explicit Recognition(Grouping& grouping) : grouping_(grouping) {}

  void visit(StepId id) {
    if (!is_plain_matmul(id)) return;
    const StepId probabilities = producer(id, Matmul_attributes::A);
    if (probabilities == kNoId || !are_readers(probabilities, {id})) return;
    const auto softmax = find_softmax(probabilities);
    if (!softmax || softmax->scores == kNoId) return;
    region_.clear();
    score_matmul_ = kNoId;
    if (!collect(softmax->scores) || !settle(*softmax) || !has_dims_of_attention(id)) return;
    join(id, *softmax);
  }

 private:
  template <class Attributes>
  const Attributes* as(StepId id) const {
    return id == kNoId ? nullptr : std::get_if<Attributes>(&grouping_.node(id).operation);
  }
  bool is_mode(StepId id, PointwiseMode_t mode) const {
    const auto* pointwise = as<Pointwise_attributes>(id);
    return pointwise && pointwise->get_mode() == mode;
  }
  StepId producer(StepId id, size_t port) const { return grouping_.step(id).producers[port]; }
  const std::vector<int64_t>& dims(StepId id) const { return grouping_.dims(grouping_.result(id)); }
  const std::vector<int64_t>& input_dims(StepId id, size_t port) const {
    return grouping_.dims(grouping_.node(id).inputs[port]);
  }

  bool is_plain_matmul(StepId id) const {
    if (!as<Matmul_attributes>(id) || dims(id).size() != 4) return false;
    const std::vector<ir::TensorId>& inputs = grouping_.node(id).inputs;
    return std::all_of(inputs.begin() + 2, inputs.end(),
                       [](ir::TensorId input) { return input == ir::kNoTensor; });
  }

  /// Nobody but these steps reads the first result, and it is not stored.
  bool are_readers(StepId id, std::initializer_list<StepId> readers) const {
    if (grouping_.is_stored(grouping_.result(id))) return false;
    return std::ranges::all_of(grouping_.step(id).consumers, [&](StepId consumer) {
      return std::ranges::find(readers, consumer) != readers.end();
    });
  }

  std::optional<SoftmaxSteps> find_softmax(StepId id) const {
    if (const auto* softmax = as<Softmax_attributes>(id)) {
      if (ops::softmax_axis(*softmax, 4) != 3) return std::nullopt;
      return SoftmaxSteps{{id}, producer(id, Softmax_attributes::P), true};
    }
    // exp(x - max x) / sum exp(x - max x)
    if (!is_mode(id, PointwiseMode_t::DIV)) return std::nullopt;
    const StepId exponential = producer(id, 0), sum = producer(id, 1);
    if (!is_mode(exponential, PointwiseMode_t::EXP) || !is_row(sum, ReductionMode_t::ADD))
      return std::nullopt;
    const StepId difference = producer(exponential, 0);
    if (producer(sum, 0) != exponential || !is_mode(difference, PointwiseMode_t::SUB))
      return std::nullopt;
    const StepId scores = producer(difference, 0), maximum = producer(difference, 1);
    if (scores == kNoId || !is_row(maximum, ReductionMode_t::MAX) ||
        producer(maximum, 0) != scores || dims(id) != dims(scores))
      return std::nullopt;
    if (!are_readers(exponential, {id, sum}) || !are_readers(sum, {id}) ||
        !are_readers(difference, {exponential}) || !are_readers(maximum, {difference}))
      return std::nullopt;
    return SoftmaxSteps{{maximum, difference, exponential, sum, id}, scores};
  }

  /// A reduction of the last dim alone.
  bool is_row(StepId id, ReductionMode_t mode) const {
    const auto* reduction = as<Reduction_attributes>(id);
    if (!reduction || reduction->get_mode() != mode) return false;
    std::vector<int64_t> kept = input_dims(id, 0);
    if (kept.size() != 4) return false;
    kept[3] = 1;
    return dims(id) == kept;
  }

  /// Pointwise steps on all scores, back to the matmul of Q and K.
  bool collect(StepId scores) {
    const std::vector<int64_t>& domain = dims(scores);
    std::vector<StepId> waiting{scores};
    while (!waiting.empty()) {
      const StepId id = waiting.back();
      waiting.pop_back();
      if (id == kNoId || region_.contains(id) || id == score_matmul_ || dims(id) != domain)
        continue;
      if (is_plain_matmul(id) && score_matmul_ == kNoId) {
        score_matmul_ = id;
      } else if (grouping_.is_pointwise(id)) {
        region_.insert(id);
        for (StepId from : grouping_.step(id).producers) waiting.push_back(from);
      }
    }
    return score_matmul_ != kNoId;
  }

  bool depends_on_scores(StepId id) const {
    return id != kNoId && (id == score_matmul_ ||
                           (region_.contains(id) &&
                            std::ranges::any_of(grouping_.step(id).producers, [&](StepId from) {
                              return depends_on_scores(from);
                            })));
  }

  /// Leaves out what others need too; false if that needs the scores.
  bool settle(const SoftmaxSteps& softmax) {
    const auto is_needed_elsewhere = [&](StepId id) {
      return grouping_.is_stored(grouping_.result(id)) ||
             std::ranges::any_of(grouping_.step(id).consumers, [&](StepId consumer) {
               return !region_.contains(consumer) &&
                      std::ranges::find(softmax.steps, consumer) == softmax.steps.end();
             });
    };
    for (bool is_settled = false; !is_settled;) {
      const auto found = std::ranges::find_if(region_, is_needed_elsewhere);
      is_settled = found == region_.end();
      if (is_settled) break;
      if (depends_on_scores(*found)) return false;
      region_.erase(found);
    }
    return !is_needed_elsewhere(score_matmul_) && depends_on_scores(softmax.scores) &&
           region_.size() <= grouping_.style().most_values / 2;
  }

  /// Batches are equal, and Q has the most heads.
  bool has_dims_of_attention(StepId id) const {
    const std::vector<int64_t>& scores = dims(score_matmul_);
    const auto &q = input_dims(score_matmul_, 0), &k = input_dims(score_matmul_, 1),
               &v = input_dims(id, 1);
    return q[0] == scores[0] && k[0] == scores[0] && v[0] == scores[0] && q[1] == scores[1] &&
           dims(id)[1] == scores[1];
  }

  void join(StepId id, const SoftmaxSteps& softmax) {
    const GroupId host = grouping_.step(id).group;
    std::vector<StepId> guests(region_.begin(), region_.end());
    guests.insert(guests.end(), softmax.steps.begin(), softmax.steps.end());
    guests.push_back(score_matmul_);
    for (StepId guest : guests) {
      grouping_.join(host, grouping_.step(guest).group);
      grouping_.set_role(guest, Role::kScore);
    }
    GroupDraft& group = grouping_.group(host);
    group.kind = AnchorKind::kComposedAttention;
    group.composition = {score_matmul_, softmax.scores,
                         softmax.is_operation ? softmax.steps.front() : kNoId};
  }

  Grouping& grouping_;
  std::set<StepId> region_;  // between the matmul of Q and K and the softmax
  StepId score_matmul_ = kNoId;
};

}  // namespace

void compose_attention(Grouping& grouping) {
  if (!grouping.style().has_composed_attention) return;
  Recognition recognition(grouping);
  const StepId count = grouping.step_count();
  for (StepId id = 0; id < count; ++id)
    if (grouping.step(id).group != kNoId && grouping.group_of(id).steps.size() == 1)
      recognition.visit(id);
}

}  // namespace warploom::fusion
