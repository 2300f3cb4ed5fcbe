/// The guided tour: what the library does, in short sections. Each lies in examples/tour/ in a
/// file of its own, uses the public interface alone, and compares every result with a computation
/// in double that shares nothing with the library.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>

#include "tour/tour.h"

namespace {

using warploom::error_t;

error_t write_file(const std::string& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  if (stream) return {};
  return {warploom::error_code_t::INVALID_VALUE, path + " cannot be written"};
}

int complain(const error_t& error) {
  fmt::print(stderr, "tour: error: {}\n", error.err_msg);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  tour::Options options;
  CLI::App program("The guided tour of Warploom.", "tour");
  program.add_option("--device", options.device, "Where graphs run")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  program.add_flag("--quick", options.is_quick, "Smaller problems, fewer rounds");
  program.add_option("--json", options.json, "Write the results as JSON")->type_name("FILE");
  program.add_option("--report", options.report, "Write the results as a page")->type_name("FILE");
  program.footer("Exit status: 0 everything agrees, 1 a check failed, 2 wrong use.");
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;
  }

  warploom::HandleOptions wanted;
  wanted.device = options.device == "cuda" ? warploom::DeviceType::CUDA : warploom::DeviceType::CPU;
  std::unique_ptr<warploom::Handle> handle;
  if (const auto error = warploom::Handle::create(handle, wanted); error.is_bad()) {
    return complain(error);
  }

  const auto start = std::chrono::steady_clock::now();
  tour::Tour tour(*handle, options);
  for (const auto section :
       {tour::show_environment, tour::convolve, tour::try_candidates, tour::multiply_matrices,
        tour::attend, tour::keep_a_plan, tour::change_shapes, tour::make_mistakes}) {
    if (const auto error = section(tour); error.is_bad()) {
      tour.fail(fmt::format("{}: {}", warploom::to_string(error.code), error.err_msg));
    }
  }
  tour.results().seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  tour.print_summary();

  if (!options.json.empty()) {
    if (const auto error = write_file(options.json, to_json(tour.results())); error.is_bad()) {
      return complain(error);
    }
  }
  if (!options.report.empty()) {
    if (const auto error = write_file(options.report, to_html(tour.results())); error.is_bad()) {
      return complain(error);
    }
  }
  return tour.results().passed() ? 0 : 1;
}
