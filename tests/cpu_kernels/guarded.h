#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace warploom::cpu {

/// Memory that ends where an unmapped page begins, filled with 0xFF: one element too far is a
/// crash, and what was not written shows. `alignment` moves the end forward at most that much.
template <class T>
class Guarded {
 public:
  explicit Guarded(size_t count, size_t alignment = alignof(T)) : count_(count) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment;
    size_ = (bytes + page - 1) / page * page + page;
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base_ = static_cast<char*>(memory);
    std::memset(base_, 0xff, size_ - page);
    mprotect(base_ + size_ - page, page, PROT_NONE);
    data_ = reinterpret_cast<T*>(base_ + size_ - page - bytes);
  }
  ~Guarded() { munmap(base_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return count_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

  /// Whether everything before the data is still 0xFF.
  bool front_untouched() const {
    for (const char* p = base_; p < reinterpret_cast<const char*>(data_); ++p) {
      if (static_cast<unsigned char>(*p) != 0xff) return false;
    }
    return true;
  }

 private:
  size_t count_, size_ = 0;
  char* base_ = nullptr;
  T* data_ = nullptr;
};

}  // namespace warploom::cpu
