#include "harness/case_file.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "harness/case_expression.h"
#include "harness/layout.h"

namespace warploom::test {
namespace {

// Fields that graph JSON holds as the bits of a float; in case files they are numbers.
const std::set<std::string> kFloatFields{
    "attn_scale_value",      "dropout_probability", "relu_lower_clip", "relu_upper_clip",
    "relu_lower_clip_slope", "swish_beta",          "elu_alpha",       "softplus_beta"};

std::string float_bits(float value) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08X", std::bit_cast<uint32_t>(value));
  return digits;
}

// {"index": alternative of pass_by_values_t, "value": ...}
Json stored_scalar(const Json& value, const std::string& data_type) {
  static const std::vector<std::string> order{"INT64", "INT32",  "HALF",
                                              "FLOAT", "DOUBLE", "BFLOAT16"};
  const auto found = std::find(order.begin(), order.end(), data_type);
  if (found == order.end()) throw std::runtime_error("no stored scalar of type " + data_type);
  const bool is_number = data_type[0] == 'I' || data_type == "DOUBLE";
  return {{"index", found - order.begin()},
          {"value", is_number ? value : Json(float_bits(value.get<float>()))}};
}

void complete_tensor(Json& tensor, const std::string& name, int64_t uid, bool is_produced) {
  tensor["name"] = name;
  tensor["uid"] = uid;
  tensor["uid_assigned"] = true;
  if (!tensor.contains("is_virtual")) tensor["is_virtual"] = is_produced;
  if (tensor.contains("stride") && tensor["stride"].is_string())
    tensor["stride"] = strides_of_layout(tensor["stride"].get<std::string>(),
                                         tensor.at("dim").get<std::vector<int64_t>>());
  if (tensor.contains("pass_by_value")) {
    tensor["pass_by_value"] =
        stored_scalar(tensor["pass_by_value"], tensor.at("data_type").get<std::string>());
    tensor["is_pass_by_value"] = true;
    if (!tensor.contains("dim")) tensor["dim"] = tensor["stride"] = {1};
  }
}

}  // namespace

void complete_graph(Json& graph) {
  graph["json_version"] = "1.0";
  for (const char* type : {"compute_data_type", "intermediate_data_type", "io_data_type"})
    if (!graph["context"].contains(type)) graph["context"][type] = "FLOAT";

  std::set<std::string> produced;
  Json& tensors = graph["tensors"];
  for (Json& node : graph.at("nodes")) {
    for (auto& [port, name] : node.at("inputs").items())
      if (!tensors.contains(name)) tensors[name.get<std::string>()] = Json::object();
    for (auto& [port, name] : node.at("outputs").items()) {
      if (!tensors.contains(name)) tensors[name.get<std::string>()] = Json::object();
      produced.insert(name.get<std::string>());
    }
    for (auto& [field, value] : node.items())
      if (kFloatFields.contains(field) && value.is_number()) value = float_bits(value.get<float>());
  }

  Json by_uid = Json::object();
  std::map<std::string, std::string> keys;
  int64_t uid = 0;
  for (auto& [name, tensor] : tensors.items()) {
    complete_tensor(tensor, name, ++uid, produced.contains(name));
    keys[name] = std::to_string(uid);
    by_uid[keys[name]] = tensor;
  }
  tensors = by_uid;
  for (Json& node : graph["nodes"])
    for (const char* side : {"inputs", "outputs"})
      for (auto& [port, name] : node[side].items()) name = keys.at(name.get<std::string>());
}

namespace {

CasePoint make_point(const Json& file, const Json& bindings) {
  CasePoint point;
  for (const auto& [name, value] : bindings.items())
    point.bindings += (point.bindings.empty() ? "" : ", ") + name + "=" + value.dump();
  point.graph = substitute(file.at("graph"), bindings);
  complete_graph(point.graph);
  point.data = substitute(file.value("data", Json::object()), bindings);
  point.tolerance = substitute(file.value("tolerance", Json::object()), bindings);
  point.groups = file.value("groups", Json());
  return point;
}

void check_keys(const Json& file) {
  static const std::set<std::string> known{"about", "graph",     "sweeps", "long_sweeps",
                                           "data",  "tolerance", "groups"};
  for (const auto& [key, value] : file.items())
    if (!known.contains(key)) throw std::runtime_error("unknown key '" + key + "'");
}

}  // namespace

std::vector<CasePoint> expand_case(const std::string& name, const Json& file) {
  std::vector<CasePoint> points;
  const auto add = [&](const Json& sweeps, bool is_long) {
    for (const Json& sweep : sweeps)
      for (const Json& bindings : combinations(sweep)) {
        points.push_back(make_point(file, bindings));
        points.back().is_long = is_long;
        points.back().name = name + "_" + std::to_string(points.size() - 1);
      }
  };
  check_keys(file);
  add(file.value("sweeps", Json::array({Json::object()})), false);
  add(file.value("long_sweeps", Json::array()), true);
  return points;
}

std::vector<CasePoint> load_cases(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());

  std::vector<CasePoint> points;
  for (const auto& path : files) {
    const std::string name = path.parent_path().filename().string() + "_" + path.stem().string();
    try {
      std::ifstream stream(path);
      for (CasePoint& point : expand_case(name, Json::parse(stream)))
        points.push_back(std::move(point));
    } catch (const std::exception& failure) {
      points.emplace_back();
      points.back().name = name;
      points.back().error = path.string() + ": " + failure.what();
    }
  }
  return points;
}

std::vector<CaseTensor> memory_tensors(const CasePoint& point) {
  std::set<std::string> produced;
  for (const Json& node : point.graph.at("nodes"))
    for (const auto& [port, key] : node.at("outputs").items()) produced.insert(key);
  std::vector<CaseTensor> result;
  for (const auto& [key, tensor] : point.graph.at("tensors").items())
    if (!tensor.at("is_virtual").get<bool>() && !tensor.contains("pass_by_value"))
      result.push_back({tensor.at("uid"), tensor.at("name"), produced.contains(key)});
  return result;
}

Tolerance tolerance_for(const CasePoint& point, const graph::Graph& graph, int64_t uid) {
  graph::Tensor_attributes tensor;
  if (graph.query_tensor_attributes_of_uid(uid, tensor).is_bad()) return Tolerance::exact();
  DataType_t type = tensor.get_data_type();
  for (const std::string& key : {tensor.get_name(), std::string(to_string(type))}) {
    if (!point.tolerance.contains(key)) continue;
    const Json& given = point.tolerance.at(key);
    return {given.at(0), given.at(1), given.size() > 2 ? given.at(2).get<double>() : 0};
  }
  const bool is_double_math = point.graph.at("context").at("compute_data_type") == "DOUBLE";
  if (type == DataType_t::DOUBLE && !is_double_math) type = DataType_t::FLOAT;
  return Tolerance::of(type);
}

}  // namespace warploom::test
