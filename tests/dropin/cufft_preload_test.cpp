// libfourtune_cufft.so under LD_PRELOAD: who executes which plan, and that nothing else changes. The program
// (cufft_program.cpp) has a stand-in for cuFFT that computes, and a driver that only counts.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/support/program.h"

namespace fourtune::test {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

// All tests of a process share compiled kernels.
const ScratchFolder& folder() {
  static const ScratchFolder one;
  return one;
}

Finished run_words(const std::vector<std::string>& words, const std::string& mode, Environment environment) {
  const Environment usual{{"LD_PRELOAD", FOURTUNE_CUFFT_PRELOAD},    {"FOURTUNE_CUDA_DRIVER", FOURTUNE_FAKE_CUDA},
                          {"FOURTUNE_FAKE_GPU_FREE", "80000000000"}, {"FOURTUNE_CUFFT", mode},
                          {"FOURTUNE_CUFFT_STATISTICS", "1"},        {"FOURTUNE_SHIPPED_PACKS", ""},
                          {"FOURTUNE_DB", folder() / "plans.db"}};
  environment.insert(environment.end(), usual.begin(), usual.end());  // the first of a name counts
  return run_program(words, folder().path(), environment);
}

Finished run(const std::vector<std::string>& scenario, const std::string& mode, const Environment& more = {}) {
  std::vector<std::string> words{FOURTUNE_CUFFT_PROGRAM};
  words.insert(words.end(), scenario.begin(), scenario.end());
  return run_words(words, mode, more);
}

void expect(const Finished& finished, const std::string& out, const std::string& statistics) {
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.out, out);
  EXPECT_EQ(finished.err, statistics);
}

TEST(CufftPreload, OursExecuteBothDirectionsAndPlaces) {
  expect(run({"plain"}, "wait"), "real 0\n",
         "fourtune_cufft: 1 plans: 1 ours, 0 cuFFT's; 8 executes: 7 ours, 1 cuFFT's\n");
}

TEST(CufftPreload, OffLeavesEverythingToTheLibrary) {
  expect(run({"plain"}, "off"), "real 7\n", "");
  expect(run({"reasons"}, "off"), "real 9\n", "");
}

TEST(CufftPreload, AnUnknownModeIsNamedOnceAndTakenAsOn) {
  const Finished finished = run({"later"}, "offf", {{"FOURTUNE_DB", folder() / "unknown_mode.db"}});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.err.find("fourtune_cufft: FOURTUNE_CUFFT is 'offf', not on, off or wait; on is taken\n"
                              "fourtune_cufft: 2 plans: 2 ours, 0 cuFFT's; "),
            0u)
      << finished.err;
  for (const char* known : {"", "on"})
    EXPECT_EQ(run({"plain"}, known, {{"FOURTUNE_CUFFT_STATISTICS", "0"}}).err, "") << known;
}

TEST(CufftPreload, EveryFunctionThatMakesAPlanIsSeen) {
  expect(run({"makers"}, "wait"), "real 0\n",
         "fourtune_cufft: 10 plans: 10 ours, 0 cuFFT's; 10 executes: 10 ours, 0 cuFFT's\n");
}

TEST(CufftPreload, WhatWeDoNotDoIsTheLibrarysAndIsCountedByReason) {
  expect(run({"reasons"}, "wait"), "real 7\n",
         "fourtune_cufft: 9 plans: 1 ours, 8 cuFFT's (1 type, 1 layout, 1 several GPUs, 2 callback, 1 faster there, 1 "
         "unusual array, 1 never executed); 9 executes: 2 ours, 7 cuFFT's\n");
}

TEST(CufftPreload, ACallbackReachesTheLibraryWhichThenExecutes) {
  expect(run({"callback"}, "wait"), "real 4\n",
         "fourtune_cufft: 1 plans: 1 ours, 0 cuFFT's; 6 executes: 2 ours, 4 cuFFT's\n");
}

TEST(CufftPreload, AContextOfTheProgramsOwnIsLeftAlone) {
  expect(run({"foreign_context"}, "wait"), "real 1\n",
         "fourtune_cufft: 1 plans: 0 ours, 1 cuFFT's (1 context); 1 executes: 0 ours, 1 cuFFT's\n");
}

TEST(CufftPreload, MemoryThatIsShortIsTheProgramsOwn) {
  expect(run({"short_of_memory"}, "wait"), "real 0\n",
         "fourtune_cufft: 1 plans: 1 ours, 0 cuFFT's; 1 executes: 1 ours, 0 cuFFT's\n");
  expect(run({"short_of_memory"}, "wait", {{"FOURTUNE_FAKE_GPU_FREE", "100"}}), "real 1\n",
         "fourtune_cufft: 1 plans: 0 ours, 1 cuFFT's (1 memory); 1 executes: 0 ours, 1 cuFFT's\n");
}

TEST(CufftPreload, TheLibraryExecutesUntilOurKernelsAreThere) {
  Environment cold{{"FOURTUNE_DB", folder() / "cold.db"}};
  const Finished finished = run({"later"}, "on", cold);
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.err.find("fourtune_cufft: 2 plans: 2 ours, 0 cuFFT's; "), 0u) << finished.err;
}

void expect_beginning(const Finished& finished, const std::string& out, const std::string& statistics) {
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.out.find(out), 0u) << finished.out;
  EXPECT_EQ(finished.err.find(statistics), 0u) << finished.err;
}

TEST(CufftPreload, TheFasterOfBothExecutesAfterATrial) {
  Environment slow_library{{"FOURTUNE_DB", folder() / "trial.db"}, {"FOURTUNE_FAKE_CUFFT_RECORDS", "100"}};
  expect_beginning(run({"trial"}, "on", slow_library), "ours\n", "fourtune_cufft: 2 plans: 2 ours, 0 cuFFT's; ");
  Environment fast_library{{"FOURTUNE_DB", folder() / "trial.db"}, {"FOURTUNE_FAKE_LAUNCH_RECORDS", "100"}};
  expect_beginning(run({"trial"}, "on", fast_library), "library\n",
                   "fourtune_cufft: 2 plans: 0 ours, 2 cuFFT's (2 measured faster); ");
}

TEST(CufftPreload, WhatIsExecutedOnceIsTheLibrarys) {
  expect_beginning(run({"once"}, "on"), "", "fourtune_cufft: 11 plans: 1 ours, 10 cuFFT's (10 executed once); ");
}

TEST(CufftPreload, PlansThatAreMadeForOneExecuteEachHaveOursInTheEnd) {
  expect_beginning(run({"remade"}, "on", {{"FOURTUNE_DB", folder() / "remade.db"}}), "", "fourtune_cufft: ");
}

TEST(CufftPreload, NothingIsLoadedWhileTheProgramMakesPlans) {
  Environment stored{{"FOURTUNE_DB", folder() / "burst.db"}};
  expect_beginning(run({"burst"}, "on", stored), "", "fourtune_cufft: ");
  expect_beginning(run({"burst"}, "on", stored), "", "fourtune_cufft: ");  // now loading takes no time
}

TEST(CufftPreload, WhatAGraphHasRecordedIsNotTried) {
  expect_beginning(run({"recorded_trial"}, "on"), "", "fourtune_cufft: 1 plans: 1 ours, 0 cuFFT's; ");
}

TEST(CufftPreload, AProgramMayEndWhileItsKernelsCompile) {
  for (int milliseconds = 0; milliseconds <= 140; milliseconds += 20) {  // before, while the compiler opens, or works
    const std::string database = "leave" + std::to_string(milliseconds) + ".db";
    const Finished finished =
        run({"leave", "360", std::to_string(milliseconds)}, "on", {{"FOURTUNE_DB", folder() / database}});
    expect(finished, "real 2\n",
           "fourtune_cufft: 1 plans: 0 ours, 1 cuFFT's (1 still compiling); 2 executes: 0 ours, 2 cuFFT's\n");
  }
}

TEST(CufftPreload, WithoutACompilerTheLibraryExecutes) {
  Environment none{{"FOURTUNE_NVRTC", "/nowhere.so"}, {"FOURTUNE_DB", folder() / "none.db"}};
  expect(run({"plain"}, "wait", none), "real 7\n",
         "fourtune_cufft: 1 plans: 0 ours, 1 cuFFT's (1 failed); 8 executes: 0 ours, 8 cuFFT's\n");
}

TEST(CufftPreload, AWorkAreaOfTheCallersWorksAndNoneIsNeeded) {
  expect(run({"work_area"}, "off"), "real 1\n", "");
  expect(run({"work_area"}, "wait"), "real 0\n",
         "fourtune_cufft: 1 plans: 1 ours, 0 cuFFT's; 1 executes: 1 ours, 0 cuFFT's\n");
}

TEST(CufftPreload, GraphsKeepWhatTheyHaveRecorded) {
  expect(run({"graph"}, "wait", {{"FOURTUNE_DB", folder() / "graph.db"}}), "real 1\n",
         "fourtune_cufft: 4 plans: 3 ours, 1 cuFFT's (1 still compiling); 7 executes: 6 ours, 1 cuFFT's\n");
}

TEST(CufftPreload, ForkedChildrenHaveTheLibrary) {
  const Finished finished = run({"fork_after"}, "wait");
  expect(finished, "real 0\n", "fourtune_cufft: 1 plans: 1 ours, 0 cuFFT's; 2 executes: 2 ours, 0 cuFFT's\n");
}

TEST(CufftPreload, AChildOfAProcessWithoutPlansHasOurs) {
  expect(run({"fork_before"}, "wait"), "",
         "fourtune_cufft: 1 plans: 1 ours, 0 cuFFT's; 1 executes: 1 ours, 0 cuFFT's\n");
}

TEST(CufftPreload, ObjectsKeepTheirOwnCufftAndFunctionsAskedForByNameAreOurs) {
  const std::string peers = FOURTUNE_BUILD_DIR "/tests/peers/";
  const std::vector<std::string> words{FOURTUNE_CUFFT_OBJECTS, peers + "fake_cufft_inside.so", peers + "fake_cufft.so"};
  expect(run_words(words, "off", {}), "inside 1, library 1\n", "");
  expect(run_words(words, "wait", {}), "inside 0, library 0\n",
         "fourtune_cufft: 2 plans: 2 ours, 0 cuFFT's; 2 executes: 2 ours, 0 cuFFT's\n");
}

TEST(CufftPreload, ThreadsMayMakeExecuteAndEndPlans) {
  const Finished finished = run({"threads"}, "wait");
  expect(finished, "real 0\n", "fourtune_cufft: 200 plans: 200 ours, 0 cuFFT's; 200 executes: 200 ours, 0 cuFFT's\n");
}

TEST(CufftPreload, MemoryDoesNotGrowWithPlans) {
  expect(run({"cycles"}, "wait"), "real 0\n",
         "fourtune_cufft: 102000 plans: 102000 ours, 0 cuFFT's; 102000 executes: 102000 ours, 0 cuFFT's\n");
}

TEST(CufftPreload, ShowsTheFunctionsThatItReplacesAndNothingElse) {
  const Finished finished =
      run_program({"nm", "-D", "--defined-only", "--format=just-symbols", FOURTUNE_CUFFT_PRELOAD});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(
      finished.out,
      "__cufftXtSetJITCallback_12_7\n__cxa_atexit\ncufftDestroy\ncufftExecC2C\ncufftExecC2R\ncufftExecD2Z\ncufftExecR2C\n"
      "cufftExecZ2D\ncufftExecZ2Z\ncufftMakePlan1d\ncufftMakePlan2d\ncufftMakePlan3d\ncufftMakePlanMany\n"
      "cufftMakePlanMany64\ncufftPlan1d\ncufftPlan2d\ncufftPlan3d\ncufftPlanMany\ncufftSetStream\ncufftXtExec\n"
      "cufftXtMakePlanMany\ncufftXtSetCallback\ncufftXtSetGPUs\ncufftXtSetJITCallback\ndlsym\n");
}

}  // namespace
}  // namespace fourtune::test
