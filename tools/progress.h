#pragma once
/// A line on the terminal for work that takes longer than a second.
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace warploom::tools {

/// Shows nothing when standard error is no terminal. The line is gone when the object is.
class Progress {
 public:
  /// `steps`: how many step() will follow; 0 when unknown.
  explicit Progress(std::string what, int64_t steps = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(std::string what);
  /// Prints to standard output, above the line.
  void print(const std::string& text);

 private:
  void erase();
  void show_until_stopped();

  const int64_t steps_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  int64_t step_ = 0;
  bool is_stopped_ = false, is_shown_ = false;
  std::thread thread_;
};

}  // namespace warploom::tools
