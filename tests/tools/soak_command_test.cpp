// Runs `fourtune soak` as a user does, on a backend with injected faults (FOURTUNE_TEST_FAULT, tools/soak/fault.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/command.h"

namespace fourtune::test {
namespace {

class Soak : public CommandTest {
 protected:
  Soak() : CommandTest("soak") {}

  Finished with_fault(const std::string& fault, std::vector<std::string> words) {
    words.insert(words.begin(), {fourtune_program(), "soak", "--quiet"});
    return run_program(words, folder.path(), {{"FOURTUNE_TEST_FAULT", fault}});
  }
};

const std::string kNufft = "nufft:type=1,n=20x14,m=300,prec=f64,tol=1e-6 threads=1";

TEST_F(Soak, EveryFaultIsFoundAndNamed) {
  const std::pair<const char*, const char*> faults[] = {{"wrong", "wrong: "},       {"noise", "repeat: "},
                                                        {"input", "input: "},       {"behind", "signal SEGV: "},
                                                        {"crash", "signal SEGV: "}, {"hang", "timeout: "}};
  for (const auto& [fault, word] : faults) {
    const Finished result = with_fault(fault + std::string(":type=1"),
                                       {"--repeat", kNufft, "--timeout", fault == std::string("hang") ? "5" : "120"});
    EXPECT_EQ(result.code, 1) << fault;
    EXPECT_NE(result.err.find(std::string("fourtune: error: ") + word), std::string::npos) << fault << result.err;
    EXPECT_EQ(with_fault(fault + std::string(":type=2"), {"--repeat", kNufft}).code, 0) << fault;
  }
  // One element before the array: behind the inaccessible page of the second layout, or detected by pattern in the
  // first.
  EXPECT_EQ(with_fault("before:type=1", {"--repeat", kNufft}).code, 1);
}

TEST_F(Soak, AFailureIsMadeSmallAndItsCommandRepeatsIt) {
  const Finished hunt = with_fault(
      "wrong:nufft", {"--nufft", "--count", "1", "--megabytes", "0.6", "--untuned", "--shrink-seconds", "3600"});
  EXPECT_EQ(hunt.code, 1) << hunt.err;
  EXPECT_NE(hunt.err.find("1 of 1 runs failed"), std::string::npos) << hunt.err;
  std::smatch line;
  const std::regex failed(
      "FAILED #(\\d+) seed 1 \\(cpu\\): wrong: .*; repeat: fourtune soak --backend cpu --repeat '(.*)'");
  ASSERT_TRUE(std::regex_search(hunt.out, line, failed)) << hunt.out;
  const std::string small = line[2];
  EXPECT_LT(std::stoi(small.substr(small.find(",m=") + 3)), 10) << small;
  EXPECT_EQ(small.find("batch"), std::string::npos) << small;
  EXPECT_EQ(with_fault("wrong:nufft", {"--repeat", small}).code, 1);
  EXPECT_EQ(with_fault("", {"--repeat", small}).code, 0);
}

TEST_F(Soak, ASoundMachineEndsWithZeroAndItsFigures) {
  const Finished hunt =
      run({"--count", "4", "--seed", "3", "--megabytes", "0.6", "--csv", "runs.csv", "--quiet", "--jobs", "2"});
  EXPECT_EQ(hunt.code, 0) << hunt.out << hunt.err;
  std::smatch line;
  ASSERT_TRUE(std::regex_search(hunt.out, line, std::regex("soak: 4 problems, (\\d+) runs, 0 failures, seed 3, cpu\n")))
      << hunt.out;
  EXPECT_GE(std::stoi(line[1]), 8);  // the default, a candidate, and usually an adapted plan
  EXPECT_LE(std::stoi(line[1]), 12);
  const std::string csv = read_text(folder / "runs.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + std::stoi(line[1]));
}

TEST_F(Soak, AForcedPlanIsTheOneThatRuns) {
  const Finished result = run({"--repeat", "fft:type=c2c,n=64,prec=f64 threads=1", "--plan",
                               "cpu;threads=1;fft=fftw(rigor=estimate)", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out).at("plan"), "cpu;threads=1;fft=fftw(rigor=estimate)");
  EXPECT_NE(run({"--repeat", "fft:type=c2c,n=64,prec=f64", "--plan", "cpu;threads=1;fft=magic"}).code, 0);
}

TEST_F(Soak, CtrlCEndsWithTheFiguresSoFar) {
  // The signal comes when the program catches it. An asynchronous command of a non-interactive shell
  // ignores SIGINT unless job control is on (bash -m).
  write_text(folder / "interrupt.sh",
             "'" + fourtune_program() +
                 "' soak --seconds 500 --megabytes 1 2> err & pid=$!\n"
                 "until grep -q fourtune /proc/$pid/comm && grep -q 'SigCgt:.*[2367abef]$' /proc/$pid/status; do "
                 "kill -0 $pid || break; sleep 0.1; done\n"
                 "kill -INT $pid; wait $pid\n");
  const Finished result = run_program({"bash", "-m", "interrupt.sh"}, folder.path(), {});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("interrupted\nsoak: "), std::string::npos) << result.out;
}

TEST_F(Soak, TriesAProblemHoweverLittleTimeThereIs) {
  const Finished result = run({"--seconds", "0.001", "--megabytes", "0.6", "--quiet"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("soak: 1 problems, "), std::string::npos) << result.out;
}

TEST_F(Soak, DoctorProvesDevicesAndSaysWhichGoesWrong) {
  const std::vector<std::string> words{fourtune_program(), "doctor", "--prove", "--seconds", "1"};
  const Finished sound = run_program(words, folder.path(), {});
  EXPECT_EQ(sound.code, 0) << sound.err;
  EXPECT_NE(sound.out.find("computes right: "), std::string::npos) << sound.out;
  const Finished wrong = run_program(words, folder.path(), {{"FOURTUNE_TEST_FAULT", "wrong:"}});
  EXPECT_EQ(wrong.code, 1) << wrong.out;
  EXPECT_NE(wrong.out.find("goes wrong: "), std::string::npos) << wrong.out;
  EXPECT_NE(wrong.out.find("--repeat"), std::string::npos) << wrong.out;
}

std::string built(const std::string& file) { return std::string(FOURTUNE_BUILD_DIR) + "/" + file; }

TEST_F(Soak, DropInLibrariesAreTriedThroughTheirFunctions) {
  const std::string ours = built("lib/dropin/libfinufft.so"), wrong = built("tests/peers/fake_wrong_results.so");
  if (!std::filesystem::exists(ours)) GTEST_SKIP() << "built without drop-in libraries";
  const Finished hunt = run({"--dropin", ours, "--count", "12", "--seed", "11", "--megabytes", "0.6", "--quiet"});
  EXPECT_EQ(hunt.code, 0) << hunt.out << hunt.err;
  EXPECT_NE(hunt.out.find("soak: 12 problems, 12 runs, 0 failures, seed 11, cpu"), std::string::npos) << hunt.out;
  // Direct sums pass, in either direction; those that are off by 1 % are found, and the command repeats it.
  const std::string right = built("tests/peers/fake_v26.so");
  EXPECT_EQ(run({"--dropin", right, "--repeat", kNufft}).code, 0);
  EXPECT_EQ(run({"--dropin", right, "--repeat", kNufft + " adjoint"}).code, 0);
  const Finished off = run({"--dropin", wrong, "--repeat", kNufft});
  EXPECT_EQ(off.code, 1);
  EXPECT_NE(off.err.find("fourtune: error: wrong: "), std::string::npos) << off.err;
  const Finished found = run({"--dropin", wrong, "--count", "1", "--megabytes", "0.6", "--quiet"});
  EXPECT_NE(found.out.find("repeat: fourtune soak --backend cpu --dropin '" + wrong + "' --repeat"), std::string::npos)
      << found.out;
}

// Also the steps alone, whose window is known of our libraries; and libcufinufft, with kernels that the processor runs.
TEST_F(Soak, DropInLibrariesOfOursAreTriedStepByStepAndWithoutAGpu) {
  const std::string cpu = built("lib/dropin/libfinufft.so"), gpu = built("tests/peers/emulated_cufinufft.so");
  if (!std::filesystem::exists(cpu)) GTEST_SKIP() << "built without drop-in libraries";
  const std::string spread = "nufft:type=1,n=33x40,m=300,prec=f32,tol=1e-4,batch=2 only=spread_centred seed=3",
                    read = "nufft:type=2,n=37,m=200,prec=f64,tol=1e-7 only=interpolate_centred seed=6";
  for (const std::string& one : {spread, read}) {
    EXPECT_EQ(run({"--dropin", cpu, "--repeat", one}).err, "") << one;
    EXPECT_EQ(run({"--dropin", gpu, "--backend", "emulated", "--repeat", one}).err, "") << one;
  }
  const Finished hunt =
      run({"--dropin", gpu, "--backend", "emulated", "--count", "3", "--seed", "11", "--megabytes", "0.6", "--quiet"});
  EXPECT_EQ(hunt.code, 0) << hunt.out << hunt.err;
  EXPECT_NE(hunt.out.find("soak: 3 problems, 3 runs, 0 failures, seed 11, emulated"), std::string::npos) << hunt.out;
  // Not what these interfaces can say.
  const std::string from_zero = "nufft:type=1,n=33,m=300,prec=f32,tol=1e-4 only=spread";
  EXPECT_NE(run({"--dropin", cpu, "--repeat", from_zero}).err.find("grids begin at -pi"), std::string::npos);
  const std::string other = built("tests/peers/fake_v26.so");
  EXPECT_NE(run({"--dropin", other, "--repeat", read}).err.find("the window is known of our libraries alone"),
            std::string::npos);
}

TEST_F(Soak, ListPrintsTokensAlone) {
  const Finished result = run({"--list", "--fft", "--seed", "3", "--count", "2", "--megabytes", "1"});
  EXPECT_EQ(result.out, "fft:type=c2c,n=40x40,prec=f32\nfft:type=c2r,n=32x32,prec=f64\n");
  EXPECT_EQ(result.code, 0);
}

TEST_F(Soak, WhatCannotBeIsRefused) {
  expect_refused({"--megabytes", "0.1"}, "no problem is that small");
  expect_refused({"--plan", "cpu"}, "--plan belongs to --repeat");
  expect_refused({"--repeat", "nufft:type=1,n=8,prec=f32,tol=0.1"}, "number of points");
  expect_refused({"--peer", "a.so", "--jobs", "2"}, "mean nothing");
  expect_refused({"--dropin", "none.so"}, "none.so: No such file");
  expect_refused({"--dropin", built("tests/peers/fake_empty.so")}, "neither FINUFFT's functions nor cuFINUFFT's");
  expect_refused({"--dropin", built("tests/peers/fake_v26.so"), "--fft"}, "nonuniform transforms only");
  EXPECT_EQ(run({"--backend", "none", "--count", "1"}).code, 1);
}

}  // namespace
}  // namespace fourtune::test
