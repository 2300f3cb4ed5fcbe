#include "api/text_layout.h"

#include <algorithm>

#include <fmt/format.h>

namespace warploom {

namespace {

/// Three significant digits.
std::string scaled_text(double value, std::string_view unit) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

}  // namespace

std::string time_text(double microseconds) {
  if (microseconds <= 0) return "-";
  if (microseconds < 1) return scaled_text(microseconds * 1e3, "ns");
  if (microseconds < 1e3) return scaled_text(microseconds, "us");
  return microseconds < 1e6 ? scaled_text(microseconds / 1e3, "ms")
                            : scaled_text(microseconds / 1e6, "s");
}

std::string bytes_text(int64_t bytes) {
  if (bytes == 0) return "0";
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  for (std::string_view unit : {"KiB", "MiB", "GiB"}) {
    if (value < 1000) return scaled_text(value, unit);
    value /= 1024;
  }
  return scaled_text(value, "TiB");
}

std::string wrapped(const std::string& first, size_t indent, std::string_view text) {
  std::string result, line = first;
  while (!text.empty()) {
    const size_t room = kColumns > line.size() ? kColumns - line.size() : 1;
    size_t length = text.size();
    if (length > room) {
      const size_t space = text.rfind(' ', room), bar = text.rfind('|', room - 1);
      // A word that fits in no line stays whole: it may be there to be copied. Plan names may break
      // after a step.
      if (space != std::string_view::npos && space > 0)
        length = space;
      else if (bar != std::string_view::npos)
        length = bar + 1;
      else
        length = std::min({text.find(' ', 1), text.find('|', 1), text.size() - 1}) + 1;
      while (length > 0 && text[length - 1] == ' ') --length;
    }
    result += line + std::string(text.substr(0, length)) + '\n';
    text.remove_prefix(length);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    line = std::string(indent, ' ');
  }
  return result.empty() ? line + '\n' : result;
}

std::string table_text(const std::string& indent, const std::vector<std::vector<std::string>>& rows,
                       const std::vector<bool>& is_right) {
  std::vector<size_t> widths(is_right.size());
  for (const auto& row : rows)
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line = indent;
    for (size_t column = 0; column + 1 < row.size(); ++column)
      line += is_right[column] ? fmt::format("{:>{}}  ", row[column], widths[column])
                               : fmt::format("{:<{}}  ", row[column], widths[column]);
    text += wrapped(line, line.size(), row.back());
  }
  return text;
}

}  // namespace warploom
