#include <fmt/format.h>

#include <warploom/version.h>

#include "tools/commands.h"

namespace warploom::tools {
int list_devices() {
  fmt::print("warploom {}\n", version());
  for (const std::string device : {"cpu", "cuda"}) {
    Result<std::unique_ptr<Handle>> handle = create_handle(device);
    if (handle.is_bad()) {
      fmt::print("{:<5} {}\n", device, handle.error().err_msg);
      continue;
    }
    const Device& found = handle.value()->device();
    fmt::print("{:<5} {}: {}, {} {}\n", device, found.name, found.architecture, found.parallelism,
               found.type == DeviceType::CPU ? "threads" : "multiprocessors");
  }
  return kOk;
}

}  // namespace warploom::tools
