#pragma once
/// Operations that move or reinterpret elements and compute nothing.
#include <array>

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
  template <class = void>
  static constexpr auto fields() {
    using Self = Reshape_attributes;
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
  template <class = void>
  static constexpr auto fields() {
    return std::tuple{field("permutation", &Transpose_attributes::permutation_, kRequired)};
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
  template <class = void>
  static constexpr auto fields() {
    using Self = Slice_attributes;
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

}  // namespace warploom::graph
