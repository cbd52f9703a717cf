// Vector kernels of set_points: convert coordinates to sort keys and packed records, in fixed point where that is exact
// enough, otherwise in f64. locate_one and the scalar version in gridder/portable.cpp explain the f64 arithmetic.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/backends/cpu/gridder/targets.h"
#include "runtime/backends/cpu/gridder/turns.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/backends/cpu/gridder/locate.cpp"
#include <hwy/foreach_target.h>

#include "runtime/backends/cpu/gridder/simd-inl.h"
#include "runtime/backends/cpu/gridder/tables.h"

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu {
namespace HWY_NAMESPACE {
#if FOURTUNE_SIMD

using D64 = Row<double>;
using V64 = hn::Vec<D64>;
constexpr int kN64 = kLanes<double>;
using D32 = hn::Rebind<std::int32_t, D64>;
using DU = hn::RebindToUnsigned<D64>;
using VU = hn::Vec<DU>;

HWY_INLINE V64 load(const float* x) { return hn::PromoteTo(D64(), hn::LoadU(hn::Rebind<float, D64>(), x)); }
HWY_INLINE V64 load(const double* x) { return hn::LoadU(D64(), x); }

struct Cells {
  V64 cell, fraction, period;
};
// The constants of an axis in every lane, read once per chunk.
struct Lanes {
  Lanes(const Frame& f, int k)
      : Lanes(f.axes[k], static_cast<double>(f.tiling.tile[k]), static_cast<double>(f.tiling.count[k]),
              f.inverse_tile[k]) {}
  V64 centre, centre_low, factor, low, fine, odd, first, tile, tiles, inverse, half_inverse;

 private:
  Lanes(const PeriodAxis& a, double tile_cells, double tile_count, double inverse_tile)
      : centre(set(a.centre)),
        centre_low(set(a.centre_low)),
        factor(set(a.factor)),
        low(set(a.factor_low)),
        fine(set(a.fine)),
        odd(set((a.width & 1) != 0 ? 0.5 : 0.0)),
        first(set(a.width / 2)),
        tile(set(tile_cells)),
        tiles(set(tile_count)),
        inverse(set(inverse_tile)),
        half_inverse(set(0.5 * inverse_tile)) {}
  static V64 set(double v) { return hn::Set(D64(), v); }
};
HWY_INLINE Cells cells_exact(V64 x, const Lanes& a) {
  const D64 d;
  const V64 s = hn::Sub(x, a.centre);
  const V64 seen = hn::Sub(s, x);
  const V64 s_low = hn::Sub(hn::Sub(hn::Sub(x, hn::Sub(s, seen)), hn::Add(a.centre, seen)), a.centre_low);
  const V64 p = hn::Mul(s, a.factor);
  const V64 p_low = hn::Add(hn::MulSub(s, a.factor, p), hn::MulAdd(s, a.low, hn::Mul(s_low, a.factor)));
  const V64 r = hn::Sub(p, hn::Round(p));
  const V64 q = hn::Mul(r, a.fine);
  const V64 nearest = hn::Round(q);
  const V64 rest = hn::Add(hn::Sub(q, nearest), hn::MulAdd(p_low, a.fine, hn::MulSub(r, a.fine, q)));
  const V64 t = hn::Sub(rest, a.odd);
  const V64 up = hn::Ceil(t);
  const V64 i0 = hn::Add(hn::Sub(nearest, a.first), up);
  return {hn::Add(i0, hn::IfThenElseZero(hn::Lt(i0, hn::Zero(d)), a.fine)), hn::Sub(up, t), p};
}

// Repeats points j, j + 1, ... of a chunk whose lane of `far` is not zero with the scalar version. Returns false when
// one is not finite.
template <class T>
HWY_NOINLINE bool locate_far(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x,
                             std::int64_t first, int j, int n, V64 far, Located& out) {
  alignas(kLine) std::uint64_t is_far[kN64];
  hn::Store(hn::BitCast(DU(), far), DU(), is_far);
  Located single;
  for (int i = 0; i < kN64 && j + i < n; ++i) {
    if (is_far[i] == 0) continue;
    std::array<const T*, 3> at{};
    for (int k = 0; k < frame.tiling.dim; ++k) at[k] = x[k] + j + i;
    if (!portable_kernels<T>().locate(frame, form, at, first + j + i, 1, single)) return false;
    out.key[j + i] = single.key[0];
    for (int w = 0; form != nullptr && 2 * w < form->words; ++w) out.word[w][j + i] = single.word[w][0];
  }
  return true;
}

// Loads the vector of coordinates that starts at x[j]; beyond the n-th it holds zeros or older ones, copied to `tail`.
template <class T>
HWY_INLINE V64 load(const T* x, int j, int n, T* tail) {
  return load(j + kN64 <= n ? x + j : std::copy_n(x + j, n - j, tail) - (n - j));
}

// Converts to the position in the tile in units of 2^-fraction: integers below 2^52 are read from the mantissa of 2^52
// plus the integer.
struct Packer {
  explicit Packer(const RecordForm& form)
      : scale(hn::Set(D64(), static_cast<double>(std::uint64_t{1} << form.fraction))),
        most(hn::Set(D64(), static_cast<double>((std::uint64_t{1} << form.fraction) - 1))),
        two52(hn::Set(D64(), 0x1p52)),
        bits(form.fraction) {}
  HWY_INLINE VU integer(V64 v) const {
    const DU du;
    return hn::Xor(hn::BitCast(du, hn::Add(v, two52)), hn::BitCast(du, two52));
  }
  HWY_INLINE VU position(V64 cell, V64 fraction, bool wide) const {
    const V64 f = hn::Min(hn::Floor(hn::Mul(fraction, scale)), most);
    if (!wide) return integer(hn::MulAdd(cell, scale, f));
    return hn::Or(hn::ShiftLeftSame(integer(cell), bits), integer(f));
  }
  V64 scale, most, two52;
  int bits;
};

// Shift by a vector of counts: shifts by a scalar take twice as long.
HWY_INLINE VU left(VU v, int bits) { return hn::Shl(v, hn::Set(DU(), static_cast<std::uint64_t>(bits))); }
HWY_INLINE VU right(VU v, int bits) { return hn::Shr(v, hn::Set(DU(), static_cast<std::uint64_t>(bits))); }

template <int Dim>
HWY_INLINE void pack(const RecordForm& form, const VU* field, int j, Located& out) {
  const DU du;
  if (form.words <= 2) {
    VU word = field[0];
    for (int d = 1; d < Dim; ++d) word = hn::Or(word, left(field[d], form.field[d].offset));
    if (form.field[3].bits > 0) word = hn::Or(word, left(field[3], form.field[3].offset));
    hn::Store(word, du, out.word[0] + j);
    return;
  }
  VU word[4] = {field[0], hn::Zero(du), hn::Zero(du), hn::Zero(du)};
  const auto add = [&](int f) HWY_ATTR {
    const int at = form.field[f].offset, first = at / 64, shift = at % 64;
    const VU v = left(field[f], shift), rest = shift == 0 ? hn::Zero(du) : right(field[f], 64 - shift);
    if (first == 0) {
      word[0] = hn::Or(word[0], v), word[1] = hn::Or(word[1], rest);
    } else if (first == 1) {
      word[1] = hn::Or(word[1], v), word[2] = hn::Or(word[2], rest);
    } else {
      word[2] = hn::Or(word[2], v), word[3] = hn::Or(word[3], rest);
    }
  };
  if constexpr (Dim > 1) add(1);
  if constexpr (Dim > 2) add(2);
  if (form.field[3].bits > 0) add(3);
  for (int w = 0; w < 4; ++w) {
    if (2 * w < form.words) hn::Store(word[w], du, out.word[w] + j);
  }
}

// Multiplies the low halves.
HWY_INLINE VU multiply32(VU a, VU b) {
  const hn::Repartition<std::uint32_t, DU> half;
  return hn::MulEven(hn::BitCast(half, a), hn::BitCast(half, b));
}

// Locates without losing digits. Coordinates of very many turns, whose low parts would leave the grid, go one by one.
template <class T, int Dim, bool kRecords>
bool locate_exact(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first,
                  int n, Located& out) {
  const D64 d;
  const D32 di;
  const DU du;
  const Lanes lanes[3] = {Lanes(frame, 0), Lanes(frame, Dim > 1 ? 1 : 0), Lanes(frame, Dim > 2 ? 2 : 0)};
  const InnerOrder order = frame.inner;
  const V64 bins = hn::Set(d, order.bins), inverse_bin = hn::Set(d, 1.0 / frame.tiling.bin);
  const V64 groups = hn::Set(d, order.groups), inverse_group = hn::Set(d, 1.0 / (1 << order.plane_bits));
  const V64 half = hn::Set(d, 0.5), most = hn::Set(d, kManyTurns);
  const RecordForm shape = kRecords ? *form : RecordForm();  // a copy, so that nothing written below can alias it
  const Packer packer(shape);
  const bool wide[3] = {shape.field[0].bits >= 52, shape.field[1].bits >= 52, shape.field[2].bits >= 52};
  VU index = hn::Iota(du, static_cast<std::uint64_t>(first));
  const VU step = hn::Set(du, std::uint64_t{kN64});
  T tail[Dim][kN64] = {};
  for (int j = 0; j < n; j += kN64) {
    V64 key = hn::Zero(d), inner[Dim], all = hn::Zero(d);  // all: bounds every period coordinate; NaN if any is
    VU field[4] = {index, index, index, index};
    for (int k = Dim - 1; k >= 0; --k) {
      const Cells c = cells_exact(load(x[k], j, n, tail[k]), lanes[k]);
      all = hn::Add(all, hn::Abs(c.period));
      const V64 i = hn::Floor(hn::MulAdd(c.cell, lanes[k].inverse, lanes[k].half_inverse));
      key = k == Dim - 1 ? i : hn::MulAdd(key, lanes[k].tiles, i);
      inner[k] = hn::NegMulAdd(i, lanes[k].tile, c.cell);
      if constexpr (kRecords) field[k] = packer.position(inner[k], c.fraction, wide[k]);
    }
    if (Dim == 3 && order.keys() > 1) {
      key = hn::MulAdd(key, bins, hn::Floor(hn::Mul(hn::Add(inner[0], half), inverse_bin)));
      if (order.groups > 1) key = hn::MulAdd(key, groups, hn::Floor(hn::Mul(inner[Dim - 1], inverse_group)));
    }
    hn::Store(hn::DemoteTo(di, key), di, out.key + j);
    if constexpr (kRecords) {
      pack<Dim>(shape, field, j, out);
      index = hn::Add(index, step);
    }
    const auto far = hn::Not(hn::Lt(all, most));
    if (HWY_UNLIKELY(!hn::AllFalse(d, far))) {
      if (!locate_far(frame, form, x, first, j, n, hn::IfThenElseZero(far, hn::Set(d, 1.0)), out)) return false;
    }
  }
  return true;
}

// The constants of an axis in fixed point (FixedAxis) in every lane; Deep is Frame::deep.
template <bool Deep>
struct FixedLanes {
  FixedLanes(const Frame& f, const RecordForm& form, double near_periods, int k)
      : FixedLanes(near_periods, f.fixed_axes[k], f.axes[k], f.tiling.fine[k], f.tiling.count[k], form.fraction) {}
  static VU set(std::int64_t v) { return hn::Set(DU(), static_cast<std::uint64_t>(v)); }
  // Returns q, or q + span where q is negative; at least span where q is not in [-span, span).
  HWY_INLINE VU folded(VU q) const { return hn::Min(q, hn::Add(q, span)); }
  HWY_INLINE VU integer(V64 sum) const { return hn::Sub(hn::BitCast(DU(), sum), zero); }
  HWY_INLINE VU position(V64 x) const { return Deep ? deep(x, scale, scale_low) : shallow(x, scale); }
  HWY_INLINE VU position_beyond(V64 x) const {
    const V64 p = hn::Mul(x, factor), turns = hn::Round(p);
    const V64 rest = hn::MulAdd(x, factor_low, hn::MulSub(x, factor, turns));
    const VU q = Deep ? deep(rest, folded_scale, hn::Zero(D64())) : shallow(rest, folded_scale);
    return hn::IfThenElse(hn::RebindMask(DU(), hn::Le(hn::Abs(p), near)), q, span);
  }
  // Sets the sign bit where the position is not in the grid.
  HWY_INLINE VU beyond(VU position) const { return hn::Or(position, hn::Sub(last, position)); }

  V64 scale, scale_low, shift, integers, units, factor, factor_low, folded_scale, near;
  VU zero, deep_shift, two_spans, span, last, tiles, to_cell, to_tile, cell, to_field, field, fraction;

 private:
  HWY_INLINE VU shallow(V64 x, V64 by) const { return folded(integer(hn::MulAdd(x, by, shift))); }
  // x * (by + by_low): the product's integer part, and what it lacks in smaller units.
  HWY_INLINE VU deep(V64 x, V64 by, V64 by_low) const {
    const V64 sum = hn::MulAdd(x, by, integers);
    const V64 rest = hn::MulAdd(x, by_low, hn::MulSub(x, by, hn::Sub(sum, integers)));
    const VU coarse = integer(sum), fine = integer(hn::MulAdd(rest, units, integers));
    const VU q = hn::Add(hn::ShiftLeft<kDeepBits>(coarse), hn::Add(fine, deep_shift));
    // Bits that the shift loses would hide that x is not near.
    const auto near_enough = hn::Lt(hn::Add(coarse, two_spans), hn::Add(two_spans, two_spans));
    return hn::IfThenElse(near_enough, folded(q), span);
  }

  FixedLanes(double near_periods, const FixedAxis& a, const PeriodAxis& axis, std::int64_t cells,
             std::int64_t tile_count, int fraction_bits)
      : scale(hn::Set(D64(), a.scale)),
        scale_low(hn::Set(D64(), a.scale_low)),
        shift(hn::Set(D64(), a.shift)),
        integers(hn::Set(D64(), kIntegers)),
        units(hn::Set(D64(), 1 << kDeepBits)),
        factor(hn::Set(D64(), axis.factor)),
        factor_low(hn::Set(D64(), axis.factor_low)),
        folded_scale(hn::Set(D64(), a.folded_scale)),
        near(hn::Set(D64(), near_periods)),
        zero(hn::BitCast(DU(), hn::Set(D64(), kIntegers))),
        deep_shift(set(a.deep_shift)),
        two_spans(set(cells << (a.bits - kDeepBits + 1))),
        span(set(cells << a.bits)),
        last(set((cells << a.bits) - 1)),
        tiles(set(tile_count)),
        to_cell(set(a.bits)),
        to_tile(set(a.bits + a.tile_bits)),
        cell(ones(a.tile_bits)),
        to_field(set(a.bits - fraction_bits)),
        field(ones(a.tile_bits + fraction_bits)),
        fraction(ones(fraction_bits)) {}
  static VU ones(int bits) { return set((std::int64_t{1} << bits) - 1); }
};

template <class T, int Dim, bool kRecords, bool Deep = false>
bool locate_fixed(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first,
                  int n, Located& out) {
  const DU du;
  const hn::RebindToSigned<DU> ds;
  const hn::RebindToUnsigned<D32> du32;
  RecordForm shape;
  shape.fraction = 0;
  if constexpr (kRecords) shape = *form;
  constexpr double kNear = sizeof(T) == 4 ? kNearPeriods32 : kNearPeriods64;
  const FixedLanes<Deep> lanes[3] = {
      {frame, shape, kNear, 0}, {frame, shape, kNear, Dim > 1 ? 1 : 0}, {frame, shape, kNear, Dim > 2 ? 2 : 0}};
  const InnerOrder order = frame.inner;
  const VU bins = FixedLanes<Deep>::set(order.bins), groups = FixedLanes<Deep>::set(order.groups);
  const VU inverse_bin =
      FixedLanes<Deep>::set((65536 + frame.tiling.bin - 1) / frame.tiling.bin);  // exact below 256 cells
  VU index = hn::Iota(du, static_cast<std::uint64_t>(first));
  const VU step = FixedLanes<Deep>::set(kN64);
  T tail[Dim][kN64] = {};
  for (int j = 0; j < n; j += kN64) {
    VU position[Dim], beyond = hn::Zero(du);
    for (int k = 0; k < Dim; ++k) {
      position[k] = lanes[k].position(load(x[k], j, n, tail[k]));
      beyond = hn::Or(beyond, lanes[k].beyond(position[k]));
    }
    const bool all_near = hn::AllFalse(ds, hn::Lt(hn::BitCast(ds, beyond), hn::Zero(ds)));
    if (HWY_UNLIKELY(!all_near)) {
      beyond = hn::Zero(du);
      for (int k = 0; k < Dim; ++k) {
        const VU other = lanes[k].position_beyond(load(x[k], j, n, tail[k]));
        position[k] = hn::IfThenElse(hn::Lt(position[k], lanes[k].span), position[k], other);
        beyond = hn::Or(beyond, lanes[k].beyond(position[k]));
      }
    }
    VU key = hn::Zero(du), field[4] = {index, index, index, index};
    for (int k = Dim - 1; k >= 0; --k) {
      const VU i = hn::Shr(position[k], lanes[k].to_tile);
      key = k == Dim - 1 ? i : hn::Add(multiply32(key, lanes[k].tiles), i);
      if constexpr (kRecords) {
        field[k] = hn::Xor(hn::And(hn::Shr(position[k], lanes[k].to_field), lanes[k].field), lanes[k].fraction);
      }
    }
    if (Dim == 3 && order.keys() > 1) {
      const VU cell = hn::And(hn::Shr(position[0], lanes[0].to_cell), lanes[0].cell);
      key = hn::Add(multiply32(key, bins), hn::ShiftRight<16>(multiply32(cell, inverse_bin)));
      if (order.groups > 1) {
        const VU plane = hn::And(hn::Shr(position[Dim - 1], lanes[2].to_cell), lanes[2].cell);
        key = hn::Add(multiply32(key, groups), right(plane, order.plane_bits));
      }
    }
    hn::Store(hn::TruncateTo(du32, key), du32, reinterpret_cast<std::uint32_t*>(out.key + j));
    if constexpr (kRecords) {
      pack<Dim>(shape, field, j, out);
      index = hn::Add(index, step);
    }
    if (HWY_UNLIKELY(!all_near)) {
      const VU far = hn::ShiftRight<63>(beyond);
      if (!locate_far(frame, form, x, first, j, n, hn::BitCast(D64(), far), out)) return false;
    }
  }
  return true;
}

template <class T, int Dim>
bool locate_in(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first, int n,
               Located& out) {
  if constexpr (sizeof(T) == sizeof(double)) {
    if (frame.fixed && frame.deep)
      return form != nullptr ? locate_fixed<T, Dim, true, true>(frame, form, x, first, n, out)
                             : locate_fixed<T, Dim, false, true>(frame, form, x, first, n, out);
  }
  if (frame.fixed) {
    return form != nullptr ? locate_fixed<T, Dim, true>(frame, form, x, first, n, out)
                           : locate_fixed<T, Dim, false>(frame, form, x, first, n, out);
  }
  return form != nullptr ? locate_exact<T, Dim, true>(frame, form, x, first, n, out)
                         : locate_exact<T, Dim, false>(frame, form, x, first, n, out);
}

template <class T>
bool locate(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first, int n,
            Located& out) {
  const int dim = frame.tiling.dim;
  return dim == 1   ? locate_in<T, 1>(frame, form, x, first, n, out)
         : dim == 2 ? locate_in<T, 2>(frame, form, x, first, n, out)
                    : locate_in<T, 3>(frame, form, x, first, n, out);
}

// A number is infinite or NaN where its exponent has all bits, so that one more carries into the sign.
template <class T>
bool copy(const T* from, std::int64_t n, T* to) {
  const Row<T> d;
  const hn::RebindToUnsigned<Row<T>> du;
  using Bits = hn::TFromD<decltype(du)>;
  constexpr int kMantissa = std::numeric_limits<T>::digits - 1;
  constexpr Bits kLast = Bits{1} << kMantissa;
  constexpr Bits kExponent = (Bits{1} << (8 * sizeof(T) - 1)) - kLast;
  const auto exponent = hn::Set(du, kExponent), last = hn::Set(du, kLast);
  auto carries = hn::Zero(du);
  std::int64_t j = 0;
  for (; j + kLanes<T> <= n; j += kLanes<T>) {
    const auto bits = hn::BitCast(du, hn::LoadU(d, from + j));
    hn::StoreU(hn::BitCast(d, bits), d, to + j);
    carries = hn::Or(carries, hn::Add(hn::And(bits, exponent), last));
  }
  const hn::RebindToSigned<decltype(du)> ds;
  const bool finite = hn::AllFalse(ds, hn::Lt(hn::BitCast(ds, carries), hn::Zero(ds)));
  return finite && (j == n || portable_kernels<T>().copy(from + j, n - j, to + j));
}

// One turn folds a cell correctly only when the grid is at least as large as the window.
template <class T>
void locate_kernels(GridderKernels<T>& k, const Tiling& g) {
  if (*std::min_element(g.fine.begin(), g.fine.begin() + g.dim) >= g.width) k.locate = locate<T>;
  k.copy = copy<T>;
  k.isa = HWY_TARGET == HWY_AVX2 ? "avx2" : HWY_TARGET == HWY_AVX3 ? "avx512" : hwy::TargetName(HWY_TARGET);
}

void locate_f32(GridderKernels<float>& k, const Tiling& g) { locate_kernels(k, g); }
void locate_f64(GridderKernels<double>& k, const Tiling& g) { locate_kernels(k, g); }

#else
void locate_f32(GridderKernels<float>&, const Tiling&) {}
void locate_f64(GridderKernels<double>&, const Tiling&) {}
#endif
}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourtune::runtime::cpu {
HWY_EXPORT(locate_f32);
HWY_EXPORT(locate_f64);
void refine_locate(GridderKernels<float>& kernels, const Tiling& g) { HWY_DYNAMIC_DISPATCH(locate_f32)(kernels, g); }
void refine_locate(GridderKernels<double>& kernels, const Tiling& g) { HWY_DYNAMIC_DISPATCH(locate_f64)(kernels, g); }
}  // namespace fourtune::runtime::cpu
#endif
