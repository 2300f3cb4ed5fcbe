#pragma once

#include <string>

#include "plan/explanation.h"

namespace warploom {

std::string explain_text(const plan::Explanation& explanation);

}  // namespace warploom
