// A backend with known behaviour: it transforms c2c ffts by the direct sum and takes as long as the plan's `block`
// says.
//   block=7    wrong: one output is off
//   block=11   throws out_of_memory
//   block=13   wrong adjoint
// any other block b takes about 50 us + 2 us |b - 40| of its thread's CPU time, so that 40 is the best.
#pragma once

#include <cmath>
#include <complex>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "tuner/measure/benchmark.h"
#include "tuner/session/session.h"

namespace fourtune::tuner::testing {

class FakeExecutor : public runtime::Executor {
 public:
  FakeExecutor(const Problem& problem, const generator::Plan& plan) : problem_(problem), plan_(plan) {
    if (plan.cpu().fft.block == 11) throw Error(Status::out_of_memory, "this fake needs too much memory");
  }
  void set_points(const runtime::PointSet&) override {}
  void execute(void* first, void* second, bool adjoint) override {
    const Clock clock = thread_clock();
    const std::int64_t end = clock() + 1000 * (50 + 2 * std::abs(plan_.cpu().fft.block - 40));
    const auto* in = static_cast<const std::complex<double>*>(adjoint ? second : first);
    auto* out = static_cast<std::complex<double>*>(adjoint ? first : second);
    const auto n = static_cast<std::size_t>(problem_.n[0]);
    std::vector<std::complex<double>> result(n);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j)
        result[k] += in[j] * std::polar(1.0, (adjoint ? -1 : 1) * problem_.sign * 2 * M_PI *
                                                 static_cast<double>(k * j) / static_cast<double>(n));
    if (plan_.cpu().fft.block == 7) result[n / 2] += 1.0;
    if (plan_.cpu().fft.block == 13 && adjoint) result[n / 2] *= 2.0;
    std::memcpy(out, result.data(), n * sizeof result[0]);
    while (clock() < end) {
    }
  }
  MemoryUse memory() const override { return {1000, 1000}; }
  std::span<const StageTime> stage_times() const override { return stages_; }
  const generator::Plan& plan() const override { return plan_; }
  std::string wisdom() const override { return "wisdom of block " + std::to_string(plan_.cpu().fft.block); }

 private:
  Problem problem_;
  generator::Plan plan_;
  std::vector<StageTime> stages_{{"fft", 1e-3}};
};

class FakeBackend : public runtime::Backend {
 public:
  std::string_view name() const override { return "fake"; }
  std::unique_ptr<runtime::Executor> bind(const Problem& problem, const generator::Plan& plan,
                                          const runtime::ExecutorOptions&) const override {
    return std::make_unique<FakeExecutor>(problem, plan);
  }

 protected:
  DeviceTraits traits_of(int) const override {
    DeviceTraits traits;
    traits.backend = "cpu";
    traits.name = "fake processor";
    traits.isa = "portable";
    return traits;
  }
};

inline generator::Plan fake_plan(int block) {
  generator::Plan plan;
  plan.cpu().fft = {generator::FftFamily::rows, generator::Rigor::measure, block};
  return plan;
}
inline std::string fake_text(const Problem& problem, int block) {
  return generator::to_text(fake_plan(block), problem);
}

// A session over blocks first..last on these problems. The untuned default is block 30. It judges by CPU time, so that
// other load neither leaves a problem without a winner nor decides which plan wins.
inline SessionOptions fake_session(const std::vector<std::string>& tokens, int first, int last) {
  SessionOptions options;
  for (const std::string& token : tokens) options.problems.push_back(parse_problem(token));
  options.seconds = 0;
  options.threads = 1, options.cpu_time = true;
  options.candidate_timeout = 60;
  options.list_candidates = [first, last](const Problem&, const DeviceTraits&) {
    generator::Space space;
    space.axes = {"block"};
    for (int block = first; block <= last; ++block) space.candidates.push_back({fake_plan(block), {block - first}, 0});
    return space;
  };
  options.untuned_plan = [](const Problem&, const DeviceTraits&) { return fake_plan(30); };
  options.floor_seconds = [](const generator::Plan&, const Problem&, const DeviceTraits&) { return 0.0; };
  return options;
}

}  // namespace fourtune::tuner::testing
