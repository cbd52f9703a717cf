// Vector kernels of set_points: coordinates to cells and fractions, cells to tiles. The scalar versions in
// gridder_portable.cpp explain the arithmetic.
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

// Whole vectors; the tail and the search for a bad point are left to the scalar version.
std::int64_t locate_single(const float* x, int n, const Axis& a, std::int32_t* cell, std::uint32_t* fraction) {
  const D64 d;
  const D32 di;
  const hn::Rebind<float, D64> df;
  const V64 centre = hn::Set(d, a.centre), factor = hn::Set(d, a.factor), fine = hn::Set(d, a.fine);
  const V64 half = hn::Set(d, 0.5 * a.width), scale = hn::Set(d, 0x1p24), most = hn::Set(d, 0x1p24 - 1);
  const V64 zero = hn::Zero(d);
  V64 finite = zero;  // NaN as soon as one coordinate is not finite
  int j = 0;
  for (; j + kN64 <= n; j += kN64) {
    const V64 p = hn::Mul(hn::Sub(hn::PromoteTo(d, hn::LoadU(df, x + j)), centre), factor);
    const V64 r = hn::Sub(p, hn::Round(p));
    finite = hn::MulAdd(r, zero, finite);
    const V64 v = hn::MulSub(r, fine, half);
    const V64 up = hn::Ceil(v);
    const V64 folded = hn::Add(up, hn::IfThenElseZero(hn::Lt(up, zero), fine));
    hn::StoreU(hn::DemoteTo(di, folded), di, cell + j);
    if (fraction == nullptr) continue;
    const V64 f = hn::Min(hn::Round(hn::Mul(hn::Sub(up, v), scale)), most);
    hn::StoreU(hn::DemoteTo(di, f), di, reinterpret_cast<std::int32_t*>(fraction + j));
  }
  if (!(hn::GetLane(hn::SumOfLanes(d, finite)) == 0)) j = 0;
  const std::int64_t bad =
      portable_kernels<float>().locate(x + j, n - j, a, cell + j, fraction != nullptr ? fraction + j : nullptr);
  return bad < 0 ? bad : bad + j;
}

std::int64_t locate_double(const double* x, int n, const Axis& a, std::int32_t* cell, double* fraction) {
  const D64 d;
  const D32 di;
  const V64 centre = hn::Set(d, a.centre), factor = hn::Set(d, a.factor), low = hn::Set(d, a.factor_low);
  const V64 fine = hn::Set(d, a.fine), odd = hn::Set(d, (a.width & 1) != 0 ? 0.5 : 0.0);
  const V64 first = hn::Set(d, a.width / 2), zero = hn::Zero(d);
  V64 finite = zero;
  int j = 0;
  for (; j + kN64 <= n; j += kN64) {
    const V64 at = hn::LoadU(d, x + j);
    const V64 s = hn::Sub(at, centre);
    const V64 seen = hn::Sub(s, at);
    const V64 s_low = hn::Sub(hn::Sub(at, hn::Sub(s, seen)), hn::Add(centre, seen));
    const V64 p = hn::Mul(s, factor);
    const V64 p_low = hn::Add(hn::MulSub(s, factor, p), hn::MulAdd(s, low, hn::Mul(s_low, factor)));
    const V64 r = hn::Sub(p, hn::Round(p));
    finite = hn::MulAdd(r, zero, finite);
    const V64 q = hn::Mul(r, fine);
    const V64 nearest = hn::Round(q);
    const V64 rest = hn::Add(hn::Sub(q, nearest), hn::MulAdd(p_low, fine, hn::MulSub(r, fine, q)));
    const V64 t = hn::Sub(rest, odd);
    const V64 up = hn::Ceil(t);
    const V64 i0 = hn::Add(hn::Sub(nearest, first), up);
    const V64 folded = hn::Add(i0, hn::IfThenElseZero(hn::Lt(i0, zero), fine));
    hn::StoreU(hn::DemoteTo(di, folded), di, cell + j);
    if (fraction != nullptr) hn::StoreU(hn::Sub(up, t), d, fraction + j);
  }
  if (!(hn::GetLane(hn::SumOfLanes(d, finite)) == 0)) j = 0;
  const std::int64_t bad =
      portable_kernels<double>().locate(x + j, n - j, a, cell + j, fraction != nullptr ? fraction + j : nullptr);
  return bad < 0 ? bad : bad + j;
}

// `pitch` is a whole number of vectors: lanes beyond n are computed and ignored.
void tiles_across(const Tiling& g, const double* inverse_tile, int n, int pitch, std::int32_t* cell,
                  std::int32_t* tile) {
  const D64 d;
  const D32 di;
  const V64 half = hn::Set(d, 0.5);
  for (int j = 0; j < n; j += kN64) {
    auto t = hn::Zero(di);
    for (int k = g.dim - 1; k >= 0; --k) {
      std::int32_t* at = cell + k * pitch + j;
      const auto c = hn::Load(di, at);
      const V64 position = hn::Mul(hn::Add(hn::PromoteTo(d, c), half), hn::Set(d, inverse_tile[k]));
      const auto i = hn::DemoteTo(di, position);
      hn::Store(hn::Sub(c, hn::Mul(i, hn::Set(di, g.tile[k]))), di, at);
      t = hn::Add(hn::Mul(t, hn::Set(di, static_cast<std::int32_t>(g.count[k]))), i);
    }
    hn::Store(t, di, tile + j);
  }
}

void locate_f32(Kernels<float>& k, const Tiling& g) {
  k.tiles_of = tiles_across;
  if (*std::min_element(g.fine.begin(), g.fine.begin() + g.dim) >= g.width) k.locate = locate_single;
  k.isa = HWY_TARGET == HWY_AVX2 ? "avx2" : HWY_TARGET == HWY_AVX3 ? "avx512" : hwy::TargetName(HWY_TARGET);
}
void locate_f64(Kernels<double>& k, const Tiling& g) {
  k.tiles_of = tiles_across;
  if (*std::min_element(g.fine.begin(), g.fine.begin() + g.dim) >= g.width) k.locate = locate_double;
  k.isa = HWY_TARGET == HWY_AVX2 ? "avx2" : HWY_TARGET == HWY_AVX3 ? "avx512" : hwy::TargetName(HWY_TARGET);
}

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
