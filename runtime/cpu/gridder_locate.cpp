// Vector kernels of set_points: coordinates to tiles and packed records. locate_one and the scalar version in
// gridder_portable.cpp explain the arithmetic.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/cpu/gridder_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/gridder_locate.cpp"
#include <hwy/foreach_target.h>

#include "runtime/cpu/gridder_simd-inl.h"
#include "runtime/cpu/gridder_tables.h"

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
// An axis' constants in every lane, read once a chunk.
struct Lanes {
  Lanes(const Frame& f, int k)
      : Lanes(f.axes[k], static_cast<double>(f.tiling.tile[k]), static_cast<double>(f.tiling.count[k]),
              f.inverse_tile[k]) {}
  V64 centre, shift, factor, low, fine, half, odd, first, tile, tiles, inverse, half_inverse;

 private:
  Lanes(const Axis& a, double tile_cells, double tile_count, double inverse_tile)
      : centre(set(a.centre)),
        shift(set(a.centre * a.factor)),
        factor(set(a.factor)),
        low(set(a.factor_low)),
        fine(set(a.fine)),
        half(set(0.5 * a.width)),
        odd(set((a.width & 1) != 0 ? 0.5 : 0.0)),
        first(set(a.width / 2)),
        tile(set(tile_cells)),
        tiles(set(tile_count)),
        inverse(set(inverse_tile)),
        half_inverse(set(0.5 * inverse_tile)) {}
  static V64 set(double v) { return hn::Set(D64(), v); }
};
// Exact for f32; for f64 to a few ulps of the period coordinate.
HWY_INLINE Cells cells_quick(V64 x, const Lanes& a) {
  const D64 d;
  const V64 p = hn::MulSub(x, a.factor, a.shift);
  const V64 r = hn::Sub(p, hn::Round(p));
  const V64 v = hn::MulSub(r, a.fine, a.half);
  const V64 up = hn::Ceil(v);
  return {hn::Add(up, hn::IfThenElseZero(hn::Lt(up, hn::Zero(d)), a.fine)), hn::Sub(up, v), p};
}
HWY_INLINE Cells cells_exact(V64 x, const Lanes& a) {
  const D64 d;
  const V64 s = hn::Sub(x, a.centre);
  const V64 seen = hn::Sub(s, x);
  const V64 s_low = hn::Sub(hn::Sub(x, hn::Sub(s, seen)), hn::Add(a.centre, seen));
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

// The lanes that are beyond `limit` once more by the scalar version. False when one is not finite.
template <class T>
HWY_NOINLINE bool locate_far(const T* x, const Axis& a, double limit, Cells& c) {
  const D64 d;
  alignas(kLine) double cell[kN64], fraction[kN64], period[kN64];
  hn::Store(c.cell, d, cell);
  hn::Store(c.fraction, d, fraction);
  hn::Store(c.period, d, period);
  for (int i = 0; i < kN64; ++i) {
    if (std::abs(period[i]) <= limit) continue;
    std::int64_t exact = 0;
    if (!locate_one(x[i], a, exact, fraction[i])) return false;
    cell[i] = static_cast<double>(exact);
  }
  c.cell = hn::Load(d, cell);
  c.fraction = hn::Load(d, fraction);
  return true;
}

// Position in the tile in units of 2^-fraction: integers below 2^52 are read off the mantissa of 2^52 + them.
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
    const V64 f = hn::Min(hn::Mul(fraction, scale), most);
    if (!wide) return integer(hn::MulAdd(cell, scale, f));
    return hn::Or(hn::ShiftLeftSame(integer(cell), bits), integer(f));
  }
  V64 scale, most, two52;
  int bits;
};

template <int Dim>
HWY_INLINE void pack(const RecordForm& form, const VU* field, int j, Located& out) {
  const DU du;
  if (form.words <= 2) {
    VU word = field[0];
    for (int d = 1; d < Dim; ++d) word = hn::Or(word, hn::ShiftLeftSame(field[d], form.field[d].offset));
    if (form.field[3].bits > 0) word = hn::Or(word, hn::ShiftLeftSame(field[3], form.field[3].offset));
    hn::Store(word, du, out.word[0] + j);
    return;
  }
  if (form.words <= 4) {
    VU low = field[0], high = hn::Zero(du);
    const auto add = [&](int f) HWY_ATTR {
      const int offset = form.field[f].offset, end = offset + form.field[f].bits;
      if (offset < 64) low = hn::Or(low, hn::ShiftLeftSame(field[f], offset));
      if (offset >= 64) {
        high = hn::Or(high, hn::ShiftLeftSame(field[f], offset - 64));
      } else if (end > 64) {
        high = hn::Or(high, hn::ShiftRightSame(field[f], 64 - offset));
      }
    };
    if constexpr (Dim > 1) add(1);
    if constexpr (Dim > 2) add(2);
    if (form.field[3].bits > 0) add(3);
    hn::Store(low, du, out.word[0] + j);
    hn::Store(high, du, out.word[1] + j);
    return;
  }
  VU word[(kMaxRecordWords + 1) / 2] = {hn::Zero(du), hn::Zero(du), hn::Zero(du), hn::Zero(du)};
  for (int p = 0; p < form.parts; ++p) {
    const RecordForm::Part& part = form.part[p];
    const VU v = field[part.field];
    word[part.word] = hn::Or(word[part.word],
                             part.shift >= 0 ? hn::ShiftLeftSame(v, part.shift) : hn::ShiftRightSame(v, -part.shift));
  }
  for (int w = 0; 2 * w < form.words; ++w) hn::Store(word[w], du, out.word[w] + j);
}

template <class T, int Dim, bool kExact, bool kRecords>
bool locate_chunk(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first,
                  int n, Located& out) {
  const D64 d;
  const D32 di;
  const DU du;
  const double limit = sizeof(T) == 8 && !kExact ? kNearPeriods : std::numeric_limits<double>::max();
  const V64 far = hn::Set(d, limit);
  const Lanes lanes[3] = {Lanes(frame, 0), Lanes(frame, Dim > 1 ? 1 : 0), Lanes(frame, Dim > 2 ? 2 : 0)};
  const RecordForm shape = kRecords ? *form : RecordForm();  // a copy: nothing that is written below can be part of it
  const Packer packer(shape);
  const bool wide[3] = {shape.field[0].bits >= 52, shape.field[1].bits >= 52, shape.field[2].bits >= 52};
  VU index = hn::Iota(du, static_cast<std::uint64_t>(first));
  const VU step = hn::Set(du, std::uint64_t{kN64});
  T tail[Dim][kN64] = {};
  for (int j = 0; j < n; j += kN64) {
    const T* at[Dim];
    Cells c[Dim];
    V64 all = hn::Zero(d);  // bounds every dimension's period coordinate; NaN if one is
    for (int k = 0; k < Dim; ++k) {
      at[k] = x[k] + j;
      if (j + kN64 > n) at[k] = std::copy_n(at[k], n - j, tail[k]) - (n - j);
      c[k] = kExact ? cells_exact(load(at[k]), lanes[k]) : cells_quick(load(at[k]), lanes[k]);
      all = hn::Add(all, hn::Abs(c[k].period));
    }
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Le(all, far)))) {
      for (int k = 0; k < Dim; ++k) {
        if (!locate_far(at[k], frame.axes[k], limit, c[k])) return false;
      }
    }
    V64 tile = hn::Zero(d);
    VU field[4] = {index, index, index, index};
    for (int k = Dim - 1; k >= 0; --k) {
      const V64 i = hn::Floor(hn::MulAdd(c[k].cell, lanes[k].inverse, lanes[k].half_inverse));
      tile = k == Dim - 1 ? i : hn::MulAdd(tile, lanes[k].tiles, i);
      if constexpr (kRecords) {
        field[k] = packer.position(hn::NegMulAdd(i, lanes[k].tile, c[k].cell), c[k].fraction, wide[k]);
      }
    }
    hn::Store(hn::DemoteTo(di, tile), di, out.tile + j);
    if constexpr (kRecords) {
      pack<Dim>(shape, field, j, out);
      index = hn::Add(index, step);
    }
  }
  return true;
}

template <class T, bool kExact, bool kRecords>
bool locate_any(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first, int n,
                Located& out) {
  const int dim = frame.tiling.dim;
  return dim == 1   ? locate_chunk<T, 1, kExact, kRecords>(frame, form, x, first, n, out)
         : dim == 2 ? locate_chunk<T, 2, kExact, kRecords>(frame, form, x, first, n, out)
                    : locate_chunk<T, 3, kExact, kRecords>(frame, form, x, first, n, out);
}

template <class T>
bool locate(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first, int n,
            Located& out) {
  if (sizeof(T) == 8 && !frame.quick) {
    return form != nullptr ? locate_any<T, true, true>(frame, form, x, first, n, out)
                           : locate_any<T, true, false>(frame, form, x, first, n, out);
  }
  return form != nullptr ? locate_any<T, false, true>(frame, form, x, first, n, out)
                         : locate_any<T, false, false>(frame, form, x, first, n, out);
}

// Products of numbers below 2^32.
HWY_INLINE VU multiply32(VU a, VU b) {
  const hn::Repartition<std::uint32_t, DU> half;
  return hn::MulEven(hn::BitCast(half, a), hn::BitCast(half, b));
}

// Fields are cut out of gathered words: x-bin * z_groups + z cell / kZGroup.
void local_keys(const RecordForm& form, const Tiling& g, const std::uint32_t* records, int n, std::uint16_t* key) {
  const DU du;
  const hn::RebindToSigned<D64> ds;
  const Field x = form.field[0], z = form.field[2];
  const auto* at_x = reinterpret_cast<const std::uint64_t*>(reinterpret_cast<const char*>(records) + (x.offset >> 3));
  const auto* at_z = reinterpret_cast<const std::uint64_t*>(reinterpret_cast<const char*>(records) + (z.offset >> 3));
  const int stride = 4 * form.words, cut_x = (x.offset & 7) + form.fraction, cut_z = (z.offset & 7) + form.fraction;
  const VU mask_x = hn::Set(du, x.mask() >> form.fraction), mask_z = hn::Set(du, z.mask() >> form.fraction);
  const VU inverse_bin = hn::Set(du, std::uint64_t((65536 + g.bin - 1) / g.bin));  // exact for cells below 256
  const VU groups = hn::Set(du, static_cast<std::uint64_t>(z_groups(g)));
  auto offset = hn::Mul(hn::Iota(ds, 0), hn::Set(ds, stride));
  alignas(kLine) std::uint64_t out[kN64];
  int j = 0;
  for (; j + kN64 <= n; j += kN64) {
    const VU cell_x = hn::And(hn::ShiftRightSame(hn::GatherOffset(du, at_x, offset), cut_x), mask_x);
    const VU cell_z = hn::And(hn::ShiftRightSame(hn::GatherOffset(du, at_z, offset), cut_z), mask_z);
    const VU bin = hn::ShiftRight<16>(multiply32(cell_x, inverse_bin));
    hn::Store(hn::Add(multiply32(bin, groups), hn::ShiftRight<2>(cell_z)), du, out);
    for (int i = 0; i < kN64; ++i) key[j + i] = static_cast<std::uint16_t>(out[i]);
    offset = hn::Add(offset, hn::Set(ds, kN64 * stride));
  }
  if (j < n) portable_kernels<float>().local_keys(form, g, records + std::int64_t{j} * form.words, n - j, key + j);
}

// A single turn folds a cell only where the grid is no smaller than the window.
template <class T>
void locate_kernels(Kernels<T>& k, const Tiling& g) {
  if (*std::min_element(g.fine.begin(), g.fine.begin() + g.dim) >= g.width) k.locate = locate<T>;
  k.local_keys = local_keys;
  k.isa = HWY_TARGET == HWY_AVX2 ? "avx2" : HWY_TARGET == HWY_AVX3 ? "avx512" : hwy::TargetName(HWY_TARGET);
}

void locate_f32(Kernels<float>& k, const Tiling& g) { locate_kernels(k, g); }
void locate_f64(Kernels<double>& k, const Tiling& g) { locate_kernels(k, g); }

#else
void locate_f32(Kernels<float>&, const Tiling&) {}
void locate_f64(Kernels<double>&, const Tiling&) {}
#endif
}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourtune::runtime::cpu {
HWY_EXPORT(locate_f32);
HWY_EXPORT(locate_f64);
void refine_locate(Kernels<float>& kernels, const Tiling& g) { HWY_DYNAMIC_DISPATCH(locate_f32)(kernels, g); }
void refine_locate(Kernels<double>& kernels, const Tiling& g) { HWY_DYNAMIC_DISPATCH(locate_f64)(kernels, g); }
}  // namespace fourtune::runtime::cpu
#endif
