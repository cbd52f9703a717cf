// Vector kernels that move whole x-bins between private tiles and the fine grid.
#include "runtime/backends/cpu/gridder/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/backends/cpu/gridder/rows.cpp"
#include <hwy/foreach_target.h>

#include "runtime/backends/cpu/gridder/simd-inl.h"
#include "runtime/backends/cpu/gridder/tables.h"

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu {
namespace HWY_NAMESPACE {
#if FOURTUNE_SIMD

// to[i] += from[i] for i < n, less than a vector; accesses nothing past to[n - 1]. For the masks see load_first.
template <class T>
HWY_INLINE void add_first(Row<T> d, int n, const T* from, T* HWY_RESTRICT to) {
  if constexpr (HWY_TARGET <= HWY_AVX3) {
    const auto first = hn::FirstN(d, static_cast<std::size_t>(n));
    hn::BlendedStore(hn::Add(hn::MaskedLoad(first, d, to), hn::Load(d, from)), first, d, to);
  } else {
    for (int i = 0; i < n; ++i) to[i] += from[i];
  }
}

template <class T>
void add_bin(T* HWY_RESTRICT bin, std::int64_t rows, int slots, std::complex<T>* const* grid_rows, std::int64_t offset,
             int cells) {
  const Row<T> d;
  const int whole = 2 * cells / kLanes<T>, vectors = 2 * slots / kLanes<T>;
  const RowVec<T> zero = hn::Zero(d);
  if (whole == 1 && vectors == 1) {
    for (std::int64_t r = 0; r < rows; ++r) {
      T* from = bin + r * kLanes<T>;
      T* HWY_RESTRICT to = reinterpret_cast<T*>(grid_rows[r] + offset);
      hn::StoreU(hn::Add(hn::LoadU(d, to), hn::Load(d, from)), d, to);
      hn::Store(zero, d, from);
    }
    return;
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    T* from = bin + r * 2 * slots;
    T* HWY_RESTRICT to = reinterpret_cast<T*>(grid_rows[r] + offset);
    for (int v = 0; v < whole; ++v) {
      hn::StoreU(hn::Add(hn::LoadU(d, to + v * kLanes<T>), hn::Load(d, from + v * kLanes<T>)), d, to + v * kLanes<T>);
    }
    if (whole < vectors) add_first(d, 2 * cells - whole * kLanes<T>, from + whole * kLanes<T>, to + whole * kLanes<T>);
    for (int v = 0; v < vectors; ++v) hn::Store(zero, d, from + v * kLanes<T>);
  }
}

template <class T>
void copy_bin(const std::complex<T>* const* grid_rows, std::int64_t offset, std::int64_t rows, int slots,
              T* HWY_RESTRICT bin) {
  const Row<T> d;
  const int vectors = 2 * slots / kLanes<T>;
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* from = reinterpret_cast<const T*>(grid_rows[r] + offset);
    for (int v = 0; v < vectors; ++v) {
      hn::Store(hn::LoadU(d, from + v * kLanes<T>), d, bin + (r * vectors + v) * kLanes<T>);
    }
  }
}

void rows_f32(GridderKernels<float>& k) {
  k.add_bin = add_bin<float>;
  k.copy_bin = copy_bin<float>;
}
void rows_f64(GridderKernels<double>& k) {
  k.add_bin = add_bin<double>;
  k.copy_bin = copy_bin<double>;
}

#else
void rows_f32(GridderKernels<float>&) {}
void rows_f64(GridderKernels<double>&) {}
#endif
}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourtune::runtime::cpu {
HWY_EXPORT(rows_f32);
HWY_EXPORT(rows_f64);
void refine_rows(GridderKernels<float>& kernels) { HWY_DYNAMIC_DISPATCH(rows_f32)(kernels); }
void refine_rows(GridderKernels<double>& kernels) { HWY_DYNAMIC_DISPATCH(rows_f64)(kernels); }
}  // namespace fourtune::runtime::cpu
#endif
