#include "tools/cli/machine.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "base/calibration.h"
#include "fourtune/device_traits.h"
#include "generator/plan/plan.h"
#include "runtime/backend_table.h"
#include "runtime/environment.h"
#include "tools/common/calibration.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/text.h"

namespace fourtune::tools {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool has_flag(std::string_view flag) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("flags")) return (line + " ").find(fmt::format(" {} ", flag)) != std::string::npos;
  return false;
}

// "[always] madvise never" -> "always"
std::string bracketed(const std::string& line) {
  const auto open = line.find('['), close = line.find(']');
  return open == std::string::npos || close == std::string::npos ? line : line.substr(open + 1, close - open - 1);
}

}  // namespace

const char* to_string(State state) noexcept {
  switch (state) {
    case State::ok:
      return "ok";
    case State::note:
      return "note";
    case State::missing:
      return "missing";
    case State::wrong:
      return "WRONG";
  }
  return "unknown";
}

Finding look_at_calibration(const std::string& name, const DeviceTraits& traits) {
  const KnownCalibration known = known_calibration(traits);
  if (!known.date.empty()) return {name, State::ok, calibration_state(traits), {}};
  return {name, State::note, calibration_state(traits),
          fmt::format(
              "untuned plans are chosen as for the machine that the cost models were made on; `fourtune calibrate{}` "
              "measures this one",
              generator::is_gpu(traits.backend) ? " --backend " + traits.backend : "")};
}

std::vector<Finding> examine_processor() {
  const DeviceTraits traits = runtime::find_backend("cpu").traits();
  std::vector<Finding> findings;
  findings.push_back(
      {"processor",
       State::ok,
       fmt::format("{}, {} thread{} of use to this process", traits.name, traits.cores, traits.cores == 1 ? "" : "s"),
       {}});
  findings.push_back({"caches",
                      State::ok,
                      fmt::format("L1 {}, L2 {}, L3 {}", bytes_text(traits.l1_bytes), bytes_text(traits.l2_bytes),
                                  traits.l3_bytes > 0 ? bytes_text(traits.l3_bytes) : "unknown"),
                      {}});
  Finding kernels{"kernels", State::ok, traits.isa + " code for spreading and interpolation", {}};
  if (traits.isa == "portable") {
    kernels.state = State::note;
    kernels.cost = "no vector instructions that the fast kernels know: nonuniform transforms run, several times slower";
  }
  findings.push_back(kernels);
  findings.push_back(look_at_calibration("calibration", traits));
  for (const char* name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT"}) {
    const char* threads = std::getenv(name);
    if (threads != nullptr && *threads != 0)
      findings.push_back(
          {name, State::note, threads, "set in the environment: no transform uses more threads than that"});
  }
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor.empty() && governor != "performance")
    findings.push_back({"clock governor", State::note, governor,
                        "clocks move while tuning, so timings scatter more; `performance` is steadier"});
  return findings;
}

std::vector<Finding> examine_backends() {
  std::string names;
  for (const runtime::Backend* backend : command_backends())
    names += (names.empty() ? "" : ", ") + std::string(backend->name());
  return {{"backends", State::ok, names, {}}};
}

std::vector<Finding> examine_fftw() {
  std::vector<Finding> findings;
  for (const auto& [symbol, name] : {std::pair{"fftw_version", "FFTW f64"}, std::pair{"fftwf_version", "FFTW f32"}}) {
    const auto* shared = static_cast<const char*>(dlsym(RTLD_DEFAULT, symbol));
    // Linked statically, it has no such symbol to look up, but the runtime knows what it was linked with.
    const std::string version = shared ? shared : runtime::environment_here(cpu_traits()).libraries;
    if (version.find("fftw") == std::string::npos) {
      findings.push_back(
          {name, State::note, "not linked into this build",
           "uniform transforms run by our own lines alone: single short lines, odd and long real ones are "
           "slower than with FOURTUNE_FFTW=ON"});
      continue;
    }
    Finding finding{name, State::ok, version, {}};
    if (has_flag("avx512f") && finding.found.find("avx512") == std::string::npos) {
      finding.state = State::note;
      finding.cost =
          "built without AVX-512, which this processor has: FFTs can be faster with an FFTW built "
          "with --enable-avx512";
    } else if (has_flag("avx2") && finding.found.find("avx") == std::string::npos) {
      finding.state = State::note;
      finding.cost = "built without AVX, which this processor has: FFTs are slower than they could be";
    }
    findings.push_back(finding);
  }
  return findings;
}

std::vector<Finding> examine_memory() {
  std::vector<Finding> findings;
  findings.push_back({"memory", State::ok, bytes_text(cpu_traits().memory_bytes) + " installed", {}});
  const std::string limit = first_line("/sys/fs/cgroup/memory.max");
  if (!limit.empty() && limit != "max")
    findings.push_back({"memory limit", State::note, bytes_text(std::atoll(limit.c_str())) + " (control group)",
                        "transforms above it are killed by the system"});
  const std::string pages = bracketed(first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
  if (pages.empty()) {
    findings.push_back({"huge pages", State::missing, "the kernel does not offer transparent huge pages",
                        "large fine grids run slower"});
  } else if (pages == "never") {
    findings.push_back({"huge pages", State::missing, "transparent huge pages are off",
                        "large fine grids run slower; as root: echo madvise > "
                        "/sys/kernel/mm/transparent_hugepage/enabled"});
  } else {
    findings.push_back({"huge pages", State::ok, "transparent huge pages: " + pages, {}});
  }
  return findings;
}

std::vector<Finding> examine_machine(const std::filesystem::path& database, std::optional<int> gpu) {
  std::vector<Finding> all;
  for (auto&& part : {examine_processor(), examine_memory(), examine_backends(), examine_fftw(), examine_gpu(gpu),
                      examine_emulation(), examine_database(database), examine_packs()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace fourtune::tools
