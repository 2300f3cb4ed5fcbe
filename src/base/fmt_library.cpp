// The part of fmt that is not templates, compiled once into the library: linked to libfmt it would
// need that library wherever it goes, and header-only costs seconds in every file.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// What <fmt/format.h> declares and leaves to the library.
template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl<char>(locale_ref) -> char;
template auto dragonbox::to_decimal<float>(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal<double>(double) noexcept -> dragonbox::decimal_fp<double>;

}  // namespace detail
FMT_END_NAMESPACE
