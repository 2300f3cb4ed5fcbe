// Failures known of plans that were stored and loaded by another process; README.md says where each
// comes from.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "harness/describe.h"
#include "harness/reload.h"

namespace warploom::test {
namespace {

using enum DataType_t;
namespace fs = std::filesystem;

constexpr const char* kFolderVariable = "WARPLOOM_TEST_RELOAD_FOLDER";

/// Attention with what other libraries lose: a scale as a number or as a stored scalar, alignments.
struct Attention {
  graph::Graph graph = describe(HALF);
  explicit Attention(bool scale_is_tensor) {
    const auto q = input(graph, "Q", {2, 4, 33, 64}), k = input(graph, "K", {2, 2, 70, 64}),
               v = input(graph, "V", {2, 2, 70, 40});
    k->set_alignment(2);
    v->set_alignment(4);
    graph::SDPA_attributes attributes;
    attributes.set_name("attention").set_generate_stats(true);
    attributes.set_causal_mask_bottom_right(true).set_diagonal_band_left_bound(40);
    if (scale_is_tensor)
      attributes.set_attn_scale(graph.tensor(0.1372f));
    else
      attributes.set_attn_scale(0.1372f);
    const auto [o, stats] = graph.sdpa(q, k, v, attributes);
    output(o, {2, 4, 33, 40}, "row_major");
    output(stats, {}, "", FLOAT);
  }
};

/// A product whose epilogue has stored scalars of several types and a constant.
graph::Graph scalars() {
  graph::Graph graph = describe(BFLOAT16);
  const auto a = input(graph, "A", {3, 37, 50}), b = input(graph, "B", {1, 50, 29});
  b->set_alignment(2);
  auto y = graph.matmul(a, b, graph::Matmul_attributes().set_name("product"));
  for (const pass_by_values_t value : {pass_by_values_t(1.0f / 3), pass_by_values_t(half(0.7f)),
                                       pass_by_values_t(bfloat16(1.9f)), pass_by_values_t(-2.3)})
    y = graph.pointwise(y, graph.tensor(value, graph::ScalarType::RUNTIME_PARAM),
                        pointwise(PointwiseMode_t::MUL));
  y = graph.pointwise(y, graph.tensor(0.11f, graph::ScalarType::COMPILE_TIME_CONST),
                      pointwise(PointwiseMode_t::ADD));
  output(graph.pointwise(y, pointwise(PointwiseMode_t::GELU_FWD).set_name("gelu")));
  return graph;
}

/// Runs a built graph on inputs that follow from uids and dims alone.
ValuesByUid run_on_its_inputs(const graph::Graph& graph) {
  ValuesByUid inputs;
  for (int64_t uid : graph.get_variant_pack_uids_sorted()) {
    graph::Tensor_attributes tensor;
    EXPECT_TRUE(graph.query_tensor_attributes_of_uid(uid, tensor).is_good());
    if (tensor.get_name().size() == 1)  // Q, K, V, A, B
      inputs[uid] = random_values(tensor.get_dim(), tensor.get_data_type(), uid);
  }
  const PlanRun run = run_plan(graph, cpu(), 0, inputs, {});
  EXPECT_TRUE(run.error.is_good()) << run.error;
  EXPECT_EQ(run.damage, "");
  return run.outputs;
}

template <class T>
void write(const fs::path& path, const std::vector<T>& data) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data.data()),
             static_cast<int64_t>(data.size() * sizeof(T)));
}

std::vector<uint8_t> read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The other process: only the tests below start it.
TEST(KnownFailuresOtherProcess, LoadsAndRuns) {
  const char* const place = std::getenv(kFolderVariable);
  if (!place) return;
  const fs::path folder = place;
  graph::Graph graph;
  const auto error = graph.deserialize(cpu(), read(folder / "plan"));
  ASSERT_TRUE(error.is_good()) << error;
  for (const auto& [uid, values] : run_on_its_inputs(graph))
    write(folder / std::to_string(uid), values);
}

void expect_same_in_another_process(graph::Graph graph) {
  const auto error = graph.build(cpu(), {HeurMode_t::A});
  ASSERT_TRUE(error.is_good()) << error;
  const ValuesByUid expected = run_on_its_inputs(graph);
  ASSERT_FALSE(expected.empty());

  std::string pattern = (fs::temp_directory_path() / "warploom_reload_XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const fs::path folder = pattern;
  std::vector<uint8_t> data;
  ASSERT_TRUE(graph.serialize(data).is_good());
  write(folder / "plan", data);
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  const std::string command = std::string(kFolderVariable) + "='" + pattern + "' '" + program +
                              "' --gtest_brief=1 "
                              "--gtest_filter=KnownFailuresOtherProcess.*";
  EXPECT_EQ(std::system(command.c_str()), 0);

  for (const auto& [uid, values] : expected) {
    const std::vector<uint8_t> bytes = read(folder / std::to_string(uid));
    ASSERT_EQ(bytes.size(), values.size() * sizeof(double));
    EXPECT_EQ(std::memcmp(bytes.data(), values.data(), bytes.size()), 0) << "output " << uid;
  }
  fs::remove_all(folder);
}

TEST(KnownFailures, B135_AttentionWithAScaleIsTheSameInANewProcess) {
  expect_same_in_another_process(Attention(false).graph);
  expect_same_in_another_process(Attention(true).graph);
}

TEST(KnownFailures, B135_StoredScalarsAreTheSameInANewProcess) {
  expect_same_in_another_process(scalars());
}

}  // namespace
}  // namespace warploom::test
