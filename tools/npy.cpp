#include "tools/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "tools/file.h"
#include "tools/npy_header.h"

namespace warploom::tools {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are read as they lie");

/// The first row of a data type is the one that is written.
constexpr std::array<std::pair<std::string_view, DataType_t>, 14> kDescrs{{
    {"<f2", DataType_t::HALF},
    {"<f4", DataType_t::FLOAT},
    {"<f8", DataType_t::DOUBLE},
    {"|i1", DataType_t::INT8},
    {"|u1", DataType_t::UINT8},
    {"<i4", DataType_t::INT32},
    {"<i8", DataType_t::INT64},
    {"|b1", DataType_t::BOOLEAN},
    {"<V2", DataType_t::BFLOAT16},
    {"|V2", DataType_t::BFLOAT16},
    {"<u2", DataType_t::BFLOAT16},
    {"bfloat16", DataType_t::BFLOAT16},
    {"<i1", DataType_t::INT8},
    {"<u1", DataType_t::UINT8},
}};

constexpr std::string_view kMagic("\x93NUMPY", 6);
/// NumPy writes headers of a few hundred bytes.
constexpr std::uintmax_t kMostHeaderBytes = 1 << 20;

std::optional<DataType_t> data_type_of(std::string_view descr) {
  for (const auto& [text, type] : kDescrs) {
    if (text == descr) return type;
  }
  return std::nullopt;
}

/// Packed strides, the last dim fastest or the first; 0 where there are no elements.
std::vector<int64_t> packed_strides(const std::vector<int64_t>& dims, bool fortran_order) {
  std::vector<int64_t> strides(dims.size());
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return strides;
  int64_t step = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t axis = fortran_order ? i : dims.size() - 1 - i;
    strides[axis] = step;
    step *= dims[axis];
  }
  return strides;
}

/// Reads a file piece by piece and never past its end.
class NpyReader {
 public:
  NpyReader(std::istream& stream, std::uintmax_t size, const std::string& name)
      : stream_(stream), left_(size), name_(name) {}

  Result<NpyArray> read() {
    Result<NpyHeader> header = read_header();
    if (header.is_bad()) return header.error();
    const NpyHeader& found = header.value();

    const std::optional<DataType_t> type = data_type_of(found.descr);
    if (!type) {
      return failure(
          fmt::format("elements are '{}'; little-endian f2, f4, f8, i1, u1, i4, i8, b1 and "
                      "bfloat16 (V2) are read",
                      found.descr));
    }
    NpyArray array{*type, found.shape, {}, {}};
    // Exact: the product stops at the first factor that passes what the file can hold.
    const bool is_empty = std::find(found.shape.begin(), found.shape.end(), 0) != found.shape.end();
    auto bytes = is_empty ? 0 : static_cast<std::uintmax_t>(detail::get_data_type_size(*type));
    for (int64_t dim : found.shape) {
      const auto factor = static_cast<std::uintmax_t>(dim);
      if (bytes != 0 && factor > left_ / bytes) {
        return failure(
            fmt::format("shape ({}) of '{}' needs more than the {} bytes that follow the header",
                        fmt::join(found.shape, ", "), found.descr, left_));
      }
      bytes *= factor;
    }
    if (bytes != left_) {
      return failure(fmt::format("shape ({}) of '{}' needs {} bytes, and {} follow the header",
                                 fmt::join(found.shape, ", "), found.descr, bytes, left_));
    }
    array.strides = packed_strides(found.shape, found.fortran_order);
    array.data.resize(bytes);
    if (!take(array.data.data(), bytes)) return failure("cannot be read to its end");
    return array;
  }

 private:
  error_t failure(const std::string& what) const {
    return {error_code_t::INVALID_VALUE, fmt::format("{}: {}", name_, what)};
  }

  bool take(void* to, std::uintmax_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return static_cast<bool>(
        stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)));
  }

  Result<NpyHeader> read_header() {
    std::array<char, 8> prefix;
    if (!take(prefix.data(), prefix.size()) ||
        !std::string_view(prefix.data(), 8).starts_with(kMagic)) {
      return failure("not a .npy file: it does not begin with \\x93NUMPY and a version");
    }
    const int major = static_cast<unsigned char>(prefix[6]);
    const int minor = static_cast<unsigned char>(prefix[7]);
    if (major < 1 || major > 3 || minor != 0) {
      return failure(fmt::format(".npy version {}.{}; 1.0, 2.0 and 3.0 are read", major, minor));
    }
    std::uint32_t length = 0;
    if (!take(&length, major == 1 ? 2 : 4)) return failure("ends within its header");
    if (length > left_) {
      return failure(
          fmt::format("ends within its header: {} bytes announced, {} there", length, left_));
    }
    if (length > kMostHeaderBytes) {
      return failure(
          fmt::format("a header of {} bytes; at most {} are read", length, kMostHeaderBytes));
    }
    std::string text(length, '\0');
    if (!take(text.data(), length)) return failure("cannot be read");
    Result<NpyHeader> header = parse_npy_header(text);
    if (header.is_bad()) return failure(header.error().err_msg);
    return header;
  }

  std::istream& stream_;
  std::uintmax_t left_;
  const std::string& name_;
};

}  // namespace

Result<NpyArray> read_npy(const std::filesystem::path& path) {
  Result<std::uintmax_t> size = size_of_file(path);
  if (size.is_bad()) return size.error();
  std::ifstream stream(path, std::ios::binary);
  return read_npy(stream, size.value(), path.string());
}

Result<NpyArray> read_npy(std::istream& stream, std::uintmax_t size, const std::string& name) {
  return NpyReader(stream, size, name).read();
}

error_t write_npy(const std::filesystem::path& path, const NpyArray& array) {
  const std::string header =
      format_npy_header({std::string(npy_descr(array.data_type)), false, array.dims});
  const std::array<std::span<const std::byte>, 2> parts{std::as_bytes(std::span(header)),
                                                        std::span(array.data)};
  return write_file(path, parts);
}

std::string_view npy_descr(DataType_t type) {
  for (const auto& [text, candidate] : kDescrs) {
    if (candidate == type) return text;
  }
  return {};
}

}  // namespace warploom::tools
