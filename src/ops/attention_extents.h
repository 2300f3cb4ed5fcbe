#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <warploom/ops/attention.h>

#include "ops/reference.h"
#include "ops/strides.h"

namespace warploom::ops {

/// Dims by port, whatever holds them; null where a port is not used.
struct PortDims {
  std::array<const std::vector<int64_t>*, 32> inputs{}, outputs{};

  template <class Attributes>
  static PortDims of(const Attributes& attributes) {
    PortDims dims;
    for (size_t port = 0; port < attributes.inputs.size(); ++port)
      if (attributes.inputs[port]) dims.inputs[port] = &attributes.inputs[port]->get_dim();
    for (size_t port = 0; port < attributes.outputs.size(); ++port)
      if (attributes.outputs[port]) dims.outputs[port] = &attributes.outputs[port]->get_dim();
    return dims;
  }
  static PortDims of(const ReferenceTensors& tensors) {
    PortDims dims;
    for (size_t port = 0; port < tensors.inputs.size(); ++port)
      if (tensors.inputs[port]) dims.inputs[port] = &tensors.inputs[port].shape->dims;
    for (size_t port = 0; port < tensors.outputs.size(); ++port)
      if (tensors.outputs[port]) dims.outputs[port] = &tensors.outputs[port].shape->dims;
    return dims;
  }
};

/// How large an attention is. Q, K and V have four dims.
struct AttentionExtents {
  int64_t batches = 0, query_heads = 0, key_heads = 0, value_heads = 0;
  int64_t queries = 0, keys = 0, key_size = 0, value_size = 0;

  template <class Attention>
  AttentionExtents(const Attention& attention, const PortDims& dims) {
    const auto& q = *dims.inputs[Attention::Q];
    const auto& k = *dims.inputs[Attention::K];
    const auto& v = *dims.inputs[Attention::V];
    batches = q[0];
    query_heads = q[1];
    key_heads = k[1];
    value_heads = v[1];
    queries = q[2];
    keys = k[2];
    key_size = q[3];
    value_size = v[3];
    if constexpr (requires { Attention::Page_table_K; }) keys = key_count(attention, dims);
  }

 private:
  static int64_t key_count(const graph::SDPA_attributes& sdpa, const PortDims& dims);
};

}  // namespace warploom::ops
