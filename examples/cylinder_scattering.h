// Scattering of a plane wave by a perfectly conducting circular cylinder (2D, TM: electric field along the axis),
// solved by the electric field integral equation and a one-level fast multipole method whose aggregation and
// disaggregation are type-3 NUFFTs. It is the electromagnetic case of Capozzoli, Curcio, Liseno and Piccinotti, "The 2D
// Type-3 Non-Uniform FFT in CUDA" (2018), section IV. The time factor is exp(+j w t); lengths are in wavelengths, so
// that the wave number is 2 pi.
//
// Equation. With u = (wave impedance) x (axial surface current density), the total tangential field vanishes if
//     (kappa/4) * integral over the contour of u(r') H0(kappa |r - r'|) dl' = exp(-j kappa x),     H0 = H0^(2).
// The N segments have equal arc length h; u is constant on each, and the equation is enforced at their centres:
//     (kappa h / 4) sum_n H0(kappa |r_m - r_n|) u_n = exp(-j kappa x_m).
// Self term. For small s, H0(kappa s) = 1 - (2j/pi) ln(gamma kappa s / 2), gamma = exp(Euler's constant). The
// trapezoidal rule without the point s = 0 lacks  h ln(h / 2 pi) of the integral of ln|s|  (Euler-Maclaurin,
// zeta'(0) = -ln(2 pi)/2), so
//     "H0(0)" = 1 - (2j/pi) ln(gamma kappa h / (4 pi)),
// with which the rule has third order on a smooth contour. (Integrating the logarithm over the one segment would give
// 4 e in place of 4 pi, and first order.)
//
// Far clusters p, q with centres c_p, c_q and X = c_p - c_q (Graf's addition theorem and the plane-wave form of J_n):
//     H0(kappa |r - r'|) = (1/Q) sum_l exp(-j s_l.(r - c_p)) T_pq(l) exp(+j s_l.(r' - c_q)),
//     s_l = kappa (cos a_l, sin a_l),   a_l = 2 pi l / Q,
//     T_pq(l) = sum_{n=-L}^{L} (-j)^n H_n(kappa |X|) exp(j n (arg X - a_l)).
// L follows the excess bandwidth formula L = kappa D + 1.8 digits^(2/3) (kappa D)^(1/3), where D is twice a cluster's
// radius. Aggregation (the last factor, summed over a cluster) is a type 3 with sign +1; disaggregation is its adjoint.
#pragma once

#include <array>
#include <complex>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fourtune::examples {

using Complex = std::complex<double>;
using Vector = std::vector<Complex>;

struct CylinderCase {
  double radius = 2.5;  // wavelengths
  int segments = 1536;
  int clusters = 32;   // consecutive arcs; must divide segments
  int buffer = 2;      // clusters at most this far apart (around the circle) interact directly
  double digits = 10;  // accuracy of the plane-wave expansion
};

// Positions of the segments, and the sizes of the expansion.
struct Geometry {
  explicit Geometry(const CylinderCase& c);
  int per_cluster() const { return given.segments / given.clusters; }
  bool near(int p, int q) const;

  CylinderCase given;
  double wave_number, segment_length;
  std::vector<double> x, y;                   // segment centres
  std::vector<std::array<double, 2>> centre;  // centres of the clusters
  int order;                                  // L
  int directions;                             // Q
  std::vector<double> s, t;                   // plane-wave vectors, Q of each
};

// Aggregation and disaggregation of one cluster: pattern_l = sum_i u_i exp(+j s_l.(r_i - c)), and the adjoint
// u_i = sum_l pattern_l exp(-j s_l.(r_i - c)). The arrays have per_cluster() and directions values; inputs may be
// overwritten.
class PlaneWaves {
 public:
  virtual ~PlaneWaves() = default;
  virtual void aggregate(int cluster, Complex* u, Complex* pattern) = 0;
  virtual void disaggregate(int cluster, Complex* u, Complex* pattern) = 0;
};
std::unique_ptr<PlaneWaves> exact_plane_waves(const Geometry& geometry);
// One type-3 transform per cluster. plan: empty, or a plan text to force.
std::unique_ptr<PlaneWaves> nufft_plane_waves(const Geometry& geometry, double tol, const std::string& plan = {});
// The plan text of the paper's parameterisation and its way of spreading (one point per iteration, atomic additions).
std::string gaussian_plan(double r);

// The matrix of the equation above: near blocks are stored, far blocks are applied by plane waves. Keeps references to
// both arguments.
class FastMatrix {
 public:
  FastMatrix(const Geometry& geometry, PlaneWaves& waves);
  Vector operator()(const Vector& u) const;

 private:
  void add_near(const Vector& u, Vector& out) const;
  void add_far(const Vector& u, Vector& out) const;

  const Geometry& geometry_;
  PlaneWaves& waves_;
  std::vector<Vector> near_;                   // rows of segment m: every segment of its near clusters, in order
  std::vector<std::vector<Vector>> transfer_;  // [p][q], Q factors; empty for near pairs
};
// The same product without any approximation, computed entry by entry.
Vector dense_product(const Geometry& geometry, const Vector& u);

Vector incident_field(const Geometry& geometry);
// The exact current: u(phi) = 2/(pi kappa a) sum_n j^-n exp(j n phi) / H_n(kappa a)  (Harrington, Time-Harmonic
// Electromagnetic Fields, section 5-9).
Vector series_current(const Geometry& geometry);

// Solves A u = b by GMRES without restarts until |b - A u| <= tol |b|. `iterations` receives the number of iterations.
Vector gmres(const std::function<Vector(const Vector&)>& a, const Vector& b, double tol, int most, int& iterations);
// |a - b| / |b|
double relative_rms(const Vector& a, const Vector& b);

}  // namespace fourtune::examples
