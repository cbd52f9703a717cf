// The limits of a device: shared memory, registers, features.
#include <fmt/format.h>

#include "generator/plan/fft/geometry.h"

namespace fourtune::generator::fft {
namespace {

class DeviceCheck {
 public:
  DeviceCheck(const FftPlan& plan, const DeviceTraits& device) : plan_(plan), device_(device) {}

  std::vector<Violation> run() {
    for (int k = 0; k < static_cast<int>(plan_.kernels.size()); ++k) {
      capability(k);
      shared(k);
      registers(k);
    }
    return std::move(found_);
  }

 private:
  void add(Rule rule, int kernel, const std::string& what) {
    found_.push_back({rule, kernel, -1, fmt::format("rule {}: kernel {}: {}", rule_name(rule), kernel + 1, what)});
  }

  void capability(int k) {
    const auto& with = plan_.kernels[static_cast<std::size_t>(k)].with;
    const int cc = device_.compute_capability;
    if (with.load == Load::async && cc < 80)
      add(Rule::capability, k, fmt::format("load=async needs sm_80, the device is sm_{}; load=plain", cc));
    if (with.load == Load::bulk && cc < 90)
      add(Rule::capability, k, fmt::format("load=bulk needs sm_90, the device is sm_{}; load=plain", cc));
    if (with.cluster > device_.cluster_blocks)
      add(Rule::capability, k,
          fmt::format("cluster={}, the device has clusters of at most {}", with.cluster, device_.cluster_blocks));
  }

  void shared(int k) {
    const auto bytes = shared_bytes(plan_, k);
    if (bytes > device_.shared_per_block)
      add(Rule::shared_memory, k,
          fmt::format(
              "a block needs {} bytes of shared memory, the device has {}; a smaller tile, parts=apart or fewer "
              "landing buffers",
              bytes, device_.shared_per_block));
  }

  void registers(int k) {
    const auto& with = plan_.kernels[static_cast<std::size_t>(k)].with;
    const int estimate = registers_estimate(plan_, k);
    const int held = geometry(plan_, k).elements_per_thread;
    const int data = 2 * held * static_cast<int>(real_bytes(plan_.precision) / 4);
    if (estimate > 255)
      return add(
          Rule::register_file, k,
          fmt::format(
              "{} values in a thread's registers need about {}, a thread has 255; more threads or a smaller tile", held,
              estimate));
    if (with.registers > 0 && with.registers < data)
      return add(Rule::register_file, k,
                 fmt::format("registers={} do not hold {} values ({} registers)", with.registers, held, data));
    const int each = with.registers > 0 ? with.registers : estimate;
    if ((each + 7) / 8 * 8 * with.threads > device_.registers_per_multiprocessor)
      return add(Rule::register_file, k,
                 fmt::format("{} threads of about {} registers need more than the multiprocessor's {}", with.threads,
                             each, device_.registers_per_multiprocessor));
    if (resident_blocks(plan_, k, device_) < 1 && shared_bytes(plan_, k) <= device_.shared_per_block)
      add(Rule::resident, k, "no block fits a multiprocessor; fewer threads or a smaller tile");
  }

  const FftPlan& plan_;
  const DeviceTraits& device_;
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> check_device(const FftPlan& plan, const DeviceTraits& device) {
  return DeviceCheck(plan, device).run();
}

}  // namespace fourtune::generator::fft
