#include "dropin/finufft/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "dropin/common/interface.h"
#include "dropin/common/kept_transforms.h"
#include "dropin/finufft/release.h"

namespace fourtune::dropin {

const Keeping keeping{4 << 20, [](int) { return std::int64_t{64} << 20; }, false};

namespace {

template <class T>
T field(const void* options, std::ptrdiff_t offset, T absent) {
  if (offset == kAbsent) return absent;
  T value;
  std::memcpy(&value, static_cast<const char*>(options) + offset, sizeof value);
  return value;
}

// The fields of one call, whichever release it was compiled for.
struct Fields {
  OptionsHead head;
  std::int32_t kernel_formula = 0;
  bool allow_too_accurate = false;
  OptionsLocks locks;
};

Fields fields_of(const void* options) {
  Fields fields;
  if (!options) return fields;
  std::memcpy(&fields.head, options, sizeof fields.head);
  fields.kernel_formula = field<std::int32_t>(options, kRelease.formula, 0);
  fields.allow_too_accurate = field<std::int32_t>(options, kRelease.allow, 0) != 0;
  fields.locks = field(options, kRelease.locks, OptionsLocks());
  return fields;
}

bool spreads_only(const Fields& fields) { return kRelease.second_is_spread_only && fields.head.second != 0; }

void check_locks(const OptionsLocks& locks) {
  if (!locks.lock != !locks.unlock)
    throw Failure(Code::bad_locks, "fftw_lock_fun and fftw_unlock_fun: give both of them, or none");
}

void check_kernel(const Fields& fields) {
  if (const double sigma = fields.head.upsampling; sigma != 0 && !(sigma > 1))
    throw Failure(Code::upsampling_too_small, fmt::format("upsampfac={:g}: above 1, or 0 for automatic", sigma));
  const int formula = fields.kernel_formula;
  if (formula == 0) return;
  if (formula < kRelease.first_formula || formula > kRelease.last_formula)
    throw Failure(Code::bad_kernel_formula, fmt::format("spread_kerformula={}: 0, or {} to {} in release {}", formula,
                                                        kRelease.first_formula, kRelease.last_formula, kRelease.name));
  if (spreads_only(fields))
    throw Failure(
        Code::bad_kernel_formula,
        "spread_kerformula with spreadinterponly: the spreading kernel is Fourtune's; leave the formula at 0");
}

void warn_of_unused(const char* caller, const OptionsHead& head) {
  const auto warn_of = [&](bool set, const char* name) {
    if (set) warn(caller, fmt::format("opts.{} is deprecated and ignored", name));
  };
  warn_of(head.spread_thread != 0, "spread_thread");
  warn_of(head.kernel_method != 1, "spread_kerevalmeth");
  warn_of(head.kernel_padding != 1, "spread_kerpad");
}

TooAccurate rule_of(const Fields& fields) {
  if (!kRelease.too_accurate_fails) return TooAccurate::warns;
  return fields.allow_too_accurate ? TooAccurate::passes : TooAccurate::fails;
}

}  // namespace

FortranOptions::FortranOptions(const void* options) : given_(options != nullptr) {
  if (!given_) return;
  std::memset(static_cast<void*>(&bytes_), 0, sizeof bytes_);
  std::memcpy(static_cast<void*>(&bytes_), options, kRelease.locks == kAbsent ? kRelease.size : kRelease.locks);
}

void write_default_options(void* options, std::size_t bytes) noexcept {
  const OptionsHead head{.second = kRelease.second_is_spread_only ? 0 : 1};
  std::memset(options, 0, std::min(bytes, kRelease.size));
  std::memcpy(options, &head, sizeof head);
}

Checked read_options(const char* caller, const void* options, Request request) {
  const Fields fields = fields_of(options);
  const OptionsHead& head = fields.head;
  if (!spreads_only(fields)) check_locks(fields.locks);
  request.options.backend = "cpu";
  request.options.mode_order = head.mode_order == 1 ? ModeOrder::fft : ModeOrder::centred;
  request.options.threads = std::max(head.threads, 0);
  if (spreads_only(fields)) request.options.only = request.type == 2 ? Only::interpolate_centred : Only::spread_centred;
  if (head.upsampling != 0) request.upsampling = head.upsampling;
  if (kRelease.checks_bounds && head.second != 0) request.farthest = 3 * 3.14159265358979323846;
  request.most_at_once = head.most_at_once;
  request.planner_lock = {fields.locks.lock, fields.locks.unlock, fields.locks.data};
  request.shows_warnings = head.show_warnings != 0;
  request.shows_times = head.debug > 0;
  request.rule = rule_of(fields);
  Checked checked = check(std::move(request));
  check_kernel(fields);
  if (!checked.request.shows_warnings) return checked;
  if (kRelease.warns_of_unused_fields) warn_of_unused(caller, head);
  if (checked.code == Code::less_accurate)
    warn(caller, fmt::format("the tolerance is raised to {:.3g}, the least of this precision", checked.request.tol));
  return checked;
}

}  // namespace fourtune::dropin
