#include "tuner/calibrate/gpu_tests.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "runtime/backends/device_array.h"
#include "runtime/backends/gpu/program_set.h"
#include "tuner/calibrate/gpu_kernels.h"

namespace fourtune::tuner {
namespace {

using generator::BufferRef;
using generator::LaunchArgument;
using runtime::gpu::Access;

// How much every kernel does: about half a millisecond on a large GPU, so that launching it is little.
struct Amounts {
  std::int64_t blocks = 4;  // of kernel_threads
  std::int64_t multiply_steps = 32, shared_steps = 32, atomic_steps = 8, near_repeats = 2;
  std::int64_t near_bytes = 64 << 10, far_bytes = 256 << 10;  // of each array of a copy
  std::int64_t words = 1 << 12;                               // that atomics add to; a power of two
  std::int64_t launches = 60;  // as many as one graph takes, with which a transform is started
  std::int64_t threads() const { return blocks * kernel_threads; }
};
Amounts amounts_of(const DeviceTraits& traits, bool emulated) {
  Amounts out;
  if (emulated) return out;
  out.blocks = 8 * static_cast<std::int64_t>(std::max(1, traits.multiprocessors));
  out.multiply_steps = 8192, out.shared_steps = 4096, out.atomic_steps = 512, out.near_repeats = 256;
  // Well inside the second-level cache, whose halves some GPUs keep apart; and far beyond it.
  out.near_bytes = std::clamp<std::int64_t>(traits.l2_bytes / 8, 1 << 18, 16 << 20);
  out.far_bytes = std::max<std::int64_t>(4 * traits.l2_bytes, 256 << 20);
  if (traits.memory_bytes > 0) out.far_bytes = std::min(out.far_bytes, traits.memory_bytes / 8);
  out.words = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(out.near_bytes))) / 8;
  return out;
}

// The device as all tests use it.
struct Bench {
  Bench(const runtime::gpu::ProgramBackend& backend, int device)
      : memory(backend.memory(device)), timer(backend.timer(device)), programs(backend.queue(device), nullptr) {}
  std::unique_ptr<runtime::ArrayMemory> memory;
  std::unique_ptr<runtime::StreamTimer> timer;
  runtime::gpu::ProgramSet programs;
};

generator::GpuProgram program_of(generator::KernelSource kernel, std::int64_t blocks,
                                 std::vector<LaunchArgument> arguments, std::int64_t launches = 1) {
  generator::GpuProgram program;
  program.kernels = {std::move(kernel)};
  generator::Launch launch;
  launch.grid = {static_cast<std::uint32_t>(blocks), 1, 1};
  launch.arguments = std::move(arguments);
  launch.stage = "calibrate";
  program.launches.assign(static_cast<std::size_t>(launches), launch);
  return program;
}

constexpr BufferRef kFirst{BufferRef::Where::first, 0, 0}, kSecond{BufferRef::Where::second, 0, 0};

// One program on two arrays.
class TimedProgram {
 public:
  TimedProgram(std::shared_ptr<Bench> bench, const generator::GpuProgram& program, std::int64_t first,
               std::int64_t second)
      : bench_(std::move(bench)),
        number_(bench_->programs.add(program)),
        first_(*bench_->memory, static_cast<std::size_t>(first)),
        second_(*bench_->memory, static_cast<std::size_t>(second)) {}
  void once() { bench_->programs.run(number_, array(first_), array(second_)); }
  double seconds(int count) {
    bench_->timer->start();
    for (int i = 0; i < count; ++i) once();
    bench_->timer->stop();
    return bench_->timer->seconds();
  }
  void clear() {
    bench_->memory->fill(first_.data(), 0, first_.bytes());
    if (second_.bytes() > 0) bench_->memory->fill(second_.data(), 0, second_.bytes());
  }
  template <class T>
  void upload_first(const std::vector<T>& values) {
    bench_->memory->upload(first_.data(), values.data(), values.size() * sizeof(T));
  }
  template <class T>
  std::vector<T> download(bool second = false) {
    const runtime::DeviceArray& from = second ? second_ : first_;
    std::vector<T> values(from.bytes() / sizeof(T));
    bench_->memory->wait();
    bench_->memory->download(values.data(), from.data(), from.bytes());
    return values;
  }

 private:
  static runtime::gpu::ProgramSet::Array array(const runtime::DeviceArray& of) {
    return {of.data(), static_cast<std::int64_t>(of.bytes()), Access::both};
  }
  std::shared_ptr<Bench> bench_;
  int number_;
  runtime::DeviceArray first_, second_;
};

// After the check has run on cleared arrays, `run` may be repeated on what it left.
RateTest test_of(const std::shared_ptr<TimedProgram>& run, double amount, std::function<void()> check) {
  RateTest test;
  test.amount = amount;
  test.work.run = [run](int count) { run->seconds(count); };
  test.work.timed = [run](int count) { return run->seconds(count); };
  test.check = [run, check = std::move(check)] {
    run->clear();
    check();
  };
  return test;
}

template <class T>
RateTest multiply_adds(const std::shared_ptr<Bench>& bench, const Amounts& amounts) {
  const Precision precision = sizeof(T) == 4 ? Precision::f32 : Precision::f64;
  const auto run = std::make_shared<TimedProgram>(
      bench,
      program_of(multiply_add_kernel(precision), amounts.blocks, {kFirst, static_cast<T>(1), amounts.multiply_steps}),
      amounts.threads() * static_cast<std::int64_t>(sizeof(T)), 0);
  const double each = static_cast<double>(kernel_chains * amounts.multiply_steps);
  return test_of(run, 2 * each * static_cast<double>(amounts.threads()), [run, each] {
    run->once();
    const double right = each + kernel_chains * (kernel_chains - 1) / 2;
    for (const T sum : run->template download<T>())
      expect_right(static_cast<double>(sum) == right, "sums of multiply-adds");
  });
}

RateTest shared(const std::shared_ptr<Bench>& bench, const Amounts& amounts, bool stores) {
  const std::int64_t steps = amounts.shared_steps;
  const auto run =
      std::make_shared<TimedProgram>(bench,
                                     program_of(stores ? shared_store_kernel() : shared_load_kernel(), amounts.blocks,
                                                {kFirst, steps, std::int64_t{kernel_threads}}),
                                     amounts.threads() * static_cast<std::int64_t>(sizeof(std::uint32_t)), 0);
  return test_of(run, static_cast<double>(16 * steps * amounts.threads()), [run, steps, stores] {
    run->once();
    const auto sums = run->download<std::uint32_t>();
    for (std::size_t i = 0; i < sums.size(); ++i) {
      // The values at t, t + 256, t + 512 and t + 768: each a quarter of the steps, or what the last four steps stored.
      const auto t = static_cast<std::int64_t>(i % kernel_threads);
      const std::int64_t four = 4 * (4 * t + 6 * kernel_threads) + 4 * 6;
      const std::int64_t right = stores ? 4 * steps - 10 : steps / 4 * four;
      expect_right(sums[i] == static_cast<std::uint32_t>(right), "sums in shared memory");
    }
  });
}

RateTest copies(const std::shared_ptr<Bench>& bench, const Amounts& amounts, std::int64_t bytes, std::int64_t repeats) {
  const std::int64_t count = bytes / 16;
  const auto run = std::make_shared<TimedProgram>(
      bench, program_of(copy_kernel(), amounts.blocks, {kFirst, kSecond, count, repeats}), 16 * count, 16 * count);
  return test_of(run, static_cast<double>(32 * count * repeats), [run, count] {
    std::vector<std::uint32_t> values(static_cast<std::size_t>(4 * count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i);
    run->upload_first(values);
    run->once();
    expect_right(run->download<std::uint32_t>(true) == values, "copies");
  });
}

template <class T>
RateTest atomics(const std::shared_ptr<Bench>& bench, const Amounts& amounts) {
  const Precision precision = sizeof(T) == 4 ? Precision::f32 : Precision::f64;
  const auto run = std::make_shared<TimedProgram>(
      bench, program_of(atomic_kernel(precision), amounts.blocks, {kFirst, amounts.words - 1, amounts.atomic_steps}),
      amounts.words * static_cast<std::int64_t>(sizeof(T)), 0);
  const std::int64_t all = amounts.threads() * amounts.atomic_steps;
  return test_of(run, static_cast<double>(all), [run, all, words = amounts.words] {
    run->once();
    // Neighbouring additions go to neighbouring words, around and around.
    const auto sums = run->template download<T>();
    for (std::int64_t i = 0; i < words; ++i)
      expect_right(static_cast<double>(sums[static_cast<std::size_t>(i)]) ==
                       static_cast<double>(all / words + (i < all % words ? 1 : 0)),
                   "sums of atomic additions");
  });
}

RateTest launches(const std::shared_ptr<Bench>& bench, const Amounts& amounts) {
  // A block for each multiprocessor, as the smallest kernels of transforms have.
  const auto run = std::make_shared<TimedProgram>(
      bench, program_of(counting_kernel(), std::max<std::int64_t>(1, amounts.blocks / 8), {kFirst}, amounts.launches),
      16, 0);
  return test_of(run, static_cast<double>(amounts.launches), [run, amounts] {
    run->once();
    expect_right(run->download<std::uint32_t>()[0] == amounts.launches, "sums of kernels that follow each other");
  });
}

}  // namespace

std::vector<RateTestMaker> gpu_tests(const runtime::gpu::ProgramBackend& backend, int device) {
  const Amounts amounts =
      amounts_of(backend.traits(device), backend.capabilities().arrays != runtime::MemoryKind::device);
  const auto bench = std::make_shared<Bench>(backend, device);
  return {
      {&DeviceRates::flops32, [=] { return multiply_adds<float>(bench, amounts); }},
      {&DeviceRates::flops64, [=] { return multiply_adds<double>(bench, amounts); }},
      {&DeviceRates::load, [=] { return shared(bench, amounts, false); }},
      {&DeviceRates::store, [=] { return shared(bench, amounts, true); }},
      {&DeviceRates::copy_near, [=] { return copies(bench, amounts, amounts.near_bytes, amounts.near_repeats); }},
      {&DeviceRates::copy_far, [=] { return copies(bench, amounts, amounts.far_bytes, 1); }},
      {&DeviceRates::atomics32, [=] { return atomics<float>(bench, amounts); }},
      {&DeviceRates::atomics64, [=] { return atomics<double>(bench, amounts); }},
      {&DeviceRates::launch, [=] { return launches(bench, amounts); }},
  };
}

}  // namespace fourtune::tuner
