// `--ranks N`: the command goes on as `fourtune-ranks` on N ranks of an mpirun.
#pragma once

#include <string>
#include <vector>

namespace fourtune::tools {

// Replaces this process by `mpirun -n RANKS fourtune-ranks WORDS...`; returns only by throwing. FOURTUNE_MPIRUN has the
// words to start with in the place of mpirun. Throws Failure when there is no such program.
[[noreturn]] void start_ranks(int ranks, const std::vector<std::string>& words);

}  // namespace fourtune::tools
