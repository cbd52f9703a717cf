// `fourtune tune --misses`: what applications ran untuned, the dearest first, until everything is tuned.
#include "tools/cli/tune_misses.h"

#include <cstdlib>
#include <string>

#include "db/tuning_store.h"
#include "fourtune/device_traits.h"
#include "runtime/backend_table.h"
#include "runtime/misses.h"
#include "tests/tools/command_line.h"

namespace fourtune::test {
namespace {

class TuneMisses : public CommandLine {
 protected:
  std::string misses() const { return (folder / "misses").string(); }
  void add(const std::string& problem, std::int64_t executes, const std::string& backend = "cpu") {
    ASSERT_EQ(runtime::add_miss(misses(), {backend, problem, 1, executes}), "");
  }
  std::vector<std::string> chosen(std::size_t most = 0) {
    const auto store = db::TuningStore::open_for_reading(folder / "own.db");
    std::vector<std::string> tokens;
    for (const Problem& problem :
         tools::missed_problems({misses(), "cpu", runtime::find_backend("cpu").traits(0), most}, store))
      tokens.push_back(to_token(problem));
    return tokens;
  }
};

TEST_F(TuneMisses, TunesWhatAnApplicationRanAndThenHasNothingLeft) {
  const std::string problem = "fft:type=c2c,n=40,prec=f32";
  ::setenv("FOURTUNE_RECORD_MISSES", misses().c_str(), 1);
  EXPECT_EQ(run({"run", problem, "--repeat", "3"}).code, 0);
  EXPECT_EQ(runtime::read_misses(misses()).at(0).problem, problem);
  EXPECT_GE(runtime::read_misses(misses()).at(0).executes, 3);
  const auto before = runtime::read_misses(misses());
  const Finished tuned = tune({"--misses", "misses", "--seconds", "1", "--quiet", "--format", "csv"});
  EXPECT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_NE(tuned.out.find(problem), std::string::npos) << tuned.out;
  EXPECT_EQ(run({"run", problem}).code, 0);
  EXPECT_EQ(runtime::read_misses(misses()), before) << "it runs tuned by now";
  ::unsetenv("FOURTUNE_RECORD_MISSES");
  const Finished again = tune({"--misses", "misses", "--seconds", "1", "--quiet"});
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(again.out, "");
  EXPECT_NE(again.err.find("no problem of this backend that is not tuned by now"), std::string::npos) << again.err;
}

TEST_F(TuneMisses, TheDearestComeFirst) {
  add("fft:type=c2c,n=64x64x64,prec=f64", 10);  // few, but large
  add("fft:type=c2c,n=16,prec=f64", 1000);
  add("fft:type=c2c,n=20,prec=f64", 100000000);  // small, but many
  add("fft:type=c2c,n=128x128x128,prec=f64", 1000, "cuda");
  const std::vector<std::string> order{"fft:type=c2c,n=20,prec=f64", "fft:type=c2c,n=64x64x64,prec=f64",
                                       "fft:type=c2c,n=16,prec=f64"};
  EXPECT_EQ(chosen(), order);
  EXPECT_EQ(chosen(2), (std::vector<std::string>{order[0], order[1]}));
}

TEST_F(TuneMisses, OneStandsForOthersThatItServes) {
  for (const int m : {70000, 100000, 120000})  // the last of them is the dearest
    add("nufft:type=1,n=64x64,m=" + std::to_string(m) + ",prec=f32,tol=1e-3", 10);
  add("nufft:type=1,n=64x64,m=90000,prec=f32,tol=1e-4", 25);  // dearer than each, cheaper than all
  add("nufft:type=1,n=64x64,m=400000,prec=f32,tol=1e-3", 1);
  EXPECT_EQ(chosen(), (std::vector<std::string>{"nufft:type=1,n=64x64,m=120000,prec=f32,tol=1e-3",
                                                "nufft:type=1,n=64x64,m=90000,prec=f32,tol=1e-4",
                                                "nufft:type=1,n=64x64,m=400000,prec=f32,tol=1e-3"}));
}

TEST_F(TuneMisses, WrongFilesAndProblemsAreNamed) {
  file("words", "no list\n");
  expect_refused({"tune", "--misses", "words"}, "words is no list of misses", 1);
  expect_refused({"tune", "--misses", "nowhere"}, "nowhere cannot be read", 1);
  add("fft:type=nonsense,n=8", 5);
  add("fft:type=c2c,n=16,prec=f64", 1);
  EXPECT_EQ(chosen().size(), 1u);
  expect_refused({"tune", "--misses", "misses", "fft:type=c2c,n=8,prec=f32"}, "--misses: not with other problems");
}

}  // namespace
}  // namespace fourtune::test
