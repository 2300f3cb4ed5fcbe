#include "base/store_settings.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "base/log.h"

namespace warploom::base {
namespace {

/// Empty when it is unset.
std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

void ignore(const char* name, std::string_view value, const char* accepted,
            StoreSettings& settings) {
  settings.ignored.push_back(fmt::format("{}={}; accepted: {}", name, value, accepted));
  log("ignored: " + settings.ignored.back());
}

int64_t limit(StoreSettings& settings) {
  const std::string_view text = variable("WARPLOOM_CACHE_LIMIT");
  int64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (!text.empty() && error == std::errc() && end == text.data() + text.size() && bytes >= 0)
    return bytes;
  if (!text.empty()) ignore("WARPLOOM_CACHE_LIMIT", text, "a number of bytes", settings);
  return kDefaultStoreLimit;
}

StoreAccess access(StoreSettings& settings) {
  const std::string_view text = variable("WARPLOOM_CACHE");
  if (text == "off" || text == "0") return StoreAccess::kOff;
  if (text == "readonly") return StoreAccess::kReadOnly;
  if (!text.empty() && text != "on" && text != "1")
    ignore("WARPLOOM_CACHE", text, "on, off, readonly", settings);
  return StoreAccess::kReadWrite;
}

/// Empty where there is none.
std::filesystem::path folder() {
  if (const auto named = variable("WARPLOOM_CACHE_DIR"); !named.empty()) {
    // The working directory may change later.
    std::error_code error;
    return std::filesystem::absolute(named, error);
  }
  // A relative path is to be ignored, by the XDG specification.
  if (const std::filesystem::path cache = variable("XDG_CACHE_HOME"); cache.is_absolute())
    return cache / "warploom";
  if (const std::filesystem::path home = variable("HOME"); home.is_absolute())
    return home / ".cache" / "warploom";
  return {};
}

}  // namespace

StoreSettings store_settings() {
  StoreSettings settings;
  settings.access = access(settings);
  settings.folder = folder();
  settings.limit_bytes = limit(settings);
  if (settings.access == StoreAccess::kOff)
    settings.why_off = "WARPLOOM_CACHE is off";
  else if (settings.folder.empty())
    settings.why_off = "no folder: set WARPLOOM_CACHE_DIR, XDG_CACHE_HOME or HOME";
  else if (settings.limit_bytes == 0)
    settings.why_off = "WARPLOOM_CACHE_LIMIT is 0";
  if (!settings.why_off.empty()) settings.access = StoreAccess::kOff;
  return settings;
}

}  // namespace warploom::base
