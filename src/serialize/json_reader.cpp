#include "serialize/json_reader.h"

#include <vector>

#include "serialize/plan_container.h"

namespace warploom::serialize {
namespace {

/// Deeper than any graph is.
constexpr int kDeepest = 32;

}  // namespace

error_t format_error(std::string_view path, std::string_view message) {
  return {error_code_t::UNSUPPORTED_GRAPH_FORMAT,
          fmt::format("JSON, {}: {}", path.empty() ? "/" : path, message)};
}

Result<Json> parse_json(const std::string& text) {
  error_t error;
  std::vector<std::unordered_set<std::string>> keys;
  auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (error.is_bad()) return false;
    if (event == Json::parse_event_t::object_start) {
      keys.resize(static_cast<size_t>(depth) + 1);
      keys.back().clear();
    }
    if (depth > kDeepest)
      error = format_error("", fmt::format("nested deeper than {} levels", kDeepest));
    else if (event == Json::parse_event_t::key &&
             !keys[static_cast<size_t>(depth) - 1].insert(parsed.get<std::string>()).second)
      error = format_error("", fmt::format("key \"{}\" is there twice", parsed.get<std::string>()));
    return error.is_good();  // false: not kept, so that what is hostile takes no memory
  };
  try {
    Json json = Json::parse(text, watch);
    if (error.is_bad()) return error;
    return json;
  } catch (const Json::parse_error& failure) {
    if (is_plan_container(text))
      return format_error("",
                          "found a plan container, accepted JSON; Graph::deserialize() reads it");
    if (failure.byte > text.size())
      return format_error("",
                          fmt::format("ends after {} bytes, before its JSON does", text.size()));
    return format_error("", fmt::format("found no JSON at byte {} of {}, accepted a text in UTF-8",
                                        failure.byte, text.size()));
  } catch (const Json::exception& exception) {
    return format_error("", exception.what());
  }
}

void ObjectReader::fail(std::string_view name, std::string_view message) {
  if (error_.is_good()) error_ = format_error(path_of(name), message);
}

error_t ObjectReader::finish() {
  if (error_.is_good())
    for (const auto& [name, value] : json_.items())
      if (!known_.contains(name)) {
        fail(name, "is no field that this version knows");
        break;
      }
  return error_;
}

std::string ObjectReader::excerpt(const Json& json) {
  constexpr size_t kLongest = 60;
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

}  // namespace warploom::serialize
