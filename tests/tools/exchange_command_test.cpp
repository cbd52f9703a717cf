// `fourtune export` and `fourtune import`: measurements and search spaces for other tuners, and back.
#include "tests/tools/command_line.h"

namespace fourtune::test {
namespace {

class ExchangeCommand : public CommandLine {};

constexpr const char* kExchanged = "fft:type=c2c,n=24,prec=f64";

TEST_F(ExchangeCommand, WhatIsImportedExportsToTheSameBytesAndServesNothing) {
  ASSERT_EQ(tune({kExchanged, "--seconds", "1", "--quiet"}).code, 0);
  ASSERT_EQ(run({"export", "-o", "a.json"}).code, 0);
  const Finished done = run({"import", "a.json", "--db", "other.db"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find("other.db: 1 sessions and "), std::string::npos) << done.out;
  ASSERT_EQ(run({"export", "--db", "other.db", "-o", "b.json"}).code, 0);
  EXPECT_EQ(read_text(folder / "a.json"), read_text(folder / "b.json"));
  EXPECT_NE(run({"import", "a.json", "--db", "other.db"}).out.find("0 sessions and 0 measurements"), std::string::npos);
  EXPECT_EQ(run_json({"show", "--db", "other.db", "--format", "json"}).size(), 0u) << "no winner without a check";
}

TEST_F(ExchangeCommand, ATuneGoesOnFromImportedMeasurementsAndChecksTheWinner) {
  ASSERT_EQ(tune({kExchanged, "--seconds", "1", "--quiet"}).code, 0);
  ASSERT_EQ(run({"export", "-o", "a.json"}).code, 0);
  // Somebody claims that the slowest right plan is a thousand times as fast as the fastest.
  nlohmann::json document = nlohmann::json::parse(read_text(folder / "a.json"));
  nlohmann::json* slowest = nullptr;
  double time = 0;
  for (auto& result : document["results"])
    if (result["invalidity"] == "correct" && result["times"]["runtimes"].back() > time)
      time = result["times"]["runtimes"].back(), slowest = &result;
  ASSERT_NE(slowest, nullptr);
  for (auto& runtime : (*slowest)["times"]["runtimes"]) runtime = 1e-6;
  file("lie.json", document.dump());
  ASSERT_EQ(run({"import", "lie.json", "--db", "other.db"}).code, 0);
  const nlohmann::json report = run_json({"tune", kExchanged, "--seconds", "2", "--threads", "1", "--cpu-time",
                                          "--quiet", "--db", "other.db", "--format", "json"});
  ASSERT_EQ(report.size(), 1u);
  EXPECT_GT(report[0]["reused"].get<int>(), 0);
  EXPECT_GT(report[0]["seconds"].get<double>(), 2e-9) << "the time is that of the finals, not the one claimed";
}

TEST_F(ExchangeCommand, TheSearchSpaceOfAGpuReadsBackAsAProblem) {
  const std::string token = "fft:type=c2c,n=64,prec=f32";
  ASSERT_EQ(run({"export", token, "--format", "t1", "--device", "h100", "-o", "space.json"}).code, 0);
  const auto space = nlohmann::json::parse(read_text(folder / "space.json"));
  EXPECT_EQ(space["KernelSpecification"]["KernelName"], token);
  const auto& parameters = space["ConfigurationSpace"]["TuningParameters"];
  ASSERT_GT(parameters.size(), 5u);
  for (const auto& parameter : parameters) {
    const auto values = nlohmann::json::parse(parameter["Values"].get<std::string>());
    EXPECT_NE(std::find(values.begin(), values.end(), parameter["Default"]), values.end()) << parameter;
  }
  const auto& condition = space["ConfigurationSpace"]["Conditions"][0];
  EXPECT_EQ(condition["Parameters"].size(), parameters.size());
  const std::string expression = condition["Expression"];
  const auto combinations = nlohmann::json::parse(expression.substr(expression.find("] in ") + 5));
  EXPECT_GT(combinations.size(), 1u);
  for (const auto& one : combinations) EXPECT_EQ(one.size(), parameters.size());
  // Read back, it is the problem that it was made from, and makes the same text.
  const nlohmann::json tuned = run_json({"tune", "--problems", "space.json", "--seconds", "1", "--threads", "1",
                                         "--cpu-time", "--quiet", "--format", "json"});
  EXPECT_EQ(tuned[0]["problem"], token);
  ASSERT_EQ(run({"export", tuned[0]["problem"], "--format", "t1", "--device", "h100", "-o", "again.json"}).code, 0);
  EXPECT_EQ(read_text(folder / "space.json"), read_text(folder / "again.json"));
}

TEST_F(ExchangeCommand, WhatIsNotRightIsRefused) {
  expect_refused({"export", "--db", "nowhere.db", "-o", "a.json"}, "nowhere.db: no such database");
  expect_refused({"export", kExchanged, "fft:type=c2c,n=25,prec=f64", "--format", "t1", "-o", "a.json"},
                 "takes one problem");
  expect_refused({"export", kExchanged, "--format", "csv", "-o", "a.json"}, "--format");
  expect_refused({"import", "nowhere.json"}, "nowhere.json: cannot be read");
  file("text.json", "{\"results\":[]}");
  expect_refused({"import", "text.json"}, "text.json: no results in the format T4");
  expect_refused({"tune", "--problems", "text.json"}, "text.json: no tuning problem in the format T1");
  file("taken.json", "");
  ASSERT_EQ(tune({kExchanged, "--seconds", "1", "--quiet"}).code, 0);
  expect_refused({"export", "-o", "taken.json"}, "taken.json: exists");
}

}  // namespace
}  // namespace fourtune::test
