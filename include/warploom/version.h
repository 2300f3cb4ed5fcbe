#pragma once

#include <warploom/export.h>

#define WARPLOOM_VERSION_MAJOR 0
#define WARPLOOM_VERSION_MINOR 1
#define WARPLOOM_VERSION_PATCH 0

namespace warploom {

/// The version of the library that was loaded, "major.minor.patch".
WARPLOOM_EXPORT const char* version() noexcept;

}  // namespace warploom
