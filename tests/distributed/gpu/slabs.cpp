// Types 1 and 2 by slabs whose ranks have GPUs, by every exchange, against direct sums.
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <utility>

#include "runtime/distributed/joined_ranks.h"
#include "tests/distributed/support.h"

namespace fourtune::test {
namespace {

std::vector<std::string> exchanges(const Problem& problem, const std::string& chunks) {
  if (size_of(MPI_COMM_WORLD) == 1) return {"host"};
  std::vector<std::string> all{"nccl", "mpi", "host", "peer"};
  if (problem.dim != 3 || chunks != "chunks=1") return all;
  if (size_of(MPI_COMM_WORLD) <= 3) all.emplace_back("kernels");
  all.emplace_back("kernels,kept=grid");
  return all;
}

int slab_problems = 0;  // that were compared

// Every exchange in both directions, each with one deal.
template <class T>
void compare_slabs(const std::string& token, ModeOrder order, const std::string& chunks = "chunks=1") {
  const Whole<T> whole = draw<T>(token, 11);
  const auto forward = direct(whole, false, order), back = direct(whole, true, order);
  int turn = slab_problems++;
  for (const std::string& exchange : exchanges(whole.problem, chunks))
    for (const bool adjoint : {false, true}) {
      const Deal deal = deal_in_turn(turn++);
      const std::string balance = deal == Deal::even ? "planes" : "points";
      Options options = on_gpus("ranks=slabs(balance=" + balance + "," + chunks + ",exchange=" + exchange + ")");
      options.mode_order = order;
      SCOPED_TRACE(token + " " + options.plan + (adjoint ? " adjoint" : ""));
      std::string explain;
      const auto result = result_of(whole, Way{options, MPI_COMM_WORLD, deal, adjoint}, &explain);
      EXPECT_LE(error_of(result, adjoint ? back : forward), allowed_error(whole.problem)) << explain;
    }
}

// One exchange in both directions.
template <class T>
void compare_by(const std::string& token, const std::string& exchange) {
  const Whole<T> whole = draw<T>(token, 17);
  for (const bool adjoint : {false, true}) {
    const Options options = on_gpus("ranks=slabs(exchange=" + exchange + ")");
    SCOPED_TRACE(token + " " + options.plan + (adjoint ? " adjoint" : ""));
    std::string explain;
    const auto result =
        result_of(whole, Way{options, MPI_COMM_WORLD, deal_in_turn(slab_problems++), adjoint}, &explain);
    EXPECT_LE(error_of(result, direct(whole, adjoint, ModeOrder::centred)), allowed_error(whole.problem)) << explain;
    EXPECT_NE(explain.find("exchange=" + exchange), std::string::npos) << explain;
  }
}

TEST(DistributedGpuSlabs, TypeOne) {
  compare_slabs<float>("nufft:type=1,n=10x9x24,m=300,prec=f32,tol=1e-4", ModeOrder::centred);
  compare_slabs<double>("nufft:type=1,n=6x7x40,m=200,prec=f64,tol=1e-9", ModeOrder::fft, "chunks=2,cut=columns");
}

TEST(DistributedGpuSlabs, TypeTwo) {
  compare_slabs<double>("nufft:type=2,n=10x9x24,m=300,prec=f64,tol=1e-6", ModeOrder::fft, "chunks=3,cut=planes");
  compare_slabs<float>("nufft:type=2,n=8x3x36,m=200,prec=f32,tol=1e-3", ModeOrder::centred, "chunks=2,cut=columns");
}

TEST(DistributedGpuSlabs, BatchesByKernels) {
  compare_slabs<float>("nufft:type=1,n=6x8x20,m=150,prec=f32,tol=1e-3,batch=3", ModeOrder::centred);
  const std::int64_t before = std::exchange(runtime::distributed::piece_bytes, 5000);  // planes in several launches
  compare_slabs<double>("nufft:type=2,n=6x7x21,m=150,prec=f64,tol=1e-5,batch=2", ModeOrder::fft);
  compare_slabs<float>("nufft:type=1,n=6x8x20,m=150,prec=f32,tol=1e-3", ModeOrder::centred);
  runtime::distributed::piece_bytes = before;
}

// Kept planes in the memory of the grid: planes of two kernels, in one piece and in several, each of which overwrites
// what is done with and nothing else; and planes of one kernel, which are transformed one by one (above).
TEST(DistributedGpuSlabs, KeptPlanesInTheMemoryOfTheGrid) {
  if (size_of(MPI_COMM_WORLD) == 1) return;
  for (const std::int64_t bytes : {std::int64_t{1} << 30, std::int64_t{400000}}) {
    const std::int64_t before = std::exchange(runtime::distributed::piece_bytes, bytes);
    for (const char* token : {"nufft:type=1,n=70x66x20,m=150,prec=f32,tol=1e-3",
                              "nufft:type=2,n=66x70x20,m=150,prec=f32,tol=1e-3,batch=2"}) {
      const Whole<float> whole = draw<float>(token, 13);
      for (const bool adjoint : {false, true}) {
        SCOPED_TRACE(std::string(token) + (adjoint ? " adjoint" : ""));
        const Options options = on_gpus("ranks=slabs(kept=grid)");
        std::string explain;
        const auto result = result_of(whole, Way{options, MPI_COMM_WORLD, Deal::uneven, adjoint}, &explain);
        EXPECT_LE(error_of(result, direct(whole, adjoint, ModeOrder::centred)), allowed_error(whole.problem))
            << explain;
        EXPECT_NE(explain.find("exchange=kernels,kept=grid"), std::string::npos) << explain;
      }
    }
    runtime::distributed::piece_bytes = before;
  }
}

// So many values that are not aligned as a GPU's allocations are, of which an emulated one takes a copy in any case.
std::complex<double>* off(std::vector<std::complex<double>>& array, std::int64_t count) {
  constexpr std::uintptr_t kAlignment = 256;
  array.resize(static_cast<std::size_t>(count) + 2 * kAlignment / sizeof array[0]);
  std::complex<double>* at = array.data();
  while (reinterpret_cast<std::uintptr_t>(at) % kAlignment != kAlignment / 2) ++at;
  return at;
}

// They take no memory: that of an array of whole planes is what both plans differ by.
TEST(DistributedGpuSlabs, KeptPlanesInTheGridTakeNoMemory) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1 || ranks > 3) return;
  const std::string token = "nufft:type=1,n=30x32x48,m=900,prec=f64,tol=1e-5";
  const Whole<double> whole = draw<double>(token, 3);
  const Range mine = dealt(Deal::even, 900, rank, ranks);
  std::int64_t planes = 0;
  const auto held = [&](const char* plan) {
    DistributedTransform transform(token, MPI_Comm_c2f(MPI_COMM_WORLD), on_gpus(plan));
    transform.set_points(
        {mine.size(), whole.x[0].data() + mine.begin, whole.x[1].data() + mine.begin, whole.x[2].data() + mine.begin});
    std::smatch found;
    std::regex_search(transform.plan(), found, std::regex("fine=\\d+x\\d+x(\\d+)"));
    planes = std::stoll(found[1]);
    std::vector<std::complex<double>> values, modes;
    transform.execute(off(values, mine.size()), off(modes, transform.modes().count()));
    return transform.memory().held;
  };
  const std::int64_t apart = held("ranks=slabs(exchange=kernels)"), inside = held("ranks=slabs(kept=grid)");
  const std::int64_t kept = planes * 30 * 32 * 16;
  EXPECT_NEAR(static_cast<double>(apart - inside), static_cast<double>(kept), 0.02 * static_cast<double>(kept) + 4096);
}

TEST(DistributedGpuSlabs, TwoDimensions) {
  compare_slabs<double>("nufft:type=1,n=14x50,m=400,prec=f64,tol=1e-6", ModeOrder::centred);
  compare_slabs<float>("nufft:type=2,n=9x45,m=300,prec=f32,tol=1e-4", ModeOrder::fft, "chunks=2,cut=planes");
}

TEST(DistributedGpuSlabs, Batches) {
  compare_slabs<float>("nufft:type=1,n=6x8x20,m=150,prec=f32,tol=1e-3,batch=3", ModeOrder::centred,
                       "chunks=2,cut=batch");
  compare_slabs<double>("nufft:type=2,n=8x40,m=200,prec=f64,tol=1e-5,batch=4", ModeOrder::fft, "chunks=3,cut=batch");
}

// Slabs in parts, some of which have no cells.
TEST(DistributedGpuSlabs, PointsOfSeveralParts) {
  if (size_of(MPI_COMM_WORLD) == 1) return;
  for (const char* token :
       {"nufft:type=2,n=6x7x90,m=300,prec=f64,tol=1e-6", "nufft:type=2,n=9x7x70,m=300,prec=f32,tol=1e-3,batch=2",
        "nufft:type=1,n=5x6x90,m=300,prec=f32,tol=1e-4", "nufft:type=2,n=8x100,m=300,prec=f64,tol=1e-5,batch=2"}) {
    const Problem problem = parse_problem(token);
    const bool single = problem.precision == Precision::f32;
    for (const std::string way : {"peer,parts=3", "peer,parts=2", "kernels,parts=4", "kernels,kept=grid,parts=2"}) {
      if (problem.dim == 2 && !way.starts_with("peer")) continue;
      if (size_of(MPI_COMM_WORLD) > 3 && way == "kernels,parts=4") continue;
      single ? compare_by<float>(token, way) : compare_by<double>(token, way);
    }
  }
}

// Fewer rows than ranks: some have no cells.
TEST(DistributedGpuSlabs, ThinGrids) {
  compare_slabs<float>("nufft:type=1,n=5x4x6,m=100,prec=f32,tol=1e-3", ModeOrder::centred);
  compare_slabs<double>("nufft:type=2,n=7x12,m=100,prec=f64,tol=1e-6", ModeOrder::centred);
}

// The same bits on any number of ranks, wherever the points are. Rank 0 knows those of one rank.
template <class T>
void compare_slab_bits(const std::string& token, const std::string& plan = "") {
  const Whole<T> whole = draw<T>(token, 5);
  Options options = on_gpus(plan);
  options.deterministic = true;
  int turn = slab_problems++;
  for (const bool adjoint : {false, true}) {
    SCOPED_TRACE(token + (adjoint ? " adjoint" : ""));
    const Deal deal = deal_in_turn(turn++);
    options.plan = plan;
    const auto shared = result_of(whole, Way{options, MPI_COMM_WORLD, deal, adjoint});
    if (rank_of(MPI_COMM_WORLD) != 0) continue;
    std::string explain;
    options.plan.clear();
    const auto alone = result_of(whole, Way{options, MPI_COMM_SELF, Deal::even, adjoint}, &explain);
    EXPECT_NE(explain.find("ranks=slabs"), std::string::npos) << explain;
    EXPECT_LE(error_of(alone, direct(whole, adjoint, ModeOrder::centred)), allowed_error(whole.problem));
    EXPECT_TRUE(same_bits(shared, alone)) << "deal " << static_cast<int>(deal);
  }
}

TEST(DistributedGpuSlabs, DeterministicBits) {
  compare_slab_bits<float>("nufft:type=1,n=8x10x28,m=400,prec=f32,tol=1e-4");
  compare_slab_bits<double>("nufft:type=2,n=6x8x30,m=300,prec=f64,tol=1e-7");
  compare_slab_bits<double>("nufft:type=1,n=12x50,m=400,prec=f64,tol=1e-11,batch=2");
  compare_slab_bits<float>("nufft:type=2,n=10x44,m=300,prec=f32,tol=1e-5,batch=2");
  const int ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) return;
  compare_slab_bits<double>("nufft:type=1,n=6x8x30,m=300,prec=f64,tol=1e-7", "ranks=slabs(kept=grid)");
  compare_slab_bits<float>("nufft:type=2,n=8x10x28,m=400,prec=f32,tol=1e-4", "ranks=slabs(kept=grid)");
  if (ranks > 3) return;
  compare_slab_bits<float>("nufft:type=1,n=8x10x28,m=400,prec=f32,tol=1e-4", "ranks=slabs(exchange=kernels)");
  compare_slab_bits<double>("nufft:type=2,n=6x8x30,m=300,prec=f64,tol=1e-7", "ranks=slabs(exchange=kernels)");
}

TEST(DistributedGpuSlabs, KeptPlanesAndPartsAreRefusedByNameWhereTheyCannotBe) {
  std::string message;
  const auto run = [&](const std::string& token, const std::string& plan) {
    const Whole<double> whole = draw<double>(token, 1);
    return status_of([&] { result_of(whole, Way{on_gpus(plan), MPI_COMM_WORLD, Deal::even, false}); }, &message);
  };
  const std::string cube = "nufft:type=1,n=8x8x24,m=60,prec=f64,tol=1e-4";
  EXPECT_EQ(run(cube, "ranks=slabs(kept=grid,exchange=host)"), Status::invalid_plan);
  EXPECT_NE(message.find("kept=grid is for exchange=kernels"), std::string::npos) << message;
  EXPECT_EQ(run(cube, "ranks=slabs(kept=grid,chunks=2)"), Status::invalid_plan);
  EXPECT_EQ(run(cube, "ranks=slabs(kept=nowhere)"), Status::invalid_plan);
  EXPECT_NE(message.find("no such place"), std::string::npos) << message;
  EXPECT_EQ(status_of(
                [&] {
                  DistributedTransform("fft:type=c2c,n=8x8x24,prec=f64", MPI_Comm_c2f(MPI_COMM_WORLD),
                                       on_gpus("ranks=slabs(kept=grid)"));
                },
                &message),
            Status::invalid_plan);
  EXPECT_NE(message.find("no fine grid"), std::string::npos) << message;
  EXPECT_EQ(run(cube, "ranks=slabs(exchange=host,parts=2)"), Status::invalid_plan);
  EXPECT_NE(message.find("parts=2: by messages"), std::string::npos) << message;
  EXPECT_EQ(run(cube, "ranks=slabs(parts=17)"), Status::invalid_plan);
  EXPECT_NE(message.find("parts is no such number"), std::string::npos) << message;
  if (size_of(MPI_COMM_WORLD) == 1) return;
  EXPECT_EQ(run("nufft:type=1,n=8x24,m=60,prec=f64,tol=1e-4", "ranks=slabs(kept=grid)"), Status::invalid_plan);
  EXPECT_NE(message.find("single lines"), std::string::npos) << message;
}

TEST(DistributedGpuSlabs, APointThatIsNotFiniteIsNamedOnAllRanks) {
  const std::string token = "nufft:type=1,n=8x8x24,m=60,prec=f64,tol=1e-4";
  Whole<double> whole = draw<double>(token, 3);
  whole.x[1][59] = std::nan("");
  std::string message;
  EXPECT_EQ(status_of(
                [&] {
                  result_of(whole, Way{on_gpus("ranks=slabs"), MPI_COMM_WORLD, Deal::even, false});
                },
                &message),
            Status::invalid_point);
  EXPECT_NE(message.find("coordinate y"), std::string::npos) << message;
}

// New points on the same transform: other slabs, and back.
TEST(DistributedGpuSlabs, PointsMayBeSetAgain) {
  const std::string token = "nufft:type=2,n=6x8x40,prec=f64,tol=1e-5";
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  const std::string parts = ranks > 1 ? ",exchange=peer,parts=2" : "";
  DistributedTransform transform(token, MPI_Comm_c2f(MPI_COMM_WORLD),
                                 on_gpus("ranks=slabs(balance=points" + parts + ")"));
  for (const double squeeze : {1.0, 0.1, 1.0}) {
    Whole<double> whole = draw<double>("nufft:type=2,n=6x8x40,m=250,prec=f64,tol=1e-5", 9);
    for (double& z : whole.x[2]) z *= squeeze;
    const Range mine = dealt(Deal::uneven, 250, rank, ranks);
    transform.set_points(
        {mine.size(), whole.x[0].data() + mine.begin, whole.x[1].data() + mine.begin, whole.x[2].data() + mine.begin});
    const auto modes = take(whole.modes, whole.problem.n, transform.modes(), 1);
    std::vector<std::complex<double>> values(static_cast<std::size_t>(mine.size()) + 1);
    auto own = modes;
    own.resize(own.size() + 1);
    transform.execute(values.data(), own.data());
    values.pop_back();
    EXPECT_LE(
        error_of(gathered(values, Deal::uneven, 250, 1, MPI_COMM_WORLD), direct(whole, false, ModeOrder::centred)),
        allowed_error(whole.problem))
        << squeeze;
  }
}

}  // namespace
}  // namespace fourtune::test
