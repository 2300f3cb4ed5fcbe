#pragma once

#include <warploom/device.h>

#include "engines/cpu/kernels/kernel_table.h"
#include "engines/cpu/threads/thread_pool.h"

namespace warploom::cpu {

/// What a kernel is built for: instructions and threads.
struct Machine {
  const KernelTable* kernels = nullptr;
  ThreadPool* pool = nullptr;  ///< lives as long as the process

  int threads() const { return pool->size(); }

  /// fn(task, worker) for every task, worker < threads(); in place when the work is too small to
  /// share.
  template <class Function>
  void run(int64_t tasks, bool is_parallel, Function&& fn) const {
    if (is_parallel && tasks > 1) {
      pool->parallel_for(tasks, fn);
    } else {
      for (int64_t task = 0; task < tasks; ++task) fn(task, 0);
    }
  }
};

/// The kernels of the device's architecture as far as this processor runs them, and a pool of the
/// device's parallelism (one per size in a process).
Machine machine_for(const Device& device);

}  // namespace warploom::cpu
