#include "tour/photograph.h"

#include <algorithm>
#include <fstream>
#include <string_view>

namespace tour {
namespace {

std::string base64(const std::string& bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += i + j <= bytes.size() ? kDigits[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

void append_number(std::string& bytes, std::uint32_t value, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
}

}  // namespace

warploom::Result<Photograph> read_ppm(const std::string& path) {
  const auto refuse = [&](const char* why) {
    return warploom::error_t(warploom::error_code_t::INVALID_VALUE, path + ": " + why);
  };
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return refuse("cannot be opened");
  std::string magic;
  std::int64_t width = 0, height = 0, most = 0;
  stream >> magic >> width >> height >> most;
  if (!stream || magic != "P6" || most != 255) return refuse("not a binary PPM (P6) of 8 bits");
  if (width < 1 || height < 1 || width > 4096 || height > 4096) return refuse("an unusual size");
  stream.get();  // the one white space before the pixels
  std::string bytes(static_cast<std::size_t>(width * height * 3), '\0');
  if (!stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    return refuse("ends too early");
  }
  Photograph photograph{height, width, 3, {}};
  for (char byte : bytes) {
    photograph.pixels.push_back(static_cast<float>(static_cast<unsigned char>(byte)) / 255.0f);
  }
  return photograph;
}

std::string to_data_uri(const Photograph& photograph) {
  // Rows from the bottom up, blue first, padded to four bytes; one channel needs a table of greys.
  const bool is_grey = photograph.channels == 1;
  const std::int64_t row_bytes = (photograph.width * photograph.channels + 3) / 4 * 4;
  const auto header_bytes = static_cast<std::uint32_t>(is_grey ? 54 + 256 * 4 : 54);
  const auto pixel_bytes = static_cast<std::uint32_t>(row_bytes * photograph.height);
  std::string bytes = "BM";
  for (const std::uint32_t value :
       {header_bytes + pixel_bytes, 0u, header_bytes, 40u,
        static_cast<std::uint32_t>(photograph.width), static_cast<std::uint32_t>(photograph.height),
        1u | (is_grey ? 8u : 24u) << 16, 0u, pixel_bytes, 2835u, 2835u, is_grey ? 256u : 0u, 0u}) {
    append_number(bytes, value, 4);
  }
  for (std::uint32_t grey = 0; is_grey && grey < 256; ++grey) {
    append_number(bytes, grey * 0x010101u, 4);
  }
  for (std::int64_t row = photograph.height; row-- > 0;) {
    const std::size_t row_end = bytes.size() + static_cast<std::size_t>(row_bytes);
    for (std::int64_t column = 0; column < photograph.width; ++column) {
      const float* pixel =
          photograph.pixels.data() + (row * photograph.width + column) * photograph.channels;
      for (std::int64_t channel = photograph.channels; channel-- > 0;) {
        bytes += static_cast<char>(std::clamp(pixel[channel], 0.0f, 1.0f) * 255.0f + 0.5f);
      }
    }
    bytes.resize(row_end, '\0');
  }
  return "data:image/bmp;base64," + base64(bytes);
}

std::vector<std::string> to_characters(const Photograph& photograph, std::int64_t channel,
                                       std::int64_t columns) {
  constexpr std::string_view kRamp = " .:-=+*#%@";
  // Characters are about twice as high as wide.
  const std::int64_t rows = columns * photograph.height / photograph.width / 2;
  std::vector<std::string> lines;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::string& line = lines.emplace_back();
    for (std::int64_t column = 0; column < columns; ++column) {
      double sum = 0;
      int count = 0;
      for (std::int64_t y = row * photograph.height / rows;
           y < (row + 1) * photograph.height / rows; ++y) {
        for (std::int64_t x = column * photograph.width / columns;
             x < (column + 1) * photograph.width / columns; ++x) {
          sum += photograph.pixels[static_cast<std::size_t>(
              (y * photograph.width + x) * photograph.channels + channel)];
          ++count;
        }
      }
      const double mean = std::clamp(sum / std::max(count, 1), 0.0, 1.0);
      line += kRamp[static_cast<std::size_t>(mean * (kRamp.size() - 1) + 0.5)];
    }
  }
  return lines;
}

Photograph extract_channel(const std::vector<float>& pixels, const Photograph& shape,
                           std::int64_t channels, std::int64_t channel) {
  Photograph result{shape.height, shape.width, 1, {}};
  float most = 1e-6f;
  for (std::int64_t i = 0; i < shape.height * shape.width; ++i) {
    result.pixels.push_back(pixels[static_cast<std::size_t>(i * channels + channel)]);
    most = std::max(most, result.pixels.back());
  }
  for (float& pixel : result.pixels) pixel /= most;
  return result;
}

}  // namespace tour
