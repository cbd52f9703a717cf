#include "tuner/calibrate/processor_tests.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/backends/cpu/base/team.h"
#include "tuner/calibrate/processor_loops.h"

namespace fourtune::tuner {
namespace {

namespace cpu = runtime::cpu;
using Array = cpu::Buffer<std::uint64_t>;

constexpr std::int64_t kSteps = 4096;   // of a loop in registers
constexpr std::int64_t kRepeats = 64;   // passes over an array in the first-level cache
constexpr std::uint64_t kKey = 0x5a5a;  // of copies

std::int64_t whole_words(std::int64_t bytes) {
  return std::max<std::int64_t>(loop_words, bytes / 8 / loop_words * loop_words);
}

std::shared_ptr<Array> numbered(std::int64_t words, int threads) {
  auto array = std::make_shared<Array>(words);
  std::uint64_t* const data = array->data();
  // Each part is first touched by the thread that will use it.
  cpu::parallel_for(threads, threads, [=](std::int64_t part) {
    for (std::int64_t i = words * part / threads; i < words * (part + 1) / threads; ++i)
      data[i] = static_cast<std::uint64_t>(i);
  });
  return array;
}

template <class T>
RateTest core_multiply_adds() {
  const ProcessorLoops loops = processor_loops();
  const auto run = [loops]() -> double {
    if constexpr (sizeof(T) == 4)
      return loops.multiply_add32(kSteps, 1.0F);
    else
      return loops.multiply_add64(kSteps, 1.0);
  };
  const int lanes = sizeof(T) == 4 ? loops.lanes32 : loops.lanes64;
  const auto sum = std::make_shared<double>();
  RateTest test;
  test.amount = 2.0 * static_cast<double>(kSteps) * multiply_add_chains * lanes;
  test.work.run = [=](int count) {
    for (int i = 0; i < count; ++i) *sum = run();
  };
  test.check = [=] { expect_right(run() == lanes * multiply_add_sum(kSteps), "sums of multiply-adds"); };
  return test;
}

RateTest clock_rate() {
  RateTest test;
  const auto sum = std::make_shared<std::uint64_t>();
  test.amount = kSteps;
  test.work.run = [=](int count) {
    for (int i = 0; i < count; ++i) *sum = waiting_additions(kSteps);
  };
  test.check = [] { expect_right(waiting_additions(kSteps) == kSteps, "sums of ones"); };
  return test;
}

RateTest loads(std::int64_t bytes) {
  const ProcessorLoops loops = processor_loops();
  const std::int64_t words = whole_words(bytes);
  const auto array = numbered(words, 1);
  const auto sum = std::make_shared<std::uint64_t>();
  RateTest test;
  test.amount = static_cast<double>(8 * words * kRepeats);
  test.work.run = [=](int count) {
    for (int i = 0; i < count; ++i) *sum = loops.load(array->data(), words, kRepeats);
  };
  test.check = [=] {
    const auto all = static_cast<std::uint64_t>(words * (words - 1) / 2 * kRepeats);
    expect_right(loops.load(array->data(), words, kRepeats) == all, "sums of an array");
  };
  return test;
}

RateTest stores(std::int64_t bytes) {
  const ProcessorLoops loops = processor_loops();
  const std::int64_t words = whole_words(bytes);
  const auto array = numbered(words, 1);
  RateTest test;
  test.amount = static_cast<double>(8 * words * kRepeats);
  test.work.run = [=](int count) {
    for (int i = 0; i < count; ++i) loops.store(array->data(), words, kRepeats);
  };
  test.check = [=] {
    loops.store(array->data(), words, kRepeats);
    expect_right(
        std::all_of(array->data(), array->data() + words, [](std::uint64_t word) { return word == kRepeats - 1; }),
        "arrays when it stores");
  };
  return test;
}

// bytes: of both arrays together.
RateTest copies_of(std::int64_t bytes, int threads) {
  const ProcessorLoops loops = processor_loops();
  const std::int64_t part = whole_words(bytes / 2 / threads), words = part * threads;
  const auto from = numbered(words, threads), to = numbered(words, threads);
  const auto once = [=] {
    cpu::parallel_for(threads, threads,
                      [&](std::int64_t i) { loops.copy(from->data() + i * part, to->data() + i * part, part, kKey); });
  };
  RateTest test;
  test.amount = static_cast<double>(16 * words);
  test.work.run = [=](int count) {
    for (int i = 0; i < count; ++i) once();
  };
  test.check = [=] {
    once();
    for (std::int64_t i = 0; i < words; ++i) expect_right((*to)[i] == ((*from)[i] ^ kKey), "copies");
  };
  return test;
}

// A loop of as many units as threads takes longer than one unit: by what it takes to begin and end it. Units last some
// microseconds, so that no thread is called off before it begins.
RateTest meetings(int threads) {
  const ProcessorLoops loops = processor_loops();
  constexpr std::int64_t steps = 2048;
  const double right = multiply_add_sum(steps) * loops.lanes64;
  const auto sums = std::make_shared<std::vector<double>>(static_cast<std::size_t>(threads) * 8);  // a line for each
  const auto unit = [=](std::int64_t i) {
    (*sums)[static_cast<std::size_t>(8 * i)] = loops.multiply_add64(steps, 1.0);
  };
  const auto once = [=] { cpu::parallel_for(threads, threads, unit); };
  RateTest test;
  test.work.most_loops = 400;  // as their number follows from a small difference
  test.work.timed = [=](int count) {
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto start = now();
    for (int i = 0; i < count; ++i) unit(0);
    const auto middle = now();
    for (int i = 0; i < count; ++i) once();
    return std::chrono::duration<double>((now() - middle) - (middle - start)).count();
  };
  test.work.run = [=](int count) {
    for (int i = 0; i < count; ++i) once();
  };
  test.check = [=] {
    std::fill(sums->begin(), sums->end(), 0.0);
    once();
    for (int i = 0; i < threads; ++i)
      expect_right((*sums)[static_cast<std::size_t>(8 * i)] == right, "sums on its threads");
  };
  return test;
}

// Of both arrays of a copy: more than the caches hold, and no more than a part of the memory.
std::int64_t far_bytes(const DeviceTraits& traits) {
  constexpr std::int64_t least = std::int64_t{256} << 20, most = std::int64_t{1} << 30;
  const std::int64_t wanted = std::clamp(2 * traits.l3_bytes, least, most);
  return traits.memory_bytes > 0 ? std::min(wanted, traits.memory_bytes / 8) : wanted;
}

}  // namespace

std::vector<RateTestMaker> processor_tests(const DeviceTraits& traits) {
  const std::int64_t near = traits.l1_bytes / 2, second = std::max(traits.l2_bytes / 2, 4 * traits.l1_bytes);
  const std::int64_t far = far_bytes(traits);
  std::vector<RateTestMaker> tests{{&DeviceRates::clock, clock_rate},
                                   {&DeviceRates::flops32, core_multiply_adds<float>},
                                   {&DeviceRates::flops64, core_multiply_adds<double>},
                                   {&DeviceRates::load, [=] { return loads(near); }},
                                   {&DeviceRates::store, [=] { return stores(near); }},
                                   {&DeviceRates::copy_near, [=] { return copies_of(second, 1); }},
                                   {&DeviceRates::copy_far, [=] { return copies_of(far, 1); }}};
  const int threads = cpu::team_size(traits.cores);
  if (threads > 1) {
    tests.push_back({&DeviceRates::copy_all, [=] { return copies_of(far, threads); }});
    tests.push_back({&DeviceRates::launch, [=] { return meetings(threads); }});
  }
  return tests;
}

}  // namespace fourtune::tuner
