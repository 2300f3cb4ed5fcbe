#include <algorithm>

#include "ops/attention_rows.h"

namespace warploom::ops {
namespace {

using SDPA = graph::SDPA_attributes;
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// How Q, K and V are stored.
enum class Format { kFloat, kScaled, kBlockScaled };

class Attention {
 public:
  Attention(const SDPA& sdpa, const ReferenceTensors& tensors, double* scratch, Format format)
      : tensors_(tensors),
        format_(format),
        rows_(sdpa, tensors, scratch, format == Format::kBlockScaled),
        o_(rows_.output_sequence(SDPA::O, SDPA::RAGGED_OFFSET_O)),
        stats_(rows_.output_sequence(SDPA::Stats, SDPA::RAGGED_OFFSET_Stats)) {
    probabilities_ = scratch;
    output_ = scratch + rows_.extents().keys;
    if (format != Format::kScaled) return;
    scale_s_ = load<double>(tensors.inputs[SDPA::Scale_S], 0);
    scale_o_ = load<double>(tensors.inputs[SDPA::Scale_O], 0);
    descale_o_ = load<double>(tensors.inputs[SDPA::Descale_S], 0) *
                 load<double>(tensors.inputs[SDPA::Descale_V], 0);
  }

  void run() {
    rows_.for_each_row([&](const AttentionRow& row) {
      rows_.dump_dropout_mask(row);
      compute(row);
    });
    for (const auto& [port, value] : {std::pair{SDPA::Amax_S, amax_s_}, {SDPA::Amax_O, amax_o_}})
      if (const ReferenceTensor& tensor = tensors_.outputs[port]) store(tensor, 0, value);
  }

 private:
  template <class Function>
  void for_each_seen_key(const AttentionRow& row, Function&& function) const {
    for (int64_t key = row.first; key < row.end; ++key)
      if (rows_.sees(row, key)) function(key, probabilities_[key]);
  }

  // Only keys that the row sees are looked at: a masked one may hold anything.
  void compute(const AttentionRow& row) {
    const double sink = rows_.sink(row);
    double maximum = sink, sum = 0;
    for_each_seen_key(row, [&](int64_t key, double& score) {
      score = rows_.score(row, key);
      maximum = formula::maximum(maximum, score);
    });
    const bool is_empty = maximum == kMinusInfinity;
    if (!is_empty) sum = std::exp(sink - maximum);
    for_each_seen_key(row, [&](int64_t, double& score) {
      score = is_empty ? 0.0 : std::exp(score - maximum);
      sum += score;
    });
    const int64_t size = rows_.extents().value_size;
    std::fill(output_, output_ + size, 0.0);
    if (!is_empty)
      for_each_seen_key(row, [&](int64_t key, double probability) {
        double weight = probability / sum;
        if (rows_.has_dropout()) weight *= rows_.dropout_mask(row, key) * rows_.dropout_scale();
        weight = quantized(weight);
        const double* v = rows_.v(row, key);
        for (int64_t i = 0; i < size; ++i) output_[i] += weight * v[i];
      });
    for (int64_t i = 0; i < size; ++i) {
      output_[i] *= descale_o_;
      amax_o_ = formula::maximum(amax_o_, std::fabs(output_[i]));
      output_[i] *= scale_o_;
    }
    write(row, maximum, sum);
  }

  // What meets V has V's company's type: that of Q.
  double quantized(double probability) {
    if (format_ == Format::kFloat) return probability;
    amax_s_ = formula::maximum(amax_s_, std::fabs(probability));
    const DataType_t type = tensors_.inputs[SDPA::Q].type;
    uint64_t element = 0;
    base::store_double(&element, type, 0, probability * scale_s_);
    return base::load_double(&element, type, 0);
  }

  void write(const AttentionRow& row, double maximum, double sum) {
    const bool is_beyond = row.query >= rows_.query_length(row.batch);
    // Ragged rows beyond the length are those of the next batch.
    if (!(is_beyond && o_.is_ragged())) {
      const int64_t offset = *o_.row_offset(row.batch, row.head, row.query);
      for (int64_t i = 0; i < rows_.extents().value_size; ++i)
        store(o_.tensor(), offset + i * o_.tensor().shape->strides[3], output_[i]);
    }
    if (stats_ && !(is_beyond && stats_.is_ragged()))
      store(stats_.tensor(), *stats_.row_offset(row.batch, row.head, row.query),
            sum == 0 ? kMinusInfinity : maximum + std::log(sum));
    for (const auto& [port, value] : {std::pair{SDPA::Max, maximum}, {SDPA::Sum_exp, sum}})
      if (const ReferenceTensor& tensor = tensors_.outputs[port])
        store(tensor, offset_of(*tensor.shape, {row.batch, row.head, row.query}), value);
  }

  const ReferenceTensors& tensors_;
  Format format_;
  AttentionRows<SDPA> rows_;
  SequenceTensor o_, stats_;
  double scale_s_ = 1, scale_o_ = 1, descale_o_ = 1;
  double amax_s_ = 0, amax_o_ = 0;
  double *probabilities_, *output_;
};

}  // namespace

// All of Q, K and V, a row of probabilities and a row of O.
ElementCount scratch_elements(const SDPA& sdpa, const ReferenceTensors& tensors) {
  const AttentionExtents extents(sdpa, PortDims::of(tensors));
  return AttentionRows<SDPA>::elements(sdpa, tensors) + extents.keys + extents.value_size;
}

void reference(const SDPA& sdpa, const ReferenceTensors& tensors, double* scratch) {
  Attention(sdpa, tensors, scratch, Format::kFloat).run();
}

ElementCount scratch_elements(const graph::SDPA_fp8_forward& sdpa,
                              const ReferenceTensors& tensors) {
  return scratch_elements(static_cast<const SDPA&>(sdpa), tensors);
}
void reference(const graph::SDPA_fp8_forward& sdpa, const ReferenceTensors& tensors,
               double* scratch) {
  Attention(sdpa, tensors, scratch, Format::kScaled).run();
}

ElementCount scratch_elements(const graph::SDPA_mxfp8_forward& sdpa,
                              const ReferenceTensors& tensors) {
  return scratch_elements(static_cast<const SDPA&>(sdpa), tensors);
}
void reference(const graph::SDPA_mxfp8_forward& sdpa, const ReferenceTensors& tensors,
               double* scratch) {
  Attention(sdpa, tensors, scratch, Format::kBlockScaled).run();
}

}  // namespace warploom::ops
