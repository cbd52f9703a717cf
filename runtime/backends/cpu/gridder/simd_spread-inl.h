// Vector kernels of spreading: see gridder/layout.h for the private rows. One translation unit per precision includes
// this inside Highway's target loop with FOURTUNE_REAL defined; without it only the templates are defined.
HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu {
namespace HWY_NAMESPACE {
#if FOURTUNE_SIMD

// Adds y rows of one plane: loads, multiply-adds and stores whole aligned vectors.
template <class T, int W, int N>
HWY_INLINE void spread_plane(const RowVec<T>* xz, const T* HWY_RESTRICT y_weights, T* HWY_RESTRICT rows) {
  const Row<T> d;
#pragma GCC unroll 16
  for (int y = 0; y < W; ++y) {
    const RowVec<T> wy = hn::Set(d, y_weights[y * kBlockPoints]);
#pragma GCC unroll 8
    for (int n = 0; n < N; ++n) {
      T* at = rows + (y * N + n) * kLanes<T>;
      hn::Store(hn::MulAdd(xz[n], wy, hn::Load(d, at)), d, at);
    }
  }
}

template <class T, int W, int Dim>
void spread(const WeightBlock<T>& block, const Tiling& g, const std::complex<T>* strengths, T* HWY_RESTRICT tile) {
  constexpr int kN = kVectors<T, W>;
  constexpr int kWide = 2 * kSlots<T, W>;
  constexpr int kZ = Dim > 2 ? W : 1;
  const Row<T> d;
  const std::int64_t stride_z = std::int64_t{kWide} * g.padded[1];
  const T* HWY_RESTRICT xs = block.x.data();
  const T* HWY_RESTRICT ys = block.y_weights();
  const T* HWY_RESTRICT zs = block.z.data();
  for (int j = 0; j < block.n; ++j) {
    T* HWY_RESTRICT row = tile + 2 * std::int64_t{block.row[j]};
    __builtin_prefetch(block.ahead[j], 1, 3);
    const RowVec<T> s = broadcast(strengths + j);
    RowVec<T> x[kN];
    for (int n = 0; n < kN; ++n) x[n] = hn::Mul(s, hn::Load(d, xs + j * kWide + n * kLanes<T>));
    if constexpr (Dim == 1) {
      for (int n = 0; n < kN; ++n) {
        T* at = row + n * kLanes<T>;
        hn::Store(hn::Add(hn::Load(d, at), x[n]), d, at);
      }
    } else {
      for (int z = 0; z < kZ; ++z) {
        RowVec<T> xz[kN];
        for (int n = 0; n < kN; ++n) {
          xz[n] = Dim > 2 ? hn::Mul(x[n], hn::Set(d, zs[z * kBlockPoints + j])) : x[n];
        }
        spread_plane<T, W, kN>(xz, ys + j, row + z * stride_z);
      }
    }
  }
}

// A slab of planes receives its share of all the block's points before the next slab does (by_slabs).
template <class T, int W>
void spread_slabs(const WeightBlock<T>& block, const Tiling& g, const std::complex<T>* strengths,
                  T* HWY_RESTRICT tile) {
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
  }
  for (std::int32_t slab = begin; slab < end; slab += kSlabPlanes) {
    for (int j = 0; j < block.n; ++j) {
      const std::int32_t z0 = std::max(slab - first_plane[j], 0);
      const std::int32_t z1 = std::min(slab + kSlabPlanes - first_plane[j], W);
      if (z0 >= z1) continue;
      T* HWY_RESTRICT row = tile + 2 * std::int64_t{block.row[j]};
      const RowVec<T> s = broadcast(strengths + j);
      RowVec<T> x[kN];
      for (int n = 0; n < kN; ++n) x[n] = hn::Mul(s, hn::Load(d, block.x.data() + j * kWide + n * kLanes<T>));
      for (std::int32_t z = z0; z < z1; ++z) {
        RowVec<T> xz[kN];
        for (int n = 0; n < kN; ++n) xz[n] = hn::Mul(x[n], hn::Set(d, block.z[z * kBlockPoints + j]));
        spread_plane<T, W, kN>(xz, block.y_weights() + j, row + z * stride_z);
      }
    }
  }
}

// Spreads directly to the fine grid: exactly W cells per row, unaligned; the last vector is partial.
template <class T, int W, int Dim>
HWY_INLINE void spread_point(const WeightBlock<T>& block, int j, const std::complex<T>* strength, T* HWY_RESTRICT grid,
                             std::int64_t stride_y, std::int64_t stride_z) {
  constexpr int kN = (2 * W + kLanes<T> - 1) / kLanes<T>;
  constexpr int kTail = 2 * W - (kN - 1) * kLanes<T>;
  constexpr int kWide = 2 * kSlots<T, W>;
  const Row<T> d;
  const RowVec<T> s = broadcast(strength);
  RowVec<T> x[kN];
  for (int n = 0; n < kN; ++n) x[n] = hn::Mul(s, hn::Load(d, block.x.data() + j * kWide + n * kLanes<T>));
  constexpr int wy = Dim > 1 ? W : 1, wz = Dim > 2 ? W : 1;
  for (int z = 0; z < wz; ++z) {
    const T cz = Dim > 2 ? block.z[z * kBlockPoints + j] : T{1};
    for (int y = 0; y < wy; ++y) {
      const RowVec<T> c = hn::Set(d, Dim > 1 ? cz * block.y_weights()[y * kBlockPoints + j] : cz);
      T* row = grid + 2 * (z * stride_z + y * stride_y);
      for (int n = 0; n + 1 < kN; ++n) {
        T* at = row + n * kLanes<T>;
        hn::StoreU(hn::MulAdd(x[n], c, hn::LoadU(d, at)), d, at);
      }
      T* at = row + (kN - 1) * kLanes<T>;
      store_first<kTail>(d, hn::MulAdd(x[kN - 1], c, load_first<kTail>(d, at)), at);
    }
  }
}

// ByLines: use whole lines where grid and tiling allow it (rows_are_lines).
template <class T, int W, int Dim, bool ByLines = kByLines<W, T>>
void spread_points(const WeightBlock<T>& block, const Tiling& g, const std::complex<T>* strengths,
                   const std::int64_t* element, std::int64_t stride_y, std::int64_t stride_z, T* HWY_RESTRICT grid) {
  if constexpr (ByLines) {
    if (rows_are_lines(grid, g, stride_y, stride_z)) {
      const T* HWY_RESTRICT x = block.x.data();
      const T* HWY_RESTRICT y = block.y_weights();
      const T* HWY_RESTRICT z = block.z.data();
      for (int j = 0; j < block.n; ++j) {
        __builtin_prefetch(block.ahead[j], 1, 3);
        if (element[j] >= 0)
          spread_point_lines<T, W, Dim>(x + std::int64_t{j} * 2 * kSlots<T, W>, y + j, z + j, strengths + j,
                                        grid + 2 * element[j], 2 * stride_y, 2 * stride_z);
      }
      return;
    }
  }
  for (int j = 0; j < block.n; ++j) {
    __builtin_prefetch(block.ahead[j], 1, 3);
    if (element[j] >= 0) spread_point<T, W, Dim>(block, j, strengths + j, grid + 2 * element[j], stride_y, stride_z);
  }
}

// The same in 2D, where the block's points are in the order of pairs (pair_order in sort.cpp): neighbours that begin in
// the same line of rows at most kPairRows apart go together, so lines that both touch are read and written once.
template <class T, int W>
void spread_pairs(const WeightBlock<T>& block, const Tiling& g, const std::complex<T>* strengths,
                  const std::int64_t* element, std::int64_t stride_y, std::int64_t stride_z, T* HWY_RESTRICT grid) {
  if (!rows_are_lines(grid, g, stride_y, stride_z))
    return spread_points<T, W, 2>(block, g, strengths, element, stride_y, stride_z, grid);
  const LineOf<T> rows{grid, 2 * stride_y};
  for (int j = 0; j < block.n;) {
    __builtin_prefetch(block.ahead[j], 1, 3);
    const auto one = rows.at(element[j]);
    if (j + 1 < block.n) {
      const auto other = rows.at(element[j + 1]);
      const std::int64_t between = rows.between(one, other);
      if (between >= -kPairRows && between <= kPairRows) {
        __builtin_prefetch(block.ahead[j + 1], 1, 3);
        const PairedPoint<T> first{j, one}, second{j + 1, other};
        if (between >= 0) {
          spread_pair<T, W>(block, strengths, first, second, between, 2 * stride_y);
        } else {
          spread_pair<T, W>(block, strengths, second, first, -between, 2 * stride_y);
        }
        j += 2;
        continue;
      }
    }
    spread_point_lines<T, W, 2>(block.x.data() + std::int64_t{j} * 2 * kSlots<T, W>, block.y_weights() + j, nullptr,
                                strengths + j, grid + 2 * element[j], 2 * stride_y, 0);
    ++j;
  }
}

#ifdef FOURTUNE_REAL
inline void spread_kernels(GridderKernels<FOURTUNE_REAL>& kernels, const Tiling& tiling) {
  using T = FOURTUNE_REAL;
  with_width(tiling.width, [&](auto width) {
    constexpr int kW = decltype(width)::value;
    constexpr bool kSlabs = by_slabs(3, kW, 2 * sizeof(T));
    kernels.spread = tiling.dim == 1   ? spread<T, kW, 1>
                     : tiling.dim == 2 ? spread<T, kW, 2>
                     : kSlabs          ? spread_slabs<T, kW>
                                       : spread<T, kW, 3>;
    kernels.spread_points = tiling.dim == 1   ? spread_points<T, kW, 1>
                            : tiling.dim == 2 ? spread_points<T, kW, 2>
                                              : spread_points<T, kW, 3>;
    if constexpr (kInPairs<kW, T>) kernels.spread_pairs = tiling.dim == 2 ? spread_pairs<T, kW> : nullptr;
  });
}
#endif  // FOURTUNE_REAL

#elif defined(FOURTUNE_REAL)
inline void spread_kernels(GridderKernels<FOURTUNE_REAL>&, const Tiling&) {}
#endif
}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();
