#include "ops/attention_checks.h"

#include <algorithm>

#include <fmt/ranges.h>

namespace warploom::ops {

using graph::TensorPtr;

error_t check_input_type(const Site& site, size_t port, const TensorPtr& tensor,
                         TypePredicate is_accepted, std::string_view accepted) {
  if (!tensor || is_accepted(tensor->get_data_type())) return {};
  return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, site.input(port) + ", data type",
                     show(tensor->get_data_type()), accepted);
}

error_t check_output_type(const Site& site, size_t port, const TensorPtr& tensor,
                          TypePredicate is_accepted, std::string_view accepted) {
  if (!tensor || is_accepted(tensor->get_data_type())) return {};
  return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, site.output(port) + ", data type",
                     show(tensor->get_data_type()), accepted);
}

error_t check_single(const Site& site, size_t port, const TensorPtr& tensor) {
  if (!tensor || tensor->get_volume() == 1) return {};
  return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port) + ", dims",
                     show(tensor->get_dim()), "one element");
}

error_t check_dims(const Site& site, size_t port, const TensorPtr& tensor,
                   std::initializer_list<Dims> accepted) {
  if (!tensor || std::ranges::find(accepted, tensor->get_dim()) != accepted.end()) return {};
  std::vector<std::string> texts;
  for (const Dims& dims : accepted) texts.push_back(show(dims));
  return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port) + ", dims",
                     show(tensor->get_dim()), fmt::format("{}", fmt::join(texts, " or ")));
}

error_t check_broadcast(const Site& site, size_t port, const TensorPtr& tensor,
                        const Dims& scores) {
  if (!tensor) return {};
  const Dims& dims = tensor->get_dim();
  if (dims.size() > scores.size())
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port),
                       show(dims.size()) + " dims", "at most 4");
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t score = scores[scores.size() - dims.size() + i];
    if (dims[i] != 1 && dims[i] != score)
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port, i),
                         fmt::format("{} in {}", dims[i], show(dims)),
                         fmt::format("1 or {}, to fit scores {}", score, show(scores)));
  }
  return {};
}

error_t check_bound(const Site& site, std::string_view name, std::optional<int64_t> value) {
  constexpr int64_t kMost = INT32_MAX;
  if (!value || (*value >= -kMost && *value <= kMost)) return {};
  return site.refuse(error_code_t::INVALID_VALUE, site.field(name), show(*value),
                     fmt::format("{} to {}; leave it unset for no bound", -kMost, kMost));
}

error_t check_ragged_offset(const Site& site, const std::string& subject,
                            const graph::Tensor_attributes& offset, int64_t batches) {
  const std::string place = fmt::format("{}, ragged offset \"{}\"", subject, offset.get_name());
  if (!is_index_type(offset.get_data_type()))
    return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, place + ", data type",
                       show(offset.get_data_type()), "INT32 or INT64");
  if (offset.get_dim() != Dims{batches + 1, 1, 1, 1} && offset.get_dim() != Dims{batches + 1})
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, place + ", dims",
                       show(offset.get_dim()),
                       fmt::format("[{0}, 1, 1, 1] or [{0}]: one more than batches", batches + 1));
  if (offset.get_stride().size() != offset.get_dim().size())
    return site.refuse(error_code_t::ATTRIBUTE_NOT_SET, place + ", strides",
                       show(offset.get_stride()), "one stride for each dim");
  if (offset.get_ragged_offset() || is_stored_scalar(offset))
    return site.refuse(error_code_t::INVALID_VALUE, place,
                       "a tensor that is ragged or a scalar itself", "a tensor in memory");
  return {};
}

}  // namespace warploom::ops
