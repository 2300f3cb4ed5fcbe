#include <algorithm>

#include "ops/attention_rows.h"

namespace warploom::ops {
namespace {

using Backward = graph::SDPA_backward_attributes;

struct Gradient {
  size_t input, output, ragged;
};
constexpr Gradient kGradients[] = {{Backward::Q, Backward::dQ, Backward::RAGGED_OFFSET_dQ},
                                   {Backward::K, Backward::dK, Backward::RAGGED_OFFSET_dK},
                                   {Backward::V, Backward::dV, Backward::RAGGED_OFFSET_dV}};

class AttentionBackward {
 public:
  AttentionBackward(const Backward& backward, const ReferenceTensors& tensors, double* scratch)
      : tensors_(tensors),
        rows_(backward, tensors, scratch),
        o_(rows_.sequence(Backward::O, Backward::RAGGED_OFFSET_O)),
        d_o_(rows_.sequence(Backward::dO, Backward::RAGGED_OFFSET_dO)),
        stats_(rows_.sequence(Backward::Stats, Backward::RAGGED_OFFSET_Stats)) {
    double* const begin = scratch;
    for (size_t i = 0; i < std::size(kGradients); ++i) {
      sums_[i] = scratch;
      scratch += tensors.outputs[kGradients[i].output].shape->volume();
    }
    for (size_t port : {Backward::dBias, Backward::DSINK_TOKEN}) {
      (port == Backward::dBias ? d_bias_ : d_sink_) = scratch;
      if (tensors.outputs[port]) scratch += tensors.outputs[port].shape->volume();
    }
    std::fill(begin, scratch, 0.0);
    o_row_ = scratch;
    d_o_row_ = o_row_ + rows_.extents().value_size;
    const ReferenceTensor& inverse = tensors.inputs[Backward::Dropout_scale_inv];
    scale_inverse_ = inverse ? load<double>(inverse, 0) : 1 / rows_.dropout_scale();
  }

  void run() {
    rows_.for_each_row([&](const AttentionRow& row) {
      rows_.dump_dropout_mask(row);
      add(row);
    });
    for (size_t i = 0; i < std::size(kGradients); ++i) write(kGradients[i], sums_[i]);
    if (const ReferenceTensor& bias = tensors_.outputs[Backward::dBias]) pack(d_bias_, bias);
    if (const ReferenceTensor& sink = tensors_.outputs[Backward::DSINK_TOKEN]) pack(d_sink_, sink);
  }

 private:
  void add(const AttentionRow& row) {
    // Rows beyond a length may not be in memory.
    if (row.query >= rows_.query_length(row.batch)) return;
    const double stats =
        load<double>(stats_.tensor(), *stats_.row_offset(row.batch, row.head, row.query));
    if (stats == -std::numeric_limits<double>::infinity()) return;
    const int64_t size = rows_.extents().value_size;
    unpack_row(o_, row, o_row_);
    unpack_row(d_o_, row, d_o_row_);
    double dot = 0;  // D: what a change of the probabilities' sum would cost
    for (int64_t i = 0; i < size; ++i) dot += d_o_row_[i] * o_row_[i];
    if (tensors_.outputs[Backward::DSINK_TOKEN])
      d_sink_[row.head] -= dot * std::exp(rows_.sink(row) - stats);
    for (int64_t key = row.first; key < row.end; ++key) add(row, key, stats, dot);
  }

  void add(const AttentionRow& row, int64_t key, double stats, double dot) {
    const AttentionExtents& e = rows_.extents();
    const double probability = std::exp(rows_.score(row, key) - stats);
    double kept = 1, kept_scale = 1, kept_dot = dot;
    if (rows_.has_dropout()) {
      kept = rows_.dropout_mask(row, key);
      kept_scale = rows_.dropout_scale();
      kept_dot = dot * scale_inverse_;
    }
    const double *v = rows_.v(row, key), *k = rows_.k(row, key), *q = rows_.q(row);
    double* const d_v = sums_[2] + rows_.v_offset(row, key);
    double d_probability = 0;
    for (int64_t i = 0; i < e.value_size; ++i) {
      d_v[i] += probability * kept * kept_scale * d_o_row_[i];
      d_probability += d_o_row_[i] * v[i];
    }
    const double d_score = probability * (d_probability * kept - kept_dot) * kept_scale;
    add_to_bias(row, key, d_score);
    const double scaled = d_score * rows_.scale();
    double* const d_q = sums_[0] + (q - rows_.q({}));
    double* const d_k = sums_[1] + rows_.k_offset(row, key);
    for (int64_t i = 0; i < e.key_size; ++i) {
      d_q[i] += scaled * k[i];
      d_k[i] += scaled * q[i];
    }
  }

  void add_to_bias(const AttentionRow& row, int64_t key, double d_score) {
    const ReferenceTensor& bias = tensors_.outputs[Backward::dBias];
    if (!bias) return;
    const FixedDims dims(bias.shape->dims);
    Index index{};
    const Index scores{row.batch, row.head, row.query, key};
    std::copy(scores.begin() + 4 - static_cast<long>(dims.size()), scores.begin() + 4,
              index.begin());
    d_bias_[dims.position(index)] += d_score;
  }

  void unpack_row(const SequenceTensor& tensor, const AttentionRow& row, double* target) const {
    const int64_t offset = *tensor.row_offset(row.batch, row.head, row.query);
    const int64_t stride = tensor.tensor().shape->strides[3];
    for (int64_t i = 0; i < rows_.extents().value_size; ++i)
      target[i] = load<double>(tensor.tensor(), offset + i * stride);
  }

  void write(const Gradient& gradient, const double* packed) const {
    const SequenceTensor target = rows_.output_sequence(gradient.output, gradient.ragged);
    const std::vector<int64_t>& dims = target.tensor().shape->dims;
    const int64_t stride = target.tensor().shape->strides[3];
    for (int64_t batch = 0; batch < dims[0]; ++batch) {
      const int64_t length =
          gradient.output == Backward::dQ ? rows_.query_length(batch) : rows_.key_length(batch);
      for (int64_t head = 0; head < dims[1]; ++head)
        for (int64_t row = 0; row < dims[2]; ++row, packed += dims[3]) {
          // Ragged rows beyond the length are those of the next batch.
          if (row >= length && target.is_ragged()) continue;
          const int64_t offset = *target.row_offset(batch, head, row);
          for (int64_t i = 0; i < dims[3]; ++i)
            store(target.tensor(), offset + i * stride, packed[i]);
        }
    }
  }

  const ReferenceTensors& tensors_;
  AttentionRows<Backward> rows_;
  SequenceTensor o_, d_o_, stats_;
  double* sums_[3];  // of dQ, dK, dV, packed
  double *d_bias_, *d_sink_, *o_row_, *d_o_row_;
  double scale_inverse_ = 1;
};

}  // namespace

// Q, K and V, every gradient, a row of O and of dO.
ElementCount scratch_elements(const Backward& backward, const ReferenceTensors& tensors) {
  ElementCount elements = AttentionRows<Backward>::elements(backward, tensors);
  for (size_t port = Backward::dQ; port <= Backward::DSINK_TOKEN; ++port) {
    if (!tensors.outputs[port] || port == Backward::RNG_DUMP) continue;
    ElementCount product = 1;
    for (int64_t dim : tensors.outputs[port].shape->dims) product *= dim;
    elements += product;
  }
  return elements + 2 * AttentionExtents(backward, PortDims::of(tensors)).value_size;
}

void reference(const Backward& backward, const ReferenceTensors& tensors, double* scratch) {
  AttentionBackward(backward, tensors, scratch).run();
}

}  // namespace warploom::ops
