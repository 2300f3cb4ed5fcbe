#include <cmath>

#include <fmt/format.h>

#include "base/data_type.h"
#include "ops/families.h"
#include "ops/strides.h"

namespace warploom::ops {
namespace {

using SDPA = graph::SDPA_attributes;
using graph::TensorPtr;

error_t check_implemented(const SDPA& sdpa, const Site& site) {
  auto refuse = [&](std::string_view option) {
    return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, option, "a value set",
                       "none in this version");
  };
  if (sdpa.get_alibi_mask()) return refuse(site.field("alibi_mask"));
  if (sdpa.get_dropout_probability()) return refuse(site.field("dropout_probability"));
  if (sdpa.get_max_seq_len_kv()) return refuse(site.field("max_seq_len_kv"));
  if (sdpa.get_score_mod()) return refuse("option score_mod");
  for (size_t port : {SDPA::Seed, SDPA::Offset, SDPA::Dropout_mask, SDPA::Dropout_scale,
                      SDPA::Page_table_K, SDPA::Page_table_V, SDPA::Block_mask, SDPA::SINK_TOKEN})
    if (sdpa.inputs[port]) return refuse(site.input(port));
  if (sdpa.outputs[SDPA::RNG_DUMP]) return refuse(site.output(SDPA::RNG_DUMP));
  return {};
}

enum class Side { kInput, kOutput };

error_t check_type(const Site& site, Side side, size_t port, const TensorPtr& tensor,
                   bool is_accepted, std::string_view accepted) {
  if (is_accepted) return {};
  return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED,
                     (side == Side::kInput ? site.input(port) : site.output(port)) + ", data type",
                     show(tensor->get_data_type()), accepted);
}

error_t check_types(const SDPA& sdpa, const Site& site) {
  constexpr std::string_view kFloats = "FLOAT, HALF, BFLOAT16 or DOUBLE";
  if (!base::is_floating(sdpa.compute_data_type))
    return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, "compute data type",
                       show(sdpa.compute_data_type), kFloats);
  for (size_t port : {SDPA::Q, SDPA::K, SDPA::V, SDPA::Attn_scale})
    if (const TensorPtr& tensor = sdpa.inputs[port])
      CHECK_WARPLOOM_ERROR(check_type(site, Side::kInput, port, tensor,
                                      base::is_floating(tensor->get_data_type()), kFloats));
  if (const TensorPtr& bias = sdpa.inputs[SDPA::Bias])
    CHECK_WARPLOOM_ERROR(check_type(site, Side::kInput, SDPA::Bias, bias,
                                    bias->get_data_type() != DataType_t::BOOLEAN,
                                    "a number type: a bias is added to the scores"));
  for (size_t port : {SDPA::SEQ_LEN_Q, SDPA::SEQ_LEN_KV})
    if (const TensorPtr& tensor = sdpa.inputs[port])
      CHECK_WARPLOOM_ERROR(check_type(site, Side::kInput, port, tensor,
                                      tensor->get_data_type() == DataType_t::INT32 ||
                                          tensor->get_data_type() == DataType_t::INT64,
                                      "INT32 or INT64"));
  for (size_t port : {SDPA::O, SDPA::Stats, SDPA::Max, SDPA::Sum_exp})
    if (const TensorPtr& tensor = sdpa.outputs[port])
      CHECK_WARPLOOM_ERROR(check_type(site, Side::kOutput, port, tensor,
                                      base::is_floating(tensor->get_data_type()), kFloats));
  return {};
}

error_t check_shapes(const SDPA& sdpa, const Site& site) {
  for (size_t port : {SDPA::Q, SDPA::K, SDPA::V})
    if (sdpa.inputs[port]->get_dim().size() != 4)
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port),
                         show(sdpa.inputs[port]->get_dim().size()) + " dims",
                         "4: batch, heads, sequence, head size");
  const Dims& q = sdpa.inputs[SDPA::Q]->get_dim();
  const Dims& k = sdpa.inputs[SDPA::K]->get_dim();
  const Dims& v = sdpa.inputs[SDPA::V]->get_dim();

  auto must_equal = [&](size_t port, size_t dim, std::string_view meaning, int64_t found,
                        int64_t accepted, size_t of_port) -> error_t {
    if (found == accepted) return {};
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port, dim, meaning),
                       show(found),
                       fmt::format("{}, dim {} of {}", accepted, dim, site.input(of_port)));
  };
  CHECK_WARPLOOM_ERROR(must_equal(SDPA::K, 0, "batch", k[0], q[0], SDPA::Q));
  CHECK_WARPLOOM_ERROR(must_equal(SDPA::V, 0, "batch", v[0], q[0], SDPA::Q));
  CHECK_WARPLOOM_ERROR(must_equal(SDPA::K, 3, "head size", k[3], q[3], SDPA::Q));
  CHECK_WARPLOOM_ERROR(must_equal(SDPA::V, 2, "sequence", v[2], k[2], SDPA::K));
  for (size_t port : {SDPA::K, SDPA::V}) {
    const int64_t heads = sdpa.inputs[port]->get_dim()[1];
    if (heads == 0 ? q[1] != 0 : q[1] % heads != 0)
      return site.refuse(
          error_code_t::GRAPH_NOT_SUPPORTED, site.input(port, 1, "heads"), show(heads),
          fmt::format("a divisor of {}, the heads of {}", q[1], site.input(SDPA::Q)));
  }
  return {};
}

error_t check_scale(const SDPA& sdpa, const Site& site) {
  const TensorPtr& scale = sdpa.inputs[SDPA::Attn_scale];
  const auto value = sdpa.get_attn_scale_value();
  if (scale && value)
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.input(SDPA::Attn_scale),
                       fmt::format("a tensor and the value {}", *value), "one of them");
  if (value && !std::isfinite(*value))
    return site.refuse(error_code_t::INVALID_VALUE, site.field("attn_scale_value"), show(*value),
                       "a finite number");
  if (scale && scale->get_volume() != 1)
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED,
                       site.input(SDPA::Attn_scale) + ", dims", show(scale->get_dim()),
                       "one element");
  return {};
}

error_t check_bias(const SDPA& sdpa, const Site& site) {
  const TensorPtr& bias = sdpa.inputs[SDPA::Bias];
  if (!bias) return {};
  const Dims& q = sdpa.inputs[SDPA::Q]->get_dim();
  const Dims scores{q[0], q[1], q[2], sdpa.inputs[SDPA::K]->get_dim()[2]};
  const Dims& dims = bias->get_dim();
  if (dims.size() > scores.size())
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(SDPA::Bias),
                       show(dims.size()) + " dims", "at most 4");
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t score = scores[scores.size() - dims.size() + i];
    if (dims[i] != 1 && dims[i] != score)
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(SDPA::Bias, i),
                         fmt::format("{} in {}", dims[i], show(dims)),
                         fmt::format("1 or {}, to fit scores {}", score, show(scores)));
  }
  return {};
}

error_t check_lengths(const SDPA& sdpa, const Site& site) {
  for (size_t port : {SDPA::SEQ_LEN_Q, SDPA::SEQ_LEN_KV}) {
    const TensorPtr& tensor = sdpa.inputs[port];
    if (!tensor && sdpa.get_padding_mask())
      return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.input(port),
                         "no tensor with padding_mask", "the lengths of every batch");
    if (tensor && !sdpa.get_padding_mask())
      return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.field("padding_mask"),
                         fmt::format("false with {}", site.input(port)),
                         "true with sequence lengths");
    if (!tensor) continue;
    const int64_t batch = sdpa.inputs[SDPA::Q]->get_dim()[0];
    if (tensor->get_dim() != Dims{batch, 1, 1, 1} && tensor->get_dim() != Dims{batch})
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port) + ", dims",
                         show(tensor->get_dim()), fmt::format("[{0}, 1, 1, 1] or [{0}]", batch));
  }
  return {};
}

error_t check_bounds(const SDPA& sdpa, const Site& site) {
  constexpr int64_t kMost = INT32_MAX;
  struct Bound {
    std::string_view name;
    std::optional<int64_t> value;
  };
  for (const auto& [name, value] :
       {Bound{"left_bound", sdpa.get_left_bound()}, Bound{"right_bound", sdpa.get_right_bound()}})
    if (value && (*value < -kMost || *value > kMost))
      return site.refuse(error_code_t::INVALID_VALUE, site.field(name), show(*value),
                         fmt::format("{} to {}; leave it unset for no bound", -kMost, kMost));
  return {};
}

}  // namespace

error_t validate(const SDPA& sdpa, const Site& site) {
  for (auto check : {check_implemented, check_types, check_shapes, check_scale, check_bias,
                     check_lengths, check_bounds})
    CHECK_WARPLOOM_ERROR(check(sdpa, site));
  if (sdpa.get_generate_stats().value_or(false) && !sdpa.outputs[SDPA::Stats])
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.output(SDPA::Stats),
                       "no tensor with generate_stats", "a tensor");
  return {};
}

error_t infer(SDPA& sdpa, const Site& site) {
  const Dims& q = sdpa.inputs[SDPA::Q]->get_dim();
  graph::Tensor_attributes& output = *sdpa.outputs[SDPA::O];
  // As in the contract: the layout of O is a decision of the user's.
  if (output.get_dim().empty() || output.get_stride().empty())
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.output(SDPA::O),
                       output.get_dim().empty() ? "no dims" : "no strides",
                       "dims and strides, set on the result");
  CHECK_WARPLOOM_ERROR(
      infer_dims(site, SDPA::O, output, {q[0], q[1], q[2], sdpa.inputs[SDPA::V]->get_dim()[3]}));
  const Dims rows{q[0], q[1], q[2], 1};
  for (size_t port : {SDPA::Stats, SDPA::Max, SDPA::Sum_exp}) {
    const TensorPtr& tensor = sdpa.outputs[port];
    if (!tensor) continue;
    CHECK_WARPLOOM_ERROR(infer_dims(site, port, *tensor, rows));
    if (tensor->get_stride().empty()) tensor->set_stride(row_major_strides(rows));
  }
  return {};
}

}  // namespace warploom::ops
