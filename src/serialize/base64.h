#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warploom::serialize {

std::string to_base64(std::span<const std::byte> bytes);
/// Nothing for what is not exactly the base64 of some bytes.
std::optional<std::vector<std::byte>> from_base64(std::string_view text);

}  // namespace warploom::serialize
