#include "stores/worker.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

namespace warploom::test {

Worker::Worker(const std::string& task, const std::filesystem::path& folder,
               const Environment& environment) {
  std::string name = (std::filesystem::temp_directory_path() / "warploom-worker-XXXXXX").string();
  const int output = ::mkstemp(name.data());
  output_ = name;
  // Not in the child: other threads may hold the allocator's lock when it is forked.
  Environment given{{"WARPLOOM_STORE_WORKER", task},
                    {"WARPLOOM_CACHE_DIR", folder.string()},
                    {"WARPLOOM_CACHE", "on"}};
  for (const auto& [variable, value] : environment) given[variable] = value;
  std::vector<std::string> variables;
  for (const auto& [variable, value] : given) variables.push_back(variable + "=" + value);
  for (char** variable = ::environ; *variable; ++variable)
    if (const std::string_view text = *variable; !text.starts_with("WARPLOOM_"))
      variables.emplace_back(text);
  std::vector<char*> pointers;
  for (std::string& variable : variables) pointers.push_back(variable.data());
  pointers.push_back(nullptr);
  char program[] = "/proc/self/exe";
  char* const arguments[] = {program, nullptr};
  process_ = ::fork();
  if (process_ == 0) {
    ::dup2(output, STDOUT_FILENO);
    ::execve(program, arguments, pointers.data());
    ::_exit(127);
  }
  ::close(output);
}

Worker::Worker(Worker&& other) noexcept
    : process_(std::exchange(other.process_, -1)), output_(std::move(other.output_)) {
  other.output_.clear();
}

Worker::~Worker() {
  if (process_ > 0) {
    kill();
    wait();
  }
  if (!output_.empty()) std::filesystem::remove(output_);
}

void Worker::kill() {
  if (process_ > 0) ::kill(process_, SIGKILL);
}

int Worker::wait() {
  int status = 0;
  ::waitpid(process_, &status, 0);
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::vector<std::string> Worker::lines() const {
  return lines_of(output_);
}

std::vector<std::string> run_worker(const std::string& task, const std::filesystem::path& folder,
                                    const Environment& environment) {
  Worker worker(task, folder, environment);
  EXPECT_EQ(worker.wait(), 0) << task;
  return worker.lines();
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    // One that a killed process did not finish is none.
    if (!file.eof()) lines.push_back(line);
  }
  return lines;
}

}  // namespace warploom::test
