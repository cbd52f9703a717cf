// The command line on a host with two different GPUs, simulated by a driver that only counts: --device chooses, and no
// process of the command, including its worker, makes a context, an array or a kernel on the other GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/tuning_store.h"
#include "runtime/backends/cuda/nvrtc_api.h"
#include "tests/support/program.h"

namespace fourtune::test {
namespace {

using Json = nlohmann::json;
const char* const kSquare = "fft:type=c2c,n=256x256,prec=f32";
const char* const kDiffers = "nufft:type=2,n=144x144x144,m=1500000,prec=f64,tol=1e-4";
const char* const kFewPoints = "fft:type=c2c,n=32,prec=f32";

class DeviceOption : public testing::Test {
 protected:
  Finished run(std::vector<std::string> words) {
    words.insert(words.begin(), fourtune_program());
    std::filesystem::remove(folder / "used.log");
    return run_program(words, folder.path(),
                       {{"FOURTUNE_CUDA_DRIVER", FOURTUNE_FAKE_CUDA},
                        {"FOURTUNE_FAKE_GPUS", gpus},
                        {"FOURTUNE_FAKE_GPU_FREE", "1000000000"},
                        {"FOURTUNE_FAKE_GPU_LOG", (folder / "used.log").string()},
                        {"FOURTUNE_DB", (folder / "own.db").string()}});
  }
  // The GPU calls of the last command's processes: sorted lines such as "context 1".
  std::vector<std::string> used() const {
    std::vector<std::string> lines;
    if (!std::filesystem::exists(folder / "used.log")) return lines;
    std::istringstream text(read_text(folder / "used.log"));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    return lines;
  }
  void expect_refused(const std::vector<std::string>& words, const std::string& reason) {
    const Finished result = run(words);
    EXPECT_EQ(result.code, 2) << words[0] << result.out << result.err;
    EXPECT_NE(result.err.find(reason), std::string::npos) << words[0] << ": " << result.err;
    EXPECT_EQ(result.out, "") << words[0];
    EXPECT_EQ(used(), std::vector<std::string>{}) << words[0];
  }
  static bool no_compiler() {
    if (!runtime::cuda::why_no_nvrtc().empty()) return true;
    const auto& known = runtime::cuda::nvrtc().architectures;
    return std::find(known.begin(), known.end(), 89) == known.end();
  }
  const std::vector<std::string> all_of_second{"context 1", "kernel 1", "memory 1"};

  ScratchFolder folder;
  std::string gpus = "h200,rtx4090";
};

TEST_F(DeviceOption, TuneMeasuresThereInAllItsProcesses) {
  if (no_compiler()) GTEST_SKIP() << "NOT TESTED: no NVRTC for sm_89";
  const Finished tuned = run({"tune", kFewPoints, "--backend", "cuda", "--device", "1", "--max-evaluations", "2",
                              "--seconds", "60", "--quiet"});
  EXPECT_EQ(tuned.code, 1) << "results of the fake driver are wrong" << tuned.out << tuned.err;
  EXPECT_NE(tuned.err.find("no plan gave a right result"), std::string::npos) << tuned.out << tuned.err;
  EXPECT_EQ(used(), all_of_second);
}

TEST_F(DeviceOption, TuneMeasuresOnAllDevicesOfOneKind) {
  if (no_compiler()) GTEST_SKIP() << "NOT TESTED: no NVRTC for sm_89";
  expect_refused({"tune", kFewPoints, "--backend", "cuda", "--devices", "all"},
                 "device 0 is a Fake H200, device 1 a Fake RTX 4090");
  gpus = "rtx4090,rtx4090";
  const Finished tuned = run({"tune", kFewPoints, "fft:type=c2c,n=48,prec=f32", "--backend", "cuda", "--devices", "all",
                              "--max-evaluations", "2", "--seconds", "60", "--quiet"});
  EXPECT_EQ(tuned.code, 1) << "results of the fake driver are wrong" << tuned.out << tuned.err;
  EXPECT_NE(tuned.err.find("no plan gave a right result"), std::string::npos) << tuned.out << tuned.err;
  const std::vector<std::string> all{"context 0", "context 1", "kernel 0", "kernel 1", "memory 0", "memory 1"};
  EXPECT_EQ(used(), all);
  const auto store = db::TuningStore::open_for_reading(folder / "own.db");
  EXPECT_FALSE(store.runs(kFewPoints).empty());
  EXPECT_FALSE(store.runs("fft:type=c2c,n=48,prec=f32").empty());
}

TEST_F(DeviceOption, RunRunsThere) {
  if (no_compiler()) GTEST_SKIP() << "NOT TESTED: no NVRTC for sm_89";
  for (const char* token : {kFewPoints, "nufft:type=1,n=30,m=60,prec=f32,tol=1e-2"}) {
    const Finished done =
        run({"run", token, "--backend", "cuda", "--device", "1", "--repeat", "1", "--no-check", "--json"});
    ASSERT_EQ(done.code, 0) << done.err;
    EXPECT_EQ(used(), all_of_second) << token;
  }
}

TEST_F(DeviceOption, BenchMeasuresThere) {
  if (no_compiler()) GTEST_SKIP() << "NOT TESTED: no NVRTC for sm_89";
  const Finished done =
      run({"bench", kFewPoints, "--backend", "cuda", "--device", "1", "--rounds", "1", "--compile-first"});
  EXPECT_NE(done.out.find("Fake RTX 4090 (sm_89"), std::string::npos) << done.out << done.err;
  EXPECT_NE(done.out.find("[1/1] "), std::string::npos) << done.out << done.err;
  EXPECT_EQ(used(), all_of_second);
}

TEST_F(DeviceOption, ExplainPlanAndEmitSayWhatWouldRunThereAndUseNothing) {
  std::vector<std::string> plans;
  for (const char* device : {"0", "1"}) {
    const Finished why = run({"explain", kDiffers, "--backend", "cuda", "--device", device, "--json"});
    ASSERT_EQ(why.code, 0) << why.err;
    plans.push_back(Json::parse(why.out)["plan"]);
    EXPECT_EQ(used(), std::vector<std::string>{});
    const Finished listed = run({"plan", "--list", kSquare, "--device", device, "--count", "1"});
    EXPECT_NE(listed.out.find(device == std::string("0") ? "on Fake H200:" : "on Fake RTX 4090:"), std::string::npos)
        << listed.out << listed.err;
    EXPECT_EQ(run({"emit", kFewPoints, "--device", device, "--stage", "launches"}).code, 0);
    EXPECT_EQ(used(), std::vector<std::string>{});
  }
  EXPECT_NE(plans[0], plans[1]) << "this problem shows nothing";
}

TEST_F(DeviceOption, DoctorListsAllOrTheOneThatIsAskedFor) {
  const Finished all = run({"doctor"});
  EXPECT_EQ(all.code, 0) << all.err;
  for (const char* part : {"GPU 0", "Fake H200, sm_90", "GPU 1", "Fake RTX 4090, sm_89", "cpu, cuda, emulated"})
    EXPECT_NE(all.out.find(part), std::string::npos) << part << all.out;
  if (runtime::cuda::why_no_nvrtc().empty()) {
    EXPECT_NE(all.out.find(runtime::cuda::nvrtc().path + ", version"), std::string::npos) << all.out;
  }
  const Finished one = run({"doctor", "--device", "1"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_NE(one.out.find("Fake RTX 4090"), std::string::npos) << one.out;
  EXPECT_EQ(one.out.find("Fake H200"), std::string::npos) << one.out;
  EXPECT_EQ(used(), std::vector<std::string>{"context 1"}) << "it is opened, to see that it can be";
}

TEST_F(DeviceOption, ANumberThatNoDeviceHasIsRefusedWithHowManyThereAre) {
  for (const char* command : {"tune", "run", "bench", "explain"})
    expect_refused({command, kFewPoints, "--backend", "cuda", "--device", "2"},
                   "device=2: the cuda backend has 2 devices here, numbers 0 to 1");
  expect_refused({"doctor", "--device", "2"}, "2 devices here, numbers 0 to 1");
  expect_refused({"plan", "--list", kFewPoints, "--device", "2"}, "2 devices here, numbers 0 to 1");
  expect_refused({"emit", kFewPoints, "--device", "2"}, "2 devices here, numbers 0 to 1");
  expect_refused({"run", kFewPoints, "--device", "1"}, "the cpu backend has one device here, number 0");
  expect_refused({"run", kFewPoints, "--backend", "cuda", "--device", "-1"}, "--device");
}

TEST_F(DeviceOption, NamesAreOfGpusThatNeedNotBeHereAndOnlyWhereNothingRuns) {
  const Finished h100 = run({"explain", kSquare, "--device", "h100", "--json"});
  ASSERT_EQ(h100.code, 0) << h100.err;
  EXPECT_EQ(std::string(Json::parse(h100.out)["plan"]).rfind("cuda;", 0), 0u) << h100.out;
  EXPECT_EQ(run({"explain", kSquare, "--backend", "cuda", "--device", "h100", "--json"}).out, h100.out);
  for (const char* backend : {"cpu", "emulated"})
    expect_refused(
        {"explain", kSquare, "--backend", backend, "--device", "h100"},
        std::string("--device h100: this device runs plans of the cuda backend, and --backend asks for those of ") +
            backend);
  for (const char* command : {"tune", "run", "bench"})
    expect_refused({command, kFewPoints, "--backend", "cuda", "--device", "h100"}, "'h100' is no device's number");
  for (const char* command : {"explain", "emit"})
    expect_refused({command, kFewPoints, "--device", "h1000"}, "nor one of h200, h100, ");
}

TEST_F(DeviceOption, WithoutABackendTheProcessorRunsBesideThem) {
  const Finished done = run({"run", kFewPoints, "--repeat", "1", "--json"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(std::string(Json::parse(done.out)["plan"]).rfind("cpu;", 0), 0u) << done.out;
  EXPECT_EQ(used(), std::vector<std::string>{});
}

}  // namespace
}  // namespace fourtune::test
