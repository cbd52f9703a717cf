#include "tuner/reference/device_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include "base/usable_threads.h"
#include "runtime/backends/gpu/nufft_runner.h"
#include "runtime/backends/gpu/program_backend.h"
#include "tuner/reference/device_sums_kernel.h"
#include "tuner/reference/phase.h"
#include "tuner/reference/synthetic.h"

namespace fourtune::tuner {
namespace {

using generator::BufferRef;
using runtime::gpu::Access;

enum class Who { best, host, device };
Who who_computes() {
  const char* value = std::getenv("FOURTUNE_REFERENCES");
  const std::string_view who = value ? value : "";
  if (who.empty()) return Who::best;
  if (who == "host") return Who::host;
  if (who == "device") return Who::device;
  throw Error(Status::invalid_option, fmt::format("FOURTUNE_REFERENCES={}: host or device", who));
}

// Terms per second of one of the host's threads: 1e9, 2e9 and 2.6e8 on a Xeon with AVX-512 beside an H200. Types 1 and
// 2 share phases between terms.
double host_terms(int type) { return type == 1 ? 1e9 : type == 2 ? 2e9 : 2.6e8; }
// Products of a coordinate and an output's number of turns: beyond, turns would have fewer than 63 bits behind the
// point.
constexpr double most_turns = 0x1p40;
// How far the host's and the device's sums may differ, relative to the largest of those that are compared.
constexpr double agreement = 1e-12;
constexpr std::size_t most_compared = 3;

using OutputTurns = std::array<Turns, 3>;

// The turns of each output per unit of a term's coordinate, or mode.
template <typename T>
std::vector<OutputTurns> turns_of_outputs(const NufftSums<T>& job) {
  const auto dim = static_cast<std::size_t>(job.points.dim);
  std::vector<OutputTurns> turns(job.outputs());
  for (std::size_t i = 0; i < turns.size(); ++i)
    for (std::size_t d = 0; d < dim; ++d) {
      Turns one;
      if (job.type == 1) one = to_turns(static_cast<double>(job.modes[i][d]));
      // Modes are whole numbers, so whole turns of a point make no difference; coordinates of sources are not.
      if (job.type == 2) one = fold_turns(static_cast<double>(job.points.x[d][job.which[i]]));
      if (job.type == 3) one = to_turns(static_cast<double>(job.targets.x[d][job.which[i]]));
      turns[i][d] = signed_turns(one, job.sign);
    }
  return turns;
}

double largest(const std::vector<OutputTurns>& turns) {
  double most = 0;
  for (const OutputTurns& of : turns)
    for (const Turns& one : of) most = std::max(most, std::fabs(one.hi));
  return most;
}

// The table of the kernel: (hi, lo) of three dimensions of each output, and zeros up to whole groups.
std::vector<double> table_of(const std::vector<OutputTurns>& turns) {
  constexpr std::size_t group = sums_group;
  std::vector<double> table((turns.size() + group - 1) / group * group * 3 * 2);
  for (std::size_t i = 0; i < turns.size(); ++i)
    for (std::size_t d = 0; d < 3; ++d) {
      table[2 * (3 * i + d)] = turns[i][d].hi;
      table[2 * (3 * i + d) + 1] = turns[i][d].lo;
    }
  return table;
}

// Adds up what each part of the grid summed. False: some are not finite.
bool add_parts(const std::vector<double>& parts, std::size_t stride, ComplexSpan out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    CompensatedSum sum;
    for (std::size_t at = i; 2 * at + 1 < parts.size(); at += stride) sum.add({parts[2 * at], parts[2 * at + 1]});
    out[i] = sum.value();
    if (!std::isfinite(out[i].real()) || !std::isfinite(out[i].imag())) return false;
  }
  return true;
}

// Computes some of the outputs on the host, others with each seed.
template <typename T>
void compare_with_host(const NufftSums<T>& job, ComplexSpan found, std::uint64_t seed) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < std::min(most_compared, found.size()); ++i)
    chosen.push_back(static_cast<std::size_t>(random_bits(seed, 91, i) % found.size()));
  NufftSums<T> few = job;
  std::vector<std::array<std::int64_t, 3>> modes;
  std::vector<std::int64_t> which;
  for (const std::size_t i : chosen) job.type == 1 ? modes.push_back(job.modes[i]) : which.push_back(job.which[i]);
  few.modes = modes, few.which = which;
  std::vector<std::complex<double>> right(chosen.size());
  host_sums(few, right);
  double size = 0;
  for (const auto& value : right) size = std::max(size, std::abs(value));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const double off = std::abs(found[chosen[i]] - right[i]);
    if (off <= agreement * size) continue;
    throw Error(Status::internal,
                fmt::format("the device's direct sums are wrong: number {} of a type {} is off the host's by {:.2e}, "
                            "relative to their size (FOURTUNE_REFERENCES=host leaves all of them to the host)",
                            chosen[i], job.type, size > 0 ? off / size : std::numeric_limits<double>::infinity()));
  }
}

}  // namespace

struct DeviceSums::Impl {
  enum Slot { x, y, z, table, parts, slots };
  runtime::gpu::Runner runner;
  runtime::gpu::BoundLaunches part;
  bool always = false;  // not only where it pays
  std::uint64_t calls = 0;
  std::string why;

  explicit Impl(std::unique_ptr<runtime::gpu::Queue> queue) : runner(std::move(queue), slots, false) {}

  // A grid of `groups` times as many blocks as keep the device busy, of which each has a part of the terms.
  std::int64_t parts_of(std::int64_t count, std::int64_t groups) {
    const std::int64_t blocks = 16 * std::max(1, runner.queue().traits().multiprocessors);
    return std::clamp<std::int64_t>(blocks / groups, 1,
                                    std::max<std::int64_t>(1, (count + sums_threads - 1) / sums_threads));
  }
  template <typename T>
  generator::GpuProgram program(const NufftSums<T>& job, std::int64_t groups, std::int64_t shares, double most) const {
    generator::GpuProgram program;
    program.kernels = {sums_kernel()};
    generator::Launch launch;
    launch.grid = {static_cast<std::uint32_t>(shares), static_cast<std::uint32_t>(groups), 1};
    const auto slot = [](int index) { return BufferRef{BufferRef::Where::workspace, index, 0}; };
    const generator::ArgumentStruct terms{{slot(x), slot(y), slot(z), BufferRef{BufferRef::Where::first, 0, 0},
                                           job.terms(), std::int64_t{job.points.dim}, std::int64_t{sizeof(T) == 4},
                                           std::int64_t{job.type == 2}, job.n[0], job.n[1], job.n[2],
                                           std::int64_t{job.order == ModeOrder::fft}, most}};
    launch.arguments = {terms, slot(table), slot(parts)};
    launch.stage = "direct sums";
    program.launches = {launch};
    return program;
  }
  template <typename T>
  std::vector<double> run(const NufftSums<T>& job, const DeviceInput& at, const std::vector<OutputTurns>& turns) {
    const std::vector<double> numbers = table_of(turns);
    const auto groups = static_cast<std::int64_t>((turns.size() + sums_group - 1) / sums_group);
    const std::int64_t shares = parts_of(job.terms(), groups);
    std::vector<double> sums(static_cast<std::size_t>(2 * shares * groups * sums_group));
    const auto bytes = [](const std::vector<double>& of) {
      return static_cast<std::int64_t>(of.size() * sizeof(double));
    };
    runner.reserve(table, bytes(numbers), "the outputs of direct sums", true);
    runner.upload(table, std::as_bytes(std::span(numbers)));
    runner.reserve(parts, bytes(sums), "direct sums");
    runner.change(part, program(job, groups, shares, most_turns / std::max(1.0, largest(turns))));
    runtime::gpu::Queue& queue = runner.queue();
    runtime::gpu::LaunchScope run(queue, nullptr);
    const std::int64_t real = sizeof(T);
    std::byte* const values =
        queue.open(const_cast<void*>(at.values), 2 * real * job.terms(), Access::in, "the input of direct sums");
    for (int d = 0; d < 3; ++d) {
      const bool read = job.type != 2 && d < job.points.dim;
      void* const array = const_cast<void*>(at.x[static_cast<std::size_t>(d)]);
      runner.point(x + d,
                   read ? queue.open(array, real * job.terms(), Access::in, "the points of direct sums") : values);
    }
    runner.bind(part, true);
    runner.launch(part, values, nullptr);
    queue.read(sums.data(), runner.data(parts), sums.size() * sizeof(double));
    run.complete();
    return sums;
  }
};

DeviceSums::DeviceSums() = default;
DeviceSums::~DeviceSums() = default;
const std::string& DeviceSums::why() const { return impl_->why; }

std::unique_ptr<DeviceSums> DeviceSums::make(const runtime::Backend& backend, int device) {
  const Who who = who_computes();
  const auto* programs = dynamic_cast<const runtime::gpu::ProgramBackend*>(&backend);
  if (who == Who::host || !programs) return nullptr;
  // An emulator is slower than the host that it runs on.
  if (who == Who::best && backend.capabilities().arrays != runtime::MemoryKind::device) return nullptr;
  std::unique_ptr<DeviceSums> made(new DeviceSums);
  made->impl_ = std::make_unique<Impl>(programs->queue(device));
  made->impl_->always = who == Who::device;
  return made;
}

bool DeviceSums::takes(int type, double terms) const {
  return impl_->why.empty() && (impl_->always || terms > host_seconds * host_terms(type) * usable_threads());
}

template <typename T>
bool DeviceSums::sums(const NufftSums<T>& job, const DeviceInput& at, ComplexSpan out) {
  if (out.empty() || job.terms() == 0) return false;
  std::vector<double> parts;
  const std::vector<OutputTurns> turns = turns_of_outputs(job);
  try {
    parts = impl_->run(job, at, turns);
  } catch (const Error& error) {  // a device that is lost tells so when a transform asks it
    impl_->why = error.what();
    return false;
  }
  const std::size_t stride = (out.size() + sums_group - 1) / sums_group * sums_group;
  if (!add_parts(parts, stride, out)) return false;
  compare_with_host(job, out, impl_->calls++);
  return true;
}

template bool DeviceSums::sums<float>(const NufftSums<float>&, const DeviceInput&, ComplexSpan);
template bool DeviceSums::sums<double>(const NufftSums<double>&, const DeviceInput&, ComplexSpan);

}  // namespace fourtune::tuner
