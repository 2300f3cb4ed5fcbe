#include "base/store_settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>

namespace warploom::base {
namespace {

/// Sets variables of the environment; null ones are unset. They get their old values back.
class Environment {
 public:
  explicit Environment(const std::map<std::string, const char*>& variables) {
    for (const auto& [name, value] : variables) {
      const char* const old = std::getenv(name.c_str());
      old_[name] = old ? std::optional<std::string>(old) : std::nullopt;
      set(name, value);
    }
  }
  ~Environment() {
    for (const auto& [name, value] : old_) set(name, value ? value->c_str() : nullptr);
  }

 private:
  static void set(const std::string& name, const char* value) {
    if (value)
      ::setenv(name.c_str(), value, 1);
    else
      ::unsetenv(name.c_str());
  }
  std::map<std::string, std::optional<std::string>> old_;
};

/// The settings with these variables and none of the others.
StoreSettings settings_with(std::map<std::string, const char*> variables) {
  for (const char* name :
       {"WARPLOOM_CACHE", "WARPLOOM_CACHE_DIR", "WARPLOOM_CACHE_LIMIT", "XDG_CACHE_HOME", "HOME"})
    variables.try_emplace(name, nullptr);
  const Environment environment(variables);
  return store_settings();
}

TEST(StoreSettings, FolderIsTheFirstThatIsNamed) {
  const auto folder = [](std::map<std::string, const char*> variables) {
    return settings_with(std::move(variables)).folder;
  };
  EXPECT_EQ(folder({{"WARPLOOM_CACHE_DIR", "/c"}, {"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}), "/c");
  EXPECT_EQ(folder({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}), "/x/warploom");
  EXPECT_EQ(folder({{"HOME", "/h"}}), "/h/.cache/warploom");
  EXPECT_EQ(folder({{"WARPLOOM_CACHE_DIR", ""}, {"XDG_CACHE_HOME", "x"}, {"HOME", "/h"}}),
            "/h/.cache/warploom")
      << "empty counts as unset, a relative XDG_CACHE_HOME too";
  EXPECT_EQ(folder({{"WARPLOOM_CACHE_DIR", "c"}}), std::filesystem::current_path() / "c");
}

TEST(StoreSettings, AreOffWithAReason) {
  for (const auto& variables : std::vector<std::map<std::string, const char*>>{
           {},
           {{"HOME", ""}},
           {{"HOME", "relative"}},
           {{"HOME", "/h"}, {"WARPLOOM_CACHE", "off"}},
           {{"HOME", "/h"}, {"WARPLOOM_CACHE", "0"}},
           {{"HOME", "/h"}, {"WARPLOOM_CACHE_LIMIT", "0"}}}) {
    const StoreSettings settings = settings_with(variables);
    EXPECT_EQ(settings.access, StoreAccess::kOff);
    EXPECT_FALSE(settings.why_off.empty());
  }
}

TEST(StoreSettings, AccessAndLimit) {
  const auto access = [](const char* value) {
    return settings_with({{"HOME", "/h"}, {"WARPLOOM_CACHE", value}}).access;
  };
  EXPECT_EQ(access(nullptr), StoreAccess::kReadWrite);
  EXPECT_EQ(access("on"), StoreAccess::kReadWrite);
  EXPECT_EQ(access("readonly"), StoreAccess::kReadOnly);
  EXPECT_EQ(access("perhaps"), StoreAccess::kReadWrite);
  const auto limit = [](const char* value) {
    return settings_with({{"HOME", "/h"}, {"WARPLOOM_CACHE_LIMIT", value}}).limit_bytes;
  };
  EXPECT_EQ(limit(nullptr), kDefaultStoreLimit);
  EXPECT_EQ(limit("12345"), 12345);
  for (const char* nonsense : {"-1", "12k", "99999999999999999999", "1e6", " 1"})
    EXPECT_EQ(limit(nonsense), kDefaultStoreLimit) << nonsense;
}

}  // namespace
}  // namespace warploom::base
