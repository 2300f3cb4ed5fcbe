#pragma once
/// Batch normalization and what belongs to it: statistics over all dims but 1, the channels. In X
/// [N, C, ...], whatever is per channel has the dims [1, C, 1, ...].
#include <array>

#include <warploom/ops/norm.h>

namespace warploom::graph {

/// The setters that batchnorm and bn_finalize share.
template <class Derived>
class Running_statistics_attributes : public Attributes<Derived> {
 public:
  /// All three, or none: then there are no NEXT_RUNNING_MEAN and NEXT_RUNNING_VAR.
  Derived& set_previous_running_stats(TensorPtr mean, TensorPtr variance, TensorPtr momentum) {
    this->set_input(Derived::PREV_RUNNING_MEAN, std::move(mean));
    this->set_input(Derived::PREV_RUNNING_VAR, std::move(variance));
    return this->set_input(Derived::MOMENTUM, std::move(momentum));
  }
};

/// Memory that devices exchange statistics through. This version normalizes over one device: more
/// than one peer is refused by validate().
template <class Derived>
class Peer_statistics {
 public:
  Derived& set_peer_stats(const std::vector<TensorPtr>& value) {
    peer_stats_.clear();
    for (const TensorPtr& tensor : value) peer_stats_.push_back(tensor ? tensor->get_uid() : 0);
    return static_cast<Derived&>(*this);
  }
  /// Their uids.
  const std::vector<int64_t>& get_peer_stats() const { return peer_stats_; }

 protected:
  std::vector<int64_t> peer_stats_;
};

/// Training: Y = (X - MEAN) INV_VARIANCE SCALE + BIAS with the statistics of this batch,
/// INV_VARIANCE = 1 / sqrt(variance + EPSILON). NEXT_RUNNING = (1 - MOMENTUM) PREV_RUNNING +
/// MOMENTUM times the batch's mean, or variance (of n - 1 of n elements).
class Batchnorm_attributes : public Running_statistics_attributes<Batchnorm_attributes>,
                             public Peer_statistics<Batchnorm_attributes> {
 public:
  static constexpr std::string_view kTag = "BATCHNORM";
  enum Input : size_t { X, SCALE, BIAS, PREV_RUNNING_MEAN, PREV_RUNNING_VAR, EPSILON, MOMENTUM };
  enum Output : size_t { Y, MEAN, INV_VARIANCE, NEXT_RUNNING_MEAN, NEXT_RUNNING_VAR };
  static constexpr Port kInputs[]{Port{"X", "input"},
                                  Port{"SCALE", "scale"},
                                  Port{"BIAS", "bias"},
                                  Port{"PREV_RUNNING_MEAN", "in_running_mean", kOptional},
                                  Port{"PREV_RUNNING_VAR", "in_running_var", kOptional},
                                  Port{"EPSILON", "epsilon"},
                                  Port{"MOMENTUM", "momentum", kOptional}};
  static constexpr Port kOutputs[]{Port{"Y", ""}, Port{"MEAN", ""}, Port{"INV_VARIANCE", ""},
                                   Port{"NEXT_RUNNING_MEAN", "", kOptional},
                                   Port{"NEXT_RUNNING_VAR", "", kOptional}};
  template <class Self = Batchnorm_attributes>
  static constexpr auto fields() {
    return std::tuple{field("peer_stats", &Self::peer_stats_)};
  }

  Batchnorm_attributes& set_epsilon(TensorPtr value) {
    return set_input(EPSILON, std::move(value));
  }
};

/// Y = (X - MEAN) INV_VARIANCE SCALE + BIAS with statistics that are given.
class Batchnorm_inference_attributes : public Attributes<Batchnorm_inference_attributes> {
 public:
  static constexpr std::string_view kTag = "BATCHNORM_INFERENCE";
  enum Input : size_t { X, MEAN, INV_VARIANCE, SCALE, BIAS };
  enum Output : size_t { Y };
  static constexpr Port kInputs[]{Port{"X", "input"}, Port{"MEAN", "mean"},
                                  Port{"INV_VARIANCE", "inv_variance"}, Port{"SCALE", "scale"},
                                  Port{"BIAS", "bias"}};
  static constexpr Port kOutputs[]{Port{"Y", ""}};
  template <class = void>
  static constexpr auto fields() {
    return std::tuple{};
  }
};

/// DX, DSCALE and DBIAS of batchnorm from DY.
class Batchnorm_backward_attributes
    : public Norm_backward_attributes<Batchnorm_backward_attributes>,
      public Peer_statistics<Batchnorm_backward_attributes> {
 public:
  static constexpr std::string_view kTag = "DBN";
  template <class Self = Batchnorm_backward_attributes>
  static constexpr auto fields() {
    return std::tuple{field("peer_stats", &Self::peer_stats_)};
  }
};

/// DSCALE and DBIAS as of batchnorm_backward, and what DX is made of:
/// DX = EQ_SCALE_DY DY + EQ_SCALE_X X + EQ_BIAS.
class DBN_weight_attributes : public Attributes<DBN_weight_attributes> {
 public:
  static constexpr std::string_view kTag = "DBN_WEIGHT";
  enum Input : size_t { DY, X, SCALE, MEAN, INV_VARIANCE };
  enum Output : size_t { DSCALE, DBIAS, EQ_SCALE_DY, EQ_SCALE_X, EQ_BIAS };
  static constexpr Port kInputs[]{Port{"DY", "grad"}, Port{"X", "input"}, Port{"SCALE", "scale"},
                                  Port{"MEAN", "mean"}, Port{"INV_VARIANCE", "inv_variance"}};
  static constexpr Port kOutputs[]{Port{"DSCALE", ""}, Port{"DBIAS", ""}, Port{"EQ_SCALE_DY", ""},
                                   Port{"EQ_SCALE_X", ""}, Port{"EQ_BIAS", ""}};
  template <class = void>
  static constexpr auto fields() {
    return std::tuple{};
  }
};

/// SUM and SQ_SUM: the sums of X and of X^2 per channel.
class Genstats_attributes : public Attributes<Genstats_attributes> {
 public:
  static constexpr std::string_view kTag = "GENSTATS";
  enum Input : size_t { X };
  enum Output : size_t { SUM, SQ_SUM };
  static constexpr Port kInputs[]{Port{"X", "input"}};
  static constexpr Port kOutputs[]{Port{"SUM", ""}, Port{"SQ_SUM", ""}};
  template <class = void>
  static constexpr auto fields() {
    return std::tuple{};
  }
};

/// From the sums over ACCUM_COUNT elements: MEAN, INV_VARIANCE and the running statistics of
/// batchnorm, and its result as Y = EQ_SCALE X + EQ_BIAS. All have SUM's dims.
class BN_finalize_attributes : public Running_statistics_attributes<BN_finalize_attributes> {
 public:
  static constexpr std::string_view kTag = "BN_FINALIZE";
  enum Input : size_t {
    SUM,
    SQ_SUM,
    SCALE,
    BIAS,
    EPSILON,
    ACCUM_COUNT,
    PREV_RUNNING_MEAN,
    PREV_RUNNING_VAR,
    MOMENTUM
  };
  enum Output : size_t {
    EQ_SCALE,
    EQ_BIAS,
    MEAN,
    INV_VARIANCE,
    NEXT_RUNNING_MEAN,
    NEXT_RUNNING_VAR
  };
  static constexpr Port kInputs[]{Port{"SUM", ""},
                                  Port{"SQ_SUM", ""},
                                  Port{"SCALE", ""},
                                  Port{"BIAS", ""},
                                  Port{"EPSILON", ""},
                                  Port{"ACCUM_COUNT", ""},
                                  Port{"PREV_RUNNING_MEAN", "", kOptional},
                                  Port{"PREV_RUNNING_VAR", "", kOptional},
                                  Port{"MOMENTUM", "", kOptional}};
  static constexpr Port kOutputs[]{Port{"EQ_SCALE", ""},
                                   Port{"EQ_BIAS", ""},
                                   Port{"MEAN", ""},
                                   Port{"INV_VARIANCE", ""},
                                   Port{"NEXT_RUNNING_MEAN", "", kOptional},
                                   Port{"NEXT_RUNNING_VAR", "", kOptional}};
  template <class = void>
  static constexpr auto fields() {
    return std::tuple{};
  }
};

}  // namespace warploom::graph
