#include <gtest/gtest.h>

#include <limits>

#include <warploom/engine.h>
#include <warploom/fusion_group.h>

#include "harness/plan_runner.h"

namespace warploom::test {
namespace {

enum class Fault { kNoKernel, kNoBoundKernel, kNegativeWorkspace, kEndlessWorkspace };

struct BrokenBound : engine::BoundKernel {
  explicit BrokenBound(int64_t size) : bytes(size) {}
  int64_t workspace_bytes() const override { return bytes; }
  std::vector<engine::WorkspacePart> workspace_parts() const override { return {}; }
  warploom::error_t launch(void*, std::span<void* const>, void*) const noexcept override {
    return {};
  }
  int64_t bytes;
};

struct BrokenKernel : engine::Kernel {
  explicit BrokenKernel(Fault what) : fault(what) {}
  Result<std::unique_ptr<const engine::BoundKernel>> bind(ir::ShapeTable) const override {
    std::unique_ptr<const engine::BoundKernel> bound;
    if (fault != Fault::kNoBoundKernel)
      bound = std::make_unique<BrokenBound>(
          fault == Fault::kNegativeWorkspace ? -100 : std::numeric_limits<int64_t>::max());
    return bound;
  }
  Fault fault;
};

/// Takes graphs while it is on: other tests run in this process.
struct BrokenEngine : engine::Engine {
  engine::EngineInfo info() const override { return {.name = "test.broken", .knobs = {}}; }
  engine::Verdict supports(const fusion::FusionGroup&, const Device&) const override {
    if (is_on) return engine::Verdict::yes();
    engine::Refusal refusal;
    refusal.rule = "switched off";
    return engine::Verdict::no(refusal);
  }
  Result<std::vector<engine::Candidate>> candidates(const fusion::FusionGroup&,
                                                    const Device&) const override {
    engine::Candidate candidate;
    candidate.engine = "test.broken";
    return std::vector<engine::Candidate>{candidate};
  }
  Result<std::unique_ptr<const engine::Kernel>> build(const fusion::FusionGroup&,
                                                      const engine::Candidate&,
                                                      const Device&) const override {
    std::unique_ptr<const engine::Kernel> kernel;
    if (fault != Fault::kNoKernel) kernel = std::make_unique<BrokenKernel>(fault);
    return kernel;
  }
  bool is_on = false;
  Fault fault = Fault::kNoKernel;
};

TEST(BrokenEngine, ItsPlansAreBarredAndOthersRun) {
  const auto broken = std::make_shared<BrokenEngine>();
  ASSERT_TRUE(register_engine(broken).is_good());
  broken->is_on = true;
  for (const Fault fault : {Fault::kNoKernel, Fault::kNoBoundKernel, Fault::kNegativeWorkspace,
                            Fault::kEndlessWorkspace}) {
    broken->fault = fault;
    graph::Graph graph;
    graph.set_io_data_type(DataType_t::FLOAT).set_compute_data_type(DataType_t::FLOAT);
    auto x = graph.tensor(graph::Tensor_attributes().set_dim({4}).set_stride({1}));
    graph.pointwise(x, graph::Pointwise_attributes().set_mode(PointwiseMode_t::EXP))
        ->set_output(true);
    const auto error = graph.build(cpu(), {HeurMode_t::A}, BuildPlanPolicy_t::ALL);
    EXPECT_TRUE(error.is_good()) << error;
    for (const auto& plan : graph.plans())
      EXPECT_EQ(plan.is_built, plan.name != "test.broken") << plan.name << plan.barred;
  }
  broken->is_on = false;
}

}  // namespace
}  // namespace warploom::test
