#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "api/layered_layout.h"

namespace warploom {

/// `text` inside XML: markup escaped; control characters and what is no UTF-8 as '?'.
std::string xml_text(std::string_view text);

/// At most `length` characters, the end replaced by "..." where there are more.
std::string shortened(const std::string& text, size_t length);

/// Elements of one drawing, in painting order. Classes are those of the style sheet.
class SvgWriter {
 public:
  void rectangle(std::string_view css_class, double x, double y, double width, double height,
                 double radius);
  /// `middle`: the text is centred on x.
  void text(std::string_view css_class, double x, double y, std::string_view text,
            bool is_middle = false);
  /// A smooth line, downwards through all points, with an arrow head.
  void arrow(std::string_view css_class, const std::vector<Point>& points);
  /// What follows until close() shows `tooltip` under the pointer.
  void open_tooltip(std::string_view tooltip);
  void close() { body_ += "</g>\n"; }

  std::string document(double width, double height, std::string_view title) const;

 private:
  std::string body_;
};

}  // namespace warploom
