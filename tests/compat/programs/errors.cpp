// What goes wrong comes back as a value; compiled without exceptions.
#define NV_CUDNN_DISABLE_EXCEPTION
#include <cudnn.h>
#include <cudnn_frontend.h>

#include "require.h"

#ifdef __cpp_exceptions
#error "this program is to be compiled with -fno-exceptions"
#endif

namespace fe = cudnn_frontend;
using fe::graph::Graph;
using fe::graph::Tensor_attributes;

namespace {

fe::error_t build_or_say_why(Graph& graph, cudnnHandle_t handle) {
  RETURN_CUDNN_FRONTEND_ERROR_IF(handle == nullptr, fe::error_code_t::HANDLE_ERROR,
                                 "there is no handle");
  CHECK_CUDNN_FRONTEND_ERROR(graph.validate());
  CHECK_CUDNN_FRONTEND_ERROR(graph.build_operation_graph(handle));
  CHECK_CUDNN_FRONTEND_ERROR(graph.create_execution_plans({fe::HeurMode_t::A}));
  CHECK_CUDNN_FRONTEND_ERROR(graph.build_plans(handle));
  return {fe::error_code_t::OK, ""};
}

bool contains(const fe::error_t& error, const char* text) {
  return error.get_message().find(text) != std::string::npos;
}

Graph float_graph() {
  Graph graph;
  graph.set_io_data_type(fe::DataType_t::FLOAT)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  return graph;
}

Tensor_attributes row(const char* name) {
  return Tensor_attributes().set_name(name).set_dim({1, 8}).set_stride({8, 1});
}

}  // namespace

int main() {
  cudnnHandle_t handle;
  REQUIRE(cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS);
  REQUIRE(cudnnCreate(nullptr) != CUDNN_STATUS_SUCCESS);
  REQUIRE(std::string(cudnnGetErrorString(CUDNN_STATUS_SUCCESS)) == "CUDNN_STATUS_SUCCESS");
  const auto add = fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::ADD);

  Graph graph = float_graph();
  auto a = graph.tensor(row("a")), b = graph.tensor(row("b"));
  auto y = graph.pointwise(a, b, add);
  y->set_output(true);
  auto error = build_or_say_why(graph, nullptr);
  REQUIRE(error.get_code() == fe::error_code_t::HANDLE_ERROR && contains(error, "no handle"));
  REQUIRE(build_or_say_why(graph, handle).is_good());

  std::vector<float> data(8, 1.0f), sum(8, NAN);
  std::unordered_map<std::shared_ptr<Tensor_attributes>, void*> pack = {{a, data.data()},
                                                                        {y, sum.data()}};
  std::vector<char> workspace(graph.get_workspace_size());
  error = graph.execute(handle, pack, workspace.data());
  REQUIRE(error == fe::error_code_t::INVALID_VARIANT_PACK &&
          contains(error, "not found in variant pack"));
  pack[b] = data.data();
  REQUIRE(graph.execute(handle, pack, workspace.data()).is_good());
  for (float value : sum) REQUIRE(value == 2.0f);
  error = graph.build_plan_at_index(handle, 1000);
  REQUIRE(error != fe::error_code_t::OK && contains(error, "1000"));

  Graph no_dims = float_graph();
  auto bad = no_dims.tensor(Tensor_attributes().set_name("forgotten"));
  no_dims.pointwise(bad, bad, add)->set_output(true);
  error = no_dims.validate();
  REQUIRE(error.get_code() == fe::error_code_t::ATTRIBUTE_NOT_SET && contains(error, "forgotten"));

  Graph same_uid = float_graph();
  auto first = same_uid.tensor(row("first").set_uid(77));
  auto second = same_uid.tensor(row("second").set_uid(77));
  same_uid.pointwise(first, second, add)->set_output(true);
  error = same_uid.validate();
  REQUIRE(error.get_code() == fe::error_code_t::INVALID_VALUE && contains(error, "77") &&
          contains(error, "second"));

  // The graph is as it was said to be; what is printed says what went wrong.
  std::ostringstream printed;
  printed << error;
  REQUIRE(printed.str().find("INVALID_VALUE") != std::string::npos);
  json code = error.get_code();
  REQUIRE(code == "INVALID_VALUE");
  CUDNN_FE_LOG_LABEL_ENDL("refused: " << error);
  cudnnDestroy(handle);
  CUDNN_FRONTEND_UNUSED(code);
}
