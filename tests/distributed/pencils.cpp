// FFTs by pencils: on every grid of the ranks the right results, the bits of slabs, the boxes that the header promises
// and no more bytes than docs/design/distributed.md says.
#include <gtest/gtest.h>

#include <array>
#include <numbers>
#include <random>

#include "tests/distributed/count_bytes.h"
#include "tests/distributed/fft_support.h"
#include "tests/distributed/grids.h"

namespace fourtune::test {
namespace {

Options pencils(const std::string& arguments, bool deterministic = false, int threads = 1) {
  Options options;
  options.default_databases = false;
  options.deterministic = deterministic;
  options.threads = threads;
  options.plan = "ranks=pencils" + (arguments.empty() ? "" : "(" + arguments + ")");
  return options;
}

// One grid after the other, so that each has some of the problems.
class GridsInTurn {
 public:
  std::string next() { return grid_of(all_[turn_++ % all_.size()]); }

 private:
  std::vector<Grid> all_ = grids();
  std::size_t turn_ = 0;
};

TEST(DistributedPencils, EveryTypeSignAndPrecision) {
  GridsInTurn grid;
  for (const char* rest :
       {",prec=f32,sign=-1", ",prec=f32,batch=3,sign=1", ",prec=f64,batch=2,sign=-1", ",prec=f64,sign=1"})
    for (const char* type : {"c2c", "r2c", "c2r"})
      compare_with_alone(std::string("fft:type=") + type + ",n=12x10x9" + rest, {pencils(grid.next())});
}

// Rows, planes or columns for some of the ranks only, and lengths of one.
TEST(DistributedPencils, OddAndPrimeAndTinySizes) {
  GridsInTurn grid;
  for (const char* size : {"7x11x5", "1x9x4", "2x1x3", "3x2x1", "31x3x13", "1x1x6"})
    for (const char* type : {"c2c", "r2c", "c2r"})
      compare_with_alone(std::string("fft:type=") + type + ",n=" + size + ",prec=f64", {pencils(grid.next())});
}

// What a draw may combine: sizes, types, grids, chunks and threads.
TEST(DistributedPencils, DrawnProblems) {
  std::mt19937 engine(20);  // on every rank alike
  const auto below = [&](unsigned bound) { return static_cast<std::size_t>(engine() % bound); };
  const std::vector<Grid> all = grids();
  constexpr std::array kTypes{"c2c", "r2c", "c2r"};
  constexpr std::array kCuts{"planes", "columns", "batch"};
  for (int draw = 0; draw < 24; ++draw) {
    std::string token = std::string("fft:type=") + kTypes[below(3)] + ",n=" + std::to_string(1 + below(24));
    for (int d = 0; d < 2; ++d) token += "x" + std::to_string(1 + below(24));
    token += std::string(",prec=") + (below(2) == 0 ? "f32" : "f64") + ",batch=" + std::to_string(1 + below(4));
    const std::string chunks = "chunks=" + std::to_string(1 + below(6)) + ",cut=" + kCuts[below(3)];
    const Grid& grid = all[below(static_cast<unsigned>(all.size()))];
    const int threads = 1 + static_cast<int>(below(2));
    compare_with_alone(token, {pencils(grid_of(grid) + "," + chunks, false, threads)});
  }
}

TEST(DistributedPencils, AgreeWithDirectSums) {
  using Complex = std::complex<double>;
  const std::array<std::int64_t, 3> n{5, 6, 4};
  const auto in = drawn<Complex>(static_cast<std::size_t>(n[0] * n[1] * n[2]), 3);
  std::vector<Complex> right(in.size());
  const auto each = [&](auto f) {
    std::size_t at = 0;
    for (std::int64_t z = 0; z < n[2]; ++z)
      for (std::int64_t y = 0; y < n[1]; ++y)
        for (std::int64_t x = 0; x < n[0]; ++x) f(at++, std::array{x, y, z});
  };
  each([&](std::size_t to, const auto& k) {
    each([&](std::size_t from, const auto& j) {
      double turns = 0;
      for (std::size_t d = 0; d < 3; ++d) turns += static_cast<double>(k[d] * j[d]) / static_cast<double>(n[d]);
      right[to] += in[from] * std::polar(1.0, -2 * std::numbers::pi * turns);
    });
  });
  for (const Grid& grid : grids()) {
    DistributedTransform transform("fft:type=c2c,n=5x6x4,prec=f64", MPI_Comm_c2f(MPI_COMM_WORLD),
                                   pencils(grid_of(grid)));
    const Part from = transform.first_part(), to = transform.second_part();
    auto own = take(in, {5, 6, 4}, from, 1);
    std::vector<Complex> out(static_cast<std::size_t>(to.count()));
    transform.execute(own.data(), out.data());
    EXPECT_LE(error_of(gathered(out, {5, 6, 4}, to, 1, MPI_COMM_WORLD), right), 1e-14) << grid.text();
  }
}

// Bits -------------------------------------------------------------------------------------------------------------

// What a transform writes, and then its adjoint.
template <class In, class Out>
std::pair<std::vector<Out>, std::vector<In>> both_ways(const std::string& token, const Options& options,
                                                       MPI_Comm comm) {
  const Problem problem = parse_problem(token);
  std::pair<std::vector<Out>, std::vector<In>> result{together<In, Out>(problem, false, options, comm).second,
                                                      together<In, Out>(problem, true, options, comm).first};
  for (auto& value : result.first) value += Out{};  // gathering is a sum, which makes -0 a 0
  for (auto& value : result.second) value += In{};
  return result;
}

template <class In, class Out>
void compare_bits(const std::string& token) {
  const auto slabs = both_ways<In, Out>(token, reproducible(1), MPI_COMM_SELF);
  const auto expect_same = [&](const Options& options) {
    const auto result = both_ways<In, Out>(token, options, MPI_COMM_WORLD);
    EXPECT_TRUE(same_bits(result.first, slabs.first)) << token << ' ' << options.plan;
    EXPECT_TRUE(same_bits(result.second, slabs.second)) << token << " adjoint " << options.plan;
  };
  constexpr std::array kPieces{"chunks=3,cut=planes", "chunks=2,cut=columns", "chunks=2,cut=batch", "chunks=1"};
  std::size_t turn = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  for (const Grid& grid : grids()) {
    const int threads = turn % 2 == 0 ? 1 : 3;
    expect_same(pencils(grid_of(grid) + "," + kPieces[turn++ % kPieces.size()], true, threads));
  }
  expect_same(reproducible(2));  // slabs or, on more ranks than planes, pencils
}

TEST(DistributedPencils, HaveTheBitsOfSlabsOnOneRank) {
  using F = std::complex<float>;
  using D = std::complex<double>;
  for (const char* size : {"24x10x6", "15x9x11", "4x12x3"}) {  // also lengths that libraries transform in pairs
    const std::string n = std::string(",n=") + size;
    compare_bits<D, D>("fft:type=c2c" + n + ",prec=f64,batch=3,sign=1");
    compare_bits<D, double>("fft:type=c2r" + n + ",prec=f64");
    compare_bits<float, F>("fft:type=r2c" + n + ",prec=f32,batch=2");
    compare_bits<double, D>("fft:type=r2c" + n + ",prec=f64");
  }
  compare_bits<double, D>("fft:type=r2c,n=126x66x3,prec=f64");  // planes that lie apart where ranks share them
}

// Bytes ------------------------------------------------------------------------------------------------------------

// x: elements of a row of the spectrum.
void count(const std::string& token, std::int64_t x, const std::string& chunks) {
  const Problem p = parse_problem(token);
  const std::int64_t value = 2 * real_bytes(p.precision), y = p.n[1], z = p.n[2];
  const bool to_spectrum = p.fft_type == FftType::r2c || (p.fft_type == FftType::c2c && p.sign < 0);
  for (const Grid& grid : grids()) {
    const int i = rank_of(MPI_COMM_WORLD) % grid.in_plane, j = rank_of(MPI_COMM_WORLD) / grid.in_plane;
    const std::int64_t own_x = part_of(x, i, grid.in_plane), rows = part_of(y, i, grid.in_plane);
    const std::int64_t columns = part_of(y, j, grid.of_planes), planes = part_of(z, j, grid.of_planes);
    const std::int64_t bound = to_spectrum ? planes * rows * (x - own_x) + planes * own_x * (y - columns)
                                           : (z - planes) * own_x * columns + planes * own_x * (y - rows);
    DistributedTransform transform(token, MPI_Comm_c2f(MPI_COMM_WORLD), pencils(grid_of(grid) + chunks));
    // Elements of the larger kind for either array.
    std::vector<std::complex<double>> first(static_cast<std::size_t>(transform.first_part().count() * p.batch) + 1),
        second(static_cast<std::size_t>(transform.second_part().count() * p.batch) + 1);
    transform.execute(first.data(), second.data());
    sent = 0;
    transform.execute(first.data(), second.data());
    EXPECT_LE(static_cast<double>(sent), 1.05 * static_cast<double>(bound * value * p.batch) + 256)
        << token << ' ' << grid.text() << chunks;
    EXPECT_GE(sent, bound * value * p.batch) << token << ' ' << grid.text() << chunks;
  }
}

TEST(DistributedPencils, SendWhatTheBoundSays) {
  count("fft:type=c2c,n=22x18x14,prec=f64", 22, "");
  count("fft:type=c2c,n=22x18x14,prec=f32,sign=1", 22, ",chunks=3,cut=planes");
  count("fft:type=r2c,n=23x17x9,prec=f32,batch=3", 12, ",chunks=2,cut=batch");
  count("fft:type=c2r,n=16x7x11,prec=f64", 9, ",chunks=2,cut=columns");
}

// Parts and plans --------------------------------------------------------------------------------------------------

// Every element is on one rank.
void expect_tiling(const DistributedTransform& transform, const Problem& problem, bool first) {
  const Sizes sizes = first ? input_sizes(problem) : output_sizes(problem);
  const Part part = first ? transform.first_part() : transform.second_part();
  const auto ones =
      gathered(std::vector<float>(static_cast<std::size_t>(part.count()), 1.0F), sizes, part, 1, MPI_COMM_WORLD);
  for (const float owners : ones) ASSERT_EQ(owners, 1.0F);
}

TEST(DistributedPencils, PartsAreRowsInSpaceAndColumnsOfTheSpectrum) {
  const Problem problem = parse_problem("fft:type=r2c,n=14x9x7,prec=f64");
  for (const Grid& grid : grids()) {
    const Options options = pencils(grid_of(grid));
    const DistributedTransform there(to_token(problem), MPI_Comm_c2f(MPI_COMM_WORLD), options);
    const DistributedTransform back("fft:type=c2r,n=14x9x7,prec=f64,sign=1", MPI_Comm_c2f(MPI_COMM_WORLD), options);
    const int i = rank_of(MPI_COMM_WORLD) % grid.in_plane, j = rank_of(MPI_COMM_WORLD) / grid.in_plane;
    const std::array<std::int64_t, 3> space{14, part_of(9, i, grid.in_plane), part_of(7, j, grid.of_planes)};
    const std::array<std::int64_t, 3> spectrum{part_of(8, i, grid.in_plane), part_of(9, j, grid.of_planes), 7};
    EXPECT_EQ(there.first_part().size, space);
    EXPECT_EQ(there.second_part().size, spectrum);
    EXPECT_EQ(back.first_part().first, there.second_part().first);
    EXPECT_EQ(back.first_part().size, spectrum);
    EXPECT_EQ(back.second_part().first, there.first_part().first);
    EXPECT_EQ(back.second_part().size, space);
    expect_tiling(there, problem, true);
    expect_tiling(there, problem, false);
  }
}

TEST(DistributedPencils, AreTakenUntunedByMoreRanksThanPlanes) {
  Options options;
  options.default_databases = false;
  const int world = MPI_Comm_c2f(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  for (const char* size : {"16x12x2", "16x2x12", "16x12x8"}) {
    const std::string n = std::string(",n=") + size;
    const DistributedTransform there("fft:type=r2c,prec=f32" + n, world, options);
    const DistributedTransform back("fft:type=c2r,prec=f32,sign=1" + n, world, options);
    const Problem& p = there.problem();
    const bool pencils = there.plan().starts_with("ranks=pencils");
    // With few columns neither is better for certain.
    if (p.n[2] <= p.n[1]) {
      EXPECT_EQ(pencils, ranks > p.n[2]) << there.plan();
    }
    EXPECT_EQ(there.explain().find("why: pencils: " + std::to_string(ranks) + " ranks") != std::string::npos, pencils)
        << there.explain();
    EXPECT_EQ(there.first_part().size, back.second_part().size);
    EXPECT_EQ(there.second_part().size, back.first_part().size);
    if (pencils && ranks <= p.n[1]) {
      EXPECT_GT(there.first_part().count(), 0) << there.plan();
    }
  }
}

TEST(DistributedPencils, HaveOneSpelling) {
  const int ranks = size_of(MPI_COMM_WORLD);
  const auto head_of = [&](const std::string& arguments) {
    Options options = pencils(arguments);
    const auto made = [&] {
      return DistributedTransform("fft:type=c2c,n=8x8x8,prec=f64", MPI_Comm_c2f(MPI_COMM_WORLD), options).plan();
    };
    const std::string text = made();
    options.plan = text;
    EXPECT_EQ(made(), text);
    return text.substr(0, text.find(';'));
  };
  const std::string grid = "grid=1x" + std::to_string(ranks);
  EXPECT_EQ(head_of("cut=batch," + grid + ",chunks=2"), "ranks=pencils(" + grid + ",chunks=2,cut=batch)");
  EXPECT_EQ(head_of(grid), "ranks=pencils(" + grid + ",chunks=1,cut=planes)");
  if (ranks == 1) {
    EXPECT_EQ(head_of(""), "ranks=pencils(grid=1x1,chunks=1,cut=planes)");
  }
  for (const char* wrong : {"grid=0x1", "grid=1", "grid=1x", "grid=x1", "grid=-1x-1", "grid=1x1x1", "grid=99999x99999",
                            "grid=1x1,grid=1x1", "exchange=kernels", "balance=planes", "cut=rows", "chunks=0"}) {
    std::string message;
    EXPECT_EQ(status_of([&] { head_of(wrong); }, &message), Status::invalid_plan) << wrong;
    EXPECT_NE(message.find("grid=AxB"), std::string::npos) << message;
  }
}

TEST(DistributedPencils, WhatTheyCannotBeIsNamedOnEveryRank) {
  const int ranks = size_of(MPI_COMM_WORLD);
  const std::string grid = "ranks=pencils(grid=1x" + std::to_string(ranks) + ")";
  const auto expect_refused = [&](const std::string& token, const std::string& plan, Status expected,
                                  const std::string& word) {
    Options options = pencils("");
    options.plan = plan;
    std::string message;
    const Status status = status_of(
        [&] {
          DistributedTransform transform(token, MPI_Comm_c2f(MPI_COMM_WORLD), options);
          const std::vector<double> x{0.1, 0.2};
          if (parse_problem(token).kind == Kind::nufft) transform.set_points({2, x.data(), x.data(), x.data()});
        },
        &message);
    EXPECT_EQ(status, expected) << plan << ": " << message;
    EXPECT_NE(message.find(word), std::string::npos) << message;
  };
  const std::string fft = "fft:type=c2c,n=8x6x4,prec=f64";
  expect_refused(fft, "ranks=pencils(grid=3x5)", Status::invalid_plan, "grids of " + std::to_string(ranks) + ": 1x");
  expect_refused(fft, grid + ";cpu;threads=1;fft=fftw(rigor=estimate)", Status::invalid_plan, "fft=rows");
  expect_refused("fft:type=c2c,n=8x6,prec=f64", "ranks=pencils", Status::unsupported, "2D");
  expect_refused("nufft:type=3,dim=3,prec=f64,tol=1e-4", "ranks=pencils", Status::unsupported, "type 3");
}

}  // namespace
}  // namespace fourtune::test
