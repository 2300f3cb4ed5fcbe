#pragma once
// What a race gave, and on what, as a file that nobody has to type: bench/results holds such files.

#include <array>
#include <ctime>
#include <fstream>

#include <warploom/warploom.h>
#include <nlohmann/json.hpp>

#include "race.h"

namespace bench {

/// The first line that a command prints; empty where it fails.
inline std::string line_of(const std::string& command) {
  std::array<char, 256> line{};
  FILE* output = popen((command + " 2>/dev/null").c_str(), "r");
  if (output == nullptr) return "";
  const bool has_line = std::fgets(line.data(), line.size(), output) != nullptr;
  pclose(output);
  std::string text = has_line ? line.data() : "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

inline double load_of_machine() {
  double load = -1;
  return getloadavg(&load, 1) == 1 ? load : -1;
}

/// Device, versions, date and commit. The commit is that of the sources as they lie there now.
inline nlohmann::ordered_json facts(const warploom::Device& device, const std::string& peer) {
  std::array<char, 32> date{};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  const std::string git = "git -C '" WARPLOOM_SOURCES "' ";
  return {{"date", date.data()},
          {"commit", line_of(git + "rev-parse HEAD")},
          {"is_changed", !line_of(git + "status --porcelain --untracked-files=no").empty()},
          {"warploom", warploom::version()},
          {"peer", peer},
          {"compiler", __VERSION__},
          {"device", device.name},
          {"instruction_set", device.architecture},
          {"threads", device.parallelism},
          {"load_at_start", load_of_machine()}};
}

/// `ratios`: time of the peers' runners divided by the runner's own; more than 1 is faster.
inline nlohmann::ordered_json record(const Race& race, const std::string& peer) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Timing& own : race.timings) {
    nlohmann::ordered_json entry{{"name", own.name},
                                 {"runs", own.runs},
                                 {"median_ms", own.median * 1e3},
                                 {"best_ms", own.best * 1e3},
                                 {"quartiles_ms", {own.lower * 1e3, own.upper * 1e3}},
                                 {"gflops_at_median", race.flops / own.median * 1e-9}};
    for (const Timing& other : race.timings)
      if (other.name.starts_with(peer) && !own.name.starts_with(peer))
        entry["ratios"][other.name] = {{"median", other.median / own.median},
                                       {"best", other.best / own.best}};
    all.push_back(std::move(entry));
  }
  return {{"case", race.title}, {"results_agree", race.agree}, {"runners", std::move(all)}};
}

}  // namespace bench
