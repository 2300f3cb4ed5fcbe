/// Section 6: one build, many shapes. Kernels are made for a form, not for sizes; a plan meets
/// other sizes in the call, and a new graph of the same form finds its kernels in a cache.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "tour/console.h"
#include "tour/independent.h"
#include "tour/layer.h"
#include "tour/running.h"
#include "tour/tour.h"

namespace tour {
namespace {

using warploom::error_t;
using warploom::HeurMode_t;
using namespace warploom::graph;

Layer random_layer(std::int64_t images, std::int64_t height, std::int64_t width) {
  Layer layer{images, 13, height, width, 24, {}, {}, {}};
  layer.x = random_numbers(images * layer.channels * height * width, 21);
  layer.w = random_numbers(layer.filters * layer.channels * 9, 22);
  layer.bias = random_numbers(layer.filters, 23);
  return layer;
}

/// The two tensors whose dims follow the images' size.
struct Overrides {
  std::vector<std::int64_t> uids;
  std::vector<std::vector<std::int64_t>> dims, strides;
};

Overrides overrides_for(const Layer& layer, const Pack& pack) {
  Overrides overrides;
  for (const auto& [tensor, memory] : pack) {
    if (tensor->get_name() != "X" && tensor->get_name() != "Y") continue;
    const std::int64_t c = tensor->get_dim()[1];
    overrides.uids.push_back(tensor->get_uid());
    overrides.dims.push_back({layer.images, c, layer.height, layer.width});
    overrides.strides.push_back({layer.height * layer.width * c, 1, layer.width * c, c});
  }
  return overrides;
}

std::unordered_map<std::int64_t, void*> by_uid(const Pack& pack, Layer& layer, float* y) {
  std::unordered_map<std::int64_t, void*> result;
  for (const auto& [tensor, memory] : pack) result[tensor->get_uid()] = memory;
  for (const auto& [tensor, memory] : pack) {
    if (tensor->get_name() == "X") result[tensor->get_uid()] = layer.x.data();
    if (tensor->get_name() == "Y") result[tensor->get_uid()] = y;
  }
  return result;
}

double seconds_of(const Action& action, error_t& error) {
  std::vector<double> times;
  for (int i = 0; i < 31 && error.is_good(); ++i) {
    const auto start = std::chrono::steady_clock::now();
    error = action();
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// The built graph, executed with other shapes than it was described with.
error_t override_shapes(Tour& tour, const LayerGraph& built, Layer& layer, std::string& time) {
  const auto [uids, dims, strides] = overrides_for(layer, built.pack);
  std::vector<float> y(static_cast<std::size_t>(layer.outputs()));
  auto pack = by_uid(built.pack, layer, y.data());
  std::int64_t bytes = 0;
  error_t error;
  // The workspace's size is known once the plan is bound, which is all that this measures.
  const double bind =
      seconds_of([&] { return built.graph.get_workspace_size(bytes, uids, dims, strides); }, error);
  CHECK_WARPLOOM_ERROR(error);
  std::vector<std::byte> workspace(static_cast<std::size_t>(bytes));
  CHECK_WARPLOOM_ERROR(
      built.graph.execute(&tour.handle(), pack, workspace.data(), bytes, uids, dims, strides));
  const std::vector<double> wanted = compute_in_double(layer);
  tour.check(
      compare(fmt::format("{} x {} x {}, overridden", layer.images, layer.height, layer.width),
              y.data(), wanted.data(), layer.outputs(), 1e-5));
  time = duration(bind);
  return {};
}

/// A graph object of its own, described to built, with the kernels of an earlier one.
error_t describe_anew(Tour& tour, const std::shared_ptr<warploom::KernelCache>& cache, Layer& layer,
                      std::string& time) {
  std::vector<float> y(static_cast<std::size_t>(layer.outputs()));
  LayerGraph described;
  error_t error;
  const double build = seconds_of(
      [&] {
        described = describe(layer, y.data());
        described.graph.set_dynamic_shape_enabled(true).set_kernel_cache(cache);
        return described.graph.build(&tour.handle(), {HeurMode_t::A});
      },
      error);
  CHECK_WARPLOOM_ERROR(error);
  std::vector<std::byte> workspace(static_cast<std::size_t>(described.graph.get_workspace_size()));
  CHECK_WARPLOOM_ERROR(described.graph.execute(&tour.handle(), described.pack, workspace.data()));
  const std::vector<double> wanted = compute_in_double(layer);
  tour.check(
      compare(fmt::format("{} x {} x {}, new graph", layer.images, layer.height, layer.width),
              y.data(), wanted.data(), layer.outputs(), 1e-5));
  time = duration(build);
  return {};
}

}  // namespace

error_t change_shapes(Tour& tour) {
  tour.begin(6, "One build, many shapes");
  tour.say(
      "The layer of section 1, built once for one image of 32 x 32, then run on images of other "
      "sizes. set_override_shape_enabled: the sizes come with the call, and the plan is bound to "
      "them on the way. set_dynamic_shape_enabled and a kernel cache: a new graph for each size, "
      "from description to built plan. No kernel is built after the first.");
  Layer first = random_layer(1, 32, 32);
  std::vector<float> y(static_cast<std::size_t>(first.outputs()));
  LayerGraph built = describe(first, y.data());
  built.graph.set_override_shape_enabled(true);
  const auto start = std::chrono::steady_clock::now();
  CHECK_WARPLOOM_ERROR(built.graph.build(&tour.handle(), {HeurMode_t::A}));
  tour.fact(
      "first build",
      duration(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()));
  const auto cache = std::make_shared<warploom::KernelCache>();
  std::string slowest;
  for (const auto& [images, height, width] :
       {std::array<std::int64_t, 3>{1, 32, 32}, {4, 17, 23}, {1, 1, 61}, {2, 48, 5}, {3, 33, 31}}) {
    Layer layer = random_layer(images, height, width);
    std::string bound, anew;
    CHECK_WARPLOOM_ERROR(override_shapes(tour, built, layer, bound));
    CHECK_WARPLOOM_ERROR(describe_anew(tour, cache, layer, anew));
    tour.fact(fmt::format("{} x {} x {}", images, height, width),
              fmt::format("bound in {}; a new graph in {}", bound, anew));
    slowest = fmt::format("bound in {}, a new graph in {}", bound, anew);
  }
  tour.conclude("Five shapes, one build; the last was " + slowest + ".");
  return {};
}

}  // namespace tour
