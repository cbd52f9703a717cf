#include "tuner/reference/synthetic.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/layout.h"
#include "generator/plan/type3_geometry.h"
#include "tuner/reference/threads.h"

namespace fourtune::tuner {
namespace {

using Vec3 = std::array<double, 3>;
using ModeCounts = std::array<std::int64_t, 3>;
constexpr double kPi = std::numbers::pi;
constexpr std::int64_t kGrain = 4096;  // numbers that a thread draws at a time
// The largest f32 number below pi: clamping to it keeps rounded coordinates inside (-pi, pi) too.
constexpr double kEdge = 3.1415925025939941;

// Streams of random numbers; coordinates use 0, 1, 2.
enum Stream : std::uint64_t { kAngle = 8, kRotation = 9, kTargets = 16, kReal = 24, kImaginary = 25 };

template <typename T>
struct Sink {
  int dim;
  std::array<T*, 3> out;
  void operator()(std::int64_t j, const Vec3& p) const {
    for (int d = 0; d < dim; ++d)
      out[static_cast<std::size_t>(d)][j] = static_cast<T>(std::clamp(p[static_cast<std::size_t>(d)], -kEdge, kEdge));
  }
};

// Calls body(readout, first point, points in it) for every readout of `length` samples; the last one may be shorter.
template <typename F>
void for_each_readout(std::int64_t m, std::int64_t length, const F& body) {
  const std::int64_t readouts = (m + length - 1) / length;
  on_all_threads(readouts, 16, [&](std::int64_t q) { body(q, q * length, std::min(length, m - q * length)); });
}

double fraction(double v) { return v - std::floor(v); }

// A uniformly distributed random rotation (Shoemake's quaternion), as the rows of its matrix.
std::array<Vec3, 3> random_rotation(std::uint64_t seed, std::int64_t index) {
  const auto i = static_cast<std::uint64_t>(index) * 3;
  const double u = random_unit(seed, kRotation, i);
  const double a = 2 * kPi * random_unit(seed, kRotation, i + 1), b = 2 * kPi * random_unit(seed, kRotation, i + 2);
  const double x = std::sqrt(1 - u) * std::sin(a), y = std::sqrt(1 - u) * std::cos(a);
  const double z = std::sqrt(u) * std::sin(b), w = std::sqrt(u) * std::cos(b);
  return {{{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
           {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
           {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}}};
}

Vec3 rotate(const std::array<Vec3, 3>& r, const Vec3& p) {
  Vec3 out{};
  for (std::size_t i = 0; i < 3; ++i) out[i] = r[i][0] * p[0] + r[i][1] * p[1] + r[i][2] * p[2];
  return out;
}

template <typename T>
void fill_box(const Sink<T>& sink, const Vec3& low, const Vec3& width, std::int64_t m, std::uint64_t seed,
              std::uint64_t stream) {
  on_all_threads(m, kGrain, [&](std::int64_t j) {
    Vec3 p{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(sink.dim); ++d)
      p[d] = low[d] + width[d] * random_unit(seed, stream + d, static_cast<std::uint64_t>(j));
    sink(j, p);
  });
}

// The direction of spoke q: the golden angle pi (sqrt 5 - 1) / 2 in the plane, 2D golden means on the sphere.
Vec3 spoke_direction(std::int64_t q, bool sphere, double start) {
  if (!sphere) {
    const double angle = start + kPi * fraction(static_cast<double>(q) * 0.6180339887498949);
    return {std::cos(angle), std::sin(angle), 0};
  }
  const double z = fraction(static_cast<double>(q) * 0.4655712318767680);  // half a sphere: spokes pass the centre
  const double angle = start + 2 * kPi * fraction(static_cast<double>(q) * 0.6823278038280193);
  const double rho = std::sqrt(1 - z * z);
  return {rho * std::cos(angle), rho * std::sin(angle), z};
}

template <typename T>
void fill_radial(const Sink<T>& sink, const ModeCounts& n, std::int64_t m, std::uint64_t seed, bool stacked) {
  const std::int64_t length = 2 * *std::max_element(n.begin(), n.end());
  const auto axis = static_cast<std::size_t>(sink.dim - 1);  // normal to the planes of a stack
  const std::int64_t planes = stacked && sink.dim > 1 ? n[axis] : 1;
  const double start = 2 * kPi * random_unit(seed, kAngle, 0);
  for_each_readout(m, length, [&](std::int64_t q, std::int64_t first, std::int64_t count) {
    const Vec3 direction = spoke_direction(q / planes, sink.dim == 3 && !stacked, start);
    for (std::int64_t i = 0; i < count; ++i) {
      const double r = kPi * static_cast<double>(2 * i - length) / static_cast<double>(length);
      Vec3 p{r * direction[0], r * direction[1], r * direction[2]};
      if (planes > 1) p[axis] = 2 * kPi * static_cast<double>(q % planes - planes / 2) / static_cast<double>(planes);
      sink(first + i, p);
    }
  });
}

template <typename T>
void fill_spiral(const Sink<T>& sink, const ModeCounts& n, std::int64_t m, std::uint64_t seed) {
  const std::int64_t side = *std::max_element(n.begin(), n.end());
  const std::int64_t length = std::min(m, 16 * side);
  const double turns = std::max(1.0, static_cast<double>(side) / 32),
               arms = std::ceil(static_cast<double>(m) / static_cast<double>(length));
  const double start = 2 * kPi * random_unit(seed, kAngle, 0);
  for_each_readout(m, length, [&](std::int64_t q, std::int64_t first, std::int64_t count) {
    const auto rotation = random_rotation(seed, q);
    const double offset = start + 2 * kPi * static_cast<double>(q) / arms;
    for (std::int64_t i = 0; i < count; ++i) {
      const double t = (static_cast<double>(i) + 0.5) / static_cast<double>(length);
      const double r = kPi * t, angle = offset + 2 * kPi * turns * t;
      const Vec3 flat{r * std::cos(angle), r * std::sin(angle), 0};
      sink(first + i, sink.dim == 3 ? rotate(rotation, flat) : flat);
    }
  });
}

// k0 is the wave number and a the half-side of the detector: pixel (tx, ty) sees q = (tx, ty, sqrt(k0^2 - |t|^2) - k0).
// The corner pixel scatters by 0.6 rad and lies at |q| = pi.
template <typename T>
void fill_ewald(const Sink<T>& sink, const ModeCounts& n, std::int64_t m, std::uint64_t seed) {
  constexpr double kCorner = 0.6;
  const double k0 = kPi / (2 * std::sin(kCorner / 2)), reach = k0 * std::sin(kCorner);
  const std::int64_t side = std::max<std::int64_t>(2, *std::max_element(n.begin(), n.end()));
  const bool sphere = sink.dim == 3;
  const double half = sphere ? reach / std::numbers::sqrt2 : reach;
  const auto place = [&](std::int64_t i) {
    return half * static_cast<double>(2 * i - side + 1) / static_cast<double>(side - 1);
  };
  for_each_readout(m, sphere ? side * side : side, [&](std::int64_t q, std::int64_t first, std::int64_t count) {
    const auto rotation = random_rotation(seed, q);
    const double angle = 2 * kPi * random_unit(seed, kAngle, static_cast<std::uint64_t>(q));
    const double c = std::cos(angle), s = std::sin(angle);
    for (std::int64_t i = 0; i < count; ++i) {
      const double tx = place(i % side), ty = sphere ? place(i / side) : 0;
      const double t2 = tx * tx + ty * ty, depth = -t2 / (std::sqrt(k0 * k0 - t2) + k0);
      sink(first + i, sphere ? rotate(rotation, {tx, ty, depth}) : Vec3{c * tx - s * depth, s * tx + c * depth, 0});
    }
  });
}

template <typename T>
PointSet<T> allocate(int dim, std::int64_t m) {
  if (dim < 1 || dim > 3) throw Error(Status::invalid_argument, "dim is " + std::to_string(dim) + ", allowed: 1, 2, 3");
  if (m < 0) throw Error(Status::invalid_argument, "point count is negative");
  PointSet<T> points;
  points.dim = dim;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d) points.x[d].resize(static_cast<std::size_t>(m));
  return points;
}

template <typename T>
Sink<T> sink_of(PointSet<T>& points) {
  return {points.dim, {points.x[0].data(), points.x[1].data(), points.x[2].data()}};
}

// Puts the first two points at the corners -half and +half.
template <typename T>
void pin_corners(PointSet<T>& points, const Vec3& half) {
  if (points.count() < 2) return;
  for (std::size_t d = 0; d < static_cast<std::size_t>(points.dim); ++d) {
    points.x[d][0] = static_cast<T>(-half[d]);
    points.x[d][1] = static_cast<T>(half[d]);
  }
}

// The half-width of the targets: an f32 number, so that it is the same in both precisions, with X S <= extent.
double target_half_width(double extent) {
  float s = static_cast<float>(extent / kEdge);
  while (static_cast<double>(s) * kEdge > extent) s = std::nextafterf(s, 0.0f);
  return static_cast<double>(s);
}

std::int64_t required(const std::optional<std::int64_t>& count, const char* name) {
  if (!count) throw Error(Status::invalid_problem, std::string("synthetic points need the key ") + name);
  return *count;
}

}  // namespace

template <typename T>
PointSet<T> make_points(PointClass points, int dim, const std::array<std::int64_t, 3>& n, std::int64_t m,
                        std::uint64_t seed) {
  PointSet<T> result = allocate<T>(dim, m);
  if (m == 0) return result;
  ModeCounts sizes{1, 1, 1};
  for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d) sizes[d] = std::max<std::int64_t>(1, n[d]);
  const Sink<T> sink = sink_of(result);
  switch (points) {
    case PointClass::uniform:
      fill_box(sink, {-kPi, -kPi, -kPi}, {2 * kPi, 2 * kPi, 2 * kPi}, m, seed, 0);
      break;
    case PointClass::cluster: {
      Vec3 width{};
      for (std::size_t d = 0; d < 3; ++d) width[d] = std::min(kPi, 8 * kPi / static_cast<double>(sizes[d]));
      fill_box(sink, {0, 0, 0}, width, m, seed, 0);
      break;
    }
    case PointClass::radial:
      fill_radial(sink, sizes, m, seed, false);
      break;
    case PointClass::stack:
      fill_radial(sink, sizes, m, seed, true);
      break;
    case PointClass::spiral:
      fill_spiral(sink, sizes, m, seed);
      break;
    case PointClass::ewald:
      fill_ewald(sink, sizes, m, seed);
      break;
    case PointClass::recorded:
      throw Error(Status::invalid_problem,
                  "points=recorded are an application's own: `fourtune tune --recorded DIR` reads them");
  }
  return result;
}

template <typename T>
PointSet<T> make_points(const Problem& problem, std::uint64_t seed) {
  const PointClass points = problem.points.value_or(PointClass::uniform);
  const std::int64_t m = required(problem.m, "m");
  if (problem.type != 3) return make_points<T>(points, problem.dim, problem.n.xyz(), m, seed);
  const Vec3 extent = resolved_extent(problem);
  ModeCounts n{1, 1, 1};
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
    n[d] = std::max<std::int64_t>(1, std::llround(2 * extent[d] / kPi));
  PointSet<T> result = make_points<T>(points, problem.dim, n, m, seed);
  pin_corners(result, {kEdge, kEdge, kEdge});
  return result;
}

template <typename T>
PointSet<T> make_targets(const Problem& problem, std::uint64_t seed) {
  if (problem.type != 3) throw Error(Status::invalid_problem, "only type 3 has targets");
  PointSet<T> result = allocate<T>(problem.dim, required(problem.k, "k"));
  const Vec3 extent = resolved_extent(problem);
  Vec3 half{};
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d) half[d] = target_half_width(extent[d]);
  on_all_threads(result.count(), kGrain, [&](std::int64_t j) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
      result.x[d][static_cast<std::size_t>(j)] =
          static_cast<T>(half[d] * (2 * random_unit(seed, kTargets + d, static_cast<std::uint64_t>(j)) - 1));
  });
  pin_corners(result, half);
  return result;
}

std::array<double, 3> resolved_extent(const Problem& problem) {
  if (!problem.extent) required(problem.k, "k");
  return generator::type3_extent(problem);
}

template <typename T>
void fill_random(std::span<std::complex<T>> values, std::uint64_t seed) {
  on_all_threads(std::ssize(values), kGrain, [&](std::int64_t at) {
    const auto j = static_cast<std::size_t>(at);
    values[j] = {static_cast<T>(2 * random_unit(seed, kReal, j) - 1),
                 static_cast<T>(2 * random_unit(seed, kImaginary, j) - 1)};
  });
}

template <typename T>
void fill_random(std::span<T> values, std::uint64_t seed) {
  on_all_threads(std::ssize(values), kGrain, [&](std::int64_t at) {
    const auto j = static_cast<std::size_t>(at);
    values[j] = static_cast<T>(2 * random_unit(seed, kReal, j) - 1);
  });
}

template <typename T>
void fill_half_spectrum(std::span<std::complex<T>> values, const Sizes& n, std::int64_t batch, std::uint64_t seed) {
  Sizes half = n;
  half[0] = n[0] / 2 + 1;
  const std::int64_t size = element_count(half);
  if (static_cast<std::int64_t>(values.size()) != size * batch)
    throw Error(Status::invalid_argument, "a half spectrum holds (n[0]/2+1) n[1] n[2] n[3] batch values");
  const auto draw = [&](std::int64_t j) {
    const auto i = static_cast<std::uint64_t>(j);
    return std::complex<double>(2 * random_unit(seed, kReal, i) - 1, 2 * random_unit(seed, kImaginary, i) - 1);
  };
  // The place of the conjugate of value j of the half spectrum, whose x is its own mirror image.
  const auto mirrored = [&](std::int64_t j) {
    std::int64_t mirror = j % half[0], rest = j / half[0], stride = half[0];
    for (std::size_t d = 1; d < n.size(); stride *= n[d], rest /= n[d++])
      mirror += stride * ((n[d] - rest % n[d]) % n[d]);
    return mirror;
  };
  on_all_threads(size * batch, kGrain, [&](std::int64_t j) {
    const std::int64_t x = j % half[0];
    std::complex<double> value = draw(j);
    if (x == 0 || 2 * x == n[0]) value = 0.5 * (value + std::conj(draw(j / size * size + mirrored(j % size))));
    values[static_cast<std::size_t>(j)] = {static_cast<T>(value.real()), static_cast<T>(value.imag())};
  });
}

// NOLINTBEGIN(bugprone-macro-parentheses): T is a type.
#define FOURTUNE_INSTANTIATE(T)                                                                          \
  template PointSet<T> make_points<T>(PointClass, int, const std::array<std::int64_t, 3>&, std::int64_t, \
                                      std::uint64_t);                                                    \
  template PointSet<T> make_points<T>(const Problem&, std::uint64_t);                                    \
  template PointSet<T> make_targets<T>(const Problem&, std::uint64_t);                                   \
  template void fill_random<T>(std::span<std::complex<T>>, std::uint64_t);                               \
  template void fill_random<T>(std::span<T>, std::uint64_t);                                             \
  template void fill_half_spectrum<T>(std::span<std::complex<T>>, const Sizes&, std::int64_t, std::uint64_t);
// NOLINTEND(bugprone-macro-parentheses)
FOURTUNE_INSTANTIATE(float)
FOURTUNE_INSTANTIATE(double)
#undef FOURTUNE_INSTANTIATE

}  // namespace fourtune::tuner
