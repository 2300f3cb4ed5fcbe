// Stores used by processes that know nothing of each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "base/store_entry.h"
#include "base/store_files.h"
#include "fusion/partition.h"
#include "plan/tuning_memory.h"
#include "stores/kept_engine.h"
#include "stores/temporary_folder.h"
#include "stores/worker.h"
#include "stores/worker_tasks.h"

namespace warploom::test {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const std::string kFirst = "test.kept:tile_m=1", kFastest = "test.kept:tile_m=3";

std::string choice(int64_t n, const fs::path& folder, const Environment& environment = {}) {
  const Lines lines = run_worker("choose " + std::to_string(n), folder, environment);
  return lines.empty() ? "" : lines[0];
}

TEST(ModeB, UsesWhatAnotherProcessMeasured) {
  const TemporaryFolder folder;
  EXPECT_EQ(choice(1024, folder.path()), kFirst) << "by prediction";
  const Lines order = run_worker("tune 1024", folder.path());
  ASSERT_EQ(order.size(), 3u);
  EXPECT_EQ(order[0], kFastest) << "the prediction was wrong";
  EXPECT_EQ(choice(1024, folder.path()), kFastest) << "at the same extents";
  EXPECT_EQ(choice(2048, folder.path()), kFastest) << "near";
  EXPECT_EQ(choice(512, folder.path()), kFastest) << "near";
  EXPECT_EQ(choice(64, folder.path()), kFirst) << "far";
  EXPECT_EQ(choice(1024, folder.path(), {{"WARPLOOM_CACHE", "off"}}), kFirst);
  EXPECT_EQ(choice(1024, folder.path(), {{"WARPLOOM_CACHE", "readonly"}}), kFastest);
}

TEST(ModeB, TimesOfAnotherDeviceDoNotCount) {
  const TemporaryFolder folder;
  run_worker("tune 1024", folder.path(), {{"WARPLOOM_NUM_THREADS", "1"}});
  EXPECT_EQ(choice(1024, folder.path(), {{"WARPLOOM_NUM_THREADS", "1"}}), kFastest);
  EXPECT_EQ(choice(1024, folder.path(), {{"WARPLOOM_NUM_THREADS", "2"}}), kFirst)
      << "other parallelism";
  EXPECT_EQ(
      choice(1024, folder.path(), {{"WARPLOOM_NUM_THREADS", "1"}, {"WARPLOOM_CPU_ISA", "generic"}}),
      kFirst)
      << "another instruction set";
}

/// How often each line occurs.
std::map<std::string, int> counts(const fs::path& log) {
  std::map<std::string, int> counts;
  for (const std::string& line : lines_of(log)) ++counts[line];
  return counts;
}

TEST(KernelStore, AKernelIsBuiltOnceAndLoadedAfter) {
  const TemporaryFolder folder, logs;
  const fs::path log = logs.path() / "log";
  const Environment environment{{"WARPLOOM_TEST_LOG", log}};
  for (int i = 0; i < 3; ++i) run_worker("tune 64", folder.path(), environment);
  EXPECT_EQ(counts(log), (std::map<std::string, int>{{"build 1", 1},
                                                     {"build 2", 1},
                                                     {"build 3", 1},
                                                     {"load 1", 2},
                                                     {"load 2", 2},
                                                     {"load 3", 2}}));
  fs::remove(log);
  // The signature is the same at other extents: so is the kernel.
  choice(128, folder.path(), environment);
  EXPECT_EQ(counts(log), (std::map<std::string, int>{{"load 3", 1}}));
  fs::remove(log);
  choice(64, folder.path(), {{"WARPLOOM_TEST_LOG", log}, {"WARPLOOM_CACHE", "off"}});
  EXPECT_EQ(counts(log), (std::map<std::string, int>{{"build 1", 1}}));
}

TEST(KernelStore, WhatDoesNotLoadIsBuiltAndWrittenAgain) {
  const TemporaryFolder folder, logs;
  const fs::path log = logs.path() / "log";
  const Environment environment{{"WARPLOOM_TEST_LOG", log}};
  choice(64, folder.path(), environment);
  const base::FileStore store(settings_for(folder.path()));
  ASSERT_EQ(store.files().size(), 1u);
  const fs::path path = store.files()[0].path;

  // As another version of the engine would have left it: the entry is right, the kernel is not.
  Bytes entry = read_file(path);
  const auto parsed = base::parse_store_entry(entry);
  ASSERT_TRUE(parsed.is_good());
  EXPECT_EQ(text_of({parsed.value().value.begin(), parsed.value().value.end()}), "kept 1 1");
  write_file(path, base::encode_store_entry({parsed.value().key, bytes_of("kept 0 1")}));
  fs::remove(log);
  choice(64, folder.path(), environment);
  choice(64, folder.path(), environment);
  EXPECT_EQ(counts(log),
            (std::map<std::string, int>{{"refused kept 0 1", 1}, {"build 1", 1}, {"load 1", 1}}));

  write_file(path, bytes_of("garbage"));
  fs::remove(log);
  choice(64, folder.path(), environment);
  choice(64, folder.path(), environment);
  EXPECT_EQ(counts(log), (std::map<std::string, int>{{"build 1", 1}, {"load 1", 1}}));
}

TEST(KernelStore, TheEnginesOfTheCpuLeaveNothing) {
  const TemporaryFolder folder;
  run_worker("build 0", folder.path() / "cache");
  EXPECT_FALSE(fs::exists(folder.path() / "cache"));
}

/// Whether the store has a time of this offer for the graph as a whole.
bool is_kept(const plan::TuningMemory& times, int number, const std::string& offer) {
  ChurnGraph churned = churn_graph(number);
  EXPECT_TRUE(churned.graph.build_operation_graph(cpu()).is_good());
  Device device = cpu()->device();
  device.parallelism = get_num_threads();
  const auto group = fusion::partitions(churned.graph.frozen()).at(0).groups.at(0);
  return times.measured(plan::tuning_problem(group, device), offer) > 0;
}

/// What killed writers had merged but not removed is merged again by the next.
void expect_few_files(const base::FileStore& store) {
  std::map<fs::path, int> files;
  for (const auto& file : store.files()) ++files[file.path.parent_path()];
  for (const auto& [folder, count] : files) EXPECT_LE(count, 16) << folder;
}

// At random moments some of them die. What those that lived (or died later) have told to be kept is
// there in the end, every result was right, and little is left that nobody asked for.
TEST(Processes, SomeOfThemKilledLoseNothing) {
  const TemporaryFolder folder;
  std::minstd_rand random(7);
  std::set<std::string> told;
  int killed = 0, finished = 0;
  for (uint32_t round = 0; round < 6; ++round) {
    std::vector<Worker> workers;
    for (uint32_t i = 0; i < 6; ++i)
      workers.emplace_back("churn " + std::to_string(round * 10 + i), folder.path());
    for (size_t i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 150));
      workers[i].kill();
    }
    for (Worker& worker : workers) {
      const int status = worker.wait();
      EXPECT_TRUE(status == 0 || status == -SIGKILL)
          << status << ": " << (worker.lines().empty() ? "" : worker.lines().back());
      ++(status == 0 ? finished : killed);
      for (const std::string& line : worker.lines())
        if (line.starts_with("tuned")) told.insert(line);
    }
  }
  EXPECT_GE(finished, 18);
  EXPECT_GT(killed, 0);

  base::FileStore store(settings_for(folder.path()));
  const plan::TuningMemory times(store);
  EXPECT_GE(told.size(), 12u);
  for (const std::string& line : told) {
    std::istringstream words(line);
    std::string word, offer;
    int number = 0;
    words >> word >> number >> offer;
    EXPECT_TRUE(is_kept(times, number, offer)) << line;
  }
  const fs::path temporary = folder.path() / base::kTemporaryFolder;
  EXPECT_LE(all_files(temporary).size(), static_cast<size_t>(killed)) << "at most one for each";
  for (const fs::path& path : all_files(temporary))
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  run_worker("tune 64", folder.path());
  EXPECT_TRUE(all_files(temporary).empty()) << "a later writer removes them";
  for (int seed = 0; seed < 3; ++seed) run_worker("churn " + std::to_string(seed), folder.path());
  expect_few_files(store);
}

// The same for bare writes, merging and removing files of each other's most of the time.
TEST(Processes, KilledWhileTheyWriteLoseNothing) {
  const TemporaryFolder folder;
  std::minstd_rand random(11);
  std::vector<std::pair<int64_t, int64_t>> told;
  int killed = 0;
  for (int64_t round = 0; round < 5; ++round) {
    std::vector<Worker> workers;
    for (int64_t i = 0; i < 4; ++i)
      workers.emplace_back("record " + std::to_string(4 * round + i), folder.path());
    for (Worker& worker : workers) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 60));
      worker.kill();
    }
    for (Worker& worker : workers) {
      const int status = worker.wait();
      EXPECT_TRUE(status == 0 || status == -SIGKILL) << status;
      killed += status != 0;
      for (const std::string& line : worker.lines()) {
        std::istringstream words(line);
        std::string word;
        auto& [number, i] = told.emplace_back();
        words >> word >> number >> i;
      }
    }
  }
  EXPECT_GT(killed, 10);
  EXPECT_GT(told.size(), 200u);
  base::FileStore store(settings_for(folder.path()));
  const plan::TuningMemory times(store);
  for (const auto& [number, i] : told) {
    const Recorded expected = recorded(number, i);
    EXPECT_EQ(times.measured(expected.problem, expected.offer), expected.microseconds)
        << number << " " << i;
  }
  EXPECT_LE(all_files(folder.path() / base::kTemporaryFolder).size(), static_cast<size_t>(killed));
  run_worker("record 99", folder.path());
  expect_few_files(store);
}

}  // namespace
}  // namespace warploom::test
