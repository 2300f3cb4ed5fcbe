#include "shapes/family.h"

#include "harness/element.h"
#include "harness/layout.h"
#include "harness/plan_runner.h"

namespace warploom::test {

void Family::keep(const graph::TensorPtr& result, const graph::Tensor_attributes& tensor) {
  result->set_output(true)
      .set_uid(tensor.get_uid())
      .set_dim(tensor.get_dim())
      .set_stride(tensor.get_stride());
}

Shapes random_strides(const Family& family, std::vector<Dims> dims, Random& random) {
  static const std::vector<std::string> kLayouts = {
      "row_major", "padded", "spread", "odd_ones", "reversed", "channels_last", "column_major"};
  Shapes shapes{std::move(dims), {}};
  for (const Dims& each : shapes.dims) {
    // Some operations want their stored results in the order that they were described in.
    const bool is_input = shapes.strides.size() < family.input_count();
    const std::string& layout = kLayouts[random() % (is_input ? kLayouts.size() : 4)];
    shapes.strides.push_back(strides_of_layout(layout, each));
  }
  return shapes;
}

Shapes packed(std::vector<Dims> dims) {
  Shapes shapes{std::move(dims), {}};
  for (const Dims& each : shapes.dims)
    shapes.strides.push_back(strides_of_layout("row_major", each));
  return shapes;
}

namespace {

std::vector<graph::Tensor_attributes> tensors_of(const Family& family, const Shapes& shapes) {
  std::vector<graph::Tensor_attributes> tensors;
  for (size_t i = 0; i < shapes.dims.size(); ++i)
    tensors.emplace_back()
        .set_name("t" + std::to_string(i + 1))
        .set_uid(static_cast<int64_t>(i) + 1)
        .set_dim(shapes.dims[i])
        .set_stride(shapes.strides[i])
        .set_data_type(family.type());
  return tensors;
}

}  // namespace

graph::Graph describe_family(const Family& family, const Shapes& shapes) {
  graph::Graph graph = describe(family.type());
  family.describe(graph, tensors_of(family, shapes));
  return graph;
}

FamilyRun run_family(const Family& family, const graph::Graph& graph, const Shapes& shapes,
                     bool with_overrides, int misaligned_elements, handle_t handle) {
  if (!handle) handle = cpu();
  const auto tensors = tensors_of(family, shapes);
  std::vector<TensorMemory> memory;
  memory.reserve(tensors.size());
  std::vector<Values> inputs;
  std::unordered_map<int64_t, void*> pack;
  std::vector<int64_t> uids;
  for (size_t i = 0; i < tensors.size(); ++i) {
    memory.emplace_back(tensors[i], misaligned_elements * element_size(family.type()));
    if (i < family.input_count()) {
      inputs.push_back(random_values(shapes.dims[i], family.type(), i + 1));
      memory.back().write(inputs.back());
    }
    uids.push_back(static_cast<int64_t>(i) + 1);
    pack[uids.back()] = memory.back().pointer();
  }

  FamilyRun run;
  int64_t bytes = 0;
  run.error = with_overrides ? graph.get_workspace_size(bytes, uids, shapes.dims, shapes.strides)
                             : graph.get_workspace_size(bytes);
  if (run.error.is_bad()) return run;
  GuardedBuffer workspace(bytes, misaligned_elements);
  run.error = with_overrides ? graph.execute(handle, pack, workspace.data(), bytes, uids,
                                             shapes.dims, shapes.strides)
                             : graph.execute(handle, pack, workspace.data(), bytes);
  if (run.error.is_bad()) return run;

  if (!workspace.guards_are_intact()) run.mismatch = "written beside the workspace";
  for (size_t i = 0; i < tensors.size(); ++i)
    if (const std::string damage = memory[i].damage(i >= family.input_count()); !damage.empty())
      run.mismatch = tensors[i].get_name() + ": " + damage;
  const std::vector<Values> expected = family.expected(shapes.dims, inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    run.outputs.push_back(memory[family.input_count() + i].read());
    const std::string difference =
        compare(run.outputs.back(), expected[i], Tolerance::of(family.type()));
    if (!difference.empty())
      run.mismatch = tensors[family.input_count() + i].get_name() + ": " + difference;
  }
  return run;
}

}  // namespace warploom::test
