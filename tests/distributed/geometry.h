// Where plans cut the grid of types 1 and 2, from their texts: what tests of bytes count with.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <regex>
#include <string>
#include <vector>

namespace fourtune::test {

struct Geometry {
  std::array<std::int64_t, 3> fine{1, 1, 1}, tile{1, 1, 1};
  std::int64_t width = 0;

  explicit Geometry(const std::string& plan) : fine(sizes_in(plan, "fine")), tile(sizes_in(plan, "tile")) {
    std::smatch found;
    std::regex_search(plan, found, std::regex("width=(\\d+)"));
    width = std::stoll(found[1]);
    for (std::size_t d = 0; d < 3; ++d) tile[d] = std::min(tile[d], fine[d]);
  }
  // The first cell that the window of a point touches.
  std::int64_t cell(std::size_t d, double x) const {
    const double turns = x / (2 * std::numbers::pi);
    const double u = (turns - std::floor(turns)) * static_cast<double>(fine[d]);
    return (static_cast<std::int64_t>(std::ceil(u - static_cast<double>(width) / 2)) + fine[d]) % fine[d];
  }

 private:
  static std::array<std::int64_t, 3> sizes_in(const std::string& text, const std::string& key) {
    std::array<std::int64_t, 3> sizes{1, 1, 1};
    std::smatch found;
    std::regex_search(text, found, std::regex(key + "=(\\d+)x(\\d+)(?:x(\\d+))?"));
    for (std::size_t d = 0; d < 3; ++d)
      if (found[d + 1].matched) sizes[d] = std::stoll(found[d + 1]);
    return sizes;
  }
};

// The cells of a dimension where every part begins, with balance=planes: rows of tiles whose middle lies before a
// part's share of the cells.
struct Cuts {
  std::vector<std::int64_t> starts{0};

  Cuts(const Geometry& g, std::size_t d, int parts) {
    const std::int64_t cells = g.fine[d], side = g.tile[d];
    std::int64_t at = 0;
    for (int r = 1; r < parts; ++r) {
      while (at < cells && (static_cast<double>(at) + static_cast<double>(std::min(side, cells - at)) / 2) * parts <=
                               static_cast<double>(cells) * r)
        at += std::min(side, cells - at);
      starts.push_back(at);
    }
    starts.push_back(cells);
  }
  std::int64_t cells(int part) const {
    return starts[static_cast<std::size_t>(part) + 1] - starts[static_cast<std::size_t>(part)];
  }
  int part_of_cell(std::int64_t cell) const {
    return static_cast<int>(std::upper_bound(starts.begin(), starts.end() - 1, cell) - starts.begin()) - 1;
  }
  int parts_with_cells() const {
    int count = 0;
    for (std::size_t p = 0; p + 1 < starts.size(); ++p) count += starts[p + 1] > starts[p];
    return count;
  }
};

}  // namespace fourtune::test
