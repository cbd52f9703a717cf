// Which values of a joined array (TranspositionShape) kernels of one rank find in that of another
// (RankExchange::kernels).
#pragma once

#include <string>

#include "fourtune/problem.h"
#include "generator/codegen/fft/lower/pass.h"
#include "generator/planner/gpu_fft/program.h"
#include "runtime/distributed/rank_plan.h"
#include "runtime/distributed/transposition_pieces.h"

namespace fourtune::runtime::distributed {

// Of eight rows that cross, how many are stored; the others are loaded. Stores and loads then cost the links the same.
// Tests and measurements change it.
inline int stored_eighths = 4;

struct SharedRows {
  generator::fft::RankArrays of_columns, of_planes;
  // The step that transforms planes, and the one that transforms lines: which comes first stores.
  generator::RankPorts of_planes_step(bool to_columns) const {
    generator::fft::RankArrays rows = of_columns;
    rows.others = !to_columns;
    return to_columns ? generator::RankPorts{{}, rows} : generator::RankPorts{rows, {}};
  }
  generator::RankPorts of_lines_step(bool to_columns) const {
    generator::fft::RankArrays rows = of_planes;
    rows.others = to_columns;
    return to_columns ? generator::RankPorts{rows, {}} : generator::RankPorts{{}, rows};
  }
};

inline SharedRows shared_rows(const TranspositionShape& shape) {
  SharedRows rows;
  generator::fft::RankArrays array;
  array.run = shape.run, array.columns = shape.columns.items(), array.planes = shape.planes.items();
  array.eighths = stored_eighths;
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
