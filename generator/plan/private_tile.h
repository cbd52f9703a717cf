// The private tile into which the CPU spreads a subproblem: how much memory a plan's tile takes.
#pragma once

#include <array>
#include <cstdint>

namespace fourtune::generator {

// A private row is a string of x-bins, each of whole cache lines, so that every update of a row is aligned. A bin holds
// the windows that start in its first `bin` cells.
inline constexpr int kLineBytes = 64;

// Complex elements of one bin's row: the fewest lines that hold a window, and one line more where the window fills all
// of two or more lines, since a bin would then hold the windows of a single cell and the tile be 3 to 4 times as large
// (97x101x89 in f64 at width 12: 3.1 MB and 0.9 MB; spreading took 1.5 times as long).
constexpr int row_slots(int width, int complex_bytes) {
  const int line = kLineBytes / complex_bytes;
  const int lines = (width + line - 1) / line;
  return (lines >= 2 && lines * line == width ? lines + 1 : lines) * line;
}
constexpr int bin_cells(int width, int complex_bytes) { return row_slots(width, complex_bytes) - width + 1; }

// Complex elements of a private tile of `tile` cells, rows of y and z padded by the window.
constexpr std::int64_t private_elements(int dim, const std::array<int, 3>& tile, int width, int complex_bytes) {
  const int bin = bin_cells(width, complex_bytes);
  std::int64_t elements = std::int64_t{(tile[0] + bin - 1) / bin} * row_slots(width, complex_bytes);
  for (int d = 1; d < dim; ++d) elements *= tile[static_cast<std::size_t>(d)] + width - 1;
  return elements;
}

// The grids that further threads take at most, to spread a single transform into one grid each. Unsorted points of one
// dimension have no other way to be shared: so few threads take as much as they need.
inline constexpr std::int64_t kPartialBytes = std::int64_t{8} << 20;
inline constexpr int kFewThreads = 4;

}  // namespace fourtune::generator
