#include "graph/identity.h"

#include <array>
#include <unordered_map>

#include "base/element.h"
#include "base/hash.h"
#include "ops/reflection.h"

namespace warploom::graph {
namespace {

class Bytes : public base::Encoding<Bytes> {
 public:
  void add_bytes(std::string_view bytes) { text_.append(bytes); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Follows from shapes, and no kernel reads it.
bool is_extent(std::string_view tag, std::string_view field) {
  return tag == Reshape_attributes::kTag && (field == "dim" || field == "stride");
}

class Writer {
 public:
  explicit Writer(bool leaves_shapes_out) : leaves_shapes_out_(leaves_shapes_out) {}

  void write(const Description& description) {
    bytes_.add(description.name)
        .add(description.io_data_type)
        .add(description.intermediate_data_type)
        .add(description.compute_data_type)
        .add(description.is_dynamic_shape_enabled)
        .add(description.is_override_shape_enabled)
        .add(description.sm_count)
        .add(description.sm_version);
    bytes_.add(description.nodes.size());
    for (const Operation& node : description.nodes) operation(node);
  }

  std::string take() { return bytes_.take(); }

 private:
  void operation(const Operation& node) {
    const std::string_view tag = ops::tag(node);
    bytes_.add(tag).add(ops::name(node)).add(ops::compute_data_type(node));
    ops::for_each_field(node, [&](std::string_view name, const auto& value, bool) {
      if (leaves_shapes_out_ && is_extent(tag, name)) return;
      bytes_.add(name);
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>,
                                   std::vector<std::pair<int64_t, int64_t>>>)
        slices(value);
      else
        bytes_.add(value);
    });
    tensors(ops::inputs(node));
    tensors(ops::outputs(node));
  }

  void slices(const std::vector<std::pair<int64_t, int64_t>>& slices) {
    bytes_.add(slices.size());
    for (const auto& [start, limit] : slices) bytes_.add(start).add(leaves_shapes_out_ ? 0 : limit);
  }

  void tensors(const std::vector<TensorPtr>& tensors) {
    bytes_.add(tensors.size());
    for (const TensorPtr& each : tensors) tensor(each);
  }

  /// The first time in full, later by its number.
  void tensor(const TensorPtr& tensor) {
    if (!tensor) {
      bytes_.add(-1);
      return;
    }
    const auto [place, is_new] = numbers_.try_emplace(tensor.get(), numbers_.size());
    bytes_.add(place->second);
    if (!is_new) return;
    bytes_.add(tensor->get_name())
        .add(tensor->get_data_type())
        .add(tensor->get_dim().size())
        .add(tensor->get_is_virtual())
        .add(tensor->get_is_pass_by_value())
        .add(tensor->get_reordering_type())
        .add(tensor->has_uid())
        .add(tensor->get_uid())
        .add(tensor->get_alignment())
        .add(tensor->get_vector_count())
        .add(tensor->get_vector_dimension());
    if (!leaves_shapes_out_) bytes_.add(tensor->get_dim()).add(tensor->get_stride());
    value(tensor->get_pass_by_value());
    value(tensor->get_compile_time_constant());
    this->tensor(tensor->get_ragged_offset());
  }

  void value(const std::optional<pass_by_values_t>& value) {
    bytes_.add(value.has_value());
    if (!value) return;
    const DataType_t type = data_type_of(*value);
    std::array<std::byte, 8> element = {};
    base::store_scalar(element.data(), type, *value);
    bytes_.add(type).add(std::bit_cast<uint64_t>(element));
  }

  bool leaves_shapes_out_;
  Bytes bytes_;
  std::unordered_map<const Tensor_attributes*, size_t> numbers_;
};

}  // namespace

std::string identity(const Description& description) {
  Writer writer(description.is_dynamic_shape_enabled);
  writer.write(description);
  return writer.take();
}

uint64_t key(const std::string& identity) {
  return base::Hash().add(identity).value();
}

}  // namespace warploom::graph
