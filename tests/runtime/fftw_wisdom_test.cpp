// The knowledge of FFTW's planner is kept, returned, and separate from the application's. Builds with FFTW only.
#include <fftw3.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/backends/cpu/fft/fft.h"

namespace fourtune::runtime::cpu {
namespace {

using generator::FftFamily;
using generator::Plan;
using generator::Rigor;

Problem problem_of(const std::string& token) { return parse_problem("fft:" + token); }
Plan plan_of(FftFamily family, Rigor rigor = Rigor::estimate) {
  Plan plan;
  plan.cpu().fft = {family, rigor, 16};
  return plan;
}

// The entries of a wisdom text; their order has no meaning.
std::vector<std::string> entries(const std::string& wisdom) {
  std::vector<std::string> lines;
  std::istringstream stream(wisdom);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(Wisdom, SavedWisdomOfAMeasuredPlanIsTheWholeWisdomOfTheNextOne) {
  const Problem p = problem_of("type=c2c,n=24x18,prec=f64");
  const auto first = make_fft_executor(p, plan_of(FftFamily::fftw, Rigor::measure), {});
  const std::string saved = first->wisdom();
  ASSERT_FALSE(saved.empty());
  ExecutorOptions options;
  options.wisdom = saved;
  // A planner that measured again might decide differently; one that used the text adds nothing to it.
  const auto second = make_fft_executor(p, plan_of(FftFamily::fftw, Rigor::measure), options);
  EXPECT_EQ(entries(second->wisdom()), entries(saved));
  const Plan rows = plan_of(FftFamily::rows, Rigor::measure);
  options.wisdom = make_fft_executor(p, rows, {})->wisdom();
  EXPECT_EQ(entries(make_fft_executor(p, rows, options)->wisdom()), entries(options.wisdom));
}

TEST(Wisdom, DamagedTextIsIgnored) {
  const Problem p = problem_of("type=c2c,n=24,prec=f64");
  std::string saved = make_fft_executor(p, plan_of(FftFamily::fftw, Rigor::measure), {})->wisdom();
  for (const std::string& text : {std::string("nonsense"), std::string("(fftw-3.3.10 fftw_wisdom #x0 #x0"),
                                  saved.substr(0, saved.size() / 2), saved + saved, std::string(1000, '(')}) {
    ExecutorOptions options;
    options.wisdom = text;
    EXPECT_NO_THROW(make_fft_executor(p, plan_of(FftFamily::fftw), options)) << text;
  }
}

TEST(Wisdom, TheApplicationsOwnWisdomAndThreadCountComeBack) {
  fftw_init_threads();
  std::vector<std::complex<double>> data(48);
  auto* array = reinterpret_cast<fftw_complex*>(data.data());
  fftw_destroy_plan(fftw_plan_dft_1d(48, array, array, FFTW_FORWARD, FFTW_MEASURE));
  fftw_plan_with_nthreads(3);
  char* before = fftw_export_wisdom_to_string();
  const auto executor =
      make_fft_executor(problem_of("type=c2c,n=40,prec=f64"), plan_of(FftFamily::fftw, Rigor::measure), {});
  char* after = fftw_export_wisdom_to_string();
  EXPECT_EQ(entries(before), entries(after));
  EXPECT_EQ(fftw_planner_nthreads(), 3);
  EXPECT_EQ(executor->wisdom().find(std::string(before).substr(40, 60)), std::string::npos);
  std::free(before);
  std::free(after);
  fftw_plan_with_nthreads(1);
}

// FFTW marks what it could not plan in time.
bool ran_out_of_time(const std::string& wisdom) { return wisdom.find("TIMEOUT") != std::string::npos; }

// The seconds that FFTW may plan, while this exists.
class PlanningSeconds {
 public:
  explicit PlanningSeconds(const char* seconds) { ::setenv("FOURTUNE_FFTW_SECONDS", seconds, 1); }
  ~PlanningSeconds() { ::unsetenv("FOURTUNE_FFTW_SECONDS"); }
};

// The wisdom of a plan that the application measures with its time limit. FFTW would need a while for it.
std::string measured_by_the_application() {
  constexpr int n = 4001;
  std::vector<std::complex<double>> data(n);
  auto* array = reinterpret_cast<fftw_complex*>(data.data());
  fftw_forget_wisdom();
  fftw_destroy_plan(fftw_plan_dft_1d(n, array, array, FFTW_FORWARD, FFTW_MEASURE));
  char* text = fftw_export_wisdom_to_string();
  std::string wisdom(text);
  std::free(text);
  fftw_forget_wisdom();
  return wisdom;
}

TEST(Wisdom, PlanningEndsAtItsLimitAndWhatItFoundIsUsedAgain) {
  const Problem p = problem_of("type=c2c,n=20011x3,prec=f64");
  for (const Rigor rigor : {Rigor::measure, Rigor::patient}) {
    const PlanningSeconds limit("0.0001");
    const std::string saved = make_fft_executor(p, plan_of(FftFamily::fftw, rigor), {})->wisdom();
    EXPECT_TRUE(ran_out_of_time(saved)) << saved;
    ExecutorOptions options;
    options.wisdom = saved;
    EXPECT_EQ(entries(make_fft_executor(p, plan_of(FftFamily::fftw, rigor), options)->wisdom()), entries(saved));
  }
  const PlanningSeconds none("0");
  const Problem small = problem_of("type=c2c,n=64,prec=f64");
  EXPECT_FALSE(ran_out_of_time(make_fft_executor(small, plan_of(FftFamily::fftw, Rigor::measure), {})->wisdom()));
}

TEST(Wisdom, AMeasuredPlanLeavesTheApplicationWithoutATimeLimit) {
  {
    const PlanningSeconds limit("0.0001");
    make_fft_executor(problem_of("type=c2c,n=4001,prec=f64"), plan_of(FftFamily::fftw, Rigor::measure), {});
  }
  EXPECT_FALSE(ran_out_of_time(measured_by_the_application()));
}

TEST(Wisdom, EstimatesAndKnownPlansLeaveTheApplicationsTimeLimitAlone) {
  const Problem p = problem_of("type=c2c,n=48,prec=f64");
  ExecutorOptions known;
  known.wisdom = make_fft_executor(p, plan_of(FftFamily::fftw, Rigor::measure), {})->wisdom();
  fftw_set_timelimit(0.0001);
  make_fft_executor(p, plan_of(FftFamily::fftw, Rigor::measure), known);
  make_fft_executor(p, plan_of(FftFamily::fftw, Rigor::estimate), {});
  const std::string wisdom = measured_by_the_application();
  fftw_set_timelimit(FFTW_NO_TIMELIMIT);
  EXPECT_TRUE(ran_out_of_time(wisdom)) << wisdom;
}

TEST(Wisdom, AnUnreadableTimeLimitIsRefusedByName) {
  for (const char* text : {"ten", "-1", "1s", "nan", "inf", "1e999"}) {
    const PlanningSeconds limit(text);
    try {
      make_fft_executor(problem_of("type=c2c,n=46,prec=f64"), plan_of(FftFamily::fftw, Rigor::measure), {});
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_option);
      EXPECT_NE(std::string(error.what()).find("FOURTUNE_FFTW_SECONDS"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace fourtune::runtime::cpu
