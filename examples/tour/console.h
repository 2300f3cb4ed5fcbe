#pragma once
/// Text on a terminal: colours where there is one, wrapped lines, bars of characters.
#include <cstdint>
#include <string>
#include <string_view>

namespace tour {

enum class Style { kPlain, kTitle, kDim, kGood, kBad, kStrong };

/// `text` in a style, when standard output is a terminal and NO_COLOR is not set.
std::string styled(Style style, std::string_view text);

/// Breaks `text` into lines of at most 92 characters, each begun with three spaces.
std::string wrapped(std::string_view text);

/// A bar whose length is `share` (0 to 1) of `width` characters.
std::string bar(double share, int width);

/// E.g. "1.234 ms", three or four digits in a fitting unit.
std::string duration(double seconds);
/// E.g. "12.8 MB".
std::string byte_count(std::int64_t bytes);
/// E.g. "182 GFLOP/s" or "1.24 TFLOP/s".
std::string rate(double operations, double seconds);

}  // namespace tour
