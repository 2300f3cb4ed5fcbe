// A graph as JSON, read and built again; a plan as bytes, read and run.
#include <cudnn_frontend.h>

#include "require.h"

namespace fe = cudnn_frontend;

enum UIDs : int64_t { X_UID = 10, SCALE_UID, Y_UID, MAX_UID };

constexpr int64_t rows = 12, columns = 20;

fe::graph::Graph describe() {
  fe::graph::Graph graph;
  graph.set_name("softplus_and_largest")
      .set_io_data_type(fe::DataType_t::FLOAT)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  auto X = graph.tensor(fe::graph::Tensor_attributes()
                            .set_name("X")
                            .set_uid(X_UID)
                            .set_dim({1, rows, columns})
                            .set_stride({rows * columns, columns, 1}));
  auto scale = graph.tensor(fe::graph::Tensor_attributes()
                                .set_name("scale")
                                .set_uid(SCALE_UID)
                                .set_dim({1, rows, 1})
                                .set_stride({rows, 1, 1}));
  auto scaled = graph.pointwise(
      X, scale,
      fe::graph::Pointwise_attributes().set_name("scaling").set_mode(fe::PointwiseMode_t::MUL));
  auto Y = graph.pointwise(scaled, fe::graph::Pointwise_attributes()
                                       .set_name("softplus")
                                       .set_mode(fe::PointwiseMode_t::SOFTPLUS_FWD)
                                       .set_softplus_beta(2.0f));
  Y->set_output(true).set_uid(Y_UID);
  auto largest = graph.reduction(
      Y, fe::graph::Reduction_attributes().set_name("largest").set_mode(fe::ReductionMode_t::MAX));
  largest->set_output(true)
      .set_uid(MAX_UID)
      .set_dim({1, 1, columns})
      .set_stride({columns, columns, 1});
  return graph;
}

void run_and_check(cudnnHandle_t handle, fe::graph::Graph const& graph) {
  auto x = numbers<float>(rows * columns, 1), scale = numbers<float>(rows, 2);
  std::vector<float> y(x.size(), NAN), largest(columns, NAN);
  std::unordered_map<int64_t, void*> variant_pack = {
      {X_UID, x.data()}, {SCALE_UID, scale.data()}, {Y_UID, y.data()}, {MAX_UID, largest.data()}};
  std::vector<int8_t> workspace(graph.get_workspace_size());
  REQUIRE_GOOD(graph.execute(handle, variant_pack, workspace.data()));
  for (int64_t j = 0; j < columns; ++j) {
    double most = 0;
    for (int64_t i = 0; i < rows; ++i) {
      const double value = std::log1p(std::exp(2.0 * x[i * columns + j] * scale[i])) / 2.0;
      REQUIRE(is_near(y[i * columns + j], value, 1e-5));
      most = std::max(most, value);
    }
    REQUIRE(is_near(largest[j], most, 1e-5));
  }
}

int main() {
  cudnnHandle_t handle;
  REQUIRE(cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS);

  auto graph = describe();
  REQUIRE_GOOD(graph.validate());
  json j = graph;
  json by_method;
  graph.serialize(by_method);
  REQUIRE(j == by_method);
  REQUIRE(j["context"]["name"] == "softplus_and_largest");
  REQUIRE(j["nodes"].size() == 3 && j["nodes"][1]["tag"] == "POINTWISE");
  REQUIRE(j["nodes"][1]["mode"] == json(fe::PointwiseMode_t::SOFTPLUS_FWD));
  REQUIRE(j["tensors"][std::to_string(X_UID)]["dim"] == json({1, rows, columns}));

  fe::graph::Graph from_json;
  REQUIRE_GOOD(from_json.deserialize(json::parse(j.dump())));
  json again;
  from_json.serialize(again);
  REQUIRE(again == j);
  REQUIRE_GOOD(from_json.build(handle, {fe::HeurMode_t::A}));
  run_and_check(handle, from_json);

  REQUIRE_GOOD(graph.build(handle, {fe::HeurMode_t::A}));
  std::vector<uint8_t> data;
  REQUIRE_GOOD(graph.serialize(data));
  fe::graph::Graph from_bytes;
  REQUIRE_GOOD(from_bytes.deserialize(handle, data));
  run_and_check(handle, from_bytes);
  fe::graph::Tensor_attributes y_attributes;
  REQUIRE_GOOD(from_bytes.query_tensor_attributes_of_uid(Y_UID, y_attributes));
  REQUIRE(y_attributes.get_dim() == (std::vector<int64_t>{1, rows, columns}));

  // Built for a device that is described, not held.
  auto properties = std::make_shared<fe::DeviceProperties>();
  REQUIRE_GOOD(properties->set_device_id(0).build());
  std::vector<uint8_t> device_data;
  REQUIRE_GOOD(properties->serialize(device_data));
  auto elsewhere = std::make_shared<fe::DeviceProperties>();
  REQUIRE_GOOD(elsewhere->deserialize(device_data));
  auto ahead = describe();
  ahead.set_device_properties(elsewhere);
  REQUIRE_GOOD(ahead.validate());
  REQUIRE_GOOD(ahead.build_operation_graph());
  REQUIRE_GOOD(ahead.create_execution_plans({fe::HeurMode_t::A}));
  REQUIRE_GOOD(ahead.check_support());
  REQUIRE_GOOD(ahead.build_plans());
  REQUIRE_GOOD(ahead.serialize(data));
  fe::graph::Graph here;
  REQUIRE_GOOD(here.deserialize(handle, data));
  run_and_check(handle, here);
  cudnnDestroy(handle);
}
