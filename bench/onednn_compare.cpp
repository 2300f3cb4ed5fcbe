// The tour's four fused graphs against oneDNN and against the same work as single-operation graphs.
//
//   OMP_NUM_THREADS=2 bench_onednn_compare [seconds per case] [cases by substring] [--json FILE]
//
// The threads of oneDNN's OpenMP must not spin while others are measured; the program asks for that
// itself if the environment does not.

#include "onednn_case.h"

namespace {

using namespace warploom;
using namespace bench;
using graph::Graph;
using graph::TensorPtr;

/// A binary or unary pointwise operation as a graph of its own, over buffers.
std::unique_ptr<Program> pointwise_program(PointwiseMode_t pointwise_mode,
                                           const std::vector<int64_t>& dim,
                                           const std::vector<int64_t>& stride, Buffer& in,
                                           const std::vector<int64_t>* other_dim, Buffer* other,
                                           Buffer& out) {
  auto program = std::make_unique<Program>();
  const TensorPtr x = program->input(dim, stride, in);
  TensorPtr y;
  if (other)
    y = program->graph().pointwise(x, program->input(*other_dim, row_major(*other_dim), *other),
                                   mode(pointwise_mode));
  else
    y = program->graph().pointwise(x, mode(pointwise_mode));
  y->set_dim(dim).set_stride(stride);
  program->output(y, out);
  program->build();
  return program;
}

Case convolution(const std::string& what, int64_t n, int64_t c, int64_t size, int64_t k) {
  Case result;
  result.title = "convolution + bias + ReLU, " + what + ": N=" + std::to_string(n) +
                 " C=" + std::to_string(c) + " " + std::to_string(size) + "x" +
                 std::to_string(size) + " K=" + std::to_string(k) + " 3x3 pad 1";
  const std::vector<int64_t> x_dim{n, c, size, size}, w_dim{k, c, 3, 3}, y_dim{n, k, size, size};
  const std::vector<int64_t> bias_dim{1, k, 1, 1};
  result.flops = 2.0 * static_cast<double>(volume(y_dim)) * static_cast<double>(c) * 9;
  Buffer& x = result.buffer(volume(x_dim), 1, 1);
  Buffer& w = result.buffer(volume(w_dim), 2, 0.1F);
  Buffer& bias = result.buffer(static_cast<size_t>(k), 3, 1);
  Buffer& fused_y = result.buffer(volume(y_dim));
  Buffer& single_y = result.buffer(volume(y_dim));
  Buffer& a = result.buffer(volume(y_dim));
  graph::Conv_fprop_attributes attributes;
  attributes.set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1});

#ifdef WARPLOOM_HAVE_DNNL
  Buffer& dnnl_y = result.buffer(volume(y_dim));
  const dnnl::memory::desc x_desc(x_dim, kFloat, Tag::nhwc), y_desc(y_dim, kFloat, Tag::nhwc);
  const dnnl::memory::desc w_user(w_dim, kFloat, Tag::ohwi), w_any(w_dim, kFloat, Tag::any);
  const dnnl::memory::desc bias_desc({k}, kFloat, Tag::a);
  dnnl::post_ops post;
  post.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  dnnl::primitive_attr attr;
  attr.set_post_ops(post);
  const dnnl::convolution_forward::primitive_desc desc({dnnl::prop_kind::forward_inference,
                                                        dnnl::algorithm::convolution_direct,
                                                        x_desc,
                                                        w_any,
                                                        bias_desc,
                                                        y_desc,
                                                        {1, 1},
                                                        {1, 1},
                                                        {1, 1}},
                                                       attr, onednn_engine());
  dnnl::memory w_memory = memory(w_user, w), packed(desc.weights_desc(), onednn_engine());
  const dnnl::reorder reorder(w_memory, packed);
  const dnnl::convolution_forward primitive(desc);
  const std::unordered_map<int, dnnl::memory> arguments{{DNNL_ARG_SRC, memory(x_desc, x)},
                                                        {DNNL_ARG_WEIGHTS, packed},
                                                        {DNNL_ARG_BIAS, memory(bias_desc, bias)},
                                                        {DNNL_ARG_DST, memory(y_desc, dnnl_y)}};
  result.runners.push_back({"oneDNN, filter packed in the call",
                            [=]() mutable {
                              reorder.execute(onednn_stream(), w_memory, packed);
                              primitive.execute(onednn_stream(), arguments);
                              onednn_stream().wait();
                            },
                            &dnnl_y});
  result.runners.push_back({"oneDNN, filter packed before",
                            [=] {
                              primitive.execute(onednn_stream(), arguments);
                              onednn_stream().wait();
                            },
                            &dnnl_y});
#endif

  auto fused = std::make_shared<Program>();
  {
    Graph& graph = fused->graph();
    TensorPtr y = graph.conv_fprop(fused->input(x_dim, channels_last(x_dim), x),
                                   fused->input(w_dim, channels_last(w_dim), w), attributes);
    y = graph.pointwise(y, fused->input(bias_dim, row_major(bias_dim), bias),
                        mode(PointwiseMode_t::ADD));
    y = graph.pointwise(y, mode(PointwiseMode_t::RELU_FWD));
    fused->output(y, fused_y);
    fused->build();
  }
  auto plain = std::make_shared<Program>();
  plain->output(plain->graph().conv_fprop(plain->input(x_dim, channels_last(x_dim), x),
                                          plain->input(w_dim, channels_last(w_dim), w), attributes),
                a);
  plain->build();
  const auto stride = channels_last(y_dim);
  std::shared_ptr<Program> add =
      pointwise_program(PointwiseMode_t::ADD, y_dim, stride, a, &bias_dim, &bias, a);
  std::shared_ptr<Program> relu =
      pointwise_program(PointwiseMode_t::RELU_FWD, y_dim, stride, a, nullptr, nullptr, single_y);
  result.add("warploom, fused: " + fused->plan(), {fused}, fused_y);
  result.add("warploom, single operations", {plain, add, relu}, single_y);
  return result;
}

Case matmul_chain(int64_t batch, int64_t m, int64_t n, int64_t k) {
  Case result;
  result.title = "matmul " + std::to_string(batch) + "x" + std::to_string(m) + "x" +
                 std::to_string(k) + " by " + std::to_string(k) + "x" + std::to_string(n) +
                 " * scale + bias -> GELU -> out, and AMAX (oneDNN: without AMAX)";
  const std::vector<int64_t> a_dim{batch, m, k}, b_dim{1, k, n}, c_dim{batch, m, n};
  const std::vector<int64_t> bias_dim{1, 1, n}, one{1, 1, 1};
  result.flops = 2.0 * static_cast<double>(volume(c_dim)) * static_cast<double>(k);
  Buffer& a = result.buffer(volume(a_dim), 1, 1);
  Buffer& b = result.buffer(volume(b_dim), 2, 0.1F);
  Buffer& bias = result.buffer(static_cast<size_t>(n), 3, 1);
  Buffer& scale = result.buffer(1);
  scale.data()[0] = 0.5F;
  Buffer& fused_out = result.buffer(volume(c_dim));
  Buffer& single_out = result.buffer(volume(c_dim));
  Buffer& t = result.buffer(volume(c_dim));
  Buffer& fused_amax = result.buffer(1);
  Buffer& single_amax = result.buffer(1);

#ifdef WARPLOOM_HAVE_DNNL
  Buffer& dnnl_out = result.buffer(volume(c_dim));
  const dnnl::memory::desc a_desc(a_dim, kFloat, Tag::abc), b_desc(b_dim, kFloat, Tag::abc);
  const dnnl::memory::desc c_desc(c_dim, kFloat, Tag::abc), bias_desc(bias_dim, kFloat, Tag::abc);
  dnnl::post_ops post;
  post.append_binary(dnnl::algorithm::binary_add, bias_desc);
  post.append_eltwise(1, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
  dnnl::primitive_attr attr;
  attr.set_output_scales(0, {0.5F});
  attr.set_post_ops(post);
  const dnnl::matmul primitive(
      dnnl::matmul::primitive_desc({a_desc, b_desc, c_desc}, attr, onednn_engine()));
  const std::unordered_map<int, dnnl::memory> arguments{
      {DNNL_ARG_SRC, memory(a_desc, a)},
      {DNNL_ARG_WEIGHTS, memory(b_desc, b)},
      {DNNL_ARG_DST, memory(c_desc, dnnl_out)},
      {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, memory(bias_desc, bias)}};
  result.runners.push_back({"oneDNN",
                            [=] {
                              primitive.execute(onednn_stream(), arguments);
                              onednn_stream().wait();
                            },
                            &dnnl_out});
#endif

  graph::Reduction_attributes amax;
  amax.set_mode(ReductionMode_t::AMAX);
  auto fused = std::make_shared<Program>();
  {
    Graph& graph = fused->graph();
    TensorPtr c = graph.matmul(fused->input(a_dim, row_major(a_dim), a),
                               fused->input(b_dim, row_major(b_dim), b), {});
    c = graph.pointwise(c, graph.tensor(graph::Tensor_attributes(0.5F)),
                        mode(PointwiseMode_t::MUL));
    c = graph.pointwise(c, fused->input(bias_dim, row_major(bias_dim), bias),
                        mode(PointwiseMode_t::ADD));
    c = graph.pointwise(c, mode(PointwiseMode_t::GELU_FWD));
    fused->output(c, fused_out);
    TensorPtr largest = graph.reduction(c, amax);
    largest->set_dim(one).set_stride(one);
    fused->output(largest, fused_amax);
    fused->build();
  }
  auto plain = std::make_shared<Program>(), reduce = std::make_shared<Program>();
  plain->output(plain->graph().matmul(plain->input(a_dim, row_major(a_dim), a),
                                      plain->input(b_dim, row_major(b_dim), b), {}),
                t);
  plain->build();
  const auto stride = row_major(c_dim);
  std::shared_ptr<Program> mul =
      pointwise_program(PointwiseMode_t::MUL, c_dim, stride, t, &one, &scale, t);
  std::shared_ptr<Program> add =
      pointwise_program(PointwiseMode_t::ADD, c_dim, stride, t, &bias_dim, &bias, t);
  std::shared_ptr<Program> gelu =
      pointwise_program(PointwiseMode_t::GELU_FWD, c_dim, stride, t, nullptr, nullptr, single_out);
  TensorPtr largest = reduce->graph().reduction(reduce->input(c_dim, stride, single_out), amax);
  largest->set_dim(one).set_stride(one);
  reduce->output(largest, single_amax);
  reduce->build();
  result.add("warploom, fused: " + fused->plan(), {fused}, fused_out);
  result.add("warploom, single operations", {plain, mul, add, gelu, reduce}, single_out);
  return result;
}

Case attention(int64_t batch, int64_t heads, int64_t sequence, int64_t size) {
  Case result;
  result.title = "causal attention, batch " + std::to_string(batch) + ", " + std::to_string(heads) +
                 " heads, sequence " + std::to_string(sequence) + ", head size " +
                 std::to_string(size);
  const std::vector<int64_t> dim{batch, heads, sequence, size};
  result.flops = 2.0 * static_cast<double>(volume(dim)) * static_cast<double>(sequence);
  Buffer& q = result.buffer(volume(dim), 1, 2);
  Buffer& k = result.buffer(volume(dim), 2, 2);
  Buffer& v = result.buffer(volume(dim), 3, 1);
  Buffer& fused_o = result.buffer(volume(dim));
  const float scale = 1.0F / std::sqrt(static_cast<float>(size));

#ifdef WARPLOOM_HAVE_DNNL
  // Composed: this version has no attention of its own.
  Buffer& dnnl_o = result.buffer(volume(dim));
  const auto scores = static_cast<size_t>(batch * heads * sequence * sequence);
  Buffer& s = result.buffer(scores);
  Buffer& mask = result.buffer(static_cast<size_t>(sequence * sequence));
  for (int64_t i = 0; i < sequence; ++i)
    for (int64_t j = i + 1; j < sequence; ++j) mask.data()[i * sequence + j] = -1e30F;
  const dnnl::memory::dims q_dim{batch * heads, sequence, size};
  const dnnl::memory::desc q_desc(q_dim, kFloat, Tag::abc);
  const dnnl::memory::desc k_desc({batch * heads, size, sequence}, kFloat, Tag::acb);
  const dnnl::memory::desc s_desc({batch * heads, sequence, sequence}, kFloat, Tag::abc);
  const dnnl::memory::desc mask_desc({1, sequence, sequence}, kFloat, Tag::abc);
  dnnl::primitive_attr attr;
  attr.set_output_scales(0, {scale});
  const dnnl::matmul qk(
      dnnl::matmul::primitive_desc({q_desc, k_desc, s_desc}, attr, onednn_engine()));
  const dnnl::binary masked(dnnl::binary::primitive_desc(
      {dnnl::algorithm::binary_add, s_desc, mask_desc, s_desc}, onednn_engine()));
  const dnnl::softmax_forward softmax(dnnl::softmax_forward::primitive_desc(
      {dnnl::prop_kind::forward_inference, s_desc, 2}, onednn_engine()));
  const dnnl::matmul pv(dnnl::matmul::primitive_desc({s_desc, q_desc, q_desc}, onednn_engine()));
  const dnnl::memory s_memory = memory(s_desc, s), mask_memory = memory(mask_desc, mask);
  const dnnl::memory q_memory = memory(q_desc, q), k_memory = memory(k_desc, k);
  const dnnl::memory v_memory = memory(q_desc, v), o_memory = memory(q_desc, dnnl_o);
  result.runners.push_back(
      {"oneDNN, composed",
       [=] {
         qk.execute(
             onednn_stream(),
             {{DNNL_ARG_SRC, q_memory}, {DNNL_ARG_WEIGHTS, k_memory}, {DNNL_ARG_DST, s_memory}});
         masked.execute(
             onednn_stream(),
             {{DNNL_ARG_SRC_0, s_memory}, {DNNL_ARG_SRC_1, mask_memory}, {DNNL_ARG_DST, s_memory}});
         softmax.execute(onednn_stream(), {{DNNL_ARG_SRC, s_memory}, {DNNL_ARG_DST, s_memory}});
         pv.execute(
             onednn_stream(),
             {{DNNL_ARG_SRC, s_memory}, {DNNL_ARG_WEIGHTS, v_memory}, {DNNL_ARG_DST, o_memory}});
         onednn_stream().wait();
       },
       &dnnl_o});
#endif

  auto fused = std::make_shared<Program>();
  graph::SDPA_attributes attributes;
  attributes.set_attn_scale(scale).set_causal_mask(true).set_generate_stats(false);
  TensorPtr o = fused->graph().sdpa(fused->input(dim, row_major(dim), q),
                                    fused->input(dim, row_major(dim), k),
                                    fused->input(dim, row_major(dim), v), attributes)[0];
  o->set_dim(dim).set_stride(row_major(dim));
  fused->output(o, fused_o);
  fused->build();
  result.add("warploom: " + fused->plan(), {fused}, fused_o);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_cases(argc, argv,
                          "The tour's fused graphs against oneDNN and against single operations",
                          {{"photograph", [] { return convolution("a photograph", 1, 3, 240, 8); }},
                           {"convolution", [] { return convolution("a batch", 16, 64, 56, 128); }},
                           {"matmul", [] { return matmul_chain(16, 512, 512, 1024); }},
                           {"attention", [] { return attention(4, 16, 1024, 64); }}});
}
