#include "tools/cli/run_memory.h"

#include "tools/common/device_arrays.h"

namespace fourtune::tools {
namespace {

class HostRunMemory final : public RunMemory {
 public:
  explicit HostRunMemory(RunArrays& host) : host_(host), timer_(runtime::clock_timer()) {}
  Points points() const override { return host_.points(); }
  void* first() override { return host_.first(); }
  void* second() override { return host_.second(); }
  void restore_input() override { host_.restore_input(); }
  void wait() override {}
  void fetch_output() override {}
  runtime::StreamTimer& timer() override { return *timer_; }

 private:
  RunArrays& host_;
  std::unique_ptr<runtime::StreamTimer> timer_;
};

class DeviceRunMemory final : public RunMemory {
 public:
  DeviceRunMemory(const Problem& problem, bool adjoint, RunArrays& host, const runtime::Backend& backend, int device)
      : host_(host),
        memory_(backend.memory(device)),
        timer_(backend.timer(device)),
        to_second_((problem.kind == Kind::fft || problem.type != 2) != adjoint) {
    const ArrayBytes bytes = array_bytes(problem);
    if (problem.kind == Kind::nufft) points_ = DevicePoints(*memory_, problem, host.points());
    first_ = DeviceArray(*memory_, bytes.first);
    if (!bytes.in_place) second_ = DeviceArray(*memory_, bytes.second);
    restore_input();
  }
  Points points() const override { return points_.points(); }
  void* first() override { return first_.data(); }
  void* second() override { return second_.data() ? second_.data() : first_.data(); }
  void restore_input() override {
    host_.restore_input();
    first_.upload(host_.first());
    second_.upload(host_.second());
    memory_->wait();
  }
  void wait() override { memory_->wait(); }
  void fetch_output() override {
    if (to_second_ && second_.data())
      second_.download(host_.second());
    else
      first_.download(host_.first());
  }
  runtime::StreamTimer& timer() override { return *timer_; }

 private:
  RunArrays& host_;
  std::unique_ptr<runtime::ArrayMemory> memory_;  // outlives the arrays below
  std::unique_ptr<runtime::StreamTimer> timer_;
  bool to_second_;  // the output is the second array
  DevicePoints points_;
  DeviceArray first_, second_;
};

}  // namespace

std::unique_ptr<RunMemory> make_run_memory(const Problem& problem, bool adjoint, RunArrays& host,
                                           const runtime::Backend& backend, const Options& options) {
  if (takes_host_arrays(backend) || !options.devices.empty()) return std::make_unique<HostRunMemory>(host);
  return std::make_unique<DeviceRunMemory>(problem, adjoint, host, backend, options.device);
}

}  // namespace fourtune::tools
