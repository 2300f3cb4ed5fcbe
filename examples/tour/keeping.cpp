/// Section 5: a plan in a file. A later process loads it and goes on as if it had built it.
#include <fmt/format.h>

#include <cstring>

#include "tour/console.h"
#include "tour/independent.h"
#include "tour/layer.h"
#include "tour/tour.h"

namespace tour {

using warploom::error_t;
using warploom::HeurMode_t;
using warploom::graph::Graph;

error_t keep_a_plan(Tour& tour) {
  tour.begin(5, "A plan that is kept");
  tour.say(
      "Graph::serialize puts a graph, its plan's name and what the plan's kernels need into bytes; "
      "Graph::deserialize brings it back in another process: nothing is chosen or compiled again. "
      "Damage, another version and another device are noticed, and said.");
  warploom::handle_t handle = &tour.handle();
  Layer layer{1, 64, tour.is_quick() ? 14 : 56, 56, 128, {}, {}, {}};
  layer.x = random_numbers(layer.channels * layer.height * layer.width, 1);
  layer.w = random_numbers(128 * 9 * 64, 2);
  layer.bias = random_numbers(128, 3);
  std::vector<float> y(static_cast<std::size_t>(layer.outputs())), again(y.size());

  auto [graph, pack] = describe(layer, y.data());
  CHECK_WARPLOOM_ERROR(graph.build(handle, {HeurMode_t::A}));
  std::vector<std::uint8_t> data;
  CHECK_WARPLOOM_ERROR(graph.serialize(data));
  Graph loaded;
  CHECK_WARPLOOM_ERROR(loaded.deserialize(handle, data));
  std::string built_plan, loaded_plan;
  CHECK_WARPLOOM_ERROR(graph.get_plan_name(built_plan));
  CHECK_WARPLOOM_ERROR(loaded.get_plan_name(loaded_plan));
  tour.fact("container", byte_count(static_cast<std::int64_t>(data.size())));
  tour.fact("plan", built_plan);
  if (loaded_plan != built_plan) tour.fail("the plan came back as " + loaded_plan);

  // What was loaded knows tensors by their uids.
  std::unordered_map<std::int64_t, void*> by_uid;
  for (const auto& [tensor, pointer] : pack)
    by_uid[tensor->get_uid()] = pointer == y.data() ? again.data() : pointer;
  std::vector<std::byte> workspace(static_cast<std::size_t>(loaded.get_workspace_size()));
  CHECK_WARPLOOM_ERROR(graph.execute(handle, pack, workspace.data()));
  CHECK_WARPLOOM_ERROR(loaded.execute(handle, by_uid, workspace.data()));
  const bool are_equal = std::memcmp(y.data(), again.data(), y.size() * sizeof(float)) == 0;
  tour.check({"the bits of both results, 0 where they are equal", are_equal ? 0.0 : 1.0, 0,
              layer.outputs()});
  tour.check(compare("the loaded plan's result", again.data(), compute_in_double(layer).data(),
                     layer.outputs(), 1e-5));

  data[data.size() / 2] ^= 1;
  const error_t damaged = Graph().deserialize(handle, data);
  data[data.size() / 2] ^= 1;
  tour.mistake({"one bit of the container flipped", std::string(warploom::to_string(damaged.code)),
                damaged.err_msg, damaged.is_bad()});

  const auto seconds =
      time_in_turns({[&] { return describe(layer, y.data()).graph.build(handle, {HeurMode_t::A}); },
                     [&] { return Graph().deserialize(handle, data); }},
                    tour.is_quick() ? 0.05 : 0.3);
  CHECK_WARPLOOM_ERROR(seconds.error());
  tour.conclude(fmt::format("described and built in {}, loaded in {}, equal bits",
                            duration(seconds.value()[0]), duration(seconds.value()[1])));
  return {};
}

}  // namespace tour
