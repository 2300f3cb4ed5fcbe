#include "tools/npy_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>

namespace warploom::tools {
namespace {

/// Reads the few forms of Python literal that a header is made of. The first mistake is kept, and
/// everything after it fails.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  const std::string& mistake() const { return mistake_; }

  bool accept(char symbol) {
    skip_space();
    if (position_ >= text_.size() || text_[position_] != symbol) return false;
    ++position_;
    return true;
  }

  bool expect(char symbol) { return accept(symbol) || fail(fmt::format("'{}' expected", symbol)); }

  bool at_end() {
    skip_space();
    return position_ == text_.size();
  }

  bool fail(std::string what) {
    if (mistake_.empty()) mistake_ = fmt::format("{} at character {}", what, position_);
    return false;
  }

  bool read_string(std::string& value) {
    const char quote = accept('\'') ? '\'' : accept('"') ? '"' : '\0';
    if (quote == '\0') return fail("a quoted string expected");
    const size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) return fail("a string without end");
    value = text_.substr(position_, end - position_);
    position_ = end + 1;
    return true;
  }

  bool read_boolean(bool& value) {
    skip_space();
    for (const bool candidate : {true, false}) {
      const std::string_view word = candidate ? "True" : "False";
      if (text_.substr(position_).starts_with(word)) {
        position_ += word.size();
        value = candidate;
        return true;
      }
    }
    return fail("True or False expected");
  }

  bool read_dims(std::vector<int64_t>& dims) {
    if (!expect('(')) return false;
    while (!accept(')')) {
      skip_space();
      int64_t dim = 0;
      const char* begin = text_.data() + position_;
      const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), dim);
      if (problem == std::errc::result_out_of_range) return fail("a dimension that is too large");
      if (problem != std::errc{}) return fail("a dimension expected");
      if (dim < 0) return fail(fmt::format("a negative dimension, {},", dim));
      position_ += static_cast<size_t>(end - begin);
      dims.push_back(dim);
      if (!accept(',')) return expect(')');
    }
    return true;
  }

 private:
  void skip_space() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) {
      ++position_;
    }
  }

  std::string_view text_;
  size_t position_ = 0;
  std::string mistake_;
};

error_t malformed(const std::string& what) {
  return {error_code_t::INVALID_VALUE, "the header is malformed: " + what};
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view text) {
  LiteralReader reader(text);
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;

  bool goes_on = reader.expect('{');
  while (goes_on && !reader.accept('}')) {
    std::string key;
    goes_on = reader.read_string(key) && reader.expect(':');
    if (!goes_on) break;
    if (key == "descr" && !descr) {
      goes_on = reader.read_string(descr.emplace());
    } else if (key == "fortran_order" && !fortran_order) {
      goes_on = reader.read_boolean(fortran_order.emplace());
    } else if (key == "shape" && !shape) {
      goes_on = reader.read_dims(shape.emplace());
    } else {
      goes_on =
          reader.fail(fmt::format("key '{}' is unknown or given twice, before the value", key));
    }
    if (goes_on && !reader.accept(',')) {
      goes_on = reader.expect('}');
      break;
    }
  }
  if (goes_on && !reader.at_end()) reader.fail("something follows the dictionary");
  if (!reader.mistake().empty()) return malformed(reader.mistake());
  if (!descr) return malformed("key 'descr' is missing");
  if (!fortran_order) return malformed("key 'fortran_order' is missing");
  if (!shape) return malformed("key 'shape' is missing");
  return NpyHeader{std::move(*descr), *fortran_order, std::move(*shape)};
}

std::string format_npy_header(const NpyHeader& header) {
  // Python writes a tuple of one with a comma.
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}", header.descr,
                  header.fortran_order ? "True" : "False", fmt::join(header.shape, ", "),
                  header.shape.size() == 1 ? "," : "");
  // The data begins at a multiple of 64 bytes, so that it can be mapped into memory.
  constexpr size_t kPrefix = 10, kAlignment = 64;
  text.append(kAlignment - 1 - (kPrefix + text.size()) % kAlignment, ' ');
  text += '\n';
  std::string result("\x93NUMPY\x01\x00", 8);
  result += static_cast<char>(text.size() & 0xff);
  result += static_cast<char>(text.size() >> 8);
  return result + text;
}

}  // namespace warploom::tools
