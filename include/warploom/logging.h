#pragma once
/// The log: lines that say what was validated, listed, built and refused.
#include <string_view>

#include <warploom/export.h>

namespace warploom {

/// Whether lines are written; may be set, while no other thread uses the library. At first: whether
/// WARPLOOM_LOG_INFO is above 0 and WARPLOOM_LOG_FILE ("stdout", "stderr" or a path) says where to.
/// Where it says nothing, nothing is written. CUDNN_FRONTEND_LOG_INFO and CUDNN_FRONTEND_LOG_FILE
/// count where the others are unset.
WARPLOOM_EXPORT bool& isLoggingEnabled();

/// Writes a line of the user's own, if lines are written.
WARPLOOM_EXPORT void log_message(std::string_view message);

}  // namespace warploom
