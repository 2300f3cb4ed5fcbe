/// An engine of one's own: it takes graphs that are one ReLU on contiguous floats, says why it does
/// not take others, and is ranked with the library's engines.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <unordered_map>
#include <vector>

#include <warploom/engine.h>
#include <warploom/warploom.h>

using namespace warploom;

namespace {

void must(const error_object& error) {
  if (error.is_good()) return;
  std::cerr << error << "\n";
  std::exit(1);
}

bool is_contiguous(const ir::Shape& shape) {
  int64_t step = 1;
  for (size_t axis = shape.dims.size(); axis-- > 0; step *= shape.dims[axis]) {
    if (shape.dims[axis] != 1 && shape.strides[axis] != step) return false;
  }
  return true;
}

/// Ready for tensors of one size.
class BoundRelu : public engine::BoundKernel {
 public:
  explicit BoundRelu(int64_t elements) : elements_(elements) {}
  int64_t workspace_bytes() const override { return 0; }
  std::vector<engine::WorkspacePart> workspace_parts() const override { return {}; }
  error_object launch(void*, std::span<void* const> pointers, void*) const noexcept override {
    const float* in = static_cast<const float*>(pointers[0]);
    float* out = static_cast<float*>(pointers[1]);
    // Written so that NaN stays NaN.
    for (int64_t i = 0; i < elements_; ++i) out[i] = in[i] < 0 ? 0 : in[i];
    return {};
  }

 private:
  int64_t elements_;
};

/// What was built; bind() makes it ready for the sizes at hand.
class Relu : public engine::Kernel {
 public:
  explicit Relu(ir::TensorId input) : input_(input) {}
  Result<std::unique_ptr<const engine::BoundKernel>> bind(ir::ShapeTable shapes) const override {
    return std::unique_ptr<const engine::BoundKernel>(
        std::make_unique<BoundRelu>(shapes[static_cast<size_t>(input_)].volume()));
  }

 private:
  ir::TensorId input_;
};

class ReluEngine : public engine::Engine {
 public:
  engine::EngineInfo info() const override { return {"example.relu", DeviceType::CPU, {}}; }

  engine::Verdict supports(const fusion::FusionGroup& group, const Device&) const override {
    const auto refuse = [&](std::string_view rule) {
      engine::Refusal refusal;
      refusal.rule = rule;
      refusal.node = group.nodes.front();
      return engine::Verdict::no(refusal);
    };
    const auto* pointwise =
        std::get_if<graph::Pointwise_attributes>(&group.node(group.nodes.front()).operation);
    if (group.nodes.size() != 1 || pointwise == nullptr) return refuse("one pointwise operation");
    if (pointwise->get_mode() != PointwiseMode_t::RELU_FWD) return refuse("the mode is RELU_FWD");
    if (pointwise->get_relu_upper_clip() || pointwise->get_relu_lower_clip() != 0 ||
        pointwise->get_relu_lower_clip_slope() != 0) {
      return refuse("no clips and no slope");
    }
    for (ir::TensorId id : {group.inputs.front(), group.outputs.front()}) {
      if (group.tensor(id).data_type != DataType_t::FLOAT) return refuse("FLOAT in and out");
      if (!is_contiguous(group.tensor(id).shape)) return refuse("row-major, without gaps");
    }
    return engine::Verdict::yes();
  }

  Result<std::vector<engine::Candidate>> candidates(const fusion::FusionGroup& group,
                                                    const Device&) const override {
    engine::Candidate candidate;
    candidate.engine = info().name;
    // Two floats move per element; some 10 GB/s.
    const int64_t elements = group.tensor(group.inputs.front()).shape.volume();
    candidate.predicted_microseconds = static_cast<double>(elements) * 8 / 10e3;
    return std::vector{candidate};
  }

  Result<std::unique_ptr<const engine::Kernel>> build(const fusion::FusionGroup& group,
                                                      const engine::Candidate&,
                                                      const Device&) const override {
    return std::unique_ptr<const engine::Kernel>(std::make_unique<Relu>(group.inputs.front()));
  }
};

}  // namespace

int main() {
  must(register_engine(std::make_shared<ReluEngine>()));

  graph::Graph graph;
  graph.set_io_data_type(DataType_t::FLOAT).set_compute_data_type(DataType_t::FLOAT);
  auto x = graph.tensor(
      graph::Tensor_attributes().set_name("X").set_dim({4, 1000}).set_stride({1000, 1}));
  auto y = graph.pointwise(x, graph::Pointwise_attributes().set_mode(PointwiseMode_t::RELU_FWD));
  y->set_output(true);

  std::unique_ptr<Handle> handle = create_handle();
  must(graph.validate());
  must(graph.build_operation_graph(handle.get()));
  must(graph.create_execution_plans({HeurMode_t::A}));
  for (const graph::PlanInfo& plan : graph.plans()) {
    std::printf("%-40s predicted %8.3f us\n", plan.name.c_str(), plan.predicted_microseconds);
  }

  // Whatever the ranking says: this one, please.
  must(graph.create_execution_plan("example.relu", {}));
  const int64_t own = graph.get_execution_plan_count() - 1;
  must(graph.build_plan_at_index(handle.get(), own));
  std::vector<float> x_data(4000, -1.0f), y_data(4000, 7.0f);
  x_data[1] = 2.5f;
  std::vector<char> workspace(static_cast<size_t>(graph.get_workspace_size_plan_at_index(own)));
  std::unordered_map<graph::TensorPtr, void*> pack{{x, x_data.data()}, {y, y_data.data()}};
  must(graph.execute_plan_at_index(handle.get(), pack, workspace.data(), own));
  std::printf("relu(-1) = %g, relu(2.5) = %g\n", y_data[0], y_data[1]);
}
