// Runs every subcommand on every backend that needs no GPU, with every kind of problem. No times are checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/program.h"

namespace fourtune::test {
namespace {

using Json = nlohmann::json;

// Small, because the emulated backend compiles every kernel and runs every thread as a fiber.
const std::vector<std::string> kFfts = {
    "fft:type=c2c,n=12x10,prec=f32",
    "fft:type=c2c,n=12x10,prec=f32,place=in",
    "fft:type=c2c,n=15,prec=f64,batch=3,sign=1",
    "fft:type=c2c,n=6x5,prec=f64,batch=2,layout=2x20+140/1x7+40",
    "fft:type=r2c,n=12x5,prec=f64",
    "fft:type=r2c,n=16,prec=f32,batch=2,place=in",
    "fft:type=c2r,n=12x5,prec=f64",
    "fft:type=c2r,n=16,prec=f32,batch=2,place=in",
};
const std::vector<std::string> kNuffts = {
    "nufft:type=1,n=12x10,m=60,prec=f32,tol=1e-3",         "nufft:type=1,n=5x4x6,m=50,prec=f64,tol=1e-6,points=cluster",
    "nufft:type=2,n=12x10,m=60,prec=f32,tol=1e-3,batch=3", "nufft:type=2,n=20,m=40,prec=f64,tol=1e-6",
    "nufft:type=3,dim=1,m=40,k=30,prec=f64,tol=1e-6",      "nufft:type=3,dim=2,m=30,k=20,prec=f32,tol=1e-3,batch=2",
};
std::vector<std::string> all_problems() {
  std::vector<std::string> all = kFfts;
  all.insert(all.end(), kNuffts.begin(), kNuffts.end());
  return all;
}

class CommandsAndBackends : public testing::Test {
 protected:
  Finished run(std::vector<std::string> words) const {
    words.insert(words.begin(), fourtune_program());
    // The lists of backends must be the same on machines with a GPU.
    return run_program(
        words, folder.path(),
        {{"FOURTUNE_DB", (folder / "own.db").string()}, {"FOURTUNE_CUDA_DRIVER", "/nowhere/libcuda.so"}});
  }
  Json json_of(const std::vector<std::string>& words) const {
    const Finished result = run(words);
    EXPECT_EQ(result.code, 0) << words[0] << " " << words[1] << ": " << result.out << result.err;
    Json json = Json::parse(result.out, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << result.out;
    return json;
  }

  ScratchFolder folder;
};

struct OnBackend : CommandsAndBackends, testing::WithParamInterface<std::string> {
  const std::string& backend() const { return GetParam(); }
  bool is_of_backend(const std::string& plan) const { return plan.rfind(backend() + ";", 0) == 0; }
};
std::string name_of(const testing::TestParamInfo<std::string>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Every, OnBackend, testing::Values("cpu", "emulated"), name_of);

TEST_P(OnBackend, RunChecksEveryProblemAndItsAdjoint) {
  for (const std::string& token : all_problems())
    for (const bool adjoint : {false, true}) {
      std::vector<std::string> words{"run", token, "--backend", backend(), "--device", "0", "--repeat", "1", "--json"};
      if (adjoint) words.emplace_back("--adjoint");
      SCOPED_TRACE(token + (adjoint ? " adjoint" : ""));
      const Json found = json_of(words);
      ASSERT_TRUE(found.is_object());
      EXPECT_TRUE(found["right"].get<bool>()) << found["error"];
      EXPECT_TRUE(is_of_backend(found["plan"])) << found["plan"];
    }
}

TEST_P(OnBackend, TuneFindsAPlanForEveryProblemAndShowListsIt) {
  std::vector<std::string> words{"tune",     "--backend", backend(), "--device",  "0", "--max-evaluations",
                                 "1",        "--threads", "1",       "--seconds", "0", "--quiet",
                                 "--format", "json"};
  const auto problems = all_problems();
  words.insert(words.end(), problems.begin(), problems.end());
  const Json tuned = json_of(words);
  ASSERT_EQ(tuned.size(), problems.size());
  for (const Json& one : tuned) EXPECT_TRUE(is_of_backend(one["winner"])) << one.dump();
  const Json shown = json_of({"show", "--format", "json"});
  std::size_t winners = 0;
  for (const Json& row : shown)
    if (row["rank"] == 0) {
      ++winners;
      EXPECT_TRUE(is_of_backend(row["plan"])) << row.dump();
    }
  EXPECT_EQ(winners, problems.size());
  for (const std::string& token : {problems.front(), problems.back()}) {
    EXPECT_EQ(json_of({"explain", token, "--backend", backend(), "--threads", "1", "--json"})["source"], "verdict")
        << token;
    EXPECT_EQ(json_of({"show", token, "--format", "json"})[0]["problem"], token);
  }
}

TEST_P(OnBackend, BenchMeasuresEveryProblem) {
  std::vector<std::string> words{"bench",     "--backend", backend(),     "--device",       "0",     "--rounds", "1",
                                 "--threads", "1",         "--no-memory", "--untuned-only", "--csv", "all.csv"};
  const auto problems = all_problems();
  words.insert(words.end(), problems.begin(), problems.end());
  const Finished done = run(words);
  EXPECT_EQ(done.code, 0) << done.out << done.err;
  EXPECT_EQ(done.out.find("WRONG"), std::string::npos) << done.out;
  const std::string csv = read_text(folder / "all.csv");
  for (const std::string& token : problems) EXPECT_NE(csv.find(token), std::string::npos) << token;
  EXPECT_NE(csv.find(backend() + ";"), std::string::npos) << csv;
}

TEST_P(OnBackend, ExplainHasAPlanForEveryProblem) {
  for (const std::string& token : all_problems()) {
    const Json found = json_of({"explain", token, "--backend", backend(), "--device", "0", "--json"});
    ASSERT_TRUE(found.is_object()) << token;
    EXPECT_TRUE(is_of_backend(found["plan"])) << found["plan"];
    EXPECT_EQ(found["source"], "model") << token;
    EXPECT_GT(found["estimated_execute_seconds"], 0) << token;
  }
}

TEST_P(OnBackend, ADeviceThatIsNotThereIsRefusedByEveryCommand) {
  for (const char* command : {"tune", "run", "bench", "explain"}) {
    const Finished result = run({command, kFfts[0], "--backend", backend(), "--device", "1"});
    EXPECT_EQ(result.code, 2) << command;
    EXPECT_NE(result.err.find("device=1: the " + backend() + " backend has one device here, number 0"),
              std::string::npos)
        << command << ": " << result.err;
    EXPECT_EQ(result.out, "") << command;
  }
}

// These tests concern CUDA kernels, whatever runs them.
TEST_F(CommandsAndBackends, PlanListsPlansOfEveryUniformProblemAndRefusesOthers) {
  for (const std::string& token : kFfts) {
    const Finished listed = run({"plan", "--list", token, "--device", "h100", "--count", "1"});
    EXPECT_EQ(listed.code, 0) << token << listed.err;
    EXPECT_NE(listed.out.find("untuned:\n  cuda;fft="), std::string::npos) << token << listed.out;
  }
  const Finished refused = run({"plan", "--list", kNuffts[0]});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("uniform transforms"), std::string::npos) << refused.err;
}

TEST_F(CommandsAndBackends, EmitWritesKernelsOfEveryProblem) {
  std::vector<std::string> all(std::begin(kFfts), std::end(kFfts));
  all.insert(all.end(), std::begin(kNuffts), std::end(kNuffts));
  for (const std::string& token : all) {
    const Finished text = run({"emit", token, "--stage", "kernels"});
    EXPECT_EQ(text.code, 0) << token << text.err;
    EXPECT_NE(text.out.find("__global__"), std::string::npos) << token;
  }
  const Finished refused = run({"emit", "nufft:type=1,n=8,prec=f32,tol=1e-3"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("m="), std::string::npos) << refused.err;
}

TEST_F(CommandsAndBackends, DoctorAndEveryRefusalKnowTheSameBackends) {
  const Json doctor = json_of({"doctor", "--json"});
  const auto& findings = doctor["findings"];
  const auto found =
      std::find_if(findings.begin(), findings.end(), [](const Json& one) { return one["name"] == "backends"; });
  ASSERT_NE(found, findings.end());
  EXPECT_EQ((*found)["found"], "cpu, emulated");
  for (const char* command : {"tune", "run", "bench", "explain", "worker"})
    for (const char* name : {"abacus", "cuda"}) {
      std::vector<std::string> words{command, "--backend", name};
      if (command != std::string("worker")) words.insert(words.begin() + 1, kFfts[0]);
      const Finished refused = run(words);
      EXPECT_EQ(refused.code, 1) << command;
      EXPECT_NE(refused.err.find(std::string("backend '") + name + "' is not available here; available: cpu, emulated"),
                std::string::npos)
          << command << ": " << refused.err;
      if (name == std::string("cuda")) {
        EXPECT_NE(refused.err.find("/nowhere/libcuda.so"), std::string::npos) << refused.err;
      }
    }
}

TEST_F(CommandsAndBackends, WithoutABackendTheProcessorIsMeant) {
  const std::string& token = kFfts[0];
  EXPECT_EQ(std::string(json_of({"run", token, "--repeat", "1", "--json"})["plan"]).rfind("cpu;", 0), 0u);
  EXPECT_EQ(std::string(json_of({"explain", token, "--json"})["plan"]).rfind("cpu;", 0), 0u);
  for (const char* command : {"tune", "run", "bench", "explain"}) {
    const Finished help = run({command, "--help"});
    EXPECT_NE(help.out.find("--backend {cpu,cuda,emulated}"), std::string::npos) << help.out;
    EXPECT_NE(help.out.find("default: cpu"), std::string::npos) << help.out;
    EXPECT_NE(help.out.find("--device N"), std::string::npos) << help.out;
  }
}

}  // namespace
}  // namespace fourtune::test
