// Types 1 and 2 by pencils: on every grid of the ranks the right results, the bits of slabs on one rank, no more bytes
// than docs/design/distributed.md says, and the same status everywhere.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <tuple>

#include "tests/distributed/count_bytes.h"
#include "tests/distributed/geometry.h"
#include "tests/distributed/grids.h"
#include "tests/distributed/support.h"

namespace fourtune::test {
namespace {

std::string by_pencils(const Grid& grid, const std::string& more = "") {
  return "ranks=pencils(" + grid_of(grid) + more + ")";
}

template <class T>
void expect_sums(const Whole<T>& whole, const std::vector<std::complex<double>>& right, const Way& way) {
  std::string explain;
  const auto result = result_of(whole, way, &explain);
  EXPECT_LE(error_of(result, right), allowed_error(whole.problem))
      << to_token(whole.problem) << (way.adjoint ? " adjoint " : " ") << explain;
}

template <class T>
void expect_sums(const std::string& token, const Way& way) {
  const Whole<T> whole = draw<T>(token, 1);
  static std::map<std::tuple<std::string, bool, ModeOrder>, std::vector<std::complex<double>>> known;
  auto& right = known[{token, way.adjoint, way.options.mode_order}];
  if (right.empty()) right = direct(whole, way.adjoint, way.options.mode_order);
  expect_sums(whole, right, way);
}
void expect_sums(const std::string& token, const Way& way) {
  token.find("prec=f32") != std::string::npos ? expect_sums<float>(token, way) : expect_sums<double>(token, way);
}

TEST(NufftPencils, EveryGridAgreesWithDirectSums) {
  int turn = 0;
  for (const char* token :
       {"nufft:type=1,n=12x17x24,m=700,prec=f32,tol=1e-5", "nufft:type=2,n=16x30x20,m=600,prec=f64,tol=1e-8",
        "nufft:type=1,n=9x40x18,m=500,prec=f64,tol=1e-9", "nufft:type=2,n=5x24x31,m=800,prec=f32,tol=1e-4"})
    for (const Grid& grid : grids())
      for (const bool adjoint : {false, true}) {
        const char* const balance = turn % 2 == 0 ? "" : ",balance=planes";
        Way way{forced(by_pencils(grid, balance)), MPI_COMM_WORLD, deal_in_turn(turn), adjoint};
        way.options.mode_order = turn % 3 == 0 ? ModeOrder::fft : ModeOrder::centred;
        way.options.threads = 1 + turn % 2;
        expect_sums(token, way);
        ++turn;
      }
}

TEST(NufftPencils, ChunksAndBatches) {
  int turn = 0;
  for (const char* chunks : {",chunks=1,cut=planes", ",chunks=3,cut=planes", ",chunks=4,cut=columns",
                             ",chunks=2,cut=batch", ",chunks=9,cut=planes", ",chunks=1,cut=batch"})
    for (const char* token : {"nufft:type=1,n=10x22x26,m=300,prec=f64,tol=1e-7,batch=3",
                              "nufft:type=2,n=11x20x18,m=300,prec=f32,tol=1e-4,batch=5"}) {
      const std::vector<Grid> all = grids();
      const Grid& grid = all[static_cast<std::size_t>(turn + turn / 2) % all.size()];
      expect_sums(token, Way{forced(by_pencils(grid, chunks)), MPI_COMM_WORLD, deal_in_turn(turn++), false});
    }
}

// Ranks without cells, without modes and without points.
TEST(NufftPencils, MoreRanksThanRowsOfAnything) {
  for (const Grid& grid : grids())
    for (const char* token :
         {"nufft:type=1,n=1x20x24,m=300,prec=f64,tol=1e-7", "nufft:type=2,n=3x8x8,m=200,prec=f32,tol=1e-3",
          "nufft:type=1,n=30x8x9,m=0,prec=f64,tol=1e-4", "nufft:type=2,n=2x4x60,m=100,prec=f64,tol=1e-2"})
      expect_sums(token, Way{forced(by_pencils(grid)), MPI_COMM_WORLD, Deal::even, false});
}

// What a draw may combine.
TEST(NufftPencils, DrawnProblems) {
  std::mt19937 engine(31);  // on every rank alike
  const auto below = [&](unsigned bound) { return static_cast<int>(engine() % bound); };
  const std::vector<Grid> all = grids();
  constexpr std::array kCuts{"planes", "columns", "batch"};
  for (int i = 0; i < 16; ++i) {
    std::string token = "nufft:type=" + std::to_string(1 + below(2)) + ",n=" + std::to_string(1 + below(20));
    for (int d = 0; d < 2; ++d) token += "x" + std::to_string(8 + below(30));
    token += ",m=" + std::to_string(below(300)) + (below(2) == 0 ? ",prec=f32,tol=1e-4" : ",prec=f64,tol=1e-9");
    token += ",batch=" + std::to_string(1 + below(3));
    const std::string more = std::string(below(2) == 0 ? ",balance=planes" : "") +
                             ",chunks=" + std::to_string(1 + below(6)) +
                             ",cut=" + kCuts[static_cast<std::size_t>(below(3))];
    const Grid& grid = all[static_cast<std::size_t>(below(static_cast<unsigned>(all.size())))];
    expect_sums(token, Way{forced(by_pencils(grid, more)), MPI_COMM_WORLD, deal_in_turn(below(3)), below(2) == 0});
  }
}

// All points in a few cells: most ranks get none, and balance moves the cuts.
TEST(NufftPencils, PointsInOneCorner) {
  for (const char* token :
       {"nufft:type=1,n=14x30x30,m=600,prec=f64,tol=1e-7", "nufft:type=2,n=14x30x30,m=600,prec=f64,tol=1e-7"}) {
    Whole<double> whole = draw<double>(token, 9);
    for (auto& x : whole.x)
      for (double& value : x) value = 0.02 * value - 0.1;
    const auto right = direct(whole, false, ModeOrder::centred);
    for (const Grid& grid : grids())
      for (const char* balance : {",balance=points", ",balance=planes"})
        expect_sums(whole, right, Way{forced(by_pencils(grid, balance)), MPI_COMM_WORLD, Deal::uneven, false});
  }
}

TEST(NufftPencils, PointsCanBeSetAgain) {
  const Options options = forced(by_pencils(grids().back()));
  EXPECT_LE(error_where_points_are_set_again("nufft:type=1,n=20x24x22,m=900,prec=f64,tol=1e-7", options), 1);
}

// Bits -------------------------------------------------------------------------------------------------------------

template <class T>
void expect_bits_of_slabs(const std::string& token) {
  const Whole<T> whole = draw<T>(token, 5);
  constexpr std::array kMore{"", ",chunks=3,cut=planes", ",chunks=2,cut=columns", ",chunks=2,cut=batch,balance=planes"};
  for (const bool adjoint : {false, true}) {
    SCOPED_TRACE(token + (adjoint ? " adjoint" : ""));
    std::string explain;
    const auto slabs = result_of(whole, Way{forced("ranks=slabs", true), MPI_COMM_SELF, Deal::even, adjoint}, &explain);
    EXPECT_NE(explain.find("ranks=slabs"), std::string::npos) << explain;
    const auto expect_same = [&](const Options& options, int turn) {
      const auto result = result_of(whole, Way{options, MPI_COMM_WORLD, deal_in_turn(turn), adjoint}, &explain);
      EXPECT_TRUE(same_bits(result, slabs)) << options.plan << ' ' << explain;
    };
    int turn = size_of(MPI_COMM_WORLD);
    for (const Grid& grid : grids()) {
      Options options = forced(by_pencils(grid, kMore[static_cast<std::size_t>(turn) % kMore.size()]), true);
      options.threads = turn % 2 == 0 ? 1 : 3;
      expect_same(options, turn++);
    }
    expect_same(reproducible(2), turn);  // slabs or, on more ranks than rows of tiles, pencils
  }
}

TEST(NufftPencils, HaveTheBitsOfSlabsOnOneRank) {
  expect_bits_of_slabs<float>("nufft:type=1,n=24x36x56,m=9000,prec=f32,tol=1e-5");
  expect_bits_of_slabs<double>("nufft:type=2,n=18x41x50,m=5000,prec=f64,tol=1e-7");
  expect_bits_of_slabs<double>("nufft:type=1,n=7x30x33,m=3000,prec=f64,tol=1e-10,batch=2");
  expect_bits_of_slabs<float>("nufft:type=2,n=40x12x10,m=4000,prec=f32,tol=1e-3,batch=3");
}

// Bytes ------------------------------------------------------------------------------------------------------------

template <class T>
void count_pencils(const std::string& token, bool deterministic, const std::string& chunks = "") {
  const Whole<T> whole = draw<T>(token, 7);
  const Problem& p = whole.problem;
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  const Range mine = dealt(Deal::even, *p.m, rank, ranks);
  const std::int64_t value = sizeof(std::complex<T>), real = sizeof(T);
  for (const Grid& grid : grids()) {
    SCOPED_TRACE(token + ' ' + grid.text() + (deterministic ? " deterministic" : ""));
    DistributedTransform transform(token, MPI_Comm_c2f(MPI_COMM_WORLD),
                                   forced(by_pencils(grid, ",balance=planes" + chunks), deterministic));
    sent = 0;
    transform.set_points(
        {mine.size(), whole.x[0].data() + mine.begin, whole.x[1].data() + mine.begin, whole.x[2].data() + mine.begin});
    const std::int64_t of_points = sent;

    const Geometry g(transform.plan());
    const Cuts of_y(g, 1, grid.in_plane), of_z(g, 2, grid.of_planes);
    std::int64_t leave = 0, come = 0;
    for (std::int64_t j = 0; j < *p.m; ++j) {
      const auto part = [&](const Cuts& cuts, std::size_t d) {
        return cuts.part_of_cell(g.cell(d, static_cast<double>(whole.x[d][static_cast<std::size_t>(j)])));
      };
      const int owner = part(of_y, 1) + grid.in_plane * part(of_z, 2);
      const bool own = j >= mine.begin && j < mine.end;
      leave += own && owner != rank;
      come += !own && owner == rank;
    }
    EXPECT_LE(static_cast<double>(of_points), 1.05 * static_cast<double>(leave * 3 * real) + 4096);

    const int i = rank % grid.in_plane, j = rank / grid.in_plane;
    const std::int64_t rows = of_y.cells(i), planes = of_z.cells(j), x = part_of(p.n[0], i, grid.in_plane),
                       columns = part_of(p.n[1], rank, ranks), w = g.width - 1;
    const std::int64_t layers = deterministic ? (planes + g.tile[2] - 1) / g.tile[2] : 1;
    std::int64_t shared = 0;
    if (rows > 0 && planes > 0 && of_y.parts_with_cells() > 1) shared += w * g.fine[0] * (planes + layers * w);
    if (rows > 0 && planes > 0 && of_z.parts_with_cells() > 1) shared += w * g.fine[0] * rows;
    const std::int64_t forward = planes * rows * (p.n[0] - x) + planes * x * (p.n[1] - columns);
    const std::int64_t back = columns * (g.fine[2] * p.n[0] - planes * x) + planes * x * (g.fine[1] - rows);
    const std::int64_t bound = (p.type == 1 ? leave + shared + forward : come + shared + back) * value * p.batch;
    std::vector<std::complex<T>> values(static_cast<std::size_t>(mine.size() * p.batch));
    std::vector<std::complex<T>> modes(static_cast<std::size_t>(transform.modes().count() * p.batch) + 1);
    transform.execute(values.data(), modes.data());
    sent = 0;
    transform.execute(values.data(), modes.data());
    EXPECT_LE(static_cast<double>(sent), 1.05 * static_cast<double>(bound) + 256) << "bound " << bound;
    EXPECT_GE(static_cast<double>(sent), 0.98 * static_cast<double>(bound) - 256) << "bound " << bound;
  }
}

TEST(NufftPencils, SendWhatTheBoundSays) {
  for (const bool deterministic : {false, true}) {
    count_pencils<float>("nufft:type=1,n=40x44x60,m=60000,prec=f32,tol=1e-5", deterministic);
    count_pencils<double>("nufft:type=2,n=20x60x50,m=30000,prec=f64,tol=1e-6,batch=2", deterministic);
  }
  count_pencils<float>("nufft:type=1,n=21x44x60,m=9000,prec=f32,tol=1e-4", false, ",chunks=4,cut=planes");
  count_pencils<double>("nufft:type=2,n=21x44x60,m=9000,prec=f64,tol=1e-4", false, ",chunks=3,cut=columns");
}

// Plans and errors -------------------------------------------------------------------------------------------------

// The plan of a transform with two points on every rank.
std::string plan_with_points(const std::string& token, const Options& options, std::string* explain = nullptr) {
  DistributedTransform transform(token, MPI_Comm_c2f(MPI_COMM_WORLD), options);
  const std::vector<double> x{0.1, 0.2};
  const bool flat = transform.problem().dim == 2;
  transform.set_points({2, x.data(), x.data(), flat ? nullptr : x.data()});
  if (explain != nullptr) *explain = transform.explain();
  return transform.plan();
}

TEST(NufftPencils, HaveOneSpelling) {
  const std::string token = "nufft:type=1,n=16x20x24,prec=f64,tol=1e-6";
  const Grid grid = grids().back();
  for (const bool deterministic : {false, true}) {
    const std::string plan = plan_with_points(
        token, forced("ranks=pencils(cut=planes,balance=planes,chunks=3," + grid_of(grid) + ")", deterministic));
    EXPECT_EQ(plan.substr(0, plan.find(';')), by_pencils(grid, ",balance=planes,chunks=3,cut=planes"));
    EXPECT_EQ(plan_with_points(token, forced(plan, deterministic)), plan);
  }
  const std::string chosen = plan_with_points(token, forced("ranks=pencils"));
  EXPECT_TRUE(chosen.starts_with("ranks=pencils(grid=")) << chosen;
  EXPECT_NE(chosen.find(",balance=points,"), std::string::npos) << chosen;
}

TEST(NufftPencils, AreTakenUntunedWhereSlabsLeaveRanksWithoutCells) {
  const int ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) return;
  // Few points, so that nothing is replicated; two rows of tiles along z and more along y.
  std::string explain;
  const std::string plan = plan_with_points("nufft:type=1,n=64x64x16,prec=f64,tol=1e-4", forced(), &explain);
  const Geometry g(plan);
  const bool too_few = ranks > (g.fine[2] + g.tile[2] - 1) / g.tile[2];
  EXPECT_EQ(plan.starts_with("ranks=pencils"), too_few) << explain;
  if (ranks == 8) {
    EXPECT_TRUE(too_few) << plan;
  }
  EXPECT_EQ(explain.find("are more than slabs have rows of tiles for") != std::string::npos, too_few) << explain;
}

TEST(NufftPencils, WhatTheyCannotBeIsNamedOnEveryRank) {
  const int ranks = size_of(MPI_COMM_WORLD);
  const auto expect_refused = [&](const std::string& token, const std::string& plan, Status expected,
                                  const std::string& word) {
    std::string message;
    EXPECT_EQ(status_of([&] { plan_with_points(token, forced(plan)); }, &message), expected) << plan << ": " << message;
    EXPECT_NE(message.find(word), std::string::npos) << message;
  };
  const std::string token = "nufft:type=2,n=16x16x16,prec=f64,tol=1e-4";
  const std::string grid = "ranks=pencils(grid=" + std::to_string(ranks) + "x1)";
  expect_refused(token, "ranks=pencils(grid=3x5)", Status::invalid_plan, "grids of " + std::to_string(ranks) + ": 1x");
  expect_refused(token, "ranks=pencils(balance=rows)", Status::invalid_plan, "grid=AxB, balance");
  expect_refused(token, "ranks=pencils(exchange=shared)", Status::invalid_plan, "slabs alone have arrays");
  expect_refused(token, "ranks=pencils(exchange=peer)", Status::invalid_plan, "is for GPUs; processors take host");
  expect_refused("nufft:type=1,n=16x16,prec=f64,tol=1e-4", "ranks=pencils", Status::unsupported, "2D");
  // A plan of a rank whose last tile along y is thinner than a window reaches.
  const std::string thin = plan_with_points("nufft:type=1,n=16x20x16,prec=f64,tol=1e-9", forced(grid));
  const std::int64_t cells = Geometry(thin).fine[1];
  const std::string replaced =
      std::regex_replace(thin, std::regex("tile=(\\d+)x\\d+x"), "tile=$1x" + std::to_string(cells - 1) + "x");
  ASSERT_NE(replaced, thin);
  expect_refused("nufft:type=1,n=16x20x16,prec=f64,tol=1e-9", replaced, Status::invalid_plan, "along y");
}

TEST(NufftPencils, BadPointsAndArraysOfOneRankFailOnAll) {
  const int last = size_of(MPI_COMM_WORLD) - 1;
  const bool bad = rank_of(MPI_COMM_WORLD) == last;
  DistributedTransform transform("nufft:type=1,n=12x24x24,prec=f64,tol=1e-6", MPI_Comm_c2f(MPI_COMM_WORLD),
                                 forced(by_pencils(grids().back())));
  std::vector<double> x{0.1, 0.2, 0.3}, wrong = x;
  wrong[1] = std::numeric_limits<double>::quiet_NaN();
  std::string message;
  EXPECT_EQ(status_of(
                [&] {
                  transform.set_points({3, x.data(), bad ? wrong.data() : x.data(), x.data()});
                },
                &message),
            Status::invalid_point);
  EXPECT_NE(message.find("point 1: coordinate y"), std::string::npos) << message;
  std::vector<std::complex<double>> values(3, 1), modes(static_cast<std::size_t>(transform.modes().count()) + 1);
  EXPECT_EQ(status_of([&] { transform.execute(values.data(), modes.data()); }), Status::points_not_set);
  transform.set_points({3, x.data(), x.data(), x.data()});
  EXPECT_EQ(status_of([&] { transform.execute(bad ? nullptr : values.data(), modes.data()); }),
            Status::invalid_argument);
  EXPECT_EQ(status_of([&] { transform.execute(values.data(), modes.data()); }), Status::success);
}

}  // namespace
}  // namespace fourtune::test
