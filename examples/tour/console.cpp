#include "tour/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace tour {

std::string styled(Style style, std::string_view text) {
  static const bool has_colours = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  constexpr std::array<std::string_view, 6> kCodes{"", "1;36", "2", "32", "1;31", "1"};
  if (!has_colours || style == Style::kPlain) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<std::size_t>(style)], text);
}

std::string wrapped(std::string_view text) {
  constexpr std::size_t kWidth = 92;
  std::string result, line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
      result += "   " + line + '\n';
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result + "   " + line + '\n';
}

std::string bar(double share, int width) {
  // Eighths of a character, from U+2588 (full) to U+258F (one eighth).
  const int eighths = static_cast<int>(std::clamp(share, 0.0, 1.0) * width * 8 + 0.5);
  std::string result;
  for (int i = 0; i < eighths / 8; ++i) result += "\u2588";
  if (eighths % 8 != 0) {
    result += "\xe2\x96";
    result += static_cast<char>(0x90 - eighths % 8);
  }
  for (int i = (eighths + 7) / 8; i < width; ++i) result += ' ';
  return result;
}

std::string duration(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.1f} \u00b5s", seconds * 1e6);
}

std::string byte_count(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", value * 1e-6);
  if (bytes >= 1'000) return fmt::format("{:.1f} kB", value * 1e-3);
  return fmt::format("{} bytes", bytes);
}

std::string rate(double operations, double seconds) {
  const double per_second = operations / seconds;
  if (per_second >= 1e12) return fmt::format("{:.2f} TFLOP/s", per_second * 1e-12);
  return fmt::format("{:.1f} GFLOP/s", per_second * 1e-9);
}

}  // namespace tour
