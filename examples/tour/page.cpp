#include "tour/page.h"

#include <fmt/format.h>

#include <algorithm>

namespace tour {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char symbol : text) {
    switch (symbol) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += symbol;
    }
  }
  return result;
}

std::string plan_name(std::string_view name) {
  std::string result = "<code>";
  for (const char symbol : escaped(name)) {
    result += symbol;
    if (symbol == '|' || symbol == ',') result += "<wbr>";
  }
  return result + "</code>";
}

std::string bar_chart(const std::vector<Bar>& bars, std::string_view title) {
  constexpr int kWidth = 760, kRow = 40, kValueWidth = 250;
  double most = 0;
  for (const Bar& bar : bars) most = std::max(most, bar.value);
  std::string svg =
      fmt::format("<svg class=\"bars\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                  kWidth, kRow * bars.size(), escaped(title));
  int y = 0;
  for (const Bar& bar : bars) {
    const double length = most > 0 ? std::max(2.0, bar.value / most * (kWidth - kValueWidth)) : 2;
    svg += fmt::format(
        "<g><title>{0}: {1}</title><text class=\"label\" x=\"0\" y=\"{2}\">{0}</text>"
        "<rect class=\"{3}\" x=\"0\" y=\"{4}\" width=\"{5:.1f}\" height=\"14\" rx=\"3\"/>"
        "<text class=\"value\" x=\"{6:.1f}\" y=\"{7}\">{1}</text></g>\n",
        escaped(bar.label), escaped(bar.value_text), y + 13, bar.css_class, y + 19, length,
        length + 8, y + 31);
    y += kRow;
  }
  return svg + "</svg>\n";
}

std::string bar_cell(double share, std::string_view css_class) {
  return fmt::format(
      "<td class=\"bar-cell\"><svg class=\"bars\" viewBox=\"0 0 200 14\" "
      "preserveAspectRatio=\"none\"><rect class=\"{}\" width=\"{:.1f}\" height=\"14\" "
      "rx=\"3\"/></svg></td>",
      css_class, std::max(1.0, 200 * share));
}

const std::string_view kStyle = R"css(
:root {
  color-scheme: light dark;
  --paper: #faf8f4; --card: #ffffff; --ink: #20242a; --muted: #6a6f78; --line: #e4e0d7;
  --warp: #1d6f84; --weft: #c98a3a; --soft: #a9c6ce; --good: #2b7a46; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --card: #1c2026; --ink: #e8e5de; --muted: #98a0ab; --line: #2e343c;
    --warp: #5fb7cc; --weft: #e0a95e; --soft: #3d5d67; --good: #6cc58a; --bad: #ff8a80;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
main { max-width: 860px; margin: 0 auto; padding: 3rem 1.5rem 5rem; }
h1 { font-size: 2.2rem; line-height: 1.15; margin: 0 0 .4rem; letter-spacing: -.02em; }
h2 { font-size: 1.35rem; margin: 0 0 .8rem; letter-spacing: -.01em; }
h2 .number { color: var(--warp); margin-right: .55rem; font-variant-numeric: tabular-nums; }
h3 { font-size: .95rem; margin: 1.6rem 0 .5rem; }
p { margin: .6rem 0; max-width: 68ch; }
.lead, figcaption, .note { color: var(--muted); }
.note, figcaption { font-size: .86rem; }
code, .bars .label, .message {
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
code { font-size: .86em; overflow-wrap: break-word; }
section {
  background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 1.5rem 1.6rem; margin-top: 1.4rem;
}
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(145px, 1fr)); gap: .8rem;
  margin-top: 1.6rem; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: .9rem 1.1rem; }
.tile b { display: block; font-size: 1.6rem; white-space: nowrap; line-height: 1.2; color: var(--warp);
  font-variant-numeric: tabular-nums; }
.tile.bad b { color: var(--bad); }
.tile span { color: var(--muted); font-size: .86rem; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(140px, 1fr));
  gap: .8rem; margin: 1.1rem 0; }
figure { margin: 0; }
.pictures img { width: 100%; border-radius: 8px; display: block; }
.drawing { margin-top: 1.2rem; overflow-x: auto; }
.drawing svg { max-width: 100%; height: auto; display: block; margin: 0 auto .3rem; }
.drawing .wl-page { fill: none; }
.bars { width: 100%; height: auto; display: block; margin: .4rem 0 .2rem; }
.bars .label { font-size: 12px; fill: var(--ink); }
.bars .value { font-size: 12.5px; fill: var(--muted); }
.bars .fused { fill: var(--warp); }
.bars .unfused { fill: var(--weft); }
.bars .candidate { fill: var(--soft); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; margin: .6rem 0; }
th { text-align: left; color: var(--muted); font-weight: 500; }
th, td { padding: .38rem .7rem .38rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
tr:last-child td, tr:last-child th { border-bottom: 0; }
.good { color: var(--good); } .bad { color: var(--bad); }
.bar-cell { width: 26%; }
.bar-cell svg { height: 14px; margin: .3rem 0 0; }
.state { white-space: nowrap; width: 1%; }
.number-cell { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.mistake { border-left: 3px solid var(--weft); padding: .1rem 0 .1rem 1rem; margin: 1rem 0; }
.message { font-size: .84rem; white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0 0; }
.conclusion { border-left: 3px solid var(--warp); padding-left: .9rem; margin-top: 1.1rem; }
)css";

}  // namespace tour
