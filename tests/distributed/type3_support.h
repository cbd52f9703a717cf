// Transforms of type 3 over ranks beside direct sums, on processors and on GPUs.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "tests/distributed/support.h"

namespace fourtune::test {

template <class T>
void expect_type3(const Whole<T>& whole, const Way& way) {
  std::string explain;
  const auto result = result_of(whole, way, &explain);
  EXPECT_NE(explain.find("plan: " + way.options.plan.substr(0, 11)), std::string::npos) << explain;
  EXPECT_LE(error_of(result, direct(whole, way.adjoint, ModeOrder::centred)), allowed_error(whole.problem))
      << to_token(whole.problem) << (way.adjoint ? " adjoint " : " ") << explain;
}

// Boxes away from the origin need phases of sources and targets, where these have gone.
inline Whole<double> far_boxes(const std::string& token) {
  Whole<double> whole = draw<double>(token, 8);
  for (std::size_t d = 0; d < 3; ++d) {
    for (double& x : whole.x[d]) x += 40 + 3 * static_cast<double>(d);
    for (double& s : whole.s[d]) s -= 25 - static_cast<double>(d);
  }
  return whole;
}

// All sources in one place, all targets on a line, and boxes with a side of 0: slabs without cells, grids of one row.
inline Whole<double> crowded_points(const std::string& token) {
  Whole<double> whole = draw<double>(token, 2);
  for (double& x : whole.x[1]) x = 0.5;
  for (double& x : whole.x[2]) x = 2 + 1e-3 * x;
  for (double& s : whole.s[0]) s = 7;
  return whole;
}

// Other boxes need other grids and maps; the same sizes keep the grids.
inline void expect_points_set_again(const Options& options) {
  Whole<double> whole = draw<double>("nufft:type=3,dim=2,m=200,k=150,prec=f64,tol=1e-7", 5);
  DistributedTransform transform("nufft:type=3,dim=2,prec=f64,tol=1e-7", MPI_Comm_c2f(MPI_COMM_WORLD), options);
  const int rank = transform.rank(), ranks = transform.ranks();
  double shift = 0;
  for (const double scale : {1.0, 1.0, 3.0, 0.1}) {
    for (double& x : whole.x[0]) x *= scale;
    for (double& s : whole.s[1]) s *= scale;
    for (double& x : whole.x[1]) x += shift;
    shift = 0.25;
    const Range mine = dealt(Deal::uneven, 200, rank, ranks), targets = dealt(Deal::even, 150, rank, ranks);
    Points points{mine.size(), whole.x[0].data() + mine.begin, whole.x[1].data() + mine.begin};
    points.k = targets.size();
    points.s = whole.s[0].data() + targets.begin, points.t = whole.s[1].data() + targets.begin;
    transform.set_points(points);
    std::vector<std::complex<double>> values(whole.points.begin() + mine.begin, whole.points.begin() + mine.end);
    std::vector<std::complex<double>> results(static_cast<std::size_t>(targets.size()));
    transform.execute(values.data(), results.data());
    EXPECT_LE(error_of(gathered(results, Deal::even, 150, 1, MPI_COMM_WORLD), direct(whole, false, ModeOrder::centred)),
              allowed_error(whole.problem))
        << scale;
  }
}

// A bad point, and then a missing array, of one rank fail on all; what follows runs.
inline void expect_bad_points_named(const Options& options) {
  const bool bad = rank_of(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1;
  DistributedTransform transform("nufft:type=3,dim=2,prec=f64,tol=1e-6", MPI_Comm_c2f(MPI_COMM_WORLD), options);
  std::vector<double> x{0.1, 0.2, 0.3}, wrong = x;
  wrong[2] = std::numeric_limits<double>::infinity();
  Points points{3, x.data(), x.data()};
  points.k = 3, points.s = x.data(), points.t = bad ? wrong.data() : x.data();
  std::string message;
  EXPECT_EQ(status_of([&] { transform.set_points(points); }, &message), Status::invalid_point);
  EXPECT_NE(message.find("t[2]"), std::string::npos) << message;
  points.t = x.data();
  transform.set_points(points);
  std::vector<std::complex<double>> values(3, 1), results(3);
  EXPECT_EQ(status_of([&] { transform.execute(values.data(), bad ? nullptr : results.data()); }),
            Status::invalid_argument);
  EXPECT_EQ(status_of([&] { transform.execute(values.data(), results.data()); }), Status::success);
}

}  // namespace fourtune::test
