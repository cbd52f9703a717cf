// FFTs by pencils whose ranks have GPUs: on every grid of the ranks and by every exchange the right results, the same
// bits where they are asked for, and no more bytes than docs/design/distributed.md says. The GPUs are emulated, which
// checks that kernels do not race and that nothing is read before its copy has landed.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "runtime/backends/emulated/shared_memory.h"
#include "tests/distributed/count_bytes.h"
#include "tests/distributed/fft_support.h"
#include "tests/distributed/grids.h"

namespace fourtune::test::gpu_pencils {
namespace {

using F = std::complex<float>;
using D = std::complex<double>;
constexpr std::size_t kInPlace = 0, kOnHost = 16;  // where arrays start: the emulated device reaches the first

Options pencils(const std::string& arguments, bool deterministic = false) {
  Options options = on_gpus("ranks=pencils" + (arguments.empty() ? "" : "(" + arguments + ")"));
  options.threads = 1;
  options.deterministic = deterministic;
  return options;
}

// The ways that there are, in turn.
class InTurn {
 public:
  std::string exchange() {
    constexpr std::array kAll{"peer", "host", "nccl", "mpi"};
    if (size_of(MPI_COMM_WORLD) == 1) return turn_++ % 2 == 0 ? ",exchange=host" : ",exchange=mpi";
    return std::string(",exchange=") + kAll[turn_++ % kAll.size()];
  }
  std::string grid() { return grid_of(all_[grid_++ % all_.size()]); }

 private:
  std::vector<Grid> all_ = grids();
  std::size_t turn_ = 0, grid_ = 0;
};

// The second execute finds what the first one left.
void compare(const std::string& token, const Options& options, std::size_t shift = kInPlace) {
  compare_with_alone(token, {options}, shift, 2);
}

TEST(DistributedGpuPencils, EveryTypeSignPrecisionAndExchange) {
  InTurn next;
  for (const char* rest : {",prec=f32,sign=-1", ",prec=f64,batch=2,sign=1"})
    for (const char* type : {"c2c", "r2c", "c2r"})
      for (int turn = 0; turn < 2; ++turn) {
        const std::string grid = next.grid();
        compare(std::string("fft:type=") + type + ",n=8x10x6" + rest, pencils(grid + next.exchange()),
                turn == 0 ? kInPlace : kOnHost);
      }
}

// Rows, planes or columns for some of the ranks only, lengths of one, and a prime that needs Bluestein's algorithm.
TEST(DistributedGpuPencils, OddAndPrimeAndTinySizes) {
  InTurn next;
  for (const char* token :
       {"fft:type=c2c,n=7x11x5,prec=f64", "fft:type=r2c,n=1x9x4,prec=f64", "fft:type=c2r,n=2x1x3,prec=f64",
        "fft:type=c2c,n=3x2x1,prec=f64", "fft:type=c2c,n=4x67x3,prec=f64", "fft:type=r2c,n=67x3x4,prec=f64"}) {
    const std::string grid = next.grid();
    compare(token, pencils(grid + next.exchange()));
  }
}

// Several pieces are under way in both exchanges at a time.
TEST(DistributedGpuPencils, DrawnSizesChunksAndBatches) {
  std::mt19937 engine(21);  // on every rank alike
  const auto below = [&](unsigned bound) { return static_cast<std::size_t>(engine() % bound); };
  constexpr std::array kTypes{"c2c", "r2c", "c2r"};
  constexpr std::array kCuts{"planes", "columns", "batch"};
  InTurn next;
  for (int draw = 0; draw < 12; ++draw) {
    std::string token = std::string("fft:type=") + kTypes[below(3)] + ",n=" + std::to_string(1 + below(12));
    for (int d = 0; d < 2; ++d) token += "x" + std::to_string(1 + below(16));
    token += std::string(",prec=") + (below(2) == 0 ? "f32" : "f64") + ",batch=" + std::to_string(1 + below(3));
    const std::string chunks = ",chunks=" + std::to_string(1 + below(4)) + ",cut=" + kCuts[below(3)];
    const std::string grid = next.grid();
    compare(token, pencils(grid + chunks + next.exchange()));
  }
}

// Bits -------------------------------------------------------------------------------------------------------------

template <class In, class Out>
void compare_bits(const std::string& token) {
  const Problem problem = parse_problem(token);
  const auto both_ways = [&](const Options& options, MPI_Comm comm) {
    std::pair result{together<In, Out>(problem, false, options, comm).second,
                     together<In, Out>(problem, true, options, comm).first};
    for (auto& value : result.first) value += Out{};  // gathering is a sum, which makes -0 a 0
    for (auto& value : result.second) value += In{};
    return result;
  };
  const auto one = both_ways(pencils("", true), MPI_COMM_SELF);
  constexpr std::array kPieces{",chunks=3,cut=planes", ",chunks=2,cut=columns", ",chunks=2,cut=batch", ",chunks=1"};
  std::size_t turn = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  InTurn next;
  for (const Grid& grid : grids()) {
    const Options options = pencils(grid_of(grid) + kPieces[turn++ % kPieces.size()] + next.exchange(), true);
    const auto result = both_ways(options, MPI_COMM_WORLD);
    EXPECT_TRUE(same_bits(result.first, one.first)) << token << ' ' << options.plan;
    EXPECT_TRUE(same_bits(result.second, one.second)) << token << " adjoint " << options.plan;
  }
}

TEST(DistributedGpuPencils, DeterministicBitsDoNotDependOnTheGrid) {
  compare_bits<D, D>("fft:type=c2c,n=10x9x8,prec=f64,batch=2,sign=1");
  compare_bits<float, F>("fft:type=r2c,n=24x10x6,prec=f32");
  compare_bits<D, double>("fft:type=c2r,n=15x9x11,prec=f64");
  // Lines whose radices would follow from how many neighbours they have: 32 of one rank, fewer of several.
  compare_bits<F, F>("fft:type=c2c,n=32x320x3,prec=f32");
  compare_bits<F, F>("fft:type=c2c,n=32x2x288,prec=f32");
}

// Bytes ------------------------------------------------------------------------------------------------------------

// x: elements of a row of the spectrum.
void count(const std::string& token, std::int64_t x, const std::string& chunks, const std::string& exchange) {
  const Problem p = parse_problem(token);
  const std::int64_t value = 2 * real_bytes(p.precision), y = p.n[1], z = p.n[2];
  const bool to_spectrum = p.fft_type == FftType::r2c || (p.fft_type == FftType::c2c && p.sign < 0);
  const int ranks = size_of(MPI_COMM_WORLD);
  for (const Grid& grid : grids()) {
    const int i = rank_of(MPI_COMM_WORLD) % grid.in_plane, j = rank_of(MPI_COMM_WORLD) / grid.in_plane;
    const std::int64_t own_x = part_of(x, i, grid.in_plane), rows = part_of(y, i, grid.in_plane);
    const std::int64_t columns = part_of(y, j, grid.of_planes), planes = part_of(z, j, grid.of_planes);
    const std::int64_t bound = p.batch * value *
                               (to_spectrum ? planes * rows * (x - own_x) + planes * own_x * (y - columns)
                                            : (z - planes) * own_x * columns + planes * own_x * (y - rows));
    const Options options = pencils(grid_of(grid) + chunks + ",exchange=" + exchange);
    SCOPED_TRACE(token + " " + options.plan);
    DistributedTransform transform(token, MPI_Comm_c2f(MPI_COMM_WORLD), options);
    // Elements of the larger kind for either array.
    std::vector<D> first(static_cast<std::size_t>(transform.first_part().count() * p.batch) + 1),
        second(static_cast<std::size_t>(transform.second_part().count() * p.batch) + 1);
    transform.execute(first.data(), second.data());
    sent = 0;
    const std::int64_t written = runtime::emulated::reached_bytes();
    transform.execute(first.data(), second.data());
    // By peer writes the messages are words, a few for each piece and rank of either exchange.
    if (exchange == "peer") {
      EXPECT_LE(sent, 512 + 1024 * 12 * (ranks - 1));
      sent = runtime::emulated::reached_bytes() - written;
    }
    EXPECT_LE(static_cast<double>(sent), 1.05 * static_cast<double>(bound) + 256);
    EXPECT_GE(sent, bound);
  }
}

TEST(DistributedGpuPencils, SendWhatTheBoundSays) {
  if (size_of(MPI_COMM_WORLD) == 1) return;
  count("fft:type=c2c,n=12x18x14,prec=f64", 12, "", "peer");
  count("fft:type=c2c,n=12x18x14,prec=f32,sign=1", 12, ",chunks=3,cut=planes", "nccl");
  count("fft:type=r2c,n=23x17x9,prec=f32,batch=2", 12, ",chunks=2,cut=batch", "host");
  count("fft:type=c2r,n=16x7x11,prec=f64", 9, ",chunks=2,cut=columns", "peer");
}

// Plans ------------------------------------------------------------------------------------------------------------

TEST(DistributedGpuPencils, AreTakenUntunedByMoreRanksThanPlanes) {
  const int world = MPI_Comm_c2f(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  const DistributedTransform there("fft:type=r2c,n=8x6x2,prec=f32", world, on_gpus());
  const DistributedTransform back("fft:type=c2r,n=8x6x2,prec=f32,sign=1", world, on_gpus());
  EXPECT_EQ(there.plan().starts_with("ranks=pencils"), ranks > 2) << there.plan();
  EXPECT_EQ(there.first_part().size, back.second_part().size);
  EXPECT_EQ(there.second_part().size, back.first_part().size);
  if (ranks > 2) {
    EXPECT_NE(there.plan().find(",exchange=peer);emulated;fft=plain"), std::string::npos) << there.plan();
    if (ranks <= 6) {
      EXPECT_GT(there.first_part().count(), 0);
    }
  }
  // The bits of slabs are others. Also on ranks without columns.
  Options options = on_gpus();
  options.deterministic = true;
  const DistributedTransform steady("fft:type=r2c,n=8x6x2,prec=f32", world, options);
  EXPECT_TRUE(steady.plan().starts_with("ranks=slabs")) << steady.plan();
}

TEST(DistributedGpuPencils, HaveOneSpellingAndNamedRefusals) {
  const int world = MPI_Comm_c2f(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  const std::string grid = "grid=1x" + std::to_string(ranks), fft = "fft:type=c2c,n=8x6x4,prec=f64";
  const std::string text = DistributedTransform(fft, world, pencils("exchange=host," + grid)).plan();
  EXPECT_EQ(text, "ranks=pencils(" + grid + ",chunks=1,cut=planes,exchange=host);emulated;fft=plain");
  EXPECT_EQ(DistributedTransform(fft, world, on_gpus(text)).plan(), text);
  const auto refused = [&](const std::string& token, const Options& options, const std::string& word) {
    std::string message;
    const Status status = status_of(
        [&] {
          DistributedTransform transform(token, world, options);
          const std::vector<double> x{0.1, 0.2};
          if (parse_problem(token).kind == Kind::nufft) transform.set_points({2, x.data(), x.data(), x.data()});
        },
        &message);
    EXPECT_NE(message.find(word), std::string::npos) << message;
    return status;
  };
  EXPECT_EQ(refused(fft, pencils("exchange=kernels"), "slabs alone"), Status::invalid_plan);
  EXPECT_EQ(refused(fft, pencils("exchange=shared"), "slabs alone"), Status::invalid_plan);
  EXPECT_EQ(refused(fft, on_gpus("ranks=pencils;emulated;fft=cufft"), "fft=plain"), Status::invalid_plan);
  EXPECT_EQ(refused("fft:type=c2c,n=8x6,prec=f64", pencils(""), "2D"), Status::unsupported);
  EXPECT_EQ(refused("nufft:type=1,n=16x16x16,prec=f64,tol=1e-4", pencils(""), "types 1 and 2 by slabs"),
            Status::unsupported);
  EXPECT_EQ(refused("fft:type=c2c,n=16384x2x2,prec=f32", pencils("", true), "more than 8192"), Status::invalid_plan);
  EXPECT_EQ(refused("fft:type=c2c,n=8x67x2,prec=f32", pencils("", true), "above 61"), Status::invalid_plan);
  Options on_processors = pencils("exchange=peer");
  on_processors.backend = "cpu", on_processors.device = 0;
  EXPECT_EQ(refused(fft, on_processors, "processors take host"), Status::invalid_plan);
  if (ranks == 1) {
    EXPECT_EQ(refused(fft, pencils("exchange=peer"), "there is one rank"), Status::unsupported);
  }
}

}  // namespace
}  // namespace fourtune::test::gpu_pencils
