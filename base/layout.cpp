// Self-overlap of strided arrays. Two indices share an element when the difference e of their coordinates, not all zero
// and |e_d| < size_d, has sum_d stride_d e_d = 0.
//
// 1. Nested: sorted by stride, each stride exceeds the combined reach of all smaller ones. Almost every layout in use
//    is nested; such a sum is zero only for e = 0.
// 2. More indices than elements: two indices share an element.
// 3. Otherwise the sum is solved exactly. All differences along all but the two longest dimensions are tried. For those
//    two, stride_1 e_1 + stride_2 e_2 = rest has its solutions on a line, and the ones inside the sizes form an
//    interval. Since there are no more indices than elements, there are few tries: with one to four dimensions, at most
//    twice the square root of the span; with five (the batch counts as one), four times its power of 3/5.
#include "base/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace fourtune {
namespace {

__extension__ using Wide = __int128;

std::int64_t checked_add(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result))
    throw Error(Status::size_overflow, fmt::format("{}: {} + {} does not fit in 64 bits", what, a, b));
  return result;
}

struct Dimension {
  std::int64_t stride = 1, size = 1;
  std::int64_t reach() const { return stride * (size - 1); }
};

Wide floor_divide(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
Wide ceil_divide(Wide a, Wide b) { return -floor_divide(-a, b); }

// Computes a^-1 modulo m, for a and m coprime and m >= 1.
std::int64_t inverse(std::int64_t a, std::int64_t m) {
  Wide r0 = m, r1 = a % m, t0 = 0, t1 = 1;
  while (r1 != 0) {
    const Wide q = r0 / r1;
    std::swap(r0 -= q * r1, r1);
    std::swap(t0 -= q * t1, t1);
  }
  return static_cast<std::int64_t>((t0 % m + m) % m);
}

// Solves a.stride e_a + b.stride e_b = rest with |e_a| < a.size and |e_b| < b.size.
class TwoDimensions {
 public:
  TwoDimensions(const Dimension& a, const Dimension& b)
      : a_(a),
        b_(b),
        common_(std::gcd(a.stride, b.stride)),
        step_a_(b.stride / common_),
        step_b_(a.stride / common_),
        inverse_(inverse(step_b_, step_a_)) {}

  // True when two indices of these dimensions alone share an element.
  bool overlap() const { return step_a_ < a_.size && step_b_ < b_.size; }
  bool solvable(std::int64_t rest) const {
    if (rest % common_ != 0) return false;
    // e_a = at + t step_a, e_b = (rest - a.stride at) / b.stride - t step_b.
    const Wide at = Wide(rest / common_) % step_a_ * inverse_ % step_a_;
    const Wide other = (rest - Wide(a_.stride) * at) / b_.stride;
    const Wide most_a = a_.size - 1, most_b = b_.size - 1;
    const Wide low = std::max(ceil_divide(-most_a - at, step_a_), ceil_divide(other - most_b, step_b_));
    const Wide high = std::min(floor_divide(most_a - at, step_a_), floor_divide(other + most_b, step_b_));
    return low <= high;
  }

 private:
  Dimension a_, b_;
  std::int64_t common_, step_a_, step_b_, inverse_;
};

bool nested(const std::vector<Dimension>& by_stride) {
  std::int64_t reach = 0;
  for (const Dimension& dimension : by_stride) {
    if (dimension.stride <= reach) return false;
    reach += dimension.reach();
  }
  return true;
}

// Whether some differences along the dimensions from `at` to the two longest, not all zero with those before, add to
// `sum` what the longest ones can take away. A sum and its negative are either both zero or both nonzero, so only
// differences whose first nonzero entry is positive are tried.
bool solve_from(std::size_t at, std::int64_t sum, bool all_zero, const std::vector<Dimension>& by_size,
                const TwoDimensions& longest) {
  if (at + 2 == by_size.size()) return !all_zero && longest.solvable(-sum);
  const Dimension& tried = by_size[at];
  for (std::int64_t i = all_zero ? 0 : 1 - tried.size; i < tried.size; ++i)
    if (solve_from(at + 1, sum + tried.stride * i, all_zero && i == 0, by_size, longest)) return true;
  return false;
}

// by_size: sorted with the longest last, at least two.
Overlap solve(const std::vector<Dimension>& by_size) {
  constexpr Wide kMostTries = Wide(1) << 22;
  Wide tries = 1;
  for (std::size_t d = 0; d + 2 < by_size.size(); ++d) {
    tries *= d == 0 ? Wide(by_size[d].size) : 2 * Wide(by_size[d].size) - 1;
    if (tries > kMostTries) return Overlap::unknown;
  }
  const TwoDimensions longest(by_size[by_size.size() - 2], by_size.back());
  return longest.overlap() || solve_from(0, 0, true, by_size, longest) ? Overlap::found : Overlap::none;
}

}  // namespace

std::int64_t layout_span(const ArrayLayout& layout, const Sizes& sizes, std::int64_t batch, const char* what) {
  std::int64_t last = batch > 1 ? checked_multiply(batch - 1, layout.distance, what) : 0;
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > 1) last = checked_add(last, checked_multiply(sizes[d] - 1, layout.stride[d], what), what);
  return checked_add(last, 1, what);
}

std::int64_t element_count(const Sizes& sizes) {
  std::int64_t all = 1;
  for (const std::int64_t size : sizes) all *= size;
  return all;
}

std::int64_t place_of(const ArrayLayout& layout, const Sizes& sizes, std::int64_t element) {
  std::int64_t place = 0;
  for (std::size_t d = 0; d < sizes.size(); element /= sizes[d++]) place += element % sizes[d] * layout.stride[d];
  return place;
}

Overlap self_overlap(const ArrayLayout& layout, const Sizes& sizes, std::int64_t batch) {
  std::vector<Dimension> dimensions;
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > 1) dimensions.push_back({layout.stride[d], sizes[d]});
  if (batch > 1) dimensions.push_back({layout.distance, batch});
  std::sort(dimensions.begin(), dimensions.end(),
            [](const Dimension& a, const Dimension& b) { return a.stride < b.stride; });
  if (nested(dimensions)) return Overlap::none;
  Wide indices = 1, span = 1;  // an index has at most 2^63 values, and at most two are multiplied before the test
  for (const Dimension& dimension : dimensions) span += dimension.reach();
  for (const Dimension& dimension : dimensions) {
    indices *= dimension.size;
    if (indices > span) return Overlap::found;
  }
  std::sort(dimensions.begin(), dimensions.end(),
            [](const Dimension& a, const Dimension& b) { return a.size < b.size; });
  return solve(dimensions);
}

void require_adjoint(const Problem& fft) {
  if (!fft.input_layout || self_overlap(*fft.input_layout, input_sizes(fft), fft.batch) == Overlap::none) return;
  throw Error(Status::unsupported,
              "the layout of the input overlaps itself: it can be read, but the adjoint would write some of its values "
              "more than once");
}

}  // namespace fourtune
