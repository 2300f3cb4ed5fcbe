#include "tools/command_line.h"

int main(int argc, char** argv) {
  return warploom::tools::run_program(argc, argv);
}
