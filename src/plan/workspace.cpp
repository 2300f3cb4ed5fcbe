#include "plan/workspace.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace warploom::plan {
namespace {

struct Placed {
  int64_t offset;
  int64_t end;
  size_t last_step;
};

int64_t aligned(int64_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

/// `live` is sorted by offset and stays so.
int64_t place(std::vector<Placed>& live, int64_t bytes, size_t last_step) {
  int64_t offset = 0;
  auto next = live.begin();
  for (; next != live.end() && next->offset - offset < bytes; ++next)
    offset = std::max(offset, next->end);
  live.insert(next, {offset, offset + bytes, last_step});
  return offset;
}

}  // namespace

WorkspaceLayout lay_out(std::span<const WorkspaceRequest> requests) {
  WorkspaceLayout layout;
  layout.offsets.resize(requests.size(), 0);
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Not a stable sort, which allocates.
  std::ranges::sort(order, {}, [&](size_t i) { return std::pair(requests[i].first_step, i); });

  std::vector<Placed> live;
  for (size_t i : order) {
    const WorkspaceRequest& request = requests[i];
    if (request.bytes == 0) continue;
    std::erase_if(live,
                  [&](const Placed& placed) { return placed.last_step < request.first_step; });
    layout.offsets[i] = place(live, aligned(request.bytes), request.last_step);
    layout.bytes = std::max(layout.bytes, layout.offsets[i] + aligned(request.bytes));
  }
  return layout;
}

}  // namespace warploom::plan
