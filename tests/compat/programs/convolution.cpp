// Convolution, bias and ReLU in half precision, channels last, as one graph; then the gradients of
// the convolution for its image and its filter.
#include <cudnn.h>
#include <cudnn_frontend.h>

#include "require.h"

namespace fe = cudnn_frontend;

namespace {

constexpr int64_t n = 2, c = 16, h = 9, w = 7, k = 24, r = 3, s = 3;
constexpr int64_t pad = 1, stride = 2, p = (h + 2 * pad - r) / stride + 1,
                  q = (w + 2 * pad - s) / stride + 1;

std::vector<int64_t> channels_last(int64_t channels, int64_t height, int64_t width) {
  return {channels * height * width, 1, channels * width, channels};
}

// Calls visit(y, x, w), offsets in channels-last memory, for every product of the convolution.
template <class Visit>
void for_each_product(Visit visit) {
  for (int64_t in = 0; in < n; ++in)
    for (int64_t ik = 0; ik < k; ++ik)
      for (int64_t ip = 0; ip < p; ++ip)
        for (int64_t iq = 0; iq < q; ++iq)
          for (int64_t ir = 0; ir < r; ++ir)
            for (int64_t is = 0; is < s; ++is) {
              const int64_t ih = ip * stride + ir - pad, iw = iq * stride + is - pad;
              if (ih < 0 || ih >= h || iw < 0 || iw >= w) continue;
              for (int64_t ic = 0; ic < c; ++ic)
                visit(((in * p + ip) * q + iq) * k + ik, ((in * h + ih) * w + iw) * c + ic,
                      ((ik * r + ir) * s + is) * c + ic);
            }
}

void forward(cudnnHandle_t handle) {
  auto graph = std::make_shared<fe::graph::Graph>();
  graph->set_io_data_type(fe::DataType_t::HALF)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);

  auto X = graph->tensor(fe::graph::Tensor_attributes()
                             .set_name("image")
                             .set_dim({n, c, h, w})
                             .set_stride(channels_last(c, h, w)));
  auto W = graph->tensor(fe::graph::Tensor_attributes()
                             .set_name("filter")
                             .set_dim({k, c, r, s})
                             .set_stride(channels_last(c, r, s)));
  auto conv_options = fe::graph::Conv_fprop_attributes()
                          .set_padding({pad, pad})
                          .set_stride({stride, stride})
                          .set_dilation({1, 1});
  auto conv_output = graph->conv_fprop(X, W, conv_options);

  auto B = graph->tensor(fe::graph::Tensor_attributes()
                             .set_name("bias")
                             .set_dim({1, k, 1, 1})
                             .set_stride({k, 1, k, k}));
  auto bias_output = graph->pointwise(
      conv_output, B, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::ADD));
  auto Y = graph->pointwise(
      bias_output, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::RELU_FWD));
  Y->set_output(true);

  REQUIRE_GOOD(graph->validate());
  REQUIRE_GOOD(graph->build_operation_graph(handle));
  REQUIRE_GOOD(graph->create_execution_plans({fe::HeurMode_t::A}));
  REQUIRE_GOOD(graph->check_support(handle));
  REQUIRE_GOOD(graph->build_plans(handle));
  REQUIRE((Y->get_dim() == std::vector<int64_t>{n, k, p, q}));
  REQUIRE(Y->get_stride() == channels_last(k, p, q));

  auto x = numbers<half>(n * c * h * w, 1), weights = numbers<half>(k * c * r * s, 2);
  auto bias = numbers<half>(k, 3);
  std::vector<half> y(n * k * p * q);
  int64_t workspace_size = 0;
  REQUIRE_GOOD(graph->get_workspace_size(workspace_size));
  std::vector<int8_t> workspace(workspace_size);
  std::unordered_map<std::shared_ptr<fe::graph::Tensor_attributes>, void*> variant_pack = {
      {X, x.data()}, {W, weights.data()}, {B, bias.data()}, {Y, y.data()}};
  REQUIRE_GOOD(graph->execute(handle, variant_pack, workspace.data()));

  std::vector<double> sum(y.size());
  for_each_product([&](int64_t at_y, int64_t at_x, int64_t at_w) {
    sum[at_y] += double(float(x[at_x])) * double(float(weights[at_w]));
  });
  for (size_t i = 0; i < y.size(); ++i)
    REQUIRE(is_near(float(y[i]), std::max(0.0, sum[i] + double(float(bias[i % k]))), 2e-3));
}

// dx and dw of the same convolution, each the sum of what the output passes back.
void gradients(cudnnHandle_t handle) {
  fe::graph::Graph graph;
  graph.set_io_data_type(fe::DataType_t::FLOAT).set_compute_data_type(fe::DataType_t::FLOAT);
  auto DY = graph.tensor(
      fe::graph::Tensor_attributes().set_dim({n, k, p, q}).set_stride(channels_last(k, p, q)));
  auto W = graph.tensor(
      fe::graph::Tensor_attributes().set_dim({k, c, r, s}).set_stride(channels_last(c, r, s)));
  auto X = graph.tensor(
      fe::graph::Tensor_attributes().set_dim({n, c, h, w}).set_stride(channels_last(c, h, w)));
  auto DX = graph.conv_dgrad(DY, W,
                             fe::graph::Conv_dgrad_attributes()
                                 .set_padding({pad, pad})
                                 .set_stride({stride, stride})
                                 .set_dilation({1, 1}));
  DX->set_output(true).set_dim({n, c, h, w});
  auto DW = graph.conv_wgrad(DY, X,
                             fe::graph::Conv_wgrad_attributes()
                                 .set_padding({pad, pad})
                                 .set_stride({stride, stride})
                                 .set_dilation({1, 1}));
  DW->set_output(true).set_dim({k, c, r, s});
  REQUIRE_GOOD(graph.build(handle, {fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}));

  auto dy = numbers<float>(n * k * p * q, 4), weights = numbers<float>(k * c * r * s, 5),
       x = numbers<float>(n * c * h * w, 6);
  std::vector<float> dx(x.size(), NAN), dw(weights.size(), NAN);
  std::vector<int8_t> workspace(graph.get_workspace_size());
  std::unordered_map<std::shared_ptr<fe::graph::Tensor_attributes>, void*> variant_pack = {
      {DY, dy.data()}, {W, weights.data()}, {X, x.data()}, {DX, dx.data()}, {DW, dw.data()}};
  REQUIRE_GOOD(graph.execute(handle, variant_pack, workspace.data()));

  std::vector<double> image_gradient(x.size()), filter_gradient(weights.size());
  for_each_product([&](int64_t at_y, int64_t at_x, int64_t at_w) {
    image_gradient[at_x] += double(dy[at_y]) * double(weights[at_w]);
    filter_gradient[at_w] += double(dy[at_y]) * double(x[at_x]);
  });
  for (size_t i = 0; i < dx.size(); ++i) REQUIRE(is_near(dx[i], image_gradient[i], 1e-5));
  for (size_t i = 0; i < dw.size(); ++i) REQUIRE(is_near(dw[i], filter_gradient[i], 1e-5));
}

}  // namespace

int main() {
  cudnnHandle_t handle;
  REQUIRE(cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS);
  forward(handle);
  gradients(handle);
  REQUIRE(cudnnDestroy(handle) == CUDNN_STATUS_SUCCESS);
}
