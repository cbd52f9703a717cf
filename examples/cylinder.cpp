// Solves the scattering problem of cylinder_scattering.h with exact and with type-3 NUFFT aggregation and
// disaggregation.
//   cylinder [--tol 1e-13] [--plan "cpu;..."] [--gaussian-r 4]
// The NUFFTs run on the plan that Fourtune chooses (or --plan). One product is also computed in the paper's Gaussian
// parameterisation with its parameter R. The factors of the translation amplify the errors of the transforms about a
// hundredfold.
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

struct Settings {
  CylinderCase given;
  double tol = 1e-13, gaussian_r = 4;
  std::string plan;
};

void solve(const Settings& settings) {
  const Geometry geometry(settings.given);
  std::printf("cylinder of radius %g wavelengths, %d segments in %d clusters, %d plane waves\n", settings.given.radius,
              settings.given.segments, settings.given.clusters, geometry.directions);
  const auto exact = exact_plane_waves(geometry), nufft = nufft_plane_waves(geometry, settings.tol, settings.plan);
  const FastMatrix with_exact(geometry, *exact), with_nufft(geometry, *nufft);
  const Vector field = incident_field(geometry), series = series_current(geometry);

  std::printf("matrix-vector product, relative RMS difference\n");
  const Vector product = with_exact(series);
  std::printf("  NUFFT against exact aggregation          %.2e\n", relative_rms(with_nufft(series), product));
  if (settings.gaussian_r > 0) {
    const auto gaussian = nufft_plane_waves(geometry, 10 * settings.tol, gaussian_plan(settings.gaussian_r));
    std::printf("  Gaussian NUFFT against exact aggregation %.2e\n",
                relative_rms(FastMatrix(geometry, *gaussian)(series), product));
  }
  std::printf("  plane waves against every matrix entry   %.2e\n",
              relative_rms(product, dense_product(geometry, series)));

  int iterations_exact = 0, iterations_nufft = 0;
  auto start = std::chrono::steady_clock::now();
  const Vector u = gmres(with_exact, field, 1e-12, 400, iterations_exact);
  const double time_exact = seconds_since(start);
  start = std::chrono::steady_clock::now();
  const Vector v = gmres(with_nufft, field, 1e-12, 400, iterations_nufft);
  const double time_nufft = seconds_since(start);
  std::printf("solution by GMRES: exact %d iterations, %.3f s; NUFFT %d iterations, %.3f s\n", iterations_exact,
              time_exact, iterations_nufft, time_nufft);
  std::printf("current, relative RMS difference\n");
  std::printf("  NUFFT against exact aggregation          %.2e\n", relative_rms(v, u));
  std::printf("  NUFFT against the analytic series        %.2e\n", relative_rms(v, series));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("2D TM scattering by a conducting cylinder: fast multipole method with type-3 NUFFTs");
  Settings s;
  app.add_option("--radius", s.given.radius, "radius in wavelengths")->capture_default_str();
  app.add_option("--segments", s.given.segments, "segments of the contour")->capture_default_str();
  app.add_option("--clusters", s.given.clusters, "clusters of segments")->capture_default_str();
  app.add_option("--tol", s.tol, "tolerance of the type-3 transforms")->capture_default_str();
  app.add_option("--plan", s.plan, "force this plan text on the transforms");
  app.add_option("--gaussian-r", s.gaussian_r, "R of the Gaussian parameterisation, above 2; 0 leaves it out")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    solve(s);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cylinder: %s\n", error.what());
    return 1;
  }
  return 0;
}
