#include "base/private_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>

#include <fmt/format.h>

#include "base/hash.h"

namespace warploom::base {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
/// Use is told to the hour: a file that is read often need not be touched each time.
constexpr int64_t kUseResolution = 3600 * kSecond;

error_t unusable(const std::filesystem::path& folder, std::string_view why) {
  return {error_code_t::INVALID_VALUE, fmt::format("{}: {}", folder.string(), why)};
}

/// Closed when it goes.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  /// Network file systems tell here that the disk is full.
  int close() {
    const int result = number_ < 0 ? 0 : ::close(number_);
    number_ = -1;
    return result;
  }

 private:
  int number_;
};

/// A write beyond the process's limit on the size of files raises SIGXFSZ, of which a process dies
/// that does not expect it. In this thread, and while this lives, it is the error EFBIG alone.
class FileSizeSignalBlocked {
 public:
  FileSizeSignalBlocked() {
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
    was_pending_ = is_pending();
  }
  ~FileSizeSignalBlocked() {
    constexpr timespec kNow{};
    if (!was_pending_ && is_pending()) (void)::sigtimedwait(&signal_, nullptr, &kNow);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileSizeSignalBlocked(const FileSizeSignalBlocked&) = delete;
  FileSizeSignalBlocked& operator=(const FileSizeSignalBlocked&) = delete;

 private:
  static bool is_pending() {
    sigset_t pending;
    return ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 1;
  }

  sigset_t signal_, before_;
  bool was_pending_ = false;
};

int write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return 0;
}

}  // namespace

error_t check_private_folder(const std::filesystem::path& folder) {
  struct stat status;
  if (::stat(folder.c_str(), &status) != 0) return unusable(folder, error_text(errno));
  if (!S_ISDIR(status.st_mode)) return unusable(folder, "not a folder");
  // What root may write it may write anywhere.
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return unusable(folder, "belongs to another user");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return unusable(folder, "others may write in it (chmod go-w makes it usable)");
  return {};
}

error_t make_private_folder(const std::filesystem::path& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  if (errno == ENOENT && folder.has_parent_path() && folder.parent_path() != folder) {
    CHECK_WARPLOOM_ERROR(make_private_folder(folder.parent_path()));
    if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  }
  return unusable(folder, error_text(errno));
}

error_t check_can_make_folder(const std::filesystem::path& folder) {
  const std::filesystem::path parent = folder.parent_path();
  struct stat status;
  if (::stat(parent.c_str(), &status) != 0)
    return errno == ENOENT && parent.has_parent_path() && parent.parent_path() != parent
               ? check_can_make_folder(parent)
               : unusable(folder, error_text(errno));
  if (!S_ISDIR(status.st_mode)) return unusable(parent, "not a folder");
  return ::access(parent.c_str(), W_OK | X_OK) == 0 ? error_t()
                                                    : unusable(folder, error_text(errno));
}

FileContent read_private_file(const std::filesystem::path& path, int64_t most_bytes,
                              bool marks_use) {
  // Not to wait for the other end, should it be a pipe.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) return {{}, errno};
  if (!S_ISREG(status.st_mode)) return {{}, EINVAL};
  if (status.st_size > most_bytes) return {{}, EFBIG};
  FileContent content;
  content.bytes.resize(static_cast<size_t>(status.st_size));
  size_t done = 0;
  while (done < content.bytes.size()) {
    const ssize_t count =
        ::read(file.number(), content.bytes.data() + done, content.bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {{}, errno};
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  content.bytes.resize(done);
  const int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  if (marks_use && now - modified_ns(status) > kUseResolution)
    (void)::futimens(file.number(), nullptr);
  return content;
}

int write_private_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.number() < 0) return errno;
  const FileSizeSignalBlocked blocked;
  int error = write_all(file.number(), bytes);
  if (file.close() != 0 && error == 0) error = errno;
  if (error != 0) ::unlink(path.c_str());
  return error;
}

std::optional<struct stat> status_of(const std::filesystem::path& path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

int64_t modified_ns(const struct stat& status) {
  return int64_t{status.st_mtim.tv_sec} * kSecond + status.st_mtim.tv_nsec;
}

std::string error_text(int error) {
  return std::generic_category().message(error);
}

std::string random_name() {
  uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits)
    bits = Hash()
               .add(::getpid())
               .add(std::chrono::steady_clock::now().time_since_epoch().count())
               .value();
  return fmt::format("{:016x}", bits);
}

}  // namespace warploom::base
