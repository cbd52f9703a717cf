// The subcommands of `fourtune-ranks`, which run on every rank of an mpirun. Rank 0 prints. Each is in
// its cmd_*.cpp; command_line.cpp puts them together, main.cpp runs that.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace fourtune::tools {

int run_ranks_command_line(int argc, char** argv, bool speaks);  // the exit code

// Throws Failure on every rank when the result was wrong on any.
void add_ranks_run(CLI::App& app);
void add_ranks_soak(CLI::App& app);
void add_ranks_bench(CLI::App& app);
void add_ranks_tune(CLI::App& app, const std::string& command_line);

}  // namespace fourtune::tools
