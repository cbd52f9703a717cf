// The plans that the ranks' tuner lists, and the winners that a transform over ranks takes from a database.
#include "tools/ranks/rank_planning.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/known_devices.h"
#include "db/tuning_store.h"
#include "runtime/backends/emulated/emulated_backend.h"
#include "runtime/distributed/choose_plan.h"
#include "runtime/distributed/fft_cost.h"
#include "runtime/distributed/slab_cost.h"
#include "runtime/environment.h"
#include "runtime/resolve.h"
#include "runtime/validity.h"
#include "tests/support/stored_winner.h"

namespace fourtune::tools {
namespace {

using runtime::distributed::Crew;
using runtime::distributed::Kept;
using runtime::distributed::RankExchange;
using runtime::distributed::RankPlan;

const char* const kToken = "nufft:type=1,n=32x32x32,m=40000,prec=f64,tol=1e-6";

DeviceTraits rank_device() {
  DeviceTraits traits;
  traits.backend = "cpu";
  traits.name = "a processor";
  traits.isa = "avx2";
  traits.cores = 1;
  traits.memory_bytes = std::int64_t{1} << 34;
  return traits;
}

// A database with one verdict of this many ranks.
class RanksDatabase : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() /
            ("ranks-" + std::to_string(::getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(path_);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  void store(const std::string& token, const std::string& plan, const Crew& crew) {
    auto store = db::TuningStore::open_for_writing(file());
    test::store_winner(store, environment_of(crew, runtime::environment_here(rank_device())),
                       test::right_run(token, plan, 1'000'000), runtime::validity_of(parse_problem(token)));
  }
  runtime::distributed::ChosenPlan chosen(const std::string& token, const Crew& crew, const Options& options = {}) {
    const db::Lookup lookup = db::Lookup::load(file());
    return choose_on_first(crew, parse_problem(token), rank_device(), options, &lookup);
  }
  std::filesystem::path file() const { return path_ / "tuning.db"; }

  std::filesystem::path path_;
};

// Not what would run untuned.
std::string some_plan(const std::string& token, const Crew& crew) {
  const Problem problem = parse_problem(token);
  const RankPlanning planning(crew, rank_device());
  for (const std::string& text : planning.list(problem).texts)
    if (text.starts_with("ranks=slabs(balance=planes,chunks=8,cut=columns)")) return text;
  return {};
}

TEST(RankPlanning, ListsPlansThatAreRightOnceEach) {
  for (const char* token :
       {kToken, "nufft:type=2,n=64x48,m=900,prec=f32,tol=1e-4,batch=6", "fft:type=r2c,n=40x36x32,prec=f32,batch=3",
        "nufft:type=3,dim=2,m=900,k=800,prec=f64,tol=1e-6"}) {
    const Problem problem = parse_problem(token);
    const RankPlanning planning({4, 1}, rank_device());
    const tuner::ListedPlans listed = planning.list(problem);
    ASSERT_FALSE(listed.texts.empty()) << token;
    EXPECT_EQ(listed.space.size(), listed.texts.size());
    EXPECT_EQ(listed.space.estimates.size(), listed.texts.size());
    EXPECT_EQ(std::set<std::string>(listed.texts.begin(), listed.texts.end()).size(), listed.texts.size());
    EXPECT_EQ(std::set(listed.space.coordinates.begin(), listed.space.coordinates.end()).size(), listed.texts.size());
    std::set<std::string> heads;
    for (const std::string& text : listed.texts) {
      EXPECT_EQ(planning.fault(text, problem), "") << text;
      EXPECT_EQ(to_text(runtime::distributed::parse_tuned(text, problem, 4), problem), text);
      heads.insert(text.substr(0, text.find(';')));
    }
    EXPECT_EQ(heads.contains("ranks=replicated"), problem.kind == Kind::nufft);
    EXPECT_GT(heads.size(), 8U) << token;
    EXPECT_EQ(planning.fault(planning.untuned(problem), problem), "") << planning.untuned(problem);
  }
}

TEST(RankPlanning, ProblemsInThreeDimensionsTryEveryGrid) {
  const auto grids_in = [](const std::string& token, const Crew& crew, const DeviceTraits& traits) {
    std::set<std::string> grids;
    for (const std::string& text : RankPlanning(crew, traits).list(parse_problem(token)).texts)
      if (text.starts_with("ranks=pencils(grid=")) grids.insert(text.substr(19, text.find(',') - 19));
    return grids;
  };
  using Grids = std::set<std::string>;
  EXPECT_EQ(grids_in("fft:type=r2c,n=40x36x32,prec=f32", {8, 1}, rank_device()), (Grids{"2x4", "4x2", "8x1"}));
  EXPECT_EQ(grids_in("fft:type=c2c,n=40x36x32,prec=f32", {5, 1}, rank_device()), (Grids{"5x1"}));
  EXPECT_EQ(grids_in(kToken, {8, 1}, rank_device()), (Grids{"2x4", "4x2", "8x1"}));
  EXPECT_EQ(grids_in("nufft:type=2,n=16x16x16,m=100,prec=f32,tol=1e-3", {3, 1}, rank_device()), (Grids{"3x1"}));
  EXPECT_EQ(grids_in("nufft:type=1,n=40x36,m=900,prec=f32,tol=1e-3", {4, 1}, rank_device()), Grids{});
  EXPECT_EQ(grids_in("nufft:type=3,dim=3,m=900,k=900,prec=f32,tol=1e-3", {4, 1}, rank_device()), Grids{});
  EXPECT_EQ(grids_in("fft:type=c2c,n=40x36,prec=f32", {4, 1}, rank_device()), Grids{});
  EXPECT_EQ(grids_in("fft:type=c2c,n=32x32x32,prec=f32", {4, 1}, runtime::emulated::emulated_traits()),
            (Grids{"2x2", "4x1"}));
  EXPECT_EQ(grids_in(kToken, {4, 1}, runtime::emulated::emulated_traits()), Grids{});
}

TEST(RankPlanning, PencilsOnGpusTryEveryExchangeThatCopies) {
  Crew crew{4, 1};
  crew.means.gpus = true;
  crew.means.no_peer.clear(), crew.means.no_nccl.clear();
  std::set<std::string> exchanges;
  for (const std::string& text : RankPlanning(crew, runtime::emulated::emulated_traits())
                                     .list(parse_problem("fft:type=c2c,n=32x32x32,prec=f32"))
                                     .texts)
    if (const auto at = text.find("exchange="); text.starts_with("ranks=pencils("))
      exchanges.insert(text.substr(at + 9, text.find(')') - at - 9));
  EXPECT_EQ(exchanges, (std::set<std::string>{"host", "nccl", "peer"}));
}

Crew gpus_that_see_each_other(int ranks, double bytes) {
  Crew crew{ranks, 1};
  crew.means.gpus = true;
  crew.means.no_peer.clear();
  crew.device_bytes = static_cast<std::int64_t>(bytes);
  return crew;
}

// 1280^3 modes and their grid: two GPUs of 80 GB hold them if kept planes take no memory, two of 140 GB in any case.
TEST(RankPlanning, PlanesAreKeptInTheGridWhereMemoryIsShort) {
  const Problem large = parse_problem("nufft:type=1,n=1280x1280x1280,m=100000000,prec=f64,tol=1e-9");
  const DeviceTraits h100 = *generator::known_device("h100");
  Options options;
  const auto plan = [&](double bytes) {
    return choose_on_first(gpus_that_see_each_other(2, bytes), large, h100, options, nullptr).plan;
  };
  EXPECT_EQ(plan(84e9).kept, Kept::grid);
  EXPECT_EQ(plan(84e9).exchange, RankExchange::kernels);
  EXPECT_LE(device_slab_bytes(plan(84e9), large, 2), 84e9);
  EXPECT_EQ(plan(139e9).kept, Kept::apart);
  // So does a larger GPU of which others have the rest.
  const RankPlan shared =
      choose_on_first(gpus_that_see_each_other(2, 84e9), large, *generator::known_device("h200"), options, nullptr)
          .plan;
  EXPECT_EQ(shared.kept, Kept::grid);
  EXPECT_LE(device_slab_bytes(shared, large, 2), 84e9);
  EXPECT_EQ(plan(0).kept, Kept::apart);  // nobody knows how much there is
  options.plan = "ranks=slabs(exchange=kernels,kept=apart)";
  EXPECT_EQ(plan(84e9).kept, Kept::apart);
  options.plan = "ranks=slabs(exchange=peer)";
  EXPECT_EQ(plan(84e9).exchange, RankExchange::peer);
}

TEST(RankPlanning, KernelsOfUpToEightRanksFindPlanesInTheGrid) {
  const auto places = [](int ranks) {
    std::set<std::string> found;
    const RankPlanning planning(gpus_that_see_each_other(ranks, 0), runtime::emulated::emulated_traits());
    for (const std::string& text : planning.list(parse_problem(kToken)).texts) {
      if (text.find("exchange=kernels)") != std::string::npos) found.insert("apart");
      if (text.find("exchange=kernels,kept=grid)") != std::string::npos) found.insert("grid");
    }
    return found;
  };
  EXPECT_EQ(places(3), (std::set<std::string>{"apart", "grid"}));
  EXPECT_EQ(places(8), std::set<std::string>{"grid"});
  EXPECT_EQ(places(9), std::set<std::string>{});
}

TEST(RankPlanning, ValuesOfManyPointsComeBackInParts) {
  Options options;
  const auto parts = [&](const char* token, const char* plan = "") {
    options.plan = plan;
    const DeviceTraits h100 = *generator::known_device("h100");
    return choose_on_first(gpus_that_see_each_other(2, 0), parse_problem(token), h100, options, nullptr).plan.parts;
  };
  const char* const many = "nufft:type=2,n=512x512x512,m=500000000,prec=f32,tol=1e-5";
  EXPECT_GT(parts(many), 1);
  EXPECT_EQ(parts(many, "ranks=slabs(parts=1)"), 1);
  EXPECT_EQ(parts(many, "ranks=slabs(exchange=host)"), 1);
  EXPECT_EQ(parts("nufft:type=2,n=512x512x512,m=5000000,prec=f32,tol=1e-5"), 1);
  EXPECT_EQ(parts("nufft:type=1,n=512x512x512,m=500000000,prec=f32,tol=1e-5"), 1);
  options.deterministic = true;
  EXPECT_EQ(parts(many), 1);
  options.deterministic = false;
  std::set<std::string> found;
  const RankPlanning planning(gpus_that_see_each_other(2, 0), *generator::known_device("h100"));
  for (const std::string& text : planning.list(parse_problem(many)).texts)
    for (const char* const way : {"peer)", "peer,parts=2)", "peer,parts=4)", "kernels,kept=grid,parts=2)"})
      if (text.find(way) != std::string::npos) found.insert(way);
  EXPECT_EQ(found.size(), 4U);
}

TEST(RankPlanning, EstimatesOfGridsSayWhatIsBetter) {
  using runtime::distributed::best_grid;
  using runtime::distributed::fft_sent;
  using runtime::distributed::fft_work;
  using runtime::distributed::RankGrid;
  const Problem cube = parse_problem("fft:type=c2c,n=64x64x64,prec=f64");
  // All grids of a cube share the work evenly; two exchanges send more than one.
  EXPECT_EQ(fft_work(cube, {2, 4}), fft_work(cube, {1, 8}));
  EXPECT_GT(fft_sent(cube, {2, 4}), fft_sent(cube, {1, 8}));
  EXPECT_EQ(best_grid(cube, 8), (RankGrid{1, 8}));
  // With few planes they are the fewer parts, and nobody is idle.
  EXPECT_EQ(best_grid(parse_problem("fft:type=c2c,n=64x8x4,prec=f64"), 16), (RankGrid{8, 2}));
  // One exchange is enough where y is long.
  EXPECT_EQ(best_grid(parse_problem("fft:type=c2c,n=64x64x4,prec=f64"), 16), (RankGrid{16, 1}));
  EXPECT_EQ(best_grid(parse_problem("fft:type=c2c,n=64x64x2,prec=f64"), 7), (RankGrid{7, 1}));
  // A transform and its inverse have the same grid.
  for (const int ranks : {2, 6, 12, 30}) {
    const Problem there = parse_problem("fft:type=r2c,n=50x6x7,prec=f32");
    EXPECT_EQ(best_grid(there, ranks), best_grid(parse_problem("fft:type=c2r,n=50x6x7,prec=f32,sign=1"), ranks));
    EXPECT_EQ(best_grid(there, ranks).ranks(), ranks);
  }
}

TEST(RankPlanning, EstimatesOfGridsOfPointsSayWhatIsBetter) {
  using namespace runtime::distributed;
  const Problem cube = parse_problem("nufft:type=1,n=128x128x128,m=1000,prec=f64,tol=1e-6");
  const Problem flat = parse_problem("nufft:type=1,n=128x128x16,m=1000,prec=f64,tol=1e-6");
  generator::Plan of_cube = generator::default_plan(cube, rank_device());
  of_cube.window.fine = {256, 256, 256};
  of_cube.window.width = 7;
  of_cube.cpu().sort.tile = {16, 16, 16};
  generator::Plan of_flat = of_cube;
  of_flat.window.fine[2] = 32;
  EXPECT_EQ(pencil_cells(of_cube, {2, 2}), pencil_cells(of_cube, {1, 4}));
  EXPECT_GT(pencil_sent(of_cube, cube, {2, 2}), pencil_sent(of_cube, cube, {1, 4}));
  EXPECT_EQ(best_points_grid(of_cube, cube, 4), (RankGrid{1, 4}));
  EXPECT_FALSE(slabs_are_too_few(of_cube, 3, 4));
  // Few rows of tiles along z, so that more ranks have to share planes.
  EXPECT_TRUE(slabs_are_too_few(of_flat, 3, 16));
  EXPECT_GT(best_points_grid(of_flat, flat, 16).in_plane, 1);
  EXPECT_LT(pencil_cells(of_flat, best_points_grid(of_flat, flat, 16)), pencil_cells(of_flat, {1, 16}));
}

TEST(RankPlanning, GpusTryTheExchangesThatThereAre) {
  DeviceTraits gpu = runtime::emulated::emulated_traits();
  const Problem problem = parse_problem("fft:type=c2c,n=32x32x32,prec=f32");
  const auto exchanges = [&](const Crew& crew) {
    std::set<std::string> found;
    for (const std::string& text : RankPlanning(crew, gpu).list(problem).texts) {
      EXPECT_EQ(RankPlanning(crew, gpu).fault(text, problem), "") << text;
      const std::size_t at = text.find("exchange=");
      found.insert(text.substr(at, text.find(')') - at));
    }
    return found;
  };
  EXPECT_EQ(exchanges({2, 1, {"", "not aware", "several machines"}}),
            (std::set<std::string>{"exchange=nccl", "exchange=host"}));
  EXPECT_EQ(exchanges({2, 1, {"shared", "", "several machines"}}),
            (std::set<std::string>{"exchange=mpi", "exchange=host"}));
  EXPECT_EQ(exchanges({2, 1, {"shared", "not aware", ""}}),
            (std::set<std::string>{"exchange=kernels", "exchange=peer", "exchange=host"}));
  EXPECT_EQ(exchanges({4, 1, {"shared", "not aware", ""}}), (std::set<std::string>{"exchange=peer", "exchange=host"}));
  const RankPlanning two({2, 1, {"shared", "not aware", ""}}, gpu);
  const auto untuned_has = [&](const char* token, const char* word) {
    return two.untuned(parse_problem(token)).find(word) != std::string::npos;
  };
  EXPECT_TRUE(untuned_has("fft:type=c2c,n=32x32x32,prec=f32", "exchange=peer"));
  EXPECT_TRUE(untuned_has("fft:type=c2c,n=512x512x512,prec=f32", "chunks=1,cut=planes,exchange=kernels"));
  EXPECT_TRUE(untuned_has("fft:type=c2c,n=512x512x509,prec=f32", "exchange=peer"));
  const std::string untuned = RankPlanning({2, 1, {"", "", "several machines"}}, gpu).untuned(problem);
  EXPECT_NE(untuned.find("exchange=nccl"), std::string::npos) << untuned;
}

// In one piece or by groups of a batch, and untuned, too.
TEST(RankPlanning, RanksOfOneMachineTrySharedMemory) {
  runtime::distributed::ExchangeMeans means;
  means.no_shared.clear();
  for (const char* token :
       {"fft:type=c2c,n=64x64,prec=f32,batch=8", "nufft:type=2,n=64x48,m=900,prec=f32,tol=1e-4,batch=8"}) {
    const Problem problem = parse_problem(token);
    for (const bool shared : {true, false}) {
      const RankPlanning planning({4, 1, shared ? means : runtime::distributed::ExchangeMeans{}}, rank_device());
      std::set<std::string> heads;
      for (const std::string& text : planning.list(problem).texts) {
        EXPECT_EQ(planning.fault(text, problem), "") << text;
        if (text.find("exchange=shared") != std::string::npos) heads.insert(text.substr(0, text.find(';')));
      }
      const std::string balance = problem.kind == Kind::fft ? "" : "balance=points,";
      EXPECT_EQ(heads.contains("ranks=slabs(" + balance + "chunks=1,cut=planes,exchange=shared)"), shared);
      EXPECT_EQ(heads.contains("ranks=slabs(" + balance + "chunks=4,cut=batch,exchange=shared)"), shared);
      EXPECT_FALSE(heads.contains("ranks=slabs(" + balance + "chunks=4,cut=planes,exchange=shared)"));
      EXPECT_EQ(planning.untuned(problem).find("exchange=shared") != std::string::npos, shared)
          << planning.untuned(problem);
    }
  }
}

TEST(RankPlanning, GpusTrySlabsWithPointsWhereEveryRankHasOne) {
  const DeviceTraits gpu = runtime::emulated::emulated_traits();
  for (const char* token :
       {"nufft:type=1,n=32x32x32,m=40000,prec=f32,tol=1e-4", "nufft:type=2,n=64x48,m=9000,prec=f64,tol=1e-6"}) {
    const Problem problem = parse_problem(token);
    for (const bool all : {true, false}) {
      const RankPlanning planning({2, 1, {"", "not aware", "several machines", all}}, gpu);
      std::set<std::string> heads;
      for (const std::string& text : planning.list(problem).texts) {
        EXPECT_EQ(planning.fault(text, problem), "") << text;
        heads.insert(text.substr(0, text.find(';')));
      }
      EXPECT_TRUE(heads.contains("ranks=replicated(exchange=nccl)"));
      EXPECT_EQ(heads.contains("ranks=slabs(balance=points,chunks=4,cut=columns,exchange=nccl)"), all) << token;
    }
  }
}

TEST_F(RanksDatabase, TheWinnerOfAsManyRanksIsTaken) {
  const std::string plan = some_plan(kToken, {3, 1});
  ASSERT_FALSE(plan.empty());
  store(kToken, plan, {3, 1});
  const auto taken = chosen(kToken, {3, 1});
  EXPECT_EQ(to_text(taken.plan, parse_problem(kToken)), plan);
  EXPECT_NE(taken.explain.find("tuned on as many ranks for"), std::string::npos) << taken.explain;
  // Its validity covers other numbers of points up to a factor of two.
  const std::string more = "nufft:type=1,n=32x32x32,m=70000,prec=f64,tol=1e-6";
  EXPECT_EQ(to_text(chosen(more, {3, 1}).plan, parse_problem(more)), plan);
  const std::string many = "nufft:type=1,n=32x32x32,m=90000,prec=f64,tol=1e-6";
  EXPECT_NE(to_text(chosen(many, {3, 1}).plan, parse_problem(many)), plan);
}

TEST_F(RanksDatabase, OtherRanksMachinesAndProcessesDoNotTakeIt) {
  const std::string plan = some_plan(kToken, {3, 1});
  store(kToken, plan, {3, 1});
  const Problem problem = parse_problem(kToken);
  for (const Crew& crew : {Crew{2, 1}, Crew{3, 3}, Crew{4, 1}})
    EXPECT_NE(to_text(chosen(kToken, crew).plan, problem), plan) << crew.ranks;
  const db::Lookup lookup = db::Lookup::load(file());
  EXPECT_EQ(runtime::resolve(problem, rank_device(), &lookup, "").source, runtime::Source::model);
}

TEST_F(RanksDatabase, TheSameBitsOnAnyNumberOfRanksNeedTheSamePlan) {
  const std::string plan = some_plan(kToken, {3, 1});
  store(kToken, plan, {3, 1});
  Options options;
  options.deterministic = true;
  const Problem problem = parse_problem(kToken);
  EXPECT_EQ(to_text(chosen(kToken, {3, 1}, options).plan, problem),
            to_text(chosen(kToken, {2, 1}, options).plan, problem));
}

// Tuned pencils decide about the parts of a transform and of its inverse, whose own winner has to have them too.
TEST_F(RanksDatabase, AnInverseHasThePartsOfItsTunedTransform) {
  const std::string there = "fft:type=r2c,n=40x36x32,prec=f64", back = "fft:type=c2r,n=40x36x32,prec=f64,sign=1";
  const std::string local = ";cpu;threads=1;fft=rows(block=16,rigor=estimate)";
  const auto grid_of = [&](const std::string& token) { return to_string(chosen(token, {4, 1}).plan.grid); };
  store(back, "ranks=pencils(grid=4x1,chunks=1,cut=planes)" + local, {4, 1});
  EXPECT_EQ(grid_of(there), "1x4");
  EXPECT_EQ(grid_of(back), "1x4");
  EXPECT_NE(chosen(back, {4, 1}).explain.find("passed over: the tuned plan has parts"), std::string::npos);
  store(there, "ranks=pencils(grid=2x2,chunks=2,cut=planes)" + local, {4, 1});
  EXPECT_EQ(grid_of(there), "2x2");
  EXPECT_EQ(grid_of(back), "2x2");
  EXPECT_NE(chosen(back, {4, 1}).explain.find("the inverse of has been tuned so"), std::string::npos)
      << chosen(back, {4, 1}).explain;
  store(back, "ranks=pencils(grid=2x2,chunks=4,cut=columns)" + local, {4, 1});
  EXPECT_EQ(chosen(back, {4, 1}).plan.chunks.count, 4);
  // A plan of other ranks is none, and the one before it is taken.
  store(there, "ranks=pencils(grid=2x4,chunks=1,cut=planes)" + local, {4, 1});
  EXPECT_EQ(grid_of(there), "2x2");
  EXPECT_NE(chosen(there, {4, 1}).explain.find("grids of 4: 1x4, 2x2, 4x1"), std::string::npos)
      << chosen(there, {4, 1}).explain;
}

TEST_F(RanksDatabase, StoredPlansThatCannotBeRightArePassedOver) {
  const Problem problem = parse_problem(kToken);
  const std::string untuned = RankPlanning({3, 1}, rank_device()).untuned(problem);
  std::string loose = some_plan(kToken, {3, 1});
  const auto width = loose.find("width=");
  loose.replace(width, loose.find_first_of(",)", width) - width, "width=2");
  for (const std::string& wrong : {loose, std::string("ranks=replicated;nonsense"),
                                   std::string("ranks=slabs(chunks=0);cpu"), std::string("cpu;threads=1")}) {
    SCOPED_TRACE(wrong);
    store(kToken, wrong, {3, 1});
    const auto taken = chosen(kToken, {3, 1});
    EXPECT_EQ(to_text(taken.plan, problem), untuned);
    EXPECT_NE(taken.explain.find("passed over"), std::string::npos) << taken.explain;
    EXPECT_NE(RankPlanning({3, 1}, rank_device()).fault(wrong, problem), "");
  }
}

// Cells of the busiest rank and of a last row of tiles.
std::array<std::int64_t, 2> busiest_and_last(std::int64_t cells, std::int64_t side, int ranks) {
  const std::int64_t rows = (cells + side - 1) / side;
  return {std::min((rows + ranks - 1) / ranks * side, cells), cells - (rows - 1) * side};
}

TEST(RowsOfTiles, AreSharedEvenlyWhereThatPays) {
  const Problem problem = parse_problem("nufft:type=1,n=120x120x120,m=4000000,prec=f64,tol=1e-9");
  Options options;
  options.plan = "ranks=slabs";
  const Crew crew{2, 1};
  const auto side = [&](const Options& now) {
    return runtime::distributed::choose_on_first(crew, problem, rank_device(), now, nullptr)
        .plan.local.cpu()
        .sort.tile[2];
  };
  EXPECT_EQ(side(options), 15);  // 15 rows of 16 cells would be 8 and 7
  options.deterministic = true;
  EXPECT_EQ(side(options), 16);  // bits follow from the tiles

  generator::Plan plan = runtime::distributed::fit_for_slabs(runtime::resolve(problem, rank_device(), nullptr, {}).plan,
                                                             problem, rank_device(), false);
  const std::int64_t least = plan.window.width - 1;
  for (const int usual : {16, 32})
    for (std::int64_t cells = 32; cells <= 600; cells += 4)
      for (int ranks = 1; ranks <= 9; ++ranks) {
        plan.window.fine[2] = cells, plan.cpu().sort.tile[2] = usual;
        runtime::distributed::fit_rows(plan, 2);
        const std::int64_t before = std::min<std::int64_t>(plan.cpu().sort.tile[2], cells);
        runtime::distributed::even_rows(plan, 2, ranks);
        const std::int64_t after = std::min<std::int64_t>(plan.cpu().sort.tile[2], cells);
        if (after == before) continue;
        const auto [busiest, last] = busiest_and_last(cells, after, ranks);
        EXPECT_LT(busiest, busiest_and_last(cells, before, ranks)[0]) << cells << " cells, " << ranks << " ranks";
        EXPECT_GE(std::min(last, after), least) << cells << " cells, " << ranks << " ranks";
        EXPECT_LE(std::abs(after - before), before / 4);
      }
}

}  // namespace
}  // namespace fourtune::tools
