// What both ways of locating share: they load coordinates, pack records (record.h), and leave single points to the
// scalar version.
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
using DW = hn::Repartition<std::uint32_t, D64>;  // twice as many lanes
using VW = hn::Vec<DW>;

HWY_INLINE V64 load(const float* x) { return hn::PromoteTo(D64(), hn::LoadU(hn::Rebind<float, D64>(), x)); }
HWY_INLINE V64 load(const double* x) { return hn::LoadU(D64(), x); }

// Loads the vector of coordinates that starts at x[j]; beyond the n-th it holds zeros or older ones, copied to `tail`.
template <class T>
HWY_INLINE V64 load(const T* x, int j, int n, T* tail) {
  if (HWY_LIKELY(j + kN64 <= n)) return load(x + j);
  if (j < n) std::copy_n(x + j, n - j, tail);
  return load(tail);
}

// Repeats points j + i of a chunk, for every bit i of `far`, with the scalar version. Returns false when one is not
// finite.
template <class T>
HWY_NOINLINE bool locate_far(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x,
                             std::int64_t first, int j, int n, std::uint32_t far, Located& out) {
  Located single;
  for (int i = j; far != 0 && i < n; ++i, far >>= 1) {
    if ((far & 1) == 0) continue;
    std::array<const T*, 3> at{};
    for (int k = 0; k < frame.tiling.dim; ++k) at[k] = x[k] + i;
    if (!portable_kernels<T>().locate(frame, form, at, first + i, 1, single)) return false;
    out.key[i] = single.key[0];
    for (int w = 0; form != nullptr && 2 * w < form->words; ++w) out.word[w][i] = single.word[w][0];
  }
  return true;
}
template <class D, class M>
HWY_INLINE std::uint32_t bits_of(D d, M mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  std::uint32_t bits;
  __builtin_memcpy(&bits, bytes, sizeof bits);
  return bits;
}

// Converts to the position in the tile in units of 2^-fraction: integers below 2^52 are read from the mantissa of 2^52
// plus the integer.
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
    const V64 f = hn::Min(hn::Floor(hn::Mul(fraction, scale)), most);
    if (!wide) return integer(hn::MulAdd(cell, scale, f));
    return hn::Or(hn::ShiftLeftSame(integer(cell), bits), integer(f));
  }
  V64 scale, most, two52;
  int bits;
};

// Shift by a vector of counts: shifts by a scalar take twice as long.
HWY_INLINE VU left(VU v, int bits) { return hn::Shl(v, hn::Set(DU(), static_cast<std::uint64_t>(bits))); }
HWY_INLINE VU right(VU v, int bits) { return hn::Shr(v, hn::Set(DU(), static_cast<std::uint64_t>(bits))); }

template <int Dim>
HWY_INLINE void pack(const RecordForm& form, const VU* field, int j, Located& out) {
  const DU du;
  if (form.words <= 2) {
    VU word = field[0];
    for (int d = 1; d < Dim; ++d) word = hn::Or(word, left(field[d], form.field[d].offset));
    if (form.field[3].bits > 0) word = hn::Or(word, left(field[3], form.field[3].offset));
    hn::Store(word, du, out.word[0] + j);
    return;
  }
  VU word[4] = {field[0], hn::Zero(du), hn::Zero(du), hn::Zero(du)};
  const auto add = [&](int f) HWY_ATTR {
    const int at = form.field[f].offset, first = at / 64, shift = at % 64;
    const VU v = left(field[f], shift), rest = shift == 0 ? hn::Zero(du) : right(field[f], 64 - shift);
    if (first == 0) {
      word[0] = hn::Or(word[0], v), word[1] = hn::Or(word[1], rest);
    } else if (first == 1) {
      word[1] = hn::Or(word[1], v), word[2] = hn::Or(word[2], rest);
    } else {
      word[2] = hn::Or(word[2], v), word[3] = hn::Or(word[3], rest);
    }
  };
  if constexpr (Dim > 1) add(1);
  if constexpr (Dim > 2) add(2);
  if (form.field[3].bits > 0) add(3);
  for (int w = 0; w < 4; ++w) {
    if (2 * w < form.words) hn::Store(word[w], du, out.word[w] + j);
  }
}

// Packs the records of points j, j + 1, ...; index is that of the first kN64 of them.
template <int Dim>
HWY_INLINE void pack_fields(const RecordForm& form, const VU* field, VU index, int j, Located& out) {
  VU all[4] = {field[0], field[Dim > 1 ? 1 : 0], field[Dim > 2 ? 2 : 0], index};
  pack<Dim>(form, all, j, out);
}
template <int Dim>
HWY_INLINE void pack_fields(const RecordForm& form, const VW* field, VU index, int j, Located& out) {
  const hn::Half<DW> half;
  VU lower[Dim], upper[Dim];
  for (int k = 0; k < Dim; ++k) {
    lower[k] = hn::PromoteTo(DU(), hn::LowerHalf(half, field[k]));
    upper[k] = hn::PromoteTo(DU(), hn::UpperHalf(half, field[k]));
  }
  pack_fields<Dim>(form, lower, index, j, out);
  pack_fields<Dim>(form, upper, hn::Add(index, hn::Set(DU(), std::uint64_t{kN64})), j + kN64, out);
}

#endif
}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();
