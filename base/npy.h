// Arrays in NumPy's .npy format, versions 1 to 3: real and complex floating-point numbers, little-endian.
//
// Format: "\x93NUMPY", two version bytes, the header's length (2 bytes little-endian, 4 from version 2 on), the header
// (a Python dictionary with the keys descr, fortran_order and shape), then the elements. See numpy.lib.format.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fourtune {

// Values are in C order (last index fastest), whatever the file's order. Real files get zero imaginary parts.
struct NpyArray {
  std::vector<std::int64_t> shape;
  bool is_complex = false;
  std::vector<std::complex<double>> values;  // f32 files are widened, which is exact
  std::int64_t count() const { return static_cast<std::int64_t>(values.size()); }
};

// Throws Error{invalid_argument}, starting with the path, when the file is missing, is not .npy, is cut short or has
// another element type.
NpyArray read_npy(const std::filesystem::path& path);

// The bytes before the elements of such a file. descr: "<f4", "<f8", "<c8" or "<c16".
std::string npy_header(const std::string& descr, const std::vector<std::int64_t>& shape);

// Writes elements of type "<f4", "<f8", "<c8" or "<c16" (`descr`) in C order. Throws Error{io} when the file cannot be
// written; an existing file is replaced.
void write_npy(const std::filesystem::path& path, const std::string& descr, const std::vector<std::int64_t>& shape,
               const void* data, std::size_t bytes);

}  // namespace fourtune
