#pragma once
/// The subcommands: what each is given, and how it ends.
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <warploom/error.h>

#include "tools/workload.h"

namespace warploom::tools {

enum ExitStatus { kOk = 0, kCheckFailed = 1, kWrongUse = 2 };

/// For terminals: without the control characters that a file may have brought in.
std::string printable(const std::string& text);

/// Prints "warploom: error: ..." and returns kWrongUse; nothing and kOk when all is good.
int report(const error_t& error);

struct RunOptions {
  WorkloadOptions workload;
  std::vector<std::string> outputs;  ///< "TENSOR=FILE"
  std::string plan;                  ///< a name or an index; empty for the best
};
int run(const RunOptions& options);

struct CheckOptions {
  WorkloadOptions workload;
  std::string plan;  ///< empty for all
  uint64_t seed = 1;
  double tolerance = -1;  ///< negative: by data type
};
int check(const CheckOptions& options);

struct BenchOptions {
  WorkloadOptions workload;
  std::string plan;  ///< empty for all
  double seconds = 2;
  uint64_t seed = 1;
  bool is_json = false;
};
int bench(const BenchOptions& options);

struct ExplainOptions {
  WorkloadOptions workload;
  std::string plan;
  std::string svg;  ///< a file to draw into; empty for none
};
int explain(const ExplainOptions& options);

struct TuneOptions {
  WorkloadOptions workload;
  std::chrono::milliseconds budget{2000};
  uint64_t seed = 1;
};
int tune(const TuneOptions& options);

struct CacheOptions {
  bool kernels = false, tuning = false;  ///< neither stands for both
  bool entries = false;                  ///< lists each
  bool removes = false;                  ///< trims to `limit`; else lists
  int64_t limit = 0;
};
int cache(const CacheOptions& options);

int list_devices();

}  // namespace warploom::tools
