#pragma once
/// Another process: this program again, which does one task and ends.
#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace warploom::test {

/// Variables of the environment that the process gets in addition.
using Environment = std::map<std::string, std::string>;

class Worker {
 public:
  /// "tune N", "choose N" or "churn SEED"; see worker_tasks.h. Its store is in `folder`.
  Worker(const std::string& task, const std::filesystem::path& folder,
         const Environment& environment = {});
  Worker(Worker&&) noexcept;
  ~Worker();

  void kill();
  /// The exit status, or the negative number of the signal that ended it.
  int wait();
  /// What it printed so far.
  std::vector<std::string> lines() const;

 private:
  pid_t process_ = -1;
  std::filesystem::path output_;
};

/// The lines of a task that must end well.
std::vector<std::string> run_worker(const std::string& task, const std::filesystem::path& folder,
                                    const Environment& environment = {});

std::vector<std::string> lines_of(const std::filesystem::path& file);

}  // namespace warploom::test
