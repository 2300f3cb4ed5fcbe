/// Section 1: convolution, bias and ReLU in one kernel.
#include <fmt/format.h>

#include <array>

#include "tour/independent.h"
#include "tour/layer.h"
#include "tour/photograph.h"
#include "tour/tour.h"

namespace tour {
namespace {

using warploom::error_t;
using warploom::Result;

/// A filter that everybody has seen at work. It reads the same from red, green and blue, but for
/// the weights given to each.
struct Filter {
  const char* name;
  std::array<float, 9> window;
  std::array<float, 3> colours;
  float bias;
};

constexpr std::array<float, 3> kGrey{1.0f / 3, 1.0f / 3, 1.0f / 3};
constexpr std::array kFilters{
    Filter{"outlines", {-1, -1, -1, -1, 8, -1, -1, -1, -1}, kGrey, 0},
    Filter{"edges from left to right", {-1, 0, 1, -2, 0, 2, -1, 0, 1}, kGrey, 0},
    Filter{"edges from top to bottom", {-1, -2, -1, 0, 0, 0, 1, 2, 1}, kGrey, 0},
    Filter{"relief", {-2, -1, 0, -1, 0, 1, 0, 1, 2}, kGrey, 0.3f},
    Filter{"sharper", {0, -1, 0, -1, 5, -1, 0, -1, 0}, kGrey, 0},
    Filter{"softer", {0.11f, 0.11f, 0.11f, 0.11f, 0.12f, 0.11f, 0.11f, 0.11f, 0.11f}, kGrey, 0},
    Filter{"redder than green", {0, 0, 0, 0, 1, 0, 0, 0, 0}, {1, -1, 0}, 0},
    Filter{"darkness", {0, 0, 0, 0, -1, 0, 0, 0, 0}, kGrey, 0.6f},
};

Layer filter_layer(const Photograph& photograph) {
  Layer layer{1,  3, photograph.height, photograph.width, kFilters.size(), photograph.pixels,
              {}, {}};
  for (const Filter& filter : kFilters) {
    for (float weight : filter.window) {
      for (float colour : filter.colours) layer.w.push_back(weight * colour);
    }
    layer.bias.push_back(filter.bias);
  }
  return layer;
}

/// Runs the layer both ways, compares both with the computation in double, and times them.
Result<Race> run_both_ways(Tour& tour, const std::string& what, Layer& layer, std::vector<float>& y,
                           bool is_drawn) {
  y.assign(static_cast<std::size_t>(layer.outputs()), 0);
  LayerGraph described = describe(layer, y.data());
  Result<BuiltGraph> built =
      BuiltGraph::build(tour.handle(), std::move(described.graph), std::move(described.pack));
  if (built.is_bad()) return built.error();
  BuiltGraph& fused = built.value();

  std::vector<float> y_unfused(y.size());
  Sequence unfused(tour.handle());
  CHECK_WARPLOOM_ERROR(describe_one_by_one(layer, y_unfused.data(), unfused));

  CHECK_WARPLOOM_ERROR(fused.run());
  CHECK_WARPLOOM_ERROR(unfused.run());
  const std::vector<double> wanted = compute_in_double(layer);
  // 9 x channels products are added in float; what is left of the rounding is far below this.
  constexpr double kTolerance = 1e-5;
  tour.check(compare(what + ", one graph", y.data(), wanted.data(), layer.outputs(), kTolerance));
  tour.check(compare(what + ", one operation at a time", y_unfused.data(), wanted.data(),
                     layer.outputs(), kTolerance));
  if (is_drawn) tour.draw("three operations, one kernel", fused.graph());

  Result<std::vector<double>> seconds = time_in_turns(
      {[&] { return fused.run(); }, [&] { return unfused.run(); }}, tour.is_quick() ? 0.2 : 1.0);
  if (seconds.is_bad()) return seconds.error();
  return Race{
      what,           seconds.value()[0],           seconds.value()[1],      layer.operations(),
      unfused.size(), unfused.intermediate_bytes(), fused.workspace_bytes(), fused.plan_name()};
}

}  // namespace

error_t convolve(Tour& tour) {
  tour.begin(1, "Convolution, bias and ReLU in one kernel");
  tour.say(
      "Three operations, described as one graph. Eight filters look at a photograph; each adds its "
      "bias and keeps what is positive. Only the last result was declared an output, so nothing in "
      "between is ever written to memory.");
  Result<Photograph> read = read_ppm(std::string(WARPLOOM_EXAMPLE_DATA) + "/astronaut.ppm");
  if (read.is_bad()) return read.error();
  const Photograph& photograph = read.value();

  Layer layer = filter_layer(photograph);
  std::vector<float> y;
  Result<Race> race = run_both_ways(tour, "photograph, 8 filters", layer, y, true);
  if (race.is_bad()) return race.error();
  tour.picture({"the photograph (NASA)", to_data_uri(photograph), {}});
  for (std::size_t i = 0; i < kFilters.size(); ++i) {
    const Photograph seen =
        extract_channel(y, photograph, kFilters.size(), static_cast<std::int64_t>(i));
    Picture picture{kFilters[i].name, to_data_uri(seen), {}};
    // The one that a terminal shows best.
    if (picture.caption == "softer") picture.characters = to_characters(seen, 0, 64);
    tour.picture(std::move(picture));
  }
  tour.race(race.value());

  const std::int64_t images = tour.is_quick() ? 2 : 16;
  tour.say(
      fmt::format("The same graph as a network's layer has it: {} images of 64 channels, "
                  "56 x 56, by 128 filters.",
                  images));
  Layer batch{images, 64, 56, 56, 128, {}, {}, {}};
  batch.x = random_numbers(images * 64 * 56 * 56, 1);
  batch.w = random_numbers(128 * 9 * 64, 2);
  batch.bias = random_numbers(128, 3);
  race =
      run_both_ways(tour, fmt::format("N={}, 64 to 128 channels, 56x56", images), batch, y, false);
  if (race.is_bad()) return race.error();
  tour.race(race.value());
  return {};
}

}  // namespace tour
