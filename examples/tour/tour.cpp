#include "tour/tour.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tour/console.h"

namespace tour {
namespace {

/// What was printed is seen before the next long computation begins.
void print(const std::string& text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

/// The kernels of a plan are the parts of its name; "@" and "+" begin what only tells plans apart.
std::string kernel_count(const std::string& plan) {
  int count = 0;
  for (std::size_t begin = 0; begin <= plan.size();) {
    const std::size_t end = std::min(plan.find('|', begin), plan.size());
    if (begin < end && plan[begin] != '@' && plan[begin] != '+') ++count;
    begin = end + 1;
  }
  return count == 1 ? "one kernel" : fmt::format("{} kernels", count);
}

std::string mark(bool passed) {
  return passed ? styled(Style::kGood, "ok    ") : styled(Style::kBad, "FAILED");
}

}  // namespace

Tour::Tour(warploom::Handle& handle, Options options)
    : handle_(handle), options_(std::move(options)) {
  print(fmt::format("{}\n", styled(Style::kTitle, "Warploom: the guided tour")));
  print(wrapped(
      "Every result is compared with an independent computation in double, plain loops over "
      "all of its elements. Fused graphs and their single operations are timed in turns, "
      "and medians are shown."));
  const warploom::Device& device = handle.device();
  results_.device = fmt::format(
      "{}, {}, {} {}", device.name, device.architecture, device.parallelism,
      device.type == warploom::DeviceType::CPU ? (device.parallelism == 1 ? "thread" : "threads")
                                               : "multiprocessors");
  results_.is_quick = options_.is_quick;
}

void Tour::begin(int number, const std::string& title) {
  results_.sections.emplace_back();
  section().number = number;
  section().title = title;
  print(fmt::format("\n{}\n", styled(Style::kTitle, fmt::format("{}  {}", number, title))));
}

void Tour::say(const std::string& paragraph) {
  section().story.push_back(paragraph);
  print("\n" + wrapped(paragraph) + "\n");
}

void Tour::fact(const std::string& name, const std::string& value) {
  section().facts.emplace_back(name, value);
  print(fmt::format("   {:<16} {}\n", name, value));
}

void Tour::picture(Picture picture) {
  if (!picture.characters.empty()) print(fmt::format("\n      {}:\n", picture.caption));
  for (const std::string& line : picture.characters) {
    print(fmt::format("      {}\n", styled(Style::kDim, line)));
  }
  section().pictures.push_back(std::move(picture));
}

void Tour::draw(const std::string& caption, const warploom::graph::Graph& graph) {
  section().drawings.push_back({caption, graph.to_svg()});
}

void Tour::check(Check check) {
  print(fmt::format("   {} {}: off by {:.1e} at most, {} {}\n", mark(check.passed()), check.what,
                    check.error, check.compared, check.compared == 1 ? "value" : "values"));
  section().checks.push_back(std::move(check));
}

void Tour::race(Race race) {
  const double most = std::max(race.fused_seconds, race.unfused_seconds);
  const auto row = [&](const std::string& what, double seconds) {
    return fmt::format("      {:<12} {:>10}  {}  {}\n", what, duration(seconds),
                       bar(seconds / most, 36), rate(race.operations, seconds));
  };
  const double factor = race.unfused_seconds / race.fused_seconds;
  print(fmt::format("\n   {}\n", race.what) + row("one graph", race.fused_seconds) +
        row(fmt::format("{} graphs", race.unfused_graphs), race.unfused_seconds) +
        styled(Style::kDim, fmt::format("      {}, {}, workspace {}\n", kernel_count(race.plan),
                                        race.plan, byte_count(race.workspace_bytes))));
  section().races.push_back(std::move(race));
  const Race& kept = section().races.back();
  conclude(
      fmt::format("{:.2f} times as fast as one operation at a time, and {} that are never "
                  "written to memory",
                  factor, byte_count(kept.unfused_bytes)));
}

void Tour::candidates(std::vector<Candidate> candidates) {
  const double fastest = candidates.empty() ? 1 : candidates.front().seconds;
  print("\n");
  for (const Candidate& candidate : candidates) {
    print(fmt::format(
        "      {:>10}  {}  {:>14}  {:>9}  {}{}\n", duration(candidate.seconds),
        bar(fastest / candidate.seconds, 24), rate(candidate.operations, candidate.seconds),
        byte_count(candidate.workspace_bytes), candidate.plan,
        candidate.is_first_choice ? styled(Style::kStrong, "  <- the heuristic's first choice")
                                  : ""));
  }
  section().candidates = std::move(candidates);
}

void Tour::mistake(Mistake mistake) {
  print(fmt::format("   {} {}\n", mark(mistake.was_caught), mistake.what));
  print(wrapped(fmt::format("   {}: {}", mistake.code, mistake.message)) + "\n");
  section().mistakes.push_back(std::move(mistake));
}

void Tour::conclude(const std::string& line) {
  if (!section().conclusion.empty()) section().conclusion += ". ";
  section().conclusion += line;
  print(wrapped("=> " + line));
}

void Tour::fail(const std::string& why) {
  section().failure = why;
  print(fmt::format("   {} {}\n", mark(false), why));
}

void Tour::print_summary() {
  print(fmt::format("\n{}\n", styled(Style::kTitle, "Summary")));
  for (const SummaryRow& row : summary_of(results_)) {
    print(fmt::format("   {} {:<1}  {:<36} {}\n", mark(row.passed), row.section, row.what,
                      row.result));
  }
  print(fmt::format("\n   {} in {:.1f} s on {}\n",
                    results_.passed() ? styled(Style::kGood, "everything agrees,")
                                      : styled(Style::kBad, "something failed,"),
                    results_.seconds, results_.device));
}

}  // namespace tour
