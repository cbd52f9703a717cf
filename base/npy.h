// Arrays in NumPy's .npy format, versions 1 to 3: real and complex floating-point numbers, little-endian.
//
// Format: "\x93NUMPY", two version bytes, the header's length (2 bytes little-endian, 4 from version 2), the header (a
// Python dictionary with the keys descr, fortran_order and shape), then the elements. See numpy.lib.format.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fourtune {

// Values in C order (last index fastest), whatever the file's order was. Real files have zero imaginary parts.
struct NpyArray {
  std::vector<std::int64_t> shape;
  bool is_complex = false;
  std::vector<std::complex<double>> values;  // f32 files are widened, which is exact
  std::int64_t count() const { return static_cast<std::int64_t>(values.size()); }
};

// Throws Error{invalid_argument} that starts with the path: file missing, not .npy, cut short, or of another element
// type.
NpyArray read_npy(const std::filesystem::path& path);

// What stands before the elements of such a file. descr: "<f4", "<f8", "<c8" or "<c16".
std::string npy_header(const std::string& descr, const std::vector<std::int64_t>& shape);

// Writes elements of type "<f4", "<f8", "<c8" or "<c16" (`descr`), C order. Throws Error{io} when the file cannot be
// written; a file that is there is replaced.
void write_npy(const std::filesystem::path& path, const std::string& descr, const std::vector<std::int64_t>& shape,
               const void* data, std::size_t bytes);

}  // namespace fourtune
