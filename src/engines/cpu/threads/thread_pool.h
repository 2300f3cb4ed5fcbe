#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

// Threads of the CPU engine. Chunks are claimed from one atomic counter, by the caller and by
// whoever else is awake: the caller never waits for a thread that has claimed nothing, so a worker
// that the operating system has put aside costs nothing.

namespace warploom::cpu {

/// Runs fn(context, chunk, worker) for every chunk < chunks, with worker < the pool's size and no
/// two running calls with the same worker. Returns when all have returned.
using ParallelFor = void (*)(void* executor, int64_t chunks,
                             void (*fn)(void* context, int64_t chunk, int worker), void* context);

/// An executor of the user's (its own pool, OpenMP, ...).
struct Executor {
  ParallelFor parallel_for = nullptr;  ///< null: own threads
  void* executor = nullptr;            ///< first argument of parallel_for
  int size = 1;                        ///< how many workers it may use
};

/// Threads that the process may use: WARPLOOM_NUM_THREADS, else OMP_NUM_THREADS, else what the
/// affinity mask and the cgroup's quota leave. At least 1.
int default_thread_count();

class ThreadPool {
 public:
  /// Starts threads at the first parallel call, not here. size 0: default_thread_count().
  explicit ThreadPool(int size = 0);
  explicit ThreadPool(Executor executor);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Number of workers, the caller included: scratch memory is needed for so many.
  int size() const;

  /// fn(chunk, worker): see ParallelFor. Chunks run in no order; fn must not throw. Runs in place,
  /// on worker 0, if there is one chunk or one thread, if called from inside another parallel_for
  /// of this pool, or if another thread is using the pool. Whether work is worth several threads
  /// (from about 20 us on) is the caller's decision. Allocates nothing after the first call.
  template <class Function>
  void parallel_for(int64_t chunks, Function&& fn) {
    auto call = [](void* context, int64_t chunk, int worker) {
      (*static_cast<std::remove_reference_t<Function>*>(context))(chunk, worker);
    };
    run(chunks, call, const_cast<void*>(static_cast<const void*>(std::addressof(fn))));
  }

 private:
  struct State;
  void run(int64_t chunks, void (*fn)(void*, int64_t, int), void* context);
  std::unique_ptr<State> state_;
};

}  // namespace warploom::cpu
