// Grey 8-bit PNG files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fourtune::examples {

// Writes n x n images side by side; value 0 is black, 1 is white, beyond is clipped. Images are x fastest, y upwards.
// Throws std::runtime_error when the file cannot be written.
void write_png(const std::string& path, std::int64_t n, const std::vector<std::vector<float>>& images);

}  // namespace fourtune::examples
