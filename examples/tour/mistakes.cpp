/// Section 7: what happens on mistakes. Errors are values: a code for the program, a message for
/// its author; nothing throws, nothing crashes, nothing runs half.
#include <fmt/format.h>

#include "tour/running.h"
#include "tour/tour.h"

namespace tour {
namespace {

using warploom::error_code_t;
using warploom::error_t;
using warploom::PointwiseMode_t;
using namespace warploom::graph;

TensorPtr matrix(Graph& graph, const char* name, std::int64_t rows, std::int64_t columns) {
  return graph.tensor(Tensor_attributes()
                          .set_name(name)
                          .set_dim({1, rows, columns})
                          .set_stride({rows * columns, columns, 1}));
}

TensorPtr image(Graph& graph, const char* name, std::int64_t n, std::int64_t c, std::int64_t size) {
  return graph.tensor(Tensor_attributes()
                          .set_name(name)
                          .set_dim({n, c, size, size})
                          .set_stride({c * size * size, 1, c * size, c}));
}

/// The inner dimensions of a matmul differ.
error_t multiply_what_does_not_fit() {
  Graph graph = float_graph("a mistake");
  auto a = matrix(graph, "activations", 512, 1024);
  auto b = matrix(graph, "weights", 1000, 512);
  graph.matmul(a, b, Matmul_attributes().set_name("projection"))->set_output(true);
  return graph.validate();
}

/// The dims that the user gives for a result are not those that follow from its inputs.
error_t expect_another_shape() {
  Graph graph = float_graph("a mistake");
  auto x = image(graph, "photograph", 1, 3, 240);
  auto w = image(graph, "filters", 8, 3, 3);
  auto y = graph.conv_fprop(
      x, w,
      Conv_fprop_attributes().set_name("edges").set_padding({0, 0}).set_stride({1, 1}).set_dilation(
          {1, 1}));
  y->set_name("features")
      .set_output(true)
      .set_dim({1, 8, 240, 240})
      .set_stride({8 * 240 * 240, 1, 8 * 240, 8});
  return graph.validate();
}

/// Two tensors claim one uid, so that a variant pack could not tell them apart.
error_t use_a_uid_twice(warploom::Handle& handle) {
  Graph graph = float_graph("a mistake");
  auto a = matrix(graph, "left", 16, 16);
  auto b = matrix(graph, "right", 16, 16);
  a->set_uid(7);
  b->set_uid(7);
  graph.pointwise(a, b, Pointwise_attributes().set_name("sum").set_mode(PointwiseMode_t::ADD))
      ->set_output(true);
  CHECK_WARPLOOM_ERROR(graph.validate());
  return graph.build_operation_graph(&handle);
}

}  // namespace

error_t make_mistakes(Tour& tour) {
  tour.begin(7, "Three mistakes");
  tour.say(
      "Every call returns an error_t: a code that a program can branch on, and a message that says "
      "which operation, tensor, dimension and value, and what would be right.");
  const auto show = [&](const std::string& what, const error_t& error,
                        const std::vector<std::string>& must_name) {
    bool was_caught = error.is_bad();
    for (const std::string& word : must_name) {
      was_caught = was_caught && error.err_msg.find(word) != std::string::npos;
    }
    tour.mistake({what, std::string(warploom::to_string(error.code)), error.err_msg, was_caught});
  };
  show("a matmul of [512, 1024] by [1000, 512]", multiply_what_does_not_fit(),
       {"projection", "1024", "1000"});
  show("a 3x3 convolution without padding that is to keep the image's size", expect_another_shape(),
       {"features", "240", "238"});
  show("two tensors with one uid", use_a_uid_twice(tour.handle()), {"left", "right", "7"});
  return {};
}

}  // namespace tour
