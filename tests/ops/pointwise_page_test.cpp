// docs/ops/pointwise_modes.md shows the table of src/ops/pointwise.def.
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ops/pointwise.h"

namespace warploom::ops {
namespace {

std::string cell(std::string_view text) {
  std::string escaped;
  for (char character : text) {
    if (character == '|') escaped += '\\';
    escaped += character;
  }
  return escaped;
}

std::string table() {
  std::string text =
      "| mode | inputs | value | integers | NaN |\n| --- | --- | --- | --- | --- |\n";
#define WARPLOOM_POINTWISE(mode, ...)                                                        \
  {                                                                                          \
    const PointwiseText row = text_of(PointwiseMode_t::mode);                                \
    text += fmt::format("| {} | {} | {} | {} | {} |\n", #mode, arity(PointwiseMode_t::mode), \
                        cell(row.formula), cell(row.integers), cell(row.not_a_number));      \
  }
#include "ops/pointwise.def"
#undef WARPLOOM_POINTWISE
  return text;
}

TEST(PointwisePage, ShowsTheTable) {
  std::ifstream file(WARPLOOM_SOURCE_DIR "/docs/ops/pointwise_modes.md");
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_NE(page.str().find(table()), std::string::npos)
      << "docs/ops/pointwise_modes.md should have this table:\n"
      << table();
}

}  // namespace
}  // namespace warploom::ops
