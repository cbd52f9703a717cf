#include "dropin/cufinufft/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/known_devices.h"
#include "dropin/common/interface.h"
#include "dropin/common/kept_transforms.h"
#include "dropin/cufinufft/device_memory.h"
#include "dropin/cufinufft/release.h"

namespace fourtune::dropin {

namespace {

constexpr std::int64_t kMostKept = std::int64_t{1} << 30;

// Small devices are shared with the program's arrays.
std::int64_t most_kept(int device) {
  constexpr std::int64_t kShare = 32;
  const std::int64_t memory = device_memory(device);
  return memory > 0 ? std::min(kMostKept, memory / kShare) : kMostKept;
}

std::int32_t field(const void* options, std::ptrdiff_t offset) {
  if (offset == kAbsent) return 0;
  std::int32_t value;
  std::memcpy(&value, static_cast<const char*>(options) + offset, sizeof value);
  return value;
}

void check_upsampling(const GpuOptionsHead& head) {
  if (head.upsampling == 0 || head.upsampling > 1) return;
  throw Failure(head.kernel_method == 1 ? Code::no_kernel_polynomial : Code::upsampling_too_small,
                fmt::format("upsampfac={:g}: above 1, or 0 for automatic", head.upsampling));
}

void check_method(const GpuOptionsHead& head, int dim) {
  constexpr int kBlockGather = 4;
  if (head.method < 0 || head.method > kBlockGather)
    throw Failure(Code::bad_method, fmt::format("gpu_method={}: 0 (automatic) to 4", head.method));
  if (head.method == kBlockGather && dim != 3)
    throw Failure(Code::bad_method, fmt::format("gpu_method=4 (block gather) in {} dimensions: only in 3", dim));
}

// Bins are advice, because the tuner chooses them; but no method could use bins beyond any multiprocessor's memory.
void check_bins(const GpuOptionsHead& head, int dim, Precision precision) {
  std::int64_t most = 0;  // bytes of shared memory of a block
  for (const std::string& name : generator::known_device_names())
    most = std::max(most, generator::known_device(name)->shared_per_block);
  double bytes = 2.0 * static_cast<double>(real_bytes(precision));
  for (int d = 0; d < dim; ++d) {
    if (head.bin[d] < 0) throw Failure(Code::bad_bins, fmt::format("gpu_binsize of {}: not negative", head.bin[d]));
    bytes *= std::max(head.bin[d], 1);
  }
  if (head.method >= 2 && bytes > static_cast<double>(most))
    throw Failure(Code::no_shared_memory,
                  fmt::format("bins of {:.0f} bytes: shared memory has at most {}", bytes, most));
}

}  // namespace

const Keeping keeping{kMostKept, most_kept, true};

void write_default_options(void* options) noexcept {
  const GpuOptionsHead head;
  std::memset(options, 0, kRelease.size);
  std::memcpy(options, &head, sizeof head);
}

Checked read_options(const char* caller, const void* options, Request request) {
  GpuOptionsHead head;
  std::int32_t order = 0, debug = 0;
  if (options) {
    std::memcpy(&head, options, sizeof head);
    order = field(options, kRelease.mode_order);
    debug = field(options, kRelease.debug);
  }
  request.options.backend = kBackend;
  request.on_device = true;
  request.options.device = head.device;
  request.options.stream = head.stream;
  request.options.mode_order = order == 1 ? ModeOrder::fft : ModeOrder::centred;
  request.most_at_once = std::max(head.most_at_once, 0);
  request.rule = kRelease.warns_of_accuracy ? TooAccurate::warns : TooAccurate::passes;
  request.shows_times = debug > 0;
  if (head.spread_only != 0)
    request.options.only = request.type == 2 ? Only::interpolate_centred : Only::spread_centred;
  if (head.upsampling != 0) request.upsampling = head.upsampling;
  const double asked = request.tol;
  Checked checked = check(std::move(request));
  check_upsampling(head);
  check_method(head, checked.request.dim);
  check_bins(head, checked.request.dim, checked.request.precision);
  if (checked.request.tol > asked)
    warn(caller, fmt::format("the tolerance is raised to {:.3g}, the least of this precision", checked.request.tol));
  return checked;
}

}  // namespace fourtune::dropin
