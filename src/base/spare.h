#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace warploom::base {

/// Keeps one object that is no longer in use for whoever needs one next. Any thread, no lock: one
/// that finds nothing makes an object of its own.
template <class T>
class Spare {
 public:
  /// Gives the object back, or deletes it where there is a spare one already.
  struct Return {
    Spare* spare = nullptr;
    void operator()(T* object) const {
      delete (spare ? spare->kept_.exchange(object, std::memory_order_acq_rel) : object);
    }
  };
  using Pointer = std::unique_ptr<T, Return>;

  Spare() = default;
  Spare(const Spare&) = delete;
  Spare& operator=(const Spare&) = delete;
  ~Spare() { delete kept_.load(std::memory_order_acquire); }

  /// The spare object if there is one that `is_usable`, or what `make` returns a std::unique_ptr
  /// to.
  template <class IsUsable, class Make>
  Pointer take(IsUsable&& is_usable, Make&& make) {
    std::unique_ptr<T> object(kept_.exchange(nullptr, std::memory_order_acq_rel));
    if (!object || !is_usable(*object)) object = make();
    return Pointer(object.release(), Return{this});
  }

 private:
  std::atomic<T*> kept_ = nullptr;
};

}  // namespace warploom::base
