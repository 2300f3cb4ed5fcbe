#include "tour/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tour/console.h"

namespace tour {
namespace {

bool passed(const Section& section) {
  return section.failure.empty() &&
         std::all_of(section.checks.begin(), section.checks.end(),
                     [](const Check& check) { return check.passed(); }) &&
         std::all_of(section.mistakes.begin(), section.mistakes.end(),
                     [](const Mistake& mistake) { return mistake.was_caught; });
}

void append_rows(const Section& section, std::vector<SummaryRow>& rows) {
  const std::string number = std::to_string(section.number);
  if (!section.failure.empty()) rows.push_back({number, section.title, section.failure, false});
  for (const Race& race : section.races) {
    rows.push_back(
        {number, race.what,
         fmt::format("{}, {}; {:.2f} times as fast as {} graphs", duration(race.fused_seconds),
                     rate(race.operations, race.fused_seconds),
                     race.unfused_seconds / race.fused_seconds, race.unfused_graphs),
         true});
  }
  if (!section.candidates.empty()) {
    const Candidate& fastest = section.candidates.front();
    rows.push_back(
        {number, fmt::format("{} candidates", section.candidates.size()),
         fmt::format("fastest {}: {}", rate(fastest.operations, fastest.seconds), fastest.plan),
         true});
  }
  if (!section.checks.empty()) {
    double worst = 0;
    std::int64_t good = 0, compared = 0;
    for (const Check& check : section.checks) {
      worst = std::max(worst, check.error);
      compared += check.compared;
      good += check.passed();
    }
    const auto count = static_cast<std::int64_t>(section.checks.size());
    rows.push_back({number, "compared with double",
                    fmt::format("{} of {} agree; largest error {:.1e} of {} values", good, count,
                                worst, compared),
                    good == count});
  }
  if (!section.mistakes.empty()) {
    const auto caught = std::count_if(section.mistakes.begin(), section.mistakes.end(),
                                      [](const Mistake& mistake) { return mistake.was_caught; });
    rows.push_back({number, "mistakes",
                    fmt::format("{} of {} caught and named", caught, section.mistakes.size()),
                    caught == static_cast<std::ptrdiff_t>(section.mistakes.size())});
  }
}

using Json = nlohmann::ordered_json;

Json to_json(const Section& section) {
  Json json{{"number", section.number}, {"title", section.title}, {"passed", passed(section)}};
  if (!section.failure.empty()) json["failure"] = section.failure;
  if (!section.conclusion.empty()) json["conclusion"] = section.conclusion;
  for (const auto& [name, value] : section.facts) json["facts"][name] = value;
  for (const Check& check : section.checks) {
    json["checks"].push_back(Json{{"what", check.what},
                                  {"error", check.error},
                                  {"tolerance", check.tolerance},
                                  {"compared", check.compared},
                                  {"passed", check.passed()}});
  }
  for (const Race& race : section.races) {
    json["races"].push_back(Json{{"what", race.what},
                                 {"plan", race.plan},
                                 {"fused_seconds", race.fused_seconds},
                                 {"unfused_seconds", race.unfused_seconds},
                                 {"operations", race.operations},
                                 {"unfused_graphs", race.unfused_graphs},
                                 {"unfused_bytes", race.unfused_bytes},
                                 {"workspace_bytes", race.workspace_bytes}});
  }
  for (const Candidate& candidate : section.candidates) {
    json["candidates"].push_back(Json{{"plan", candidate.plan},
                                      {"seconds", candidate.seconds},
                                      {"predicted_seconds", candidate.predicted_seconds},
                                      {"operations", candidate.operations},
                                      {"workspace_bytes", candidate.workspace_bytes},
                                      {"is_first_choice", candidate.is_first_choice}});
  }
  for (const Mistake& mistake : section.mistakes) {
    json["mistakes"].push_back(Json{{"what", mistake.what},
                                    {"code", mistake.code},
                                    {"message", mistake.message},
                                    {"was_caught", mistake.was_caught}});
  }
  return json;
}

}  // namespace

bool Results::passed() const {
  return std::all_of(sections.begin(), sections.end(),
                     [](const Section& section) { return tour::passed(section); });
}

std::vector<SummaryRow> summary_of(const Results& results) {
  std::vector<SummaryRow> rows;
  for (const Section& section : results.sections) append_rows(section, rows);
  return rows;
}

std::string to_json(const Results& results) {
  Json json{{"device", results.device},
            {"is_quick", results.is_quick},
            {"seconds", results.seconds},
            {"passed", results.passed()},
            {"sections", Json::array()}};
  for (const Section& section : results.sections) json["sections"].push_back(to_json(section));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tour
