#include "base/file_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <set>
#include <thread>

#include "base/store_entry.h"
#include "base/store_files.h"
#include "stores/temporary_folder.h"

namespace warploom::test {
namespace {

namespace fs = std::filesystem;
using base::FileStore;
using base::kKernelSection;
using base::kStoreSections;
using base::kTuningSection;
using base::StoreAccess;

bool put(FileStore& store, std::string_view key, std::string_view value) {
  return store.put(kKernelSection, key, bytes_of(value));
}

void set_age(const fs::path& path, std::chrono::seconds age) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - age);
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777;
}

/// Runs `body` in a process of its own, as another user when `user` is not 0; true when it returns
/// true.
template <class Body>
bool in_child(uid_t user, Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (user != 0 && ::setuid(user) != 0) ::_exit(2);
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
constexpr uid_t kNobody = 65534;

TEST(FileStore, KeepsValuesAndReplacesThem) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  EXPECT_EQ(get_text(store, "a"), "(nothing)");
  EXPECT_TRUE(put(store, "a", "1"));
  EXPECT_TRUE(put(store, "b", ""));
  EXPECT_TRUE(put(store, "a", "2"));
  const FileStore another(settings_for(folder.path()));
  EXPECT_EQ(get_text(another, "a"), "2");
  EXPECT_EQ(get_text(another, "b"), "");
  EXPECT_EQ(store.files().size(), 2u);
}

TEST(FileStore, KeepsManyValuesUnderOneKey) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  for (int i = 0; i < 40; ++i)
    EXPECT_TRUE(store.add(kTuningSection, "key", bytes_of(std::to_string(i))));
  EXPECT_TRUE(store.add(kTuningSection, "other", bytes_of("other")));
  auto values = store.get_all(kTuningSection, "key");
  std::set<std::string> texts;
  for (const auto& value : values) texts.insert(text_of(value.bytes));
  EXPECT_EQ(texts.size(), 40u);
  store.remove(kTuningSection, "key", values[0].name);
  EXPECT_EQ(store.get_all(kTuningSection, "key").size(), 39u);
}

TEST(FileStore, FoldersAndFilesAreTheUsersAlone) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0);
  FileStore store(settings_for(folder.path() / "x" / "cache"));
  EXPECT_TRUE(put(store, "a", "1"));
  ::umask(before);
  EXPECT_EQ(mode_of(folder.path() / "x"), 0700u);
  EXPECT_EQ(mode_of(folder.path() / "x" / "cache"), 0700u);
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    EXPECT_EQ(mode_of(entry.path()), entry.is_directory() ? 0700u : 0600u) << entry.path();
}

TEST(FileStore, AFileCutAtAnyLengthIsNotThere) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  ASSERT_TRUE(put(store, "key", "value"));
  const fs::path path = store.files().at(0).path;
  const Bytes whole = read_file(path);
  for (size_t size = 0; size < whole.size(); ++size) {
    write_file(path, Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)));
    EXPECT_EQ(get_text(store, "key"), "(nothing)") << size;
  }
  Bytes longer = whole;
  longer.push_back(std::byte{0});
  write_file(path, longer);
  EXPECT_EQ(get_text(store, "key"), "(nothing)");
  // It is written again as if it had not been there.
  EXPECT_TRUE(put(store, "key", "new"));
  EXPECT_EQ(get_text(store, "key"), "new");
}

TEST(FileStore, AFileWithAnyBitFlippedIsNotThere) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  ASSERT_TRUE(put(store, "key", "value"));
  const fs::path path = store.files().at(0).path;
  const Bytes whole = read_file(path);
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes damaged = whole;
    damaged[bit / 8] ^= std::byte{static_cast<unsigned char>(1 << bit % 8)};
    write_file(path, damaged);
    EXPECT_EQ(get_text(store, "key"), "(nothing)") << "bit " << bit;
  }
}

// A file of another key in this key's place: what a collision of hashes would look like.
TEST(FileStore, AValueOfAnotherKeyIsNotTaken) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  ASSERT_TRUE(put(store, "key", "value"));
  const fs::path path = store.files().at(0).path;
  write_file(path, base::encode_store_entry({"another key", bytes_of("wrong")}));
  EXPECT_EQ(get_text(store, "key"), "(nothing)");
  EXPECT_TRUE(store.get_all(kKernelSection, "key").empty());
}

TEST(FileStore, ANewerVersionIsNamedAndNotRead) {
  Bytes file = base::encode_store_entry({"key", bytes_of("value")});
  ASSERT_TRUE(base::parse_store_entry(file).is_good());
  file[8] = std::byte{2};
  const auto parsed = base::parse_store_entry(file);
  ASSERT_TRUE(parsed.is_bad());
  EXPECT_NE(parsed.error().err_msg.find("version 2"), std::string::npos) << parsed.error();
  EXPECT_NE(parsed.error().err_msg.find("reads version 1"), std::string::npos) << parsed.error();
}

TEST(FileStore, LengthsBeyondTheFileAreRefused) {
  // A checksum that is right does not make lengths right.
  for (const uint64_t length : {uint64_t{4}, uint64_t{1} << 40, UINT64_MAX, UINT64_MAX - 7}) {
    Bytes content = bytes_of(std::string(8, '\0') + "key" + std::string(8, '\0'));
    for (int i = 0; i < 8; ++i) content[static_cast<size_t>(i)] = std::byte(length >> (8 * i));
    Bytes file = base::encode_store_entry({"", {}});
    file.resize(16);
    // FNV-1a of the length as a number of eight bytes, then of the bytes.
    uint64_t hash = 0xcbf29ce484222325u;
    const auto mix = [&](uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3u; };
    for (int i = 0; i < 8; ++i) mix(static_cast<uint8_t>(content.size() >> (8 * i)));
    for (std::byte byte : content) mix(std::to_integer<uint8_t>(byte));
    for (int i = 0; i < 8; ++i) file.push_back(std::byte(hash >> (8 * i)));
    file.insert(file.end(), content.begin(), content.end());
    const auto parsed = base::parse_store_entry(file);
    ASSERT_TRUE(parsed.is_bad()) << length;
    EXPECT_NE(parsed.error().err_msg.find("lengths"), std::string::npos) << parsed.error();
  }
}

TEST(FileStore, GarbageInItsFolderIsLeftAloneAndDoesNoHarm) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  ASSERT_TRUE(put(store, "key", "value"));
  const fs::path path = store.files().at(0).path;
  write_file(folder.path() / "notes.txt", bytes_of("mine"));
  write_file(path.parent_path() / "README", bytes_of("mine"));
  write_file(folder.path() / "kernels" / "0123456789abcdef", bytes_of("mine"));
  write_file(path.parent_path() / "0123456789abcdef", bytes_of("no entry"));
  EXPECT_EQ(get_text(store, "key"), "value");
  EXPECT_EQ(store.get_all(kKernelSection, "key").size(), 1u);
  store.trim(0, kStoreSections);
  EXPECT_EQ(get_text(store, "key"), "(nothing)");
  EXPECT_TRUE(fs::exists(folder.path() / "notes.txt"));
  EXPECT_TRUE(fs::exists(path.parent_path() / "README"));
  EXPECT_TRUE(fs::exists(folder.path() / "kernels" / "0123456789abcdef"));
  EXPECT_FALSE(fs::exists(path.parent_path() / "0123456789abcdef"));
}

TEST(FileStore, LinksPipesAndFoldersInAFilesPlaceAreNotRead) {
  const TemporaryFolder folder, elsewhere;
  FileStore store(settings_for(folder.path()));
  ASSERT_TRUE(put(store, "key", "value"));
  const fs::path path = store.files().at(0).path;
  const fs::path target = elsewhere.path() / "target";
  fs::rename(path, target);
  fs::create_symlink(target, path);
  EXPECT_EQ(get_text(store, "key"), "(nothing)") << "a link to a good file";
  EXPECT_TRUE(put(store, "key", "new")) << "the link is replaced, not followed";
  EXPECT_EQ(get_text(store, "key"), "new");
  EXPECT_EQ(read_file(target), base::encode_store_entry({"key", bytes_of("value")}));

  fs::remove(path);
  fs::create_symlink(path, path);
  EXPECT_EQ(get_text(store, "key"), "(nothing)") << "a link to itself";
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(get_text(store, "key"), "(nothing)") << "a pipe";
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_EQ(get_text(store, "key"), "(nothing)") << "a folder";
  EXPECT_FALSE(put(store, "key", "new"));

  // Trimming does not follow links either.
  fs::remove_all(path.parent_path());
  const fs::path bait = elsewhere.path() / "0123456789abcdef" / "0123456789abcdef";
  fs::create_directory(bait.parent_path());
  write_file(bait, bytes_of("precious"));
  fs::create_directory_symlink(bait.parent_path(), path.parent_path());
  store.trim(0, kStoreSections);
  EXPECT_TRUE(fs::exists(bait));
}

TEST(FileStore, TrimsWhatWasUsedLongestAgo) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  int hours = 10;
  for (const char* key : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(put(store, key, key));
    for (const auto& file : store.files())
      if (fs::file_time_type::clock::now() - fs::last_write_time(file.path) < std::chrono::hours(1))
        set_age(file.path, std::chrono::hours(hours--));
  }
  EXPECT_EQ(get_text(store, "a"), "a") << "reading is use";
  const auto removed = store.trim(2 * 4096, kStoreSections);
  EXPECT_EQ(removed.size(), 2u);
  EXPECT_EQ(get_text(store, "a"), "a");
  EXPECT_EQ(get_text(store, "b"), "(nothing)");
  EXPECT_EQ(get_text(store, "c"), "(nothing)");
  EXPECT_EQ(get_text(store, "d"), "d");
  EXPECT_EQ(fs::exists(folder.path() / "tuning"), false) << "nothing is made that is not needed";
}

TEST(FileStore, TrimsTheSectionsThatItIsTold) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  ASSERT_TRUE(put(store, "a", "kernel"));
  ASSERT_TRUE(store.add(kTuningSection, "a", bytes_of("times")));
  const std::string_view only[] = {kTuningSection};
  EXPECT_EQ(store.trim(0, only).size(), 1u);
  EXPECT_EQ(get_text(store, "a"), "kernel");
  EXPECT_TRUE(store.get_all(kTuningSection, "a").empty());
}

TEST(FileStore, StaysWithinItsLimitByItself) {
  const TemporaryFolder folder;
  constexpr int64_t kLimit = 64 * 4096;
  FileStore store(settings_for(folder.path(), StoreAccess::kReadWrite, kLimit));
  const std::string value(5000, 'x');  // two blocks on the disk
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(put(store, std::to_string(i), value));
  int64_t bytes = 0;
  for (const auto& file : store.files()) bytes += file.bytes;
  EXPECT_LE(bytes, kLimit + kLimit / 16);
  EXPECT_GT(bytes, kLimit / 2);
  EXPECT_EQ(get_text(store, "499"), value);
  EXPECT_LE(fs::exists(folder.path() / "kernels")
                ? std::distance(fs::directory_iterator(folder.path() / "kernels"), {})
                : 0,
            64)
      << "no empty folders are left";
  EXPECT_FALSE(put(store, "large", std::string(kLimit + 1, 'x')));
}

TEST(FileStore, RemovesWhatKilledWritersLeftOnceItIsOld) {
  const TemporaryFolder folder;
  const fs::path temporary = folder.path() / base::kTemporaryFolder;
  fs::create_directory(temporary);
  for (const char* name : {"00000000000000aa", "00000000000000bb", "notes"})
    write_file(temporary / name, bytes_of("half"));
  set_age(temporary / "00000000000000aa", std::chrono::hours(1));
  set_age(temporary / "notes", std::chrono::hours(1));
  FileStore store(settings_for(folder.path()));
  ASSERT_TRUE(put(store, "key", "value"));
  EXPECT_FALSE(fs::exists(temporary / "00000000000000aa"));
  EXPECT_TRUE(fs::exists(temporary / "00000000000000bb")) << "somebody may be writing it";
  EXPECT_TRUE(fs::exists(temporary / "notes")) << "no store made it";
}

TEST(FileStore, ALimitOnTheSizeOfFilesKillsNobody) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  ASSERT_TRUE(put(store, "kept", "value"));
  rlimit limit;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const bool is_written = put(store, "key", "value");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_FALSE(is_written);
  EXPECT_EQ(get_text(store, "key"), "(nothing)");
  EXPECT_EQ(get_text(store, "kept"), "value");
  EXPECT_TRUE(fs::is_empty(folder.path() / base::kTemporaryFolder));
  EXPECT_TRUE(put(store, "key", "value"));
}

TEST(FileStore, OffTouchesNothing) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path() / "cache", StoreAccess::kOff));
  EXPECT_FALSE(put(store, "key", "value"));
  EXPECT_EQ(get_text(store, "key"), "(nothing)");
  EXPECT_FALSE(fs::exists(folder.path() / "cache"));
  EXPECT_TRUE(store.check_readable().is_bad());
  EXPECT_TRUE(store.check_writable().is_bad());
}

TEST(FileStore, ReadOnlyReadsAndChangesNothing) {
  const TemporaryFolder folder;
  FileStore writer(settings_for(folder.path()));
  ASSERT_TRUE(put(writer, "key", "value"));
  const fs::path path = writer.files().at(0).path;
  set_age(path, std::chrono::hours(5));
  const auto before = fs::last_write_time(path);
  FileStore store(settings_for(folder.path(), StoreAccess::kReadOnly));
  EXPECT_EQ(get_text(store, "key"), "value");
  EXPECT_FALSE(put(store, "key", "new"));
  EXPECT_TRUE(store.trim(0, kStoreSections).empty());
  EXPECT_EQ(get_text(store, "key"), "value");
  EXPECT_EQ(fs::last_write_time(path), before);
  EXPECT_TRUE(store.check_readable().is_good());
  EXPECT_TRUE(store.check_writable().is_bad());
}

TEST(FileStore, AFolderThatOthersMayWriteInIsNotUsed) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  ASSERT_TRUE(put(store, "key", "value"));
  for (const mode_t mode : {0720, 0702, 0777}) {
    ASSERT_EQ(::chmod(folder.path().c_str(), mode), 0);
    EXPECT_EQ(get_text(store, "key"), "(nothing)");
    EXPECT_FALSE(put(store, "key", "new"));
    EXPECT_NE(store.check_readable().err_msg.find("others may write"), std::string::npos);
  }
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  EXPECT_EQ(get_text(store, "key"), "value");
}

TEST(FileStore, AFolderOfSomebodyElsesIsNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  ASSERT_TRUE(put(store, "key", "value"));
  ASSERT_EQ(::chown(folder.path().c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(get_text(store, "key"), "(nothing)");
  EXPECT_FALSE(put(store, "key", "new"));
  EXPECT_NE(store.check_readable().err_msg.find("another user"), std::string::npos);
}

TEST(FileStore, AFolderThatCannotBeWrittenIsRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs another user";
  const TemporaryFolder folder;
  FileStore writer(settings_for(folder.path()));
  ASSERT_TRUE(put(writer, "key", "value"));
  // Root's, readable by all: another user takes what is there.
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    ASSERT_EQ(::chmod(entry.path().c_str(), entry.is_directory() ? 0755 : 0644), 0);
  EXPECT_TRUE(in_child(kNobody, [&] {
    FileStore store(settings_for(folder.path()));
    return get_text(store, "key") == "value" && !put(store, "key", "new") &&
           !put(store, "other", "new") && store.trim(0, kStoreSections).empty() &&
           store.check_writable().is_bad();
  }));
  EXPECT_EQ(get_text(writer, "key"), "value");
}

TEST(FileStore, AFolderThatCannotBeMadeIsNone) {
  const TemporaryFolder folder;
  write_file(folder.path() / "file", bytes_of("no folder"));
  for (const fs::path& path : {folder.path() / "file", folder.path() / "file" / "cache",
                               fs::path("/proc/nothing/cache"), fs::path("/dev/null")}) {
    FileStore store(settings_for(path));
    EXPECT_FALSE(put(store, "key", "value")) << path;
    EXPECT_EQ(get_text(store, "key"), "(nothing)") << path;
    EXPECT_TRUE(store.files().empty()) << path;
    EXPECT_TRUE(store.trim(0, kStoreSections).empty()) << path;
    EXPECT_FALSE(store.check_writable().err_msg.empty()) << path;
  }
}

// A file size limit ends a write in the middle, as a full disk does.
TEST(FileStore, AWriteThatFailsHalfwayLeavesNothing) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path()));
  ASSERT_TRUE(put(store, "key", "value"));
  EXPECT_TRUE(in_child(0, [&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{8192, 8192};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    return !put(store, "key", std::string(20000, 'x')) && put(store, "small", "fits");
  }));
  EXPECT_EQ(get_text(store, "key"), "value");
  EXPECT_EQ(get_text(store, "small"), "fits");
  EXPECT_TRUE(all_files(folder.path() / base::kTemporaryFolder).empty());
}

TEST(FileStore, ManyThreadsReadAndWriteAtOnce) {
  const TemporaryFolder folder;
  FileStore store(settings_for(folder.path(), StoreAccess::kReadWrite, 40 * 4096));
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 200; ++i) {
        const std::string key = std::to_string((i * 7 + thread) % 50);
        put(store, key, key + std::string(static_cast<size_t>(i * 20), 'x'));
        const std::string got = get_text(store, key);
        if (got != "(nothing)" && got.substr(0, key.size()) != key) ++wrong;
      }
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(all_files(folder.path() / base::kTemporaryFolder).empty());
}

}  // namespace
}  // namespace warploom::test
