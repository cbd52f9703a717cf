// `fourtune calibrate`: what it writes and where, and what becomes of bad files.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/calibration.h"
#include "base/known_devices.h"
#include "runtime/backend_table.h"
#include "tests/tools/command_line.h"

namespace fourtune::test {
namespace {

class CalibrateCommand : public CommandLine {
 protected:
  Finished run_with_folder(std::vector<std::string> words) {
    words.insert(words.begin(), fourtune_program());
    return run_program(words, folder.path(),
                       {{"FOURTUNE_DB", (folder / "own.db").string()},
                        {"FOURTUNE_CALIBRATIONS", (folder / "devices").string()},
                        {"OMP_NUM_THREADS", "2"}});
  }
  // As if this processor had been calibrated, on a date that no program knew.
  void make_own_file() const {
    Calibration made;
    made.traits = runtime::find_backend("cpu").traits();
    made.traits.rates.copy_far = 1e10;
    made.date = "2001-02-03";
    save(made, own_file());
  }
  std::filesystem::path own_file() const {
    return folder / "devices" / calibration_name(runtime::find_backend("cpu").traits());
  }
};

// An emulated GPU's times are never disturbed, so this always measures something.
TEST_F(CalibrateCommand, WritesAFileAndPrintsItsRates) {
  const Finished result = run_with_folder({"calibrate", "--backend", "emulated", "--seconds", "0.3", "-o", "gpu.json"});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char* word : {"flops32", "copy_far", "atomics64", "launch", "gpu.json", "rates of the emulator"})
    EXPECT_NE(result.out.find(word), std::string::npos) << word << "\n" << result.out;
  EXPECT_EQ(result.out.find("copy_all"), std::string::npos) << "that is of processors";
  const Calibration file = load_calibration(folder / "gpu.json");
  EXPECT_EQ(file.traits.backend, "emulated");
  EXPECT_GT(file.traits.rates.launch, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "devices")) << "-o is the only file";
}

TEST_F(CalibrateCommand, PrintsTheFileAsJson) {
  const Finished result = run_with_folder(
      {"calibrate", "--backend", "emulated", "--seconds", "0.3", "-o", "gpu.json", "--json", "--quiet"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, read_text(folder / "gpu.json"));
  EXPECT_EQ(result.err, "");
}

TEST_F(CalibrateCommand, AProcessorsFileIsFoundByLaterCommands) {
  const Finished result = run_with_folder({"calibrate", "--seconds", "2", "--quiet"});
  if (result.code == 1 && result.err.find("nothing could be measured") != std::string::npos)
    GTEST_SKIP() << "this machine is busy";
  ASSERT_EQ(result.code, 0) << result.err;
  ASSERT_TRUE(std::filesystem::exists(own_file())) << result.out;
  EXPECT_EQ(load_calibration(own_file()).traits.backend, "cpu");
  const Finished next = run_with_folder({"explain", "fft:type=c2c,n=64,prec=f64"});
  EXPECT_EQ(next.code, 0);
  EXPECT_EQ(next.err, "");
}

TEST_F(CalibrateCommand, AFileOfNoUseCostsOneLineAndNothingElse) {
  const std::vector<std::string> words{"explain", "nufft:type=1,n=64x64,m=20000,prec=f32,tol=1e-3"};
  const Finished without = run_with_folder(words);
  std::filesystem::create_directories(folder / "devices");
  write_text(own_file(), "damaged");
  const Finished with = run_with_folder(words);
  EXPECT_EQ(with.code, 0);
  EXPECT_EQ(with.out, without.out);
  EXPECT_EQ(without.err, "");
  EXPECT_EQ(with.err.rfind("fourtune: warning: ", 0), 0u) << with.err;
  EXPECT_EQ(with.err.find('\n') + 1, with.err.size()) << with.err;
  EXPECT_NE(with.err.find("is ignored"), std::string::npos) << with.err;
}

TEST_F(CalibrateCommand, DoctorAndExplainSayWhetherADeviceIsCalibrated) {
  const std::vector<std::string> explain{"explain", "fft:type=c2c,n=64,prec=f64"};
  EXPECT_NE(run_with_folder(explain).out.find(", not calibrated\n"), std::string::npos);
  const Finished before = run_with_folder({"doctor", "--wide"});
  EXPECT_NE(before.out.find("not calibrated"), std::string::npos) << before.out;
  EXPECT_NE(before.out.find("`fourtune calibrate`"), std::string::npos) << before.out;
  make_own_file();
  EXPECT_NE(run_with_folder(explain).out.find(", calibrated on 2001-02-03\n"), std::string::npos);
  const auto json = nlohmann::json::parse(run_with_folder({"doctor", "--json"}).out);
  bool found = false;
  for (const auto& finding : json["findings"])
    found = found || (finding["name"] == "calibration" && finding["found"] == "calibrated on 2001-02-03");
  EXPECT_TRUE(found) << json;
  EXPECT_EQ(nlohmann::json::parse(run_with_folder({"explain", explain[1], "--json"}).out)["calibrated"], "2001-02-03");
}

TEST_F(CalibrateCommand, TuneCalibratesFirstOnlyWhereThereIsMuchTimeAndNoFile) {
  const auto tuned = [&](const std::string& seconds, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"tune", "fft:type=c2c,n=8,prec=f64", "--seconds", seconds, "--max-evaluations", "1"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished result = run_with_folder(words);
    EXPECT_TRUE(result.code == 0 || result.code == 75) << result.err;  // 75: too busy to judge, after all that
    return result.err;
  };
  EXPECT_EQ(tuned("2").find("calibrat"), std::string::npos);
  EXPECT_EQ(tuned("200", {"--no-calibrate"}).find("calibrat"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "devices"));
  make_own_file();
  EXPECT_EQ(tuned("200").find("calibrat"), std::string::npos);
  std::filesystem::remove(own_file());
  const std::string first = tuned("200");
  EXPECT_NE(first.find("is not calibrated; that comes first"), std::string::npos) << first;
  EXPECT_TRUE(std::filesystem::exists(own_file()) || first.find("note: not calibrated: ") != std::string::npos)
      << first;
}

TEST_F(CalibrateCommand, AFileStandsForADeviceThatIsNotHere) {
  Calibration gpu;
  gpu.traits = *generator::known_device("a100");
  gpu.traits.name = "Made GPU";
  gpu.traits.rates.copy_far = 1e11;
  gpu.date = "2001-02-03";
  save(gpu, folder / "gpu.json");
  const std::string token = "fft:type=c2c,n=64x64,prec=f32";
  const Finished explained = run_with_folder({"explain", token, "--device", "gpu.json"});
  EXPECT_EQ(explained.code, 0) << explained.err;
  EXPECT_NE(explained.out.find("Made GPU, calibrated on 2001-02-03"), std::string::npos) << explained.out;
  const Finished listed = run_with_folder({"plan", "--list", token, "--device", "gpu.json", "--count", "1"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_NE(listed.out.find("on Made GPU"), std::string::npos) << listed.out;
  EXPECT_EQ(run_with_folder({"emit", token, "--stage", "kernels", "--device", "gpu.json"}).code, 0);
  EXPECT_NE(run_with_folder({"explain", token, "--device", "a100"}).out.find("from its data sheet"), std::string::npos);
  EXPECT_NE(run_with_folder({"explain", token, "--device", "h200"}).out.find("H200, calibrated on 20"),
            std::string::npos);

  Calibration processor;
  processor.traits = runtime::find_backend("cpu").traits();
  processor.traits.name = "Made Processor", processor.traits.cores = 64;
  processor.date = "2001-02-03";
  save(processor, folder / "cpu.json");
  EXPECT_NE(run_with_folder({"explain", token, "--device", "cpu.json"}).out.find("Made Processor"), std::string::npos);
  expect_refused({"plan", "--list", token, "--device", "cpu.json"}, "calibration of a processor");
  expect_refused({"emit", token, "--device", "cpu.json"}, "calibration of a processor");
  expect_refused({"explain", token, "--device", "cpu.json", "--backend", "cuda"}, "runs plans of the cpu backend");
  expect_refused({"explain", token, "--device", "none.json"}, "none.json", 1);
  expect_refused({"explain", token, "--device", file("bad.json", "{}")}, "no calibration");
  expect_refused({"explain", token, "--device", "h1000"}, "FILE.json");
  expect_refused({"warm", token, "--device", "gpu.json"}, "by its number");
}

TEST_F(CalibrateCommand, InterruptedItLeavesTheEarlierFile) {
  write_text(folder / "old.json", "earlier");
  write_text(folder / "interrupt.sh",
             "'" + fourtune_program() +
                 "' calibrate -o old.json --seconds 600 2> err & pid=$!\n"
                 // It takes more than five seconds; now it catches the signal.
                 "until grep -q fourtune /proc/$pid/comm && grep -q 'SigCgt:.*[2367abef]$' /proc/$pid/status; do "
                 "kill -0 $pid || break; sleep 0.1; done\n"
                 "kill -INT $pid; wait $pid; code=$?; cat err >&2; exit $code\n");
  const Finished result = run_program({"bash", "-m", "interrupt.sh"}, folder.path());
  if (result.code == 0) GTEST_SKIP() << "it was done before the signal came";
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_NE(result.err.find("nothing was written"), std::string::npos) << result.err;
  EXPECT_EQ(read_text(folder / "old.json"), "earlier");
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_EQ(entry.path().filename().string().find("old.json."), std::string::npos) << entry.path();
}

TEST_F(CalibrateCommand, SaysWhatIsWrong) {
  expect_refused({"calibrate"}, "there is no folder for calibrations");
  expect_refused({"calibrate", "--seconds", "0"}, "outside");
  expect_refused({"calibrate", "--backend", "abacus"}, "abacus", 1);
  const Finished nowhere =
      run_with_folder({"calibrate", "--backend", "emulated", "--seconds", "0.1", "-o", "/dev/null/x.json", "--quiet"});
  EXPECT_EQ(nowhere.code, 1) << nowhere.err;
  EXPECT_NE(nowhere.err.find("x.json"), std::string::npos) << nowhere.err;
}

}  // namespace
}  // namespace fourtune::test
