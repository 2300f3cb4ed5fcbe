#include "plan/tuning_memory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/log.h"
#include "plan/store_key.h"

namespace warploom::plan {
namespace {

/// Of all tables in memory, in measured times of some hundred bytes each.
constexpr size_t kMostSize = size_t{1} << 16;
/// A problem of more files than this is written anew as one.
constexpr size_t kMostFiles = 16;
/// Extents further apart say nothing of each other.
constexpr double kGreatestRatio = 4;

size_t size_of(const TuningTable& table) {
  size_t size = 16;  // an empty one takes memory too
  for (const auto& [extents, times] : table) size += times.size();
  return size;
}

/// Infinite when they are too far apart.
double distance(const Extents& a, const Extents& b) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  if (a.values.size() != b.values.size()) return kFar;
  double sum = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (a.values[i] == b.values[i]) continue;
    const double ratio = static_cast<double>(std::max<int64_t>(a.values[i], 1)) /
                         static_cast<double>(std::max<int64_t>(b.values[i], 1));
    if (ratio > kGreatestRatio || ratio < 1 / kGreatestRatio) return kFar;
    sum += std::abs(std::log2(ratio));
  }
  return sum;
}

struct Nearest {
  const MeasuredTime* time = nullptr;
  bool is_exact = false;
};

Nearest nearest(const TuningTable& table, const std::map<const Extents*, double>& distances,
                const TuningProblem& problem, std::string_view offer) {
  Nearest best;
  double best_distance = std::numeric_limits<double>::infinity();
  for (const auto& [extents, times] : table) {
    const auto found = times.find(offer);
    if (found == times.end()) continue;
    if (extents == problem.extents) return {&found->second, true};
    const double far = distances.at(&extents);
    const bool is_better = far < best_distance || (far == best_distance && best.time &&
                                                   found->second.when_ns > best.time->when_ns);
    if (!is_better) continue;
    best.time = &found->second;
    best_distance = far;
  }
  return best;
}

bool is_time(double microseconds) {
  return microseconds > 0 && std::isfinite(microseconds);
}

ExpectedTimes expected_times(const TuningTable& table, const TuningProblem& problem,
                             std::span<const TuningMemory::Prediction> predictions) {
  std::map<const Extents*, double> distances;
  for (const auto& [extents, times] : table)
    distances[&extents] = distance(extents, problem.extents);

  ExpectedTimes expected;
  std::vector<bool> is_measured;
  double logarithms = 0;
  int ratios = 0;
  for (const auto& [offer, predicted] : predictions) {
    const auto [time, is_exact] = nearest(table, distances, problem, offer);
    is_measured.push_back(time != nullptr);
    double microseconds = predicted;
    if (time) {
      microseconds = time->measured_microseconds;
      if (!is_exact && is_time(predicted) && is_time(time->predicted_microseconds))
        microseconds *= predicted / time->predicted_microseconds;
      if (is_time(predicted)) {
        logarithms += std::log(microseconds / predicted);
        ++ratios;
      }
    }
    expected.microseconds.push_back(microseconds);
  }
  if (ratios == 0) return expected;
  expected.measured_per_predicted = std::exp(logarithms / ratios);
  for (size_t i = 0; i < predictions.size(); ++i)
    if (!is_measured[i]) expected.microseconds[i] *= expected.measured_per_predicted;
  return expected;
}

TuningTable merged(const std::vector<base::FileStore::Value>& files) {
  TuningTable table;
  for (const auto& file : files) {
    auto part = parse_tuning_table(file.bytes);
    if (part.is_good())
      merge(table, part.value());
    else
      base::log("cache: skipped " + file.name + ": " + part.error().err_msg);
  }
  return table;
}

}  // namespace

TuningProblem tuning_problem(const fusion::FusionGroup& group, const Device& device) {
  TuningProblem problem;
  base::Hash layout;
  std::unordered_set<ir::TensorId> seen;
  auto add = [&](ir::TensorId id) {
    if (id == ir::kNoTensor || !seen.insert(id).second) return;
    const ir::Shape& shape = group.tensor(id).shape;
    problem.extents.values.insert(problem.extents.values.end(), shape.dims.begin(),
                                  shape.dims.end());
    layout.add(shape.strides);
  };
  for (ir::NodeId id : group.nodes) {
    const ir::Node& node = group.node(id);
    for (ir::TensorId input : node.inputs) add(input);
    for (ir::TensorId output : node.outputs) add(output);
    if (const auto* attention = std::get_if<graph::SDPA_attributes>(&node.operation))
      for (const auto& bound : {attention->get_left_bound(), attention->get_right_bound()})
        if (bound) problem.extents.values.push_back(std::max<int64_t>(*bound, 0));
  }
  problem.extents.layout = layout.value();
  problem.key = fmt::format("tuning {}\n{}", library_and_device(device), fusion::signature(group));
  return problem;
}

template <class Use>
void TuningMemory::with_table(const std::string& key, Use&& use) const {
  std::unique_lock lock(mutex_);
  auto found = problems_.find(key);
  if (found == problems_.end()) {
    lock.unlock();
    TuningTable table = merged(store_.get_all(base::kTuningSection, key));
    lock.lock();
    // Unless another thread was faster.
    const auto [place, is_new] = problems_.try_emplace(key, Problem{std::move(table)});
    if (is_new) size_ += size_of(place->second.table);
    found = place;
  }
  found->second.last_use = ++uses_;
  size_ -= size_of(found->second.table);
  use(found->second.table);
  size_ += size_of(found->second.table);
  forget_oldest();
}

void TuningMemory::forget_oldest() const {
  while (size_ > kMostSize && problems_.size() > 1) {
    const auto oldest = std::ranges::min_element(
        problems_, {}, [](const auto& entry) { return entry.second.last_use; });
    size_ -= size_of(oldest->second.table);
    problems_.erase(oldest);
  }
}

void TuningMemory::record(const std::map<std::string, TuningTable>& measured) {
  for (const auto& [key, times] : measured) {
    with_table(key, [&, &times = times](TuningTable& table) { merge(table, times); });
    const auto files = store_.get_all(base::kTuningSection, key);
    if (files.size() < kMostFiles) {
      store_.add(base::kTuningSection, key, encode_tuning_table(times));
      continue;
    }
    // What others add meanwhile stays: only what was read is removed, once it is written again.
    TuningTable all = merged(files);
    merge(all, times);
    if (store_.add(base::kTuningSection, key, encode_tuning_table(all)))
      for (const auto& file : files) store_.remove(base::kTuningSection, key, file.name);
  }
}

double TuningMemory::measured(const TuningProblem& problem, std::string_view offer) const {
  double microseconds = 0;
  with_table(problem.key, [&](const TuningTable& table) {
    const auto times = table.find(problem.extents);
    if (times == table.end()) return;
    const auto time = times->second.find(offer);
    if (time != times->second.end()) microseconds = time->second.measured_microseconds;
  });
  return microseconds;
}

ExpectedTimes TuningMemory::expect(const TuningProblem& problem,
                                   std::span<const Prediction> predictions) const {
  ExpectedTimes expected;
  with_table(problem.key, [&](const TuningTable& table) {
    expected = expected_times(table, problem, predictions);
  });
  return expected;
}

}  // namespace warploom::plan
