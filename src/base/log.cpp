#include "base/log.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace warploom::base {
namespace {

const char* setting(const char* name, const char* compatible_name) {
  const char* const value = std::getenv(name);
  return value ? value : std::getenv(compatible_name);
}

/// Null when nothing is logged.
std::FILE* open_log() {
  const char* const level = setting("WARPLOOM_LOG_INFO", "CUDNN_FRONTEND_LOG_INFO");
  const char* const file = setting("WARPLOOM_LOG_FILE", "CUDNN_FRONTEND_LOG_FILE");
  if (!level || !file || std::atoi(level) <= 0) return nullptr;
  const std::string_view name = file;
  if (name == "stdout") return stdout;
  if (name == "stderr") return stderr;
  return std::fopen(file, "a");
}

// Never closed: other static objects may log while they are destroyed.
std::FILE* log_file() {
  static std::FILE* const file = open_log();
  return file;
}

}  // namespace

bool is_logging() {
  return log_file() != nullptr;
}

void log(std::string_view message) {
  std::FILE* const file = log_file();
  if (!file) return;
  std::string line = "[warploom] ";
  line.append(message).append("\n");
  // stdio locks the stream: lines of several threads do not mix.
  std::fwrite(line.data(), 1, line.size(), file);
  std::fflush(file);
}

}  // namespace warploom::base
