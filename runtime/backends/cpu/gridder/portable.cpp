// Kernels in plain C++ for any width: the portable instruction set, wide windows, and a readable version of the others.
#include <algorithm>
#include <cmath>

#include "runtime/backends/cpu/gridder/kernels.h"
#include "runtime/backends/cpu/gridder/turns.h"

namespace fourtune::runtime::cpu {
namespace {

template <class T>
bool copy(const T* from, std::int64_t n, T* to) {
  bool finite = true;
  for (std::int64_t j = 0; j < n; ++j) finite = finite && std::isfinite(from[j]), to[j] = from[j];
  return finite;
}

template <class T>
bool locate(const Frame& frame, const RecordForm* form, const std::array<const T*, 3>& x, std::int64_t first, int n,
            Located& out) {
  const Tiling& g = frame.tiling;
  for (int j = 0; j < n; ++j) {
    std::uint64_t field[4] = {0, 0, 0, static_cast<std::uint64_t>(first + j)};
    std::int64_t t = 0, inner[3] = {0, 0, 0};  // tile, and the cell within it
    for (int d = g.dim - 1; d >= 0; --d) {
      std::int64_t cell = 0;
      double f = 0;
      if (!locate_one(x[d][j], frame.axes[d], cell, f)) return false;
      const auto k = static_cast<std::int64_t>((static_cast<double>(cell) + 0.5) * frame.inverse_tile[d]);
      t = t * g.count[d] + k;
      inner[d] = cell - k * g.tile[d];
      if (form == nullptr) continue;
      const double scale = std::ldexp(1.0, form->fraction);
      field[d] = static_cast<std::uint64_t>(inner[d]) << form->fraction |
                 static_cast<std::uint64_t>(std::min(f * scale, scale - 1));
    }
    const int bin = frame.inner.bins > 1 ? static_cast<int>(inner[0]) / frame.inner.bin : 0;
    out.key[j] = static_cast<std::int32_t>(frame.inner.key(t, bin, inner[g.dim - 1]));
    if (form == nullptr) continue;
    std::uint64_t word[(kMaxRecordWords + 1) / 2] = {};
    for (int p = 0; p < form->shift_count; ++p) {
      const RecordForm::FieldShift& to = form->shifts[p];
      word[to.word] |= to.shift >= 0 ? field[to.field] << to.shift : field[to.field] >> -to.shift;
    }
    for (int w = 0; 2 * w < form->words; ++w) out.word[w][j] = word[w];
  }
  return true;
}

// f of dimension d, as a number in (0, 1), exact in T up to T's precision.
template <class T>
T fraction_of(const RecordForm& form, const std::uint32_t* record, int d) {
  const std::uint64_t f = form.field[d].of(record) & ((std::uint64_t{1} << form.fraction) - 1);
  return static_cast<T>(std::ldexp(static_cast<double>(f) + 0.5, -form.fraction));
}

// Writes weight[p * stride] for p < width.
template <class T>
void weights_of(const WeightTables<T>& t, T f, T* weight, std::int64_t stride) {
  const int w = t.width;
  if (t.table > 0) {
    const T at = f * static_cast<T>(t.table);
    const int e = std::min(static_cast<int>(at), t.table - 1);
    const T s = at - static_cast<T>(e);
    const T* low = t.piece.data() + std::int64_t{e} * w;
    for (int p = 0; p < w; ++p) weight[p * stride] = low[p] + s * (low[w + p] - low[p]);
    return;
  }
  const T z = 2 * f - 1;
  const T* c = t.piece.data();
  for (int p = 0; p < w; ++p) {
    T sum = c[p];
    for (int k = 1; k <= t.degree; ++k) sum = sum * z + c[k * w + p];
    weight[p * stride] = sum;
  }
}

template <class T>
void evaluate(const WeightTables<T>& t, const Tiling& g, const RecordForm& form, const std::uint32_t* records, int n,
              bool in_bins, WeightBlock<T>& block) {
  block.n = n;
  T weight[128];
  for (int j = 0; j < n; ++j) {
    const std::uint32_t* r = records + std::int64_t{j} * form.words;
    for (int d = 0; d < g.dim; ++d) block.cell[d][j] = form.cell(r, d);
    const int x = block.cell[0][j];
    const int b = x / g.bin;
    const int offset = in_bins ? x - b * g.bin : 0;
    block.row[j] = ((b * g.padded[2] + block.cell[2][j]) * g.padded[1] + block.cell[1][j]) * g.slots;
    weights_of(t, fraction_of<T>(form, r, 0), weight, 1);
    T* row = block.x.data() + std::int64_t{j} * 2 * g.slots;
    std::fill(row, row + 2 * g.slots, T{0});
    for (int p = 0; p < g.width; ++p) row[2 * (offset + p)] = row[2 * (offset + p) + 1] = weight[p];
    if (g.dim > 1) weights_of(t, fraction_of<T>(form, r, 1), block.y_weights() + j, kBlockPoints);
    if (g.dim > 2) weights_of(t, fraction_of<T>(form, r, 2), block.z.data() + j, kBlockPoints);
  }
}

template <class T>
T y_weight(const WeightBlock<T>& b, const Tiling& g, int p, int j) {
  return g.dim > 1 ? b.y_weights()[std::int64_t{p} * kBlockPoints + j] : T{1};
}
template <class T>
T z_weight(const WeightBlock<T>& b, const Tiling& g, int p, int j) {
  return g.dim > 2 ? b.z[std::int64_t{p} * kBlockPoints + j] : T{1};
}

// Adds a window with `cells` cells along x, with the given row strides (in elements).
template <class T>
void spread_window(const WeightBlock<T>& b, int j, const Tiling& g, std::complex<T> s, int cells, T* to,
                   std::int64_t stride_y, std::int64_t stride_z) {
  const T* x = b.x.data() + std::int64_t{j} * 2 * g.slots;
  const int wy = g.dim > 1 ? g.width : 1, wz = g.dim > 2 ? g.width : 1;
  for (int z = 0; z < wz; ++z) {
    for (int y = 0; y < wy; ++y) {
      const T c = y_weight(b, g, y, j) * z_weight(b, g, z, j);
      const T re = c * s.real(), im = c * s.imag();
      T* row = to + 2 * (z * stride_z + y * stride_y);
      for (int i = 0; i < cells; ++i) {
        row[2 * i] += re * x[2 * i];
        row[2 * i + 1] += im * x[2 * i + 1];
      }
    }
  }
}
template <class T>
std::complex<T> interpolate_window(const WeightBlock<T>& b, int j, const Tiling& g, int cells, const T* from,
                                   std::int64_t stride_y, std::int64_t stride_z) {
  const T* x = b.x.data() + std::int64_t{j} * 2 * g.slots;
  const int wy = g.dim > 1 ? g.width : 1, wz = g.dim > 2 ? g.width : 1;
  T re = 0, im = 0;
  for (int z = 0; z < wz; ++z) {
    for (int y = 0; y < wy; ++y) {
      const T c = y_weight(b, g, y, j) * z_weight(b, g, z, j);
      const T* row = from + 2 * (z * stride_z + y * stride_y);
      T a = 0, i_sum = 0;
      for (int i = 0; i < cells; ++i) {
        a += row[2 * i] * x[2 * i];
        i_sum += row[2 * i + 1] * x[2 * i + 1];
      }
      re += c * a;
      im += c * i_sum;
    }
  }
  return {re, im};
}

template <class T>
void spread(const WeightBlock<T>& b, const Tiling& g, const std::complex<T>* s, T* tile) {
  const std::int64_t stride_y = g.slots, stride_z = std::int64_t{g.slots} * g.padded[1];
  for (int j = 0; j < b.n; ++j)
    spread_window(b, j, g, s[j], g.slots, tile + 2 * std::int64_t{b.row[j]}, stride_y, stride_z);
}
template <class T>
void interpolate(const WeightBlock<T>& b, const Tiling& g, const T* tile, std::complex<T>* values) {
  const std::int64_t stride_y = g.slots, stride_z = std::int64_t{g.slots} * g.padded[1];
  for (int j = 0; j < b.n; ++j) {
    values[j] = interpolate_window(b, j, g, g.slots, tile + 2 * std::int64_t{b.row[j]}, stride_y, stride_z);
  }
}
template <class T>
void spread_points(const WeightBlock<T>& b, const Tiling& g, const std::complex<T>* s, const std::int64_t* element,
                   std::int64_t stride_y, std::int64_t stride_z, T* grid) {
  for (int j = 0; j < b.n; ++j) {
    if (element[j] >= 0) spread_window(b, j, g, s[j], g.width, grid + 2 * element[j], stride_y, stride_z);
  }
}
template <class T>
void interpolate_points(const WeightBlock<T>& b, const Tiling& g, const T* grid, const std::int64_t* element,
                        std::int64_t stride_y, std::int64_t stride_z, std::complex<T>* values) {
  for (int j = 0; j < b.n; ++j) {
    if (element[j] >= 0) values[j] = interpolate_window(b, j, g, g.width, grid + 2 * element[j], stride_y, stride_z);
  }
}

template <class T>
void add_bin(T* bin, std::int64_t rows, int slots, std::complex<T>* const* grid_rows, std::int64_t offset, int cells) {
  for (std::int64_t r = 0; r < rows; ++r) {
    T* from = bin + r * 2 * slots;
    T* to = reinterpret_cast<T*>(grid_rows[r] + offset);
    for (int i = 0; i < 2 * cells; ++i) to[i] += from[i];
    std::fill_n(from, 2 * slots, T{0});
  }
}
template <class T>
void copy_bin(const std::complex<T>* const* grid_rows, std::int64_t offset, std::int64_t rows, int slots, T* bin) {
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(reinterpret_cast<const T*>(grid_rows[r] + offset), 2 * slots, bin + r * 2 * slots);
  }
}

}  // namespace

// u = p * fine, where p = (x - centre) * factor is an unevaluated sum high + low. The nearest integers are subtracted
// while that is exact, so f keeps full relative precision for any number of cells. For very many turns the low part
// contains whole turns too: then radians are folded as the exact numbers that they are, and other maps as well as
// doubles allow.
bool locate_one(double x, const PeriodAxis& a, std::int64_t& cell, double& fraction) {
  const double fine = a.fine;
  const double d = x - a.centre;
  const double seen = d - x;  // the part of -centre that d holds; Knuth's two-sum gives the error of the difference
  const double d_low = (x - (d - seen)) - (a.centre + seen) - a.centre_low;
  const double p = d * a.factor;
  if (!std::isfinite(p)) return false;
  double p_low = std::fma(d, a.factor, -p) + (d * a.factor_low + d_low * a.factor);
  double r = p - std::rint(p);
  if (std::abs(p) >= kManyTurns) {
    const bool radians = a.factor == kInverseTwoPi && (a.centre == 0 || a.centre == kHalfTurnBack);
    const Turns turns = !radians        ? Turns{r, p_low - std::rint(p_low)}
                        : a.centre == 0 ? fold_radians(x)
                                        : half_a_turn_on(fold_radians(x));
    r = turns.high - std::rint(turns.high);
    p_low = turns.low;
  }
  const double q = r * fine;
  const double nearest = std::rint(q);
  const double t = (q - nearest) + (std::fma(r, fine, -q) + p_low * fine) - ((a.width & 1) != 0 ? 0.5 : 0);
  const double up = std::ceil(t);
  const std::int64_t i = (static_cast<std::int64_t>(nearest) - a.width / 2 + static_cast<std::int64_t>(up)) % a.fine;
  cell = i < 0 ? i + a.fine : i;
  fraction = up - t;
  return true;
}

bool locate_one(float x, const PeriodAxis& a, std::int64_t& cell, double& fraction) {
  return locate_one(double{x}, a, cell, fraction);
}

template <>
GridderKernels<float> portable_kernels<float>() {
  return {"portable",         locate<float>,  copy<float>,     evaluate<float>,      spread<float>,
          interpolate<float>, add_bin<float>, copy_bin<float>, spread_points<float>, interpolate_points<float>};
}
template <>
GridderKernels<double> portable_kernels<double>() {
  return {"portable",          locate<double>,  copy<double>,     evaluate<double>,      spread<double>,
          interpolate<double>, add_bin<double>, copy_bin<double>, spread_points<double>, interpolate_points<double>};
}

}  // namespace fourtune::runtime::cpu
