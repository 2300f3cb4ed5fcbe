#include "engines/cpu/kernels/levels.h"
#include "engines/cpu/kernels/tile_interpreter.h"

namespace warploom::cpu::WARPLOOM_ISA {

void run_float_tile(const TileProgramView& program, const TileArguments& arguments) {
  interpret<float>(program, arguments);
}

}  // namespace warploom::cpu::WARPLOOM_ISA
