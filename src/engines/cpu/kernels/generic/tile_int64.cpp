#include "engines/cpu/kernels/levels.h"
#include "engines/cpu/kernels/tile_interpreter.h"

// Integer graphs need exactness, not speed: one level is enough.

namespace warploom::cpu::WARPLOOM_ISA {

void run_int64_tile(const TileProgramView& program, const TileArguments& arguments) {
  interpret<int64_t>(program, arguments);
}

}  // namespace warploom::cpu::WARPLOOM_ISA
