#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <warploom/error.h>

namespace tour {

/// An image in memory: height x width x channels numbers in [0, 1].
struct Photograph {
  std::int64_t height = 0, width = 0, channels = 0;
  std::vector<float> pixels;
};

/// Reads a binary PPM (P6).
warploom::Result<Photograph> read_ppm(const std::string& path);

/// As a BMP in a data: URI; one channel is shown grey.
std::string to_data_uri(const Photograph& photograph);

/// One channel as lines of characters, denser where there is more.
std::vector<std::string> to_characters(const Photograph& photograph, std::int64_t channel,
                                       std::int64_t columns);

/// One channel of a stack of images, scaled so that its largest value is 1.
Photograph extract_channel(const std::vector<float>& pixels, const Photograph& shape,
                           std::int64_t channels, std::int64_t channel);

}  // namespace tour
