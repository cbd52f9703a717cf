// Spreading in one dimension without rows of weights in memory: a window is evaluated, placed and added to the grid in
// registers, by whole aligned lines (simd_aligned-inl.h says why).
HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu {
namespace HWY_NAMESPACE {
#if FOURTUNE_SIMD

// Adds vector n of a window's row to a line.
template <class T, int W>
HWY_INLINE void add_line(RowVec<T> left, RowVec<T> right, RowVec<T> strength, int start, int n, T* HWY_RESTRICT line) {
  const Row<T> d;
  hn::Store(hn::MulAdd(placed<T, W>(left, right, start, n), strength, hn::Load(d, line)), d, line);
}

// One of two addresses, without a branch: which one is as good as random.
template <class T>
HWY_INLINE T* either(bool first, T* a, T* b) {
  const auto to_a = reinterpret_cast<std::uintptr_t>(a), to_b = reinterpret_cast<std::uintptr_t>(b);
  return reinterpret_cast<T*>(to_b ^ ((to_a ^ to_b) & (std::uintptr_t{0} - static_cast<std::uintptr_t>(first))));
}

template <class T, int W>
void spread_line(const WeightTables<T>& tables, const RecordForm& form, const std::uint32_t* records, int n,
                 const LinePoints<T>& points, T* HWY_RESTRICT grid) {
  using Weights = PointWeights<T, W>;
  constexpr int kCells = kLanes<T> / 2;
  constexpr int kLeast = (W + kCells - 1) / kCells, kMost = (W + 2 * kCells - 2) / kCells;
  static_assert(kMost - kLeast <= 1);
  alignas(kLine) T z[kBlockPoints];
  alignas(kLine) std::int32_t cell[kBlockPoints];
  constexpr int kApart = 8;
  alignas(kLine) T apart[kApart * kLanes<T>] = {};
  unpack_field(form, records, n, 0, cell, z);
  std::fill(z + n, z + (n + Weights::kStep - 1) / Weights::kStep * Weights::kStep, T{0});
  const auto add = [&](int j, RowVec<T> left, RowVec<T> right) HWY_ATTR {
    if (j >= n) return;
    __builtin_prefetch(points.ahead[j], 0, 3);
    const std::int64_t first = points.origin[j] + cell[j];
    const int start = static_cast<int>(first & (kCells - 1));
    T* const lines = grid + 2 * (first - start);
    const RowVec<T> strength = broadcast(points.strengths + j);
    for (int n = 0; n < kLeast; ++n) add_line<T, W>(left, right, strength, start, n, lines + n * kLanes<T>);
    if constexpr (kMost > kLeast) {
      // A window that ends before the last line adds zeros to memory apart.
      T* const last = either(start + W <= kLeast * kCells, apart + j % kApart * kLanes<T>, lines + kLeast * kLanes<T>);
      add_line<T, W>(left, right, strength, start, kLeast, last);
    }
  };
  const Weights weights{tables, z};
  for (int j = 0; j < n; j += Weights::kStep) {
    weights.group(j, [&](int i, const RowVec<T>* left, const RowVec<T>* right)
                         HWY_ATTR { Weights::single(i, left, right, add); });
  }
}

#ifdef FOURTUNE_REAL
inline void evaluate_kernels(GridderKernels<FOURTUNE_REAL>& kernels, const Tiling& tiling) {
  using T = FOURTUNE_REAL;
  with_width(tiling.width, [&](auto width) {
    constexpr int kW = decltype(width)::value;
    kernels.evaluate = tiling.dim == 1 ? evaluate<T, kW, 1> : tiling.dim == 2 ? evaluate<T, kW, 2> : evaluate<T, kW, 3>;
    if constexpr (kPlacesInRegisters<T>) kernels.spread_line = tiling.dim == 1 ? spread_line<T, kW> : nullptr;
  });
}
#endif  // FOURTUNE_REAL

#elif defined(FOURTUNE_REAL)
inline void evaluate_kernels(GridderKernels<FOURTUNE_REAL>&, const Tiling&) {}
#endif
}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();
