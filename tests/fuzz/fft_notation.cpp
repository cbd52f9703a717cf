// The notation of GPU FFT plans. A plan that breaks no rule has one spelling and can be bound to a device, and its
// kernels can be written or are refused by name.
#include "base/known_devices.h"
#include "generator/codegen/fft/emit/emit.h"
#include "generator/plan/fft/notation.h"
#include "generator/planner/gpu_fft/enumerate.h"
#include "tests/fuzz/fuzz.h"

using namespace fourtune;
using namespace fourtune::generator;
using fuzz::require;

namespace {

constexpr std::int64_t kSmall = 4096;

void write_kernels(const fft::FftPlan& plan) {
  static const DeviceTraits gpu = *known_device("h100");
  const fft::Lengths lengths = fft::lengths(plan);
  std::int64_t values = 1;
  for (const std::int64_t n : lengths)
    if ((values *= std::min(n, kSmall + 1)) > kSmall) return;
  fft::FftPlan bound;
  if (!fuzz::accepted([&] { bound = fft::bind(plan, gpu, 2); })) return;
  require(fft::check(bound).empty(), "what was bound breaks no rule", fft::to_text(bound));
  fft::EmitOptions options;
  options.n = lengths;
  options.precision = bound.precision;
  options.in_place = bound.place == Place::in;
  options.batch = 2;
  options.device = gpu;
  fuzz::accepted([&] { fft::emit_program(bound, options); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fft::FftPlan plan;
  if (!fuzz::accepted([&] { plan = fft::parse_notation(fuzz::text_of(data, size)); })) return 0;
  const std::string printed = fft::to_text(plan);
  require(fft::parse_notation(printed) == plan, "parse(print(p)) == p", printed);
  if (!fft::check(plan).empty()) return 0;
  require(fft::parse_fft_plan(printed) == plan, "what breaks no rule is accepted", printed);
  require(fft::rank(plan) >= 1, "a plan has dimensions", printed);
  write_kernels(plan);
  return 0;
}
