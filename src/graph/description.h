#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <warploom/ops/operation.h>

namespace warploom::graph {

/// A graph as its user described it: what builder fills, validate() completes, freeze() reads and
/// graph JSON holds. Tensors are the user's own objects.
struct Description {
  std::string name;
  DataType_t io_data_type = DataType_t::NOT_SET;
  DataType_t intermediate_data_type = DataType_t::NOT_SET;
  DataType_t compute_data_type = DataType_t::NOT_SET;
  bool is_dynamic_shape_enabled = false;
  bool is_override_shape_enabled = false;
  int32_t sm_count = -1;
  int32_t sm_version = -1;
  /// Made by Graph::tensor(), in that order, whether or not an operation reads them.
  std::vector<TensorPtr> tensors;
  /// In the order of creation.
  std::vector<Operation> nodes;
};

}  // namespace warploom::graph
