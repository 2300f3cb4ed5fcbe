#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warploom/ops/operation.h>

namespace warploom::fusion {

/// Names and values of an operation's fields, for people and for signatures; "-" where unset.
std::vector<std::pair<std::string_view, std::string>> field_texts(
    const graph::Operation& operation);

}  // namespace warploom::fusion
