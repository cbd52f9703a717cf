// Locates in f64 without losing digits. locate_one and the scalar version in gridder/portable.cpp explain the
// arithmetic.
HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu {
namespace HWY_NAMESPACE {
#if FOURTUNE_SIMD

struct Cells {
  V64 cell, fraction, period;
};
// The constants of an axis in every lane, read once per chunk.
struct Lanes {
  Lanes(const Frame& f, int k)
      : Lanes(f.axes[k], static_cast<double>(f.tiling.tile[k]), static_cast<double>(f.tiling.count[k]),
              f.inverse_tile[k]) {}
  V64 centre, centre_low, factor, low, fine, odd, first, tile, tiles, inverse, half_inverse;

 private:
  Lanes(const PeriodAxis& a, double tile_cells, double tile_count, double inverse_tile)
      : centre(set(a.centre)),
        centre_low(set(a.centre_low)),
        factor(set(a.factor)),
        low(set(a.factor_low)),
        fine(set(a.fine)),
        odd(set((a.width & 1) != 0 ? 0.5 : 0.0)),
        first(set(a.width / 2)),
        tile(set(tile_cells)),
        tiles(set(tile_count)),
        inverse(set(inverse_tile)),
        half_inverse(set(0.5 * inverse_tile)) {}
  static V64 set(double v) { return hn::Set(D64(), v); }
};
HWY_INLINE Cells cells_exact(V64 x, const Lanes& a) {
  const D64 d;
  const V64 s = hn::Sub(x, a.centre);
  const V64 seen = hn::Sub(s, x);
  const V64 s_low = hn::Sub(hn::Sub(hn::Sub(x, hn::Sub(s, seen)), hn::Add(a.centre, seen)), a.centre_low);
  const V64 p = hn::Mul(s, a.factor);
  const V64 p_low = hn::Add(hn::MulSub(s, a.factor, p), hn::MulAdd(s, a.low, hn::Mul(s_low, a.factor)));
  const V64 r = hn::Sub(p, hn::Round(p));
  const V64 q = hn::Mul(r, a.fine);
  const V64 nearest = hn::Round(q);
  const V64 rest = hn::Add(hn::Sub(q, nearest), hn::MulAdd(p_low, a.fine, hn::MulSub(r, a.fine, q)));
  const V64 t = hn::Sub(rest, a.odd);
  const V64 up = hn::Ceil(t);
  const V64 i0 = hn::Add(hn::Sub(nearest, a.first), up);
  return {hn::Add(i0, hn::IfThenElseZero(hn::Lt(i0, hn::Zero(d)), a.fine)), hn::Sub(up, t), p};
}

// Locates without losing digits. Coordinates of very many turns, whose low parts would leave the grid, go one by one.
template <class T, int Dim, bool kRecords>
bool locate_exact(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first,
                  int n, Located& out) {
  const D64 d;
  const D32 di;
  const DU du;
  const Lanes lanes[3] = {Lanes(frame, 0), Lanes(frame, Dim > 1 ? 1 : 0), Lanes(frame, Dim > 2 ? 2 : 0)};
  const InnerOrder order = frame.inner;
  const V64 bins = hn::Set(d, order.bins), inverse_bin = hn::Set(d, 1.0 / order.bin);
  const V64 groups = hn::Set(d, order.groups), inverse_group = hn::Set(d, 1.0 / (1 << order.plane_bits));
  const V64 half = hn::Set(d, 0.5), most = hn::Set(d, kManyTurns);
  const RecordForm shape = kRecords ? *form : RecordForm();  // a copy, so that nothing written below can alias it
  const Packer packer(shape);
  const bool wide[3] = {shape.field[0].bits >= 52, shape.field[1].bits >= 52, shape.field[2].bits >= 52};
  VU index = hn::Iota(du, static_cast<std::uint64_t>(first));
  const VU step = hn::Set(du, std::uint64_t{kN64});
  T tail[Dim][kN64] = {};
  for (int j = 0; j < n; j += kN64) {
    V64 key = hn::Zero(d), inner[Dim], all = hn::Zero(d);  // all: bounds every period coordinate; NaN if any is
    VU field[4] = {index, index, index, index};
    for (int k = Dim - 1; k >= 0; --k) {
      const Cells c = cells_exact(load(x[k], j, n, tail[k]), lanes[k]);
      all = hn::Add(all, hn::Abs(c.period));
      const V64 i = hn::Floor(hn::MulAdd(c.cell, lanes[k].inverse, lanes[k].half_inverse));
      key = k == Dim - 1 ? i : hn::MulAdd(key, lanes[k].tiles, i);
      inner[k] = hn::NegMulAdd(i, lanes[k].tile, c.cell);
      if constexpr (kRecords) field[k] = packer.position(inner[k], c.fraction, wide[k]);
    }
    if (Dim > 1 && order.keys() > 1) {
      key = hn::MulAdd(key, bins, hn::Floor(hn::Mul(hn::Add(inner[0], half), inverse_bin)));
      if (order.groups > 1) key = hn::MulAdd(key, groups, hn::Floor(hn::Mul(inner[Dim - 1], inverse_group)));
    }
    hn::Store(hn::DemoteTo(di, key), di, out.key + j);
    if constexpr (kRecords) {
      pack<Dim>(shape, field, j, out);
      index = hn::Add(index, step);
    }
    const auto far = hn::Not(hn::Lt(all, most));
    if (HWY_UNLIKELY(!hn::AllFalse(d, far))) {
      if (!locate_far(frame, form, x, first, j, n, bits_of(d, far), out)) return false;
    }
  }
  return true;
}

#endif
}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();
