#include "api/scripted_engine.h"

#include <warploom/engine.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

namespace warploom::test {
namespace {

using namespace engine;
using fusion::FusionGroup;

std::atomic<void*> last_stream = nullptr;
std::atomic<int> built = 0, loaded = 0;

bool name_has(const FusionGroup& group, std::string_view word) {
  return group.graph->name.find(word) != std::string::npos;
}

class ScriptedKernel : public BoundKernel {
 public:
  ScriptedKernel(int64_t tile, int64_t elements, bool is_slow)
      : tile_(tile), elements_(elements), is_slow_(is_slow) {}
  int64_t workspace_bytes() const override { return 1000 * tile_; }
  std::vector<WorkspacePart> workspace_parts() const override {
    return {{"scratch", 0, workspace_bytes()}};
  }
  error_t launch(void* stream, std::span<void* const> pointers,
                 void* workspace) const noexcept override {
    last_stream = stream;
    std::memset(workspace, 0xAA, static_cast<size_t>(workspace_bytes()));
    // The predicted order is the reverse of the true one.
    if (is_slow_) std::this_thread::sleep_for(std::chrono::milliseconds(40 - 10 * tile_));
    auto* const y = static_cast<float*>(pointers.back());
    std::fill_n(y, elements_, static_cast<float>(tile_));
    return {};
  }

 private:
  int64_t tile_, elements_;
  bool is_slow_;
};

class ScriptedBuilt : public Kernel {
 public:
  ScriptedBuilt(int64_t tile, const FusionGroup& group)
      : tile_(tile),
        output_(group.outputs.front()),
        is_slow_(name_has(group, "slow")),
        is_saving_(name_has(group, "saving")) {}
  Result<std::unique_ptr<const BoundKernel>> bind(ir::ShapeTable shapes) const override {
    return std::unique_ptr<const BoundKernel>(
        new ScriptedKernel(tile_, shapes[output_].volume(), is_slow_));
  }
  std::vector<std::byte> save() const override {
    if (!is_saving_) return {};
    const std::string text = "tile " + std::to_string(tile_);
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }

 private:
  int64_t tile_;
  ir::TensorId output_;
  bool is_slow_, is_saving_;
};

class ScriptedEngine : public Engine {
 public:
  EngineInfo info() const override {
    EngineInfo info;
    info.name = "test.scripted";
    info.knobs = {{KnobType_t::TILE_M, 8, 1, 1}, {KnobType_t::STAGES, 6, 2, 2}};
    return info;
  }
  Verdict supports(const FusionGroup& group, const Device&) const override {
    if (name_has(group, "scripted")) return Verdict::yes();
    Refusal refusal;
    refusal.rule = "the graph is called scripted";
    return Verdict::no(std::move(refusal));
  }
  Result<std::vector<Candidate>> candidates(const FusionGroup&, const Device&) const override {
    std::vector<Candidate> list;
    for (int64_t tile : kScriptedTiles) {
      Candidate& candidate = list.emplace_back();
      candidate.engine = "test.scripted";
      candidate.knobs = {{KnobType_t::TILE_M, tile}};
      candidate.workspace_bytes = 1000 * tile;
      candidate.predicted_microseconds = 1e-6 * static_cast<double>(tile);
      if (tile == 1) candidate.numerical_notes = {NumericalNote_t::NONDETERMINISTIC};
      if (tile == 2) candidate.behavior_notes = {BehaviorNote_t::RUNTIME_COMPILATION};
    }
    return list;
  }
  Result<std::unique_ptr<const Kernel>> build(const FusionGroup& group, const Candidate& candidate,
                                              const Device&) const override {
    const int64_t tile = candidate.knobs.front().second;
    if (name_has(group, "failing") && tile == 2)
      return error_t{error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED, "scripted failure"};
    ++built;
    return std::unique_ptr<const Kernel>(new ScriptedBuilt(tile, group));
  }
  Result<std::unique_ptr<const Kernel>> load(const FusionGroup& group, const Candidate& candidate,
                                             std::span<const std::byte> saved,
                                             const Device&) const override {
    const int64_t tile = candidate.knobs.front().second;
    const std::string_view text(reinterpret_cast<const char*>(saved.data()), saved.size());
    if (text != "tile " + std::to_string(tile))
      return error_t{error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED, "scripted damage"};
    ++loaded;
    return std::unique_ptr<const Kernel>(new ScriptedBuilt(tile, group));
  }
};

class StubbornEngine : public Engine {
 public:
  EngineInfo info() const override {
    EngineInfo info;
    info.name = "test.stubborn";
    return info;
  }
  Verdict supports(const FusionGroup& group, const Device&) const override {
    Refusal refusal;
    refusal.rule = "nothing is good enough";
    refusal.node = group.nodes.front();
    refusal.found = "something";
    refusal.accepted = "nothing";
    return Verdict::no(std::move(refusal));
  }
  Result<std::vector<Candidate>> candidates(const FusionGroup&, const Device&) const override {
    return std::vector<Candidate>{};
  }
  Result<std::unique_ptr<const Kernel>> build(const FusionGroup&, const Candidate&,
                                              const Device&) const override {
    return error_t{error_code_t::GRAPH_NOT_SUPPORTED, "never"};
  }
};

}  // namespace

ScriptedCounts scripted_counts() {
  return {built, loaded};
}

void* last_scripted_stream() {
  return last_stream;
}

void register_scripted_engines() {
  static const bool is_done = [] {
    return register_engine(std::make_shared<ScriptedEngine>()).is_good() &&
           register_engine(std::make_shared<StubbornEngine>()).is_good();
  }();
  (void)is_done;
}

ScriptedGraph::ScriptedGraph(const std::string& name, int64_t n) {
  register_scripted_engines();
  graph.set_name(name)
      .set_io_data_type(DataType_t::FLOAT)
      .set_intermediate_data_type(DataType_t::FLOAT)
      .set_compute_data_type(DataType_t::FLOAT);
  x = graph.tensor(graph::Tensor_attributes().set_name("X").set_dim({n}).set_stride({1}));
  y = graph.pointwise(
      x, graph::Pointwise_attributes().set_name("relu").set_mode(PointwiseMode_t::RELU_FWD));
  y->set_name("Y").set_output(true);
}

}  // namespace warploom::test
