#include "ops/norm.h"

#include <fmt/format.h>

#include "base/data_type.h"

namespace warploom::ops {

using graph::Tensor_attributes;
using graph::TensorPtr;

error_t check_floating(const Site& site, DataType_t compute_type,
                       const std::vector<TensorPtr>& outputs, size_t first_statistic) {
  constexpr std::string_view kFloats = "FLOAT, HALF, BFLOAT16 or DOUBLE";
  if (!base::is_floating(compute_type))
    return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, "compute data type", show(compute_type),
                       kFloats);
  for (size_t port = first_statistic; port < outputs.size(); ++port)
    if (outputs[port] && !base::is_floating(outputs[port]->get_data_type()))
      return site.refuse(error_code_t::GRAPH_NOT_SUPPORTED, site.output(port) + ", data type",
                         show(outputs[port]->get_data_type()), kFloats);
  return {};
}

error_t check_repeats(const Site& site, size_t port, const TensorPtr& tensor, const Dims& dims) {
  if (!tensor) return {};
  const Dims& own = tensor->get_dim();
  if (own.size() > dims.size())
    return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port),
                       show(own.size()) + " dims", fmt::format("at most {}", dims.size()));
  for (size_t i = 0; i < own.size(); ++i) {
    const int64_t partner = dims[dims.size() - own.size() + i];
    if (own[i] != 1 && own[i] != partner)
      return site.refuse(error_code_t::SHAPE_DEDUCTION_FAILED, site.input(port, i),
                         fmt::format("{} in {}", own[i], show(own)),
                         partner == 1 ? fmt::format("1, to fit {}", show(dims))
                                      : fmt::format("1 or {}, to fit {}", partner, show(dims)));
  }
  return {};
}

Layout layout_like(const Tensor_attributes& tensor) {
  if (elements_overlap(tensor.get_dim(), tensor.get_stride()))
    return packed_like(tensor.get_dim(), tensor);
  return {tensor.get_dim(), tensor.get_stride()};
}

Layout packed_like(const Dims& dims, const Tensor_attributes& tensor) {
  return {dims, strides_in_order_of(dims, tensor.get_stride())};
}

error_t infer_layout(const Site& site, size_t port, const TensorPtr& output, const Layout& layout) {
  if (!output) return {};
  CHECK_WARPLOOM_ERROR(infer_dims(site, port, *output, layout.dims));
  if (output->get_stride().empty()) output->set_stride(layout.strides);
  return {};
}

}  // namespace warploom::ops
