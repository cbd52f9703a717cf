// Which values of a joined array (TranspositionShape) kernels of one rank find in that of another (Exchange::kernels).
#pragma once

#include <string>

#include "fourtune/problem.h"
#include "generator/codegen/fft/lower/pass.h"
#include "generator/planner/gpu_fft/program.h"
#include "runtime/distributed/rank_plan.h"
#include "runtime/distributed/transposition_pieces.h"

namespace fourtune::runtime::distributed {

// Of planes that kernels transform at a time, on the fine grid of types 1 and 2. Tests make it small.
inline std::int64_t piece_bytes = std::int64_t{1} << 30;

// Of eight rows that cross, how many kernels store, and how many they load; the rest is copied. Without
// chunks stores and loads have the links for half of them each; with chunks copy engines have half, beside the transforms
// of other planes.
struct SharedRows {
  generator::fft::RankArrays of_columns, of_planes;
  int stored = 4, loaded = 4;
  // The step that transforms planes, and the one that transforms lines: which comes first stores.
  generator::RankPorts of_planes_step(bool to_columns) const {
    generator::fft::RankArrays rows = of_columns;
    rows.others = !to_columns;
    rows.eighths = to_columns ? stored : 8 - loaded;
    return to_columns ? generator::RankPorts{{}, rows} : generator::RankPorts{rows, {}};
  }
  generator::RankPorts of_lines_step(bool to_columns) const {
    generator::fft::RankArrays rows = of_planes;
    rows.others = to_columns;
    rows.eighths = to_columns ? 8 - loaded : stored;
    return to_columns ? generator::RankPorts{rows, {}} : generator::RankPorts{{}, rows};
  }
};

// Of any four columns, with chunks, the third and the fourth: neither among two eighths nor beside six of them.
inline constexpr std::int64_t kCopyPeriod = 4, kCopied = 2;

inline SharedRows shared_rows(const TranspositionShape& shape, bool copies = false) {
  SharedRows rows;
  if (copies) rows.stored = rows.loaded = 2;
  generator::fft::RankArrays array;
  array.run = shape.run, array.columns = shape.columns.items(), array.planes = shape.planes.items();
  array.eighths = rows.stored;
  const auto ends = [](const Split& parts) {
    std::vector<std::int64_t> all;
    for (int r = 0; r < parts.parts(); ++r) all.push_back(parts.end(r));
    return all;
  };
  rows.of_columns = rows.of_planes = array;
  rows.of_columns.ends = ends(shape.columns);
  rows.of_planes.ends = ends(shape.planes);
  rows.of_planes.by_planes = true;
  return rows;
}

}  // namespace fourtune::runtime::distributed
