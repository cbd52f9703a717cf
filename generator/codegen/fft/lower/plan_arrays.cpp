// The places of digits in the arrays that a kernel reads and writes.
#include "generator/codegen/fft/lower/pass_planner.h"
#include "generator/codegen/fft/lower/reach.h"

namespace fourtune::generator::fft {

Weights PassPlanner::positions(const Line& axis, int k) const {
  if (axis.digits.front().kernel < 0) return {1};
  return layout(plan_, k)[at(axis.dim)];
}

std::int64_t PassPlanner::length_between(int d, int k) const {
  const Line& axis = axes_[at(d)];
  if (d == batch_axis) return axis.n;
  const bool before = axis.digits.front().kernel >= k, after = axis.digits.back().kernel < k;
  if (before && options_.hooks[at(d)].input) return options_.hooks[at(d)].input->kept;
  if (after && options_.hooks[at(d)].output) return options_.hooks[at(d)].output->kept;
  if (d == 0 && options_.type == FftType::r2c && after) return axis.n / 2 + 1;
  if (d == 0 && options_.type == FftType::c2r && before) return axis.n / 2 + 1;
  return axis.n;
}

SplitStrides PassPlanner::outside(bool input) const {
  SplitStrides out;
  const auto s = array_strides(options_, input);
  for (int d = 0; d <= batch_axis; ++d) out[at(d)] = straight(s[at(d)]);
  return out;
}

// Rows of a workspace begin where sectors of memory do, and long ones where lines of the cache do: half spectra have an
// odd number of values, of which every other row would begin inside a sector.
static std::int64_t padded_row(std::int64_t values, std::int64_t value_bytes) {
  constexpr std::int64_t sector = 32, line = 128;
  const std::int64_t bytes = values * value_bytes, whole = bytes >= 8 * line ? line : bytes >= 8 * sector ? sector : 1;
  return (bytes + whole - 1) / whole * whole / value_bytes;
}

SplitStrides PassPlanner::between(int k) {
  SplitStrides out;
  std::int64_t next = 1;
  for (int d = 0; d <= batch_axis; ++d) {
    out[at(d)] = straight(next), next *= length_between(d, k);
    if (d == 0 && with(k - 1).to == Target::work) next = padded_row(next, 2 * real_bytes(options_.precision));
  }
  work_values_ = std::max(work_values_, next);
  if (with(k).load != Load::bulk || with(k - 1).to != Target::work) return out;
  SplitStrides tiled;
  std::int64_t low = 1;
  for (int d = 0; d <= batch_axis; ++d) {
    const std::int64_t cut = tile_cut(d, k);
    if (cut == 0 || (cut < axes_[at(d)].n && carries_in_part(d, k - 1))) return out;
    tiled[at(d)] = {cut, low, 0};
    low *= cut;
  }
  for (int d = 0; d <= batch_axis; ++d) {
    tiled[at(d)].high = low;
    low *= axes_[at(d)].n / tiled[at(d)].cut;
  }
  return tiled;
}

bool PassPlanner::carries_in_part(int d, int k) const {
  const auto& digits = axes_[at(d)].digits;
  const bool active = std::any_of(digits.begin(), digits.end(), [&](const Digit& digit) { return digit.kernel == k; });
  return !active && length_between(d, k) % tile_along(d, k) != 0;
}

std::int64_t PassPlanner::tile_cut(int d, int k) const {
  const Line& axis = axes_[at(d)];
  if (length_between(d, k) != axis.n) return 0;
  const Weights before = positions(axis, k);
  std::int64_t active = 1, span = 1;
  for (std::size_t i = 0; i < axis.digits.size(); ++i)
    if (axis.digits[i].kernel == k)
      active *= axis.digits[i].radix, span = std::max(span, before[i] * axis.digits[i].radix);
  const std::int64_t tile = tile_along(d, k);
  if (active > 1 && (span != active || tile != 1)) return 0;
  const std::int64_t cut = active * tile;
  for (std::size_t i = 0; i < axis.digits.size(); ++i) {
    const std::int64_t low = before[i], size = axis.digits[i].radix;
    if (low < cut && cut < low * size && (cut % low != 0 || size % (cut / low) != 0)) return 0;
  }
  return axis.n % cut ? 0 : cut;
}

int PassPlanner::tile_along(int d, int k) const {
  const int dims = std::max(rank(plan_), options_.tile_rank);
  if (d < batch_axis && d >= dims) return 1;
  return std::max(1, with(k).tile[at(d < batch_axis ? d : dims)]);
}

}  // namespace fourtune::generator::fft
