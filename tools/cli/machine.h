// What `fourtune doctor` looks at, one finding each.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fourtune::tools {

enum class State { ok, note, missing, wrong };
const char* to_string(State) noexcept;

struct Finding {
  std::string name;
  State state = State::ok;
  std::string found;  // what is there
  std::string cost;   // what it costs the user when it is missing or odd, and what helps; empty: nothing
};

// Never fails: what cannot be read is a finding. `database` is only read. gpu: that one alone instead of all.
std::vector<Finding> examine_machine(const std::filesystem::path& database, std::optional<int> gpu = {});

// Parts, each usable alone.
std::vector<Finding> examine_processor();
std::vector<Finding> examine_backends();
std::vector<Finding> examine_fftw();
std::vector<Finding> examine_gpu(std::optional<int> gpu = {});  // driver, GPUs, compiler, cuFFT
std::vector<Finding> examine_emulation();                       // CUDA kernels on the processor, for tests
std::vector<Finding> examine_memory();
std::vector<Finding> examine_database(const std::filesystem::path& database);

}  // namespace fourtune::tools
