#include "tuner/calibrate/processor_loops.h"

#include "runtime/backends/cpu/gridder/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tuner/calibrate/processor_loops.cpp"
#include <hwy/foreach_target.h>
// This must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fourtune::tuner::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
T multiply_add(std::int64_t steps, T one) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const V factor = hn::Set(d, one);
  // Twelve variables, not an array, so that they stay in registers. Each begins with another number: the compiler would
  // compute equal ones once.
  const auto start = [&](int chain) { return hn::Set(d, static_cast<T>(chain)); };
  V a = start(0), b = start(1), c = start(2), e = start(3), f = start(4), g = start(5);
  V h = start(6), i = start(7), j = start(8), k = start(9), l = start(10), m = start(11);
  for (std::int64_t step = 0; step < steps; ++step) {
    a = hn::MulAdd(a, factor, factor), b = hn::MulAdd(b, factor, factor), c = hn::MulAdd(c, factor, factor);
    e = hn::MulAdd(e, factor, factor), f = hn::MulAdd(f, factor, factor), g = hn::MulAdd(g, factor, factor);
    h = hn::MulAdd(h, factor, factor), i = hn::MulAdd(i, factor, factor), j = hn::MulAdd(j, factor, factor);
    k = hn::MulAdd(k, factor, factor), l = hn::MulAdd(l, factor, factor), m = hn::MulAdd(m, factor, factor);
  }
  const V first = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(f, g));
  const V last = hn::Add(hn::Add(hn::Add(h, i), hn::Add(j, k)), hn::Add(l, m));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(first, last)));
}
float multiply_add32(std::int64_t steps, float one) { return multiply_add<float>(steps, one); }
double multiply_add64(std::int64_t steps, double one) { return multiply_add<double>(steps, one); }

using Words = hn::ScalableTag<std::uint64_t>;

std::uint64_t load(const std::uint64_t* from, std::int64_t words, std::int64_t repeats) {
  const Words d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto a = hn::Zero(d), b = a, c = a, e = a;
  for (std::int64_t repeat = 0; repeat < repeats; ++repeat)
    for (const std::uint64_t* at = from; at < from + words; at += 8 * lanes) {
      a = hn::Add(a, hn::Load(d, at)), b = hn::Add(b, hn::Load(d, at + lanes));
      c = hn::Add(c, hn::Load(d, at + 2 * lanes)), e = hn::Add(e, hn::Load(d, at + 3 * lanes));
      a = hn::Add(a, hn::Load(d, at + 4 * lanes)), b = hn::Add(b, hn::Load(d, at + 5 * lanes));
      c = hn::Add(c, hn::Load(d, at + 6 * lanes)), e = hn::Add(e, hn::Load(d, at + 7 * lanes));
    }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

void store(std::uint64_t* to, std::int64_t words, std::int64_t repeats) {
  const Words d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t repeat = 0; repeat < repeats; ++repeat) {
    const auto value = hn::Set(d, static_cast<std::uint64_t>(repeat));
    for (std::uint64_t* at = to; at < to + words; at += 4 * lanes) {
      hn::Store(value, d, at), hn::Store(value, d, at + lanes);
      hn::Store(value, d, at + 2 * lanes), hn::Store(value, d, at + 3 * lanes);
    }
  }
}

void copy(const std::uint64_t* from, std::uint64_t* to, std::int64_t words, std::uint64_t key) {
  const Words d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto changed = hn::Set(d, key);
  for (const std::uint64_t* const end = from + words; from < end; from += 4 * lanes, to += 4 * lanes) {
    const auto a = hn::Load(d, from), b = hn::Load(d, from + lanes);
    const auto c = hn::Load(d, from + 2 * lanes), e = hn::Load(d, from + 3 * lanes);
    hn::Store(hn::Xor(a, changed), d, to), hn::Store(hn::Xor(b, changed), d, to + lanes);
    hn::Store(hn::Xor(c, changed), d, to + 2 * lanes), hn::Store(hn::Xor(e, changed), d, to + 3 * lanes);
  }
}

ProcessorLoops loops() {
  return {static_cast<int>(hn::Lanes(hn::ScalableTag<float>())),
          static_cast<int>(hn::Lanes(hn::ScalableTag<double>())),
          &multiply_add32,
          &multiply_add64,
          &load,
          &store,
          &copy};
}

}  // namespace fourtune::tuner::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourtune::tuner {

HWY_EXPORT(loops);
ProcessorLoops processor_loops() { return HWY_DYNAMIC_DISPATCH(loops)(); }

std::uint64_t waiting_additions(std::int64_t steps) {
  std::uint64_t sum = 0, one = 1;
  asm volatile("" : "+r"(one));  // a register: some processors add constants before they execute anything
  for (std::int64_t step = 0; step < steps; step += 8) {
    for (int i = 0; i < 8; ++i) {
      sum += one;
      asm volatile("" : "+r"(sum));  // the compiler may not add eight at once
    }
  }
  return sum;
}

}  // namespace fourtune::tuner
#endif
