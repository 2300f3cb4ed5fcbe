#pragma once
/// What the tour finds out, as plain data: printed as it comes, and written as JSON and as a page.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tour {

/// A result compared with an independent computation in double.
struct Check {
  std::string what;
  double error = 0, tolerance = 0;
  std::int64_t compared = 0;  ///< elements compared
  bool passed() const { return error <= tolerance; }
};

/// One graph against the same work as single-operation graphs, timed in the same rounds.
struct Race {
  std::string what;
  double fused_seconds = 0, unfused_seconds = 0;
  double operations = 0;  ///< floating-point operations of the work, once
  std::int64_t unfused_graphs = 0;
  std::int64_t unfused_bytes = 0;  ///< of the tensors between the single operations
  std::int64_t workspace_bytes = 0;
  std::string plan;
};

struct Candidate {
  std::string plan;
  double seconds = 0, predicted_seconds = 0;
  double operations = 0;
  std::int64_t workspace_bytes = 0;
  bool is_first_choice = false;  ///< the heuristic's
};

/// A wrong graph, and what the library says of it.
struct Mistake {
  std::string what, code, message;
  bool was_caught = false;
};

struct Drawing {
  std::string caption, svg;
};

struct Picture {
  std::string caption, data_uri;
  std::vector<std::string> characters;  ///< for the terminal; often empty
};

struct Section {
  int number = 0;
  std::string title;
  std::vector<std::string> story;                          ///< paragraphs
  std::vector<std::pair<std::string, std::string>> facts;  ///< e.g. {"threads", "2"}
  std::vector<Picture> pictures;
  std::vector<Drawing> drawings;
  std::vector<Check> checks;
  std::vector<Race> races;
  std::vector<Candidate> candidates;  ///< fastest first
  std::vector<Mistake> mistakes;
  std::string failure;  ///< why the section stopped early; empty if it did not
  std::string conclusion;
};

struct Results {
  std::string device;  ///< one line
  bool is_quick = false;
  double seconds = 0;
  std::vector<Section> sections;
  bool passed() const;
};

/// The summary's rows: what was done and how it came out.
struct SummaryRow {
  std::string section, what, result;
  bool passed = true;
};
std::vector<SummaryRow> summary_of(const Results& results);

std::string to_json(const Results& results);
/// A page without external resources.
std::string to_html(const Results& results);

}  // namespace tour
