// The options of `fourtune bench`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fourtune::tools {

struct BenchOptions {
  std::string backend;             // empty: cpu, or cuda for suites of GPUs
  int device = 0;                  // a device number of the backend
  std::string devices;             // also measured: these share the batch
  std::string plan;                // the plan of our tuned column
  std::string plans;               // a file of problems and plans of ours that are measured too
  std::vector<std::string> peers;  // shared libraries to compare with
  std::vector<std::string> tokens;
  std::string problems;  // a file or builtin:NAME; empty: only tokens
  std::string filter;    // only tokens that contain this text are run
  std::string db;        // database of tuned plans; empty: none
  std::string csv;       // empty: none
  std::string plot;      // .png or .svg; empty: none
  std::string from_csv;  // show this earlier run instead of measuring
  std::string baseline;  // CSV of the same suite on another device: nufft-type3(-gpu), cufinufft
  std::string suite;     // the name of a paper's experiment; empty: the comparison
  double seconds = 0;    // budget of the whole run; 0: no limit
  double seconds_per_problem = 60;
  double scale = 1;             // suites: problem sizes relative to the full ones
  std::int64_t max_points = 0;  // problems with more points are skipped; 0: no limit
  std::int64_t max_memory = 0;  // bytes; 0: 70 % of what is free
  int ranks = 0;                // suite mtip: of an mpirun; 0: one
  int threads = 0;              // 0: all that this process may use
  int rounds = 9;               // interleaved rounds
  int min_rounds = 3;           // a problem that cannot have this many rounds in its time is skipped
  std::uint64_t seed = 1;
  bool wide = false;  // tables with one line for each row, however wide the terminal is
  bool untuned_only = false;
  bool compile_first = false;  // compile all kernels before the first measurement
  bool measure_memory = true;
  bool cpu_time = false;     // with one thread: measure its CPU time instead of the wall clock
  std::string memory_child;  // hidden: the contender whose peak memory this child process measures
};

}  // namespace fourtune::tools
