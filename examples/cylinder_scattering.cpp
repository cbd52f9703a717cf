#include "examples/cylinder_scattering.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <locale>
#include <numbers>
#include <sstream>
#include <stdexcept>

#include "fourtune/transform.h"

namespace fourtune::examples {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr Complex kJ{0, 1};

// H_n^(2)(x) for n >= 0.
Complex hankel(int n, double x) { return {::jn(n, x), -::yn(n, x)}; }

// The matrix entry (kappa h / 4) H0 between two segments.
Complex entry(const Geometry& g, int m, int n) {
  const double k = g.wave_number, h = g.segment_length;
  if (m == n) return k * h / 4 * (1.0 - 2.0 * kJ / kPi * (std::numbers::egamma + std::log(k * h / (4 * kPi))));
  const auto a = static_cast<std::size_t>(m), b = static_cast<std::size_t>(n);
  const double distance = k * std::hypot(g.x[a] - g.x[b], g.y[a] - g.y[b]);
  return k * h / 4 * Complex(::j0(distance), -::y0(distance));
}

// The diagonal operator from cluster q to cluster p, including the factor kappa h / (4 Q) of the matrix and quadrature.
Vector transfer(const Geometry& g, int p, int q) {
  const auto& a = g.centre[static_cast<std::size_t>(p)];
  const auto& b = g.centre[static_cast<std::size_t>(q)];
  const double distance = g.wave_number * std::hypot(a[0] - b[0], a[1] - b[1]);
  const double angle = std::atan2(a[1] - b[1], a[0] - b[0]);
  Vector out(static_cast<std::size_t>(g.directions));
  Complex power = 1;  // (-j)^n
  for (int n = 0; n <= g.order; ++n) {
    // H_-n = (-1)^n H_n and (-j)^-n = (-1)^n (-j)^n, so the terms n and -n combine to a cosine.
    const Complex factor = power * hankel(n, distance) * (n == 0 ? 1.0 : 2.0);
    for (int l = 0; l < g.directions; ++l)
      out[static_cast<std::size_t>(l)] += factor * std::cos(n * (angle - 2 * kPi * l / g.directions));
    power *= -kJ;
  }
  for (Complex& v : out) v *= g.wave_number * g.segment_length / (4 * g.directions);
  return out;
}

class ExactPlaneWaves : public PlaneWaves {
 public:
  explicit ExactPlaneWaves(const Geometry& g) : geometry_(g) {
    for (int i = 0; i < g.given.segments; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto& c = g.centre[at / static_cast<std::size_t>(g.per_cluster())];
      for (std::size_t l = 0; l < g.s.size(); ++l)
        phase_.push_back(std::polar(1.0, g.s[l] * (g.x[at] - c[0]) + g.t[l] * (g.y[at] - c[1])));
    }
  }
  void aggregate(int cluster, Complex* u, Complex* pattern) override {
    const std::size_t directions = geometry_.s.size();
    std::fill_n(pattern, directions, Complex(0));
    for (int i = 0; i < geometry_.per_cluster(); ++i)
      for (std::size_t l = 0; l < directions; ++l) pattern[l] += u[i] * row(cluster, i)[l];
  }
  void disaggregate(int cluster, Complex* u, Complex* pattern) override {
    for (int i = 0; i < geometry_.per_cluster(); ++i) {
      Complex sum = 0;
      for (std::size_t l = 0; l < geometry_.s.size(); ++l) sum += pattern[l] * std::conj(row(cluster, i)[l]);
      u[i] = sum;
    }
  }

 private:
  const Complex* row(int cluster, int i) const {
    return phase_.data() + static_cast<std::size_t>(cluster * geometry_.per_cluster() + i) * geometry_.s.size();
  }
  const Geometry& geometry_;
  Vector phase_;
};

class NufftPlaneWaves : public PlaneWaves {
 public:
  NufftPlaneWaves(const Geometry& g, double tol, const std::string& plan) {
    std::ostringstream token;
    token.imbue(std::locale::classic());
    token << "nufft:type=3,dim=2,m=" << g.per_cluster() << ",k=" << g.directions << ",prec=f64,tol=" << tol
          << ",sign=1";
    Options options;
    options.threads = 1;
    options.plan = plan;
    for (int c = 0; c < g.given.clusters; ++c) {
      const auto first = static_cast<std::size_t>(c) * static_cast<std::size_t>(g.per_cluster());
      std::vector<double> x(g.x.begin() + static_cast<std::ptrdiff_t>(first),
                            g.x.begin() + static_cast<std::ptrdiff_t>(first) + g.per_cluster());
      std::vector<double> y(g.y.begin() + static_cast<std::ptrdiff_t>(first),
                            g.y.begin() + static_cast<std::ptrdiff_t>(first) + g.per_cluster());
      for (double& v : x) v -= g.centre[static_cast<std::size_t>(c)][0];
      for (double& v : y) v -= g.centre[static_cast<std::size_t>(c)][1];
      transforms_.emplace_back(token.str(), options);
      Points points;
      points.m = g.per_cluster();
      points.x = x.data();
      points.y = y.data();
      points.k = g.directions;
      points.s = g.s.data();
      points.t = g.t.data();
      transforms_.back().set_points(points);
    }
  }
  void aggregate(int cluster, Complex* u, Complex* pattern) override {
    transforms_[static_cast<std::size_t>(cluster)].execute(u, pattern);
  }
  void disaggregate(int cluster, Complex* u, Complex* pattern) override {
    transforms_[static_cast<std::size_t>(cluster)].execute_adjoint(u, pattern);
  }

 private:
  std::vector<Transform> transforms_;
};

Complex inner(const Vector& a, const Vector& b) {
  Complex sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::conj(a[i]) * b[i];
  return sum;
}
double norm(const Vector& a) { return std::sqrt(inner(a, a).real()); }

}  // namespace

Geometry::Geometry(const CylinderCase& c) : given(c), wave_number(2 * kPi) {
  if (c.clusters < 1 || c.segments % c.clusters != 0)
    throw std::invalid_argument("the number of clusters must divide the number of segments");
  segment_length = 2 * kPi * c.radius / c.segments;
  for (int i = 0; i < c.segments; ++i) {
    const double angle = 2 * kPi * (i + 0.5) / c.segments;
    x.push_back(c.radius * std::cos(angle));
    y.push_back(c.radius * std::sin(angle));
  }
  // A cluster is an arc. The smallest circle around it is centred at the middle of its chord.
  const double half_arc = kPi / c.clusters;
  for (int p = 0; p < c.clusters; ++p) {
    const double angle = 2 * kPi * (p + 0.5) / c.clusters, r = c.radius * std::cos(half_arc);
    centre.push_back({r * std::cos(angle), r * std::sin(angle)});
  }
  const double reach = wave_number * 2 * c.radius * std::sin(half_arc);
  order = static_cast<int>(std::ceil(reach + 1.8 * std::cbrt(c.digits * c.digits * reach)));
  directions = 2 * order + 2;
  for (int l = 0; l < directions; ++l) {
    s.push_back(wave_number * std::cos(2 * kPi * l / directions));
    t.push_back(wave_number * std::sin(2 * kPi * l / directions));
  }
}

bool Geometry::near(int p, int q) const {
  const int apart = std::abs(p - q);
  return std::min(apart, given.clusters - apart) <= given.buffer;
}

std::unique_ptr<PlaneWaves> exact_plane_waves(const Geometry& geometry) {
  return std::make_unique<ExactPlaneWaves>(geometry);
}
std::unique_ptr<PlaneWaves> nufft_plane_waves(const Geometry& geometry, double tol, const std::string& plan) {
  return std::make_unique<NufftPlaneWaves>(geometry, tol, plan);
}

std::string gaussian_plan(double r) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << "cpu;threads=1;sort=none;spread=atomic;interp=direct;fft=pruned(rigor=estimate);type3=gaussian(r=" << r
       << ")";
  return text.str();
}

FastMatrix::FastMatrix(const Geometry& g, PlaneWaves& waves) : geometry_(g), waves_(waves) {
  const int size = g.per_cluster();
  near_.resize(static_cast<std::size_t>(g.given.segments));
  for (int m = 0; m < g.given.segments; ++m)
    for (int q = 0; q < g.given.clusters; ++q)
      for (int n = q * size; g.near(m / size, q) && n < (q + 1) * size; ++n)
        near_[static_cast<std::size_t>(m)].push_back(entry(g, m, n));
  transfer_.resize(static_cast<std::size_t>(g.given.clusters));
  for (int p = 0; p < g.given.clusters; ++p)
    for (int q = 0; q < g.given.clusters; ++q)
      transfer_[static_cast<std::size_t>(p)].push_back(g.near(p, q) ? Vector() : transfer(g, p, q));
}

void FastMatrix::add_near(const Vector& u, Vector& out) const {
  const int size = geometry_.per_cluster();
  for (int m = 0; m < geometry_.given.segments; ++m) {
    auto value = near_[static_cast<std::size_t>(m)].begin();
    for (int q = 0; q < geometry_.given.clusters; ++q)
      for (int n = q * size; geometry_.near(m / size, q) && n < (q + 1) * size; ++n)
        out[static_cast<std::size_t>(m)] += *value++ * u[static_cast<std::size_t>(n)];
  }
}

void FastMatrix::add_far(const Vector& u, Vector& out) const {
  const auto clusters = static_cast<std::size_t>(geometry_.given.clusters);
  const auto size = static_cast<std::size_t>(geometry_.per_cluster());
  const auto directions = static_cast<std::size_t>(geometry_.directions);
  Vector part(size);
  std::vector<Vector> outgoing(clusters, Vector(directions));
  for (std::size_t q = 0; q < clusters; ++q) {
    std::copy_n(u.begin() + static_cast<std::ptrdiff_t>(q * size), size, part.begin());
    waves_.aggregate(static_cast<int>(q), part.data(), outgoing[q].data());
  }
  for (std::size_t p = 0; p < clusters; ++p) {
    Vector incoming(directions);
    for (std::size_t q = 0; q < clusters; ++q)
      for (std::size_t l = 0; l < transfer_[p][q].size(); ++l) incoming[l] += transfer_[p][q][l] * outgoing[q][l];
    waves_.disaggregate(static_cast<int>(p), part.data(), incoming.data());
    for (std::size_t i = 0; i < size; ++i) out[p * size + i] += part[i];
  }
}

Vector FastMatrix::operator()(const Vector& u) const {
  Vector out(u.size());
  add_near(u, out);
  add_far(u, out);
  return out;
}

Vector dense_product(const Geometry& geometry, const Vector& u) {
  Vector out(u.size());
  for (int m = 0; m < geometry.given.segments; ++m)
    for (int n = 0; n < geometry.given.segments; ++n)
      out[static_cast<std::size_t>(m)] += entry(geometry, m, n) * u[static_cast<std::size_t>(n)];
  return out;
}

Vector incident_field(const Geometry& geometry) {
  Vector field;
  for (const double x : geometry.x) field.push_back(std::polar(1.0, -geometry.wave_number * x));
  return field;
}

Vector series_current(const Geometry& geometry) {
  const double ka = geometry.wave_number * geometry.given.radius;
  const int terms = static_cast<int>(ka + 12 * std::cbrt(ka)) + 10;
  Vector current;
  for (std::size_t i = 0; i < geometry.x.size(); ++i) {
    const double phi = std::atan2(geometry.y[i], geometry.x[i]);
    Complex sum = 0, power = 1;  // j^-n
    for (int n = 0; n <= terms; ++n, power *= -kJ)
      sum += power * (n == 0 ? 1.0 : 2.0) * std::cos(n * phi) / hankel(n, ka);
    current.push_back(2 / (kPi * ka) * sum);
  }
  return current;
}

// Arnoldi iteration by modified Gram-Schmidt; Givens rotations keep the least-squares problem triangular.
Vector gmres(const std::function<Vector(const Vector&)>& a, const Vector& b, double tol, int most, int& iterations) {
  const double scale = norm(b);
  std::vector<Vector> basis{b}, h;
  Vector rhs{scale}, sines;
  std::vector<double> cosines;
  for (Complex& v : basis[0]) v /= scale;
  for (iterations = 0; iterations < most && std::abs(rhs.back()) > tol * scale; ++iterations) {
    Vector w = a(basis.back()), column;
    for (const Vector& v : basis) {
      column.push_back(inner(v, w));
      for (std::size_t i = 0; i < w.size(); ++i) w[i] -= column.back() * v[i];
    }
    const double rest = norm(w);
    for (std::size_t i = 0; i < sines.size(); ++i) {
      const Complex upper = column[i], lower = column[i + 1];
      column[i] = cosines[i] * upper + std::conj(sines[i]) * lower;
      column[i + 1] = -sines[i] * upper + cosines[i] * lower;
    }
    // The rotation that maps (last, rest) to (r, 0): c is real, s = c rest / last.
    const double length = std::hypot(std::abs(column.back()), rest);
    const double c = std::abs(column.back()) / length;
    const Complex turn = column.back() == 0.0 ? 1.0 : column.back() / std::abs(column.back());
    cosines.push_back(c);
    sines.push_back(rest / length * std::conj(turn));
    column.back() = turn * length;
    rhs.push_back(-sines.back() * rhs.back());
    rhs[rhs.size() - 2] *= c;
    h.push_back(column);
    for (Complex& v : w) v /= rest;
    basis.push_back(std::move(w));
  }
  Vector u(b.size());
  for (std::size_t j = h.size(); j-- > 0;) {
    Complex value = rhs[j];
    for (std::size_t i = j + 1; i < h.size(); ++i) value -= h[i][j] * rhs[i];
    rhs[j] = value / h[j][j];
    for (std::size_t i = 0; i < u.size(); ++i) u[i] += rhs[j] * basis[j][i];
  }
  return u;
}

double relative_rms(const Vector& a, const Vector& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += std::norm(a[i] - b[i]);
    size += std::norm(b[i]);
  }
  return std::sqrt(difference / size);
}

}  // namespace fourtune::examples
