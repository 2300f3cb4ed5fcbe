#pragma once
/// The tour's sections and what they share: the device they run on, and a narrator that prints what
/// happens and keeps it for the report.
#include <string>

#include <warploom/warploom.h>

#include "tour/results.h"

namespace tour {

struct Options {
  std::string device = "cpu";
  bool is_quick = false;  ///< smaller problems, fewer rounds
  std::string json, report;
};

class Tour {
 public:
  Tour(warploom::Handle& handle, Options options);

  warploom::Handle& handle() const { return handle_; }
  bool is_quick() const { return options_.is_quick; }

  void begin(int number, const std::string& title);
  /// What is about to happen.
  void say(const std::string& paragraph);
  void fact(const std::string& name, const std::string& value);
  void picture(Picture picture);
  void draw(const std::string& caption, const warploom::graph::Graph& graph);
  void check(Check check);
  void race(Race race);
  void candidates(std::vector<Candidate> candidates);
  void mistake(Mistake mistake);
  /// The section's result line.
  void conclude(const std::string& line);
  /// The section ends early.
  void fail(const std::string& why);

  /// The table at the end.
  void print_summary();
  Results& results() { return results_; }

 private:
  Section& section() { return results_.sections.back(); }

  warploom::Handle& handle_;
  Options options_;
  Results results_;
};

// The sections, in order. Each describes graphs with the public interface, runs them, and compares.
warploom::error_t show_environment(Tour& tour);   // environment.cpp
warploom::error_t convolve(Tour& tour);           // convolution.cpp
warploom::error_t try_candidates(Tour& tour);     // candidates.cpp
warploom::error_t multiply_matrices(Tour& tour);  // matmul.cpp
warploom::error_t attend(Tour& tour);             // attention.cpp
warploom::error_t keep_a_plan(Tour& tour);        // keeping.cpp
warploom::error_t change_shapes(Tour& tour);      // shapes.cpp
warploom::error_t make_mistakes(Tour& tour);      // mistakes.cpp

}  // namespace tour
