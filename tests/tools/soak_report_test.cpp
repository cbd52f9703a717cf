// What soak prints and writes, of invented runs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/program.h"
#include "tools/common/errors.h"
#include "tools/soak/report.h"

namespace fourtune::tools {
namespace {

constexpr const char* kToken = "nufft:type=1,n=24x31,m=700,prec=f32,tol=1e-4";

class SoakReports : public ::testing::Test {
 protected:
  SoakReports() {
    options_.worker.backend = "emulated";
    options_.worker.device = 1;
    options_.seed = 7;
    run_.index = 12;
    run_.token = kToken;
    run_.trial.one = parse_case(std::string(kToken) + " order=fft at=borders threads=1");
    run_.trial.kind = PlanKind::candidate;
    run_.trial.plan = "cpu;threads=1;fft=rows";
    SoakOutcome& o = run_.trial.outcome;
    o.plan = "cpu;threads=1;fft=rows";
    o.failure = "wrong", o.message = "error 2e-3,\nallowed is 3e-4";
    o.error = 2e-3, o.allowed = 3e-4, o.mismatch = 1.25e-7, o.repeat = 5e-8;
    o.create_seconds = 0.5, o.set_points_seconds = 0.25, o.execute_seconds = 0.125;
    o.held = 2048, o.promised = 3 << 20;
    state_.problems = 600, state_.runs = 1740, state_.failures = 2, state_.elapsed = 61.5, state_.eta = 75;
  }
  template <class Print>
  static std::string printed(const Print& print) {
    testing::internal::CaptureStdout();
    print();
    return testing::internal::GetCapturedStdout();
  }
  void add_ratios() {
    options_.worker.peers = {"libpeer.so"};
    state_.ratios = {{"first", {"", "peer", 2e6, 8e6}},
                     {"second", {"", "other", 4e6, 2e6}},
                     {"third", {"wrong there", "", 0, 0}},
                     {"fourth", {"wrong there", "", 0, 0}}};
  }

  HuntOptions options_;
  HuntRun run_;
  HuntState state_;
};

TEST_F(SoakReports, TextEndsWithWhatWasDone) {
  const SoakReport report(options_, "");
  EXPECT_EQ(printed([&] { report.print_text(state_); }),
            "soak: 600 problems, 1740 runs, 2 failures, seed 7, emulated\n");
  state_.interrupted = true;
  EXPECT_EQ(printed([&] { report.print_text(state_); }),
            "interrupted\nsoak: 600 problems, 1740 runs, 2 failures, seed 7, emulated\n");
  EXPECT_EQ(progress_text(state_, "TOKEN"), "600 problems, 1740 runs, 2 failures  01:15 left  TOKEN");
}

TEST_F(SoakReports, TextCountsRefusalsAndGivesRatios) {
  add_ratios();
  SoakReport report(options_, "");
  report.add(run_);
  run_.trial.outcome.refused = "not enough memory";
  report.add(run_), report.add(run_);
  EXPECT_EQ(printed([&] { report.print_text(state_); }),
            "not run, 2 times: not enough memory\n"
            "4.00  first  peer 8.00 ms\n"
            "0.50  second  other 2.00 ms\n"
            "without a ratio, 2 times: wrong there\n"
            "peer's time / ours: geometric mean 1.41 of 2, least 0.50 (second)\n"
            "soak: 600 problems, 1740 runs, 2 failures, seed 7, emulated\n");
}

TEST_F(SoakReports, AFailureIsOneLineThatRepeatsIt) {
  TriedCase small = run_.trial;
  small.one = parse_case("nufft:type=1,n=8,m=3,prec=f32,tol=1e-4");
  SoakReport report(options_, "");
  const std::string line =
      "FAILED #12 seed 7 (emulated): wrong: error 2e-3, allowed is 3e-4; nufft:type=1,n=8,m=3,prec=f32,tol=1e-4, plan "
      "candidate cpu;threads=1;fft=rows; drawn as nufft:type=1,n=24x31,m=700,prec=f32,tol=1e-4 order=fft at=borders "
      "threads=1, plan candidate cpu;threads=1;fft=rows; repeat: fourtune soak --backend emulated --device 1 --repeat "
      "'nufft:type=1,n=8,m=3,prec=f32,tol=1e-4' --plan 'cpu;threads=1;fft=rows'";
  EXPECT_EQ(report.add_failure(run_, small), line);
  small.plan.clear();
  EXPECT_EQ(repeat_command(SoakWorkerOptions(), small),
            "fourtune soak --backend cpu --repeat 'nufft:type=1,n=8,m=3,prec=f32,tol=1e-4'");
  const auto json = nlohmann::json::parse(printed([&] { report.print_json(state_); }));
  EXPECT_EQ(json["failures"], nlohmann::json::array({line}));
}

TEST_F(SoakReports, JsonHasEveryFigure) {
  add_ratios();
  SoakReport report(options_, "");
  run_.trial.outcome.refused = "not enough memory";
  report.add(run_);
  const auto json = nlohmann::json::parse(printed([&] { report.print_json(state_); }));
  EXPECT_EQ(json["problems"], 600);
  EXPECT_EQ(json["runs"], 1740);
  EXPECT_EQ(json["failures"], nlohmann::json::array());
  EXPECT_EQ(json["refused"], (nlohmann::json{{"not enough memory", 1}}));
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["backend"], "emulated");
  EXPECT_EQ(json["device"], 1);
  EXPECT_EQ(json["seconds"], 61.5);
  EXPECT_EQ(json["interrupted"], false);
  EXPECT_EQ(json["ratios"], (nlohmann::json::array({{{"token", "first"}, {"peer", "peer"}, {"ratio", 4}},
                                                    {{"token", "second"}, {"peer", "other"}, {"ratio", 0.5}}})));
  EXPECT_EQ(json["without_ratio"], (nlohmann::json{{"wrong there", 2}}));
  EXPECT_NEAR(json["geometric_mean"].get<double>(), 1.41421356, 1e-8);
  EXPECT_EQ(json["least"], 0.5);
  options_.worker.peers.clear();
  EXPECT_FALSE(nlohmann::json::parse(printed([&] { report.print_json(state_); })).contains("ratios"));
}

TEST_F(SoakReports, CsvHasEveryRunAtOnce) {
  const test::ScratchFolder folder;
  const std::string path = folder / "runs.csv";
  SoakReport report(options_, path);
  report.add(run_);
  EXPECT_EQ(test::read_text(path),
            "index,seed,backend,token,case,kind,plan,failure,message,refused,error,allowed,adjoint,repeat,create_s,"
            "set_points_s,execute_s,held_bytes,promised_bytes\n"
            "12,7,emulated,\"nufft:type=1,n=24x31,m=700,prec=f32,tol=1e-4\",\"nufft:type=1,n=24x31,m=700,prec=f32,"
            "tol=1e-4 order=fft at=borders threads=1\",candidate,cpu;threads=1;fft=rows,wrong,\"error 2e-3, allowed is "
            "3e-4\",,0.002,0.0003,1.25e-07,5e-08,0.5,0.25,0.125,2048,3145728\n");
  run_.trial.outcome.message = "says \"no\"";
  report.add(run_);
  EXPECT_NE(test::read_text(path).find(",wrong,\"says \"\"no\"\"\",,"), std::string::npos);
  EXPECT_THROW(SoakReport(options_, (folder / "none/runs.csv")), Failure);
}

TEST_F(SoakReports, ATrialIsPrintedWithItsBounds) {
  EXPECT_EQ(printed([&] { print_trial(run_.trial); }),
            "problem     nufft:type=1,n=24x31,m=700,prec=f32,tol=1e-4 order=fft at=borders threads=1\n"
            "plan        cpu;threads=1;fft=rows\n"
            "error       2.00e-03  (up to 3.0e-04 is right)\n"
            "adjoint     1.25e-07\n"
            "second run  5.00e-08\n"
            "memory      2.0 KiB held, 3.0 MiB promised\n"
            "outcome     wrong: error 2e-3,\nallowed is 3e-4\n");
  run_.trial.outcome.failure.clear();
  run_.trial.outcome.refused = "no room";
  const std::string text = printed([&] { print_trial(run_.trial); });
  EXPECT_NE(text.find("not run     no room\noutcome     all is well\n"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(printed([&] { print_trial_json(run_.trial); }));
  EXPECT_EQ(json["case"], to_text(run_.trial.one));
}

TEST_F(SoakReports, TheScratchDatabaseGoesWithItsFolder) {
  std::string path;
  {
    const ScratchDatabase scratch;
    path = std::getenv("FOURTUNE_DB");
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(path).parent_path())) << path;
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(path).parent_path()));
  ::unsetenv("FOURTUNE_DB");
}

}  // namespace
}  // namespace fourtune::tools
