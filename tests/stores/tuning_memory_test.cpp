#include "plan/tuning_memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "stores/temporary_folder.h"

namespace warploom::plan {
namespace {

using base::FileStore;
using test::settings_for;
using test::TemporaryFolder;

TuningProblem problem(std::vector<int64_t> extents, uint64_t layout = 0) {
  return {"problem", {std::move(extents), layout}};
}

void record(TuningMemory& memory, const TuningProblem& problem, const std::string& offer,
            double measured, double predicted, int64_t when = 1) {
  memory.record({{problem.key, {{problem.extents, {{offer, {measured, predicted, when}}}}}}});
}

TEST(TuningMemory, AnotherProcessFindsWhatWasMeasured) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  TuningMemory writer(store);
  record(writer, problem({8, 8}), "a", 5, 1);
  TuningMemory reader(store);
  EXPECT_EQ(reader.measured(problem({8, 8}), "a"), 5);
  EXPECT_EQ(reader.measured(problem({8, 8}), "b"), 0);
  EXPECT_EQ(reader.measured(problem({8, 9}), "a"), 0);
  EXPECT_EQ(reader.measured(problem({8, 8}, 1), "a"), 0) << "other strides";
  EXPECT_EQ(reader.measured({"another", {{8, 8}, 0}}, "a"), 0);
  FileStore off(settings_for(folder.path(), base::StoreAccess::kOff));
  EXPECT_EQ(TuningMemory(off).measured(problem({8, 8}), "a"), 0);
}

TEST(TuningMemory, WithoutAStoreItRemembersByItself) {
  FileStore off(settings_for("", base::StoreAccess::kOff));
  TuningMemory memory(off);
  record(memory, problem({8}), "a", 5, 1, 1);
  record(memory, problem({8}), "a", 6, 1, 2);
  EXPECT_EQ(memory.measured(problem({8}), "a"), 6);
}

/// What is expected of one offer.
double expected(const TuningMemory& memory, const TuningProblem& problem, double predicted,
                const char* offer = "a") {
  const TuningMemory::Prediction predictions[] = {{offer, predicted}};
  return memory.expect(problem, predictions).microseconds.at(0);
}

TEST(TuningMemory, ExpectsWhatWasMeasuredAtTheseExtents) {
  FileStore off(settings_for("", base::StoreAccess::kOff));
  TuningMemory memory(off);
  record(memory, problem({64, 64}), "a", 50, 10);
  record(memory, problem({64, 65}), "a", 1, 10);
  EXPECT_EQ(expected(memory, problem({64, 64}), 3), 50) << "whatever is predicted now";
}

TEST(TuningMemory, ScalesTheNearestExtentsByThePredictions) {
  FileStore off(settings_for("", base::StoreAccess::kOff));
  TuningMemory memory(off);
  record(memory, problem({64, 64}), "a", 50, 10);
  record(memory, problem({256, 64}), "a", 1000, 40);
  // One doubling from the first, one halving from the second, in two dims.
  EXPECT_DOUBLE_EQ(expected(memory, problem({100, 64}), 15), 50 * 15.0 / 10);
  EXPECT_DOUBLE_EQ(expected(memory, problem({200, 64}), 30), 1000 * 30.0 / 40);
  EXPECT_DOUBLE_EQ(expected(memory, problem({64, 256}), 40), 50 * 40.0 / 10) << "a ratio of 4";
  EXPECT_DOUBLE_EQ(expected(memory, problem({64, 257}), 40), 40) << "too far";
  EXPECT_DOUBLE_EQ(expected(memory, problem({64, 15}), 2), 2) << "too far";
  EXPECT_DOUBLE_EQ(expected(memory, problem({64, 64, 1}), 2), 2) << "another rank";
  EXPECT_DOUBLE_EQ(expected(memory, problem({64, 64}, 9), 12), 60) << "other strides are near";
}

TEST(TuningMemory, OfEquallyNearExtentsTheNewestCount) {
  FileStore off(settings_for("", base::StoreAccess::kOff));
  TuningMemory memory(off);
  record(memory, problem({32}), "a", 10, 10, 5);
  record(memory, problem({128}), "a", 20, 10, 9);
  EXPECT_DOUBLE_EQ(expected(memory, problem({64}), 10), 20);
  record(memory, problem({32}), "a", 30, 10, 11);
  EXPECT_DOUBLE_EQ(expected(memory, problem({64}), 10), 30);
}

TEST(TuningMemory, ScalesUnmeasuredOffersLikeTheMeasuredOnes) {
  FileStore off(settings_for("", base::StoreAccess::kOff));
  TuningMemory memory(off);
  record(memory, problem({64}), "a", 20, 10);  // twice the prediction
  record(memory, problem({64}), "b", 80, 10);  // eight times
  const TuningMemory::Prediction predictions[] = {{"a", 10}, {"b", 10}, {"c", 5}, {"d", 0}};
  const ExpectedTimes times = memory.expect(problem({64}), predictions);
  EXPECT_EQ(times.microseconds[0], 20);
  EXPECT_EQ(times.microseconds[1], 80);
  EXPECT_DOUBLE_EQ(times.microseconds[2], 5 * 4) << "the geometric mean of 2 and 8";
  EXPECT_EQ(times.microseconds[3], 0);
  EXPECT_DOUBLE_EQ(times.measured_per_predicted, 4);
  const ExpectedTimes unknown = memory.expect(problem({1}), predictions);
  EXPECT_EQ(unknown.microseconds, (std::vector<double>{10, 10, 5, 0}));
  EXPECT_EQ(unknown.measured_per_predicted, 0);
}

TEST(TuningMemory, PredictionsThatAreNoTimesDoNotSpread) {
  FileStore off(settings_for("", base::StoreAccess::kOff));
  TuningMemory memory(off);
  record(memory, problem({64}), "a", 20, 0);
  record(memory, problem({64}), "b", 20, std::nan(""));
  record(memory, problem({64}), "c", 20, -3);
  for (const char* offer : {"a", "b", "c"}) {
    EXPECT_EQ(expected(memory, problem({64}), 7, offer), 20);
    EXPECT_EQ(expected(memory, problem({65}), 7, offer), 20);
    EXPECT_EQ(expected(memory, problem({65}), 0, offer), 20);
  }
}

TEST(TuningMemory, ManyFilesBecomeOneAndNothingIsLost) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  for (int64_t i = 0; i < 50; ++i) {
    TuningMemory memory(store);  // a process each
    record(memory, problem({i}), "a", static_cast<double>(i + 1), 1, i);
  }
  EXPECT_LE(store.files().size(), 17u);
  const TuningMemory reader(store);
  for (int64_t i = 0; i < 50; ++i)
    EXPECT_EQ(reader.measured(problem({i}), "a"), static_cast<double>(i + 1));
}

TEST(TuningMemory, DamagedFilesAreSkipped) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  TuningMemory writer(store);
  record(writer, problem({8}), "a", 5, 1);
  store.add(base::kTuningSection, "problem", test::bytes_of("no table"));
  record(writer, problem({8}), "b", 6, 1);
  test::write_file(store.files().at(0).path.parent_path() / "00000000000000ff",
                   test::bytes_of("no entry"));
  const TuningMemory reader(store);
  EXPECT_EQ(reader.measured(problem({8}), "a"), 5);
  EXPECT_EQ(reader.measured(problem({8}), "b"), 6);
}

TEST(TuningMemory, ForgetsWhatWasNotAskedForLately) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path(), base::StoreAccess::kReadOnly));
  TuningMemory memory(store);
  const auto numbered = [](int i) {
    return TuningProblem{"problem " + std::to_string(i), {{1}, 0}};
  };
  record(memory, numbered(0), "a", 5, 1);
  record(memory, numbered(1), "a", 5, 1);
  for (int i = 2; i < 6000; ++i) {
    (void)memory.measured(numbered(i), "a");
    (void)memory.measured(numbered(0), "a");
  }
  EXPECT_EQ(memory.measured(numbered(0), "a"), 5);
  EXPECT_EQ(memory.measured(numbered(1), "a"), 0) << "memory would grow for ever";
}

TEST(TuningMemory, ManyThreadsMayUseIt) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  TuningMemory memory(store);
  std::vector<std::jthread> threads;
  for (int64_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int64_t i = 0; i < 15; ++i) {
        record(memory, problem({i}), std::to_string(thread), 5, 1);
        (void)expected(memory, problem({i}), 3);
      }
    });
  threads.clear();
  const TuningMemory reader(store);
  for (int64_t i = 0; i < 15; ++i)
    for (int64_t thread = 0; thread < 4; ++thread)
      EXPECT_EQ(reader.measured(problem({i}), std::to_string(thread)), 5);
}

}  // namespace
}  // namespace warploom::plan
