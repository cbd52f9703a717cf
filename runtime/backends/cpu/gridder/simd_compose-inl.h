// Weights of one point at their place in a row of whole vectors, with zeros around them: permuted in registers, as
// unaligned stores that overlap cost several times as much. For instruction sets whose vector is a cache line.
HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu {
namespace HWY_NAMESPACE {
#if FOURTUNE_SIMD

template <class T>
inline constexpr bool kPlacesInRegisters = HWY_TARGET <= HWY_AVX3&& kLanes<T> * sizeof(T) == kLine;

// Windows wider than a vector come as two vectors: piece p is lane p of the left one, piece W - 1 - p of the right one.
template <class T, int W>
inline constexpr bool kMirrors = W > kLanes<T>;

// Lane i of vector n of a row in which the window starts at cell `start` comes from lane index[start][n][i] of the left
// vector, or of the right one when beyond kLanes; without its bit it is zero.
template <class T, int W>
struct Places {
  static constexpr int kN = kLanes<T>, kCells = kN / 2;
  static constexpr int kStarts = std::max(kCells, kSlots<T, W> - W + 1);
  static constexpr int kMost = (W + kStarts - 1 + kCells - 1) / kCells;
  using Lane = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  alignas(kLine) Lane index[kStarts][kMost][kN];
  alignas(8) std::uint8_t bits[kStarts][kMost][8];  // as many bytes as Highway may read
  constexpr Places() : index{}, bits{} {
    for (int start = 0; start < kStarts; ++start) {
      for (int at = 0; at < kMost * kN; ++at) {
        const int n = at / kN, i = at % kN, cell = at / 2 - start;
        if (cell < 0 || cell >= W) continue;
        index[start][n][i] = kMirrors<T, W> && cell >= (W + 1) / 2 ? kN + W - 1 - cell : cell;
        bits[start][n][i / 8] |= static_cast<std::uint8_t>(1 << i % 8);
      }
    }
  }
};
template <class T, int W>
inline constexpr Places<T, W> kPlaces;

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
// Highway has no name for these before version 1.0.6.
HWY_INLINE RowVec<float> lookup_in_both(RowVec<float> left, RowVec<float> right, const std::int32_t* index) {
  return RowVec<float>{_mm512_permutex2var_ps(left.raw, _mm512_load_si512(index), right.raw)};
}
HWY_INLINE RowVec<double> lookup_in_both(RowVec<double> left, RowVec<double> right, const std::int64_t* index) {
  return RowVec<double>{_mm512_permutex2var_pd(left.raw, _mm512_load_si512(index), right.raw)};
}
#else  // never called
template <class T, class Lane>
RowVec<T> lookup_in_both(RowVec<T> left, RowVec<T>, const Lane*) {
  return left;
}
#endif

// Vector n of a row in which the window starts at cell `start`: every weight twice, for real and imaginary parts.
template <class T, int W>
HWY_INLINE RowVec<T> placed(RowVec<T> left, RowVec<T> right, int start, int n) {
  const Row<T> d;
  const auto* const index = kPlaces<T, W>.index[start][n];
  const auto inside = hn::LoadMaskBits(d, kPlaces<T, W>.bits[start][n]);
  if constexpr (kMirrors<T, W>) return hn::IfThenElseZero(inside, lookup_in_both(left, right, index));
  const auto lanes = hn::IndicesFromVec(d, hn::Load(hn::RebindToSigned<Row<T>>(), index));
  return hn::IfThenElseZero(inside, hn::TableLookupLanes(left, lanes));
}

#endif
}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();
