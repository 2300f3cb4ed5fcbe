#include "engines/cpu/threads/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace warploom::cpu {
namespace {

TEST(ThreadPoolTest, EveryChunkOnce) {
  for (int size : {1, 2, 5}) {
    ThreadPool pool(size);
    EXPECT_EQ(pool.size(), size);
    for (int round = 0; round < 200; ++round) {
      for (int64_t chunks : {0, 1, 2, 7, 64}) {
        std::vector<std::atomic<int>> seen(64);
        std::atomic<int> outside{0};
        pool.parallel_for(chunks, [&](int64_t chunk, int worker) {
          ++seen[static_cast<size_t>(chunk)];
          if (worker < 0 || worker >= size) ++outside;
        });
        for (int64_t i = 0; i < 64; ++i)
          ASSERT_EQ(seen[static_cast<size_t>(i)].load(), i < chunks ? 1 : 0);
        ASSERT_EQ(outside.load(), 0);
      }
    }
  }
}

TEST(ThreadPoolTest, WorkersDoNotShareAnIndex) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<int> collisions{0};
  for (int round = 0; round < 200; ++round) {
    pool.parallel_for(16, [&](int64_t, int worker) {
      if (inside[static_cast<size_t>(worker)].fetch_add(1) != 0) ++collisions;
      std::this_thread::yield();
      inside[static_cast<size_t>(worker)].fetch_sub(1);
    });
  }
  EXPECT_EQ(collisions.load(), 0);
}

// What a chunk wrote is seen after the call, without atomics.
TEST(ThreadPoolTest, ResultsAreVisible) {
  ThreadPool pool(3);
  std::vector<int> data(1000);
  for (int round = 1; round <= 300; ++round) {
    pool.parallel_for(50, [&](int64_t chunk, int) {
      for (int i = 0; i < 20; ++i) data[static_cast<size_t>(chunk * 20 + i)] += round;
    });
  }
  for (int value : data) ASSERT_EQ(value, 300 * 301 / 2);
}

TEST(ThreadPoolTest, NestedCallsRunInPlace) {
  ThreadPool pool(3);
  std::atomic<int> total{0}, wrong{0};
  pool.parallel_for(8, [&](int64_t, int) {
    const std::thread::id here = std::this_thread::get_id();
    pool.parallel_for(5, [&](int64_t, int worker) {
      if (worker != 0 || std::this_thread::get_id() != here) ++wrong;
      ++total;
    });
  });
  EXPECT_EQ(total.load(), 40);
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ThreadPoolTest, ManyCallersAtOnce) {
  ThreadPool pool(2);
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int t = 0; t < 8; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        int64_t own[16] = {};
        pool.parallel_for(16, [&](int64_t chunk, int) { own[chunk] += chunk; });
        for (int64_t value : own) total += value;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total.load(), 8 * 300 * 120);
}

TEST(ThreadPoolTest, WakesAfterSleep) {
  ThreadPool pool(2);
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> count{0};
    pool.parallel_for(10, [&](int64_t, int) { ++count; });
    EXPECT_EQ(count.load(), 10);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // past the spinning
  }
}

#if !defined(__SANITIZE_THREAD__)  // which does not support threads started after a fork
TEST(ThreadPoolTest, ForkedChildStartsAfresh) {
  ThreadPool pool(3);
  std::atomic<int> count{0};
  pool.parallel_for(10, [&](int64_t, int) { ++count; });
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> own{0};
    for (int round = 0; round < 50; ++round) pool.parallel_for(10, [&](int64_t, int) { ++own; });
    _exit(own.load() == 500 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  pool.parallel_for(10, [&](int64_t, int) { ++count; });
  EXPECT_EQ(count.load(), 20);
}

// Forked while another thread is inside a call: the child must not wait for it.
TEST(ThreadPoolTest, ForkDuringACall) {
  ThreadPool pool(2);
  std::atomic<bool> started{false}, done{false};
  std::thread other([&] {
    pool.parallel_for(2, [&](int64_t, int) {
      started = true;
      while (!done) std::this_thread::yield();
    });
  });
  while (!started) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> own{0};
    pool.parallel_for(10, [&](int64_t, int) { ++own; });
    _exit(own.load() == 10 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  done = true;
  other.join();
}
#endif

struct CountingExecutor {
  int calls = 0;
  static void parallel_for(void* self, int64_t chunks, void (*fn)(void*, int64_t, int),
                           void* context) {
    ++static_cast<CountingExecutor*>(self)->calls;
    for (int64_t chunk = chunks - 1; chunk >= 0; --chunk) fn(context, chunk, 0);
  }
};

TEST(ThreadPoolTest, UsersExecutorIsUsed) {
  CountingExecutor own;
  ThreadPool pool(Executor{CountingExecutor::parallel_for, &own, 2});
  int count = 0;
  pool.parallel_for(6, [&](int64_t, int) {
    pool.parallel_for(2, [&](int64_t, int) { ++count; });  // nested: in place
  });
  EXPECT_EQ(count, 12);
  EXPECT_EQ(own.calls, 1);
}

TEST(ThreadPoolTest, SizeFromTheEnvironment) {
  const auto with = [](const char* own, const char* openmp) {
    own != nullptr ? setenv("WARPLOOM_NUM_THREADS", own, 1) : unsetenv("WARPLOOM_NUM_THREADS");
    openmp != nullptr ? setenv("OMP_NUM_THREADS", openmp, 1) : unsetenv("OMP_NUM_THREADS");
    return default_thread_count();
  };
  const char* before = std::getenv("OMP_NUM_THREADS");
  const std::string saved = before != nullptr ? before : "";
  EXPECT_EQ(with("3", nullptr), 3);
  EXPECT_EQ(with("3", "5"), 3);
  EXPECT_EQ(with(nullptr, "5"), 5);
  EXPECT_EQ(with(nullptr, "4,2"), 4);
  const int automatic = with(nullptr, nullptr);
  EXPECT_GE(automatic, 1);
  EXPECT_EQ(with("0", nullptr), automatic);
  EXPECT_EQ(with("many", "-2"), automatic);
  with(nullptr, before != nullptr ? saved.c_str() : nullptr);
}

TEST(ThreadPoolTest, DestroyedRightAfterUse) {
  for (int i = 0; i < 50; ++i) {
    ThreadPool pool(3);
    std::atomic<int> count{0};
    pool.parallel_for(4, [&](int64_t, int) { ++count; });
    ASSERT_EQ(count.load(), 4);
  }
}

}  // namespace
}  // namespace warploom::cpu
