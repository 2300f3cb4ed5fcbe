#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>
#include <warploom/error.h>

#include "serialize/json_encoding.h"

namespace warploom::serialize {

/// Parses text within bounds. UNSUPPORTED_GRAPH_FORMAT with the place of what is no JSON, nested
/// too deep, or a key that an object has twice.
Result<Json> parse_json(const std::string& text);

error_t format_error(std::string_view path, std::string_view message);

/// An object of known fields, read one by one; the first error is kept. finish() refuses what was
/// not asked for.
class ObjectReader {
 public:
  ObjectReader(const Json& json, std::string path) : json_(json), path_(std::move(path)) {
    if (!json.is_object()) error_ = format_error(path_, "found no object, accepted an object");
  }

  /// The field, or null when it is absent.
  const Json* find(std::string_view name) {
    known_.insert(std::string(name));
    if (!json_.is_object()) return nullptr;
    const auto field = json_.find(std::string(name));
    return field == json_.end() ? nullptr : &*field;
  }

  /// Leaves `value` alone when the field is absent.
  template <class T>
  void read(std::string_view name, T& value) {
    const Json* const field = find(name);
    if (!field || error_.is_bad()) return;
    if (const Complaint accepted = decode(*field, value))
      fail(name, fmt::format("found {}, accepted {}", excerpt(*field), accepted));
  }

  void ignore(std::string_view name) { known_.insert(std::string(name)); }
  void fail(std::string_view name, std::string_view message);
  std::string path_of(std::string_view name) const { return fmt::format("{}/{}", path_, name); }
  const error_t& error() const { return error_; }
  error_t finish();

 private:
  static std::string excerpt(const Json& json);

  const Json& json_;
  std::string path_;
  std::unordered_set<std::string> known_;
  error_t error_;
};

}  // namespace warploom::serialize
