#pragma once
#include <cmath>
#include <limits>

#include "ops/alibi.h"
#include "ops/attention_extents.h"
#include "ops/attention_mask.h"
#include "ops/philox.h"
#include "ops/reference_families.h"
#include "ops/sequence_tensor.h"

namespace warploom::ops {

/// A block scale of the MXFP8 format serves so many elements.
inline constexpr int64_t kScaledBlock = 32;

/// One row of scores: batch, query head, query.
struct AttentionRow {
  int64_t batch = 0, head = 0, query = 0;
  int64_t first = 0, end = 0;  ///< the keys that masks of lengths and bounds leave
};

/// What attention and its gradient compute alike: Q, K and V as packed doubles, scores, masks,
/// dropout.
template <class Attention>
class AttentionRows {
 public:
  /// `is_block_scaled`: descales of Q, K and V are those of blocks of elements.
  AttentionRows(const Attention& attention, const ReferenceTensors& tensors, double*& scratch,
                [[maybe_unused]] bool is_block_scaled = false)
      : attention_(attention), tensors_(tensors), extents_(attention, PortDims::of(tensors)) {
    const AttentionExtents& e = extents_;
    q_ = scratch;
    k_ = q_ + e.batches * e.query_heads * e.queries * e.key_size;
    v_ = k_ + e.batches * e.key_heads * e.keys * e.key_size;
    scratch = v_ + e.batches * e.value_heads * e.keys * e.value_size;
    unpack(sequence(Attention::Q, Attention::RAGGED_OFFSET_Q), e.query_heads, e.queries, q_,
           Attention::SEQ_LEN_Q);
    unpack(sequence(Attention::K, Attention::RAGGED_OFFSET_K, table(0)), e.key_heads, e.keys, k_,
           Attention::SEQ_LEN_KV);
    unpack(sequence(Attention::V, Attention::RAGGED_OFFSET_V, table(1)), e.value_heads, e.keys, v_,
           Attention::SEQ_LEN_KV);
    if constexpr (requires { Attention::Descale_Q; })
      if (is_block_scaled) {
        // Along the head size of Q and K, along the sequence of V.
        descale(tensors.inputs[Attention::Descale_Q], 3, e.query_heads, e.queries, e.key_size, q_);
        descale(tensors.inputs[Attention::Descale_K], 3, e.key_heads, e.keys, e.key_size, k_);
        descale(tensors.inputs[Attention::Descale_V], 2, e.value_heads, e.keys, e.value_size, v_);
      }
    scale_ = attention.get_attn_scale_value().value_or(1.0F);
    if (const ReferenceTensor& scale = tensors.inputs[Attention::Attn_scale])
      scale_ = load<double>(scale, 0);
    // Of quantized Q and K: after the scale, before everything else.
    if constexpr (requires { Attention::Descale_Q; })
      if (!is_block_scaled)
        scale_ *= load_or(Attention::Descale_Q, 1.0) * load_or(Attention::Descale_K, 1.0);
    if (attention.get_dropout_probability()) {
      const double keep = 1.0 - static_cast<double>(*attention.get_dropout_probability());
      keep_threshold_ = bernoulli_threshold(keep);
      dropout_scale_ = 1 / keep;
      seed_ = static_cast<uint64_t>(load_or(Attention::Seed, int64_t{0}));
      offset_ = static_cast<uint64_t>(load_or(Attention::Offset, int64_t{0}));
    } else {
      dropout_scale_ = load_or(Attention::Dropout_scale, 1.0);
    }
  }

  /// Elements of 8 bytes that the constructor takes of the scratch.
  static ElementCount elements(const Attention& attention, const ReferenceTensors& tensors) {
    const AttentionExtents e(attention, PortDims::of(tensors));
    return ElementCount{e.batches} * (ElementCount{e.query_heads} * e.queries * e.key_size +
                                      ElementCount{e.key_heads} * e.keys * e.key_size +
                                      ElementCount{e.value_heads} * e.keys * e.value_size);
  }

  const AttentionExtents& extents() const { return extents_; }
  double scale() const { return scale_; }

  /// Calls function(row) for all rows, those beyond a batch's length among them.
  template <class Function>
  void for_each_row(Function&& function) const {
    for (int64_t batch = 0; batch < extents_.batches; ++batch) {
      const AttentionMask mask(attention_, extents_.queries, extents_.keys,
                               length(Attention::SEQ_LEN_Q, batch, extents_.queries),
                               length(Attention::SEQ_LEN_KV, batch, extents_.keys));
      for (int64_t head = 0; head < extents_.query_heads; ++head)
        for (int64_t query = 0; query < extents_.queries; ++query) {
          const int64_t first = mask.first_key(query);
          function(AttentionRow{batch, head, query, first, std::max(mask.end_key(query), first)});
        }
    }
  }

  int64_t query_length(int64_t batch) const {
    return std::clamp<int64_t>(length(Attention::SEQ_LEN_Q, batch, extents_.queries), 0,
                               extents_.queries);
  }

  int64_t key_length(int64_t batch) const {
    return std::clamp<int64_t>(length(Attention::SEQ_LEN_KV, batch, extents_.keys), 0,
                               extents_.keys);
  }

  const double* q(const AttentionRow& row) const {
    return q_ + ((row.batch * extents_.query_heads + row.head) * extents_.queries + row.query) *
                    extents_.key_size;
  }
  /// Row `key` of K, V; consecutive heads of Q share a head.
  int64_t k_offset(const AttentionRow& row, int64_t key) const {
    return head_offset(row, extents_.key_heads, key) * extents_.key_size;
  }
  int64_t v_offset(const AttentionRow& row, int64_t key) const {
    return head_offset(row, extents_.value_heads, key) * extents_.value_size;
  }
  const double* k(const AttentionRow& row, int64_t key) const { return k_ + k_offset(row, key); }
  const double* v(const AttentionRow& row, int64_t key) const { return v_ + v_offset(row, key); }

  /// Whether the block mask lets a row see a key.
  bool sees([[maybe_unused]] const AttentionRow& row, [[maybe_unused]] int64_t key) const {
    if constexpr (requires { Attention::Block_mask; }) {
      const ReferenceTensor& mask = tensors_.inputs[Attention::Block_mask];
      if (!mask) return true;
      const int64_t tile = key / kMaskedBlock;
      const auto bits = load<int64_t>(
          mask, offset_of(*mask.shape, {row.batch, row.head, row.query / kMaskedBlock, tile / 8}));
      return (bits >> (tile % 8) & 1) != 0;
    }
    return true;
  }

  double score(const AttentionRow& row, int64_t key) const {
    const double *q_row = q(row), *k_row = k(row, key);
    double sum = 0;
    for (int64_t i = 0; i < extents_.key_size; ++i) sum += q_row[i] * k_row[i];
    sum *= scale_;
    if (const ReferenceTensor& bias = tensors_.inputs[Attention::Bias])
      sum += load<double>(
          bias, broadcast_offset_of(*bias.shape, 4, {row.batch, row.head, row.query, key}));
    if (attention_.get_alibi_mask())
      sum += alibi_slope(row.head, extents_.query_heads) * static_cast<double>(key - row.query);
    return sum;
  }

  /// -inf without a sink.
  double sink(const AttentionRow& row) const {
    const ReferenceTensor& sink = tensors_.inputs[Attention::SINK_TOKEN];
    if (!sink) return -std::numeric_limits<double>::infinity();
    return load<double>(sink, broadcast_offset_of(*sink.shape, 4, {0, row.head, 0, 0}));
  }

  bool has_dropout() const { return keep_threshold_ || tensors_.inputs[Attention::Dropout_mask]; }
  /// 1 or 0 with a probability; the mask's value where there is one.
  double dropout_mask(const AttentionRow& row, int64_t key) const {
    if (keep_threshold_)
      return random_word(seed_, offset_, score_index(row, key)) < *keep_threshold_ ? 1 : 0;
    const ReferenceTensor& mask = tensors_.inputs[Attention::Dropout_mask];
    if (!mask) return 1;
    return load<double>(mask,
                        broadcast_offset_of(*mask.shape, 4, {row.batch, row.head, row.query, key}));
  }
  double dropout_scale() const { return dropout_scale_; }

  void dump_dropout_mask(const AttentionRow& row) const {
    const ReferenceTensor& dump = tensors_.outputs[Attention::RNG_DUMP];
    if (!dump) return;
    for (int64_t key = 0; key < extents_.keys; ++key)
      store(dump, offset_of(*dump.shape, {row.batch, row.head, row.query, key}),
            dropout_mask(row, key));
  }

  SequenceTensor sequence(size_t port, size_t ragged_port,
                          const ReferenceTensor& page_table = {}) const {
    return {tensors_.inputs[port], tensors_.inputs[ragged_port], page_table};
  }
  SequenceTensor output_sequence(size_t port, size_t ragged_port) const {
    return {tensors_.outputs[port], tensors_.inputs[ragged_port]};
  }

 private:
  ReferenceTensor table([[maybe_unused]] size_t of_v) const {
    if constexpr (requires { Attention::Page_table_K; })
      return tensors_.inputs[Attention::Page_table_K + of_v];
    return {};
  }

  template <class Number>
  Number load_or(size_t port, Number otherwise) const {
    const ReferenceTensor& tensor = tensors_.inputs[port];
    return tensor ? load<Number>(tensor, 0) : otherwise;
  }

  int64_t length(size_t port, int64_t batch, int64_t all) const {
    const ReferenceTensor& lengths = tensors_.inputs[port];
    if (!attention_.get_padding_mask() || !lengths) return all;
    return load<int64_t>(lengths, batch * lengths.shape->strides[0]);
  }

  // Rows beyond a length may not even be in memory.
  void unpack(const SequenceTensor& tensor, int64_t heads, int64_t rows, double* packed,
              size_t length_port) const {
    const int64_t size = tensor.tensor().shape->dims[3];
    for (int64_t batch = 0; batch < extents_.batches; ++batch) {
      const int64_t used = std::clamp<int64_t>(length(length_port, batch, rows), 0, rows);
      for (int64_t head = 0; head < heads; ++head, packed += rows * size)
        tensor.unpack(batch, head, used, packed);
    }
  }

  // Packed rows, multiplied by the scales of blocks along an axis.
  void descale(const ReferenceTensor& scales, size_t axis, int64_t heads, int64_t rows,
               int64_t size, double* packed) const {
    const int64_t dims[] = {extents_.batches, heads, rows, size};
    for_each_index(dims, [&](const Index& at) {
      Index block = at;
      block[axis] /= kScaledBlock;
      *packed++ *= load<double>(scales, offset_of(scales, block));
    });
  }

  int64_t head_offset(const AttentionRow& row, int64_t heads, int64_t key) const {
    const int64_t head = row.head / (extents_.query_heads / heads);
    return (row.batch * heads + head) * extents_.keys + key;
  }

  uint64_t score_index(const AttentionRow& row, int64_t key) const {
    const auto wide = [](int64_t value) { return static_cast<uint64_t>(value); };
    const uint64_t head = wide(row.batch) * wide(extents_.query_heads) + wide(row.head);
    return (head * wide(extents_.queries) + wide(row.query)) * wide(extents_.keys) + wide(key);
  }

  const Attention& attention_;
  const ReferenceTensors& tensors_;
  AttentionExtents extents_;
  double scale_ = 1, dropout_scale_ = 1;
  std::optional<uint64_t> keep_threshold_;
  uint64_t seed_ = 0, offset_ = 0;
  double *q_, *k_, *v_;
};

}  // namespace warploom::ops
