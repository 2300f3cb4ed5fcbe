#pragma once

namespace warploom::tools {

/// The program: parses the command line, runs the subcommand, returns the exit status.
int run_program(int argc, char** argv);

}  // namespace warploom::tools
