#include "tools/commands.h"

#include <fmt/format.h>

namespace warploom::tools {

std::string printable(const std::string& text) {
  std::string result;
  for (char symbol : text) {
    const auto code = static_cast<unsigned char>(symbol);
    if ((code < 0x20 && symbol != '\n') || code == 0x7f) {
      result += fmt::format("\\x{:02x}", code);
    } else {
      result += symbol;
    }
  }
  return result;
}

int report(const error_t& error) {
  if (error.is_good()) return kOk;
  fmt::print(stderr, "warploom: error: {}\n", printable(error.err_msg));
  return kWrongUse;
}

}  // namespace warploom::tools
