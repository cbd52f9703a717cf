// Locates in fixed point (FixedAxis), where that is exact enough.
HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu {
namespace HWY_NAMESPACE {
#if FOURTUNE_SIMD

// Multiplies numbers below 2^32.
HWY_INLINE VU multiply(VU a, VU b) {
  const hn::Repartition<std::uint32_t, DU> half;
  return hn::MulEven(hn::BitCast(half, a), hn::BitCast(half, b));
}
HWY_INLINE VW multiply(VW a, VW b) { return hn::Mul(a, b); }

// The constants of an axis in fixed point (FixedAxis) in every lane, for positions that are integers of D.
template <class D_>
struct CellLanes {
  using D = D_;
  using V = hn::Vec<D>;
  using Int = hn::TFromD<D>;
  static constexpr int kN = static_cast<int>(hn::MaxLanes(D()));
  static V set(std::int64_t v) { return hn::Set(D(), static_cast<Int>(v)); }
  // Sets the sign bit where the position is not in the grid.
  HWY_INLINE V beyond(V position) const { return hn::Or(position, hn::Sub(last, position)); }
  HWY_INLINE V tile_of(V position) const { return hn::Shr(position, to_tile); }
  HWY_INLINE V cell_of(V position) const { return hn::And(hn::Shr(position, to_cell), cell); }
  HWY_INLINE V field_of(V position) const { return hn::Xor(hn::And(hn::Shr(position, to_field), field), fraction); }

  V span, last, tiles, to_cell, to_tile, cell, to_field, field, fraction;

 protected:
  CellLanes(const Frame& f, const RecordForm& form, int k) : CellLanes(f, f.fixed_axes[k], form.fraction, k) {}

 private:
  CellLanes(const Frame& f, const FixedAxis& a, int fraction_bits, int k)
      : span(set(f.tiling.fine[k] << a.bits)),
        last(set((f.tiling.fine[k] << a.bits) - 1)),
        tiles(set(f.tiling.count[k])),
        to_cell(set(a.bits)),
        to_tile(set(a.bits + a.tile_bits)),
        cell(ones(a.tile_bits)),
        to_field(set(a.bits - fraction_bits)),
        field(ones(a.tile_bits + fraction_bits)),
        fraction(ones(fraction_bits)) {}
  static V ones(int bits) { return set((std::int64_t{1} << bits) - 1); }
};

template <class T>
inline constexpr double kNear = sizeof(T) == 4 ? kNearPeriods32 : kNearPeriods64;

// A period coordinate less its turns, for points beyond the period around zero.
struct TurnLanes {
  explicit TurnLanes(const PeriodAxis& axis) : factor(set(axis.factor)), factor_low(set(axis.factor_low)) {}
  HWY_INLINE V64 rest(V64 x) const {
    return hn::MulAdd(x, factor_low, hn::MulSub(x, factor, hn::Round(hn::Mul(x, factor))));
  }
  template <class T>
  HWY_INLINE auto near(V64 x) const {
    return hn::Le(hn::Abs(hn::Mul(x, factor)), set(kNear<T>));
  }
  static V64 set(double v) { return hn::Set(D64(), v); }
  V64 factor, factor_low;
};

// Positions of 32 bits, twice as many at a time. The conversion truncates; the shift keeps what it converts above zero.
struct Lanes32 : CellLanes<DW> {
  Lanes32(const Frame& f, const RecordForm& form, int k) : Lanes32(f, form, f.fixed_axes[k], k) {}
  template <class T>
  HWY_INLINE VW position(const T* x, int j, int n, T* tail) const {
    return folded(hn::MulAdd(load(x, j, n, tail), scale, shift),
                  hn::MulAdd(load(x, j + kN64, n, tail + kN64), scale, shift));
  }
  template <class T>
  HWY_INLINE VW position_beyond(const T* x, int j, int n, T* tail) const {
    const auto sum = [&](V64 v) HWY_ATTR {
      return hn::IfThenElse(turns.near<T>(v), hn::MulAdd(turns.rest(v), folded_scale, shift), nowhere);
    };
    return folded(sum(load(x, j, n, tail)), sum(load(x, j + kN64, n, tail + kN64)));
  }

 private:
  Lanes32(const Frame& f, const RecordForm& form, const FixedAxis& a, int k)
      : CellLanes<DW>(f, form, k),
        turns(f.axes[k]),
        scale(TurnLanes::set(a.scale)),
        shift(TurnLanes::set(a.shift)),
        folded_scale(TurnLanes::set(a.folded_scale)),
        nowhere(TurnLanes::set(-0x1p40)) {}
  // At least span where the sum is not in [0, 2 * span) or not a number, which x86 converts to the least integer.
  HWY_INLINE VW folded(V64 lower, V64 upper) const {
    const VW q = hn::BitCast(DW(), hn::Combine(hn::RebindToSigned<DW>(), integer(upper), integer(lower)));
    return hn::Min(q, hn::Sub(q, span));
  }
  HWY_INLINE hn::Vec<D32> integer(V64 sum) const {
#if !HWY_ARCH_X86
    sum = hn::IfThenElse(hn::Eq(sum, sum), sum, nowhere);
#endif
    return hn::DemoteTo(D32(), sum);
  }
  TurnLanes turns;
  V64 scale, shift, folded_scale, nowhere;
};

// Positions of 64 bits; Deep: with kDeepBits more from the product's rest.
template <bool Deep>
struct Lanes64 : CellLanes<DU> {
  Lanes64(const Frame& f, const RecordForm& form, int k) : Lanes64(f, form, f.fixed_axes[k], f.tiling.fine[k], k) {}
  template <class T>
  HWY_INLINE VU position(const T* x, int j, int n, T* tail) const {
    const V64 v = load(x, j, n, tail);
    return Deep ? deep(v, scale, scale_low) : shallow(v, scale);
  }
  template <class T>
  HWY_INLINE VU position_beyond(const T* x, int j, int n, T* tail) const {
    const V64 v = load(x, j, n, tail), rest = turns.rest(v);
    const VU q = Deep ? deep(rest, folded_scale, hn::Zero(D64())) : shallow(rest, folded_scale);
    return hn::IfThenElse(hn::RebindMask(DU(), turns.near<T>(v)), q, span);
  }

 private:
  Lanes64(const Frame& f, const RecordForm& form, const FixedAxis& a, std::int64_t cells, int k)
      : CellLanes<DU>(f, form, k),
        turns(f.axes[k]),
        scale(TurnLanes::set(a.scale)),
        scale_low(TurnLanes::set(a.scale_low)),
        shift(TurnLanes::set(a.shift)),
        integers(TurnLanes::set(kIntegers)),
        units(TurnLanes::set(1 << kDeepBits)),
        folded_scale(TurnLanes::set(a.folded_scale)),
        zero(hn::BitCast(DU(), integers)),
        deep_shift(set(a.deep_shift)),
        two_spans(set(cells << (a.bits - kDeepBits + 1))) {}
  // Returns q, or q + span where q is negative; at least span where q is not in [-span, span).
  HWY_INLINE VU folded(VU q) const { return hn::Min(q, hn::Add(q, span)); }
  HWY_INLINE VU integer(V64 sum) const { return hn::Sub(hn::BitCast(DU(), sum), zero); }
  HWY_INLINE VU shallow(V64 x, V64 by) const { return folded(integer(hn::MulAdd(x, by, shift))); }
  // x * (by + by_low): the product's integer part, and what it lacks in smaller units.
  HWY_INLINE VU deep(V64 x, V64 by, V64 by_low) const {
    const V64 sum = hn::MulAdd(x, by, integers);
    const V64 rest = hn::MulAdd(x, by_low, hn::MulSub(x, by, hn::Sub(sum, integers)));
    const VU coarse = integer(sum), fine = integer(hn::MulAdd(rest, units, integers));
    const VU q = hn::Add(hn::ShiftLeft<kDeepBits>(coarse), hn::Add(fine, deep_shift));
    // Bits that the shift loses would hide that x is not near.
    const auto near_enough = hn::Lt(hn::Add(coarse, two_spans), hn::Add(two_spans, two_spans));
    return hn::IfThenElse(near_enough, folded(q), span);
  }
  TurnLanes turns;
  V64 scale, scale_low, shift, integers, units, folded_scale;
  VU zero, deep_shift, two_spans;
};

HWY_INLINE void store_keys(VU key, std::int32_t* to) {
  const hn::RebindToUnsigned<D32> du32;
  hn::Store(hn::TruncateTo(du32, key), du32, reinterpret_cast<std::uint32_t*>(to));
}
HWY_INLINE void store_keys(VW key, std::int32_t* to) { hn::Store(key, DW(), reinterpret_cast<std::uint32_t*>(to)); }

template <class T, int Dim, bool kRecords, class Lanes>
bool locate_fixed(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first,
                  int n, Located& out) {
  const typename Lanes::D du;
  const hn::RebindToSigned<typename Lanes::D> ds;
  using V = typename Lanes::V;
  constexpr int kN = Lanes::kN;
  RecordForm shape;
  shape.fraction = 0;
  if constexpr (kRecords) shape = *form;
  const Lanes lanes[3] = {{frame, shape, 0}, {frame, shape, Dim > 1 ? 1 : 0}, {frame, shape, Dim > 2 ? 2 : 0}};
  const InnerOrder order = frame.inner;
  const V bins = Lanes::set(order.bins), groups = Lanes::set(order.groups), planes = Lanes::set(order.plane_bits);
  const V inverse_bin = Lanes::set((65536 + order.bin - 1) / order.bin);  // exact below 256 cells
  VU index = hn::Iota(DU(), static_cast<std::uint64_t>(first));
  const VU step = hn::Set(DU(), std::uint64_t{kN});
  T tail[Dim][kN] = {};
  for (int j = 0; j < n; j += kN) {
    V position[Dim], beyond = hn::Zero(du);
    for (int k = 0; k < Dim; ++k) {
      position[k] = lanes[k].position(x[k], j, n, tail[k]);
      beyond = hn::Or(beyond, lanes[k].beyond(position[k]));
    }
    const bool all_near = hn::AllFalse(ds, hn::Lt(hn::BitCast(ds, beyond), hn::Zero(ds)));
    if (HWY_UNLIKELY(!all_near)) {
      beyond = hn::Zero(du);
      for (int k = 0; k < Dim; ++k) {
        const V other = lanes[k].position_beyond(x[k], j, n, tail[k]);
        position[k] = hn::IfThenElse(hn::Lt(position[k], lanes[k].span), position[k], other);
        beyond = hn::Or(beyond, lanes[k].beyond(position[k]));
      }
    }
    V key = hn::Zero(du), field[Dim];
    for (int k = Dim - 1; k >= 0; --k) {
      const V i = lanes[k].tile_of(position[k]);
      key = k == Dim - 1 ? i : hn::Add(multiply(key, lanes[k].tiles), i);
      if constexpr (kRecords) field[k] = lanes[k].field_of(position[k]);
    }
    if (Dim > 1 && order.keys() > 1) {
      key = hn::Add(multiply(key, bins), hn::ShiftRight<16>(multiply(lanes[0].cell_of(position[0]), inverse_bin)));
      if (order.groups > 1)
        key = hn::Add(multiply(key, groups), hn::Shr(lanes[Dim - 1].cell_of(position[Dim - 1]), planes));
    }
    store_keys(key, out.key + j);
    if constexpr (kRecords) {
      pack_fields<Dim>(shape, field, index, j, out);
      index = hn::Add(index, step);
    }
    if (HWY_UNLIKELY(!all_near)) {
      const auto far = hn::Lt(hn::BitCast(ds, beyond), hn::Zero(ds));
      if (!locate_far(frame, form, x, first, j, n, bits_of(ds, far), out)) return false;
    }
  }
  return true;
}

#endif
}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();
