#pragma once
/// The subcommands. Each adds itself to the program; when it was chosen, `exit_status` says how it
/// ended.
#include <CLI/App.hpp>
#include <string>
#include <string_view>

#include <warploom/error.h>

#include "tools/workload.h"

namespace warploom::tools {

enum ExitStatus { kOk = 0, kCheckFailed = 1, kWrongUse = 2 };

void add_run_command(CLI::App& program, int& exit_status);
void add_check_command(CLI::App& program, int& exit_status);
void add_bench_command(CLI::App& program, int& exit_status);
void add_explain_command(CLI::App& program, int& exit_status);
void add_devices_command(CLI::App& program, int& exit_status);

/// Prints "warploom: error: ..." and returns kWrongUse; nothing and kOk for a good one.
int report(const error_t& error);

/// The options that subcommands share.
void add_graph_argument(CLI::App& command, WorkloadOptions& options);
void add_input_option(CLI::App& command, WorkloadOptions& options);
void add_plan_option(CLI::App& command, std::string& plan);

}  // namespace warploom::tools
