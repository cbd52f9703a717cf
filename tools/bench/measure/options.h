// What `fourtune bench` was asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fourtune::tools {

struct BenchOptions {
  std::string backend;             // empty: cpu; suites of GPUs: cuda
  int device = 0;                  // of the backend
  std::string plan;                // ours with this plan, in the tuned column
  std::vector<std::string> peers;  // shared libraries to compare with
  std::vector<std::string> tokens;
  std::string problems;  // file or builtin:NAME; empty: tokens alone
  std::string filter;    // only tokens that contain this text
  std::string db;        // tuned plans; empty: none
  std::string csv;       // empty: none
  std::string plot;      // .png or .svg; empty: none
  std::string from_csv;  // an earlier run to show again, instead of measuring
  std::string baseline;  // suite nufft-type3-gpu: CSV of nufft-type3, for the paper's speed-up
  std::string suite;     // a paper's experiment; empty: the comparison
  double seconds = 0;    // budget of the whole run; 0: none
  double seconds_per_problem = 60;
  double scale = 1;             // suites: problem sizes relative to the full ones
  std::int64_t max_points = 0;  // problems with more are skipped; 0: no limit
  std::int64_t max_memory = 0;  // bytes; 0: 70 % of what is free
  int threads = 0;              // 0: all this process may use
  int rounds = 9;               // interleaved rounds
  int min_rounds = 3;           // a problem that cannot have so many in its time is skipped
  std::uint64_t seed = 1;
  bool untuned_only = false;
  bool compile_first = false;  // all kernels before the first measurement
  bool measure_memory = true;
  bool cpu_time = false;     // one thread: its CPU time instead of the wall clock
  std::string memory_child;  // hidden: the contender whose peak memory this child process measures
};

}  // namespace fourtune::tools
