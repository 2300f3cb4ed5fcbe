#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <initializer_list>

namespace warploom::base {

/// A vector of at most `Capacity` small values that allocates nothing.
template <class T, std::size_t Capacity>
class InplaceVector {
 public:
  InplaceVector() = default;
  InplaceVector(std::initializer_list<T> values) : InplaceVector(values.begin(), values.end()) {}
  template <class Iterator>
  InplaceVector(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(*first);
  }

  T* begin() { return values_.data(); }
  T* end() { return values_.data() + size_; }
  const T* begin() const { return values_.data(); }
  const T* end() const { return values_.data() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t index) { return values_[index]; }
  const T& operator[](std::size_t index) const { return values_[index]; }
  T& back() { return values_[size_ - 1]; }
  const T& back() const { return values_[size_ - 1]; }

  void push_back(const T& value) {
    assert(size_ < Capacity);
    values_[size_++] = value;
  }
  void push_front(const T& value) {
    push_back(value);
    std::rotate(begin(), end() - 1, end());
  }
  void pop_back() { --size_; }

 private:
  std::array<T, Capacity> values_ = {};
  std::size_t size_ = 0;
};

}  // namespace warploom::base
