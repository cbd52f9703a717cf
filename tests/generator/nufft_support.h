// Cases for the tests of the NUFFT kernels: points, programs, and expected results as direct sums in double precision
// that evaluate the window itself.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <map>
#include <numbers>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "fourtune/status.h"
#include "generator/codegen/nufft/kernels.h"
#include "runtime/backends/emulated/emulator.h"

namespace fourtune::generator::nufft::testing {

using Complex = std::complex<double>;
using runtime::emulated::run_program;
using runtime::emulated::RunOptions;

// spot: all points except three are at one place, and the three are in the other half of the grid.
enum class Points { uniform, clustered, clusters, edges, one, none, spot };

struct Case {
  std::string name;
  Shape shape;
  bool spreads = true;
  Spread spread{};
  Interpolate interpolate{};
  Parameters parameters;
  Points points = Points::uniform;
  int count = 200;
  int transforms = 1;
  bool late = false;     // scratch for large coarse bins is added after the first attempt
  bool batches = false;  // with scratch for at most a quarter of the points, so these bins are sorted in turns

  // Without it GoogleTest prints the bytes of all cases each time that the program starts, for half of that time.
  friend void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
};

// The coordinates that the kernel receives: exact numbers in its precision, stored as doubles.
inline std::array<std::vector<double>, 3> make_points(const Case& c) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> wide(-3 * std::numbers::pi, 3 * std::numbers::pi), narrow(0.3, 0.32);
  std::array<std::vector<double>, 3> x;
  const int m = c.points == Points::none ? 0 : c.points == Points::one ? 1 : c.count;
  for (int d = 0; d < 3; ++d) {
    const double cell = 2 * std::numbers::pi / static_cast<double>(c.shape.fine[d]);
    const double edge[] = {-std::numbers::pi,
                           std::numbers::pi,
                           0.0,
                           cell,
                           -cell,
                           0.5 * cell + 1e-6,
                           -0.0,
                           3 * std::numbers::pi,
                           1e-9,
                           -1e-9};
    for (int i = 0; i < m; ++i) {
      double value = c.points == Points::clustered  ? narrow(random)
                     : c.points == Points::clusters ? narrow(random) + 1.5 * (i % 4)
                     : c.points == Points::edges    ? edge[random() % 10]
                     : c.points == Points::spot     ? (i < m - 3 ? 0.31 : -2.9 + 1.4 * (i - (m - 3)))
                                                    : wide(random);
      if (c.shape.precision == Precision::f32) value = static_cast<float>(value);
      x[d].push_back(value);
    }
  }
  return x;
}

// The weights of one dimension for a point: its position in cells mod n, and w weights from there.
struct Reached {
  std::vector<int> cell;
  std::vector<double> weight;
};
inline Reached reached(long double x, int n, const Window& window) {
  const long double turns = x / (2 * std::numbers::pi_v<long double>);
  const long double u = (turns - std::floor(turns)) * n;
  const int w = window.width();
  const long double first = std::ceil(u - 0.5L * w);
  Reached r;
  for (int k = 0; k < w; ++k) {
    r.cell.push_back(((static_cast<int>(first) + k) % n + n) % n);
    r.weight.push_back(window.value(static_cast<double>(2 * (first + k - u) / w)));
  }
  return r;
}

template <class T>
std::vector<std::byte> packed(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}
inline std::vector<std::byte> packed_reals(const std::vector<double>& values, Precision precision) {
  if (precision == Precision::f64) return packed(values);
  return packed(std::vector<float>(values.begin(), values.end()));
}
inline std::vector<std::byte> packed_complex(const std::vector<Complex>& values, Precision precision) {
  std::vector<double> parts;
  for (const Complex& v : values) parts.insert(parts.end(), {v.real(), v.imag()});
  return packed_reals(parts, precision);
}
inline std::vector<Complex> unpacked(std::span<const std::byte> bytes, Precision precision) {
  std::vector<Complex> values(bytes.size() / (precision == Precision::f32 ? 8 : 16));
  for (std::size_t i = 0; i < values.size(); ++i) {
    double parts[2];
    for (std::size_t k = 0; k < 2; ++k) {
      if (precision == Precision::f32) {
        float part;
        std::memcpy(&part, bytes.data() + (2 * i + k) * 4, 4);
        parts[k] = part;
      } else {
        std::memcpy(parts + k, bytes.data() + (2 * i + k) * 8, 8);
      }
    }
    values[i] = {parts[0], parts[1]};
  }
  return values;
}

inline double distance(const std::vector<Complex>& got, const std::vector<Complex>& right) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    error += std::norm(got[i] - right[i]);
    size += std::norm(right[i]);
  }
  return std::isnan(error) ? 1 : std::sqrt(error / std::max(size, 1e-300));
}

inline std::vector<Complex> noise(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<Complex> values(count);
  for (Complex& v : values) v = {static_cast<float>(unit(random)), static_cast<float>(unit(random))};
  return values;
}

// The position of a cell of transform t among all grids; grids of a group are interleaved.
inline std::size_t grid_position(const Case& c, std::size_t t, std::size_t cell, std::size_t cells) {
  for (const GroupRun& run : group_runs(c.transforms, c.parameters.group)) {
    const auto first = static_cast<std::size_t>(run.first), size = static_cast<std::size_t>(run.size);
    const std::size_t group = (t - first) / size;
    if (group < static_cast<std::size_t>(run.count))
      return (first + group * size) * cells + cell * size + (t - first) % size;
  }
  throw Error(Status::internal, "no such transform");
}

// Program, inputs and expected result of a case. first: strengths or the grid; second: the output.
struct Prepared {
  GpuProgram program;
  std::vector<std::byte> first, second;
  std::vector<Complex> right;
  double allowed = 0;
  int sorted = 0;  // launches of set_points, which is another call than the rest
};

inline const Window& window_of(int width) {
  static std::map<int, Window> windows;
  return windows.try_emplace(width, width > kMaxWidth ? WindowKind::gaussian : WindowKind::kaiser_bessel, width, 2.0)
      .first->second;
}

// The published families evaluate the exponential of semicircle itself.
inline Window window_of(const Shape& shape) {
  if (shape.semicircle > 0) return Window(WindowKind::exp_semicircle, shape.width, 2, shape.semicircle);
  return window_of(shape.width);
}

inline Prepared prepare(const Case& c) {
  const Window window = window_of(c.shape);
  const PiecewisePolynomial polynomial = fit(window, c.shape.precision == Precision::f32 ? 1e-8 : 1e-14);
  const StageKernels kernels(c.shape, c.parameters, polynomial);
  const auto points = make_points(c);
  const std::int64_t m = static_cast<std::int64_t>(points[0].size());
  Prepared p;
  Arrays arrays;
  for (int d = 0; d < 3; ++d) {
    arrays.points[static_cast<std::size_t>(d)] = {BufferRef::Where::constant, d < c.shape.dim ? d : 0, 0};
    std::vector<double> padded = points[static_cast<std::size_t>(d)];
    padded.push_back(0);  // no array may be empty
    p.program.constants.push_back(packed_reals(padded, c.shape.precision));
  }
  for (const std::int64_t bytes : kernels.workspace_bytes(m)) p.program.workspace_bytes.push_back(bytes);
  auto& scratch = p.program.workspace_bytes[kScratch];
  const LargeBins large{m, c.batches ? (m + 3) / 4 : m};
  scratch = std::max(scratch, c.late ? kernels.least_large_scratch(m, large) : kernels.large_bytes(m, m));
  const BufferRef first{BufferRef::Where::first, 0, 0}, second{BufferRef::Where::second, 0, 0};
  arrays.values = c.spreads ? first : second;
  arrays.grid = c.spreads ? second : first;
  kernels.emit_sort(p.program, arrays, m, {}, c.late ? 0 : scratch);
  if (c.late) kernels.emit_large_bins(p.program, arrays, m, large, scratch);
  p.sorted = static_cast<int>(p.program.launches.size());
  if (c.spreads) {
    kernels.emit_clear(p.program, arrays, c.transforms);
    kernels.emit_spread(p.program, arrays, m, c.transforms, c.spread);
  } else {
    kernels.emit_interpolate(p.program, arrays, m, c.transforms, c.interpolate);
  }
  const std::size_t cells = static_cast<std::size_t>(c.shape.fine[0] * c.shape.fine[1] * c.shape.fine[2]);
  const std::size_t in = c.spreads ? static_cast<std::size_t>(m) : cells,
                    out = c.spreads ? cells : static_cast<std::size_t>(m);
  const std::vector<Complex> values = noise(std::max<std::size_t>(1, in * static_cast<std::size_t>(c.transforms)), 11);
  p.right.resize(out * static_cast<std::size_t>(c.transforms));
  for (std::int64_t i = 0; i < m; ++i) {
    std::array<Reached, 3> r;
    for (int d = 0; d < 3; ++d)
      r[d] = d < c.shape.dim ? reached(points[d][i], static_cast<int>(c.shape.fine[d]), window) : Reached{{0}, {1}};
    for (std::size_t a = 0; a < r[2].cell.size(); ++a)
      for (std::size_t b = 0; b < r[1].cell.size(); ++b)
        for (std::size_t k = 0; k < r[0].cell.size(); ++k) {
          const double weight = r[0].weight[k] * r[1].weight[b] * r[2].weight[a];
          const std::size_t cell = static_cast<std::size_t>(
              (r[2].cell[a] * c.shape.fine[1] + r[1].cell[b]) * c.shape.fine[0] + r[0].cell[k]);
          for (std::size_t t = 0; t < static_cast<std::size_t>(c.transforms); ++t) {
            if (c.spreads)
              p.right[grid_position(c, t, cell, cells)] += weight * values[t * in + static_cast<std::size_t>(i)];
            else
              p.right[t * out + static_cast<std::size_t>(i)] += weight * values[grid_position(c, t, cell, cells)];
          }
        }
  }
  p.first = packed_complex(values, c.shape.precision);
  p.second.assign(std::max<std::size_t>(1, p.right.size()) * (c.shape.precision == Precision::f32 ? 8 : 16),
                  std::byte{0xff});
  p.allowed = (c.shape.precision == Precision::f32 ? 2e-6 : 3e-13) + c.shape.unit;
  const double eps = epsilon(c.shape.precision), beta = c.shape.semicircle;
  p.allowed += 0.5 * eps * beta;                                                            // of the exponent
  if (c.points == Points::edges) p.allowed += beta * std::exp(-beta) * std::sqrt(2 * eps);  // of the root at its ends
  return p;
}

// For runs without checks. These cases have so few points that compiling takes longer than running.
inline runtime::emulated::Program compiled_quickly(const GpuProgram& program) {
  return runtime::emulated::Program(program, {.quick = true});
}

inline std::string wrong(const Case& c, const Prepared& p, std::span<const std::byte> second) {
  const double error = distance(unpacked(second, c.shape.precision), p.right);
  return error <= p.allowed ? "" : "relative error " + std::to_string(error);
}

// Threads and blocks run forward and in reverse.
inline void expect_direct_sums(const Case& c) {
  const Prepared p = prepare(c);
  auto program = compiled_quickly(p.program);
  for (const auto order : {runtime::emulated::ExecutionOrder::forward, runtime::emulated::ExecutionOrder::reverse}) {
    RunOptions options;
    options.threads = options.blocks = order;
    std::vector<std::byte> first = p.first, second = p.second;
    program.run(first, second, options);
    if (p.right.empty()) continue;
    EXPECT_EQ(wrong(c, p, second), "");
  }
}

inline Case spreading(const std::string& name, int dim, Precision precision, int width, Spread family) {
  Case c;
  c.shape.dim = dim;
  c.shape.precision = precision;
  c.shape.width = width;
  // Unequal sizes that are not multiples of the bins, in one dimension barely above the padded tile.
  c.shape.fine = dim == 3
                     ? std::array<std::int64_t, 3>{std::max(17, width + 1), std::max(14, width), std::max(11, width)}
                 : dim == 2 ? std::array<std::int64_t, 3>{45, 38, 1}
                            : std::array<std::int64_t, 3>{301, 1, 1};
  c.spread = family;
  c.parameters = default_parameters(c.shape, family);
  c.parameters.cap = 40;
  c.name =
      name + std::to_string(dim) + "d" + (precision == Precision::f32 ? "F32" : "F64") + "W" + std::to_string(width);
  return c;
}
inline Case interpolating(const std::string& name, int dim, Precision precision, int width, Interpolate family) {
  Case c = spreading(name, dim, precision, width, Spread::points);
  c.spreads = false;
  c.interpolate = family;
  c.parameters = default_parameters(c.shape, family);
  c.parameters.cap = 40;
  return c;
}

// Four large coarse bins with scratch for a part of them, so that they are sorted one after the other.
inline Case batches(int dim) {
  Case c = spreading("TwoLevelsBatches", dim, dim == 2 ? Precision::f32 : Precision::f64, 5,
                     dim == 1 ? Spread::tile_owned : Spread::window);
  c.parameters.placement = Placement::two_level;
  c.parameters.segment = 512;
  c.parameters.bin = {3, dim == 3 ? 3 : 1, 1};
  c.points = Points::clusters;
  c.count = 2400;
  c.late = c.batches = true;
  return c;
}

inline std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  return info.param.name + "n" + std::to_string(info.index);
}

// Groups of transforms, with a smaller group and a single transform left over.
inline std::vector<Case> grouped_cases(int group, int transforms, int count) {
  std::vector<Case> cases;
  for (const int dim : {1, 2, 3})
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      const int width = dim == 3 ? 5 : dim == 2 && precision == Precision::f64 ? 7 : 4;
      for (const Spread family : {Spread::points, Spread::tile_owned})
        cases.push_back(
            spreading("Group" + std::to_string(static_cast<int>(family)) + "S", dim, precision, width, family));
      for (const Interpolate family : {Interpolate::points, Interpolate::tiled})
        cases.push_back(
            interpolating("Group" + std::to_string(static_cast<int>(family)) + "I", dim, precision, width, family));
    }
  for (Case& c : cases) {
    c.parameters.group = group, c.transforms = transforms, c.count = count;
    if (c.shape.dim == 3) c.parameters.bin = {4, 3, 2};
    if (c.shape.dim == 2) c.parameters.bin = {8, 5, 1};
    c.name += "G" + std::to_string(group);
  }
  return cases;
}

}  // namespace fourtune::generator::nufft::testing
