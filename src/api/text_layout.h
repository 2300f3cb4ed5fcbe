#pragma once
/// Text for a terminal of 100 columns.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warploom {

inline constexpr size_t kColumns = 100;

/// "812 ns", "1.23 us", "45.6 ms"; "-" for 0.
std::string time_text(double microseconds);
/// "0", "640 B", "1.5 KiB", "23 MiB".
std::string bytes_text(int64_t bytes);

/// Breaks `text` at spaces, where it has any, so that no line is longer than kColumns. The first
/// line begins with `first`, the others with as many spaces as `indent`.
std::string wrapped(const std::string& first, size_t indent, std::string_view text);

/// Rows of cells as lines; each column as wide as its widest cell, but the last, which is wrapped.
/// `is_right`, by column: numbers, aligned right.
std::string table_text(const std::string& indent, const std::vector<std::vector<std::string>>& rows,
                       const std::vector<bool>& is_right);

}  // namespace warploom
