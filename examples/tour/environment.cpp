/// Section 0: what there is to run on.
#include <dlfcn.h>
#include <fmt/format.h>

#include <functional>
#include <string>

#include "tour/tour.h"

namespace tour {
namespace {

/// A library that is used where it is installed, and how to ask it for its version.
std::string find_library(const char* file, const std::function<std::string(void*)>& version) {
  void* library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return "not here (and not needed on the CPU)";
  const std::string text = version(library);
  dlclose(library);
  return text.empty() ? "found" : text;
}

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

std::string cuda_version(void* library) {
  auto* ask = symbol<int(int*)>(library, "cuDriverGetVersion");
  int version = 0;
  if (ask == nullptr || ask(&version) != 0) return "";
  return fmt::format("for CUDA {}.{}", version / 1000, version % 1000 / 10);
}

std::string nvrtc_version(void* library) {
  auto* ask = symbol<int(int*, int*)>(library, "nvrtcVersion");
  int major = 0, minor = 0;
  if (ask == nullptr || ask(&major, &minor) != 0) return "";
  return fmt::format("{}.{}", major, minor);
}

std::string cudnn_version(void* library) {
  auto* ask = symbol<std::size_t()>(library, "cudnnGetVersion");
  if (ask == nullptr) return "";
  const std::size_t version = ask();
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

}  // namespace

warploom::error_t show_environment(Tour& tour) {
  tour.begin(0, "The machine");
  const warploom::Device& device = tour.handle().device();
  const bool is_cpu = device.type == warploom::DeviceType::CPU;
  tour.fact("warploom", warploom::version());
  tour.fact("device", device.name);
  tour.fact(is_cpu ? "instruction set" : "architecture", device.architecture);
  tour.fact(is_cpu ? "threads" : "multiprocessors", std::to_string(device.parallelism));
  tour.fact("CUDA driver", find_library("libcuda.so.1", cuda_version));
  tour.fact("NVRTC", find_library("libnvrtc.so", nvrtc_version));
  tour.fact("cuDNN", find_library("libcudnn.so.9", cudnn_version));
  return {};
}

}  // namespace tour
