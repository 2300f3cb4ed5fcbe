#include "tools/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tools/elements.h"

namespace warploom::tools {
namespace {

/// Some thirty roundings of each type: sums of thousands of terms in that type stay below.
double rounding_allowance(DataType_t type) {
  switch (type) {
    case DataType_t::DOUBLE:
      return 1e-12;
    case DataType_t::FLOAT:
      return 2e-5;
    case DataType_t::HALF:
      return 4e-3;
    case DataType_t::BFLOAT16:
      return 3e-2;
    default:
      return 0;
  }
}

/// The share of booleans that may flip because what they were computed from lay on the edge.
constexpr double kFlippedShare = 1e-4;

double root_mean_square(const NpyArray& array) {
  const int64_t size = detail::get_data_type_size(array.data_type);
  double sum = 0, count = 0;
  for (size_t at = 0; at < array.data.size(); at += static_cast<size_t>(size)) {
    const double value = load_element(array.data_type, array.data.data() + at);
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / count);
}

double difference(double got, double wanted, double scale) {
  if (std::isnan(got) && std::isnan(wanted)) return 0;
  if (got == wanted) return 0;
  if (!std::isfinite(got) || !std::isfinite(wanted)) {
    return std::numeric_limits<double>::infinity();
  }
  return std::abs(got - wanted) / scale;
}

/// Exact for all of INT64.
double integer_difference(const std::byte* got, const std::byte* wanted) {
  int64_t a = 0, b = 0;
  std::memcpy(&a, got, sizeof a);
  std::memcpy(&b, wanted, sizeof b);
  return static_cast<double>(static_cast<__int128>(std::max(a, b)) - std::min(a, b));
}

std::string position(int64_t index, const std::vector<int64_t>& dims) {
  std::vector<int64_t> coordinates(dims.size());
  for (size_t axis = dims.size(); axis-- > 0; index /= dims[axis]) {
    coordinates[axis] = index % dims[axis];
  }
  return fmt::format("[{}]", fmt::join(coordinates, ", "));
}

}  // namespace

double tolerance_of(const ir::Tensor& output, const ir::FrozenGraph& graph) {
  // Breadth-first from the output to the inputs.
  double coarsest = rounding_allowance(output.data_type);
  std::vector<bool> is_visited(graph.nodes.size());
  std::vector<ir::NodeId> open{output.producer};
  while (!open.empty()) {
    const ir::NodeId id = open.back();
    open.pop_back();
    if (id == ir::kNoNode || is_visited[static_cast<size_t>(id)]) continue;
    is_visited[static_cast<size_t>(id)] = true;
    const ir::Node& node = graph.node(id);
    coarsest = std::max(coarsest, rounding_allowance(node.compute_data_type));
    for (ir::TensorId input : node.inputs) {
      if (input == ir::kNoTensor) continue;
      const ir::Tensor& tensor = graph.tensor(input);
      if (tensor.producer == ir::kNoNode) continue;
      coarsest = std::max(coarsest, rounding_allowance(tensor.data_type));
      open.push_back(tensor.producer);
    }
  }
  if (is_floating_point(output.data_type) || coarsest == 0) return coarsest;
  return output.data_type == DataType_t::BOOLEAN ? kFlippedShare : 1;
}

Comparison compare(const TensorMemory& got, const NpyArray& wanted, double tolerance) {
  const DataType_t type = wanted.data_type;
  const int64_t size = detail::get_data_type_size(type);
  const bool is_floating = is_floating_point(type);
  const double typical = is_floating ? root_mean_square(wanted) : 0;
  Comparison result;
  result.tolerance = tolerance;
  double worst = 0, different = 0;
  int64_t index = 0;
  const std::array<std::span<const int64_t>, 1> layout{got.tensor().shape.strides};
  for_each_offset(wanted.dims, layout, [&](int64_t offset) {
    const std::byte* at = wanted.data.data() + index * size;
    const double a = load_element(type, got.element(offset)), b = load_element(type, at);
    // With a typical value of 0 every wanted one is 0, NaN or infinite.
    const double scale = std::abs(b) + typical > 0 && is_floating ? std::abs(b) + typical : 1;
    const double error = type == DataType_t::INT64 ? integer_difference(got.element(offset), at)
                                                   : difference(a, b, scale);
    if (error > 0) ++different;
    if (error > worst) {
      worst = error;
      result.worst = fmt::format("{}: {:.9g}, expected {:.9g}", position(index, wanted.dims), a, b);
    }
    ++index;
  });
  result.error =
      type == DataType_t::BOOLEAN && index > 0 ? different / static_cast<double>(index) : worst;
  return result;
}

}  // namespace warploom::tools
