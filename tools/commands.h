#pragma once
/// The subcommands: what each is given, and how it ends.
#include <cstdint>
#include <string>
#include <vector>

#include <warploom/error.h>

#include "tools/workload.h"

namespace warploom::tools {

enum ExitStatus { kOk = 0, kCheckFailed = 1, kWrongUse = 2 };

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

int list_devices();

}  // namespace warploom::tools
