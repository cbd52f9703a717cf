// Where digits lie in the arrays that a kernel reads and writes.
#include "generator/fft/planner.h"

namespace fourtune::generator::fft {

Weights Planner::positions(const Line& axis, int k) const {
  if (axis.digits.front().kernel < 0) return {1};
  return layout(plan_, k)[at(axis.dim)];
}

std::array<std::int64_t, 4> Planner::dense(const std::array<std::int64_t, 3>& n) {
  return {1, n[0], n[0] * n[1], n[0] * n[1] * n[2]};
}

std::array<std::int64_t, 3> Planner::array_sizes(bool input) const {
  std::array<std::int64_t, 3> n = options_.n;
  const bool half = options_.type == (input ? FftType::c2r : FftType::r2c);
  if (half) n[0] = n[0] / 2 + 1;
  for (int d = 0; d < 3; ++d)
    if (const auto& window = input ? options_.hooks[at(d)].input : options_.hooks[at(d)].output)
      n[at(d)] = window->kept;
  return n;
}

std::array<std::int64_t, 4> Planner::strides(bool input) const {
  if (const auto& layout = input ? options_.input : options_.output)
    return {layout->stride[0], layout->stride[1], layout->stride[2], layout->distance};
  auto s = dense(array_sizes(input));
  const bool real = options_.type == (input ? FftType::r2c : FftType::c2r);
  if (options_.in_place && real) {  // rows padded to hold the half spectrum
    const std::int64_t row = 2 * (options_.n[0] / 2 + 1);
    s = {1, row, row * options_.n[1], row * options_.n[1] * options_.n[2]};
  }
  return s;
}

std::int64_t Planner::length_between(int d, int k) const {
  const Line& axis = axes_[at(d)];
  if (d == 3) return axis.n;
  const bool before = axis.digits.front().kernel >= k, after = axis.digits.back().kernel < k;
  if (before && options_.hooks[at(d)].input) return options_.hooks[at(d)].input->kept;
  if (after && options_.hooks[at(d)].output) return options_.hooks[at(d)].output->kept;
  if (d == 0 && options_.type == FftType::r2c && after) return axis.n / 2 + 1;
  if (d == 0 && options_.type == FftType::c2r && before) return axis.n / 2 + 1;
  return axis.n;
}

Placings Planner::outside(bool input) const {
  Placings out;
  const auto s = strides(input);
  for (int d = 0; d < 4; ++d) out[at(d)] = straight(s[at(d)]);
  return out;
}

Placings Planner::between(int k) {
  Placings out;
  std::int64_t next = 1;
  for (int d = 0; d < 4; ++d) out[at(d)] = straight(next), next *= length_between(d, k);
  work_values_ = std::max(work_values_, next);
  if (with(k).load != Load::bulk || with(k - 1).to != Target::work) return out;
  Placings tiled;
  std::int64_t low = 1;
  for (int d = 0; d < 4; ++d) {
    const std::int64_t cut = tile_cut(d, k);
    if (cut == 0) return out;
    tiled[at(d)] = {cut, low, 0};
    low *= cut;
  }
  for (int d = 0; d < 4; ++d) {
    tiled[at(d)].high = low;
    low *= axes_[at(d)].n / tiled[at(d)].cut;
  }
  return tiled;
}

std::int64_t Planner::tile_cut(int d, int k) const {
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

int Planner::tile_along(int d, int k) const {
  if (d < 3 && d >= rank(plan_)) return 1;
  return std::max(1, with(k).tile[at(d < 3 ? d : rank(plan_))]);
}

}  // namespace fourtune::generator::fft
