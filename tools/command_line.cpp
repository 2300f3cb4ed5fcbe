#include "tools/command_line.h"

#include <fmt/format.h>
#include <warploom/version.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <map>

#include "tools/commands.h"

namespace warploom::tools {
namespace {

/// What the subcommands are given, and how the one that was chosen ended.
struct Program {
  RunOptions run;
  CheckOptions check;
  BenchOptions bench;
  ExplainOptions explain;
  TuneOptions tune;
  CacheOptions cache;
  int exit_status = kOk;
};

void add_graph_argument(CLI::App& command, WorkloadOptions& options) {
  command.add_option("graph", options.graph, "The graph, as JSON (Graph::to_json())")
      ->required()
      ->type_name("GRAPH.json");
  command.add_option("--device", options.device, "Device to run on; a usable GPU, or else the CPU")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->type_name("cpu|cuda");
}

void add_input_option(CLI::App& command, WorkloadOptions& options) {
  command
      .add_option("-i,--input", options.inputs,
                  "Data of an input: the tensor's name or uid, and a .npy file of the tensor's\n"
                  "dims and data type. Repeat it for every input")
      ->type_name("TENSOR=FILE.npy")
      ->allow_extra_args(false);
}

void add_plan_option(CLI::App& command, std::string& plan) {
  command
      .add_option("-p,--plan", plan,
                  "Only this plan: its name, or its index in the list that `warploom bench` shows")
      ->type_name("NAME|INDEX");
}

void add_seed_option(CLI::App& command, uint64_t& seed) {
  command.add_option("--seed", seed, "Seed of the data of inputs that are not given")
      ->capture_default_str();
}

void add_run(CLI::App& app, Program& program) {
  RunOptions& options = program.run;
  CLI::App& command = *app.add_subcommand("run", "Run a graph on .npy files");
  add_graph_argument(command, options.workload);
  add_input_option(command, options.workload);
  command
      .add_option("-o,--output", options.outputs,
                  "Where to write an output: the tensor's name or uid, and a .npy file")
      ->type_name("TENSOR=FILE.npy")
      ->allow_extra_args(false);
  add_plan_option(command, options.plan);
  command.footer(
      "Example:\n  warploom run graph.json --input X=x.npy --input W=w.npy --output Y=y.npy\n"
      "A BFLOAT16 file has elements of type V2 (ml_dtypes) or u2 (their bits).");
  command.callback([&] { program.exit_status = run(options); });
}

void add_check(CLI::App& app, Program& program) {
  CheckOptions& options = program.check;
  CLI::App& command = *app.add_subcommand(
      "check", "Run every plan of a graph and compare it with the reference engine");
  add_graph_argument(command, options.workload);
  add_input_option(command, options.workload);
  add_seed_option(command, options.seed);
  add_plan_option(command, options.plan);
  command
      .add_option("--tolerance", options.tolerance,
                  "Largest error |got - wanted| / (|wanted| + rms), instead of one by data type")
      ->check(CLI::NonNegativeNumber);
  command.footer("Ends with 1 when a plan does not agree, and prints the command that repeats it.");
  command.callback([&] { program.exit_status = check(options); });
}

void add_bench(CLI::App& app, Program& program) {
  BenchOptions& options = program.bench;
  CLI::App& command = *app.add_subcommand(
      "bench", "Time every plan of a graph (modes A, B and FALLBACK), interleaved, fastest first");
  add_graph_argument(command, options.workload);
  add_input_option(command, options.workload);
  add_plan_option(command, options.plan);
  command.add_option("--seconds", options.seconds, "Time to measure for, all plans together")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_seed_option(command, options.seed);
  command.add_flag("--json", options.is_json, "Print JSON instead of a table");
  command.footer(
      "GFLOP/s counts matmuls, convolutions and attention; a graph without them is\n"
      "shown in GB/s of its inputs and outputs.");
  command.callback([&] { program.exit_status = bench(options); });
}

void add_explain(CLI::App& app, Program& program) {
  ExplainOptions& options = program.explain;
  CLI::App& command = *app.add_subcommand(
      "explain", "Show how a graph is fused, its plans, every refusal, the workspace");
  add_graph_argument(command, options.workload);
  add_plan_option(command, options.plan);
  command.add_option("--svg", options.svg, "Draw the graph and its groups into this file")
      ->type_name("FILE.svg");
  command.callback([&] { program.exit_status = explain(options); });
}

void add_tune(CLI::App& app, Program& program) {
  TuneOptions& options = program.tune;
  CLI::App& command = *app.add_subcommand(
      "tune", "Measure every plan of a graph and keep the times for mode B of later processes");
  add_graph_argument(command, options.workload);
  add_input_option(command, options.workload);
  command
      .add_option_function<int64_t>(
          "--budget",
          [&](const int64_t& budget) { options.budget = std::chrono::milliseconds(budget); },
          "Milliseconds to measure for, all plans together; each is measured at least once")
      ->check(CLI::Range(int64_t{0}, int64_t{86'400'000}).description(""))
      ->type_name("MS")
      ->default_str(std::to_string(options.budget.count()));
  options.workload.modes = {HeurMode_t::A, HeurMode_t::B};
  command
      .add_option("--modes", options.workload.modes,
                  "Whose plans: A (predicted), B (measured before), FALLBACK (the slow ones that\n"
                  "take anything)")
      ->delimiter(',')
      ->transform(
          CLI::CheckedTransformer(
              std::map<std::string, HeurMode_t>{
                  {"A", HeurMode_t::A}, {"B", HeurMode_t::B}, {"FALLBACK", HeurMode_t::FALLBACK}},
              CLI::ignore_case)
              .description(""))
      ->type_name("A,B,FALLBACK")
      ->default_str("A,B");
  add_seed_option(command, options.seed);
  command.footer(
      "Inputs that are not given get random data. The times are kept in the folder that\n"
      "`warploom cache list` shows, and hold for this device and this version of the library;\n"
      "graphs with near extents profit too.");
  command.callback([&] { program.exit_status = tune(options); });
}

void add_cache(CLI::App& app, Program& program) {
  CacheOptions& options = program.cache;
  CLI::App& command = *app.add_subcommand(
      "cache", "List, trim or clear what is kept on disk: measured times and built kernels");
  command.require_subcommand(1);
  command.footer(
      "The environment says where and how much:\n"
      "  WARPLOOM_CACHE        on (default), readonly or off\n"
      "  WARPLOOM_CACHE_DIR    the folder; else $XDG_CACHE_HOME/warploom, else ~/.cache/warploom\n"
      "  WARPLOOM_CACHE_LIMIT  bytes; what was used longest ago goes first\n"
      "Everything in it may be removed at any time; it is measured or built again.");
  const auto add = [&](const char* name, const char* what, bool removes) -> CLI::App& {
    CLI::App& action = *command.add_subcommand(name, what);
    action.add_flag("--kernels", options.kernels, "Only the built kernels");
    action.add_flag("--tuning", options.tuning, "Only the measured times");
    action.callback([&, removes] {
      options.removes = removes;
      program.exit_status = cache(options);
    });
    return action;
  };
  add("list", "Show the folder, how much there is, and when it was last used", false)
      .add_flag("--entries", options.entries, "Each entry too, by the first operation it is for");
  add("trim", "Remove what was used longest ago", true)
      .add_option("--limit", options.limit, "How much to leave")
      ->required()
      ->check(CLI::NonNegativeNumber)
      ->type_name("BYTES");
  add("clear", "Remove everything", true);
}

void add_devices(CLI::App& app, Program& program) {
  CLI::App& command =
      *app.add_subcommand("devices", "List the devices that graphs can run on here");
  command.callback([&] { program.exit_status = list_devices(); });
}

}  // namespace

int run_program(int argc, char** argv) {
  CLI::App app("Runs, checks, times and explains graphs kept as JSON.", "warploom");
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer(
      "`warploom SUBCOMMAND --help` tells the rest.\n"
      "Exit status: 0 done, 1 a check failed, 2 wrong use or bad input.");
  Program program;
  add_run(app, program);
  add_check(app, program);
  add_bench(app, program);
  add_explain(app, program);
  add_tune(app, program);
  add_cache(app, program);
  add_devices(app, program);
  // CLI11 would only say that a subcommand is missing.
  const std::vector<CLI::App*> commands = app.get_subcommands([](CLI::App*) { return true; });
  const bool is_known = argc < 2 || argv[1][0] == '-' ||
                        std::any_of(commands.begin(), commands.end(), [&](CLI::App* command) {
                          return command->check_name(argv[1]);
                        });
  if (!is_known) {
    return report(
        {error_code_t::INVALID_VALUE,
         fmt::format(
             "no subcommand '{}'; there are run, check, bench, explain, tune, cache and devices",
             argv[1])});
  }
  try {
    app.parse(argc, argv);
    return program.exit_status;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    fmt::print(stderr, "warploom: error: {} (see warploom --help)\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "warploom: error: {}\n", error.what());
  }
  return kWrongUse;
}

}  // namespace warploom::tools
