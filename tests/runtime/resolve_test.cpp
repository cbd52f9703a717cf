// Which plan runs: forced, tuned, a neighbour's, or the model's; and that explain says so.
#include "runtime/resolve.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "db/lookup.h"
#include "db/tuning_store.h"
#include "generator/candidates.h"
#include "runtime/environment.h"
#include "runtime/families.h"
#include "runtime/validity.h"

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
    auto path = folder_ / name;
    auto store = db::TuningStore::open_for_writing(path);
    db::SessionStart start;
    start.environment = environment_here(traits_);
    const auto session = store.begin_session(start);
    db::Run run;
    run.problem = token, run.plan = plan, run.samples_ns = {1000}, run.wisdom = "some wisdom";
    store.record_run(session, run);
    db::Verdict verdict;
    verdict.problem = token, verdict.plan = plan, verdict.winner_ns = 1000;
    try {
      verdict.validity = validity_of(parse_problem(token));
    } catch (const Error&) {
    }
    store.record_verdict(session, verdict);
    store.finish_session(session, db::SessionEnd::complete);
    return path;
  }
  // A plan that the model would not choose.
  std::string odd_plan(const char* token) {
    const Problem problem = parse_problem(token);
    generator::Plan plan = generator::default_plan(problem, traits_);
    plan.spread.cap = 777;
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
  EXPECT_EQ(out.plan.spread.cap, 777);
  EXPECT_EQ(out.wisdom, "some wisdom");
  EXPECT_NE(out.explain.find("a.db"), std::string::npos);
}

TEST_F(Resolve, APlanOfFftwIsPassedOverWhereTheBuildHasNone) {
  const char* token = "fft:type=c2c,n=60x60,prec=f64";
  const Resolution out = resolve_in(store("a.db", token, "cpu;threads=1;fft=fftw(rigor=measure)"), token);
  EXPECT_EQ(out.source, has_fftw() ? Source::verdict : Source::model) << out.explain;
  EXPECT_EQ(out.plan.fft.family, has_fftw() ? generator::FftFamily::fftw : generator::FftFamily::rows);
  EXPECT_EQ(out.explain.find("passed over: the plan stored for fft:type=c2c,n=60x60,prec=f64: fft=fftw: this build has "
                             "no FFTW") != std::string::npos,
            !has_fftw())
      << out.explain;
}

TEST_F(Resolve, AVerdictServesPointCountsInsideItsValidity) {
  const auto path = store("a.db", kToken, odd_plan(kToken));
  const Resolution inside = resolve_in(path, "nufft:type=1,n=128x128,m=150000,prec=f32,tol=1e-3");
  EXPECT_EQ(inside.source, Source::verdict);
  EXPECT_EQ(inside.plan.spread.cap, 777);
}

TEST_F(Resolve, InsideItsValidityThePlanIsTakenUnchanged) {
  const Problem problem = parse_problem(kToken);
  generator::Plan plan = generator::default_plan(problem, traits_);
  ++plan.window.width;  // proved right as it is; binding anew would undo it
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
  EXPECT_EQ(out.plan.spread.cap, 777);
  EXPECT_GE(out.plan.window.fine[0], 160);
  EXPECT_LE(generator::predicted_error(out.plan.window.kind, out.plan.window.width, out.plan.window.sigma, 2), 1.5e-4);
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
  for (const char* plan : {"cpu;rm -rf", "cuda;threads=1", "cpu;threads=1;fft=rows(rigor=measure)"}) {
    const Resolution out =
        resolve_in(store((std::string(plan) + "x.db").c_str()[0] ? "b.db" : "c.db", kToken, plan), kToken);
    EXPECT_NE(out.source, Source::verdict) << plan;
    EXPECT_NE(out.explain.find("passed over"), std::string::npos) << out.explain;
    std::filesystem::remove(folder_ / "b.db");
  }
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

TEST(Validity, DamagedTextCoversNothing) {
  const Problem problem = parse_problem(kToken);
  std::string why;
  EXPECT_TRUE(covers(validity_of(problem), problem, problem, why)) << why;
  for (const char* text : {"", "[]", "{\"m\":3}", "{\"m\":[1,\"x\"]}", "{"}) {
    EXPECT_FALSE(covers(text, problem, problem, why)) << text;
    EXPECT_NE(why.find("damaged"), std::string::npos);
  }
}

}  // namespace
}  // namespace fourtune::runtime
