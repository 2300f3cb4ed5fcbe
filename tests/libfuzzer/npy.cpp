// .npy files: any bytes are read or refused; the elements that were read fit the shape.
#include <cstdlib>
#include <sstream>
#include <string>

#include "tools/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::istringstream stream(std::string(data, data + size));
  const auto array = warploom::tools::read_npy(stream, size, "input");
  if (array.is_bad()) return 0;
  size_t elements = 1;
  for (int64_t dim : array.value().dims) elements *= static_cast<size_t>(dim);
  const auto element =
      static_cast<size_t>(warploom::detail::get_data_type_size(array.value().data_type));
  if (array.value().data.size() != elements * element ||
      array.value().strides.size() != array.value().dims.size())
    std::abort();
  return 0;
}
