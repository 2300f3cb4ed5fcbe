#include "tools/elements.h"

#include <cmath>
#include <cstring>

namespace warploom::tools {
namespace {

/// Calls visit(T{}) with the C++ type of an element.
template <class Visit>
void with_element_type(DataType_t type, Visit&& visit) {
  switch (type) {
    case DataType_t::FLOAT:
      return visit(float{});
    case DataType_t::DOUBLE:
      return visit(double{});
    case DataType_t::HALF:
      return visit(half{});
    case DataType_t::BFLOAT16:
      return visit(bfloat16{});
    case DataType_t::INT8:
      return visit(int8_t{});
    case DataType_t::UINT8:
      return visit(uint8_t{});
    case DataType_t::INT32:
      return visit(int32_t{});
    case DataType_t::INT64:
      return visit(int64_t{});
    case DataType_t::BOOLEAN:
      return visit(bool{});
    default:
      return;
  }
}

}  // namespace

double load_element(DataType_t type, const std::byte* from) {
  double result = std::nan("");
  with_element_type(type, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bool>) {
      result = *from != std::byte{0};
    } else {
      T value;
      std::memcpy(&value, from, sizeof(T));
      result = static_cast<double>(value);
    }
  });
  return result;
}

void store_element(DataType_t type, std::byte* to, double value) {
  with_element_type(type, [&]<class T>(T) {
    T stored;
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
      stored = T(static_cast<float>(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      stored = value != 0;
    } else if constexpr (std::is_integral_v<T>) {
      stored = static_cast<T>(std::nearbyint(value));
    } else {
      stored = static_cast<T>(value);
    }
    std::memcpy(to, &stored, sizeof(T));
  });
}

bool is_floating_point(DataType_t type) {
  return type == DataType_t::FLOAT || type == DataType_t::DOUBLE || type == DataType_t::HALF ||
         type == DataType_t::BFLOAT16;
}

}  // namespace warploom::tools
