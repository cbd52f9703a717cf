// Batches whose transforms have separate points, and bounds of a type 3, on the emulated GPU and the processor.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "generator/candidates.h"
#include "tests/runtime/emulated_nufft_support.h"

namespace fourtune {
namespace {

using test::emulated;
using test::status_of;
using Complexes = std::vector<std::complex<double>>;

constexpr std::int64_t kPoints = 40, kTargets = 30, kBatch = 3;

Options on(const std::string& backend) {
  Options options = emulated("");
  options.backend = backend;
  options.threads = 1;
  return options;
}

// x, y, z, s, t, u of the whole batch, one transform after the other.
struct Coordinates {
  std::array<std::vector<double>, 6> values;
  Coordinates() {
    for (std::size_t d = 0; d < 6; ++d)
      for (std::int64_t i = 0; i < kBatch * (d < 3 ? kPoints : kTargets); ++i)
        values[d].push_back(3 * std::sin(static_cast<double>(i * i) + static_cast<double>(d)));
  }
  Points of(const Problem& problem, std::int64_t transform) const {
    const auto at = [&](int d) -> const void* {
      const bool target = d >= 3;
      if (d % 3 >= problem.dim || (target && problem.type != 3)) return nullptr;
      return values[static_cast<std::size_t>(d)].data() + transform * (target ? kTargets : kPoints);
    };
    return {kPoints, at(0), at(1), at(2), problem.type == 3 ? kTargets : 0, at(3), at(4), at(5)};
  }
};

Complexes some_values(std::int64_t count, double phase) {
  Complexes values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(std::polar(1.0, phase + static_cast<double>(i * i % 17)));
  return values;
}

double difference(const Complexes& a, const Complexes& b) {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) error += std::norm(a[i] - b[i]), norm += std::norm(b[i]);
  return std::sqrt(error / norm);
}

class DistinctPoints : public testing::TestWithParam<const char*> {};

TEST_P(DistinctPoints, EveryTransformOfABatchIsThatOfItsOwnPoints) {
  for (const char* what : {"type=1,n=9x8", "type=2,n=6x5x4", "type=1,n=20", "type=3,dim=2"}) {
    const std::string token = std::string("nufft:") + what + ",prec=f64,tol=1e-6";
    Options options = on(GetParam());
    options.distinct_points = true;
    Transform all(token + ",batch=3", options);
    const Coordinates coordinates;
    all.set_points(coordinates.of(all.problem(), 0));
    const std::int64_t modes =
        all.problem().type == 3 ? kTargets : all.problem().n[0] * all.problem().n[1] * all.problem().n[2];
    for (const bool adjoint : {false, true}) {
      Complexes values = some_values(kBatch * kPoints, 1), spectrum = some_values(kBatch * modes, 2);
      Complexes one_values = values, one_spectrum = spectrum;
      adjoint ? all.execute_adjoint(values.data(), spectrum.data()) : all.execute(values.data(), spectrum.data());
      for (std::int64_t b = 0; b < kBatch; ++b) {
        Transform one(token, on(GetParam()));
        one.set_points(coordinates.of(one.problem(), b));
        auto *first = one_values.data() + b * kPoints, *second = one_spectrum.data() + b * modes;
        adjoint ? one.execute_adjoint(first, second) : one.execute(first, second);
      }
      EXPECT_LE(difference(values, one_values), 1e-12) << what << " adjoint " << adjoint;
      EXPECT_LE(difference(spectrum, one_spectrum), 1e-12) << what << " adjoint " << adjoint;
    }
  }
}

TEST_P(DistinctPoints, ABadPointIsNamedWithItsTransform) {
  Coordinates coordinates;
  coordinates.values[1][2 * kPoints + 7] = std::numeric_limits<double>::quiet_NaN();
  Options options = on(GetParam());
  options.distinct_points = true;
  Transform all("nufft:type=1,n=9x8,prec=f64,tol=1e-6,batch=3", options);
  std::string message;
  EXPECT_EQ(status_of([&] { all.set_points(coordinates.of(all.problem(), 0)); }, &message), Status::invalid_point);
  for (const char* words : {"transform 2 of the batch", "7", "y"})
    EXPECT_NE(message.find(words), std::string::npos) << message;
  EXPECT_EQ(status_of([&] { Transform("fft:type=c2c,n=8,prec=f32,batch=2", options); }), Status::invalid_option);
}

INSTANTIATE_TEST_SUITE_P(Backends, DistinctPoints, testing::Values("emulated", "cpu"));

TEST(DistinctPointsOnAGpu, TransformsShareGridsAndCountThemOnce) {
  const Problem problem = parse_problem("nufft:type=1,n=64x64,m=40,prec=f64,tol=1e-6");
  const Coordinates coordinates;
  const auto held = [&](const std::string& token, bool distinct) {
    Options options = on("emulated");
    options.distinct_points = distinct;
    Transform transform(token, options);
    transform.set_points(coordinates.of(problem, 0));
    return transform.memory().held;
  };
  const std::string one = to_token(problem);
  const std::int64_t grid = 64 * 64 * 16, single = held(one, false), three = held(one + ",batch=3", true);
  EXPECT_GT(single, grid);
  EXPECT_GT(three, single);
  EXPECT_LT(three, single + grid) << "the grid is there more than once";
}

// ---- bounds ----

Bounds bounds_of(double low, double high) {
  Bounds bounds;
  bounds.low.fill(low);
  bounds.high.fill(high);
  return bounds;
}

TEST(Type3Bounds, PointsWithinThemGiveTheSameSumsWhetherLookedAtOrTrusted) {
  const Coordinates coordinates;
  const std::string token = "nufft:type=3,dim=2,prec=f64,tol=1e-6";
  Transform plain(token, on("emulated"));
  plain.set_points(coordinates.of(plain.problem(), 0));
  Complexes values = some_values(kPoints, 1), expected(kTargets);
  plain.execute(values.data(), expected.data());
  for (const bool trust : {false, true}) {
    Options options = on("emulated");
    options.trust_points = trust;
    Transform bounded(token, options);
    bounded.set_bounds(bounds_of(-3, 3.5));
    bounded.set_points(coordinates.of(bounded.problem(), 0));
    Complexes found(kTargets);
    bounded.execute(values.data(), found.data());
    EXPECT_LE(difference(found, expected), 3e-6) << trust;
  }
  Transform on_cpu(token, on("cpu"));
  on_cpu.set_bounds(bounds_of(-3, 3.5));
  on_cpu.set_points(coordinates.of(on_cpu.problem(), 0));
  Complexes found(kTargets);
  on_cpu.execute(values.data(), found.data());
  EXPECT_LE(difference(found, expected), 3e-6);
}

TEST(DistinctPoints, StagesAreThoseOfAllTransformsHoweverOftenOneAsks) {
  const runtime::emulated::EmulatedBackend backend(runtime::gpu::library_programs());
  Problem problem = parse_problem("nufft:type=1,n=9x8,m=40,prec=f64,tol=1e-6,batch=3");
  runtime::ExecutorOptions options;
  options.time_stages = options.distinct_points = true;
  Problem one = problem;
  one.batch = 1;
  const auto executor = backend.bind(problem, generator::default_plan(one, backend.traits()), options);
  const Coordinates coordinates;
  executor->set_points(coordinates.of(problem, 0));
  Complexes values = some_values(kBatch * kPoints, 1), spectrum(kBatch * 72);
  executor->execute(values.data(), spectrum.data(), false);
  std::vector<std::pair<std::string, double>> first, again;
  for (const StageTime& stage : executor->stage_times()) first.emplace_back(stage.stage, stage.seconds);
  for (const StageTime& stage : executor->stage_times()) again.emplace_back(stage.stage, stage.seconds);
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(first[0].first, "sort");
  EXPECT_EQ(first[1].first, "spread");
  EXPECT_EQ(first[2].first, "fft");
  EXPECT_EQ(again, first);
}

TEST(Type3Bounds, OtherPointsInThemNeedNoOtherKernels) {
  const runtime::emulated::EmulatedBackend backend(runtime::gpu::library_programs());
  const Problem problem = parse_problem("nufft:type=3,dim=1,m=40,k=30,prec=f64,tol=1e-6");
  const auto plan = generator::default_plan(problem, backend.traits());
  const auto executor = backend.bind(problem, plan, {});
  executor->set_bounds(bounds_of(-4, 4));
  const Coordinates coordinates;
  executor->set_points(coordinates.of(problem, 0));
  const std::string fine = generator::to_text(executor->plan(), problem);
  executor->set_points(
      {kPoints, coordinates.values[1].data() + 20, nullptr, nullptr, kTargets, coordinates.values[4].data() + 20});
  EXPECT_EQ(generator::to_text(executor->plan(), problem), fine);
}

TEST(Type3Bounds, PointsOutsideAndBoundsThatAreNoneAreRefused) {
  const Coordinates coordinates;
  Transform transform("nufft:type=3,dim=1,prec=f64,tol=1e-6", on("emulated"));
  std::string message;
  EXPECT_EQ(status_of([&] { transform.set_bounds(bounds_of(1, -1)); }, &message), Status::invalid_argument);
  EXPECT_NE(message.find("x from 1 to -1"), std::string::npos) << message;
  transform.set_bounds(bounds_of(-1, 1));
  EXPECT_EQ(status_of([&] { transform.set_points(coordinates.of(transform.problem(), 0)); }, &message),
            Status::contradiction);
  EXPECT_NE(message.find("set_bounds says -1 to 1"), std::string::npos) << message;
  Transform other("nufft:type=1,n=8,prec=f64,tol=1e-6", on("emulated"));
  EXPECT_EQ(status_of([&] { other.set_bounds(bounds_of(-1, 1)); }), Status::invalid_argument);
}

}  // namespace
}  // namespace fourtune
