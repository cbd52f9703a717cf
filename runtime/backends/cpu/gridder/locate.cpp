// Vector kernels of set_points: convert coordinates to sort keys and packed records, in fixed point where that is exact
// enough (simd_locate_fixed-inl.h), otherwise in f64 (simd_locate_exact-inl.h).
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/backends/cpu/gridder/targets.h"
#include "runtime/backends/cpu/gridder/turns.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/backends/cpu/gridder/locate.cpp"
#include <hwy/foreach_target.h>

#include "runtime/backends/cpu/gridder/simd-inl.h"
#include "runtime/backends/cpu/gridder/simd_locate-inl.h"
#include "runtime/backends/cpu/gridder/simd_locate_exact-inl.h"
#include "runtime/backends/cpu/gridder/simd_locate_fixed-inl.h"
#include "runtime/backends/cpu/gridder/tables.h"

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu {
namespace HWY_NAMESPACE {
#if FOURTUNE_SIMD

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
