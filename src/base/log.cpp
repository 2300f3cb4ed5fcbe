#include "base/log.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <warploom/logging.h>

namespace warploom {
namespace base {
namespace {

const char* setting(const char* name, const char* compatible_name) {
  const char* const value = std::getenv(name);
  return value ? value : std::getenv(compatible_name);
}

bool is_asked_for() {
  const char* const level = setting("WARPLOOM_LOG_INFO", "CUDNN_FRONTEND_LOG_INFO");
  return level && std::atoi(level) > 0;
}

/// Null when nothing says where to.
std::FILE* open_log() {
  const char* const file = setting("WARPLOOM_LOG_FILE", "CUDNN_FRONTEND_LOG_FILE");
  if (!file) return nullptr;
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
  return isLoggingEnabled() && log_file();
}

void log(std::string_view message) {
  if (!is_logging()) return;
  std::FILE* const file = log_file();
  std::string line = "[warploom] ";
  line.append(message).append("\n");
  // stdio locks the stream: lines of several threads do not mix.
  std::fwrite(line.data(), 1, line.size(), file);
  std::fflush(file);
}

}  // namespace base

bool& isLoggingEnabled() {
  static bool is_enabled = base::is_asked_for() && base::log_file();
  return is_enabled;
}

void log_message(std::string_view message) {
  base::log(message);
}

}  // namespace warploom
