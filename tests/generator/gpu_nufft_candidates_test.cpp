// Plans of nonuniform transforms on GPUs: every listed plan has kernels and a text, and the model ranks plans
// correctly.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/known_devices.h"
#include "base/layout.h"
#include "fourtune/status.h"
#include "generator/candidates.h"
#include "generator/planner/gpu_nufft/choices.h"
#include "generator/planner/gpu_nufft/gridding.h"
#include "generator/window/polynomial.h"

namespace fourtune::generator {
namespace {

DeviceTraits h200() {
  DeviceTraits traits = *known_device("h200");
  traits.backend = "cuda";
  return traits;
}

nufft::Shape shape_of(const Problem& problem, const Plan& plan, const DeviceTraits& device = h200()) {
  return nufft::shape_on(device, problem, plan.window.fine, plan.window.width);
}

// The kernels of one plan for m points: sort, spreading and interpolation.
GpuProgram program_of(const Plan& plan, const Problem& problem, const nufft::Shape& shape) {
  const Window window(plan.window.kind, plan.window.width, plan.window.sigma);
  const PiecewisePolynomial polynomial = kernel_polynomial(window, epsilon(problem.precision));
  const nufft::StageKernels spread(shape, plan.gpu().points.spread_with, polynomial),
      interpolate(shape, plan.gpu().points.interp_with, polynomial);
  nufft::Arrays arrays;
  GpuProgram program;
  const std::int64_t m = problem.m.value();
  spread.emit_sort(program, arrays, m, {}, spread.large_bytes(m, m));
  spread.emit_spread(program, arrays, m, 1, plan.gpu().points.spread);
  interpolate.emit_interpolate(program, arrays, m, 1, plan.gpu().points.interp);
  return program;
}

TEST(GpuNufftCandidates, EveryDevicesKernelsFitItsBlocks) {
  for (const std::string& name : known_device_names()) {
    const DeviceTraits device = *known_device(name);
    for (const char* token :
         {"nufft:type=1,n=128x128x128,m=16000000,prec=f32,tol=1e-5",
          "nufft:type=2,n=100x80x60,m=2000000,prec=f64,tol=1e-9",
          "nufft:type=2,n=1000x1000,m=3000000,prec=f32,tol=1e-3", "nufft:type=1,n=1000000,m=2000000,prec=f64,tol=1e-12",
          "nufft:type=1,n=20000x20000,m=50000000,prec=f32,tol=1e-4"}) {  // very many bins
      const Problem problem = parse_problem(token);
      const Space space = candidates(problem, device);
      std::vector<Plan> plans{default_plan(problem, device)};
      for (std::size_t i = 0; i < space.candidates.size(); i += 1 + space.candidates.size() / 12)
        plans.push_back(space.candidates[i].plan);
      EXPECT_GT(plans.size(), 6u) << name << " " << token;
      for (const Plan& plan : plans) {
        const GpuProgram program = program_of(plan, problem, shape_of(problem, plan, device));
        for (const KernelSource& kernel : program.kernels)
          EXPECT_LE(static_cast<std::int64_t>(kernel.shared_bytes), device.shared_per_block)
              << name << ": " << kernel.entry << " of " << to_text(plan, problem);
      }
    }
  }
}

TEST(GpuNufftCandidates, AllHaveKernelsAndTextsThatParseBack) {
  for (const char* token :
       {"nufft:type=1,n=64x64x64,m=2000000,prec=f32,tol=1e-5", "nufft:type=2,n=100x80x60,m=30000,prec=f64,tol=1e-9",
        "nufft:type=2,n=512x512,m=100000,prec=f32,tol=1e-3,batch=6", "nufft:type=1,n=100000,m=100000,prec=f64,tol=1e-6",
        "nufft:type=3,dim=2,m=100000,k=90000,prec=f32,tol=1e-4"}) {
    const Problem problem = parse_problem(token);
    const Space space = candidates(problem, h200());
    EXPECT_GT(space.candidates.size(), 100u) << token;
    std::size_t checked = 0;
    for (std::size_t i = 0; i < space.candidates.size(); i += 1 + space.candidates.size() / 150, ++checked) {
      const Candidate& candidate = space.candidates[i];
      const std::string text = to_text(candidate.plan, problem);
      EXPECT_EQ(to_text(parse_plan(text, problem), problem), text);
      EXPECT_EQ(candidate.coordinates.size(), space.axes.size());
      EXPECT_GT(candidate.estimate, 0) << text;
      EXPECT_LE(floor_seconds(candidate.plan, problem, h200()), candidate.estimate) << text;
      if (problem.type != 3) {
        EXPECT_EQ(gpu_nufft::why_not(candidate.plan.gpu().points, shape_of(problem, candidate.plan)), "") << text;
      }
    }
    EXPECT_GT(checked, 50u);
    const Plan usual = default_plan(problem, h200());
    EXPECT_EQ(to_text(parse_plan(to_text(usual, problem), problem), problem), to_text(usual, problem));
    const auto best = std::min_element(space.candidates.begin(), space.candidates.end(),
                                       [](const auto& a, const auto& b) { return a.estimate < b.estimate; });
    EXPECT_LE(estimate(usual, problem, h200()).execute, 4 * best->estimate) << token;
  }
}

TEST(GpuNufftCandidates, TheModelPointsTheRightWay) {
  const auto cost = [](const char* token) {
    const Problem problem = parse_problem(token);
    return estimate(default_plan(problem, h200()), problem, h200());
  };
  const Cost few = cost("nufft:type=1,n=64x64x64,m=100000,prec=f32,tol=1e-5"),
             many = cost("nufft:type=1,n=64x64x64,m=10000000,prec=f32,tol=1e-5"),
             exact = cost("nufft:type=1,n=64x64x64,m=10000000,prec=f64,tol=1e-12"),
             batch = cost("nufft:type=1,n=64x64x64,m=10000000,prec=f32,tol=1e-5,batch=4");
  EXPECT_LT(few.execute, many.execute);
  EXPECT_LT(few.set_points, many.set_points);
  EXPECT_LT(few.bytes, many.bytes);
  EXPECT_LT(many.execute, exact.execute);
  EXPECT_LT(many.execute, batch.execute);
}

TEST(GpuNufftCandidates, TilesServeManyPointsAndThePlainKernelsFewInTwoDimensions) {
  const auto family = [](const char* token) { return default_plan(parse_problem(token), h200()).gpu().points.spread; };
  EXPECT_EQ(family("nufft:type=1,n=512x512,m=1000000,prec=f32,tol=1e-5"), nufft::Spread::window);
  EXPECT_NE(family("nufft:type=1,n=512x512,m=5000,prec=f32,tol=1e-5"), nufft::Spread::window);
}

// Half-warps whose lanes keep one cell of a row add dense points fastest (H100: 19 ps for w = 3, where tiles of 32
// cells take 26 and padded bins 27).
TEST(GpuNufftCandidates, RowsOfRegisterWindowsAreNarrowForDensePoints) {
  const auto points = [](const char* token) { return default_plan(parse_problem(token), h200()).gpu().points; };
  for (const char* token : {"nufft:type=1,n=1024x1024,m=4194304,prec=f32,tol=1e-2",
                            "nufft:type=1,n=405x128,m=1002090,prec=f32,tol=2.5e-2,batch=16",
                            "nufft:type=1,n=552x552,m=3043906,prec=f64,tol=2.2e-12"}) {
    const Problem problem = parse_problem(token);
    const Plan plan = default_plan(problem, h200());
    EXPECT_EQ(plan.gpu().points.spread, nufft::Spread::window) << token;
    EXPECT_EQ(plan.gpu().points.spread_with.bin[0], 17 - plan.window.width) << token;
    EXPECT_EQ(plan.gpu().points.spread_with.group, 1) << token;
  }
  const GpuPointsChoice sparse = points("nufft:type=1,n=941x800,m=427686,prec=f32,tol=1.6e-5,batch=12");
  EXPECT_EQ(sparse.spread, nufft::Spread::window);
}

// Values that points of several transforms write go to so many places that sharing weights does not pay in 2D.
TEST(GpuNufftCandidates, InterpolationInTwoDimensionsTakesTransformsOneByOne) {
  for (const char* token : {"nufft:type=2,n=512x512,m=4194304,prec=f32,tol=1e-4,batch=32",
                            "nufft:type=2,n=1093x375,m=1091034,prec=f32,tol=1e-4,batch=12",
                            "nufft:type=2,n=1024x294,m=317126,prec=f64,tol=1.4e-4,batch=12,points=radial"})
    EXPECT_EQ(default_plan(parse_problem(token), h200()).gpu().points.interp_with.group, 1) << token;
}

TEST(GpuNufftCandidates, DefaultsTakeTheLeastGridThatTheirWindowNeeds) {
  for (const char* token : {"nufft:type=1,n=256x256x176,m=6800000,prec=f32,tol=1e-3,points=radial",
                            "nufft:type=2,n=256x256x176,m=6800000,prec=f32,tol=1e-3,batch=12,points=radial",
                            "nufft:type=1,n=244x244x320,m=195000,prec=f32,tol=1e-6",
                            "nufft:type=1,n=192x192x128,m=9920000,prec=f64,tol=1e-7",
                            "nufft:type=2,n=1000x1000,m=1000000,prec=f64,tol=1e-9"}) {
    const Problem problem = parse_problem(token);
    const WindowChoice window = default_plan(problem, h200()).window;
    EXPECT_LE(predicted_error(window.kind, window.width, window.sigma, problem.dim), problem.tol) << token;
    for (int d = 0; d < problem.dim; ++d)
      EXPECT_GE(static_cast<double>(window.fine[static_cast<std::size_t>(d)]),
                window.sigma * static_cast<double>(problem.n[static_cast<std::size_t>(d)]) - 1e-6);
  }
  // 1.3125 suffices where 1.375 needs an equally wide window: 757 us against 852 (H200).
  const Problem radial = parse_problem("nufft:type=1,n=256x256x176,m=6800000,prec=f32,tol=1e-3,points=radial");
  EXPECT_EQ(default_plan(radial, h200()).window.fine, (std::array<std::int64_t, 3>{336, 336, 240}));
}

TEST(GpuNufftCandidates, CrowdedPointsTakeSmallerTilesAndSlices) {
  const auto points = [](const std::string& more) {
    return default_plan(parse_problem("nufft:" + more), h200()).gpu().points;
  };
  const std::string flat = "type=2,n=2048x2048,m=16777216,prec=f32,tol=1e-2";
  EXPECT_GT(points(flat).interp_with.slice, 1 << 20);
  EXPECT_EQ(points(flat + ",points=cluster").interp_with.slice, 1 << 20);
  const std::string few = "type=1,n=256x256x176,m=6800000,prec=f32,tol=1e-3";
  EXPECT_GE(points(few).spread_with.bin[0], points(few + ",points=radial").spread_with.bin[0]);
}

TEST(GpuNufftCandidates, BatchesShareWeightsInGroupsThatTheirChunksHold) {
  const auto largest = [](const Plan& plan) {
    return std::max(plan.gpu().points.spread_with.group, plan.gpu().points.interp_with.group);
  };
  for (const char* token : {"nufft:type=2,n=96x96x76,m=400000,prec=f32,tol=1e-3,batch=32",
                            "nufft:type=2,n=64x64x64,m=200000,prec=f32,tol=1e-3,batch=9"}) {
    const Problem problem = parse_problem(token);
    const Plan usual = default_plan(problem, h200());
    EXPECT_GT(largest(usual), 1) << token;
    std::size_t grouped = 0;
    for (const Candidate& candidate : candidates(problem, h200()).candidates) {
      const Plan& plan = candidate.plan;
      if (largest(plan) == 1) continue;
      ++grouped;
      EXPECT_LE(largest(plan), plan.chunk);
      EXPECT_NE(plan.gpu().fft.family, GpuFftFamily::cufft);
    }
    EXPECT_GT(grouped, 10u) << token;
    Problem one = problem;
    one.batch = 1;
    EXPECT_EQ(largest(adapt(usual, one, h200())), 1);
    EXPECT_EQ(largest(default_plan(one, h200())), 1);
    const auto lead = problem.type == 1 ? gpu_nufft::Lead::spread : gpu_nufft::Lead::interpolate;
    const auto fixed = gpu_nufft::deterministic(usual.gpu().points, shape_of(problem, usual), lead, false);
    EXPECT_EQ(fixed.spread_with.group, 1);
    EXPECT_FALSE(fixed.spread_with.twice);
    EXPECT_EQ(gpu_nufft::why_not(fixed, shape_of(problem, usual)), "");
  }
}

TEST(GpuNufftCandidates, GroupsDoNotAskForMoreMemoryThanThereIs) {
  const Problem problem = parse_problem("nufft:type=2,n=96x96x76,m=400000,prec=f32,tol=1e-3,batch=32");
  DeviceTraits small = h200();
  const int usual = default_plan(problem, small).gpu().points.interp_with.group;
  EXPECT_GT(usual, 1);
  small.memory_bytes = 60'000'000;
  const Plan plan = default_plan(problem, small);
  EXPECT_LE(plan.gpu().points.interp_with.group, std::min(usual, plan.chunk));
  EXPECT_LE(estimate(plan, problem, small).bytes, 48e6);
}

// A batch holds no more grids than fill the device; large grids go one by one, without groups that would need several.
TEST(GpuNufftCandidates, ChunksHoldFewGrids) {
  const auto plan_of = [](const std::string& token) { return default_plan(parse_problem("nufft:" + token), h200()); };
  for (const std::string token : {"type=2,n=256x256x176,m=6800000,prec=f32,tol=1e-3,batch=32",
                                  "type=1,n=128x128x128,m=177374,prec=f64,tol=1e-8,batch=4"})
    EXPECT_EQ(plan_of(token).chunk, 1) << token;
  for (const std::string token : {"type=2,n=81x81x81,m=30612,prec=f64,tol=1e-5,batch=16",
                                  "type=1,n=540x540,m=170000,prec=f32,tol=1e-6,batch=30"}) {
    const Problem problem = parse_problem("nufft:" + token);
    const Plan plan = default_plan(problem, h200());
    const double bytes = static_cast<double>(element_count(plan.window.fine) * 2 * real_bytes(problem.precision));
    EXPECT_GE(plan.chunk * bytes, 12e6) << token;
    EXPECT_LE(plan.chunk * bytes, 80e6) << token;
    const std::int64_t chunks = (problem.batch + plan.chunk - 1) / plan.chunk;
    EXPECT_EQ(plan.chunk, (problem.batch + chunks - 1) / chunks) << token << ": as equal as can be";
  }
  EXPECT_EQ(plan_of("type=1,n=32x32,m=1000,prec=f32,tol=1e-3,batch=32").chunk, 32);
}

// Measured on an H100 (docs/design/gpu-nufft.md): tiles where clustered points would meet in few cells.
TEST(GpuNufftCandidates, ClustersTakeTiles) {
  const auto points = [](const std::string& more) {
    return default_plan(parse_problem("nufft:" + more), h200()).gpu().points;
  };
  const std::string cluster = "type=1,n=1400x1024,m=55173,prec=f64,tol=2.3e-2,points=cluster";
  EXPECT_NE(points(cluster).spread, nufft::Spread::points);
}

// Every family that a default may take has prices in both precisions that it runs in, and more work costs more.
TEST(GpuNufftPrices, CoverTheFamiliesOfDefaultsAndGrowWithTheWork) {
  using namespace gpu_nufft;
  for (int dim = 1; dim <= 3; ++dim)
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      Gridding g{dim, 6, precision, {4096, 1, 1}, 20000};
      if (dim > 1) g.fine = {128, 128, dim == 3 ? 64.0 : 1.0};
      Gridding more = g;
      more.points *= 100;
      const nufft::Shape shape = g.shape();
      std::size_t known = 0;
      for (const Lead lead : {Lead::spread, Lead::interpolate})
        for (const GpuPointsChoice& choice : points_choices(shape, lead, 0.1)) {
          const bool spreads = lead == Lead::spread;
          const double few = spreads ? spread_seconds(g, choice.spread, choice.spread_with)
                                     : interpolate_seconds(g, choice.interp, choice.interp_with),
                       many = spreads ? spread_seconds(more, choice.spread, choice.spread_with)
                                      : interpolate_seconds(more, choice.interp, choice.interp_with);
          if (!is_usual(choice, shape, lead, 1)) continue;
          ++known;
          EXPECT_GT(few, 0) << dim;
          EXPECT_LT(few, 1) << dim;
          EXPECT_GT(many, 1.5 * few) << dim;
        }
      EXPECT_GE(known, 3u) << dim;
    }
  const KernelKind none{Stage::spread, static_cast<int>(nufft::Spread::tf32x3), 1};
  EXPECT_EQ(prices_of(none), nullptr);
  EXPECT_GT(seconds_of({none, {}}), 1000);
}

TEST(GpuNufftPrices, TilesOfRegisterWindowsAreRankedAsMeasured) {
  const auto seconds = [](const nufft::Shape& shape, std::array<int, 3> bin, int warps, int cap, double points,
                          double share) {
    nufft::Parameters with = default_parameters(shape, nufft::Spread::window);
    with.bin = bin, with.warps = warps, with.cap = cap, with.run = 1;
    return gpu_nufft::spread_seconds(gpu_nufft::gridding_of(shape, points, share), nufft::Spread::window, with);
  };
  nufft::Shape shape;
  shape.precision = Precision::f64;
  shape.fine = {384, 384, 256};
  shape.width = 8;  // 3.3, 3.6, 4.1 and 7.6 ms; 4.5 with all lanes of four warps (H200)
  const auto twice = [&](std::array<int, 3> bin, int warps) { return seconds(shape, bin, warps, 512, 9.92e6, 1); };
  EXPECT_LT(twice({9, 5, 1}, 2), twice({6, 6, 1}, 2));
  EXPECT_LT(twice({6, 6, 1}, 2), twice({4, 4, 1}, 2));
  EXPECT_LT(twice({4, 4, 1}, 2), twice({3, 2, 1}, 1));
  EXPECT_LT(twice({9, 5, 1}, 2), twice({9, 9, 1}, 4));
  shape.fine = {180, 180, 180};  // more points per cell: small tiles, 2.0 and 2.5 ms
  EXPECT_LT(seconds(shape, {3, 2, 1}, 1, 512, 1e7, 1), seconds(shape, {4, 4, 1}, 2, 512, 1e7, 1));
  shape.precision = Precision::f32;
  shape.fine = {336, 336, 240};
  shape.width = 5;  // a ball of points: 0.45 and 0.58 ms
  EXPECT_LT(seconds(shape, {4, 4, 1}, 1, 256, 6.8e6, 0.5), seconds(shape, {12, 4, 1}, 1, 256, 6.8e6, 0.5));
  EXPECT_GT(seconds(shape, {4, 4, 1}, 1, 256, 6.8e5, 1), seconds(shape, {12, 4, 1}, 1, 256, 6.8e5, 1));
  // A plane of a tile is written once, or again in every subproblem.
  EXPECT_GT(seconds(shape, {4, 4, 1}, 1, 64, 6.8e5, 1), seconds(shape, {4, 4, 1}, 1, 512, 6.8e5, 1));
}

// Where rounding refuses the least grid of a window, the next one that it allows is tried too.
TEST(GpuNufftCandidates, LeastGridsLeaveRoomForRounding) {
  const Problem problem = parse_problem("nufft:type=1,n=941x800,m=427686,prec=f32,tol=1.6e-5,batch=12");
  const Plan plan = default_plan(problem, h200());
  EXPECT_EQ(plan.window.width, 8);
  EXPECT_LT(plan.window.fine[0], 1250);
}

// A window of nine taps fits the tile of 12 x 12 cells, whose products take half the time of those of 16 x 16; one of
// eleven would leave it a bin of two cells (H200: 195 and 275 us).
TEST(GpuNufftCandidates, MatrixUnitsTakeTheTileThatCostsLeast) {
  const Problem problem = parse_problem("nufft:type=2,n=128x128,m=284372,prec=f64,tol=1.3e-8,batch=16,points=radial");
  const Plan plan = default_plan(problem, h200());
  EXPECT_EQ(plan.gpu().points.interp, nufft::Interpolate::matrix);
  EXPECT_EQ(plan.window.width, 9);
  EXPECT_EQ(plan.gpu().points.interp_with.bin, (std::array{4, 4, 1}));
  for (int width = 2; width <= 16; ++width) {
    nufft::Shape shape = shape_of(problem, plan);
    shape.width = width;
    for (const GpuPointsChoice& choice : gpu_nufft::points_choices(shape, gpu_nufft::Lead::interpolate, 2)) {
      if (choice.interp == nufft::Interpolate::matrix) {
        EXPECT_GE(choice.interp_with.bin[0], 3) << width;
      }
    }
  }
}

// Where few points leave most of the device idle, many padded bins are done before a few columns of register windows.
TEST(GpuNufftCandidates, FewPointsTakeManySmallBins) {
  const auto points = [](const std::string& more) {
    return default_plan(parse_problem("nufft:" + more), h200()).gpu().points;
  };
  EXPECT_EQ(points("type=1,n=16x32x64,m=1928,prec=f32,tol=8e-4").spread, nufft::Spread::tile_owned);
  EXPECT_EQ(points("type=1,n=16x32x64,m=1928,prec=f32,tol=8e-4,batch=32").spread, nufft::Spread::window);
  EXPECT_EQ(points("type=2,n=64x13x30,m=793,prec=f64,tol=8.7e-7").interp, nufft::Interpolate::points);
}

TEST(GpuNufftCandidates, PlansOfANeighbourAreMadeToFit) {
  const Problem from = parse_problem("nufft:type=1,n=64x64x64,m=2000000,prec=f32,tol=1e-5");
  const Problem to = parse_problem("nufft:type=1,n=50x40x30,m=100000,prec=f32,tol=1e-3");
  const Plan plan = default_plan(from, h200()), fitted = adapt(plan, to, h200());
  EXPECT_EQ(fitted.gpu().points.spread, plan.gpu().points.spread);
  EXPECT_LT(fitted.window.width, plan.window.width);
  EXPECT_GE(fitted.window.fine[0], 50);
  EXPECT_EQ(gpu_nufft::why_not(fitted.gpu().points, shape_of(to, fitted)), "");
  DeviceTraits emulated = h200();
  emulated.backend = "emulated";
  EXPECT_EQ(adapt(plan, from, emulated).backend, "emulated");
  EXPECT_THROW(adapt(default_plan(from, cpu_traits()), from, h200()), Error);
}

TEST(GpuNufftCandidates, DeterministicChoicesDoNotUseRegisterWindows) {
  for (const char* token :
       {"nufft:type=1,n=64x64x64,m=2000000,prec=f32,tol=1e-5", "nufft:type=2,n=64x64x64,m=2000000,prec=f64,tol=1e-9"}) {
    const Problem problem = parse_problem(token);
    const Space space = candidates(problem, h200());
    const auto windowed = std::find_if(space.candidates.begin(), space.candidates.end(), [](const Candidate& c) {
      return c.plan.gpu().points.spread == nufft::Spread::window;
    });
    ASSERT_NE(windowed, space.candidates.end()) << token;
    const Plan& plan = windowed->plan;
    const auto lead = problem.type == 1 ? gpu_nufft::Lead::spread : gpu_nufft::Lead::interpolate;
    const nufft::Shape shape = shape_of(problem, plan);
    // Default choices prove nothing here, so a register window, in groups, with runs, is given explicitly.
    GpuPointsChoice choice =
        lead == gpu_nufft::Lead::spread
            ? plan.gpu().points
            : gpu_nufft::with_partner_of_interpolate(shape, nufft::Interpolate::window,
                                                     default_parameters(shape, nufft::Interpolate::window));
    ASSERT_EQ(choice.spread, nufft::Spread::window) << token;
    choice.spread_with.run = 2, choice.spread_with.group = 4;
    const auto fixed = gpu_nufft::deterministic(choice, shape, lead, true);
    EXPECT_NE(fixed.spread, nufft::Spread::window);
    EXPECT_TRUE(fixed.spread_with.deterministic);
    EXPECT_TRUE(fixed.spread_with.twice);
    EXPECT_EQ(fixed.spread_with.run, 1);
    EXPECT_EQ(fixed.spread_with.group, 1);
    EXPECT_EQ(gpu_nufft::why_not(fixed, shape), "");
    if (lead == gpu_nufft::Lead::spread) continue;
    EXPECT_EQ(fixed.interp, choice.interp) << "what leads stays";
    EXPECT_EQ(fixed.interp_with, choice.interp_with);
    EXPECT_EQ(fixed.spread_with.bin, choice.interp_with.bin) << "and its sort serves both";
  }
  // A problem that needs no other family keeps its plan's family.
  const Problem flat = parse_problem("nufft:type=1,n=512x512,m=5000,prec=f32,tol=1e-5");
  const nufft::Shape shape = shape_of(flat, default_plan(flat, h200()));
  const auto points =
      gpu_nufft::with_partner_of_spread(shape, nufft::Spread::points, default_parameters(shape, nufft::Spread::points));
  const auto fixed = gpu_nufft::deterministic(points, shape, gpu_nufft::Lead::spread, false);
  EXPECT_EQ(fixed.spread, nufft::Spread::points);
  EXPECT_TRUE(fixed.spread_with.deterministic);
}

// Radial points crowd coarse bins of equal numbers of bins. Points of which nothing is known, too many of them, and
// those whose staging would take more than the grid's memory keep the two levels.
TEST(GpuNufftCandidates, PointsThatCrowdBinsAreSortedInOneLevel) {
  const DeviceTraits device = *known_device("h100");
  const auto placement = [&](const std::string& token) {
    const Plan plan = default_plan(parse_problem(token), device);
    EXPECT_EQ(plan.gpu().points.spread_with.placement, plan.gpu().points.interp_with.placement) << token;
    return plan.gpu().points.spread_with.placement;
  };
  using enum nufft::Placement;
  const std::string many = "nufft:type=2,n=125x112x128,m=1136111,prec=f64,tol=1.2e-5";
  EXPECT_EQ(placement(many), two_level);
  for (const char* points : {"radial", "spiral", "ewald", "stack"})
    EXPECT_EQ(placement(many + ",points=" + points), staged) << points;
  for (const char* points : {"recorded", "cluster"}) EXPECT_EQ(placement(many + ",points=" + points), two_level);
  EXPECT_EQ(placement("nufft:type=2,n=125x112x128,m=900000,prec=f64,tol=1.2e-5,points=cluster"), staged);
  EXPECT_EQ(placement("nufft:type=2,n=160x160x160,m=400000,prec=f64,tol=1e-6,points=radial"), scatter);
  EXPECT_EQ(placement("nufft:type=2,n=160x160x160,m=400000,prec=f64,tol=1e-6"), two_level);
  EXPECT_EQ(placement("nufft:type=1,n=256x256x256,m=20000000,prec=f32,tol=1e-4,points=radial"), two_level);
  EXPECT_EQ(placement("nufft:type=1,n=32x32x32,m=2400000,prec=f64,tol=1e-9,points=radial"), two_level);
}

// The limits are those of 132 multiprocessors: for others they are in proportion to what fills the device.
TEST(GpuNufftCandidates, LimitsOfCrowdedPointsFollowTheMultiprocessors) {
  DeviceTraits device = *known_device("h100");
  const auto placement = [&](int multiprocessors, const char* m, const char* points) {
    device.multiprocessors = multiprocessors;
    const Problem problem =
        parse_problem(std::string("nufft:type=2,n=125x112x128,m=") + m + ",prec=f64,tol=1.2e-5,points=" + points);
    return default_plan(problem, device).gpu().points.spread_with.placement;
  };
  using enum nufft::Placement;
  EXPECT_EQ(placement(132, "900000", "cluster"), staged);
  EXPECT_EQ(placement(66, "900000", "cluster"), two_level) << "more than half a million";
  EXPECT_EQ(placement(132, "1136111", "radial"), staged);
  EXPECT_EQ(placement(264, "1136111", "radial"), scatter) << "fewer than 1.2 million";
  EXPECT_EQ(placement(33, "1136111", "radial"), two_level) << "more than a million";
}

}  // namespace
}  // namespace fourtune::generator
