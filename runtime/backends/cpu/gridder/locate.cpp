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
using DW = hn::Repartition<std::uint32_t, D64>;  // twice as many lanes
using VW = hn::Vec<DW>;

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

// Repeats points j + i of a chunk, for every bit i of `far`, with the scalar version. Returns false when one is not
// finite.
template <class T>
HWY_NOINLINE bool locate_far(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x,
                             std::int64_t first, int j, int n, std::uint32_t far, Located& out) {
  Located single;
  for (int i = j; far != 0 && i < n; ++i, far >>= 1) {
    if ((far & 1) == 0) continue;
    std::array<const T*, 3> at{};
    for (int k = 0; k < frame.tiling.dim; ++k) at[k] = x[k] + i;
    if (!portable_kernels<T>().locate(frame, form, at, first + i, 1, single)) return false;
    out.key[i] = single.key[0];
    for (int w = 0; form != nullptr && 2 * w < form->words; ++w) out.word[w][i] = single.word[w][0];
  }
  return true;
}
template <class D, class M>
HWY_INLINE std::uint32_t bits_of(D d, M mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  std::uint32_t bits;
  __builtin_memcpy(&bits, bytes, sizeof bits);
  return bits;
}

// Loads the vector of coordinates that starts at x[j]; beyond the n-th it holds zeros or older ones, copied to `tail`.
template <class T>
HWY_INLINE V64 load(const T* x, int j, int n, T* tail) {
  if (HWY_LIKELY(j + kN64 <= n)) return load(x + j);
  if (j < n) std::copy_n(x + j, n - j, tail);
  return load(tail);
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
      if (!locate_far(frame, form, x, first, j, n, bits_of(d, far), out)) return false;
    }
  }
  return true;
}

// Multiplies numbers below 2^32.
HWY_INLINE VU multiply(VU a, VU b) {
  const hn::Repartition<std::uint32_t, DU> half;
  return hn::MulEven(hn::BitCast(half, a), hn::BitCast(half, b));
}
HWY_INLINE VW multiply(VW a, VW b) { return hn::Mul(a, b); }

// The constants of an axis in fixed point (FixedAxis) in every lane, for positions that are integers of D.
template <class D_>
struct CellLanes {
  using D = D_;
  using V = hn::Vec<D>;
  using Int = hn::TFromD<D>;
  static constexpr int kN = static_cast<int>(hn::MaxLanes(D()));
  static V set(std::int64_t v) { return hn::Set(D(), static_cast<Int>(v)); }
  // Sets the sign bit where the position is not in the grid.
  HWY_INLINE V beyond(V position) const { return hn::Or(position, hn::Sub(last, position)); }
  HWY_INLINE V tile_of(V position) const { return hn::Shr(position, to_tile); }
  HWY_INLINE V cell_of(V position) const { return hn::And(hn::Shr(position, to_cell), cell); }
  HWY_INLINE V field_of(V position) const { return hn::Xor(hn::And(hn::Shr(position, to_field), field), fraction); }

  V span, last, tiles, to_cell, to_tile, cell, to_field, field, fraction;

 protected:
  CellLanes(const Frame& f, const RecordForm& form, int k) : CellLanes(f, f.fixed_axes[k], form.fraction, k) {}

 private:
  CellLanes(const Frame& f, const FixedAxis& a, int fraction_bits, int k)
      : span(set(f.tiling.fine[k] << a.bits)),
        last(set((f.tiling.fine[k] << a.bits) - 1)),
        tiles(set(f.tiling.count[k])),
        to_cell(set(a.bits)),
        to_tile(set(a.bits + a.tile_bits)),
        cell(ones(a.tile_bits)),
        to_field(set(a.bits - fraction_bits)),
        field(ones(a.tile_bits + fraction_bits)),
        fraction(ones(fraction_bits)) {}
  static V ones(int bits) { return set((std::int64_t{1} << bits) - 1); }
};

template <class T>
inline constexpr double kNear = sizeof(T) == 4 ? kNearPeriods32 : kNearPeriods64;

// A period coordinate less its turns, for points beyond the period around zero.
struct TurnLanes {
  explicit TurnLanes(const PeriodAxis& axis) : factor(set(axis.factor)), factor_low(set(axis.factor_low)) {}
  HWY_INLINE V64 rest(V64 x) const {
    return hn::MulAdd(x, factor_low, hn::MulSub(x, factor, hn::Round(hn::Mul(x, factor))));
  }
  template <class T>
  HWY_INLINE auto near(V64 x) const {
    return hn::Le(hn::Abs(hn::Mul(x, factor)), set(kNear<T>));
  }
  static V64 set(double v) { return hn::Set(D64(), v); }
  V64 factor, factor_low;
};

// Positions of 32 bits, twice as many at a time. The conversion truncates; the shift keeps what it converts above zero.
struct Lanes32 : CellLanes<DW> {
  Lanes32(const Frame& f, const RecordForm& form, int k) : Lanes32(f, form, f.fixed_axes[k], k) {}
  template <class T>
  HWY_INLINE VW position(const T* x, int j, int n, T* tail) const {
    return folded(hn::MulAdd(load(x, j, n, tail), scale, shift),
                  hn::MulAdd(load(x, j + kN64, n, tail + kN64), scale, shift));
  }
  template <class T>
  HWY_INLINE VW position_beyond(const T* x, int j, int n, T* tail) const {
    const auto sum = [&](V64 v) HWY_ATTR {
      return hn::IfThenElse(turns.near<T>(v), hn::MulAdd(turns.rest(v), folded_scale, shift), nowhere);
    };
    return folded(sum(load(x, j, n, tail)), sum(load(x, j + kN64, n, tail + kN64)));
  }

 private:
  Lanes32(const Frame& f, const RecordForm& form, const FixedAxis& a, int k)
      : CellLanes<DW>(f, form, k),
        turns(f.axes[k]),
        scale(TurnLanes::set(a.scale)),
        shift(TurnLanes::set(a.shift)),
        folded_scale(TurnLanes::set(a.folded_scale)),
        nowhere(TurnLanes::set(-0x1p40)) {}
  // At least span where the sum is not in [0, 2 * span) or not a number, which x86 converts to the least integer.
  HWY_INLINE VW folded(V64 lower, V64 upper) const {
    const VW q = hn::BitCast(DW(), hn::Combine(hn::RebindToSigned<DW>(), integer(upper), integer(lower)));
    return hn::Min(q, hn::Sub(q, span));
  }
  HWY_INLINE hn::Vec<D32> integer(V64 sum) const {
#if !HWY_ARCH_X86
    sum = hn::IfThenElse(hn::Eq(sum, sum), sum, nowhere);
#endif
    return hn::DemoteTo(D32(), sum);
  }
  TurnLanes turns;
  V64 scale, shift, folded_scale, nowhere;
};

// Positions of 64 bits; Deep: with kDeepBits more from the product's rest.
template <bool Deep>
struct Lanes64 : CellLanes<DU> {
  Lanes64(const Frame& f, const RecordForm& form, int k) : Lanes64(f, form, f.fixed_axes[k], f.tiling.fine[k], k) {}
  template <class T>
  HWY_INLINE VU position(const T* x, int j, int n, T* tail) const {
    const V64 v = load(x, j, n, tail);
    return Deep ? deep(v, scale, scale_low) : shallow(v, scale);
  }
  template <class T>
  HWY_INLINE VU position_beyond(const T* x, int j, int n, T* tail) const {
    const V64 v = load(x, j, n, tail), rest = turns.rest(v);
    const VU q = Deep ? deep(rest, folded_scale, hn::Zero(D64())) : shallow(rest, folded_scale);
    return hn::IfThenElse(hn::RebindMask(DU(), turns.near<T>(v)), q, span);
  }

 private:
  Lanes64(const Frame& f, const RecordForm& form, const FixedAxis& a, std::int64_t cells, int k)
      : CellLanes<DU>(f, form, k),
        turns(f.axes[k]),
        scale(TurnLanes::set(a.scale)),
        scale_low(TurnLanes::set(a.scale_low)),
        shift(TurnLanes::set(a.shift)),
        integers(TurnLanes::set(kIntegers)),
        units(TurnLanes::set(1 << kDeepBits)),
        folded_scale(TurnLanes::set(a.folded_scale)),
        zero(hn::BitCast(DU(), integers)),
        deep_shift(set(a.deep_shift)),
        two_spans(set(cells << (a.bits - kDeepBits + 1))) {}
  // Returns q, or q + span where q is negative; at least span where q is not in [-span, span).
  HWY_INLINE VU folded(VU q) const { return hn::Min(q, hn::Add(q, span)); }
  HWY_INLINE VU integer(V64 sum) const { return hn::Sub(hn::BitCast(DU(), sum), zero); }
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
  TurnLanes turns;
  V64 scale, scale_low, shift, integers, units, folded_scale;
  VU zero, deep_shift, two_spans;
};

HWY_INLINE void store_keys(VU key, std::int32_t* to) {
  const hn::RebindToUnsigned<D32> du32;
  hn::Store(hn::TruncateTo(du32, key), du32, reinterpret_cast<std::uint32_t*>(to));
}
HWY_INLINE void store_keys(VW key, std::int32_t* to) { hn::Store(key, DW(), reinterpret_cast<std::uint32_t*>(to)); }

// Packs the records of points j, j + 1, ...; index is that of the first kN64 of them.
template <int Dim>
HWY_INLINE void pack_fields(const RecordForm& form, const VU* field, VU index, int j, Located& out) {
  VU all[4] = {field[0], field[Dim > 1 ? 1 : 0], field[Dim > 2 ? 2 : 0], index};
  pack<Dim>(form, all, j, out);
}
template <int Dim>
HWY_INLINE void pack_fields(const RecordForm& form, const VW* field, VU index, int j, Located& out) {
  const hn::Half<DW> half;
  VU lower[Dim], upper[Dim];
  for (int k = 0; k < Dim; ++k) {
    lower[k] = hn::PromoteTo(DU(), hn::LowerHalf(half, field[k]));
    upper[k] = hn::PromoteTo(DU(), hn::UpperHalf(half, field[k]));
  }
  pack_fields<Dim>(form, lower, index, j, out);
  pack_fields<Dim>(form, upper, hn::Add(index, hn::Set(DU(), std::uint64_t{kN64})), j + kN64, out);
}

template <class T, int Dim, bool kRecords, class Lanes>
bool locate_fixed(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first,
                  int n, Located& out) {
  const typename Lanes::D du;
  const hn::RebindToSigned<typename Lanes::D> ds;
  using V = typename Lanes::V;
  constexpr int kN = Lanes::kN;
  RecordForm shape;
  shape.fraction = 0;
  if constexpr (kRecords) shape = *form;
  const Lanes lanes[3] = {{frame, shape, 0}, {frame, shape, Dim > 1 ? 1 : 0}, {frame, shape, Dim > 2 ? 2 : 0}};
  const InnerOrder order = frame.inner;
  const V bins = Lanes::set(order.bins), groups = Lanes::set(order.groups), planes = Lanes::set(order.plane_bits);
  const V inverse_bin = Lanes::set((65536 + frame.tiling.bin - 1) / frame.tiling.bin);  // exact below 256 cells
  VU index = hn::Iota(DU(), static_cast<std::uint64_t>(first));
  const VU step = hn::Set(DU(), std::uint64_t{kN});
  T tail[Dim][kN] = {};
  for (int j = 0; j < n; j += kN) {
    V position[Dim], beyond = hn::Zero(du);
    for (int k = 0; k < Dim; ++k) {
      position[k] = lanes[k].position(x[k], j, n, tail[k]);
      beyond = hn::Or(beyond, lanes[k].beyond(position[k]));
    }
    const bool all_near = hn::AllFalse(ds, hn::Lt(hn::BitCast(ds, beyond), hn::Zero(ds)));
    if (HWY_UNLIKELY(!all_near)) {
      beyond = hn::Zero(du);
      for (int k = 0; k < Dim; ++k) {
        const V other = lanes[k].position_beyond(x[k], j, n, tail[k]);
        position[k] = hn::IfThenElse(hn::Lt(position[k], lanes[k].span), position[k], other);
        beyond = hn::Or(beyond, lanes[k].beyond(position[k]));
      }
    }
    V key = hn::Zero(du), field[Dim];
    for (int k = Dim - 1; k >= 0; --k) {
      const V i = lanes[k].tile_of(position[k]);
      key = k == Dim - 1 ? i : hn::Add(multiply(key, lanes[k].tiles), i);
      if constexpr (kRecords) field[k] = lanes[k].field_of(position[k]);
    }
    if (Dim == 3 && order.keys() > 1) {
      key = hn::Add(multiply(key, bins), hn::ShiftRight<16>(multiply(lanes[0].cell_of(position[0]), inverse_bin)));
      if (order.groups > 1) key = hn::Add(multiply(key, groups), hn::Shr(lanes[2].cell_of(position[Dim - 1]), planes));
    }
    store_keys(key, out.key + j);
    if constexpr (kRecords) {
      pack_fields<Dim>(shape, field, index, j, out);
      index = hn::Add(index, step);
    }
    if (HWY_UNLIKELY(!all_near)) {
      const auto far = hn::Lt(hn::BitCast(ds, beyond), hn::Zero(ds));
      if (!locate_far(frame, form, x, first, j, n, bits_of(ds, far), out)) return false;
    }
  }
  return true;
}

template <class T, int Dim, bool kRecords>
bool locate_by(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first, int n,
               Located& out) {
  switch (frame.arithmetic) {
    case Arithmetic::int32:
      return locate_fixed<T, Dim, kRecords, Lanes32>(frame, form, x, first, n, out);
    case Arithmetic::int64:
      return locate_fixed<T, Dim, kRecords, Lanes64<false>>(frame, form, x, first, n, out);
    case Arithmetic::deep:
      if constexpr (sizeof(T) == sizeof(double))
        return locate_fixed<T, Dim, kRecords, Lanes64<true>>(frame, form, x, first, n, out);
      break;
    case Arithmetic::exact:
      break;
  }
  return locate_exact<T, Dim, kRecords>(frame, form, x, first, n, out);
}

template <class T>
bool locate(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first, int n,
            Located& out) {
  const auto in = [&](auto dim) HWY_ATTR {
    constexpr int kDim = decltype(dim)::value;
    return form != nullptr ? locate_by<T, kDim, true>(frame, form, x, first, n, out)
                           : locate_by<T, kDim, false>(frame, form, x, first, n, out);
  };
  const int dim = frame.tiling.dim;
  return dim == 1   ? in(std::integral_constant<int, 1>())
         : dim == 2 ? in(std::integral_constant<int, 2>())
                    : in(std::integral_constant<int, 3>());
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
