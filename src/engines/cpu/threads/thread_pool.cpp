#include "engines/cpu/threads/thread_pool.h"

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace warploom::cpu {
namespace {

// About 10 us of asking before a thread sleeps: a plan's next step, or the next plan, often
// follows sooner, and waking a sleeping thread costs more than that.
constexpr int kSpins = 2000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace

// One call is described by `job`, and claimed by way of `ticket`: the generation of the call in the
// upper half, the next chunk in the lower. A worker that wakes late finds another generation, or no
// chunk left, and has touched nothing of the call. Such a worker may read the job while the next
// call writes it, hence the atomics; what it read is used only if its claim succeeds. Release and
// acquire on the job's fields: who reads a later job sees the ticket closed, and its claim fails.
struct ThreadPool::State {
  int size = 1;
  Executor executor;

  alignas(64) std::atomic<uint64_t> ticket{0};
  alignas(64) std::atomic<int64_t> unfinished{0};
  alignas(64) std::atomic<uint32_t> generation{0};
  std::atomic<uint32_t> sleepers{0};
  std::atomic<bool> stopping{false};
  std::atomic<bool> busy{false};  // a call owns the pool
  struct {
    std::atomic<int64_t> chunks{0};
    std::atomic<void (*)(void*, int64_t, int)> fn{nullptr};
    std::atomic<void*> context{nullptr};
  } job;

  std::vector<std::thread> threads;  // grown by the owner of `busy`
  State* next = nullptr;             // in the registry

  void claim(uint32_t call, int worker);
  void work(int worker, uint32_t seen);
  void start_threads();
  void run_owned(int64_t chunks, void (*fn)(void*, int64_t, int), void* context);
  void forget_threads();

  static void add(State* state);
  static void remove(State* state);
};

namespace {
// All pools of the process, for the child of a fork: threads exist in the parent only. Never
// destroyed, since pools may be destroyed at any time before exit.
struct Registry {
  std::mutex mutex;
  void* first = nullptr;  // ThreadPool::State, which is private
  void (*forget_all)(void* first) = nullptr;
};
Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}
}  // namespace

void ThreadPool::State::add(State* state) {
  static const int registered =
      pthread_atfork([] { registry().mutex.lock(); }, [] { registry().mutex.unlock(); },
                     [] {
                       Registry& all = registry();
                       if (all.first) all.forget_all(all.first);
                       all.mutex.unlock();
                     });
  static_cast<void>(registered);
  const std::lock_guard lock(registry().mutex);
  registry().forget_all = [](void* first) {
    for (State* s = static_cast<State*>(first); s != nullptr; s = s->next) s->forget_threads();
  };
  state->next = static_cast<State*>(registry().first);
  registry().first = state;
}

void ThreadPool::State::remove(State* state) {
  const std::lock_guard lock(registry().mutex);
  State* first = static_cast<State*>(registry().first);
  if (first == state) {
    registry().first = state->next;
    return;
  }
  for (State* s = first; s != nullptr; s = s->next) {
    if (s->next == state) s->next = state->next;
  }
}

/// In a forked child: the handles can be neither joined nor destroyed, so they are left behind.
void ThreadPool::State::forget_threads() {
  new (&threads) std::vector<std::thread>;
  sleepers.store(0);
  busy.store(false);
}

void ThreadPool::State::claim(uint32_t call, int worker) {
  for (;;) {
    uint64_t current = ticket.load(std::memory_order_acquire);
    if (static_cast<uint32_t>(current >> 32) != call) return;
    const auto chunk = static_cast<int64_t>(static_cast<uint32_t>(current));
    const auto fn = job.fn.load(std::memory_order_acquire);
    void* context = job.context.load(std::memory_order_acquire);
    if (chunk >= job.chunks.load(std::memory_order_acquire)) return;
    if (!ticket.compare_exchange_weak(current, current + 1, std::memory_order_acq_rel)) continue;
    fn(context, chunk, worker);
    unfinished.fetch_sub(1, std::memory_order_acq_rel);
  }
}

void ThreadPool::State::work(int worker, uint32_t seen) {
  for (;;) {
    for (int i = 0; i < kSpins && generation.load(std::memory_order_acquire) == seen; ++i) relax();
    if (generation.load(std::memory_order_acquire) == seen) {
      sleepers.fetch_add(1);
      generation.wait(seen);
      sleepers.fetch_sub(1);
    }
    if (stopping.load()) return;
    seen = generation.load(std::memory_order_acquire);
    claim(seen, worker);
  }
}

void ThreadPool::State::start_threads() {
  while (static_cast<int>(threads.size()) < size - 1) {
    const int worker = static_cast<int>(threads.size()) + 1;
    const uint32_t seen = generation.load();
    try {
      threads.emplace_back([this, worker, seen] { work(worker, seen); });
    } catch (const std::system_error&) {
      return;  // no more threads to be had: fewer do the work
    }
  }
}

void ThreadPool::State::run_owned(int64_t chunks, void (*fn)(void*, int64_t, int), void* context) {
  start_threads();
  const uint32_t call = generation.load(std::memory_order_relaxed) + 1;
  // Closes the previous call to late workers before its job is overwritten.
  ticket.store(static_cast<uint64_t>(call) << 32 | UINT32_MAX, std::memory_order_relaxed);
  job.chunks.store(chunks, std::memory_order_release);
  job.fn.store(fn, std::memory_order_release);
  job.context.store(context, std::memory_order_release);
  unfinished.store(chunks, std::memory_order_relaxed);
  ticket.store(static_cast<uint64_t>(call) << 32, std::memory_order_release);
  generation.store(call, std::memory_order_seq_cst);
  if (sleepers.load() != 0) generation.notify_all();
  claim(call, 0);
  // Only chunks that a worker has claimed are left. It may have lost its processor.
  for (int i = 0; unfinished.load(std::memory_order_acquire) != 0; ++i) {
    if (i < kSpins) {
      relax();
    } else {
      std::this_thread::yield();
    }
  }
}

namespace {
// The pool that this thread is working for: a nested call runs in place.
thread_local const void* inside = nullptr;

void run_in_place(int64_t chunks, void (*fn)(void*, int64_t, int), void* context) {
  for (int64_t chunk = 0; chunk < chunks; ++chunk) fn(context, chunk, 0);
}
}  // namespace

ThreadPool::ThreadPool(int size) : state_(std::make_unique<State>()) {
  state_->size = size > 0 ? size : default_thread_count();
  State::add(state_.get());
}

ThreadPool::ThreadPool(Executor executor) : state_(std::make_unique<State>()) {
  state_->executor = executor;
  state_->size = executor.size > 0 ? executor.size : 1;
  State::add(state_.get());
}

ThreadPool::~ThreadPool() {
  State& state = *state_;
  State::remove(&state);
  if (state.threads.empty()) return;
  state.stopping.store(true);
  state.generation.fetch_add(1);
  state.generation.notify_all();
  for (std::thread& thread : state.threads) thread.join();
}

int ThreadPool::size() const {
  return state_->size;
}

void ThreadPool::run(int64_t chunks, void (*fn)(void*, int64_t, int), void* context) {
  State& state = *state_;
  if (chunks <= 1 || state.size == 1 || inside == &state || chunks >= UINT32_MAX) {
    return run_in_place(chunks, fn, context);
  }
  struct Call {
    void (*fn)(void*, int64_t, int);
    void* context;
    const State* pool;
  } call{fn, context, &state};
  const auto marked = [](void* data, int64_t chunk, int worker) {
    const Call& c = *static_cast<const Call*>(data);
    const void* outer = inside;
    inside = c.pool;
    c.fn(c.context, chunk, worker);
    inside = outer;
  };
  if (state.executor.parallel_for != nullptr) {
    return state.executor.parallel_for(state.executor.executor, chunks, marked, &call);
  }
  if (state.busy.exchange(true, std::memory_order_acquire)) {
    return run_in_place(chunks, fn, context);
  }
  state.run_owned(chunks, marked, &call);
  state.busy.store(false, std::memory_order_release);
}

}  // namespace warploom::cpu
