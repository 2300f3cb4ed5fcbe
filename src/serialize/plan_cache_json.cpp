#include "serialize/plan_cache_json.h"

#include <charconv>

#include <fmt/format.h>

#include "serialize/base64.h"
#include "serialize/json_reader.h"

namespace warploom::serialize {
namespace {

constexpr const char* kFormat = "warploom-kernel-cache";
constexpr int64_t kVersion = 1;

Json plan_json(const plan::SavedPlan& plan) {
  Json json = {{"name", plan.name}};
  for (const auto& kernel : plan.kernels) json["kernels"].push_back(to_base64(kernel));
  return json;
}

error_t read_kernels(const Json& json, const std::string& path, plan::SavedPlan& plan) {
  if (!json.is_array()) return format_error(path, "found no list, accepted a list of base64 texts");
  for (const Json& kernel : json) {
    auto bytes =
        kernel.is_string() ? from_base64(kernel.get_ref<const std::string&>()) : std::nullopt;
    if (!bytes)
      return format_error(fmt::format("{}/{}", path, plan.kernels.size()),
                          "found no base64 text, accepted base64");
    plan.kernels.push_back(*std::move(bytes));
  }
  return {};
}

error_t read_plans(const Json* json, const std::string& path, std::vector<plan::SavedPlan>& plans) {
  if (!json || !json->is_array())
    return format_error(path, "found no list, accepted a list of plans");
  for (const Json& item : *json) {
    plan::SavedPlan& plan = plans.emplace_back();
    ObjectReader reader(item, fmt::format("{}/{}", path, plans.size() - 1));
    reader.read("name", plan.name);
    if (const Json* kernels = reader.find("kernels"))
      CHECK_WARPLOOM_ERROR(read_kernels(*kernels, reader.path_of("kernels"), plan));
    CHECK_WARPLOOM_ERROR(reader.finish());
  }
  return {};
}

error_t read_graph(const Json& json, const std::string& path, plan::SavedKey& key,
                   std::vector<plan::SavedPlan>& plans) {
  ObjectReader reader(json, path);
  std::string digits;
  reader.read("key", digits);
  reader.read("mode", key.mode);
  reader.read("device", key.device);
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, key.graph, 16);
  if (digits.size() != 16 || parsed.ptr != end)
    reader.fail("key", "found no key, accepted 16 hexadecimal digits");
  CHECK_WARPLOOM_ERROR(reader.error());
  CHECK_WARPLOOM_ERROR(read_plans(reader.find("plans"), reader.path_of("plans"), plans));
  return reader.finish();
}

}  // namespace

std::string to_json(const plan::PlanCache& cache) {
  Json graphs = Json::array();
  for (const auto& [key, plans] : cache.save()) {
    Json list = Json::array();
    for (const plan::SavedPlan& plan : plans) list.push_back(plan_json(plan));
    graphs.push_back({{"key", fmt::format("{:016x}", key.graph)},
                      {"mode", encode(key.mode)},
                      {"device", key.device},
                      {"plans", std::move(list)}});
  }
  return Json{{"format", kFormat}, {"version", kVersion}, {"graphs", std::move(graphs)}}.dump();
}

error_t from_json(const std::string& text, plan::PlanCache& cache) {
  const auto json = parse_json(text);
  CHECK_WARPLOOM_ERROR(json.error());
  ObjectReader reader(json.value(), "");
  std::string format;
  int64_t version = 0;
  reader.read("format", format);
  reader.read("version", version);
  const Json* const graphs = reader.find("graphs");
  CHECK_WARPLOOM_ERROR(reader.finish());
  if (format != kFormat)
    return format_error(
        "/format", fmt::format("found {}, accepted \"{}\"",
                               format.empty() ? "none" : fmt::format("\"{}\"", format), kFormat));
  if (version != kVersion)
    return format_error("/version", fmt::format("found {}, accepted {}", version, kVersion));
  if (!graphs || !graphs->is_array())
    return format_error("/graphs", "found no list, accepted a list of graphs");
  std::vector<std::pair<plan::SavedKey, std::vector<plan::SavedPlan>>> read;
  for (const Json& graph : *graphs) {
    auto& [key, plans] = read.emplace_back();
    CHECK_WARPLOOM_ERROR(read_graph(graph, fmt::format("/graphs/{}", read.size() - 1), key, plans));
  }
  for (auto& [key, plans] : read) cache.add_saved(std::move(key), std::move(plans));
  return {};
}

}  // namespace warploom::serialize
