// Bluestein's algorithm needs no codelet of a prime, so it is also what a prime takes whose codelet is slow.
#include "generator/codegen/fft/any_length/convolved.h"

#include "base/layout.h"
#include "generator/codegen/at.h"
#include "generator/codegen/fft/any_length/any_size.h"

namespace fourtune::generator::fft {
namespace {

// In f64 a thread's registers do not hold the values of such a DFT: lines of 53 values took 1.2 times as long as
// cuFFT's on an H100, of 59 1.3 times.
constexpr std::int64_t least_spilled = 47;

// Whether convolutions can do everything that is asked for besides the lines' DFTs.
bool may_convolve(const EmitOptions& options) {
  bool may = options.order == DigitOrder::natural && options.from == DigitOrder::natural && !options.input_ranks &&
             !options.output_ranks;
  for (const DimensionHooks& hook : options.hooks)
    may = may && !hook.input && !hook.output && hook.input_turns.empty() && hook.output_turns.empty();
  return may;
}

}  // namespace

bool is_convolved(const EmitOptions& options, int d) {
  const std::int64_t n = options.n[at(d)];
  if (!has_codelets(n)) return true;
  if (options.precision == Precision::f32 || n == 1 || prime_factors(n).back() < least_spilled) return false;
  // Of a real line that a thread holds alone one side has half of the words; a small array passes through memory once.
  const bool held = d == 0 && options.type != FftType::c2c && has_codelets(n) && n < 64 && n % 2 != 0;
  return !held && may_convolve(options) && !whole_plan(options);
}

bool convolves(const EmitOptions& options) {
  for (int d = 0; d < most_dimensions; ++d)
    if (is_convolved(options, d)) return true;
  return false;
}

}  // namespace fourtune::generator::fft
