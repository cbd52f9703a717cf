#include "runtime/backends/gpu/nufft_runner.h"

#include <algorithm>
#include <utility>

namespace fourtune::runtime::gpu {

using generator::BufferRef;
using generator::GpuProgram;
using generator::Launch;

std::int64_t BoundLaunches::bytes() const {
  std::int64_t bytes = library_ ? library_->bytes() : 0;
  for (const auto& table : constants_) bytes += table->bytes;
  return bytes;
}

Runner::Runner(std::unique_ptr<Queue> queue, int slots, bool time_stages)
    : queue_(std::move(queue)),
      memory_(index(slots)),
      alias_(index(slots), -1),
      pointed_(index(slots), nullptr),
      timed_(time_stages) {}

void Runner::reserve(int slot, std::int64_t bytes, const char* name, bool kept) {
  auto& memory = memory_[index(slot)];
  alias_[index(slot)] = -1;
  if (!memory || memory->bytes < bytes) {
    memory.reset();  // freed before the larger one is allocated, so that both need not fit
    ++epoch_;
    memory = queue_->allocate(std::max<std::int64_t>(bytes, 16), name);
  }
  memory->kept = kept;
}

void Runner::free(int slot) {
  memory_[index(slot)].reset();
  ++epoch_;
}

void Runner::alias(int slot, int of) {
  if (alias_[index(slot)] == of) return;
  memory_[index(slot)].reset();
  alias_[index(slot)] = of;
  ++epoch_;
}

void Runner::point(int slot, std::byte* at) { pointed_[index(slot)] = at; }

std::byte* Runner::data(int slot) const {
  if (pointed_[index(slot)] != nullptr) return pointed_[index(slot)];
  if (alias_[index(slot)] >= 0) return data(alias_[index(slot)]);
  return memory_[index(slot)] ? memory_[index(slot)]->data : nullptr;
}

std::int64_t Runner::held() const {
  std::int64_t bytes = 0;
  for (const auto& memory : memory_)
    if (memory) bytes += memory->bytes;
  return bytes;
}

std::vector<int> Runner::load(const std::vector<generator::KernelSource>& sources) {
  // Comparing texts is a good part of what a set_points of few points costs the host, so those that are known are
  // compared once.
  const auto number_of = [&](const generator::KernelSource& source) {
    const auto known = std::find(sources_.begin(), sources_.end(), source);
    return known == sources_.end() ? -1 : numbers_[static_cast<std::size_t>(known - sources_.begin())];
  };
  std::vector<int> out;
  std::vector<generator::KernelSource> fresh;
  for (const auto& source : sources) {
    out.push_back(number_of(source));
    if (out.back() < 0) fresh.push_back(source);
  }
  if (fresh.empty()) return out;
  const std::vector<int> numbers = queue_->load(fresh);
  numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
  for (auto& source : fresh) sources_.push_back(std::move(source));
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (out[i] < 0) out[i] = number_of(sources[i]);
  return out;
}

void Runner::preload(const std::vector<const GpuProgram*>& programs) {
  std::vector<generator::KernelSource> sources;
  for (const GpuProgram* program : programs)
    for (const auto& kernel : program->kernels)
      if (std::find(sources.begin(), sources.end(), kernel) == sources.end()) sources.push_back(kernel);
  load(sources);
}

BoundLaunches Runner::make(const GpuProgram& program) {
  BoundLaunches part;
  change(part, program);
  for (const auto& table : program.constants) {
    part.constants_.push_back(
        queue_->allocate(std::max<std::int64_t>(static_cast<std::int64_t>(table.size()), 16), "a table"));
    part.constants_.back()->kept = true;
    queue_->upload(*part.constants_.back(), table);
  }
  return part;
}

BoundLaunches Runner::make_library(const Problem& problem, int slot) {
  BoundLaunches part;
  part.library_ = queue_->library_fft(problem);
  part.slot_ = slot;
  return part;
}

void Runner::change(BoundLaunches& part, const GpuProgram& program) {
  part.kernels_ = load(program.kernels);
  part.launches_ = program.launches;
  part.entries_.clear();
  for (const auto& kernel : program.kernels) part.entries_.push_back(kernel.entry);
  part.bound_ = 0;
}

void Runner::bind(BoundLaunches& part, bool always) {
  if (part.bound_ == epoch_ && !always) return;
  part.arguments_.clear();
  for (const Launch& launch : part.launches_)
    part.arguments_.emplace_back(launch, [&](const BufferRef& ref) {
      return ref.where == BufferRef::Where::workspace ? data(ref.index)
                                                      : part.constants_[static_cast<std::size_t>(ref.index)]->data;
    });
  part.bound_ = epoch_;
}

void Runner::launch(BoundLaunches& part, std::byte* first, std::byte* second) {
  if (part.library_) {
    mark("fft", nullptr, nullptr);
    part.library_->run(data(part.slot_));
    return;
  }
  bind(part);
  for (std::size_t i = 0; i < part.launches_.size(); ++i) {
    const Launch& one = part.launches_[i];
    mark(one.stage, &one, &part.entries_[static_cast<std::size_t>(one.kernel)]);
    part.arguments_[i].set_arrays(first, second);
    queue_->launch(part.kernels_[static_cast<std::size_t>(one.kernel)], one.grid, part.arguments_[i]);
  }
}

void Runner::mark(const std::string& stage, const Launch* launch, const std::string* entry) {
  if (!timed_) return;
  marks_.push_back({stage, entry ? *entry : std::string(), launch ? launch->bytes : 0, launch ? launch->flops : 0});
  queue_->mark(next_++);
}

void Runner::end_stages(bool set_points) {
  mark({}, nullptr, nullptr);
  if (set_points) kept_ = next_;
}

std::vector<LaunchTime> Runner::launch_times() {
  std::vector<LaunchTime> times;
  for (int i = 0; i < next_; ++i) {
    const Timed& one = marks_[static_cast<std::size_t>(i)];
    if (!one.stage.empty()) times.push_back({one.stage, one.entry, queue_->seconds(i, i + 1), one.bytes, one.flops});
  }
  return times;
}

std::vector<StageTime> Runner::stage_times() {
  std::vector<StageTime> times;
  std::size_t group = 0;
  for (int i = 0; i < next_; ++i) {
    const std::string& name = marks_[static_cast<std::size_t>(i)].stage;
    if (i == kept_) group = times.size();
    if (name.empty()) continue;
    const double seconds = queue_->seconds(i, i + 1);
    const auto found = std::find_if(times.begin() + static_cast<std::ptrdiff_t>(group), times.end(),
                                    [&](const StageTime& time) { return time.stage == name; });
    if (found == times.end())
      times.push_back({name, seconds});
    else
      found->seconds += seconds;
  }
  return times;
}

}  // namespace fourtune::runtime::gpu
