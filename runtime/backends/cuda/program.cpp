#include "runtime/backends/cuda/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/nvrtc_api.h"

namespace fourtune::runtime::cuda {
namespace {

// Without the compiler, which need not be there where the kernel is.
db::KernelOrigin origin_of(const generator::KernelSource& source, KernelTarget target) {
  return {source.entry, source.text, compile_options(source, target), {}, to_text(target)};
}

// The kernel itself or, where there is no compiler, PTX of this or an earlier architecture from a pack.
std::optional<db::StoredKernel> at_hand(const generator::KernelSource& source, KernelTarget target,
                                        const KernelShelf& shelf) {
  if (auto found = shelf.find(origin_of(source, target))) return found;
  if (target.ptx || !shelf.has_packs() || why_no_nvrtc().empty()) return std::nullopt;
  for (const int architecture : {121, 120, 110, 103, 101, 100, 90, 89, 88, 87, 86, 80, 75, 72, 70})
    if (architecture <= target.compute_capability)
      if (auto found = shelf.find_in_packs(origin_of(source, {architecture, true}))) return found;
  return std::nullopt;
}

// One thread of this process at a time compiles a given text; others that need it wait, then find it in the store.
class Turn {
 public:
  explicit Turn(const generator::KernelSource& source) : key_(fmt::format("{} {}", source.max_registers, source.text)) {
    std::unique_lock lock(mutex());
    ended().wait(lock, [&] { return !busy().contains(key_); });
    busy().insert(key_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    const std::lock_guard lock(mutex());
    busy().erase(key_);
    ended().notify_all();
  }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::condition_variable& ended() {
    static std::condition_variable one;
    return one;
  }
  static std::set<std::string>& busy() {
    static std::set<std::string> keys;
    return keys;
  }
  std::string key_;
};

// The kernel as compiled; throws CompileError.
CompiledKernel made_of(const generator::KernelSource& source, KernelTarget target, double seconds) {
  CompiledKernel made = compile(source, target, seconds);
  if (made.outcome == CompileOutcome::timeout)
    throw CompileError(fmt::format("kernel {} was not compiled within {} s", source.entry, seconds), true);
  if (made.outcome != CompileOutcome::ok)
    throw CompileError(fmt::format("kernel {} does not compile:\n{}", source.entry, made.log.substr(0, 8000)), false);
  return made;
}

db::StoredKernel compiled(const generator::KernelSource& source, KernelTarget target, const KernelShelf& shelf,
                          double seconds) {
  const Turn turn(source);
  if (auto found = shelf.find(origin_of(source, target))) return std::move(*found);  // compiled by another thread
  if (const std::string why = why_no_nvrtc(); !why.empty())
    throw NoCompiler(
        fmt::format("kernel {} is in no trusted pack and not in the user's store, and there is no compiler: {}",
                    source.entry, why));
  CompiledKernel made = made_of(source, target, seconds);
  db::StoredKernel kernel{std::move(made.image), std::move(made.log)};
  db::KernelOrigin origin = origin_of(source, target);
  origin.compiler = nvrtc_version_text();
  shelf.keep(origin, kernel);
  return kernel;
}

void open_compiler() {
  try {
    why_no_nvrtc();
  } catch (const std::exception&) {  // whoever compiles will meet it
  }
}

// Makes the database, if it is missing, and writes what was compiled by now.
void write_ahead(const KernelShelf& shelf) {
  try {
    if (!why_no_nvrtc().empty()) return;
    shelf.open_for_flush();
    shelf.flush();
  } catch (const std::exception&) {  // as in Kept
  }
}

// Writes what was compiled in its life to the user's database, also when another kernel does not compile.
class Kept {
 public:
  explicit Kept(const KernelShelf& shelf) : shelf_(shelf) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    try {
      shelf_.flush();
    } catch (const std::exception&) {  // no memory for it: the store is a cache, and they are compiled again
    }
  }

 private:
  const KernelShelf& shelf_;
};

}  // namespace

void check_device_pointer(const Device& device, const void* pointer) {
  constexpr int kMemoryType = 2, kDevicePointer = 3, kDeviceOrdinal = 9;
  constexpr unsigned kDeviceMemory = 2;
  const auto ask = [&](void* answer, int attribute) {
    return driver().cuPointerGetAttribute(answer, attribute, reinterpret_cast<CUdeviceptr>(pointer));
  };
  unsigned type = 0;
  const CUresult result = ask(&type, kMemoryType);
  if (result == CUDA_ERROR_INVALID_VALUE)
    throw Error(Status::invalid_argument,
                "execute: an array is not in GPU memory; allocate it with cudaMalloc or cuMemAlloc");
  check(result, "looking at an array");
  int owner = 0;
  if (type != kDeviceMemory || ask(&owner, kDeviceOrdinal) != CUDA_SUCCESS || owner == device.ordinal()) return;
  CUdeviceptr here = 0;  // exists if the application has enabled access between the GPUs
  if (ask(&here, kDevicePointer) == CUDA_ERROR_INVALID_VALUE)
    throw Error(Status::invalid_argument,
                fmt::format("execute: an array is in the memory of GPU {} and the transform is on GPU {}, which has no "
                            "access to it; options.device chooses the GPU",
                            owner, device.ordinal()));
}

std::vector<LoadedKernel> load_kernels(const std::shared_ptr<const Device>& device,
                                       std::span<const generator::KernelSource> sources, const KernelShelf& shelf,
                                       int threads, double seconds, std::vector<KernelReport>& reports) {
  const KernelTarget target = device->traits().compute_capability;
  std::vector<std::optional<db::StoredKernel>> found(sources.size());
  std::vector<std::optional<LoadedKernel>> loaded(sources.size());
  std::vector<std::size_t> weights;
  reports.assign(sources.size(), {});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    found[i] = at_hand(sources[i], target, shelf);
    reports[i].entry = sources[i].entry;
    reports[i].compiled = !found[i];
    weights.push_back(found[i] ? 0 : compile_weight(sources[i]));
  }
  const bool all = std::all_of(found.begin(), found.end(), [](const auto& one) { return one.has_value(); });
  std::optional<Kept> kept;
  std::jthread opening;
  if (!all) {
    kept.emplace(shelf);
    opening = std::jthread(open_compiler);  // while threads get their memory
    weights.push_back(0);                   // the last item, beside others: the database
  }
  // The driver loads a kernel while others are still being compiled.
  run_longest_first(weights, all ? 1 : threads, [&](std::size_t i) {
    const RelaxedCapture allowed;
    if (i == sources.size()) return write_ahead(shelf);
    const db::StoredKernel kernel = found[i] ? std::move(*found[i]) : compiled(sources[i], target, shelf, seconds);
    const KernelResources& taken = loaded[i].emplace(device, sources[i], kernel.image).resources();
    const CompileReport said = parse_ptxas_log(kernel.log, sources[i].entry);
    reports[i].registers = taken.registers;
    reports[i].spill_bytes = said.spill_store_bytes + said.spill_load_bytes;
    reports[i].shared_bytes = taken.static_shared_bytes + static_cast<std::int64_t>(sources[i].shared_bytes);
    reports[i].blocks = taken.blocks_per_multiprocessor;
  });
  std::vector<LoadedKernel> kernels;
  kernels.reserve(sources.size());
  for (std::optional<LoadedKernel>& one : loaded) kernels.push_back(std::move(*one));
  return kernels;
}

void compile_kernels(std::span<const generator::KernelSource> sources, KernelTarget target, const KernelShelf& shelf,
                     double seconds) {
  const Kept kept(shelf);
  for (const generator::KernelSource& source : sources)
    if (!at_hand(source, target, shelf)) compiled(source, target, shelf, seconds);
}

std::vector<KernelJob> list_missing(std::span<const generator::KernelSource> sources, KernelTarget target,
                                    const KernelShelf& shelf) {
  std::vector<KernelJob> jobs;
  for (const generator::KernelSource& source : sources) {
    const db::KernelOrigin origin = origin_of(source, target);
    std::string key = db::kernel_digest(origin);
    const auto same = [&](const KernelJob& job) { return job.key == key; };
    if (std::any_of(jobs.begin(), jobs.end(), same) || at_hand(source, target, shelf)) continue;
    jobs.push_back(
        {std::move(key), source.entry, source.text, source.max_registers, origin.target, compile_weight(source)});
  }
  return jobs;
}

namespace {
generator::KernelSource source_of(const KernelJob& job) {
  generator::KernelSource source;
  source.entry = job.entry, source.text = job.text, source.max_registers = job.max_registers;
  return source;
}
}  // namespace

KernelImage compile_job(const KernelJob& job, double seconds) {
  CompiledKernel made = made_of(source_of(job), parse_target(job.target), seconds);
  return {std::move(made.image), std::move(made.log)};
}

void keep_job(const KernelJob& job, KernelImage image, const KernelShelf& shelf) {
  constexpr std::size_t kMostWaiting = 32;  // kernels per commit
  db::KernelOrigin origin = origin_of(source_of(job), parse_target(job.target));
  origin.compiler = nvrtc_version_text();
  shelf.keep(origin, {std::move(image.image), std::move(image.log)});
  if (shelf.waiting() >= kMostWaiting) const Kept kept(shelf);
}

CudaProgram::CudaProgram(std::shared_ptr<const Device> device, generator::GpuProgram program, const KernelShelf& shelf,
                         bool time_stages, double compile_seconds)
    : device_(std::move(device)), program_(std::move(program)), time_stages_(time_stages) {
  gpu::check_program(program_);
  const RelaxedCapture allowed;
  kernels_ = load_kernels(device_, program_.kernels, shelf, device_->traits().cores, compile_seconds, reports_);
  for (const std::int64_t bytes : program_.workspace_bytes) {
    workspace_.emplace_back(device_, static_cast<std::size_t>(bytes));
    bytes_ += bytes;
  }
  if (!workspace_.empty()) order_.emplace(device_);
  std::optional<Stream>
      copies;  // the default stream would wait for the application's, and must not while one is recorded
  if (!program_.constants.empty()) copies.emplace(device_);
  for (auto& table : program_.constants) {
    constants_.emplace_back(device_, table.size());
    constants_.back().upload(table.data(), table.size(), copies->get());
    bytes_ += static_cast<std::int64_t>(table.size());
  }
  using Where = generator::BufferRef::Where;
  for (const generator::Launch& launch : program_.launches) {
    arguments_.emplace_back(launch, [&](const generator::BufferRef& ref) {
      const auto& buffers = ref.where == Where::workspace ? workspace_ : constants_;
      return static_cast<std::byte*>(buffers[static_cast<std::size_t>(ref.index)].pointer());
    });
  }
  if (time_stages_)
    for (std::size_t i = 0; i <= program_.launches.size(); ++i) marks_.emplace_back(device_);
}

void CudaProgram::run(void* in, void* out, void* stream) {
  auto* const queue = static_cast<CUstream>(stream);
  const ContextGuard guard(*device_);
  check_device_pointer(*device_, in);
  check_device_pointer(*device_, out);
  if (order_) order_->begin(queue);
  struct Ended {  // also after a launch that fails: those before it use the work memory
    std::optional<StreamOrder>& order;
    ~Ended() {
      if (order) order->end();
    }
  } const ended{order_};
  const bool alone = time_stages_ || (order_ ? order_->capturing() : is_capturing(queue));
  for (std::size_t i = 0; i < program_.launches.size(); ++i) {
    const generator::Launch& launch = program_.launches[i];
    if (time_stages_) marks_[i].record(queue);
    arguments_[i].set_arrays(in, out);
    launches_.add(kernels_[static_cast<std::size_t>(launch.kernel)], launch.grid, arguments_[i]);
    if (alone) launches_.start(queue, true);
  }
  launches_.start(queue);
  if (time_stages_) marks_.back().record(queue);
  ran_ = true;
}

std::vector<LaunchTime> CudaProgram::launch_times() {
  std::vector<LaunchTime> times;
  if (!time_stages_ || !ran_) return times;
  const ContextGuard guard(*device_);
  for (std::size_t i = 0; i < program_.launches.size(); ++i) {
    const generator::Launch& launch = program_.launches[i];
    times.push_back({launch.stage, program_.kernels[static_cast<std::size_t>(launch.kernel)].entry,
                     marks_[i + 1].seconds_since(marks_[i]), launch.bytes, launch.flops});
  }
  return times;
}

std::vector<StageTime> CudaProgram::stage_times() {
  std::vector<StageTime> times;
  for (const LaunchTime& launch : launch_times()) {
    if (times.empty() || times.back().stage != launch.stage) times.push_back({launch.stage, 0});
    times.back().seconds += launch.seconds;
  }
  return times;
}

}  // namespace fourtune::runtime::cuda
