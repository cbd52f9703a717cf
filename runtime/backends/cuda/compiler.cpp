#include "runtime/backends/cuda/compiler.h"

#include <fmt/format.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "base/text.h"
#include "runtime/backends/cuda/compile_memory.h"
#include "runtime/backends/cuda/nvrtc_api.h"

namespace fourtune::runtime::cuda {
namespace {

using Clock = std::chrono::steady_clock;

// The number directly before `words` in the line, as in "40 registers"; 0 when there is none.
int number_before(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == line.npos || at == 0) return 0;
  std::size_t end = at;
  while (end > 0 && line[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

// Whether this NVRTC knows --minimal, which leaves out what our texts do not use (textures, launches by kernels) and
// nothing else: machine code stays the same, so it is no part of the store's key. An unknown option is refused before
// the text is read; then it is not tried again.
std::atomic<bool> knows_minimal{true};

// Of a thread's processor time: beside other work a compilation that is worth its while may take any wall time.
class ProcessorLimit {
 public:
  explicit ProcessorLimit(double seconds) : until_(seconds) {
    known_ = pthread_getcpuclockid(pthread_self(), &clock_) == 0;
    until_ += now();
  }
  // NVRTC's flow callback.
  static int passed(void* limit, void*) {
    const auto* const self = static_cast<const ProcessorLimit*>(limit);
    return self->now() > self->until_;
  }

 private:
  double now() const {
    timespec time{};
    clock_gettime(known_ ? clock_ : CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  clockid_t clock_{};
  bool known_ = false;
  double until_;
};

}  // namespace

CompileReport parse_ptxas_log(std::string_view log, std::string_view entry) {
  CompileReport report;
  const std::string quoted = fmt::format("'{}'", entry);
  bool inside = false;
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = std::min(log.find('\n', at), log.size());
    const std::string_view line = log.substr(at, end - at);
    at = end + 1;
    if (line.find("Compiling entry function") != line.npos) inside = line.find(quoted) != line.npos;
    if (!inside) continue;
    if (line.find("spill stores") != line.npos) {
      report.stack_bytes = number_before(line, "bytes stack frame");
      report.spill_store_bytes = number_before(line, "bytes spill stores");
      report.spill_load_bytes = number_before(line, "bytes spill loads");
    }
    if (line.find("Used ") != line.npos) {
      report.registers = number_before(line, "registers");
      report.static_shared_bytes = number_before(line, "bytes smem");
    }
  }
  return report;
}

std::string to_text(KernelTarget target) {
  return fmt::format("{}_{}", target.ptx ? "compute" : "sm", target.compute_capability);
}

KernelTarget parse_target(std::string_view text) {
  const bool ptx = text.starts_with("compute_");
  const auto capability =
      ptx || text.starts_with("sm_") ? text::number<int>(text.substr(text.find('_') + 1)) : std::nullopt;
  if (!capability)
    throw Error(Status::invalid_argument,
                fmt::format("'{}' is no target; one is sm_90, for compute capability 9.0, or compute_90, for PTX that "
                            "later GPUs run, too",
                            text::shown(std::string(text))));
  return {*capability, ptx};
}

std::vector<std::string> compile_options(const generator::KernelSource& source, KernelTarget target) {
  std::vector<std::string> options{"-arch=" + to_text(target), "-std=c++17", "--ptxas-options=-v"};
  if (source.max_registers > 0) options.push_back(fmt::format("--maxrregcount={}", source.max_registers));
  return options;
}

std::string nvrtc_version_text() { return fmt::format("nvrtc {}.{}", nvrtc().major, nvrtc().minor); }

CompiledKernel compile(const generator::KernelSource& source, KernelTarget target, double seconds) {
  const NvrtcApi& api = nvrtc();
  const auto& known = api.architectures;
  if (std::find(known.begin(), known.end(), target.compute_capability) == known.end())
    throw Error(Status::unsupported, fmt::format("NVRTC {}.{} does not compile for {}; it knows {}", api.major,
                                                 api.minor, to_text(target), fmt::join(known, ", ")));
  const NvrtcProgram program(source.text, source.entry + ".cu");
  const auto start = Clock::now();
  ProcessorLimit limit(seconds);
  if (seconds > 0 && api.nvrtcSetFlowCallback) api.nvrtcSetFlowCallback(program.get(), ProcessorLimit::passed, &limit);
  const std::vector<std::string> options = compile_options(source, target);
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  const auto run = [&] { return api.nvrtcCompileProgram(program.get(), static_cast<int>(words.size()), words.data()); };
  nvrtcResult result = NVRTC_ERROR_INVALID_OPTION;
  if (knows_minimal) {
    words.push_back("--minimal");
    result = run();
    words.pop_back();
  }
  if (result == NVRTC_ERROR_INVALID_OPTION) {
    knows_minimal = false;
    result = run();
  }
  CompiledKernel compiled;
  compiled.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  compiled.log = program.log();
  if (result == NVRTC_ERROR_OUT_OF_MEMORY)
    throw Error(Status::out_of_memory, fmt::format("NVRTC ran out of memory on kernel {}", source.entry));
  if (result == NVRTC_ERROR_CANCELLED) {
    compiled.outcome = CompileOutcome::timeout;
    compiled.log += fmt::format("\nstopped after {:.1f} s", compiled.seconds);
  } else if (result != NVRTC_SUCCESS) {
    if (compiled.log.empty()) compiled.log = api.nvrtcGetErrorString(result);
  } else {
    compiled.outcome = CompileOutcome::ok;
    compiled.image = target.ptx ? program.ptx() : program.cubin();
    compiled.report = parse_ptxas_log(compiled.log, source.entry);
  }
  return compiled;
}

std::size_t compile_weight(const generator::KernelSource& source) {
  struct Known {
    std::string_view part;
    std::size_t ms, ms_of_width;
  };
  constexpr Known kKnown[] = {{"_spread_", 0, 19},    {"_interpolate_", 0, 12}, {"coarse_place", 190, 0},
                              {"_fine_", 160, 0},     {"large_place", 160, 0},  {"coarse_count", 100, 0},
                              {"coarse_scan", 80, 0}, {"large_count", 100, 0},  {"_offsets_", 85, 0}};
  const std::string_view entry = source.entry;
  for (const Known& known : kKnown) {
    if (entry.find(known.part) == entry.npos) continue;
    const std::size_t at = entry.rfind("_w");
    const auto width = at != entry.npos ? text::number<std::size_t>(entry.substr(at + 2)) : std::nullopt;
    return known.ms + known.ms_of_width * width.value_or(8);
  }
  return source.text.size() / 400 + 1;
}

void run_longest_first(std::span<const std::size_t> weights, int threads,
                       const std::function<void(std::size_t)>& work) {
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr first;
  const auto worker = [&] {
    std::optional<CompileMemory> memory;
    for (std::size_t i; (i = next++) < order.size();) {
      try {
        if (!memory && weights[order[i]] > 0) memory.emplace();
        work(order[i]);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
      }
    }
  };
  const std::size_t count = std::min<std::size_t>(order.size(), static_cast<std::size_t>(std::max(threads, 1)));
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < count; ++i) others.emplace_back(worker);
  worker();
  others.clear();  // joins the threads
  if (first) std::rethrow_exception(first);
}

std::vector<CompiledKernel> compile_all(std::span<const generator::KernelSource> sources, KernelTarget target,
                                        int threads, double seconds_each) {
  std::vector<std::size_t> weights;
  for (const auto& source : sources) weights.push_back(compile_weight(source));
  std::vector<CompiledKernel> results(sources.size());
  run_longest_first(weights, threads, [&](std::size_t i) { results[i] = compile(sources[i], target, seconds_each); });
  return results;
}

}  // namespace fourtune::runtime::cuda
