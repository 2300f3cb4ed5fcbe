#include "stores/kept_engine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <warploom/engine.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "stores/temporary_folder.h"

namespace warploom::test {
namespace {

using namespace engine;
using fusion::FusionGroup;

/// One write, so that lines of several processes do not mix.
void log_line(const std::string& line) {
  const char* const path = std::getenv("WARPLOOM_TEST_LOG");
  if (!path) return;
  const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  const std::string text = line + "\n";
  if (::write(file, text.data(), text.size()) < 0) std::abort();
  ::close(file);
}

class KeptBound : public BoundKernel {
 public:
  KeptBound(int64_t tile, int64_t elements) : tile_(tile), elements_(elements) {}
  int64_t workspace_bytes() const override { return 0; }
  std::vector<WorkspacePart> workspace_parts() const override { return {}; }
  error_t launch(void*, std::span<void* const> pointers, void*) const noexcept override {
    std::this_thread::sleep_for(std::chrono::milliseconds(1 + 6 * (3 - tile_)));
    const auto* const x = static_cast<const float*>(pointers[0]);
    auto* const y = static_cast<float*>(pointers[1]);
    for (int64_t i = 0; i < elements_; ++i) y[i] = x[i] > 0 ? x[i] : 0;
    return {};
  }

 private:
  int64_t tile_, elements_;
};

class KeptKernel : public Kernel {
 public:
  KeptKernel(int64_t tile, ir::TensorId output) : tile_(tile), output_(output) {}
  Result<std::unique_ptr<const BoundKernel>> bind(ir::ShapeTable shapes) const override {
    return std::unique_ptr<const BoundKernel>(new KeptBound(tile_, shapes[output_].volume()));
  }
  std::vector<std::byte> save() const override {
    return bytes_of(fmt::format("kept {} {}", kKeptVersion, tile_));
  }

 private:
  int64_t tile_;
  ir::TensorId output_;
};

class KeptEngine : public Engine {
 public:
  EngineInfo info() const override {
    EngineInfo info;
    info.name = "test.kept";
    info.knobs = {{KnobType_t::TILE_M, 8, 1, 1}};
    return info;
  }
  Verdict supports(const FusionGroup& group, const Device&) const override {
    if (group.graph->name.starts_with("kept")) return Verdict::yes();
    Refusal refusal;
    refusal.rule = "the graph is called kept";
    return Verdict::no(std::move(refusal));
  }
  Result<std::vector<Candidate>> candidates(const FusionGroup& group,
                                            const Device&) const override {
    std::vector<Candidate> list;
    for (int64_t tile = 1; tile <= 3; ++tile) {
      Candidate& candidate = list.emplace_back();
      candidate.knobs = {{KnobType_t::TILE_M, tile}};
      candidate.predicted_microseconds =
          1e-6 * static_cast<double>(tile * group.tensor(group.outputs[0]).shape.volume());
    }
    return list;
  }
  Result<std::unique_ptr<const Kernel>> build(const FusionGroup& group, const Candidate& candidate,
                                              const Device&) const override {
    const int64_t tile = candidate.knobs.front().second;
    log_line(fmt::format("build {}", tile));
    return std::unique_ptr<const Kernel>(new KeptKernel(tile, group.outputs.front()));
  }
  Result<std::unique_ptr<const Kernel>> load(const FusionGroup& group, const Candidate& candidate,
                                             std::span<const std::byte> saved,
                                             const Device&) const override {
    const int64_t tile = candidate.knobs.front().second;
    const std::string text = text_of({saved.begin(), saved.end()});
    const std::string expected = fmt::format("kept {} {}", kKeptVersion, tile);
    if (text != expected) {
      log_line(fmt::format("refused {}", text));
      return error_t{error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED, "of another version"};
    }
    log_line(fmt::format("load {}", tile));
    return std::unique_ptr<const Kernel>(new KeptKernel(tile, group.outputs.front()));
  }
};

}  // namespace

void register_kept_engine() {
  static const error_t error = register_engine(std::make_shared<KeptEngine>());
  if (error.is_bad()) std::abort();
}

KeptGraph::KeptGraph(int64_t n) {
  register_kept_engine();
  graph.set_name("kept")
      .set_io_data_type(DataType_t::FLOAT)
      .set_intermediate_data_type(DataType_t::FLOAT)
      .set_compute_data_type(DataType_t::FLOAT);
  x = graph.tensor(graph::Tensor_attributes().set_name("X").set_dim({n}).set_stride({1}));
  y = graph.pointwise(
      x, graph::Pointwise_attributes().set_name("relu").set_mode(PointwiseMode_t::RELU_FWD));
  y->set_name("Y").set_output(true);
}

}  // namespace warploom::test
