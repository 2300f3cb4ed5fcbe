#include "tools/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace warploom::tools {
namespace {

namespace fs = std::filesystem;

error_t failure(const fs::path& path, std::string_view what) {
  return {error_code_t::INVALID_VALUE, fmt::format("{}: {}", path.string(), what)};
}

/// errno of the first write that failed, 0 when all is on its way to the disk.
int write_all(int descriptor, std::span<const std::span<const std::byte>> parts) {
  for (std::span<const std::byte> part : parts) {
    while (!part.empty()) {
      const ssize_t written = ::write(descriptor, part.data(), part.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      part = part.subspan(static_cast<size_t>(written));
    }
  }
  return 0;
}

error_t write_directly(const fs::path& path, std::span<const std::span<const std::byte>> parts) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return failure(path, std::strerror(errno));
  const int problem = write_all(descriptor, parts);
  ::close(descriptor);
  return problem == 0 ? error_t{} : failure(path, std::strerror(problem));
}

}  // namespace

Result<std::uintmax_t> size_of_file(const fs::path& path) {
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  if (!fs::exists(status)) return failure(path, "no such file");
  if (!fs::is_regular_file(status)) return failure(path, "not a regular file");
  const std::uintmax_t size = fs::file_size(path, problem);
  if (problem) return failure(path, problem.message());
  return size;
}

Result<std::string> read_text(const fs::path& path) {
  Result<std::uintmax_t> size = size_of_file(path);
  if (size.is_bad()) return size.error();
  if (size.value() > kMostTextBytes) {
    return failure(path,
                   fmt::format("{} bytes; at most {} are read", size.value(), kMostTextBytes));
  }
  std::ifstream stream(path, std::ios::binary);
  std::string text(size.value(), '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream) return failure(path, "cannot be read");
  return text;
}

error_t write_file(const fs::path& path, std::span<const std::span<const std::byte>> parts) {
  std::error_code problem;
  // A symbolic link stays one: what it points to is replaced.
  const fs::path target =
      fs::is_symlink(path, problem) ? fs::weakly_canonical(path, problem) : path;
  const fs::file_status status = fs::status(target, problem);
  if (fs::is_directory(status)) return failure(path, "is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_directly(target, parts);

  std::string beside = target.string() + ".XXXXXX";
  const int descriptor = ::mkstemp(beside.data());
  if (descriptor < 0) {
    return failure(path, fmt::format("cannot be written: {}", std::strerror(errno)));
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  int failed = write_all(descriptor, parts);
  if (failed == 0 && ::fchmod(descriptor, 0666 & ~mask) != 0) failed = errno;
  if (::close(descriptor) != 0 && failed == 0) failed = errno;
  if (failed == 0 && ::rename(beside.c_str(), target.c_str()) != 0) failed = errno;
  if (failed == 0) return {};
  ::unlink(beside.c_str());
  return failure(path, fmt::format("cannot be written: {}", std::strerror(failed)));
}

error_t write_text(const fs::path& path, std::string_view text) {
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  return write_file(path, {&part, 1});
}

}  // namespace warploom::tools
