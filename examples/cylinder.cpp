// Solves the scattering problem of cylinder_scattering.h with exact and with type-3 NUFFT aggregation and
// disaggregation.
//   cylinder [--tol 1e-13] [--plan "cpu;...;type3=gaussian(r=3)"]
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>

#include "examples/cylinder_scattering.h"

namespace {

using namespace fourtune::examples;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void solve(const CylinderCase& given, double tol, const std::string& plan) {
  const Geometry geometry(given);
  std::printf("cylinder of radius %g wavelengths, %d segments in %d clusters, %d plane waves\n", given.radius,
              given.segments, given.clusters, geometry.directions);
  const auto exact = exact_plane_waves(geometry), nufft = nufft_plane_waves(geometry, tol, plan);
  const FastMatrix with_exact(geometry, *exact), with_nufft(geometry, *nufft);
  const Vector field = incident_field(geometry), series = series_current(geometry);

  const Vector a = with_exact(series), b = with_nufft(series);
  std::printf("matrix-vector product: NUFFT against exact aggregation %.2e\n", relative_rms(b, a));
  std::printf("                       plane waves against every entry %.2e\n",
              relative_rms(a, dense_product(geometry, series)));

  int iterations_exact = 0, iterations_nufft = 0;
  auto start = std::chrono::steady_clock::now();
  const Vector u = gmres(with_exact, field, 1e-12, 400, iterations_exact);
  const double time_exact = seconds_since(start);
  start = std::chrono::steady_clock::now();
  const Vector v = gmres(with_nufft, field, 1e-12, 400, iterations_nufft);
  std::printf("solution: exact %d iterations, %.3f s; NUFFT %d iterations, %.3f s\n", iterations_exact, time_exact,
              iterations_nufft, seconds_since(start));
  std::printf("current: NUFFT against exact aggregation %.2e\n", relative_rms(v, u));
  std::printf("         against the analytic series     %.2e\n", relative_rms(v, series));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("2D TM scattering by a conducting cylinder: fast multipole method with type-3 NUFFTs");
  CylinderCase given;
  double tol = 1e-13;
  std::string plan;
  app.add_option("--radius", given.radius, "radius in wavelengths")->capture_default_str();
  app.add_option("--segments", given.segments, "segments of the contour")->capture_default_str();
  app.add_option("--clusters", given.clusters, "clusters of segments")->capture_default_str();
  app.add_option("--tol", tol, "tolerance of the type-3 transforms")->capture_default_str();
  app.add_option("--plan", plan, "force this plan text on the transforms");
  CLI11_PARSE(app, argc, argv);
  try {
    solve(given, tol, plan);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cylinder: %s\n", error.what());
    return 1;
  }
  return 0;
}
