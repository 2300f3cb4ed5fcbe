// Layer normalization and RMS normalization of rows, and batch normalization of channels with
// running statistics and a ReLU behind it.
#include <cudnn_frontend.h>

#include "require.h"

namespace fe = cudnn_frontend;
using fe::graph::Tensor_attributes;

namespace {

using Pack = std::unordered_map<std::shared_ptr<Tensor_attributes>, void*>;

fe::graph::Graph float_graph() {
  fe::graph::Graph graph;
  graph.set_io_data_type(fe::DataType_t::FLOAT)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  return graph;
}

void run(cudnnHandle_t handle, fe::graph::Graph& graph, Pack& pack) {
  REQUIRE_GOOD(graph.validate());
  REQUIRE_GOOD(graph.build_operation_graph(handle));
  REQUIRE_GOOD(graph.create_execution_plans({fe::HeurMode_t::FALLBACK}));
  REQUIRE_GOOD(graph.check_support(handle));
  REQUIRE_GOOD(graph.build_plans(handle));
  std::vector<int8_t> workspace(graph.get_workspace_size());
  REQUIRE_GOOD(graph.execute(handle, pack, workspace.data()));
}

void rows(cudnnHandle_t handle) {
  constexpr int64_t batch = 6, hidden = 37;
  float epsilon_value = 1e-4f;
  auto graph = float_graph();
  auto X = graph.tensor(Tensor_attributes()
                            .set_name("X")
                            .set_dim({batch, hidden, 1, 1})
                            .set_stride({hidden, 1, hidden, hidden}));
  auto parameter = [&](const char* name) {
    return graph.tensor(Tensor_attributes()
                            .set_name(name)
                            .set_dim({1, hidden, 1, 1})
                            .set_stride({hidden, 1, hidden, hidden}));
  };
  auto scale = parameter("scale"), bias = parameter("bias");
  auto epsilon = graph.tensor(epsilon_value);
  auto [Y, mean, inv_variance] =
      graph.layernorm(X, scale, bias,
                      fe::graph::Layernorm_attributes()
                          .set_forward_phase(fe::NormFwdPhase_t::TRAINING)
                          .set_epsilon(epsilon));
  Y->set_output(true);
  mean->set_output(true).set_data_type(fe::DataType_t::FLOAT);
  inv_variance->set_output(true).set_data_type(fe::DataType_t::FLOAT);
  auto [rms_Y, rms_inv_variance] =
      graph.rmsnorm(X, scale,
                    fe::graph::Rmsnorm_attributes()
                        .set_forward_phase(fe::NormFwdPhase_t::INFERENCE)
                        .set_epsilon(epsilon));
  rms_Y->set_output(true);
  REQUIRE(rms_inv_variance == nullptr);

  auto x = numbers<float>(batch * hidden, 1), scales = numbers<float>(hidden, 2),
       biases = numbers<float>(hidden, 3);
  std::vector<float> y(x.size(), NAN), rms_y(x.size(), NAN), means(batch, NAN), inverse(batch, NAN);
  Pack pack = {{X, x.data()},        {scale, scales.data()}, {bias, biases.data()},
               {Y, y.data()},        {mean, means.data()},   {inv_variance, inverse.data()},
               {rms_Y, rms_y.data()}};
  run(handle, graph, pack);
  for (int64_t row = 0; row < batch; ++row) {
    const float* values = &x[row * hidden];
    double sum = 0, squares = 0, deviation = 0;
    for (int64_t i = 0; i < hidden; ++i) sum += values[i], squares += double(values[i]) * values[i];
    for (int64_t i = 0; i < hidden; ++i) deviation += std::pow(values[i] - sum / hidden, 2);
    const double inverse_deviation = 1 / std::sqrt(deviation / hidden + epsilon_value);
    const double inverse_size = 1 / std::sqrt(squares / hidden + epsilon_value);
    REQUIRE(is_near(means[row], sum / hidden, 1e-5));
    REQUIRE(is_near(inverse[row], inverse_deviation, 1e-5));
    for (int64_t i = 0; i < hidden; ++i) {
      REQUIRE(is_near(y[row * hidden + i],
                      (values[i] - sum / hidden) * inverse_deviation * scales[i] + biases[i],
                      1e-5));
      REQUIRE(is_near(rms_y[row * hidden + i], values[i] * inverse_size * scales[i], 1e-5));
    }
  }
}

void channels(cudnnHandle_t handle) {
  constexpr int64_t n = 3, c = 5, h = 4, w = 6, count = n * h * w;
  auto graph = float_graph();
  auto X = graph.tensor(
      Tensor_attributes().set_name("X").set_dim({n, c, h, w}).set_stride({c * h * w, 1, c * w, c}));
  auto per_channel = [&](const char* name) {
    return graph.tensor(
        Tensor_attributes().set_name(name).set_dim({1, c, 1, 1}).set_stride({c, 1, c, c}));
  };
  auto scale = per_channel("scale"), bias = per_channel("bias");
  auto old_mean = per_channel("running_mean"), old_variance = per_channel("running_variance");
  // Read from host memory when the graph runs.
  auto scalar = [&](const char* name) {
    return graph.tensor(Tensor_attributes()
                            .set_name(name)
                            .set_dim({1, 1, 1, 1})
                            .set_stride({1, 1, 1, 1})
                            .set_is_pass_by_value(true));
  };
  auto epsilon = scalar("epsilon"), momentum = scalar("momentum");
  auto [Y, mean, inv_variance, new_mean, new_variance] = graph.batchnorm(
      X, scale, bias,
      fe::graph::Batchnorm_attributes().set_epsilon(epsilon).set_previous_running_stats(
          old_mean, old_variance, momentum));
  for (auto& statistic : {mean, inv_variance, new_mean, new_variance})
    statistic->set_output(true).set_data_type(fe::DataType_t::FLOAT);
  auto relu =
      graph.pointwise(Y, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::RELU_FWD));
  relu->set_output(true);

  auto x = numbers<float>(n * c * h * w, 4), scales = numbers<float>(c, 5),
       biases = numbers<float>(c, 6), means = numbers<float>(c, 7),
       variances = numbers<float>(c, 8);
  float epsilon_value = 1e-3f, momentum_value = 0.1f;
  std::vector<float> y(x.size(), NAN), saved_mean(c, NAN), saved_inverse(c, NAN), next_mean(c, NAN),
      next_variance(c, NAN);
  Pack pack = {{X, x.data()},
               {scale, scales.data()},
               {bias, biases.data()},
               {old_mean, means.data()},
               {old_variance, variances.data()},
               {epsilon, &epsilon_value},
               {momentum, &momentum_value},
               {relu, y.data()},
               {mean, saved_mean.data()},
               {inv_variance, saved_inverse.data()},
               {new_mean, next_mean.data()},
               {new_variance, next_variance.data()}};
  run(handle, graph, pack);
  for (int64_t channel = 0; channel < c; ++channel) {
    double sum = 0, deviation = 0;
    for (int64_t i = 0; i < count; ++i) sum += x[i * c + channel];
    for (int64_t i = 0; i < count; ++i) deviation += std::pow(x[i * c + channel] - sum / count, 2);
    const double inverse = 1 / std::sqrt(deviation / count + epsilon_value);
    REQUIRE(is_near(saved_mean[channel], sum / count, 1e-5));
    REQUIRE(is_near(saved_inverse[channel], inverse, 1e-5));
    REQUIRE(is_near(next_mean[channel], 0.9 * means[channel] + 0.1 * sum / count, 1e-5));
    REQUIRE(is_near(next_variance[channel],
                    0.9 * variances[channel] + 0.1 * deviation / (count - 1), 1e-5));
    for (int64_t i = 0; i < count; ++i) {
      const double normalized =
          (x[i * c + channel] - sum / count) * inverse * scales[channel] + biases[channel];
      REQUIRE(is_near(y[i * c + channel], std::max(0.0, normalized), 1e-5));
    }
  }
}

}  // namespace

int main() {
  cudnnHandle_t handle;
  REQUIRE(cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS);
  rows(handle);
  channels(handle);
  cudnnDestroy(handle);
}
