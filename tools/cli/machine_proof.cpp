#include "tools/cli/machine_proof.h"

#include <fmt/format.h>

#include "base/spelling.h"
#include "runtime/backend_table.h"
#include "runtime/backends/backend.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/progress.h"
#include "tools/soak/hunt.h"
#include "tools/soak/report.h"

namespace fourtune::tools {
namespace {

struct Proved {
  std::string backend;
  int device = 0;
};
std::vector<Proved> devices_here() {
  std::vector<Proved> list;
  for (const runtime::Backend* backend : runtime::backends())
    for (int device = 0; device < backend->device_count(); ++device)
      list.push_back({std::string(backend->name()), device});
  return list;
}

Finding prove(const Proved& proved, double seconds, const std::atomic<bool>& stop) {
  HuntOptions options;
  options.worker.backend = proved.backend;
  options.worker.device = proved.device;
  options.worker.stop = options.stop = &stop;
  options.seconds = seconds;
  options.megabytes = capabilities_of(proved.backend).modest_megabytes / 3;  // prefers many problems to large ones
  options.shrink_seconds = 20;
  Finding finding{fmt::format("proof of {} {}", proved.backend, proved.device), State::ok, {}, {}};
  ProgressLine line(stderr);
  HuntListener listener;
  listener.on_progress = [&](const HuntState& state, const std::string& token) {
    line.show(state.elapsed, state.eta, proved.backend + ": " + progress_text(state, token));
  };
  listener.on_failure = [&](const HuntRun& run, const TriedCase& small) {
    if (finding.cost.empty()) finding.cost = failure_line(options, run, small);
  };
  try {
    const HuntState state = hunt(options, listener);
    finding.state = state.failures > 0 ? State::wrong : State::ok;
    finding.found = fmt::format("{}: {}, {}, {} wrong or failed", state.failures > 0 ? "goes wrong" : "computes right",
                                counted(static_cast<std::size_t>(state.problems), "drawn problem"),
                                counted(static_cast<std::size_t>(state.runs), "run"), state.failures);
  } catch (const Error& error) {
    finding.state = State::wrong;
    finding.found = fmt::format("could not be tried: {}", error.what());
  }
  line.close();
  return finding;
}

}  // namespace

std::vector<Finding> prove_devices(double seconds, const std::atomic<bool>& stop) {
  const ScratchDatabase database;
  std::vector<Finding> findings;
  const std::vector<Proved> devices = devices_here();
  for (const Proved& device : devices)
    if (!stop) findings.push_back(prove(device, seconds / static_cast<double>(devices.size()), stop));
  return findings;
}

}  // namespace fourtune::tools
