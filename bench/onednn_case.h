#pragma once
// Programs that race with oneDNN, and the command line that runs them.

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unordered_map>

#include <warploom/warploom.h>
#include <CLI/CLI.hpp>

#include "graph_program.h"
#include "record.h"
#ifdef WARPLOOM_HAVE_DNNL
#include <unistd.h>
#include <dnnl.hpp>
#endif

namespace bench {

inline std::vector<int64_t> row_major(const std::vector<int64_t>& dim) {
  std::vector<int64_t> stride(dim.size());
  int64_t product = 1;
  for (size_t i = dim.size(); i-- > 0; product *= dim[i]) stride[i] = product;
  return stride;
}

inline std::vector<int64_t> channels_last(const std::vector<int64_t>& d) {
  return {d[1] * d[2] * d[3], 1, d[3] * d[1], d[1]};
}

inline size_t volume(const std::vector<int64_t>& dim) {
  size_t product = 1;
  for (int64_t d : dim) product *= static_cast<size_t>(d);
  return product;
}

inline warploom::graph::Pointwise_attributes mode(warploom::PointwiseMode_t mode) {
  warploom::graph::Pointwise_attributes attributes;
  attributes.set_mode(mode);
  return attributes;
}

struct Case {
  std::string title;
  double flops = 0;
  std::vector<Runner> runners;
  /// Everything that the runners use.
  std::vector<std::shared_ptr<void>> owned;

  Buffer& buffer(size_t size, unsigned seed = 0, float range = 0) {
    auto buffer = std::make_shared<Buffer>(size);
    if (seed != 0) buffer->fill(seed, range);
    owned.push_back(buffer);
    return *buffer;
  }
  void add(const std::string& name, std::vector<std::shared_ptr<Program>> programs,
           const Buffer& result) {
    runners.push_back({name,
                       [programs] {
                         for (const auto& program : programs) program->run();
                       },
                       &result});
  }
};

#ifdef WARPLOOM_HAVE_DNNL
using Tag = dnnl::memory::format_tag;
constexpr auto kFloat = dnnl::memory::data_type::f32;

inline dnnl::engine& onednn_engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}
inline dnnl::stream& onednn_stream() {
  static dnnl::stream stream(onednn_engine());
  return stream;
}
inline dnnl::memory memory(const dnnl::memory::desc& desc, Buffer& buffer) {
  return {desc, onednn_engine(), buffer.data()};
}
#endif

/// A program's cases by name.
using Cases = std::vector<std::pair<std::string, std::function<Case()>>>;

/// Runs those that the command line asks for: what main() returns.
inline int run_cases(int argc, char** argv, const std::string& about, const Cases& cases) {
  std::string peer = "oneDNN";
#ifdef WARPLOOM_HAVE_DNNL
  if (!std::getenv("OMP_WAIT_POLICY")) {
    setenv("OMP_WAIT_POLICY", "passive", 0);
    execv("/proc/self/exe", argv);
  }
  const dnnl::version_t* version = dnnl::version();
  peer += " " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
          std::to_string(version->patch);
#else
  std::printf("built without oneDNN: fused against single operations only\n");
  peer += " absent";
#endif
  double seconds = 2;
  std::string wanted, json;
  CLI::App app{about};
  app.add_option("seconds", seconds, "for each case")->check(CLI::PositiveNumber);
  app.add_option("cases", wanted, "those whose names contain this")->capture_default_str();
  app.add_option("--json", json, "write what was measured, and on what, to this file");
  CLI11_PARSE(app, argc, argv);

  nlohmann::ordered_json report = facts(handle()->device(), peer);
  for (const char* name : {"OMP_NUM_THREADS", "OMP_WAIT_POLICY"})
    if (const char* value = std::getenv(name)) report["environment"][name] = value;
  bool agree = true;
  try {
    for (const auto& [name, make] : cases) {
      if (name.find(wanted) == std::string::npos) continue;
      const Case work = make();
      const Race race = bench::race(work.title, work.flops, work.runners, seconds);
      agree &= race.agree;
      report["cases"].push_back(record(race, "oneDNN"));
    }
  } catch (const std::exception& problem) {
    std::printf("%s\n", problem.what());
    return 1;
  }
  if (!json.empty() && !(std::ofstream(json) << report.dump(2) << "\n")) {
    std::printf("%s: cannot be written\n", json.c_str());
    return 1;
  }
  return agree ? 0 : 1;
}

}  // namespace bench
