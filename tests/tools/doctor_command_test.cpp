// What fourtune doctor says of a machine, its environment, its database and its packs.
#include <algorithm>
#include <map>
#include <regex>

#include "tests/tools/command_line.h"

namespace fourtune::test {
namespace {

using Json = nlohmann::json;

TEST_F(CommandLine, DoctorFollowsTheEnvironment) {
  const auto findings = [&](const std::vector<std::pair<std::string, std::string>>& environment) {
    const Finished done = run_program({fourtune_program(), "doctor", "--json"}, folder.path(), environment);
    const Json report = Json::parse(done.out);
    std::map<std::string, Json> named;
    for (const Json& finding : report["findings"]) named[finding["name"]] = finding;
    return named;
  };
  auto here = findings({{"OMP_NUM_THREADS", "1"}, {"FOURTUNE_ISA", "portable"}});
  EXPECT_EQ(here["kernels"]["state"], "note");
  EXPECT_EQ(here["kernels"]["found"], "portable code for spreading and interpolation");
  EXPECT_NE(here["kernels"]["cost"].get<std::string>().find("several times slower"), std::string::npos);
  EXPECT_EQ(here["OMP_NUM_THREADS"]["found"], "1");
  EXPECT_EQ(here["OMP_NUM_THREADS"]["state"], "note");
  EXPECT_EQ(here["OMP_NUM_THREADS"]["cost"], "set in the environment: no transform uses more threads than that");
  EXPECT_EQ(here.count("OMP_THREAD_LIMIT"), 0u);
  const std::string processor = here["processor"]["found"];
  EXPECT_TRUE(processor.ends_with(", 1 thread of use to this process")) << processor;
  EXPECT_TRUE(
      std::regex_match(here["caches"]["found"].get<std::string>(),
                       std::regex("L1 [0-9.]+ ([KMG]i)?B, L2 [0-9.]+ ([KMG]i)?B, L3 ([0-9.]+ [KMG]iB|unknown)")))
      << here["caches"];
  EXPECT_TRUE(here["memory"]["found"].get<std::string>().ends_with("iB installed")) << here["memory"];
  const std::string backends = here["backends"]["found"];
  EXPECT_NE((", " + backends + ",").find(", cpu,"), std::string::npos) << backends;
  EXPECT_NE((", " + backends + ",").find(", emulated,"), std::string::npos) << backends;
  here = findings({{"OMP_THREAD_LIMIT", "3"}, {"OMP_NUM_THREADS", ""}});
  EXPECT_EQ(here["OMP_THREAD_LIMIT"]["found"], "3");
  EXPECT_EQ(here.count("OMP_NUM_THREADS"), 0u);
}

TEST_F(CommandLine, DoctorSaysWhatIsThereAndEndsWell) {
  const Json report = run_json({"doctor", "--json"});
  std::vector<std::string> names;
  for (const Json& finding : report["findings"]) {
    names.push_back(finding["name"]);
    EXPECT_TRUE(finding["state"] != "missing" || finding["cost"] != Json("")) << finding["name"];
  }
  for (const char* name : {"processor", "kernels", "backends", "FFTW f64", "CUDA driver", "CUDA compiler", "cuFFT",
                           "GPU emulation", "SQLite", "database", "huge pages", "problem lists"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  EXPECT_EQ(run({"doctor", "--db", file("foreign.db", "not a database")}).code, 0);
  // The database: not there, tuned, foreign.
  const auto database = [&](const std::string& name) {
    const Json examined = run_json({"doctor", "--json", "--db", name});
    for (const Json& finding : examined["findings"])
      if (finding["name"] == "database") return finding;
    return Json();
  };
  const Json fresh = database("fresh.db");
  EXPECT_EQ(fresh["state"], "note") << fresh;
  EXPECT_NE(fresh["found"].get<std::string>().find("fresh.db (not there yet)"), std::string::npos) << fresh;
  ASSERT_EQ(tune({"fft:type=c2c,n=16,prec=f64", "--seconds", "0.3", "--db", "tuned.db"}).code, 0);
  const Json tuned = database("tuned.db");
  EXPECT_EQ(tuned["state"], "ok") << tuned;
  EXPECT_NE(tuned["found"].get<std::string>().find("tuned.db (1 problem, 1 winner, writable)"), std::string::npos)
      << tuned;
  EXPECT_EQ(database("foreign.db")["state"], "missing");
  const std::string packs = FOURTUNE_SOURCE_DIR "/db/packs", bad = file("bad.pack", "not a pack");
  const Finished with_packs = run_program({fourtune_program(), "doctor"}, folder.path(),
                                          {{"FOURTUNE_SHIPPED_PACKS", packs}, {"FOURTUNE_PACKS", bad}});
  EXPECT_NE(with_packs.out.find("h200 2.0: 285 plans, " + packs + "/h200.pack"), std::string::npos) << with_packs.out;
  EXPECT_NE(with_packs.out.find("it is not used: tuning database '" + bad), std::string::npos) << with_packs.out;
}

}  // namespace
}  // namespace fourtune::test
