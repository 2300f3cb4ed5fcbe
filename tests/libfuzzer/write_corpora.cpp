// Writes tests/libfuzzer/corpus anew: write_corpora <folder>. From the cases of tests/conformance,
// the first point of each, and from damage done to them.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/store_entry.h"
#include "harness/case_file.h"
#include "plan/tuning_table.h"
#include "serialize/plan_container.h"
#include "tools/npy.h"

namespace warploom::test {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

/// What the harnesses read at most.
constexpr size_t kMostBytes = 4096;

void write(const fs::path& path, const Bytes& data) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data.data()), static_cast<int64_t>(data.size()));
}

Bytes bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

Bytes container_of(graph::Graph& graph) {
  Bytes data;
  if (graph.build(cpu(), {HeurMode_t::A}).is_bad() || graph.serialize(data).is_bad()) data.clear();
  return data;
}

void write_damaged(const fs::path& path, const Bytes& data) {
  write(path.string() + "_cut", Bytes(data.begin(), data.begin() + data.size() / 2));
  Bytes flipped = data;
  flipped[flipped.size() / 3] ^= 0x10;
  write(path.string() + "_flipped", flipped);
}

/// The words of a graph's JSON that are not the user's own.
void collect_words(const Json& json, const std::string& key, std::set<std::string>& words) {
  if (json.is_string() && key != "name" && key != "inputs" && key != "outputs")
    words.insert(json.get<std::string>());
  if (!json.is_structured()) return;
  for (const auto& [name, value] : json.items()) {
    if (json.is_object() && key != "tensors") words.insert(name);
    collect_words(value, json.is_object() && key != "inputs" && key != "outputs" ? name : key,
                  words);
  }
}

void write_dictionary(const fs::path& path, const std::set<std::string>& words) {
  std::ofstream file(path);
  for (const std::string& word : words)
    if (word.size() > 2)
      file << R"("\")" << word << R"(\"")"
           << "\n";
  file << "\"9223372036854775807\"\n\"-9223372036854775808\"\n";
}

void write_graphs(const fs::path& folder) {
  std::set<std::string> done, words;
  for (const CasePoint& point : load_cases(WARPLOOM_SOURCE_DIR "/tests/conformance")) {
    const std::string name = point.name.substr(0, point.name.find_last_of('_'));
    graph::Graph graph;
    if (!done.insert(name).second || graph.from_json(point.graph.dump()).is_bad()) continue;
    const Bytes json = bytes_of(graph.to_json());
    if (json.size() > kMostBytes) continue;
    collect_words(Json::parse(json), "", words);
    write(folder / "graph_json" / name, json);
    const Bytes container = container_of(graph);
    // Every other operation is in the smaller ones.
    if (container.empty() || container.size() > kMostBytes / 2) continue;
    write(folder / "plan_container" / name, container);
    if (done.size() % 5 != 0) continue;
    write_damaged(folder / "graph_json" / name, json);
    write_damaged(folder / "plan_container" / name, container);
    serialize::PlanContainer content;
    if (serialize::read_plan_container(container, content).is_bad()) std::abort();
    content.payloads.assign(content.payloads.size(), {std::byte{1}, std::byte{2}, std::byte{3}});
    write(folder / "plan_container" / (name + "_saved"), serialize::write_plan_container(content));
    content.plan_name = "reference";
    write(folder / "plan_container" / (name + "_other"), serialize::write_plan_container(content));
  }
  for (const char* harness : {"graph_json", "plan_container"})
    write_dictionary(folder / (harness + std::string(".dict")), words);
  write(folder / "graph_json" / "nested", bytes_of(std::string(100, '[')));
  write(folder / "graph_json" / "twice", bytes_of(R"({"nodes":[],"nodes":[]})"));
}

void write_arrays(const fs::path& folder) {
  for (int type = 0; type < 32; ++type) {
    tools::NpyArray array{static_cast<DataType_t>(type), {2, 3}, {3, 1}, {}};
    if (tools::npy_descr(array.data_type).empty()) continue;
    array.data.resize(static_cast<size_t>(6 * detail::get_data_type_size(array.data_type)));
    fs::create_directories(folder / "npy");
    if (tools::write_npy(folder / "npy" / std::string(to_string(array.data_type)), array).is_bad())
      std::abort();
  }
  const auto file = [](const std::string& version, const std::string& header) {
    const auto size = static_cast<char>(header.size());
    return bytes_of("\x93NUMPY" + version + size + '\0' + header);
  };
  const std::string one("\1\0", 2), two("\2\0", 2);
  write(folder / "npy" / "fortran",
        file(one, "{'descr': '|u1', 'fortran_order': True, 'shape': (0, 7), }"));
  write(folder / "npy" / "scalar",
        file(one, "{\"shape\": (), \"descr\": \"|b1\", 'fortran_order': False}"));
  write(folder / "npy" / "huge",
        file(one, "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 8), }"));
  write(folder / "npy" / "version_2", file(two, std::string("\0\0{}", 4)));
}

void write_store_files(const fs::path& folder) {
  plan::TuningTable table;
  for (int64_t extent : {1, 64})
    for (const char* offer : {"cpu.map", "cpu.gemm:tile_m=56"})
      table[{{extent, 3, extent}, 42}][offer] = {1.5 * static_cast<double>(extent), 2.5, 1000};
  const std::vector<std::byte> times = plan::encode_tuning_table(table);
  const std::string saved = "what a kernel saved";
  const auto write_bytes = [&](const std::string& name, std::span<const std::byte> bytes) {
    const auto* const first = reinterpret_cast<const uint8_t*>(bytes.data());
    write(folder / "store_entry" / name, Bytes(first, first + bytes.size()));
  };
  const auto measured = base::encode_store_entry({"signature|CPU|avx2|0.1.0", times});
  write_bytes("tuning", measured);
  write_bytes("kernel", base::encode_store_entry({"key", std::as_bytes(std::span(saved))}));
  write_bytes("empty", base::encode_store_entry({"", {}}));
  write_bytes("times", times);
  write_bytes("cut", std::span(measured).first(measured.size() / 2));
}

}  // namespace
}  // namespace warploom::test

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "write_corpora <folder>\n");
    return 2;
  }
  // As the harness of plan containers does: any machine has this device.
  setenv("WARPLOOM_CPU_ISA", "generic", 1);
  warploom::test::write_graphs(arguments[1]);
  warploom::test::write_arrays(arguments[1]);
  warploom::test::write_store_files(arguments[1]);
}
