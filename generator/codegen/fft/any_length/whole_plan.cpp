// Small transforms of two and more dimensions in one kernel: a block holds whole ones, so that data pass through memory
// once.
#include <algorithm>

#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/codegen/fft/any_length/line_radices.h"

namespace fourtune::generator::fft {
namespace {

constexpr std::int64_t values_of_block = 2048;  // that small transforms fill together
constexpr std::int64_t most_bytes = 64 * 1024;  // of one transform

bool arrays_are_dense(const EmitOptions& options) {
  bool dense = !options.input && !options.output && !options.last_first && options.order == DigitOrder::natural &&
               options.from == DigitOrder::natural;
  for (const DimensionHooks& hook : options.hooks)
    dense = dense && !hook.input && !hook.output && hook.input_factors.empty() && hook.output_factors.empty() &&
            hook.input_turns.empty() && hook.output_turns.empty();
  return dense;
}

}  // namespace

std::optional<FftPlan> whole_plan(const EmitOptions& options) {
  const std::int64_t value_bytes = 2 * real_bytes(options.precision);
  std::int64_t values = 1;
  std::vector<Dim> dims;  // longer than 1
  for (int d = 0; d < most_dimensions; ++d) {
    const std::int64_t n = options.n[static_cast<std::size_t>(d)];
    if (n > most_bytes || !has_codelets(n)) return {};
    values *= n;
    if (n > 1) dims.push_back(static_cast<Dim>(d));
    if (n > 1 && static_cast<int>(dims.size()) != d + 1) return {};  // dimensions of a plan have no gaps
  }
  const std::int64_t most = std::min<std::int64_t>(most_bytes, options.device.shared_per_block * 15 / 16) / value_bytes;
  if (!arrays_are_dense(options) || dims.size() < 2 || values > most) return {};

  // A single block takes longer than two kernels of many.
  const std::int64_t blocks = std::max<std::int64_t>(1, options.batch * values / std::max(values, values_of_block));
  if (values > values_of_block && 2 * blocks < options.device.multiprocessors) return {};

  // The last dimension first and, with three, y last: then neighbouring threads hold neighbours along x at both ends.
  std::reverse(dims.begin(), dims.end());
  if (dims.size() > 2) std::swap(dims[dims.size() - 2], dims.back());
  FftPlan plan;
  plan.order = DigitOrder::natural, plan.precision = options.precision;
  plan.place = options.in_place ? Place::in : Place::out;
  Kernel kernel;
  std::vector<int> all;
  for (const Dim dim : dims) {
    const std::int64_t n = options.n[static_cast<std::size_t>(index(dim))];
    std::int64_t left = n;
    for (const int r : radices_of_line(n, options.precision)) {
      kernel.subs.push_back({dim, n / r, r, left / r, left, left != r});
      left /= r, all.push_back(r);
    }
  }
  KernelParameters& with = kernel.with;
  with.exchange = Exchange::shared;
  with.tile = {1};
  const std::int64_t together = std::min(std::max<std::int64_t>(1, values_of_block / values), options.batch);
  with.tile[dims.size()] = static_cast<int>(together);
  with.threads = threads_for(values * together, all);
  // Two dimensions end along x, whose values a thread may hold side by side.
  if (dims.size() == 2) with.coalesce = coalesce_of({1, all.back()}, options.n[0], options.precision);
  plan.kernels.push_back(kernel);
  return plan;
}

}  // namespace fourtune::generator::fft
