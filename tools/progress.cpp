#include "tools/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace warploom::tools {

Progress::Progress(std::string what, int64_t steps) : steps_(steps), what_(std::move(what)) {
  if (::isatty(STDERR_FILENO)) thread_ = std::thread([this] { show_until_stopped(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Progress::step(std::string what) {
  std::lock_guard lock(mutex_);
  what_ = std::move(what);
  ++step_;
}

void Progress::print(const std::string& text) {
  std::lock_guard lock(mutex_);
  erase();
  fmt::print("{}", text);
  std::fflush(stdout);
}

void Progress::erase() {
  if (!is_shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  is_shown_ = false;
}

void Progress::show_until_stopped() {
  using namespace std::chrono_literals;
  const auto start = std::chrono::steady_clock::now();
  auto pause = 1000ms;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, pause, [this] { return is_stopped_; })) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const std::string count = steps_ > 0 ? fmt::format("{}/{} ", step_, steps_) : "";
    erase();
    fmt::print(stderr, "{:.0f} s  {}{}", elapsed.count(), count, what_.substr(0, 60));
    std::fflush(stderr);
    is_shown_ = true;
    pause = 200ms;
  }
  erase();
}

}  // namespace warploom::tools
