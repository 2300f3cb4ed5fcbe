// What training adds to inference, against oneDNN: gradients of convolutions, and normalizations
// and softmax both ways.
//
//   OMP_NUM_THREADS=2 bench_onednn_training [seconds per case] [cases by substring] [--json FILE]

#include "onednn_case.h"

namespace {

using namespace warploom;
using namespace bench;
using graph::TensorPtr;

struct Convolution {
  int64_t n, c, k, size, window, stride, padding;

  int64_t result() const { return (size + 2 * padding - window) / stride + 1; }
  std::vector<int64_t> x() const { return {n, c, size, size}; }
  std::vector<int64_t> w() const { return {k, c, window, window}; }
  std::vector<int64_t> y() const { return {n, k, result(), result()}; }
  double flops() const {
    return 2.0 * static_cast<double>(volume(y())) * static_cast<double>(c * window * window);
  }
  std::string text() const {
    const auto number = [](int64_t value) { return std::to_string(value); };
    return "N=" + number(n) + " C=" + number(c) + " K=" + number(k) + " " + number(size) + "x" +
           number(size) + ", " + number(window) + "x" + number(window) + ", stride " +
           number(stride);
  }
  template <class Attributes>
  Attributes attributes() const {
    Attributes attributes;
    attributes.set_padding({padding, padding}).set_stride({stride, stride}).set_dilation({1, 1});
    return attributes;
  }
};

#ifdef WARPLOOM_HAVE_DNNL
using Arguments = std::unordered_map<int, dnnl::memory>;

/// What runs a primitive and waits for it.
template <class Primitive>
std::function<void()> runner(const Primitive& primitive, const Arguments& arguments) {
  return [=] {
    primitive.execute(onednn_stream(), arguments);
    onednn_stream().wait();
  };
}

struct DnnlConvolution {
  dnnl::memory::desc x, w, any, y;
  dnnl::memory::dims stride, padding;
  dnnl::convolution_forward::primitive_desc forward;

  explicit DnnlConvolution(const Convolution& conv)
      : x(conv.x(), kFloat, Tag::nhwc),
        w(conv.w(), kFloat, Tag::ohwi),
        any(conv.w(), kFloat, Tag::any),
        y(conv.y(), kFloat, Tag::nhwc),
        stride{conv.stride, conv.stride},
        padding{conv.padding, conv.padding},
        forward({dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, x, any, y,
                 stride, padding, padding},
                onednn_engine()) {}
};
#endif

Case image_gradient(const Convolution& conv) {
  Case result;
  result.title = "convolution, gradient for the image: " + conv.text();
  result.flops = conv.flops();
  Buffer& dy = result.buffer(volume(conv.y()), 1, 1);
  Buffer& w = result.buffer(volume(conv.w()), 2, 0.1F);
  Buffer& dx = result.buffer(volume(conv.x()));
#ifdef WARPLOOM_HAVE_DNNL
  Buffer& dnnl_dx = result.buffer(volume(conv.x()));
  const DnnlConvolution peer(conv);
  const dnnl::convolution_backward_data::primitive_desc desc(
      {dnnl::algorithm::convolution_direct, peer.x, peer.any, peer.y, peer.stride, peer.padding,
       peer.padding},
      onednn_engine(), peer.forward);
  dnnl::memory w_memory = memory(peer.w, w), packed(desc.weights_desc(), onednn_engine());
  const dnnl::reorder reorder(w_memory, packed);
  const auto run =
      runner(dnnl::convolution_backward_data(desc), {{DNNL_ARG_DIFF_DST, memory(peer.y, dy)},
                                                     {DNNL_ARG_WEIGHTS, packed},
                                                     {DNNL_ARG_DIFF_SRC, memory(peer.x, dnnl_dx)}});
  result.runners.push_back({"oneDNN, filter packed in the call",
                            [=]() mutable {
                              reorder.execute(onednn_stream(), w_memory, packed);
                              run();
                            },
                            &dnnl_dx});
  result.runners.push_back({"oneDNN, filter packed before", run, &dnnl_dx});
#endif
  auto program = std::make_shared<Program>();
  TensorPtr gradient =
      program->graph().conv_dgrad(program->input(conv.y(), channels_last(conv.y()), dy),
                                  program->input(conv.w(), channels_last(conv.w()), w),
                                  conv.attributes<graph::Conv_dgrad_attributes>());
  gradient->set_dim(conv.x()).set_stride(channels_last(conv.x()));
  program->output(gradient, dx);
  program->build();
  result.add("warploom: " + program->plan(), {program}, dx);
  return result;
}

Case filter_gradient(const Convolution& conv) {
  Case result;
  result.title = "convolution, gradient for the filter: " + conv.text();
  result.flops = conv.flops();
  Buffer& dy = result.buffer(volume(conv.y()), 1, 1);
  Buffer& x = result.buffer(volume(conv.x()), 2, 1);
  Buffer& dw = result.buffer(volume(conv.w()));
#ifdef WARPLOOM_HAVE_DNNL
  Buffer& dnnl_dw = result.buffer(volume(conv.w()));
  const DnnlConvolution peer(conv);
  const dnnl::convolution_backward_weights::primitive_desc desc(
      {dnnl::algorithm::convolution_direct, peer.x, peer.any, peer.y, peer.stride, peer.padding,
       peer.padding},
      onednn_engine(), peer.forward);
  dnnl::memory dw_memory = memory(peer.w, dnnl_dw),
               packed(desc.diff_weights_desc(), onednn_engine());
  const dnnl::reorder reorder(packed, dw_memory);
  const auto run =
      runner(dnnl::convolution_backward_weights(desc), {{DNNL_ARG_DIFF_DST, memory(peer.y, dy)},
                                                        {DNNL_ARG_SRC, memory(peer.x, x)},
                                                        {DNNL_ARG_DIFF_WEIGHTS, packed}});
  result.runners.push_back({"oneDNN, with its result reordered",
                            [=]() mutable {
                              run();
                              reorder.execute(onednn_stream(), packed, dw_memory);
                              onednn_stream().wait();
                            },
                            &dnnl_dw});
  result.runners.push_back({"oneDNN, result in its own format", run, &dnnl_dw});
#endif
  auto program = std::make_shared<Program>();
  TensorPtr gradient =
      program->graph().conv_wgrad(program->input(conv.y(), channels_last(conv.y()), dy),
                                  program->input(conv.x(), channels_last(conv.x()), x),
                                  conv.attributes<graph::Conv_wgrad_attributes>());
  gradient->set_dim(conv.w()).set_stride(channels_last(conv.w()));
  program->output(gradient, dw);
  program->build();
  result.add("warploom: " + program->plan(), {program}, dw);
  return result;
}

constexpr float kEpsilon = 1e-5F;

/// Memory of a normalization of X by one SCALE and BIAS for each of `parameters`, over statistics.
struct Normalization {
  std::vector<int64_t> x_dim, parameter_dim, statistic_dim;
  std::vector<int64_t> x_stride;
  bool is_batch = false;
  Case work;
  Buffer *x, *dy, *scale, *bias, *mean, *inv_variance;

  Normalization(bool batch, std::vector<int64_t> dim, std::vector<int64_t> stride)
      : x_dim(std::move(dim)), x_stride(std::move(stride)), is_batch(batch) {
    parameter_dim.assign(x_dim.size(), 1);
    const size_t axis = is_batch ? 1 : x_dim.size() - 1;
    parameter_dim[axis] = x_dim[axis];
    statistic_dim = is_batch ? parameter_dim : x_dim;
    if (!is_batch) statistic_dim[axis] = 1;
    x = &work.buffer(volume(x_dim), 1, 1);
    dy = &work.buffer(volume(x_dim), 2, 1);
    scale = &work.buffer(volume(parameter_dim), 3, 1);
    bias = &work.buffer(volume(parameter_dim), 4, 1);
    mean = &work.buffer(volume(statistic_dim));
    inv_variance = &work.buffer(volume(statistic_dim));
    work.flops = static_cast<double>(volume(x_dim));
  }
  std::string text() const {
    std::string dims;
    for (int64_t dim : x_dim) dims += (dims.empty() ? "" : "x") + std::to_string(dim);
    return (is_batch ? "batch normalization " : "layer normalization ") + dims;
  }

  /// Y, MEAN and INV_VARIANCE.
  std::shared_ptr<Program> forward(Buffer& y) const {
    auto program = std::make_shared<Program>();
    graph::Graph& graph = program->graph();
    const TensorPtr tx = program->input(x_dim, x_stride, *x);
    const TensorPtr ts = program->input(parameter_dim, row_major(parameter_dim), *scale);
    const TensorPtr tb = program->input(parameter_dim, row_major(parameter_dim), *bias);
    const TensorPtr epsilon = graph.tensor(graph::Tensor_attributes(kEpsilon));
    std::vector<TensorPtr> results;
    if (is_batch) {
      graph::Batchnorm_attributes attributes;
      attributes.set_epsilon(epsilon);
      const auto all = graph.batchnorm(tx, ts, tb, attributes);
      results = {all[0], all[1], all[2]};
    } else {
      graph::Layernorm_attributes attributes;
      attributes.set_forward_phase(NormFwdPhase_t::TRAINING).set_epsilon(epsilon);
      const auto all = graph.layernorm(tx, ts, tb, attributes);
      results = {all[0], all[1], all[2]};
    }
    results[0]->set_dim(x_dim).set_stride(x_stride);
    program->output(results[0], y);
    program->output(results[1], *mean);
    program->output(results[2], *inv_variance);
    program->build();
    return program;
  }
  /// DX, DSCALE and DBIAS.
  std::shared_ptr<Program> backward(Buffer& dx, Buffer& dscale, Buffer& dbias) const {
    auto program = std::make_shared<Program>();
    graph::Graph& graph = program->graph();
    const TensorPtr tdy = program->input(x_dim, x_stride, *dy);
    const TensorPtr tx = program->input(x_dim, x_stride, *x);
    const TensorPtr ts = program->input(parameter_dim, row_major(parameter_dim), *scale);
    const TensorPtr tm = program->input(statistic_dim, row_major(statistic_dim), *mean);
    const TensorPtr ti = program->input(statistic_dim, row_major(statistic_dim), *inv_variance);
    std::vector<TensorPtr> results;
    const auto take = [&](auto attributes, auto&& call) {
      attributes.set_saved_mean_and_inv_variance(tm, ti);
      const auto all = call(attributes);
      results = {all[0], all[1], all[2]};
    };
    if (is_batch)
      take(graph::Batchnorm_backward_attributes(),
           [&](const auto& a) { return graph.batchnorm_backward(tdy, tx, ts, a); });
    else
      take(graph::Layernorm_backward_attributes(),
           [&](const auto& a) { return graph.layernorm_backward(tdy, tx, ts, a); });
    results[0]->set_dim(x_dim).set_stride(x_stride);
    program->output(results[0], dx);
    program->output(results[1], dscale);
    program->output(results[2], dbias);
    program->build();
    return program;
  }
};

#ifdef WARPLOOM_HAVE_DNNL
/// oneDNN's pair of a normalization; its variance is in memory of its own.
struct DnnlNormalization {
  dnnl::memory::desc x, parameters, statistics;
  Buffer* variance;
  static inline const auto kFlags =
      dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;

  explicit DnnlNormalization(Normalization& norm)
      : x(norm.x_dim, kFloat, norm.x_stride),
        parameters({static_cast<int64_t>(volume(norm.parameter_dim))}, kFloat, Tag::a),
        variance(&norm.work.buffer(volume(norm.statistic_dim))) {
    std::vector<int64_t> dim = norm.x_dim;
    dim.pop_back();
    statistics = norm.is_batch ? parameters : dnnl::memory::desc(dim, kFloat, row_major(dim));
  }
  Arguments arguments(const Normalization& norm, Buffer& mean) const {
    return {{DNNL_ARG_SRC, memory(x, *norm.x)},
            {DNNL_ARG_SCALE, memory(parameters, *norm.scale)},
            {DNNL_ARG_SHIFT, memory(parameters, *norm.bias)},
            {DNNL_ARG_MEAN, memory(statistics, mean)},
            {DNNL_ARG_VARIANCE, memory(statistics, *variance)}};
  }
  template <class Forward>
  typename Forward::primitive_desc forward() const {
    return {{dnnl::prop_kind::forward_training, x, kEpsilon, kFlags}, onednn_engine()};
  }
  template <class Forward>
  std::function<void()> run_forward(const Normalization& norm, Buffer& mean, Buffer& y) const {
    Arguments all = arguments(norm, mean);
    all[DNNL_ARG_DST] = memory(x, y);
    return runner(Forward(forward<Forward>()), all);
  }
  template <class Forward, class Backward>
  std::function<void()> run_backward(const Normalization& norm, Buffer& mean, Buffer& dx,
                                     Buffer& dscale, Buffer& dbias) const {
    Arguments all = arguments(norm, mean);
    all[DNNL_ARG_DIFF_DST] = memory(x, *norm.dy);
    all[DNNL_ARG_DIFF_SRC] = memory(x, dx);
    all[DNNL_ARG_DIFF_SCALE] = memory(parameters, dscale);
    all[DNNL_ARG_DIFF_SHIFT] = memory(parameters, dbias);
    const typename Backward::primitive_desc desc(
        {dnnl::prop_kind::backward, x, x, kEpsilon, kFlags}, onednn_engine(), forward<Forward>());
    return runner(Backward(desc), all);
  }
};
#endif

Case normalization(bool is_batch, const std::vector<int64_t>& dim,
                   const std::vector<int64_t>& stride, bool is_backward) {
  Normalization norm(is_batch, dim, stride);
  Case& work = norm.work;
  work.title = norm.text() + (is_backward ? ", gradient" : ", forward in training") +
               " (G elements/s in place of GFLOP/s)";
  const size_t size = volume(norm.x_dim), parameters = volume(norm.parameter_dim);
  Buffer &y = work.buffer(size), &dx = work.buffer(size);
  Buffer &dscale = work.buffer(parameters), &dbias = work.buffer(parameters);
  const std::shared_ptr<Program> forward = norm.forward(y);
  forward->run();
#ifdef WARPLOOM_HAVE_DNNL
  Buffer &dnnl_y = work.buffer(size), &dnnl_dx = work.buffer(size);
  Buffer &dnnl_dscale = work.buffer(parameters), &dnnl_dbias = work.buffer(parameters);
  Buffer& mean = work.buffer(volume(norm.statistic_dim));
  const DnnlNormalization peer(norm);
  std::function<void()> there, back;
  if (is_batch) {
    using Forward = dnnl::batch_normalization_forward;
    there = peer.run_forward<Forward>(norm, mean, dnnl_y);
    back = peer.run_backward<Forward, dnnl::batch_normalization_backward>(norm, mean, dnnl_dx,
                                                                          dnnl_dscale, dnnl_dbias);
  } else {
    using Forward = dnnl::layer_normalization_forward;
    there = peer.run_forward<Forward>(norm, mean, dnnl_y);
    back = peer.run_backward<Forward, dnnl::layer_normalization_backward>(norm, mean, dnnl_dx,
                                                                          dnnl_dscale, dnnl_dbias);
  }
  there();
  work.runners.push_back({"oneDNN", is_backward ? back : there, is_backward ? &dnnl_dx : &dnnl_y});
#endif
  const std::shared_ptr<Program> program = is_backward ? norm.backward(dx, dscale, dbias) : forward;
  work.add("warploom: " + program->plan(), {program}, is_backward ? dx : y);
  return std::move(work);
}

Case softmax(const std::vector<int64_t>& dim) {
  Case result;
  result.title = "softmax " + std::to_string(dim[0]) + "x" + std::to_string(dim[1]) +
                 " (G elements/s in place of GFLOP/s)";
  result.flops = static_cast<double>(volume(dim));
  Buffer& x = result.buffer(volume(dim), 1, 4);
  Buffer& y = result.buffer(volume(dim));
#ifdef WARPLOOM_HAVE_DNNL
  Buffer& dnnl_y = result.buffer(volume(dim));
  const dnnl::memory::desc desc(dim, kFloat, Tag::ab);
  result.runners.push_back(
      {"oneDNN",
       runner(dnnl::softmax_forward(dnnl::softmax_forward::primitive_desc(
                  {dnnl::prop_kind::forward_inference, desc, 1}, onednn_engine())),
              {{DNNL_ARG_SRC, memory(desc, x)}, {DNNL_ARG_DST, memory(desc, dnnl_y)}}),
       &dnnl_y});
#endif
  auto program = std::make_shared<Program>();
  graph::Softmax_attributes attributes;
  attributes.set_axis(1);
  const TensorPtr tensor =
      program->graph().softmax(program->input(dim, row_major(dim), x), attributes);
  tensor->set_dim(dim).set_stride(row_major(dim));
  program->output(tensor, y);
  program->build();
  result.add("warploom: " + program->plan(), {program}, y);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const Convolution three{16, 64, 64, 56, 3, 1, 1}, strided{16, 128, 128, 56, 3, 2, 1};
  const Convolution projection{16, 256, 512, 56, 1, 2, 0};
  const std::vector<int64_t> image{16, 64, 56, 56}, tokens{4096, 768};
  Cases cases;
  for (const Convolution& conv : {three, strided, projection}) {
    cases.push_back({"image gradient", [=] { return image_gradient(conv); }});
    cases.push_back({"filter gradient", [=] { return filter_gradient(conv); }});
  }
  for (bool is_backward : {false, true}) {
    cases.push_back({"layernorm",
                     [=] { return normalization(false, tokens, row_major(tokens), is_backward); }});
    cases.push_back({"batchnorm", [=] {
                       return normalization(true, image, channels_last(image), is_backward);
                     }});
    cases.push_back({"batchnorm planes",
                     [=] { return normalization(true, image, row_major(image), is_backward); }});
  }
  cases.push_back({"softmax", [] { return softmax({4096, 1024}); }});
  return run_cases(argc, argv, "Gradients and normalizations against oneDNN", cases);
}
