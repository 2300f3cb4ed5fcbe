#pragma once
/// The settings of an engine, as it declares them.
#include <cstdint>

#include <warploom/types.h>

namespace warploom {

/// A setting that an engine's candidates may differ in. The member order is that of cuDNN Frontend.
struct Knob {
  KnobType_t type = KnobType_t::NOT_SET;
  int64_t maxValue = 0;
  int64_t minValue = 0;
  int64_t stride = 1;
  Knob() = default;
  Knob(KnobType_t knob_type, int64_t max_value, int64_t min_value, int64_t step)
      : type(knob_type), maxValue(max_value), minValue(min_value), stride(step) {}
};

}  // namespace warploom
