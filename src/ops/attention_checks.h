#pragma once
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

#include "base/data_type.h"
#include "ops/attention_extents.h"
#include "ops/families.h"
#include "ops/ragged.h"

// What attention and its gradient are checked for alike.

namespace warploom::ops {

inline constexpr std::string_view kFloatTypes = "FLOAT, HALF, BFLOAT16 or DOUBLE";

using TypePredicate = bool (*)(DataType_t);

inline bool is_index_type(DataType_t type) {
  return type == DataType_t::INT32 || type == DataType_t::INT64;
}

/// Refuses an input or output, if there is one, whose type the predicate does not accept.
error_t check_input_type(const Site& site, size_t port, const graph::TensorPtr& tensor,
                         TypePredicate is_accepted, std::string_view accepted);
error_t check_output_type(const Site& site, size_t port, const graph::TensorPtr& tensor,
                          TypePredicate is_accepted, std::string_view accepted);
/// Refuses an input, if there is one, that has not one element.
error_t check_single(const Site& site, size_t port, const graph::TensorPtr& tensor);
/// Refuses an input, if there is one, whose dims are not among those accepted.
error_t check_dims(const Site& site, size_t port, const graph::TensorPtr& tensor,
                   std::initializer_list<Dims> accepted);
/// Refuses an input, if there is one, that does not broadcast to the scores.
error_t check_broadcast(const Site& site, size_t port, const graph::TensorPtr& tensor,
                        const Dims& scores);
/// Refuses a bound that no sequence can have.
error_t check_bound(const Site& site, std::string_view name, std::optional<int64_t> value);

/// The ragged offset of a tensor at a port: as described, or filled in by `set_ragged_ports`.
template <class Attention>
graph::TensorPtr ragged_offset(const Attention& attention, const graph::Port& port,
                               const graph::TensorPtr& tensor) {
  const size_t ragged = ragged_port(Attention::kInputs, port.name);
  if (ragged != kNoPort && attention.inputs[ragged]) return attention.inputs[ragged];
  return tensor->get_ragged_offset();
}
error_t check_ragged_offset(const Site& site, const std::string& subject,
                            const graph::Tensor_attributes& offset, int64_t batches);

template <class Attention>
Dims score_dims(const Attention& attention) {
  const AttentionExtents e(attention, PortDims::of(attention));
  return {e.batches, e.query_heads, e.queries, e.keys};
}

/// Ranks, then what Q, K and V must agree about. What is paged has dims of pages, not of batches.
template <class Attention>
error_t check_shapes(const Attention& attention, const Site& site, bool has_paged_keys = false,
                     bool has_paged_values = false) {
  for (size_t port : {Attention::Q, Attention::K, Attention::V})
    if (const Dims& dims = attention.inputs[port]->get_dim(); dims.size() != 4)
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port),
                         show(dims.size()) + " dims", "4: batch, heads, sequence, head size");
  const auto& inputs = attention.inputs;
  const auto must_equal = [&](size_t port, size_t dim, std::string_view meaning,
                              size_t of_port) -> error_t {
    const int64_t found = inputs[port]->get_dim()[dim], accepted = inputs[of_port]->get_dim()[dim];
    if (found == accepted) return {};
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port, dim, meaning),
                       show(found),
                       fmt::format("{}, dim {} of {}", accepted, dim, site.input(of_port)));
  };
  if (!has_paged_keys) CHECK_WARPLOOM_ERROR(must_equal(Attention::K, 0, "batch", Attention::Q));
  if (!has_paged_values) CHECK_WARPLOOM_ERROR(must_equal(Attention::V, 0, "batch", Attention::Q));
  CHECK_WARPLOOM_ERROR(must_equal(Attention::K, 3, "head size", Attention::Q));
  if (!has_paged_keys && !has_paged_values)
    CHECK_WARPLOOM_ERROR(must_equal(Attention::V, 2, "sequence", Attention::K));
  const int64_t query_heads = inputs[Attention::Q]->get_dim()[1];
  for (size_t port : {Attention::K, Attention::V}) {
    const int64_t heads = inputs[port]->get_dim()[1];
    if (heads == 0 ? query_heads != 0 : query_heads % heads != 0)
      return site.refuse(
          error_code_t::GRAPH_NOT_SUPPORTED, site.input(port, 1, "heads"), show(heads),
          fmt::format("a divisor of {}, the heads of {}", query_heads, site.input(Attention::Q)));
  }
  return {};
}

template <class Attention>
error_t check_scale(const Attention& attention, const Site& site) {
  const graph::TensorPtr& scale = attention.inputs[Attention::Attn_scale];
  const auto value = attention.get_attn_scale_value();
  if (scale && value)
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.input(Attention::Attn_scale),
                       fmt::format("a tensor and the value {}", *value), "one of them");
  if (value && !std::isfinite(*value))
    return site.refuse(error_code_t::INVALID_VALUE, site.field("attn_scale_value"), show(*value),
                       "a finite number");
  CHECK_WARPLOOM_ERROR(
      check_input_type(site, Attention::Attn_scale, scale, base::is_floating, kFloatTypes));
  return check_single(site, Attention::Attn_scale, scale);
}

template <class Attention>
error_t check_bias(const Attention& attention, const Site& site) {
  const graph::TensorPtr& bias = attention.inputs[Attention::Bias];
  CHECK_WARPLOOM_ERROR(check_input_type(
      site, Attention::Bias, bias, [](DataType_t type) { return type != DataType_t::BOOLEAN; },
      "a number type: a bias is added to the scores"));
  return check_broadcast(site, Attention::Bias, bias, score_dims(attention));
}

template <class Attention>
error_t check_lengths(const Attention& attention, const Site& site) {
  const int64_t batch = attention.inputs[Attention::Q]->get_dim()[0];
  for (size_t port : {Attention::SEQ_LEN_Q, Attention::SEQ_LEN_KV}) {
    const graph::TensorPtr& tensor = attention.inputs[port];
    if (!tensor && attention.get_padding_mask())
      return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.input(port),
                         "no tensor with padding_mask", "the lengths of every batch");
    if (tensor && !attention.get_padding_mask())
      return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.field("padding_mask"),
                         fmt::format("false with {}", site.input(port)),
                         "true with sequence lengths");
    CHECK_WARPLOOM_ERROR(check_input_type(site, port, tensor, is_index_type, "INT32 or INT64"));
    CHECK_WARPLOOM_ERROR(check_dims(site, port, tensor, {{batch, 1, 1, 1}, {batch}}));
  }
  return {};
}

template <class Attention>
error_t check_bounds(const Attention& attention, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_bound(site, "left_bound", attention.get_left_bound()));
  return check_bound(site, "right_bound", attention.get_right_bound());
}

template <class Attention>
error_t check_sink(const Attention& attention, const Site& site) {
  const graph::TensorPtr& sink = attention.inputs[Attention::SINK_TOKEN];
  const int64_t heads = attention.inputs[Attention::Q]->get_dim()[1];
  CHECK_WARPLOOM_ERROR(
      check_input_type(site, Attention::SINK_TOKEN, sink, base::is_floating, kFloatTypes));
  return check_dims(site, Attention::SINK_TOKEN, sink, {{1, heads, 1, 1}});
}

template <class Attention>
error_t check_dropout(const Attention& attention, const Site& site) {
  const auto& inputs = attention.inputs;
  const auto probability = attention.get_dropout_probability();
  const auto needs = [&](size_t port, std::string_view found) -> error_t {
    if (inputs[port]) return {};
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.input(port), found, "a tensor");
  };
  if (probability) {
    if (inputs[Attention::Dropout_mask])
      return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.input(Attention::Dropout_mask),
                         fmt::format("a mask and the probability {}", *probability), "one of them");
    if (*probability == 1)
      return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.field("dropout_probability"), "1",
                         "0 or more, less than 1: what is kept is divided by 1 - probability");
    if (!(*probability >= 0 && *probability < 1))
      return site.refuse(error_code_t::INVALID_VALUE, site.field("dropout_probability"),
                         show(*probability), "0 or more, less than 1");
    for (size_t port : {Attention::Seed, Attention::Offset}) {
      CHECK_WARPLOOM_ERROR(needs(port, "none with dropout_probability"));
      CHECK_WARPLOOM_ERROR(
          check_input_type(site, port, inputs[port], is_index_type, "INT32 or INT64"));
      CHECK_WARPLOOM_ERROR(check_single(site, port, inputs[port]));
    }
  } else {
    for (size_t port : {Attention::Seed, Attention::Offset})
      if (inputs[port])
        return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.field("dropout_probability"),
                           fmt::format("none with {}", site.input(port)), "a probability");
  }
  if (inputs[Attention::Dropout_mask] || inputs[Attention::Dropout_scale]) {
    for (size_t port : {Attention::Dropout_mask, Attention::Dropout_scale})
      CHECK_WARPLOOM_ERROR(needs(port, "none with the other of mask and scale"));
    CHECK_WARPLOOM_ERROR(check_broadcast(site, Attention::Dropout_mask,
                                         inputs[Attention::Dropout_mask], score_dims(attention)));
    CHECK_WARPLOOM_ERROR(
        check_single(site, Attention::Dropout_scale, inputs[Attention::Dropout_scale]));
  }
  if (attention.outputs[Attention::RNG_DUMP] && !probability)
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.output(Attention::RNG_DUMP),
                       "no dropout_probability", "a probability: the dump is the mask it makes");
  return {};
}

/// Ragged offsets, which only ports with a partner RAGGED_OFFSET_x may have.
template <class Attention>
error_t check_ragged(const Attention& attention, const Site& site) {
  const int64_t batches = attention.inputs[Attention::Q]->get_dim()[0];
  const auto check = [&](const graph::Port& port, const graph::TensorPtr& tensor,
                         const std::string& subject) -> error_t {
    const graph::TensorPtr offset = ragged_offset(attention, port, tensor);
    if (!offset) return {};
    if (ragged_port(Attention::kInputs, port.name) == kNoPort)
      return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, subject, "a ragged offset", "none");
    // What the offsets of a batch reach is known when they are, which is later than the workspace.
    if (tensor->get_is_virtual())
      return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, subject,
                         "a virtual tensor with a ragged offset",
                         "a tensor in memory, or no offset");
    if (!attention.get_padding_mask())
      return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, subject,
                         "a ragged offset without padding_mask",
                         "padding_mask with sequence lengths, or none");
    return check_ragged_offset(site, subject, *offset, batches);
  };
  for (size_t port = 0; port < attention.inputs.size(); ++port)
    if (attention.inputs[port])
      CHECK_WARPLOOM_ERROR(
          check(Attention::kInputs[port], attention.inputs[port], site.input(port)));
  for (size_t port = 0; port < attention.outputs.size(); ++port)
    if (attention.outputs[port])
      CHECK_WARPLOOM_ERROR(
          check(Attention::kOutputs[port], attention.outputs[port], site.output(port)));
  return {};
}

template <class Attention>
error_t check_compute_type(const Attention& attention, const Site& site) {
  if (base::is_floating(attention.compute_data_type)) return {};
  return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, "compute data type",
                     show(attention.compute_data_type), kFloatTypes);
}

/// All of the above but for shapes, which come first, and the types of Q, K and V.
template <class Attention>
error_t check_options(const Attention& attention, const Site& site) {
  if (attention.get_score_mod())
    return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, "option score_mod", "a function",
                       "none: Graph's methods compose the operation with it");
  CHECK_WARPLOOM_ERROR(check_scale(attention, site));
  CHECK_WARPLOOM_ERROR(check_bias(attention, site));
  CHECK_WARPLOOM_ERROR(check_lengths(attention, site));
  CHECK_WARPLOOM_ERROR(check_bounds(attention, site));
  CHECK_WARPLOOM_ERROR(check_sink(attention, site));
  CHECK_WARPLOOM_ERROR(check_dropout(attention, site));
  return check_ragged(attention, site);
}

}  // namespace warploom::ops
