// A backend that computes nothing and records its arguments, so that tests see how every option of an interface
// arrives.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/backend_table.h"
#include "runtime/backends/backend.h"

namespace fourtune::test {

struct Probe {
  Problem problem;
  generator::Plan plan;
  runtime::ExecutorOptions options;
  std::vector<runtime::PointSet> points;
  std::optional<Bounds> bounds;
  void* stream = nullptr;
  int executes = 0, adjoints = 0;
};

inline Probe& probe() {
  static Probe seen;
  return seen;
}

class ProbeExecutor final : public runtime::Executor {
 public:
  explicit ProbeExecutor(const generator::Plan& plan) : plan_(plan) {}
  void set_points(const runtime::PointSet& points) override { probe().points.push_back(points); }
  void set_bounds(const Bounds& bounds) override { probe().bounds = bounds; }
  void execute(void*, void*, bool adjoint) override { ++(adjoint ? probe().adjoints : probe().executes); }
  void set_stream(void* stream) override { probe().stream = stream; }
  MemoryUse memory() const override { return {1111, 2222}; }
  std::span<const StageTime> stage_times() const override { return {}; }
  const generator::Plan& plan() const override { return plan_; }

 private:
  generator::Plan plan_;
};

class ProbeBackend : public runtime::Backend {
 public:
  std::string_view name() const override { return "probe"; }
  runtime::Capabilities capabilities() const override {
    runtime::Capabilities can;
    can.streams = true;
    return can;
  }
  int device_count() const override { return 8; }
  DeviceTraits traits_of(int) const override {
    DeviceTraits traits;
    traits.backend = "cpu";  // its plans are those of the processor
    traits.name = "probe";
    traits.cores = 3;
    return traits;
  }
  std::unique_ptr<runtime::Executor> bind(const Problem& problem, const generator::Plan& plan,
                                          const runtime::ExecutorOptions& options) const override {
    probe() = {};
    probe().problem = problem;
    probe().plan = plan;
    probe().options = options;
    return std::make_unique<ProbeExecutor>(plan);
  }
};

// Adds the backend once per process; its name is "probe".
inline void add_probe_backend() {
  static const ProbeBackend backend;
  static const bool added = (runtime::add_backend(backend), true);
  (void)added;
}

}  // namespace fourtune::test
