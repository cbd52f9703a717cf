// Kernels in plain C++ for any width: the portable instruction set, wide windows, and the reading version of the
// others.
#include <algorithm>
#include <cmath>

#include "runtime/cpu/gridder_kernels.h"

namespace fourtune::runtime::cpu {
namespace {

std::int64_t locate_f32(const float* x, int n, const Axis& a, std::int32_t* cell, std::uint32_t* fraction) {
  const double fine = a.fine, half = 0.5 * a.width;
  for (int j = 0; j < n; ++j) {
    const double p = (double{x[j]} - a.centre) * a.factor;
    if (!std::isfinite(p)) return j;
    const double v = (p - std::rint(p)) * fine - half;
    const double i0 = std::ceil(v);
    std::int64_t i = static_cast<std::int64_t>(i0) % a.fine;
    cell[j] = static_cast<std::int32_t>(i < 0 ? i + a.fine : i);
    if (fraction != nullptr)
      fraction[j] = static_cast<std::uint32_t>(std::min(std::rint((i0 - v) * 0x1p24), 0x1p24 - 1));
  }
  return -1;
}

// u = p * fine with p = (x - centre) * factor as an unevaluated sum high + low; the nearest integers are taken off
// while that is exact, so that f keeps full relative precision for any number of cells.
std::int64_t locate_f64(const double* x, int n, const Axis& a, std::int32_t* cell, double* fraction) {
  const double fine = a.fine;
  const double odd = (a.width & 1) != 0 ? 0.5 : 0;
  for (int j = 0; j < n; ++j) {
    const double d = x[j] - a.centre;
    const double seen = d - x[j];  // what d holds of -centre: the error of the difference by Knuth's two-sum
    const double d_low = (x[j] - (d - seen)) - (a.centre + seen);
    const double p = d * a.factor;
    if (!std::isfinite(p)) return j;
    const double p_low = std::fma(d, a.factor, -p) + (d * a.factor_low + d_low * a.factor);
    const double r = p - std::rint(p);
    const double q = r * fine;
    const double nearest = std::rint(q);
    const double t = (q - nearest) + (std::fma(r, fine, -q) + p_low * fine) - odd;
    const double up = std::ceil(t);
    std::int64_t i = (static_cast<std::int64_t>(nearest) - a.width / 2 + static_cast<std::int64_t>(up)) % a.fine;
    cell[j] = static_cast<std::int32_t>(i < 0 ? i + a.fine : i);
    if (fraction != nullptr) fraction[j] = up - t;
  }
  return -1;
}

void tiles_of(const Tiling& g, const double* inverse_tile, int n, int pitch, std::int32_t* cell, std::int32_t* tile) {
  for (int j = 0; j < n; ++j) {
    std::int64_t t = 0;
    for (int d = g.dim - 1; d >= 0; --d) {
      std::int32_t& c = cell[d * pitch + j];
      const auto k = static_cast<std::int32_t>((c + 0.5) * inverse_tile[d]);
      c -= k * g.tile[d];
      t = t * g.count[d] + k;
    }
    tile[j] = static_cast<std::int32_t>(t);
  }
}

template <class T>
struct Unpack;
template <>
struct Unpack<float> {
  static int cell(const std::uint32_t* r, int, int d) { return static_cast<int>(r[d] >> kFractionBits); }
  static float z(const std::uint32_t* r, int d) {
    return static_cast<float>(static_cast<std::int32_t>(r[d] & 0xffffffu)) * 0x1p-23f - 1.0f;
  }
  static float f(const std::uint32_t* r, int d) { return static_cast<float>(r[d] & 0xffffffu) * 0x1p-24f; }
};
template <>
struct Unpack<double> {
  static int cell(const std::uint64_t* r, int dim, int d) {
    return static_cast<int>((r[dim] >> (kCellBits * d)) & 0xff);
  }
  static double f(const std::uint64_t* r, int d) {
    double f;
    static_assert(sizeof f == sizeof r[0]);
    __builtin_memcpy(&f, &r[d], sizeof f);
    return f;
  }
  static double z(const std::uint64_t* r, int d) { return 2 * f(r, d) - 1; }
};

// weight[p * stride], p < width
template <class T>
void weights_of(const WeightTables<T>& t, const Word<T>* record, int d, T* weight, std::int64_t stride) {
  const int w = t.width;
  if (t.table > 0) {
    const T at = Unpack<T>::f(record, d) * static_cast<T>(t.table);
    const int e = std::min(static_cast<int>(at), t.table - 1);
    const T s = at - static_cast<T>(e);
    const T* low = t.piece.data() + std::int64_t{e} * w;
    for (int p = 0; p < w; ++p) weight[p * stride] = low[p] + s * (low[w + p] - low[p]);
    return;
  }
  const T z = Unpack<T>::z(record, d);
  const T* c = t.piece.data();
  for (int p = 0; p < w; ++p) {
    T sum = c[p];
    for (int k = 1; k <= t.degree; ++k) sum = sum * z + c[k * w + p];
    weight[p * stride] = sum;
  }
}

template <class T>
void evaluate(const WeightTables<T>& t, const Tiling& g, const Word<T>* records, int n, bool in_bins,
              WeightBlock<T>& block) {
  block.n = n;
  T weight[128];
  for (int j = 0; j < n; ++j) {
    const Word<T>* r = records + std::int64_t{j} * (g.dim + 1);
    for (int d = 0; d < g.dim; ++d) block.cell[d][j] = Unpack<T>::cell(r, g.dim, d);
    const int x = block.cell[0][j];
    const int b = x / g.bin;
    const int offset = in_bins ? x - b * g.bin : 0;
    block.row[j] = ((b * g.padded[2] + block.cell[2][j]) * g.padded[1] + block.cell[1][j]) * g.slots;
    weights_of(t, r, 0, weight, 1);
    T* row = block.x.data() + std::int64_t{j} * 2 * g.slots;
    std::fill(row, row + 2 * g.slots, T{0});
    for (int p = 0; p < g.width; ++p) row[2 * (offset + p)] = row[2 * (offset + p) + 1] = weight[p];
    if (g.dim > 1) weights_of(t, r, 1, block.y.data() + j, kBlockPoints);
    if (g.dim > 2) weights_of(t, r, 2, block.z.data() + j, kBlockPoints);
  }
}

template <class T>
T y_weight(const WeightBlock<T>& b, const Tiling& g, int p, int j) {
  return g.dim > 1 ? b.y[std::int64_t{p} * kBlockPoints + j] : T{1};
}
template <class T>
T z_weight(const WeightBlock<T>& b, const Tiling& g, int p, int j) {
  return g.dim > 2 ? b.z[std::int64_t{p} * kBlockPoints + j] : T{1};
}

// Adds a window of `cells` x cells with the given row strides (elements).
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

template <>
Kernels<float> portable_kernels<float>() {
  return {"portable",         locate_f32,     tiles_of,        evaluate<float>,      spread<float>,
          interpolate<float>, add_bin<float>, copy_bin<float>, spread_points<float>, interpolate_points<float>};
}
template <>
Kernels<double> portable_kernels<double>() {
  return {"portable",          locate_f64,      tiles_of,         evaluate<double>,      spread<double>,
          interpolate<double>, add_bin<double>, copy_bin<double>, spread_points<double>, interpolate_points<double>};
}

}  // namespace fourtune::runtime::cpu
