#pragma once
/// The parts of the report's page.
#include <string>
#include <string_view>
#include <vector>

namespace tour {

/// Text as it may stand in HTML and SVG.
std::string escaped(std::string_view text);

/// A plan's name, to be broken into lines between its parts.
std::string plan_name(std::string_view name);

struct Bar {
  std::string label, value_text, css_class;
  double value = 0;
};
/// Horizontal bars in one scale, as inline SVG; a longer bar is a larger value.
std::string bar_chart(const std::vector<Bar>& bars, std::string_view title);

/// One bar that fills `share` (0 to 1) of its cell in a table.
std::string bar_cell(double share, std::string_view css_class);

/// The page's style sheet: light or dark as the reader's system is.
extern const std::string_view kStyle;

}  // namespace tour
