#include "engines/cpu/kernels/levels.h"
#include "engines/cpu/kernels/tile_interpreter.h"

namespace warploom::cpu::WARPLOOM_ISA {

void run_double_tile(const TileProgramView& program, const TileArguments& arguments) {
  interpret<double>(program, arguments);
}

}  // namespace warploom::cpu::WARPLOOM_ISA
