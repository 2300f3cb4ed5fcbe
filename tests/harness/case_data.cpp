// The data of a case: random, but the same in every run and on every machine.
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "harness/case_file.h"
#include "harness/element.h"

namespace warploom::test {
namespace {

// SplitMix64, seeded by a text.
class Random {
 public:
  explicit Random(const std::string& seed) {
    for (char c : seed) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }

  uint64_t bits() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  double uniform(double low, double high) {
    return low + (high - low) * std::ldexp(static_cast<double>(bits() >> 11), -53);
  }

  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform(0, 1)));
    return radius * std::cos(2 * std::numbers::pi * uniform(0, 1));
  }

  double integer(int64_t low, int64_t high) {
    return static_cast<double>(
        low + static_cast<int64_t>(bits() % static_cast<uint64_t>(high - low + 1)));
  }

 private:
  uint64_t state_ = 0xcbf29ce484222325ULL;
};

Json default_data(DataType_t type) {
  if (is_floating(type)) return {{"kind", "normal"}};
  if (type == DataType_t::BOOLEAN) return {{"kind", "integers"}, {"low", 0}, {"high", 1}};
  if (type == DataType_t::UINT8) return {{"kind", "integers"}, {"low", 0}, {"high", 9}};
  return {{"kind", "integers"}, {"low", -5}, {"high", 5}};
}

double nasty(Random& random, DataType_t type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!is_floating(type)) {
    const double extremes[] = {-9e18, 9e18, -128, 127, 255, 0, 1, -1};
    const size_t pick = random.bits() % 16;
    return pick < 8 ? extremes[pick] : random.integer(-100, 100);
  }
  const double specials[] = {std::numeric_limits<double>::quiet_NaN(),
                             kInfinity,
                             -kInfinity,
                             0.0,
                             -0.0,
                             1e-42,
                             -60000,
                             60000};
  const size_t pick = random.bits() % 32;
  return pick < 8 ? specials[pick] : 3 * random.normal();
}

double draw(const Json& data, Random& random, size_t index, DataType_t type) {
  const std::string kind = data.at("kind");
  if (kind == "normal")
    return data.value("mean", 0.0) + data.value("deviation", 1.0) * random.normal();
  if (kind == "uniform") return random.uniform(data.at("low"), data.at("high"));
  if (kind == "integers") return random.integer(data.at("low"), data.at("high"));
  if (kind == "constant") return data.at("value");
  if (kind == "index") return static_cast<double>(index);
  if (kind == "nasty") return nasty(random, type);
  if (kind == "choices") {
    const Json& choice = data.at("values").at(random.bits() % data.at("values").size());
    if (choice.is_number()) return choice;
    return std::stod(choice.get<std::string>());  // "nan", "inf", "-inf"
  }
  throw std::runtime_error("unknown kind of data '" + kind + "'");
}

Values draw_all(const Json& data, Random random, const graph::Tensor_attributes& tensor) {
  Values values(static_cast<size_t>(tensor.get_volume()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = round_to(data.contains("values") && !data.contains("kind")
                             ? data.at("values").at(i % data.at("values").size()).get<double>()
                             : draw(data, random, i, tensor.get_data_type()),
                         tensor.get_data_type());
  return values;
}

// Elements that share memory (stride 0) share the last value written.
Values as_stored(const graph::Tensor_attributes& tensor, const Values& values) {
  TensorMemory memory(tensor);
  memory.write(values);
  return memory.read();
}

}  // namespace

ValuesByUid make_inputs(const CasePoint& point, const graph::Graph& graph) {
  ValuesByUid inputs;
  for (const CaseTensor& tensor : memory_tensors(point)) {
    if (tensor.is_output) continue;
    graph::Tensor_attributes attributes;
    if (graph.query_tensor_attributes_of_uid(tensor.uid, attributes).is_bad()) continue;
    const Json data = point.data.contains(tensor.name) ? point.data.at(tensor.name)
                                                       : default_data(attributes.get_data_type());
    inputs[tensor.uid] =
        as_stored(attributes, draw_all(data, Random(point.name + "/" + tensor.name), attributes));
  }
  return inputs;
}

}  // namespace warploom::test
