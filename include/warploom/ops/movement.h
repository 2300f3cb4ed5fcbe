#pragma once
/// Operations that move or reinterpret elements and compute nothing.
#include <array>
#include <optional>

#include <warploom/ops/attributes.h>

namespace warploom::graph {

/// VIEW_ONLY: Y's dims and strides laid over X's memory: element i of Y is at offset sum i stride_Y
/// from X's first element. LOGICAL: the elements of X in row-major order of its dims, dealt out in
/// row-major order of Y's dims, whatever the strides. Y's dims come from here or from the result
/// tensor; its strides default to dimension 1 fastest (NHWC).
class Reshape_attributes : public Attributes<Reshape_attributes> {
 public:
  static constexpr std::string_view kTag = "RESHAPE";
  enum Input : size_t { X };
  enum Output : size_t { Y };
  static constexpr Port kInputs[]{Port{"X", "input"}};
  static constexpr Port kOutputs[]{Port{"Y", ""}};
  template <class Self = Reshape_attributes>
  static constexpr auto fields() {
    return std::tuple{field("dim", &Self::dim_), field("stride", &Self::stride_),
                      field("reshape_mode", &Self::reshape_mode_, kRequired)};
  }

  Reshape_attributes& set_dim(std::vector<int64_t> value) {
    dim_ = std::move(value);
    return *this;
  }
  Reshape_attributes& set_stride(std::vector<int64_t> value) {
    stride_ = std::move(value);
    return *this;
  }
  Reshape_attributes& set_reshape_mode(ReshapeMode_t value) {
    reshape_mode_ = value;
    return *this;
  }
  const std::vector<int64_t>& get_dim() const { return dim_; }
  const std::vector<int64_t>& get_stride() const { return stride_; }
  ReshapeMode_t get_reshape_mode() const { return reshape_mode_; }

 private:
  std::vector<int64_t> dim_, stride_;
  ReshapeMode_t reshape_mode_ = ReshapeMode_t::VIEW_ONLY;
};

/// Y.dim[i] = X.dim[permutation[i]]. Y's strides, unless set, are X's permuted: a view of the same
/// memory when Y is virtual.
class Transpose_attributes : public Attributes<Transpose_attributes> {
 public:
  static constexpr std::string_view kTag = "TRANSPOSE";
  enum Input : size_t { X };
  enum Output : size_t { Y };
  static constexpr Port kInputs[]{Port{"X", "input"}};
  static constexpr Port kOutputs[]{Port{"Y", ""}};
  template <class Self = Transpose_attributes>
  static constexpr auto fields() {
    return std::tuple{field("permutation", &Self::permutation_, kRequired)};
  }

  Transpose_attributes& set_permutation(std::vector<int64_t> value) {
    permutation_ = std::move(value);
    return *this;
  }
  const std::vector<int64_t>& get_permutation() const { return permutation_; }

 private:
  std::vector<int64_t> permutation_;
};

/// Y = X[start : limit : step] in every dim; dim = ceil((limit - start) / step). One (start, limit)
/// per dim of X; steps default to 1. A virtual Y is a view of X's memory. A Y that is an output is
/// written when the variant pack has a pointer for it and is not asked for otherwise; its strides,
/// unless set, are packed in X's stride order.
class Slice_attributes : public Attributes<Slice_attributes> {
 public:
  static constexpr std::string_view kTag = "SLICE";
  enum Input : size_t { X };
  enum Output : size_t { Y };
  static constexpr Port kInputs[]{Port{"X", "input"}};
  static constexpr Port kOutputs[]{Port{"Y", ""}};
  template <class Self = Slice_attributes>
  static constexpr auto fields() {
    return std::tuple{field("slices", &Self::slices_, kRequired),
                      field("slice_strides", &Self::strides_)};
  }

  Slice_attributes& set_slices(std::vector<std::pair<int64_t, int64_t>> value) {
    slices_ = std::move(value);
    return *this;
  }
  Slice_attributes& set_strides(std::vector<int64_t> value) {
    strides_ = std::move(value);
    return *this;
  }
  const std::vector<std::pair<int64_t, int64_t>>& get_slices() const { return slices_; }
  const std::vector<int64_t>& get_strides() const { return strides_; }

 private:
  std::vector<std::pair<int64_t, int64_t>> slices_;
  std::vector<int64_t> strides_;
};

namespace numbered_ports {

// "X0", "X1", ... one after another, three bytes each.
constexpr size_t kMostConcatenated = 64;
constexpr std::array<char, 3 * kMostConcatenated> make_names() {
  std::array<char, 3 * kMostConcatenated> names{};
  for (size_t i = 0; i < kMostConcatenated; ++i) {
    names[3 * i] = 'X';
    names[3 * i + 1] = static_cast<char>('0' + (i < 10 ? i : i / 10));
    names[3 * i + 2] = static_cast<char>('0' + i % 10);
  }
  return names;
}
inline constexpr auto kNames = make_names();

constexpr std::array<Port, kMostConcatenated> make_ports() {
  std::array<Port, kMostConcatenated> ports{};
  for (size_t i = 0; i < kMostConcatenated; ++i)
    ports[i] = {std::string_view(&kNames[3 * i], i < 10 ? 2 : 3), "", i > 0};
  return ports;
}

}  // namespace numbered_ports

/// The inputs, at most 64, one after another along `axis`; in all other dims and in data type they
/// are equal. Y's strides, unless set, are packed in X0's stride order. With `in_place_index` that
/// input's memory may be its part of Y's memory.
class Concatenate_attributes : public Attributes<Concatenate_attributes> {
 public:
  static constexpr std::string_view kTag = "CONCATENATE";
  enum Output : size_t { Y };
  static constexpr std::array kInputs = numbered_ports::make_ports();
  static constexpr Port kOutputs[]{Port{"Y", ""}};
  template <class Self = Concatenate_attributes>
  static constexpr auto fields() {
    return std::tuple{field("axis", &Self::axis_, kRequired),
                      field("in_place_index", &Self::in_place_index_)};
  }

  Concatenate_attributes& set_axis(int64_t value) {
    axis_ = value;
    return *this;
  }
  Concatenate_attributes& set_in_place_index(int64_t value) {
    in_place_index_ = value;
    return *this;
  }
  std::optional<int64_t> get_axis() const { return axis_; }
  std::optional<int64_t> get_in_place_index() const { return in_place_index_; }

 private:
  std::optional<int64_t> axis_, in_place_index_;
};

}  // namespace warploom::graph
