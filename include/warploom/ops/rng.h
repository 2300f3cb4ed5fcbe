#pragma once
/// Random numbers.
#include <array>
#include <optional>

#include <warploom/ops/attributes.h>

namespace warploom::graph {

/// Y filled with random numbers: a function of seed, offset and the element's index alone
/// (row-major over Y's dims), by Philox4x32-10; docs/semantics.md has the bits. BERNOULLI: 1 with
/// the given probability, else 0. Seed and Offset are tensors of one INT32 or INT64; set_seed()
/// replaces the first, and without the second the offset is 0. Y's dims come from here or from the
/// result tensor; its strides, unless set, have dimension 1 fastest (NHWC).
class Rng_attributes : public Attributes<Rng_attributes> {
 public:
  static constexpr std::string_view kTag = "RNG";
  enum Input : size_t { Seed, Offset };
  enum Output : size_t { Y };
  static constexpr Port kInputs[]{Port{"Seed", "", kOptional}, Port{"Offset", "", kOptional}};
  static constexpr Port kOutputs[]{Port{"Y", ""}};
  template <class Self = Rng_attributes>
  static constexpr auto fields() {
    return std::tuple{field("distribution", &Self::distribution_, kRequired),
                      field("dim", &Self::dim_), field("stride", &Self::stride_),
                      field("seed", &Self::seed_),
                      field("bernoulli_probability", &Self::bernoulli_probability_)};
  }

  Rng_attributes& set_distribution(RngDistribution_t value) {
    distribution_ = value;
    return *this;
  }
  Rng_attributes& set_dim(const std::vector<int64_t>& value) {
    dim_ = value;
    return *this;
  }
  Rng_attributes& set_stride(const std::vector<int64_t>& value) {
    stride_ = value;
    return *this;
  }
  Rng_attributes& set_seed(std::optional<int64_t> value) {
    seed_ = value;
    return *this;
  }
  /// Of a 1.
  Rng_attributes& set_bernoulli_probability(std::optional<double> value) {
    bernoulli_probability_ = value;
    return *this;
  }
  RngDistribution_t get_distribution() const { return distribution_; }
  const std::vector<int64_t>& get_dim() const { return dim_; }
  const std::vector<int64_t>& get_stride() const { return stride_; }
  std::optional<int64_t> get_seed() const { return seed_; }
  std::optional<double> get_bernoulli_probability() const { return bernoulli_probability_; }

 private:
  RngDistribution_t distribution_ = RngDistribution_t::NOT_SET;
  std::vector<int64_t> dim_, stride_;
  std::optional<int64_t> seed_;
  std::optional<double> bernoulli_probability_;
};

}  // namespace warploom::graph
