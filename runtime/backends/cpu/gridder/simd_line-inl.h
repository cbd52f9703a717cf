// Spreading in one dimension without rows of weights in memory: a window is evaluated, placed and added to the grid in
// registers, by whole aligned lines (simd_aligned-inl.h says why).
HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu {
namespace HWY_NAMESPACE {
#if FOURTUNE_SIMD

template <class T, int W, int Lines>
HWY_INLINE void add_lines(RowVec<T> left, RowVec<T> right, RowVec<T> strength, int start, T* HWY_RESTRICT lines) {
  const Row<T> d;
  for (int n = 0; n < Lines; ++n) {
    T* at = lines + n * kLanes<T>;
    hn::Store(hn::MulAdd(placed<T, W>(left, right, start, n), strength, hn::Load(d, at)), d, at);
  }
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
  unpack_field(form, records, n, 0, cell, z);
  std::fill(z + n, z + (n + Weights::kStep - 1) / Weights::kStep * Weights::kStep, T{0});
  const auto add = [&](int j, RowVec<T> left, RowVec<T> right) HWY_ATTR {
    if (j >= n) return;
    __builtin_prefetch(points.ahead[j], 0, 3);
    const std::int64_t first = points.origin[j] + cell[j];
    const int start = static_cast<int>(first & (kCells - 1));
    T* const lines = grid + 2 * (first - start);
    const RowVec<T> strength = broadcast(points.strengths + j);
    if (kMost == kLeast || start + W <= kLeast * kCells) {
      add_lines<T, W, kLeast>(left, right, strength, start, lines);
    } else {
      add_lines<T, W, kMost>(left, right, strength, start, lines);
    }
  };
  const Weights weights{tables, z};
  for (int j = 0; j < n; j += Weights::kStep) {
    weights.group(j, [&](int i, const RowVec<T>* left, const RowVec<T>* right)
                        HWY_ATTR { Weights::single(i, left, right, add); });
  }
}

#ifdef FOURTUNE_REAL
inline void evaluate_kernels(Kernels<FOURTUNE_REAL>& kernels, const Tiling& tiling) {
  using T = FOURTUNE_REAL;
  with_width(tiling.width, [&](auto width) {
    constexpr int kW = decltype(width)::value;
    kernels.evaluate = tiling.dim == 1 ? evaluate<T, kW, 1> : tiling.dim == 2 ? evaluate<T, kW, 2> : evaluate<T, kW, 3>;
    if constexpr (kPlacesInRegisters<T>) kernels.spread_line = tiling.dim == 1 ? spread_line<T, kW> : nullptr;
  });
}
#endif  // FOURTUNE_REAL

#elif defined(FOURTUNE_REAL)
inline void evaluate_kernels(Kernels<FOURTUNE_REAL>&, const Tiling&) {}
#endif
}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();
