#pragma once

#include <string>

#include "plan/plan_cache.h"

namespace warploom::serialize {

// {
//   "format": "warploom-kernel-cache",
//   "version": 1,
//   "graphs": [{"key": 16 hexadecimal digits, "mode": "A", "device": text,
//               "plans": [{"name": full name, "kernels": [base64, one for each step]}]}]
// }
// "kernels" is left out where building them costs nothing.

std::string to_json(const plan::PlanCache& cache);

/// Adds what the text holds; nothing where an error is returned. UNSUPPORTED_GRAPH_FORMAT with the
/// path of what is wrong.
error_t from_json(const std::string& text, plan::PlanCache& cache);

}  // namespace warploom::serialize
