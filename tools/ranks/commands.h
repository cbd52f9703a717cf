// The subcommands of `fourtune-ranks`, which run on every rank of an mpirun. Rank 0 prints.
#pragma once

namespace CLI {
class App;
}

namespace fourtune::tools {

// Throws Failure on every rank when the result was wrong on any.
void add_ranks_run(CLI::App& app);
void add_ranks_soak(CLI::App& app);

}  // namespace fourtune::tools
