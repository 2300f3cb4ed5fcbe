#include "ops/attention_checks.h"
#include "ops/strides.h"

namespace warploom::ops {
namespace {

using SDPA = graph::SDPA_attributes;
using graph::TensorPtr;

constexpr std::string_view kQuantizedTypes = "FP8_E4M3 or FP8_E5M2";

bool is_quantized(DataType_t type) {
  return type == DataType_t::FP8_E4M3 || type == DataType_t::FP8_E5M2;
}

error_t check_types(const SDPA& sdpa, const Site& site, TypePredicate is_accepted,
                    std::string_view accepted) {
  CHECK_WARPLOOM_ERROR(check_compute_type(sdpa, site));
  for (size_t port : {SDPA::Q, SDPA::K, SDPA::V})
    CHECK_WARPLOOM_ERROR(check_input_type(site, port, sdpa.inputs[port], is_accepted, accepted));
  for (size_t port : {SDPA::Stats, SDPA::Max, SDPA::Sum_exp, SDPA::Amax_S, SDPA::Amax_O})
    CHECK_WARPLOOM_ERROR(
        check_output_type(site, port, sdpa.outputs[port], base::is_floating, kFloatTypes));
  return {};
}

// Scales are what an fp8 attention has.
error_t check_no_scales(const SDPA& sdpa, const Site& site) {
  const auto refuse = [&](const std::string& subject) {
    return site.refuse(error_code_t::INVALID_VALUE, subject, "a tensor",
                       "none: quantized tensors are for sdpa_fp8");
  };
  for (size_t port : {SDPA::Descale_Q, SDPA::Descale_K, SDPA::Descale_V, SDPA::Descale_S,
                      SDPA::Scale_S, SDPA::Scale_O})
    if (sdpa.inputs[port]) return refuse(site.input(port));
  for (size_t port : {SDPA::Amax_S, SDPA::Amax_O})
    if (sdpa.outputs[port]) return refuse(site.output(port));
  return {};
}

error_t check_pages(const SDPA& sdpa, const Site& site) {
  const auto most = sdpa.get_max_seq_len_kv();
  constexpr size_t kTables[] = {SDPA::Page_table_K, SDPA::Page_table_V};
  constexpr size_t kContainers[] = {SDPA::K, SDPA::V};
  if (!sdpa.inputs[kTables[0]] && !sdpa.inputs[kTables[1]]) {
    if (!most) return {};
    return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, site.field("max_seq_len_kv"), show(*most),
                       "none where neither K nor V has a page table");
  }
  if (most && (*most < 0 || *most > INT32_MAX))
    return site.refuse(error_code_t::INVALID_VALUE, site.field("max_seq_len_kv"), show(*most),
                       fmt::format("0 to {}", INT32_MAX));
  const AttentionExtents extents(sdpa, PortDims::of(sdpa));
  for (size_t which : {0, 1}) {
    const size_t port = kTables[which], container = kContainers[which];
    const TensorPtr& table = sdpa.inputs[port];
    const int64_t rows = sdpa.inputs[container]->get_dim()[2];
    if (!table) {
      if (rows == extents.keys) continue;
      return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, site.input(container, 2, "sequence"),
                         show(rows), fmt::format("{}, the keys of the paged one", extents.keys));
    }
    CHECK_WARPLOOM_ERROR(check_input_type(site, port, table, is_index_type, "INT32 or INT64"));
    if (!sdpa.get_padding_mask())
      return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, site.field("padding_mask"),
                         fmt::format("false with {}", site.input(port)),
                         "true with the lengths of what is on the pages");
    if (ragged_offset(sdpa, SDPA::kInputs[container], sdpa.inputs[container]))
      return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, site.input(container),
                         "a page table and a ragged offset", "one of them");
    if (rows == 0 && extents.keys != 0)
      return site.refuse(error_code_t::INVALID_VALUE, site.input(container, 2, "page size"), "0",
                         "1 or more");
    const int64_t pages = rows == 0 ? 0 : (extents.keys + rows - 1) / rows;
    const Dims accepted{extents.batches, 1, pages, 1};
    if (table->get_dim() != accepted)
      return site.refuse(
          error_code_t::INVALID_VALUE, site.input(port) + ", dims", show(table->get_dim()),
          fmt::format("{}: {} keys on pages of {}", show(accepted), extents.keys, rows));
  }
  return {};
}

error_t check_block_mask(const SDPA& sdpa, const Site& site) {
  const TensorPtr& mask = sdpa.inputs[SDPA::Block_mask];
  const AttentionExtents e(sdpa, PortDims::of(sdpa));
  const auto tiles = [](int64_t extent, int64_t size) { return (extent + size - 1) / size; };
  CHECK_WARPLOOM_ERROR(check_input_type(
      site, SDPA::Block_mask, mask, [](DataType_t type) { return type == DataType_t::UINT8; },
      "UINT8, eight blocks a byte"));
  return check_dims(
      site, SDPA::Block_mask, mask,
      {{e.batches, e.query_heads, tiles(e.queries, 128), tiles(tiles(e.keys, 128), 8)}});
}

/// Everything but types and scales.
error_t check_rest(const SDPA& sdpa, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_shapes(sdpa, site, sdpa.inputs[SDPA::Page_table_K] != nullptr,
                                    sdpa.inputs[SDPA::Page_table_V] != nullptr));
  CHECK_WARPLOOM_ERROR(check_pages(sdpa, site));
  CHECK_WARPLOOM_ERROR(check_block_mask(sdpa, site));
  CHECK_WARPLOOM_ERROR(check_options(sdpa, site));
  if (sdpa.get_generate_stats().value_or(false) && !sdpa.outputs[SDPA::Stats])
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.output(SDPA::Stats),
                       "no tensor with generate_stats", "a tensor");
  return {};
}

error_t check_scales(const SDPA& sdpa, const Site& site, std::initializer_list<size_t> ports) {
  for (size_t port : ports) {
    if (!sdpa.inputs[port])
      return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.input(port), "none", "a tensor");
    CHECK_WARPLOOM_ERROR(
        check_input_type(site, port, sdpa.inputs[port], base::is_floating, kFloatTypes));
    CHECK_WARPLOOM_ERROR(check_single(site, port, sdpa.inputs[port]));
  }
  return {};
}

// Scales of blocks of 32 elements along an axis; there may be as many as whole tiles have.
error_t check_block_scales(const SDPA& sdpa, const Site& site, size_t port, size_t of,
                           size_t axis) {
  const TensorPtr& scale = sdpa.inputs[port];
  if (!scale)
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.input(port), "none", "a tensor");
  CHECK_WARPLOOM_ERROR(check_input_type(
      site, port, scale, [](DataType_t type) { return type == DataType_t::FP8_E8M0; }, "FP8_E8M0"));
  if (scale->get_reordering_type() != TensorReordering_t::F8_128x4)
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.input(port) + ", reordering",
                       show(scale->get_reordering_type()), "F8_128x4");
  Dims needed = sdpa.inputs[of]->get_dim();
  needed[axis] = (needed[axis] + 31) / 32;
  const Dims& found = scale->get_dim();
  for (size_t i = 0; i < 4; ++i)
    if (found.size() != 4 || (i < 2 ? found[i] != needed[i] : found[i] < needed[i]))
      return site.refuse(
          error_code_t::ATTRIBUTE_NOT_SET, site.input(port) + ", dims", show(found),
          fmt::format("{} or more in the last two dims: a scale for each block of 32",
                      show(needed)));
  return {};
}

}  // namespace

error_t validate(const SDPA& sdpa, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_types(sdpa, site, base::is_floating, kFloatTypes));
  CHECK_WARPLOOM_ERROR(
      check_output_type(site, SDPA::O, sdpa.outputs[SDPA::O], base::is_floating, kFloatTypes));
  CHECK_WARPLOOM_ERROR(check_no_scales(sdpa, site));
  return check_rest(sdpa, site);
}

error_t validate(const graph::SDPA_fp8_forward& sdpa, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_types(sdpa, site, is_quantized, kQuantizedTypes));
  CHECK_WARPLOOM_ERROR(check_output_type(
      site, SDPA::O, sdpa.outputs[SDPA::O],
      [](DataType_t type) { return is_quantized(type) || base::is_floating(type); },
      "FP8_E4M3, FP8_E5M2, HALF, BFLOAT16, FLOAT or DOUBLE"));
  CHECK_WARPLOOM_ERROR(check_scales(sdpa, site,
                                    {SDPA::Descale_Q, SDPA::Descale_K, SDPA::Descale_V,
                                     SDPA::Descale_S, SDPA::Scale_S, SDPA::Scale_O}));
  return check_rest(sdpa, site);
}

error_t validate(const graph::SDPA_mxfp8_forward& sdpa, const Site& site) {
  CHECK_WARPLOOM_ERROR(check_types(sdpa, site, is_quantized, kQuantizedTypes));
  CHECK_WARPLOOM_ERROR(
      check_output_type(site, SDPA::O, sdpa.outputs[SDPA::O], base::is_floating, kFloatTypes));
  for (size_t port :
       {SDPA::Descale_S, SDPA::Scale_S, SDPA::Scale_O, SDPA::Page_table_K, SDPA::Page_table_V})
    if (sdpa.inputs[port])
      return site.refuse(error_code_t::INVALID_VALUE, site.input(port), "a tensor",
                         "none with scales of blocks");
  if (sdpa.outputs[SDPA::Amax_S])
    return site.refuse(error_code_t::INVALID_VALUE, site.output(SDPA::Amax_S), "a tensor",
                       "none with scales of blocks");
  CHECK_WARPLOOM_ERROR(check_rest(sdpa, site));
  CHECK_WARPLOOM_ERROR(check_block_scales(sdpa, site, SDPA::Descale_Q, SDPA::Q, 3));
  CHECK_WARPLOOM_ERROR(check_block_scales(sdpa, site, SDPA::Descale_K, SDPA::K, 3));
  return check_block_scales(sdpa, site, SDPA::Descale_V, SDPA::V, 2);
}

error_t infer(SDPA& sdpa, const Site& site) {
  const AttentionExtents e(sdpa, PortDims::of(sdpa));
  graph::Tensor_attributes& output = *sdpa.outputs[SDPA::O];
  // As in the contract: the layout of O is a decision of the user's.
  if (output.get_dim().empty() || output.get_stride().empty())
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, site.output(SDPA::O),
                       output.get_dim().empty() ? "no dims" : "no strides",
                       "dims and strides, set on the result");
  CHECK_WARPLOOM_ERROR(
      infer_dims(site, SDPA::O, output, {e.batches, e.query_heads, e.queries, e.value_size}));
  const auto infer_row_major = [&](size_t port, const Dims& dims) -> error_t {
    const TensorPtr& tensor = sdpa.outputs[port];
    if (!tensor) return {};
    CHECK_WARPLOOM_ERROR(infer_dims(site, port, *tensor, dims));
    if (tensor->get_stride().empty()) tensor->set_stride(row_major_strides(dims));
    return {};
  };
  for (size_t port : {SDPA::Stats, SDPA::Max, SDPA::Sum_exp})
    CHECK_WARPLOOM_ERROR(infer_row_major(port, {e.batches, e.query_heads, e.queries, 1}));
  for (size_t port : {SDPA::Amax_S, SDPA::Amax_O})
    CHECK_WARPLOOM_ERROR(infer_row_major(port, {1, 1, 1, 1}));
  return infer_row_major(SDPA::RNG_DUMP, {e.batches, e.query_heads, e.queries, e.keys});
}

}  // namespace warploom::ops
