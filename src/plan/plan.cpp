#include "plan/plan.h"

#include <array>
#include <cassert>
#include <cstdint>

#include <fmt/format.h>

namespace warploom::plan {
namespace {

std::byte* aligned(void* workspace) {
  constexpr auto kMask = static_cast<uintptr_t>(kWorkspaceAlignment - 1);
  const auto address = reinterpret_cast<uintptr_t>(workspace);
  return reinterpret_cast<std::byte*>((address + kMask) & ~kMask);
}

void* pointer_for(const Slot& slot, std::span<void* const> pack, std::byte* workspace) {
  auto* base = static_cast<std::byte*>(nullptr);
  switch (slot.source) {
    case Slot::Source::kScalar:
      return const_cast<std::byte*>(slot.scalar.data());
    case Slot::Source::kPack:
      base = static_cast<std::byte*>(pack[slot.index]);
      break;
    case Slot::Source::kWorkspace:
      base = workspace + slot.offset;
      break;
    case Slot::Source::kPackOrWorkspace:
      base = pack[slot.index] ? static_cast<std::byte*>(pack[slot.index]) : workspace + slot.offset;
      break;
  }
  return base ? base + slot.view_offset : nullptr;
}

}  // namespace

Plan::Plan(std::vector<Step> steps, int64_t layout_bytes)
    : steps_(std::move(steps)), workspace_bytes_(padded_workspace_bytes(layout_bytes)) {}

error_t Plan::check_workspace(const void* workspace) const {
  if (workspace || workspace_bytes_ == 0) return {};
  return {
      error_code_t::INVALID_VALUE,
      fmt::format("The workspace is a null pointer; this plan needs {} bytes", workspace_bytes_)};
}

error_t Plan::execute(void* stream, std::span<void* const> pack, void* workspace) const noexcept {
  CHECK_WARPLOOM_ERROR(check_workspace(workspace));
  for (size_t index = 0; index < steps_.size(); ++index)
    CHECK_WARPLOOM_ERROR(execute_step(index, stream, pack, workspace));
  return {};
}

error_t Plan::execute_step(size_t index, void* stream, std::span<void* const> pack,
                           void* workspace) const noexcept {
  const Step& step = steps_[index];
  assert(step.slots.size() <= kMostSlots);
  if (step.only_result && !pack[*step.only_result]) return {};
  std::byte* const base = workspace ? aligned(workspace) : nullptr;
  std::array<void*, kMostSlots> pointers;
  for (size_t i = 0; i < step.slots.size(); ++i)
    pointers[i] = pointer_for(step.slots[i], pack, base);
  return step.kernel->launch(stream, {pointers.data(), step.slots.size()},
                             base ? base + step.workspace_offset : nullptr);
}

}  // namespace warploom::plan
