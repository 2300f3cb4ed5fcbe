/// The results as one HTML page that needs nothing else.
#include <fmt/format.h>

#include <algorithm>

#include "tour/console.h"
#include "tour/page.h"
#include "tour/results.h"

namespace tour {
namespace {

std::string state(bool passed) {
  return passed ? "<td class=\"state good\">&#10003;</td>" : "<td class=\"state bad\">failed</td>";
}

std::string tile(const std::string& figure, const std::string& what, bool is_good = true) {
  return fmt::format("<div class=\"tile{}\"><b>{}</b><span>{}</span></div>\n",
                     is_good ? "" : " bad", escaped(figure), escaped(what));
}

std::string tiles(const Results& results) {
  std::string html = "<div class=\"tiles\">\n";
  std::int64_t checks = 0, good = 0, compared = 0;
  for (const Section& section : results.sections) {
    for (const Race& race : section.races) {
      html += tile(fmt::format("{:.2f}\u00d7", race.unfused_seconds / race.fused_seconds),
                   "fused against one by one: " + race.what);
    }
    for (const Check& check : section.checks) {
      ++checks;
      good += check.passed();
      compared += check.compared;
    }
  }
  html += tile(fmt::format("{} of {}", good, checks),
               fmt::format("results agree with double, {:.1f} million values compared",
                           static_cast<double>(compared) * 1e-6),
               good == checks);
  return html + "</div>\n";
}

std::string pictures(const std::vector<Picture>& pictures) {
  if (pictures.empty()) return "";
  std::string html = "<div class=\"pictures\">\n";
  for (const Picture& picture : pictures) {
    html +=
        fmt::format("<figure><img alt=\"{0}\" src=\"{1}\"><figcaption>{0}</figcaption></figure>\n",
                    escaped(picture.caption), picture.data_uri);
  }
  return html + "</div>\n";
}

std::string races(const std::vector<Race>& races) {
  std::string html;
  for (const Race& race : races) {
    const auto value = [&](double seconds) {
      return fmt::format("{}   {}", duration(seconds), rate(race.operations, seconds));
    };
    html += fmt::format("<h3>{}: time, less is better</h3>\n", escaped(race.what));
    html += bar_chart({{"one graph, fused", value(race.fused_seconds), "fused", race.fused_seconds},
                       {fmt::format("{} graphs of one operation", race.unfused_graphs),
                        value(race.unfused_seconds), "unfused", race.unfused_seconds}},
                      race.what);
    html += fmt::format(
        "<p class=\"note\">Plan {} with a workspace of {}; the single operations pass "
        "{} to one another.</p>\n",
        plan_name(race.plan), byte_count(race.workspace_bytes), byte_count(race.unfused_bytes));
  }
  return html;
}

std::string candidates(const std::vector<Candidate>& candidates) {
  if (candidates.empty()) return "";
  std::string html =
      "<h3>Every candidate's speed, more is better</h3>\n"
      "<table><tr><th>plan</th><th>speed</th><th class=\"number-cell\"></th>"
      "<th class=\"number-cell\">measured</th><th class=\"number-cell\">predicted</th>"
      "<th class=\"number-cell\">workspace</th></tr>\n";
  for (const Candidate& candidate : candidates) {
    html += fmt::format(
        "<tr><td>{}{}</td>{}<td class=\"number-cell\">{}</td>"
        "<td class=\"number-cell\">{}</td><td class=\"number-cell\">{}</td>"
        "<td class=\"number-cell\">{}</td></tr>\n",
        plan_name(candidate.plan),
        candidate.is_first_choice ? "<br><span class=\"note\">the heuristic's first choice</span>"
                                  : "",
        bar_cell(candidates.front().seconds / candidate.seconds,
                 candidate.is_first_choice ? "fused" : "candidate"),
        rate(candidate.operations, candidate.seconds), duration(candidate.seconds),
        duration(candidate.predicted_seconds), byte_count(candidate.workspace_bytes));
  }
  return html + "</table>\n";
}

std::string checks(const std::vector<Check>& checks) {
  if (checks.empty()) return "";
  std::string html =
      "<h3>Compared with a computation in double</h3>\n<table><tr><th></th><th>result</th>"
      "<th class=\"number-cell\">values</th><th class=\"number-cell\">largest error</th>"
      "<th class=\"number-cell\">allowed</th></tr>\n";
  for (const Check& check : checks) {
    html += fmt::format(
        "<tr>{}<td>{}</td><td class=\"number-cell\">{}</td><td class=\"number-cell\">{:.1e}</td>"
        "<td class=\"number-cell\">{:.0e}</td></tr>\n",
        state(check.passed()), escaped(check.what), check.compared, check.error, check.tolerance);
  }
  return html + "</table>\n";
}

std::string to_html(const Section& section) {
  std::string html = fmt::format("<section>\n<h2><span class=\"number\">{}</span>{}</h2>\n",
                                 section.number, escaped(section.title));
  for (const std::string& paragraph : section.story) {
    html += fmt::format("<p>{}</p>\n", escaped(paragraph));
  }
  if (!section.facts.empty()) {
    html += "<table>\n";
    for (const auto& [name, value] : section.facts) {
      html += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", escaped(name), escaped(value));
    }
    html += "</table>\n";
  }
  html += pictures(section.pictures);
  for (const Drawing& drawing : section.drawings) {
    html += fmt::format("<figure class=\"drawing\">{}<figcaption>{}</figcaption></figure>\n",
                        drawing.svg, escaped(drawing.caption));
  }
  html += races(section.races);
  html += candidates(section.candidates);
  for (const Mistake& mistake : section.mistakes) {
    html += fmt::format(
        "<div class=\"mistake\">{} <span class=\"note\">{}</span>\n"
        "<div class=\"message\"><b>{}</b> {}</div></div>\n",
        escaped(mistake.what), mistake.was_caught ? "" : "not caught!", escaped(mistake.code),
        escaped(mistake.message));
  }
  html += checks(section.checks);
  if (!section.conclusion.empty()) {
    html += fmt::format("<p class=\"conclusion\">{}</p>\n", escaped(section.conclusion));
  }
  if (!section.failure.empty()) {
    html += fmt::format("<p class=\"bad\">{}</p>\n", escaped(section.failure));
  }
  return html + "</section>\n";
}

std::string summary(const Results& results) {
  std::string html =
      "<section>\n<h2>Summary</h2>\n<table><tr><th></th><th></th><th>what</th><th>result</th></"
      "tr>\n";
  for (const SummaryRow& row : summary_of(results)) {
    html += fmt::format("<tr>{}<td>{}</td><td>{}</td><td>{}</td></tr>\n", state(row.passed),
                        escaped(row.section), escaped(row.what), escaped(row.result));
  }
  return html + "</table>\n</section>\n";
}

}  // namespace

std::string to_html(const Results& results) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Warploom: the guided tour</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n"
      "<h1>Warploom: the guided tour</h1>\n<p class=\"lead\">{}. {} in {:.1f} seconds{}.</p>\n",
      kStyle, escaped(results.device),
      results.passed() ? "Everything agrees" : "<span class=\"bad\">Something failed</span>",
      results.seconds, results.is_quick ? ", on small problems (--quick)" : "");
  html += tiles(results);
  for (const Section& section : results.sections) html += to_html(section);
  html += summary(results);
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace tour
