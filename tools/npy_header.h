#pragma once
/// The header of a .npy file: a Python dictionary, written as text.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <warploom/error.h>

namespace warploom::tools {

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

/// Parses e.g. "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }". The error says what
/// was expected and where.
Result<NpyHeader> parse_npy_header(std::string_view text);

/// Magic, version, length and dictionary, padded as NumPy pads it.
std::string format_npy_header(const NpyHeader& header);

}  // namespace warploom::tools
