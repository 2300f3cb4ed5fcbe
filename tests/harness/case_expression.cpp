#include "harness/case_expression.h"

#include <cctype>
#include <stdexcept>

namespace warploom::test {
namespace {

class Arithmetic {
 public:
  Arithmetic(const std::string& text, const Json& bindings) : text_(text), bindings_(bindings) {}

  int64_t evaluate() {
    const int64_t value = sum();
    if (position_ != text_.size()) fail();
    return value;
  }

 private:
  [[noreturn]] void fail() const { throw std::runtime_error("cannot evaluate '" + text_ + "'"); }

  char next() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  int64_t sum() {
    int64_t value = product();
    while (next() == '+' || next() == '-') {
      const bool is_sum = text_[position_++] == '+';
      const int64_t term = product();
      value += is_sum ? term : -term;
    }
    return value;
  }

  int64_t product() {
    int64_t value = factor();
    while (next() == '*' || next() == '/') {
      const bool is_product = text_[position_++] == '*';
      const int64_t term = factor();
      if (!is_product && term == 0) fail();
      value = is_product ? value * term : value / term;
    }
    return value;
  }

  int64_t factor() {
    if (next() == '(') {
      ++position_;
      const int64_t value = sum();
      if (next() != ')') fail();
      ++position_;
      return value;
    }
    const bool is_name = next() == '$';
    const size_t begin = position_ += is_name;
    while (position_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[position_])) || text_[position_] == '_'))
      ++position_;
    const std::string word = text_.substr(begin, position_ - begin);
    if (word.empty()) fail();
    if (!is_name) return std::stoll(word);
    if (!bindings_.contains(word) || !bindings_[word].is_number_integer()) fail();
    return bindings_[word].get<int64_t>();
  }

  const std::string& text_;
  const Json& bindings_;
  size_t position_ = 0;
};

bool is_one_name(const std::string& text) {
  return text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_",
                                1) == std::string::npos;
}

}  // namespace

Json substitute(const Json& value, const Json& bindings) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.find('$') == std::string::npos) return value;
    if (text[0] != '$' || !is_one_name(text)) return Arithmetic(text, bindings).evaluate();
    const std::string name = text.substr(1);
    if (!bindings.contains(name)) throw std::runtime_error("nothing is bound to $" + name);
    return substitute(bindings[name], bindings);
  }
  if (!value.is_structured()) return value;
  Json result = value;
  for (auto& part : result) part = substitute(part, bindings);
  return result;
}

std::vector<Json> combinations(const Json& sweep) {
  std::vector<Json> result{Json::object()};
  for (const auto& [name, list] : sweep.items()) {
    std::vector<Json> longer;
    for (const Json& bindings : result) {
      for (const Json& choice : list.is_array() ? list : Json::array({list})) {
        longer.push_back(bindings);
        if (choice.is_object())
          longer.back().update(choice);
        else
          longer.back()[name] = choice;
      }
    }
    result = std::move(longer);
  }
  return result;
}

}  // namespace warploom::test
