#include "ops/attention_extents.h"

#include <algorithm>

namespace warploom::ops {

using SDPA = graph::SDPA_attributes;

int64_t AttentionExtents::key_count(const SDPA& sdpa, const PortDims& dims) {
  const auto* const k_table = dims.inputs[SDPA::Page_table_K];
  const auto* const v_table = dims.inputs[SDPA::Page_table_V];
  if (!k_table && !v_table) return (*dims.inputs[SDPA::K])[2];
  if (sdpa.get_max_seq_len_kv()) return *sdpa.get_max_seq_len_kv();
  if (!k_table) return (*dims.inputs[SDPA::K])[2];
  if (!v_table) return (*dims.inputs[SDPA::V])[2];
  for (const auto* scores : {dims.inputs[SDPA::Bias], dims.outputs[SDPA::RNG_DUMP]})
    if (scores && scores->size() == 4) return (*scores)[3];
  const auto rows_on_pages = [&](const std::vector<int64_t>& table, size_t container) {
    return table.size() == 4 ? table[2] * (*dims.inputs[container])[2] : 0;
  };
  return std::min(rows_on_pages(*k_table, SDPA::K), rows_on_pages(*v_table, SDPA::V));
}

}  // namespace warploom::ops
