// Writes grey 8-bit PNG files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fourtune::examples {

// Writes n x n images side by side. Value 0 is black, 1 is white, and values outside are clipped. Images are stored x
// fastest, y upwards. Throws std::runtime_error when the file cannot be written.
void write_png(const std::string& path, std::int64_t n, const std::vector<std::vector<float>>& images);

}  // namespace fourtune::examples
