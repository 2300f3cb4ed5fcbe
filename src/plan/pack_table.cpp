#include "plan/pack_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace warploom::plan {
namespace {

bool is_slice_result(const ir::FrozenGraph& graph, const ir::Tensor& tensor) {
  return tensor.producer != ir::kNoNode &&
         std::holds_alternative<graph::Slice_attributes>(graph.node(tensor.producer).operation);
}

std::string describe(const ir::Tensor& tensor) {
  const char* const role = tensor.is_pass_by_value          ? "scalar on the host"
                           : tensor.producer == ir::kNoNode ? "input"
                                                            : "output";
  return fmt::format("tensor \"{}\" ({}, {} [{}])", tensor.name, role, to_string(tensor.data_type),
                     fmt::join(tensor.shape.dims, ", "));
}

}  // namespace

PackTable::PackTable(const ir::FrozenGraph& graph)
    : graph_(graph), index_of_(graph.tensors.size(), -1) {
  for (size_t id = 0; id < graph.tensors.size(); ++id) {
    const ir::Tensor& tensor = graph.tensors[id];
    if (tensor.is_virtual || tensor.value) continue;
    entries_.push_back({tensor.uid, static_cast<ir::TensorId>(id), !is_slice_result(graph, tensor),
                        tensor.shape.volume() == 0});
  }
  std::ranges::sort(entries_, {}, &PackEntry::uid);
  for (size_t i = 0; i < entries_.size(); ++i)
    index_of_[static_cast<size_t>(entries_[i].tensor)] = static_cast<int32_t>(i);
}

void PackTable::update() {
  for (PackEntry& entry : entries_)
    entry.is_empty = graph_.tensor(entry.tensor).shape.volume() == 0;
}

error_t PackTable::resolve(std::span<void* const> sorted, std::span<void*> pointers) const {
  if (sorted.size() != required_count())
    return {error_code_t::INVALID_VARIANT_PACK,
            fmt::format("{} pointers given; get_variant_pack_uids_sorted() asks for {}",
                        sorted.size(), required_count())};
  size_t next = 0;
  for (size_t i = 0; i < entries_.size(); ++i)
    pointers[i] = entries_[i].is_required ? sorted[next++] : missing();
  return check(pointers);
}

size_t PackTable::required_count() const {
  return static_cast<size_t>(std::ranges::count(entries_, true, &PackEntry::is_required));
}

void* PackTable::missing() {
  static char nobody;
  return &nobody;
}

error_t PackTable::check(std::span<void*> pointers) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const PackEntry& entry = entries_[i];
    const bool is_missing = pointers[i] == missing();
    if (is_missing && entry.is_required) return missing_error(entry);
    if (is_missing) pointers[i] = nullptr;
    if (!pointers[i] && entry.is_required && !entry.is_empty) return null_error(entry);
  }
  return {};
}

error_t PackTable::missing_error(const PackEntry& entry) const {
  return {error_code_t::INVALID_VARIANT_PACK,
          fmt::format("Uid {} not found in variant pack. It is {}", entry.uid,
                      describe(graph_.tensor(entry.tensor)))};
}

error_t PackTable::null_error(const PackEntry& entry) const {
  return {error_code_t::INVALID_VARIANT_PACK,
          fmt::format("The variant pack holds a null pointer for uid {}, {}", entry.uid,
                      describe(graph_.tensor(entry.tensor)))};
}

}  // namespace warploom::plan
