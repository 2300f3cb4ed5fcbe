#pragma once
/// A handle: the device that graphs are built for and run on, and the stream they run in.
#include <memory>
#include <optional>

#include <warploom/device.h>
#include <warploom/error.h>

namespace warploom {

struct HandleOptions {
  /// Unset takes a usable GPU when there is one, else the CPU. This version has engines for the CPU
  /// alone.
  std::optional<DeviceType> device;
  int ordinal = 0;
  /// The first run of every plan is repeated by the reference engine and compared; also
  /// WARPLOOM_VERIFY=1.
  bool verify = false;
};

/// Owns a device's resources. One handle may be used by many threads for execute; set_stream
/// belongs to one thread.
class WARPLOOM_EXPORT Handle {
 public:
  /// INVALID_CUDA_DEVICE when the device asked for is not there; the message says what was found.
  static error_t create(std::unique_ptr<Handle>& handle, const HandleOptions& options = {});
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  const Device& device() const;
  const HandleOptions& options() const;
  /// The stream (a cudaStream_t as void*) that execute launches into. The CPU runs in the calling
  /// thread and ignores it.
  void set_stream(void* stream);
  void* get_stream() const;

 private:
  Handle();
  struct State;
  std::unique_ptr<State> state_;
};

/// How handles appear in the graph API.
using handle_t = Handle*;

/// A handle on the default device; never null (the CPU is always there).
WARPLOOM_EXPORT std::unique_ptr<Handle> create_handle();

/// Threads that CPU kernels use in this process: the hardware's, limited by affinity, cgroup quota,
/// OMP_NUM_THREADS and WARPLOOM_NUM_THREADS. Set before building plans; INVALID_VALUE below 1.
WARPLOOM_EXPORT error_t set_num_threads(int threads);
WARPLOOM_EXPORT int get_num_threads();

}  // namespace warploom
