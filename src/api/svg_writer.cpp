#include "api/svg_writer.h"

#include <algorithm>

#include <fmt/format.h>

namespace warploom {

namespace {

/// Bytes of the UTF-8 character at the beginning; 0 when there is none.
size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : (lead & 0xF0) == 0xE0       ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t index = 1; index < length; ++index)
    if ((static_cast<unsigned char>(text[index]) & 0xC0) != 0x80) return 0;
  return length;
}

// Plain classes instead of CSS variables, which not every viewer knows. The prefix keeps them apart
// from the rest of a page that the drawing is put into.
constexpr std::string_view kStyle = R"(<style>
.wl-graph{font:12px system-ui,'Segoe UI','DejaVu Sans',sans-serif}
.wl-page{fill:#fff}
.wl-op{fill:#fff;stroke:#4a5568}
.wl-view{fill:#f7f7f7;stroke:#8a94a6;stroke-dasharray:4 3}
.wl-in{fill:#e3f0fb;stroke:#2b7bbb}
.wl-out{fill:#e2f5e6;stroke:#2f8f4e}
.wl-work{fill:#f4f1e8;stroke:#a68a3a;stroke-dasharray:4 3}
.wl-name{fill:#1a202c;font-weight:600}
.wl-small{fill:#4a5568;font-size:11px}
.wl-edge{fill:none;stroke:#6b7688;stroke-width:1.3}
.wl-head{fill:#6b7688}
.wl-engine{font-weight:600}
.wl-g0{fill:#3b82f6;stroke:#3b82f6}.wl-g1{fill:#f59e0b;stroke:#f59e0b}
.wl-g2{fill:#10b981;stroke:#10b981}.wl-g3{fill:#a855f7;stroke:#a855f7}
.wl-g4{fill:#ef4444;stroke:#ef4444}.wl-g5{fill:#06b6d4;stroke:#06b6d4}
rect.wl-group{fill-opacity:.09;stroke-opacity:.8;stroke-width:1.4}
text.wl-engine{stroke:none}
@media (prefers-color-scheme:dark){
.wl-page{fill:#14181f}
.wl-op{fill:#222937;stroke:#94a3b8}
.wl-view{fill:#1b212c;stroke:#7b8798}
.wl-in{fill:#16324a;stroke:#5aa9e6}
.wl-out{fill:#173a25;stroke:#5cc27d}
.wl-work{fill:#332d1c;stroke:#cdb15f}
.wl-name{fill:#f1f5f9}
.wl-small{fill:#b6c2d2}
.wl-edge{stroke:#94a3b8}
.wl-head{fill:#94a3b8}
rect.wl-group{fill-opacity:.14}
}
</style>
<defs><marker id="wl-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"
 orient="auto"><path class="wl-head" d="M0 0.8 8 4 0 7.2z"/></marker></defs>
)";

}  // namespace

std::string xml_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t length = character_length(text);
    const char first = text[0];
    if (length == 0 || static_cast<unsigned char>(first) < 0x20)
      result += '?';
    else if (first == '<')
      result += "&lt;";
    else if (first == '>')
      result += "&gt;";
    else if (first == '&')
      result += "&amp;";
    else if (first == '"')
      result += "&quot;";
    else
      result += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

std::string shortened(const std::string& text, size_t length) {
  size_t end = 0, count = 0;
  while (end < text.size() && count < length) {
    end += std::max<size_t>(character_length(std::string_view(text).substr(end)), 1);
    ++count;
  }
  return end < text.size() ? text.substr(0, end) + "..." : text;
}

void SvgWriter::rectangle(std::string_view css_class, double x, double y, double width,
                          double height, double radius) {
  body_ += fmt::format(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "rx=\"{:.1f}\"/>\n",
      css_class, x, y, width, height, radius);
}

void SvgWriter::text(std::string_view css_class, double x, double y, std::string_view text,
                     bool is_middle) {
  body_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", css_class, x,
                       y, is_middle ? " text-anchor=\"middle\"" : "", xml_text(text));
}

void SvgWriter::arrow(std::string_view css_class, const std::vector<Point>& points) {
  std::string path = fmt::format("M{:.1f} {:.1f}", points[0].x, points[0].y);
  for (size_t index = 1; index < points.size(); ++index) {
    const Point &from = points[index - 1], &to = points[index];
    const double pull = (to.y - from.y) * 0.45;
    path += fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", from.x, from.y + pull, to.x,
                        to.y - pull, to.x, to.y);
  }
  body_ +=
      fmt::format("<path class=\"{}\" d=\"{}\" marker-end=\"url(#wl-arrow)\"/>\n", css_class, path);
}

void SvgWriter::open_tooltip(std::string_view tooltip) {
  body_ += fmt::format("<g><title>{}</title>\n", xml_text(tooltip));
}

std::string SvgWriter::document(double width, double height, std::string_view title) const {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"wl-graph\" role=\"img\" "
             "width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n"
             "<title>{2}</title>\n",
             width, height, xml_text(title)) +
         std::string(kStyle) +
         fmt::format("<rect class=\"wl-page\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", width,
                     height) +
         body_ + "</svg>\n";
}

}  // namespace warploom
