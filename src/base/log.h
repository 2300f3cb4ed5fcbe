#pragma once

#include <string_view>

namespace warploom::base {

/// Whether anything is logged; <warploom/logging.h> says when.
bool is_logging();

/// One line, "[warploom] " before it. Does nothing when nothing is logged; safe for concurrent use.
void log(std::string_view message);

}  // namespace warploom::base
