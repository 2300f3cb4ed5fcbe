#pragma once
/// NumPy's .npy files, format versions 1.0 to 3.0.
/// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>
#include <vector>

#include <warploom/error.h>
#include <warploom/types.h>

namespace warploom::tools {

/// The data type of a file is one of these descr strings, little-endian or of one byte:
///   f2 HALF, f4 FLOAT, f8 DOUBLE, i1 INT8, u1 UINT8, i4 INT32, i8 INT64, b1 BOOLEAN,
///   V2 BFLOAT16 (as ml_dtypes' bfloat16 is saved; read it with
///   `np.load(f).view(ml_dtypes.bfloat16)`).
/// Read only: 'bfloat16', and u2, the bits of BFLOAT16, as `.view(np.uint16)` gives them.
struct NpyArray {
  DataType_t data_type = DataType_t::NOT_SET;
  std::vector<int64_t> dims;
  /// In elements: the last dim fastest, or the first in a file of Fortran order.
  std::vector<int64_t> strides;
  std::vector<std::byte> data;
};

/// INVALID_VALUE, with the file's name and what was wrong, for anything that is not such a file.
Result<NpyArray> read_npy(const std::filesystem::path& path);
/// The same for a stream of `size` bytes; `name` is for messages.
Result<NpyArray> read_npy(std::istream& stream, std::uintmax_t size, const std::string& name);

/// The elements in row-major order of `dims`, whatever `strides` says of them.
error_t write_npy(const std::filesystem::path& path, const NpyArray& array);

/// The descr string of a data type, e.g. "<f4"; empty for types that .npy files do not hold.
std::string_view npy_descr(DataType_t type);

}  // namespace warploom::tools
