// Which plan runs: forced, tuned, that of a neighbouring problem, or the model's; and that explain reports it.
#include "runtime/resolve.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/known_devices.h"
#include "db/lookup.h"
#include "db/pack_writer.h"
#include "db/tuning_store.h"
#include "generator/candidates.h"
#include "runtime/backends/families.h"
#include "runtime/environment.h"
#include "runtime/neighbour.h"
#include "runtime/record_points.h"
#include "runtime/validity.h"
#include "tests/support/stored_winner.h"

namespace fourtune::runtime {
namespace {

const char* const kToken = "nufft:type=1,n=128x128,m=200000,prec=f32,tol=1e-3";

class Resolve : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("fourtune-resolve-" + std::to_string(getpid()) + "-" +
                                                        testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    traits_ = cpu_traits();
    traits_.cores = 2;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path store(const char* name, const std::string& token, const std::string& plan) {
    return store(name, token, plan, environment_here(traits_));
  }
  std::filesystem::path store(const char* name, const std::string& token, const std::string& plan,
                              const db::Environment& measured) {
    auto path = folder_ / name;
    auto store = db::TuningStore::open_for_writing(path);
    db::Run run = test::right_run(token, plan);
    run.wisdom = "some wisdom";
    std::string validity;
    try {
      validity = validity_of(parse_problem(token));
    } catch (const Error&) {
    }
    test::store_winner(store, measured, run, validity);
    return path;
  }
  // A plan that the model would not choose.
  std::string odd_plan(const char* token) {
    const Problem problem = parse_problem(token);
    generator::Plan plan = generator::default_plan(problem, traits_);
    plan.cpu().spread.cap = 777;
    return generator::to_text(plan, problem);
  }
  Resolution resolve_in(const std::filesystem::path& path, const char* token) {
    const auto lookup = db::Lookup::load(path);
    return resolve(parse_problem(token), traits_, &lookup, "");
  }

  std::filesystem::path folder_;
  DeviceTraits traits_;
};

TEST_F(Resolve, WithoutADatabaseTheModelChooses) {
  const Resolution out = resolve(parse_problem(kToken), traits_, nullptr, "");
  EXPECT_EQ(out.source, Source::model);
  EXPECT_EQ(out.plan, generator::default_plan(parse_problem(kToken), traits_));
  EXPECT_NE(out.explain.find("model"), std::string::npos);
}

TEST_F(Resolve, AForcedPlanWinsOverAVerdictAndABadOneIsRefused) {
  const auto lookup = db::Lookup::load(store("a.db", kToken, odd_plan(kToken)));
  const Problem problem = parse_problem(kToken);
  const std::string text = generator::to_text(generator::default_plan(problem, traits_), problem);
  EXPECT_EQ(resolve(problem, traits_, &lookup, text).source, Source::forced);
  EXPECT_THROW(resolve(problem, traits_, &lookup, "cpu;nonsense"), Error);
}

TEST_F(Resolve, TheVerdictOfTheSameTokenIsUsedWithItsWisdom) {
  const Resolution out = resolve_in(store("a.db", kToken, odd_plan(kToken)), kToken);
  EXPECT_EQ(out.source, Source::verdict);
  EXPECT_EQ(out.plan.cpu().spread.cap, 777);
  EXPECT_EQ(out.wisdom, "some wisdom");
  EXPECT_NE(out.explain.find("a.db"), std::string::npos);
}

TEST_F(Resolve, APlanOfFftwIsPassedOverWhereTheBuildHasNone) {
  const char* token = "fft:type=c2c,n=60x60,prec=f64";
  const Resolution out = resolve_in(store("a.db", token, "cpu;threads=1;fft=fftw(rigor=measure)"), token);
  EXPECT_EQ(out.source, has_fftw() ? Source::verdict : Source::model) << out.explain;
  EXPECT_EQ(out.plan.cpu().fft.family, has_fftw() ? generator::FftFamily::fftw : generator::FftFamily::rows);
  EXPECT_EQ(out.explain.find("passed over: the plan stored for fft:type=c2c,n=60x60,prec=f64: fft=fftw: this build has "
                             "no FFTW") != std::string::npos,
            !has_fftw())
      << out.explain;
}

// Tuned with two cores, used with more, as on a larger machine of the same name.
TEST_F(Resolve, APlanOfAllCoresTakesThoseThatTheModelWouldTakeHere) {
  const auto path = store("a.db", kToken, odd_plan(kToken));
  const std::string one_thread = "cpu;threads=1" + odd_plan(kToken).substr(std::string("cpu;threads=2").size());
  const auto few = store("few.db", kToken, one_thread);
  traits_.cores = 6;
  const Resolution more = resolve_in(path, kToken);
  EXPECT_EQ(more.source, Source::verdict) << more.explain;
  EXPECT_EQ(more.plan.cpu().threads, generator::default_plan(parse_problem(kToken), traits_).cpu().threads);
  EXPECT_GT(more.plan.cpu().threads, 2);
  EXPECT_EQ(more.plan.cpu().spread.cap, 777);
  EXPECT_EQ(resolve_in(few, kToken).plan.cpu().threads, 1) << "fewer than all were better";
}

// Measured on another device of the same instruction set.
TEST_F(Resolve, APlanOfAKindredDeviceIsAdaptedWhereTheModelDoesNotObject) {
  db::Environment kindred = environment_here(traits_);
  DeviceTraits other = traits_;
  other.cores *= 2;
  kindred.device = "Another CPU", kindred.traits = db::traits_text(other);
  const Resolution out = resolve_in(store("a.db", kToken, odd_plan(kToken), kindred), kToken);
  EXPECT_EQ(out.source, Source::nearest) << out.explain;
  EXPECT_EQ(out.plan.cpu().spread.cap, 777);
  EXPECT_NE(out.explain.find("measured on Another CPU"), std::string::npos) << out.explain;
  // What was measured on this device goes first, also for a neighbour.
  const char* const neighbour = "nufft:type=1,n=120x128,m=200000,prec=f32,tol=1e-3";
  const auto both = store("both.db", kToken, odd_plan(kToken), kindred);
  store("both.db", neighbour, odd_plan(neighbour));
  EXPECT_NE(resolve_in(both, kToken).explain.find("tuned for " + std::string(neighbour)), std::string::npos);
  // A device eight times as large is too far.
  db::Environment far = kindred;
  other.cores *= 4, far.traits = db::traits_text(other);
  EXPECT_EQ(resolve_in(store("far.db", kToken, odd_plan(kToken), far), kToken).source, Source::model);
  // A plan that takes nine times the grid for few points.
  const char* const few = "nufft:type=1,n=512x512,m=2000,prec=f32,tol=1e-3";
  const Problem problem = parse_problem(few);
  generator::Plan wasteful = generator::default_plan(problem, traits_);
  wasteful.window.sigma = 3, wasteful.window.fine = {1536, 1536, 1};
  const Resolution own = resolve_in(store("b.db", few, generator::to_text(wasteful, problem), kindred), few);
  EXPECT_EQ(own.source, Source::model) << own.explain;
  EXPECT_NE(own.explain.find("times the time of the plan that it would choose"), std::string::npos) << own.explain;
  EXPECT_EQ(resolve_in(store("c.db", few, generator::to_text(wasteful, problem)), few).source, Source::verdict);
}

// Of several measurements the one counts that is most like what happens here.
TEST_F(Resolve, ABorrowedPlansLossIsToldFromWhatPacksSay) {
  const std::string here = traits_.name;
  db::PackContents contents;
  contents.manifest = {"lender", "1", "CC0", "fourtune 0", environment_here(traits_).generator, {}};
  const auto explained = [&](const db::Environment& measured, const char* token) {
    db::PackPlan plan;
    plan.verdict.problem = kToken, plan.verdict.plan = odd_plan(kToken), plan.verdict.winner_ns = 1000;
    plan.environment = measured;
    const Neighbourhood where = neighbourhood_of(parse_problem(kToken));
    plan.kin = where.kin, plan.size = where.size;
    contents.plans = {plan};
    db::write_file(folder_ / "lender.pack", db::pack_bytes(contents));
    const std::vector<db::PlanSource> packs{{folder_ / "lender.pack", {}}};
    const auto lookup = db::Lookup::load({}, packs);
    return resolve(parse_problem(token), traits_, &lookup, "");
  };
  const char* const neighbour = "nufft:type=1,n=120x128,m=200000,prec=f32,tol=1e-3";
  db::Environment kindred = environment_here(traits_);
  kindred.device = "Another CPU";
  DeviceTraits other = traits_;
  other.cores *= 2, kindred.traits = db::traits_text(other);

  EXPECT_NE(explained(environment_here(traits_), neighbour).explain.find("expected loss: not known"),
            std::string::npos);
  contents.manifest.borrowings = {{"A third", "A third", "nufft", 90, 0.99, 0.98, "2026-11-25"},
                                  {here, here, "fft", 80, 0.99, 0.98, "2026-11-25"},
                                  {here, here, "nufft", 31, 0.8, 0.5, "2026-11-26"},
                                  {here, "A third", "nufft", 70, 0.99, 0.98, "2026-11-25"},
                                  {here, "Another CPU", "nufft", 2, 0.5, 0.25, "2026-11-27"}};
  const Resolution near = explained(environment_here(traits_), neighbour);
  EXPECT_EQ(near.source, Source::nearest) << near.explain;
  EXPECT_EQ(near.tuned_on, here);
  EXPECT_NE(near.explain.find("expected loss: 25 % of the time of a plan tuned here, at most 100 % (31 nonuniform "
                              "problems on " +
                              here + " with plans of neighbours, 2026-11-26, from the pack lender 1)"),
            std::string::npos)
      << near.explain;
  const Resolution foreign = explained(kindred, kToken);
  EXPECT_EQ(foreign.tuned_on, "Another CPU");
  EXPECT_NE(foreign.explain.find("(2 nonuniform problems on " + here + " with plans of Another CPU, 2026-11-27"),
            std::string::npos)
      << foreign.explain;
  // A plan that was tuned for this problem here loses nothing.
  const Resolution own = explained(environment_here(traits_), kToken);
  EXPECT_EQ(own.source, Source::verdict);
  EXPECT_EQ(own.explain.find("expected loss"), std::string::npos) << own.explain;
  // Measured elsewhere is better than nothing.
  contents.manifest.borrowings.resize(1);
  EXPECT_NE(explained(environment_here(traits_), neighbour).explain.find("on A third with plans of neighbours"),
            std::string::npos);
}

TEST_F(Resolve, AVerdictServesPointCountsInsideItsValidity) {
  const auto path = store("a.db", kToken, odd_plan(kToken));
  const Resolution inside = resolve_in(path, "nufft:type=1,n=128x128,m=150000,prec=f32,tol=1e-3");
  EXPECT_EQ(inside.source, Source::verdict);
  EXPECT_EQ(inside.plan.cpu().spread.cap, 777);
}

TEST_F(Resolve, AVerdictServesTheOtherSignAsItIs) {
  for (const char* token : {kToken, "fft:type=c2c,n=96x80,prec=f64"}) {
    const Problem problem = parse_problem(token);
    generator::Plan plan = generator::default_plan(problem, traits_);
    plan.cpu().threads = 1;
    const std::string text = generator::to_text(plan, problem);
    const Resolution out = resolve_in(store("sign.db", token, text), (std::string(token) + ",sign=1").c_str());
    EXPECT_EQ(out.source, Source::verdict) << out.explain;
    EXPECT_EQ(generator::to_text(out.plan, problem), text);
    std::filesystem::remove_all(folder_ / "sign.db");
  }
}

TEST_F(Resolve, InsideItsValidityThePlanIsTakenUnchanged) {
  const Problem problem = parse_problem(kToken);
  generator::Plan plan = generator::default_plan(problem, traits_);
  ++plan.window.width;  // proved right as it is; binding it again would change it
  const std::string text = generator::to_text(plan, problem);
  const auto path = store("a.db", kToken, text);
  const Resolution out = resolve_in(path, "nufft:type=1,n=128x128,m=150000,prec=f32,tol=1e-3");
  EXPECT_EQ(generator::to_text(out.plan, problem), text);
}

TEST_F(Resolve, OutsideItsValidityAVerdictIsOnlyANeighbourAndExplainSaysSo) {
  const auto path = store("a.db", kToken, odd_plan(kToken));
  const Resolution outside = resolve_in(path, "nufft:type=1,n=128x128,m=1000000,prec=f32,tol=1e-3");
  EXPECT_EQ(outside.source, Source::nearest);
  EXPECT_NE(outside.explain.find("m=1e+06 is outside"), std::string::npos) << outside.explain;
}

TEST_F(Resolve, ANeighboursPlanIsAdaptedToSizeAndTolerance) {
  const auto path = store("a.db", kToken, odd_plan(kToken));
  const Resolution out = resolve_in(path, "nufft:type=1,n=160x150,m=300000,prec=f32,tol=1e-4");
  EXPECT_EQ(out.source, Source::nearest);
  EXPECT_EQ(out.plan.cpu().spread.cap, 777);
  EXPECT_GE(out.plan.window.fine[0], 160);
  EXPECT_LE(generator::predicted_error(out.plan.window.kind, out.plan.window.width, out.plan.window.sigma, 2), 1.5e-4);
}

// Both were seen on an H200: a plan of one transform at a time, for a batch of 12, took five times as long as the
// model's.
TEST_F(Resolve, APlanOfAGpuTakesAWholeBatchWhereItTookOneBefore) {
  traits_ = generator::known_device("h200").value();
  const char* const batch = "nufft:type=1,n=64x32x12,m=21424,prec=f32,tol=2.5e-2,batch=12,points=radial";
  const char* const single = "nufft:type=1,n=64x32x12,m=20000,prec=f32,tol=2.5e-2,points=radial";
  generator::Plan plan = generator::default_plan(parse_problem(batch), traits_);
  plan.chunk = 1;
  const Resolution out = resolve_in(store("a.db", single, generator::to_text(plan, parse_problem(single))), batch);
  EXPECT_EQ(out.source, Source::nearest) << out.explain;
  EXPECT_EQ(out.plan.chunk, generator::default_plan(parse_problem(batch), traits_).chunk);
  EXPECT_GT(out.plan.chunk, 4);
}

TEST_F(Resolve, APlanOfAGpuIsNotBorrowedWhereTheModelExpectsMuchMoreTime) {
  traits_ = generator::known_device("h200").value();
  const char* const problem = "nufft:type=1,n=64x32x12,m=21424,prec=f32,tol=2.5e-2,batch=12,points=radial";
  const char* const neighbour = "nufft:type=1,n=64x32x12,m=20000,prec=f32,tol=2.5e-2,batch=4,points=radial";
  generator::Plan slow = generator::default_plan(parse_problem(neighbour), traits_);
  slow.chunk = 1;  // less than its batch, so it was better so
  const auto path = store("a.db", neighbour, generator::to_text(slow, parse_problem(neighbour)));
  const Resolution out = resolve_in(path, problem);
  EXPECT_EQ(out.source, Source::model) << out.explain;
  EXPECT_NE(out.explain.find("times the time of the plan that it would choose"), std::string::npos) << out.explain;
  EXPECT_EQ(resolve_in(path, neighbour).source, Source::verdict) << "there it was measured";
  // A uniform one that writes its lines twice.
  const char* const line = "fft:type=c2c,n=524288,prec=f32,batch=24";
  const char* const like = "fft:type=c2c,n=262144,prec=f32,batch=24";
  generator::Plan plain = generator::parse_plan("cuda;fft=plain", parse_problem(like));
  const Resolution own = resolve_in(store("b.db", like, generator::to_text(plain, parse_problem(like))), line);
  const double ratio =
      generator::estimate(plain, parse_problem(line), traits_).execute /
      generator::estimate(generator::default_plan(parse_problem(line), traits_), parse_problem(line), traits_).execute;
  EXPECT_EQ(own.source, ratio > 1.25 ? Source::model : Source::nearest) << ratio << "\n" << own.explain;
  EXPECT_GT(ratio, 1.25);
}

TEST_F(Resolve, StrangersAreNotBorrowedFrom) {
  const auto path = store("a.db", kToken, odd_plan(kToken));
  for (const char* token :
       {"nufft:type=2,n=128x128,m=200000,prec=f32,tol=1e-3", "nufft:type=1,n=128,m=200000,prec=f32,tol=1e-3",
        "nufft:type=1,n=128x128,m=200000,prec=f64,tol=1e-3", "fft:type=c2c,n=128x128,prec=f32",
        "nufft:type=1,n=8192x8192,m=200000,prec=f32,tol=1e-6"})
    EXPECT_EQ(resolve_in(path, token).source, Source::model) << token;
}

TEST_F(Resolve, AStoredTextThatIsNoPlanIsPassedOverAndNamed) {
  int number = 0;
  for (const char* plan : {"cpu;rm -rf", "cuda;threads=1", "cpu;threads=1;fft=rows(rigor=measure)", "\x1b[2Jcpu"}) {
    const std::string name = std::to_string(number++) + ".db";
    const Resolution out = resolve_in(store(name.c_str(), kToken, plan), kToken);
    EXPECT_EQ(out.source, Source::model) << plan;
    EXPECT_NE(out.explain.find(std::string("passed over: the plan stored for ") + kToken), std::string::npos)
        << out.explain;
    EXPECT_EQ(out.explain.find('\x1b'), std::string::npos) << "a terminal would obey it";
  }
}

// ---- stored plans with faults must not run
class WrongPlan : public Resolve, public testing::WithParamInterface<std::pair<const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(
    Table, WrongPlan,
    testing::Values(std::pair("width=3", "cpu;threads=2;window=pswf(sigma=2,width=3,fine=256x256);"),
                    std::pair("width=2", "cpu;threads=2;window=pswf(sigma=2,width=2,fine=256x256);"),
                    std::pair("fine=n", "cpu;threads=2;window=pswf(sigma=2,width=7,fine=128x128);"),
                    std::pair("sigma beside the grid", "cpu;threads=2;window=pswf(sigma=3.25,width=7,fine=160x160);"),
                    std::pair("one short side", "cpu;threads=2;window=pswf(sigma=2,width=7,fine=256x130);"),
                    std::pair("table=1", "cpu;threads=2;window=pswf(sigma=2,width=7,table=1,fine=256x256);"),
                    std::pair("rounding", "cpu;threads=2;window=pswf(sigma=1.02,width=16,fine=131x131);"),
                    std::pair("memory", "cpu;threads=2;window=pswf(sigma=2,width=7,fine=1099511627776x256);")),
    [](const auto& row) {
      std::string name = row.param.first;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
      return name;
    });

constexpr const char* kTight = "nufft:type=1,n=128x128,m=200000,prec=f32,tol=1e-6";
constexpr const char* kRest =
    "sort=tiles(tile=64x64);spread=subgrid(cap=777,add=lock);interp=tile(cap=777);"
    "fft=pruned(rigor=measure,block=64)";

TEST_P(WrongPlan, OfADatabaseIsPassedOverAndNamedButRunsWhenForced) {
  const std::string plan = std::string(GetParam().second) + kRest;
  const Resolution out = resolve_in(store("a.db", kTight, plan), kTight);
  EXPECT_EQ(out.source, Source::model) << out.explain;
  EXPECT_NE(out.explain.find("passed over: the plan stored for "), std::string::npos) << out.explain;
  EXPECT_EQ(resolve(parse_problem(kTight), traits_, nullptr, plan).source, Source::forced);
}

TEST_F(Resolve, TheRightNeighbourOfTheWrongPlansIsTaken) {
  const std::string plan = std::string("cpu;threads=2;window=pswf(sigma=2,width=7,fine=256x256);") + kRest;
  EXPECT_EQ(resolve_in(store("a.db", kTight, plan), kTight).source, Source::verdict);
}

TEST_F(Resolve, AWrongPlanLeavesTheTurnToAnEarlierVerdictThenToTheNearest) {
  const char* const neighbour = "nufft:type=1,n=128x120,m=200000,prec=f32,tol=1e-6";
  const std::string wrong = std::string("cpu;threads=2;window=pswf(sigma=2,width=3,fine=256x256);") + kRest;
  auto path = store("a.db", neighbour, odd_plan(neighbour));
  store("a.db", kTight, wrong);
  Resolution out = resolve_in(path, kTight);
  EXPECT_EQ(out.source, Source::nearest) << out.explain;
  EXPECT_EQ(out.plan.cpu().spread.cap, 777);

  generator::Plan earlier = generator::default_plan(parse_problem(kTight), traits_);
  earlier.cpu().spread.cap = 555;
  path = store("b.db", kTight, generator::to_text(earlier, parse_problem(kTight)));
  store("b.db", kTight, wrong);
  out = resolve_in(path, kTight);
  EXPECT_EQ(out.source, Source::verdict) << out.explain;
  EXPECT_EQ(out.plan.cpu().spread.cap, 555);
}

// A file full of plans that do not fit costs a bounded time, and the model's plan still runs.
TEST_F(Resolve, AfterSixteenStoredPlansThatDoNotFitTheModelChooses) {
  std::filesystem::path path;
  for (int i = 0; i < 20; ++i) {
    const std::string neighbour = "nufft:type=1,n=128x" + std::to_string(110 + i) + ",m=200000,prec=f32,tol=1e-6";
    path = store("many.db", neighbour, "cpu;no plan");
  }
  const Resolution out = resolve_in(path, kTight);
  EXPECT_EQ(out.source, Source::model);
  EXPECT_EQ(out.plan, generator::default_plan(parse_problem(kTight), traits_));
  int passed_over = 0;
  for (std::size_t at = 0; (at = out.explain.find("passed over: ", at)) != std::string::npos; ++at) ++passed_over;
  EXPECT_EQ(passed_over, 16) << out.explain;
}

TEST_F(Resolve, APlanThatTheBackendRefusedIsPassedOverWithItsReason) {
  const auto lookup = db::Lookup::load(store("a.db", kToken, odd_plan(kToken)));
  const std::vector<Refusal> refused{{odd_plan(kToken), "not enough memory for fine grids"}};
  const Resolution out = resolve(parse_problem(kToken), traits_, &lookup, "", refused);
  EXPECT_EQ(out.source, Source::model);
  EXPECT_NE(out.explain.find("not enough memory for fine grids"), std::string::npos) << out.explain;
}

TEST_F(Resolve, TypeThreesOfTooNarrowWindowsArePassedOver) {
  const char* const token = "nufft:type=3,dim=2,m=5000,k=5000,prec=f64,tol=1e-8";
  const Problem problem = parse_problem(token);
  const generator::Plan right = generator::default_plan(problem, traits_);
  EXPECT_EQ(resolve_in(store("right.db", token, generator::to_text(right, problem)), token).source, Source::verdict);
  generator::Plan outer = right, inner = right;
  outer.window.width -= 2;
  inner.inner.width -= 2;
  EXPECT_EQ(resolve_in(store("outer.db", token, generator::to_text(outer, problem)), token).source, Source::model);
  EXPECT_EQ(resolve_in(store("inner.db", token, generator::to_text(inner, problem)), token).source, Source::model);
}

// ---- rivals
TEST_F(Resolve, AVerdictOnRecordedPointsGoesBeforeTheExactOne) {
  const std::string recorded = to_token(recorded_problem(parse_problem(kToken)));
  ASSERT_NE(recorded, kToken);
  generator::Plan own = generator::default_plan(parse_problem(kToken), traits_);
  own.cpu().spread.cap = 555;
  const auto path = store("a.db", recorded, generator::to_text(own, parse_problem(kToken)));
  EXPECT_EQ(resolve_in(path, kToken).plan.cpu().spread.cap, 555);
  store("a.db", kToken, odd_plan(kToken));  // later, but on points that are not the application's
  const Resolution out = resolve_in(path, kToken);
  EXPECT_EQ(out.source, Source::verdict);
  EXPECT_EQ(out.plan.cpu().spread.cap, 555);
}

TEST_F(Resolve, AVerdictOfMoreThreadsThanThereAreCoresIsAdapted) {
  for (const auto& [stored, expected] : {std::pair(1, 1), {2, 2}, {3, 2}, {64, 2}}) {
    generator::Plan plan = generator::default_plan(parse_problem(kToken), traits_);
    plan.cpu().threads = stored;
    plan.cpu().spread.cap = 777;
    const std::string name = std::to_string(stored) + ".db";
    const Resolution out =
        resolve_in(store(name.c_str(), kToken, generator::to_text(plan, parse_problem(kToken))), kToken);
    EXPECT_EQ(out.source, Source::verdict);
    EXPECT_EQ(out.plan.cpu().spread.cap, 777);
    EXPECT_EQ(out.plan.cpu().threads, expected);
  }
}

TEST_F(Resolve, FewPointsOfAType3DoNotKeepTheWidthsOfTheirNeighbour) {
  const char* const many = "nufft:type=3,dim=2,m=300,k=300,prec=f64,tol=1e-9";
  const char* const few = "nufft:type=3,dim=2,m=199,k=199,prec=f64,tol=1e-9";
  const generator::Plan proved = generator::default_plan(parse_problem(many), traits_);
  const auto path = store("a.db", many, generator::to_text(proved, parse_problem(many)));
  const Resolution out = resolve_in(path, few);
  EXPECT_EQ(out.source, Source::verdict) << out.explain;
  EXPECT_GT(out.plan.window.width + out.plan.inner.width, proved.window.width + proved.inner.width);
  const Resolution same = resolve_in(path, "nufft:type=3,dim=2,m=200,k=200,prec=f64,tol=1e-9");
  EXPECT_EQ(same.plan.window, proved.window);
  EXPECT_EQ(same.plan.inner, proved.inner);
}

TEST_F(Resolve, ADamagedDatabaseIsReportedAndTheModelChooses) {
  const auto path = folder_ / "broken.db";
  std::FILE* file = std::fopen(path.c_str(), "w");
  std::fputs("this is no database, but it is long enough to look like one to a careless reader......................",
             file);
  std::fclose(file);
  const Resolution out = resolve_in(path, kToken);
  EXPECT_EQ(out.source, Source::model);
  EXPECT_NE(out.explain.find("not usable"), std::string::npos) << out.explain;
}

}  // namespace
}  // namespace fourtune::runtime
