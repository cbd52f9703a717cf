#include "examples/png_image.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace fourtune::examples {

void write_png(const std::string& path, std::int64_t n, const std::vector<std::vector<float>>& images) {
  const std::size_t side = static_cast<std::size_t>(n), width = side * images.size();
  std::vector<png_byte> pixels(width * side);
  for (std::size_t i = 0; i < images.size(); ++i)
    for (std::size_t y = 0; y < side; ++y)
      for (std::size_t x = 0; x < side; ++x) {
        const float value = std::clamp(images[i][y * side + x], 0.0f, 1.0f);
        pixels[(side - 1 - y) * width + i * side + x] = static_cast<png_byte>(std::lround(255 * value));
      }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(side);
  image.format = PNG_FORMAT_GRAY;
  if (!png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr))
    throw std::runtime_error("cannot write " + path + ": " + image.message);
}

}  // namespace fourtune::examples
