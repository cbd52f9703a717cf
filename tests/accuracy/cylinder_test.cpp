// The electromagnetic case of paper nufft-type3-cuda, section IV: aggregation and disaggregation by type 3 must agree
// with the exact ones to a relative RMS of 1e-10 (the paper reports 8.78e-11).
#include <gtest/gtest.h>

#include "examples/cylinder_scattering.h"

namespace fourtune::examples {
namespace {

constexpr double kPaperBound = 1e-10;

const Geometry& geometry() {
  static const Geometry g{CylinderCase{}};
  return g;
}
const Vector& exact_product() {
  static const Vector product = [] {
    const auto exact = exact_plane_waves(geometry());
    return FastMatrix(geometry(), *exact)(series_current(geometry()));
  }();
  return product;
}

double product_difference(const std::string& plan, double tol) {
  const auto waves = nufft_plane_waves(geometry(), tol, plan);
  return relative_rms(FastMatrix(geometry(), *waves)(series_current(geometry())), exact_product());
}

TEST(Cylinder, PlaneWaveExpansionReproducesEveryMatrixEntry) {
  EXPECT_LT(relative_rms(exact_product(), dense_product(geometry(), series_current(geometry()))), 1e-10);
}

TEST(Cylinder, CurrentAgreesWithTheAnalyticSeries) {
  const auto exact = exact_plane_waves(geometry());
  int iterations = 0;
  const Vector u = gmres(FastMatrix(geometry(), *exact), incident_field(geometry()), 1e-11, 200, iterations);
  EXPECT_LT(iterations, 100);
  EXPECT_LT(relative_rms(u, series_current(geometry())), 1e-4);
}

TEST(Cylinder, DefaultTypeThreeMatchesExactAggregation) { EXPECT_LE(product_difference("", 1e-13), kPaperBound); }

TEST(Cylinder, GaussianTypeThreeOfThePaperMatchesExactAggregation) {
  EXPECT_LE(product_difference(gaussian_plan(4), 1e-12), kPaperBound);
}

TEST(Cylinder, DifferenceFollowsTheTolerance) {
  EXPECT_GT(product_difference("", 1e-3), kPaperBound);  // the bound above must depend on the tolerance
  EXPECT_LT(product_difference("", 1e-6), 1e-3);
}

TEST(Cylinder, SolvedCurrentsAgree) {
  const auto exact = exact_plane_waves(geometry()), nufft = nufft_plane_waves(geometry(), 1e-13);
  int first = 0, second = 0;
  const Vector u = gmres(FastMatrix(geometry(), *exact), incident_field(geometry()), 1e-12, 200, first);
  const Vector v = gmres(FastMatrix(geometry(), *nufft), incident_field(geometry()), 1e-12, 200, second);
  EXPECT_LE(relative_rms(v, u), 1e-9);
  EXPECT_NEAR(first, second, 2);
}

}  // namespace
}  // namespace fourtune::examples
