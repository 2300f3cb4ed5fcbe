#pragma once

#include <string_view>

namespace warploom::base {

/// Whether anything is logged: WARPLOOM_LOG_INFO is a level above 0 and WARPLOOM_LOG_FILE says
/// where to ("stdout", "stderr" or a path). CUDNN_FRONTEND_LOG_INFO and CUDNN_FRONTEND_LOG_FILE
/// count where the others are unset. Read once.
bool is_logging();

/// One line, "[warploom] " before it. Does nothing when nothing is logged; safe for concurrent use.
void log(std::string_view message);

}  // namespace warploom::base
