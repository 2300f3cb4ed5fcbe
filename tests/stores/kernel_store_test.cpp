#include "plan/kernel_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "stores/temporary_folder.h"

namespace warploom::plan {
namespace {

using test::bytes_of;
using test::settings_for;
using test::TemporaryFolder;
using KernelResult = Result<std::unique_ptr<const engine::Kernel>>;

class FakeKernel : public engine::Kernel {
 public:
  explicit FakeKernel(std::string content) : content_(std::move(content)) {}
  Result<std::unique_ptr<const engine::BoundKernel>> bind(ir::ShapeTable) const override {
    return error_t{error_code_t::GRAPH_NOT_SUPPORTED, "not to be run"};
  }
  std::vector<std::byte> save() const override { return bytes_of(content_); }

 private:
  std::string content_;
};

/// Saves `content`, and loads what is `accepted`.
class FakeEngine : public engine::Engine {
 public:
  explicit FakeEngine(std::string name) : name_(std::move(name)) {}

  engine::EngineInfo info() const override {
    engine::EngineInfo info;
    info.name = name_;
    return info;
  }
  engine::Verdict supports(const fusion::FusionGroup&, const Device&) const override {
    return engine::Verdict::yes();
  }
  Result<std::vector<engine::Candidate>> candidates(const fusion::FusionGroup&,
                                                    const Device&) const override {
    return std::vector<engine::Candidate>{};
  }
  KernelResult build(const fusion::FusionGroup&, const engine::Candidate&,
                     const Device&) const override {
    ++builds;
    if (fails) return error_t{error_code_t::GRAPH_NOT_SUPPORTED, "fails"};
    return std::unique_ptr<const engine::Kernel>(new FakeKernel(content));
  }
  KernelResult load(const fusion::FusionGroup&, const engine::Candidate&,
                    std::span<const std::byte> saved, const Device&) const override {
    ++loads;
    if (test::text_of({saved.begin(), saved.end()}) != content)
      // What a careless engine may answer.
      return std::unique_ptr<const engine::Kernel>();
    return std::unique_ptr<const engine::Kernel>(new FakeKernel(content));
  }

  std::string content = "content";
  bool fails = false;
  mutable std::atomic<int> builds = 0, loads = 0;

 private:
  std::string name_;
};

/// A group of one ReLU over `dims`.
fusion::FusionGroup group_of(const std::vector<int64_t>& dims, DataType_t type) {
  auto graph = std::make_shared<ir::FrozenGraph>();
  for (int i = 0; i < 2; ++i) {
    ir::Tensor& tensor = graph->tensors.emplace_back();
    tensor.data_type = type;
    tensor.shape.dims = dims;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      int64_t stride = 1;
      for (size_t inner = axis + 1; inner < dims.size(); ++inner) stride *= dims[inner];
      tensor.shape.strides.push_back(stride);
    }
  }
  ir::Node& node = graph->nodes.emplace_back();
  node.operation = graph::Pointwise_attributes().set_mode(PointwiseMode_t::RELU_FWD);
  node.inputs = {0};
  node.outputs = {1};
  graph->tensors[0].consumers = {0};
  graph->tensors[1].producer = 0;
  fusion::FusionGroup group;
  group.graph = graph;
  group.nodes = {0};
  group.inputs = {0};
  group.outputs = {1};
  return group;
}

engine::Candidate candidate_of(const std::string& engine, int64_t tile) {
  engine::Candidate candidate;
  candidate.engine = engine;
  candidate.knobs = {{KnobType_t::TILE_M, tile}};
  return candidate;
}

Device device_of(std::string architecture) {
  Device device;
  device.name = "device";
  device.architecture = std::move(architecture);
  return device;
}

/// Whether the kernel came from the store, in a process of its own.
bool is_loaded(base::FileStore& store, const FakeEngine& engine, const fusion::FusionGroup& group,
               int64_t tile = 1, const std::string& architecture = "avx2") {
  KernelStore kernels(store);
  const int before = engine.builds;
  const auto kernel = kernels.load_or_build(engine, group, candidate_of(engine.info().name, tile),
                                            device_of(architecture));
  EXPECT_TRUE(kernel.is_good() && kernel.value());
  return engine.builds == before;
}

TEST(KernelStore, KernelsAreOneWhereNothingDiffersThatTheyMayDependOn) {
  const TemporaryFolder folder;
  base::FileStore store(settings_for(folder.path()));
  const FakeEngine engine("test.fake"), another("test.another");
  const auto group = group_of({64}, DataType_t::FLOAT);
  EXPECT_FALSE(is_loaded(store, engine, group));
  EXPECT_TRUE(is_loaded(store, engine, group));
  EXPECT_TRUE(is_loaded(store, engine, group_of({128}, DataType_t::FLOAT))) << "extents";
  EXPECT_FALSE(is_loaded(store, engine, group_of({64}, DataType_t::HALF))) << "data type";
  EXPECT_FALSE(is_loaded(store, engine, group_of({8, 8}, DataType_t::FLOAT))) << "rank";
  EXPECT_FALSE(is_loaded(store, engine, group, 2)) << "knobs";
  EXPECT_FALSE(is_loaded(store, engine, group, 1, "avx512")) << "device";
  EXPECT_FALSE(is_loaded(store, another, group)) << "engine";
}

TEST(KernelStore, EnginesMayHaveAnyName) {
  const TemporaryFolder folder;
  base::FileStore store(settings_for(folder.path() / "cache"));
  const auto group = group_of({64}, DataType_t::FLOAT);
  for (const std::string name : {"../../escape", "/tmp/escape", "..", ".", "a b\nc", "Große Engine",
                                 "x/y", "0123456789abcdef"}) {
    const FakeEngine engine(name);
    EXPECT_FALSE(is_loaded(store, engine, group)) << name;
    EXPECT_TRUE(is_loaded(store, engine, group)) << name;
  }
  EXPECT_EQ(test::all_files(folder.path()).size(), 8u);
  EXPECT_EQ(store.files().size(), 8u);
}

TEST(KernelStore, NothingIsKeptOfWhatSavesNothingOrFails) {
  const TemporaryFolder folder;
  base::FileStore store(settings_for(folder.path() / "cache"));
  FakeEngine engine("test.fake");
  const auto group = group_of({64}, DataType_t::FLOAT);
  engine.content = "";
  EXPECT_FALSE(is_loaded(store, engine, group));
  engine.content = "content";
  engine.fails = true;
  KernelStore kernels(store);
  EXPECT_TRUE(kernels.load_or_build(engine, group, candidate_of("test.fake", 1), device_of("avx2"))
                  .is_bad());
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "cache"));
  EXPECT_EQ(engine.loads, 0);
}

TEST(KernelStore, WhatDoesNotLoadIsReplaced) {
  const TemporaryFolder folder;
  base::FileStore store(settings_for(folder.path()));
  FakeEngine engine("test.fake");
  const auto group = group_of({64}, DataType_t::FLOAT);
  EXPECT_FALSE(is_loaded(store, engine, group));
  engine.content = "another version";
  EXPECT_FALSE(is_loaded(store, engine, group));
  EXPECT_EQ(engine.loads, 1);
  EXPECT_TRUE(is_loaded(store, engine, group));
}

TEST(KernelStore, IsUsedByManyThreadsAtOnce) {
  const TemporaryFolder folder;
  base::FileStore store(settings_for(folder.path()));
  KernelStore kernels(store);
  const FakeEngine engine("test.fake");
  const auto group = group_of({64}, DataType_t::FLOAT);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (int64_t tile = 0; tile < 20; ++tile) {
          const auto kernel = kernels.load_or_build(engine, group, candidate_of("test.fake", tile),
                                                    device_of("avx2"));
          if (kernel.is_bad() || kernel.value()->save() != bytes_of("content")) ++wrong;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(engine.builds + engine.loads, 80);
  EXPECT_GE(engine.loads, 1);
}

}  // namespace
}  // namespace warploom::plan
