#include <gtest/gtest.h>

#include <random>

#include "engine/refusal_text.h"
#include "engine/registry.h"
#include "plan/plan_name.h"
#include "plan/workspace.h"

namespace warploom::plan {
namespace {

TEST(WorkspaceLayout, NeverOverlapsWhatLivesAtTheSameTime) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const size_t steps = 1 + random() % 12;
    std::vector<WorkspaceRequest> requests(1 + random() % 20);
    int64_t sum = 0;
    for (WorkspaceRequest& request : requests) {
      request.first_step = random() % steps;
      request.last_step = request.first_step + random() % (steps - request.first_step);
      request.bytes = static_cast<int64_t>(random() % 5) * static_cast<int64_t>(random() % 300);
      sum += (request.bytes + 63) / 64 * 64;
    }
    const WorkspaceLayout layout = lay_out(requests);
    EXPECT_LE(layout.bytes, sum);
    for (size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(layout.offsets[i] % kWorkspaceAlignment, 0);
      EXPECT_LE(layout.offsets[i] + requests[i].bytes, layout.bytes);
      for (size_t j = 0; j < i; ++j) {
        const bool share_a_step = requests[i].first_step <= requests[j].last_step &&
                                  requests[j].first_step <= requests[i].last_step;
        const bool share_bytes = requests[i].bytes > 0 && requests[j].bytes > 0 &&
                                 layout.offsets[i] < layout.offsets[j] + requests[j].bytes &&
                                 layout.offsets[j] < layout.offsets[i] + requests[i].bytes;
        EXPECT_FALSE(share_a_step && share_bytes) << round;
      }
    }
  }
}

TEST(WorkspaceLayout, ReusesWhatIsNoLongerNeeded) {
  // A chain: each tensor is read by the next step alone.
  std::vector<WorkspaceRequest> requests;
  for (size_t step = 0; step < 10; ++step) requests.push_back({100, step, step + 1});
  EXPECT_EQ(lay_out(requests).bytes, 256);
  EXPECT_EQ(lay_out({}).bytes, 0);
}

TEST(PlanName, IsShortenedByAHash) {
  EXPECT_EQ(shortened("cpu.gemm:tile_m=56|cpu.map"), "cpu.gemm:tile_m=56|cpu.map");
  std::string longest = "cpu.map";
  for (int i = 0; i < 499; ++i) longest += "|cpu.map";
  const std::string name = shortened(longest);
  EXPECT_LT(name.size(), 140u);
  EXPECT_EQ(name.find("cpu.map|cpu.map|"), 0u);
  EXPECT_NE(name, shortened(longest + "|cpu.map"));
  EXPECT_EQ(name, shortened(longest));
}

TEST(PlanName, ComponentsAreWhole) {
  const std::string name = "cpu.gemm:tile_m=56,tile_n=64|cpu.map|@0123abcd";
  for (const char* part :
       {"cpu", "cpu.gemm", "cpu.map", "cpu.gemm:tile_m=56,tile_n=64", "tile_m=56", "tile_n=64",
        "cpu.gemm:tile_m=56,tile_n=64|cpu.map|@0123abcd"})
    EXPECT_TRUE(has_component(name, part)) << part;
  for (const char* part : {"", "c", "gemm", "cpu.", "cpu.ge", "map", "tile_m", "tile_m=5", "56",
                           "cpu.gemm:tile_m=56", "cuda"})
    EXPECT_FALSE(has_component(name, part)) << part;
}

TEST(RefusalText, HasEverythingThatIsKnown) {
  ir::FrozenGraph graph;
  graph.nodes.emplace_back().name = "attention";
  graph.tensors.emplace_back().name = "Q";
  engine::Refusal refusal;
  refusal.rule = "head dimension is at most 256";
  EXPECT_EQ(engine::refusal_text("cpu.attention", refusal, graph),
            "cpu.attention: head dimension is at most 256");
  refusal.node = 0;
  refusal.tensor = 0;
  refusal.found = "264";
  refusal.accepted = "256";
  EXPECT_EQ(engine::refusal_text("cpu.attention", refusal, graph),
            "cpu.attention: head dimension is at most 256 (node \"attention\", tensor \"Q\": found "
            "264, accepted 256)");
  refusal.node = 17;  // an engine of a user's may say anything
  refusal.tensor = -5;
  EXPECT_EQ(engine::refusal_text("cpu.attention", refusal, graph),
            "cpu.attention: head dimension is at most 256 (found 264, accepted 256)");
}

class Named : public engine::Engine {
 public:
  explicit Named(std::string name) { info_.name = std::move(name); }
  engine::EngineInfo info() const override { return info_; }
  engine::Verdict supports(const fusion::FusionGroup&, const Device&) const override {
    return engine::Verdict::no({});
  }
  Result<std::vector<engine::Candidate>> candidates(const fusion::FusionGroup&,
                                                    const Device&) const override {
    return std::vector<engine::Candidate>{};
  }
  Result<std::unique_ptr<const engine::Kernel>> build(const fusion::FusionGroup&,
                                                      const engine::Candidate&,
                                                      const Device&) const override {
    return error_t{error_code_t::GRAPH_NOT_SUPPORTED, ""};
  }

 private:
  engine::EngineInfo info_;
};

TEST(Registry, KeepsOrderAndRefusesWhatItCannotName) {
  engine::Registry registry({std::make_shared<Named>("own.first")});
  auto add = [&](const std::string& name, int version = engine::kInterfaceVersion) {
    return registry.add(std::make_shared<Named>(name), version).code;
  };
  EXPECT_EQ(add("user.second"), error_code_t::OK);
  EXPECT_EQ(add("user.second"), error_code_t::INVALID_VALUE);
  EXPECT_EQ(add("own.first"), error_code_t::INVALID_VALUE);
  EXPECT_EQ(add(""), error_code_t::INVALID_VALUE);
  EXPECT_EQ(add("a|b"), error_code_t::INVALID_VALUE);
  EXPECT_EQ(add("a:b"), error_code_t::INVALID_VALUE);
  EXPECT_EQ(add("user.third", engine::kInterfaceVersion + 1), error_code_t::INVALID_VALUE);
  EXPECT_EQ(registry.add(nullptr, engine::kInterfaceVersion).code, error_code_t::INVALID_VALUE);
  const auto engines = registry.engines(DeviceType::CPU);
  ASSERT_EQ(engines.size(), 2u);
  EXPECT_EQ(engines[0]->info().name, "own.first");
  EXPECT_EQ(engines[1]->info().name, "user.second");
  EXPECT_TRUE(registry.engines(DeviceType::CUDA).empty());
}

}  // namespace
}  // namespace warploom::plan
