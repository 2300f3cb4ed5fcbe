#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/attention_mask.h"
#include "ops/reference_families.h"

namespace warploom::ops {
namespace {

using SDPA = graph::SDPA_attributes;
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// A row of the softmax: what the outputs are made of.
struct Row {
  double maximum = kMinusInfinity;
  double sum = 0;
};

class Attention {
 public:
  Attention(const SDPA& sdpa, const ReferenceTensors& tensors, double* scratch)
      : sdpa_(sdpa), tensors_(tensors), q_dims_(dims(SDPA::Q)), keys_(dims(SDPA::K)[2]) {
    q_ = scratch;
    k_ = q_ + volume(SDPA::Q);
    v_ = k_ + volume(SDPA::K);
    scores_ = v_ + volume(SDPA::V);
    output_ = scores_ + keys_;
    unpack(tensors.inputs[SDPA::Q], q_);
    unpack(tensors.inputs[SDPA::K], k_);
    unpack(tensors.inputs[SDPA::V], v_);
    if (const ReferenceTensor& scale = tensors.inputs[SDPA::Attn_scale])
      scale_ = load<double>(scale, 0);
    else
      scale_ = sdpa.get_attn_scale_value().value_or(1.0f);
  }

  void run() {
    for (int64_t batch = 0; batch < q_dims_[0]; ++batch) {
      const AttentionMask mask(sdpa_, q_dims_[2], keys_, length(SDPA::SEQ_LEN_Q, batch, q_dims_[2]),
                               length(SDPA::SEQ_LEN_KV, batch, keys_));
      for (int64_t head = 0; head < q_dims_[1]; ++head)
        for (int64_t query = 0; query < q_dims_[2]; ++query) {
          const int64_t first = mask.first_key(query);
          const int64_t end = std::max(mask.end_key(query), first);
          compute_row({batch, head, query}, first, end);
        }
    }
  }

 private:
  const std::vector<int64_t>& dims(size_t port) const { return tensors_.inputs[port].shape->dims; }
  int64_t volume(size_t port) const { return tensors_.inputs[port].shape->volume(); }

  int64_t length(size_t port, int64_t batch, int64_t all) const {
    const ReferenceTensor& lengths = tensors_.inputs[port];
    if (!sdpa_.get_padding_mask() || !lengths) return all;
    return load<int64_t>(lengths, batch * lengths.shape->strides[0]);
  }

  // Row `row` of a packed [b, h, s, d] tensor for a head of Q: consecutive heads of Q share one.
  const double* row_of(size_t port, const double* packed, const Index& at, int64_t row) const {
    const auto& shape = dims(port);
    const int64_t head = at[1] / (q_dims_[1] / shape[1]);
    return packed + ((at[0] * shape[1] + head) * shape[2] + row) * shape[3];
  }

  double score(const Index& at, int64_t key) const {
    const double* q = row_of(SDPA::Q, q_, at, at[2]);
    const double* k = row_of(SDPA::K, k_, at, key);
    double sum = 0;
    for (int64_t i = 0; i < q_dims_[3]; ++i) sum += q[i] * k[i];
    sum *= scale_;
    if (const ReferenceTensor& bias = tensors_.inputs[SDPA::Bias])
      sum += load<double>(bias, broadcast_offset_of(*bias.shape, 4, {at[0], at[1], at[2], key}));
    return sum;
  }

  // Only keys from `first` up to `end` are looked at: a masked one may hold anything.
  void compute_row(const Index& at, int64_t first, int64_t end) {
    Row row;
    for (int64_t key = first; key < end; ++key) {
      scores_[key] = score(at, key);
      row.maximum = formula::maximum(row.maximum, scores_[key]);
    }
    const int64_t size = dims(SDPA::V)[3];
    std::fill(output_, output_ + size, 0.0);
    if (row.maximum != kMinusInfinity)
      for (int64_t key = first; key < end; ++key) {
        const double weight = std::exp(scores_[key] - row.maximum);
        const double* v = row_of(SDPA::V, v_, at, key);
        row.sum += weight;
        for (int64_t i = 0; i < size; ++i) output_[i] += weight * v[i];
      }
    write(at, row, size);
  }

  void write(const Index& at, const Row& row, int64_t size) {
    const ReferenceTensor& o = tensors_.outputs[SDPA::O];
    Index index = at;
    for (index[3] = 0; index[3] < size; ++index[3]) {
      const double value = row.sum == 0 ? 0.0 : output_[index[3]] / row.sum;
      store(o, offset_of(*o.shape, index), value);
    }
    write_statistic(SDPA::Stats, at,
                    row.sum == 0 ? kMinusInfinity : row.maximum + std::log(row.sum));
    write_statistic(SDPA::Max, at, row.maximum);
    write_statistic(SDPA::Sum_exp, at, row.sum);
  }

  void write_statistic(size_t port, const Index& at, double value) {
    if (const ReferenceTensor& tensor = tensors_.outputs[port])
      store(tensor, offset_of(*tensor.shape, at), value);
  }

  const SDPA& sdpa_;
  const ReferenceTensors& tensors_;
  const std::vector<int64_t>& q_dims_;
  int64_t keys_;
  double scale_ = 1;
  double *q_, *k_, *v_, *scores_, *output_;
};

}  // namespace

// All of Q, K and V, a row of scores and a row of O.
ElementCount scratch_elements(const SDPA&, const ReferenceTensors& tensors) {
  ElementCount elements = 0;
  for (size_t port : {SDPA::Q, SDPA::K, SDPA::V}) {
    ElementCount product = 1;
    for (int64_t dim : tensors.inputs[port].shape->dims) product *= dim;
    elements += product;
  }
  return elements + tensors.inputs[SDPA::K].shape->dims[2] + tensors.inputs[SDPA::V].shape->dims[3];
}

void reference(const SDPA& sdpa, const ReferenceTensors& tensors, double* scratch) {
  Attention(sdpa, tensors, scratch).run();
}

}  // namespace warploom::ops
