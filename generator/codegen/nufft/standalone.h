// A nonuniform transform for known numbers of points as one .cu file, with a class that does what the executor of the
// GPU backends does, and a main function that checks and times it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "generator/codegen/kernel_source.h"

namespace fourtune::generator::nufft {

struct Standalone {
  // Memory that all programs share: workspace i of every program is slot i.
  struct Slot {
    std::string name;        // an identifier
    std::int64_t bytes = 0;  // 0: the coordinates of points, or unused
    int same_as = -1;        // uses the memory of that slot
  };
  struct Step {
    GpuProgram program;
    Precision tables;  // of the numbers in its constants
  };

  Problem problem;  // with m, and k of a type 3
  std::string plan;
  std::vector<Slot> slots;  // the first three hold x, y, z, and those of a type 3 then s, t, u
  int status = -1;          // types 1 and 2: slot of the sort's status
  int words = -1;           // type 3: slot of the extents
  // Type 3: the box of sources and targets (x, y, z, s, t, u) for which the grids are made.
  std::array<double, 6> low{}, high{};
  std::vector<Step> extents, set_points;       // extents: type 3, before the points are used
  std::array<std::vector<Step>, 2> execute;    // a full chunk of transforms, and the last, smaller one
  std::int64_t chunk = 1;                      // transforms in a full chunk
  std::int64_t point_values = 0, results = 0;  // of one transform: m, and modes or k
};

// Throws Error{unsupported} if the tables are too large to be written as text.
std::string emit_standalone(const Standalone& transform);

}  // namespace fourtune::generator::nufft
