// What the command line says of a GPU's clocks, power and temperature, with a driver and an NVML that say what the test
// wants (fake_cuda_driver.c, fake_nvml.c).
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/tuning_store.h"
#include "fourtune/device_traits.h"
#include "runtime/environment.h"
#include "tests/support/program.h"
#include "tests/support/stored_winner.h"

namespace fourtune::test {
namespace {

using Json = nlohmann::json;

class Sensors : public testing::Test {
 protected:
  Finished run(std::vector<std::string> words) {
    words.insert(words.begin(), fourtune_program());
    auto all = environment;
    all.emplace_back("FOURTUNE_DB", (folder / "own.db").string());
    return run_program(words, folder.path(), all);
  }
  // The findings of `fourtune doctor` by name.
  std::map<std::string, Json> findings(std::vector<std::string> more = {}) {
    std::vector<std::string> words{"doctor", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished done = run(words);
    EXPECT_EQ(done.code, 0) << done.err;
    const Json report = Json::parse(done.out, nullptr, false);
    std::map<std::string, Json> named;
    for (const Json& finding : report["findings"]) named[finding["name"]] = finding;
    return named;
  }

  ScratchFolder folder;
  std::vector<std::pair<std::string, std::string>> environment{{"FOURTUNE_CUDA_DRIVER", FOURTUNE_FAKE_CUDA},
                                                               {"FOURTUNE_FAKE_GPUS", "h200,rtx4090"},
                                                               {"FOURTUNE_NVML", FOURTUNE_FAKE_NVML},
                                                               {"OMP_NUM_THREADS", "1"}};
};

TEST_F(Sensors, DoctorSaysWhatEachGpusClocksAndPowerAreAndMayBe) {
  auto named = findings();
  EXPECT_EQ(named.count("NVML"), 0u);
  for (const char* name : {"GPU 0 clocks", "GPU 1 clocks"}) {
    ASSERT_EQ(named.count(name), 1u) << name;
    EXPECT_EQ(named[name]["state"], "ok");
    EXPECT_EQ(named[name]["found"],
              "1980 of 2040 MHz, memory 2619 of 3201 MHz, 312.5 of 700 W, 48 C, nothing holds them down");
    const Json values{{"clock_mhz", 1980}, {"max_clock_mhz", 2040}, {"memory_clock_mhz", 2619},
                      {"watts", 312.5},    {"max_watts", 700.0},    {"max_memory_clock_mhz", 3201},
                      {"celsius", 48}};
    EXPECT_EQ(named[name]["values"], values);
  }
  EXPECT_FALSE(named["GPU 0"].contains("values"));
  named = findings({"--device", "1"});
  EXPECT_EQ(named.count("GPU 0 clocks"), 0u);
  EXPECT_EQ(named.count("GPU 1 clocks"), 1u);
  EXPECT_NE(run({"doctor"}).out.find("GPU 0 clocks"), std::string::npos);
}

TEST_F(Sensors, DoctorWarnsOfHeatButNotOfALimitOfPower) {
  environment.emplace_back("FOURTUNE_FAKE_NVML_REASONS", "0x24");
  Json hot = findings()["GPU 0 clocks"];
  EXPECT_EQ(hot["state"], "note");
  EXPECT_NE(hot["found"].get<std::string>().find(", held down by power, heat"), std::string::npos) << hot;
  EXPECT_NE(hot["cost"], "");
  EXPECT_EQ(hot["values"]["limits"], Json({"power", "heat"}));
  environment.back().second = "0x4";
  const Json busy = findings()["GPU 0 clocks"];
  EXPECT_EQ(busy["state"], "ok");
  EXPECT_NE(busy["found"].get<std::string>().find(", held down by power"), std::string::npos) << busy;
}

TEST_F(Sensors, DoctorSaysInOneLineThatThereIsNoNvml) {
  environment[2].second = "/nowhere/libnvidia-ml.so.1";
  auto named = findings();
  EXPECT_EQ(named["NVML"]["state"], "note");
  EXPECT_NE(named["NVML"]["found"].get<std::string>().find("no NVML: /nowhere/"), std::string::npos) << named["NVML"];
  EXPECT_NE(named["NVML"]["cost"], "");
  EXPECT_EQ(named.count("GPU 0 clocks"), 0u);
  environment[0].second = "/nowhere/libcuda.so.1";
  EXPECT_EQ(findings().count("NVML"), 0u) << "where no GPU is, nobody misses it";
}

TEST_F(Sensors, ExplainSaysAtWhichClocksTheStoredPlanWasMeasured) {
  const std::string token = "fft:type=c2c,n=8,prec=f64", plan = "cpu;threads=1;fft=rows(rigor=measure,block=64)";
  const auto store = [&](const std::string& state) {
    auto database = db::TuningStore::open_for_writing(folder / "own.db", 1000, db::Journal::rollback);
    db::Run run = right_run(token, plan);
    run.state = state;
    store_winner(database, runtime::environment_here(cpu_traits()), run);
  };
  const auto explained = [&](std::vector<std::string> more = {}) {
    std::vector<std::string> words{"explain", token, "--backend", "cpu", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return Json::parse(run(words).out, nullptr, false);
  };
  store("");
  EXPECT_TRUE(explained()["measured_at"].is_null());
  EXPECT_EQ(run({"explain", token, "--backend", "cpu"}).out.find("measured at"), std::string::npos);
  store(
      R"({"clock_mhz":1500,"watts":312.5,"celsius":61,"limits":["power","\u001b[2J"],"more":1,"memory_clock_mhz":"x"})");
  EXPECT_EQ(explained()["measured_at"],
            Json({{"clock_mhz", 1500}, {"watts", 312.5}, {"celsius", 61}, {"limits", {"power", "\x1b[2J"}}}));
  const std::string said = run({"explain", token, "--backend", "cpu"}).out;
  EXPECT_NE(said.find("\nmeasured at: 1500 MHz, 312 W, 61 C, limited by power, limited by \\x1b[2J\n"),
            std::string::npos)
      << said;
  // Another plan, and another problem, were not measured then.
  EXPECT_TRUE(explained({"--plan", "cpu;threads=1;fft=rows(rigor=measure,block=32)"})["measured_at"].is_null());
  const Finished pack = run({"pack", "build", "own.pack", "--from", "own.db"});
  ASSERT_EQ(pack.code, 0) << pack.err;
  EXPECT_TRUE(explained({"--db", "own.pack"})["measured_at"].is_null()) << "packs keep no clocks";
}

}  // namespace
}  // namespace fourtune::test
