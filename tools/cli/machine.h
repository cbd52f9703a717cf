// The checks of `fourtune doctor`; each returns findings. In machine_*.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fourtune/device_traits.h"

namespace fourtune::tools {

enum class State { ok, note, missing, wrong };
const char* to_string(State) noexcept;

struct Finding {
  std::string name;
  State state = State::ok;
  std::string found;        // what is there
  std::string cost;         // what it costs the user and what helps; empty if nothing
  std::string values = {};  // what was found in numbers, as a JSON object for programs; empty if nothing
};

// Never fails: what cannot be read becomes a finding. `database` is only read. gpu: examine only that GPU.
std::vector<Finding> examine_machine(const std::filesystem::path& database, std::optional<int> gpu = {});

// Whether a device is calibrated, and when.
Finding look_at_calibration(const std::string& name, const DeviceTraits& traits);
// Parts of it, which can be used separately.
std::vector<Finding> examine_processor();
std::vector<Finding> examine_backends();
std::vector<Finding> examine_fftw();
std::vector<Finding> examine_gpu(std::optional<int> gpu = {});  // driver, GPUs with clocks and power, compiler, cuFFT
std::vector<Finding> examine_emulation();                       // CUDA kernels emulated on the processor, for tests
std::vector<Finding> examine_memory();
std::vector<Finding> examine_database(const std::filesystem::path& database);
std::vector<Finding> examine_packs();  // those that every program of this machine finds

}  // namespace fourtune::tools
