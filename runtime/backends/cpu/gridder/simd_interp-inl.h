// Vector kernels of interpolation, the counterpart of simd_spread-inl.h.
HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu {
namespace HWY_NAMESPACE {
#if FOURTUNE_SIMD

// Adds weight times the y rows of one plane, by their weights.
template <class T, int W, int N>
HWY_INLINE void add_plane(const T* HWY_RESTRICT rows, const T* HWY_RESTRICT y_weights, T weight, RowVec<T>* sum) {
  const Row<T> d;
  RowVec<T> plane[N];
#pragma GCC unroll 16
  for (int y = 0; y < W; ++y) {
    const RowVec<T> wy = hn::Set(d, y_weights[y * kBlockPoints]);
#pragma GCC unroll 8
    for (int n = 0; n < N; ++n) {
      const RowVec<T> cells = hn::Load(d, rows + (y * N + n) * kLanes<T>);
      plane[n] = y == 0 ? hn::Mul(wy, cells) : hn::MulAdd(wy, cells, plane[n]);
    }
  }
  for (int n = 0; n < N; ++n) sum[n] = hn::MulAdd(hn::Set(d, weight), plane[n], sum[n]);
}

// Sums rows over y, then z, with one reduction along x at the end.
template <class T, int W, int Dim>
void interpolate(const WeightBlock<T>& block, const Tiling& g, const T* HWY_RESTRICT tile,
                 std::complex<T>* HWY_RESTRICT values) {
  constexpr int kN = kVectors<T, W>;
  constexpr int kWide = 2 * kSlots<T, W>;
  constexpr int kZ = Dim > 2 ? W : 1;
  const Row<T> d;
  const std::int64_t stride_z = std::int64_t{kWide} * g.padded[1];
  const T* HWY_RESTRICT xs = block.x.data();
  const T* HWY_RESTRICT ys = block.y_weights();
  const T* HWY_RESTRICT zs = block.z.data();
  for (int j = 0; j < block.n; ++j) {
    const T* HWY_RESTRICT row = tile + 2 * std::int64_t{block.row[j]};
    __builtin_prefetch(block.ahead[j], 1, 3);
    RowVec<T> sum[kN];
    for (int n = 0; n < kN; ++n) sum[n] = Dim == 1 ? hn::Load(d, row + n * kLanes<T>) : hn::Zero(d);
    for (int z = 0; Dim > 1 && z < kZ; ++z)
      add_plane<T, W, kN>(row + z * stride_z, ys + j, Dim > 2 ? zs[z * kBlockPoints + j] : T{1}, sum);
    RowVec<T> total = hn::Mul(sum[0], hn::Load(d, xs + j * kWide));
    for (int n = 1; n < kN; ++n) total = hn::MulAdd(sum[n], hn::Load(d, xs + j * kWide + n * kLanes<T>), total);
    values[j] = sum_pairs(d, total);
  }
}

// A slab of planes gives its share to all the block's points before the next slab does (by_slabs).
template <class T, int W>
void interpolate_slabs(const WeightBlock<T>& block, const Tiling& g, const T* HWY_RESTRICT tile,
                       std::complex<T>* HWY_RESTRICT values) {
  constexpr int kN = kVectors<T, W>;
  constexpr int kWide = 2 * kSlots<T, W>;
  const Row<T> d;
  const std::int64_t stride_z = std::int64_t{kWide} * g.padded[1];
  const std::int32_t* HWY_RESTRICT first_plane = block.cell[2];
  std::int32_t begin = kMaxTile, end = 0;
  for (int j = 0; j < block.n; ++j) {
    __builtin_prefetch(block.ahead[j], 1, 3);
    begin = std::min(begin, first_plane[j]);
    end = std::max(end, first_plane[j] + W);
    values[j] = {};
  }
  for (std::int32_t slab = begin; slab < end; slab += kSlabPlanes) {
    for (int j = 0; j < block.n; ++j) {
      const std::int32_t z0 = std::max(slab - first_plane[j], 0);
      const std::int32_t z1 = std::min(slab + kSlabPlanes - first_plane[j], W);
      if (z0 >= z1) continue;
      const T* HWY_RESTRICT row = tile + 2 * std::int64_t{block.row[j]};
      const T* HWY_RESTRICT x = block.x.data() + j * kWide;
      RowVec<T> sum[kN];
      for (int n = 0; n < kN; ++n) sum[n] = hn::Zero(d);
      for (std::int32_t z = z0; z < z1; ++z)
        add_plane<T, W, kN>(row + z * stride_z, block.y_weights() + j, block.z[z * kBlockPoints + j], sum);
      RowVec<T> total = hn::Mul(sum[0], hn::Load(d, x));
      for (int n = 1; n < kN; ++n) total = hn::MulAdd(sum[n], hn::Load(d, x + n * kLanes<T>), total);
      values[j] += sum_pairs(d, total);
    }
  }
}

template <class T, int W, int Dim>
HWY_INLINE std::complex<T> interpolate_point(const WeightBlock<T>& block, int j, const T* HWY_RESTRICT grid,
                                             std::int64_t stride_y, std::int64_t stride_z) {
  constexpr int kN = (2 * W + kLanes<T> - 1) / kLanes<T>;
  constexpr int kTail = 2 * W - (kN - 1) * kLanes<T>;
  constexpr int kWide = 2 * kSlots<T, W>;
  const Row<T> d;
  constexpr int wy = Dim > 1 ? W : 1, wz = Dim > 2 ? W : 1;
  RowVec<T> sum[kN];
  for (int n = 0; n < kN; ++n) sum[n] = hn::Zero(d);
  for (int z = 0; z < wz; ++z) {
    const T cz = Dim > 2 ? block.z[z * kBlockPoints + j] : T{1};
    for (int y = 0; y < wy; ++y) {
      const RowVec<T> c = hn::Set(d, Dim > 1 ? cz * block.y_weights()[y * kBlockPoints + j] : cz);
      const T* row = grid + 2 * (z * stride_z + y * stride_y);
      for (int n = 0; n + 1 < kN; ++n) sum[n] = hn::MulAdd(c, hn::LoadU(d, row + n * kLanes<T>), sum[n]);
      const T* at = row + (kN - 1) * kLanes<T>;
      sum[kN - 1] = hn::MulAdd(c, load_first<kTail>(d, at), sum[kN - 1]);
    }
  }
  const T* x = block.x.data() + j * kWide;
  RowVec<T> total = hn::Mul(sum[0], hn::Load(d, x));
  for (int n = 1; n < kN; ++n) total = hn::MulAdd(sum[n], hn::Load(d, x + n * kLanes<T>), total);
  return sum_pairs(d, total);
}

// A single row is read once: there shifting the weights costs more than lines that are split.
template <class T, int W, int Dim, bool ByLines = (Dim > 1 && kByLines<W, T>)>
void interpolate_points(const WeightBlock<T>& block, const Tiling& g, const T* HWY_RESTRICT grid,
                        const std::int64_t* element, std::int64_t stride_y, std::int64_t stride_z,
                        std::complex<T>* HWY_RESTRICT values) {
  if constexpr (ByLines) {
    if (rows_are_lines(grid, g, stride_y, stride_z)) {
      const T* HWY_RESTRICT x = block.x.data();
      const T* HWY_RESTRICT y = block.y_weights();
      const T* HWY_RESTRICT z = block.z.data();
      for (int j = 0; j < block.n; ++j) {
        __builtin_prefetch(block.ahead[j], 1, 3);
        if (element[j] >= 0)
          values[j] = interpolate_point_lines<T, W, Dim>(x + std::int64_t{j} * 2 * kSlots<T, W>, y + j, z + j,
                                                         grid + 2 * element[j], 2 * stride_y, 2 * stride_z);
      }
      return;
    }
  }
  for (int j = 0; j < block.n; ++j) {
    __builtin_prefetch(block.ahead[j], 1, 3);
    if (element[j] >= 0) values[j] = interpolate_point<T, W, Dim>(block, j, grid + 2 * element[j], stride_y, stride_z);
  }
}

#ifdef FOURTUNE_REAL
inline void interp_kernels(GridderKernels<FOURTUNE_REAL>& kernels, const Tiling& tiling) {
  using T = FOURTUNE_REAL;
  with_width(tiling.width, [&](auto width) {
    constexpr int kW = decltype(width)::value;
    kernels.interpolate = tiling.dim == 1                  ? interpolate<T, kW, 1>
                          : tiling.dim == 2                ? interpolate<T, kW, 2>
                          : by_slabs(3, kW, 2 * sizeof(T)) ? interpolate_slabs<T, kW>
                                                           : interpolate<T, kW, 3>;
    kernels.interpolate_points = tiling.dim == 1   ? interpolate_points<T, kW, 1>
                                 : tiling.dim == 2 ? interpolate_points<T, kW, 2>
                                                   : interpolate_points<T, kW, 3>;
  });
}
#endif  // FOURTUNE_REAL

#elif defined(FOURTUNE_REAL)
inline void interp_kernels(GridderKernels<FOURTUNE_REAL>&, const Tiling&) {}
#endif
}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();
