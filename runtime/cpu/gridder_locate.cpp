// Vector kernels of set_points: coordinates to tiles and packed records. locate_one and the scalar version in
// gridder_portable.cpp explain the arithmetic.
#include "runtime/cpu/gridder_targets.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
// Exact for f32; for f64 to a few ulps of the period coordinate.
HWY_INLINE Cells cells_quick(V64 x, const Axis& a) {
  const D64 d;
  const V64 p = hn::Mul(hn::Sub(x, hn::Set(d, a.centre)), hn::Set(d, a.factor));
  const V64 r = hn::Sub(p, hn::Round(p));
  const V64 fine = hn::Set(d, a.fine);
  const V64 v = hn::MulSub(r, fine, hn::Set(d, 0.5 * a.width));
  const V64 up = hn::Ceil(v);
  return {hn::Add(up, hn::IfThenElseZero(hn::Lt(up, hn::Zero(d)), fine)), hn::Sub(up, v), p};
}
HWY_INLINE Cells cells_exact(V64 x, const Axis& a) {
  const D64 d;
  const V64 centre = hn::Set(d, a.centre), factor = hn::Set(d, a.factor), fine = hn::Set(d, a.fine);
  const V64 s = hn::Sub(x, centre);
  const V64 seen = hn::Sub(s, x);
  const V64 s_low = hn::Sub(hn::Sub(x, hn::Sub(s, seen)), hn::Add(centre, seen));
  const V64 p = hn::Mul(s, factor);
  const V64 p_low =
      hn::Add(hn::MulSub(s, factor, p), hn::MulAdd(s, hn::Set(d, a.factor_low), hn::Mul(s_low, factor)));
  const V64 r = hn::Sub(p, hn::Round(p));
  const V64 q = hn::Mul(r, fine);
  const V64 nearest = hn::Round(q);
  const V64 rest = hn::Add(hn::Sub(q, nearest), hn::MulAdd(p_low, fine, hn::MulSub(r, fine, q)));
  const V64 t = hn::Sub(rest, hn::Set(d, (a.width & 1) != 0 ? 0.5 : 0.0));
  const V64 up = hn::Ceil(t);
  const V64 i0 = hn::Add(hn::Sub(nearest, hn::Set(d, a.width / 2)), up);
  return {hn::Add(i0, hn::IfThenElseZero(hn::Lt(i0, hn::Zero(d)), fine)), hn::Sub(up, t), p};
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
      : scale(static_cast<double>(std::uint64_t{1} << form.fraction)), bits(form.fraction) {}
  HWY_INLINE static VU integer(V64 v) {
    const DU du;
    return hn::Xor(hn::BitCast(du, hn::Add(v, hn::Set(D64(), 0x1p52))), hn::BitCast(du, hn::Set(D64(), 0x1p52)));
  }
  HWY_INLINE VU position(V64 cell, V64 fraction, int field_bits) const {
    const D64 d;
    const V64 f = hn::Min(hn::Mul(fraction, hn::Set(d, scale)), hn::Set(d, scale - 1));
    if (field_bits < 52) return integer(hn::MulAdd(cell, hn::Set(d, scale), f));
    return hn::Or(hn::ShiftLeftSame(integer(cell), bits), integer(f));
  }
  double scale;
  int bits;
};

HWY_INLINE void pack(const RecordForm& form, const VU* field, int j, Located& out) {
  const DU du;
  VU word[(kMaxRecordWords + 1) / 2] = {hn::Zero(du), hn::Zero(du), hn::Zero(du), hn::Zero(du)};
  for (int p = 0; p < form.parts; ++p) {
    const RecordForm::Part& part = form.part[p];
    const VU v = field[part.field];
    word[part.word] = hn::Or(word[part.word], part.shift >= 0 ? hn::ShiftLeftSame(v, part.shift)
                                                              : hn::ShiftRightSame(v, -part.shift));
  }
  for (int w = 0; 2 * w < form.words; ++w) hn::Store(word[w], du, out.word[w] + j);
}

template <class T, int Dim, bool kExact, bool kRecords>
bool locate_chunk(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first, int n,
                  Located& out) {
  const D64 d;
  const double limit =
      sizeof(T) == 8 && !kExact ? kNearPeriods : std::numeric_limits<double>::max();
  const V64 far = hn::Set(d, limit);
  const Tiling& g = frame.tiling;
  const RecordForm none;
  const Packer packer(kRecords ? *form : none);
  T tail[kN64] = {};
  for (int j = 0; j < n; j += kN64) {
    V64 tile = hn::Zero(d);
    VU field[4];
    for (int k = Dim - 1; k >= 0; --k) {
      const T* at = x[k] + j;
      if (j + kN64 > n) at = std::copy_n(at, n - j, tail) - (n - j);
      const Axis& axis = frame.axes[k];
      Cells c = kExact ? cells_exact(load(at), axis) : cells_quick(load(at), axis);
      if (!hn::AllTrue(d, hn::Le(hn::Abs(c.period), far)) && !locate_far(at, axis, limit, c)) return false;
      const V64 i = hn::Floor(hn::Mul(hn::Add(c.cell, hn::Set(d, 0.5)), hn::Set(d, frame.inverse_tile[k])));
      tile = k == Dim - 1 ? i : hn::MulAdd(tile, hn::Set(d, static_cast<double>(g.count[k])), i);
      if constexpr (kRecords) {
        const V64 inside = hn::NegMulAdd(i, hn::Set(d, g.tile[k]), c.cell);
        field[k] = packer.position(inside, c.fraction, form->field[k].bits);
      }
    }
    const D32 di;
    hn::Store(hn::DemoteTo(di, tile), di, out.tile + j);
    if constexpr (kRecords) {
      field[3] = hn::Iota(DU(), static_cast<std::uint64_t>(first + j));
      pack(*form, field, j, out);
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

// A single turn folds a cell only where the grid is no smaller than the window.
template <class T>
void locate_kernels(Kernels<T>& k, const Tiling& g) {
  if (*std::min_element(g.fine.begin(), g.fine.begin() + g.dim) >= g.width) k.locate = locate<T>;
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
