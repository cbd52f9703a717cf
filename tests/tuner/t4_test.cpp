// Results in the tuning community's format T4: what was written reads back, and what is not right is refused by name.
#include "tuner/report/t4.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "db/tuning_store.h"
#include "tests/support/program.h"
#include "tuner/report/configuration.h"

namespace fourtune::tuner {
namespace {

constexpr const char* kProblem = "fft:type=c2c,n=64,prec=f32";
constexpr const char* kPlan = "cuda;sort=bins(bin=8x4,cap=64);fft=plain";

db::StoredSession session(std::int64_t id, std::int64_t started_ms, const std::string& device) {
  db::StoredSession session;
  session.id = db::SessionId{id};
  session.environment = {"cuda", device, "sm_90", "{}", "CUDA 13.0", "nvrtc 13.0", "cufft 12000", "abc"};
  session.seed = ~std::uint64_t{0};
  session.strategy = "surrogate";
  session.budget_seconds = 12.5;
  session.command = "fourtune tune";
  session.started_ms = started_ms;
  return session;
}

db::StoredRun run(std::int64_t session, const std::string& plan, db::RunStatus status, std::int64_t ms) {
  db::StoredRun run;
  run.session = db::SessionId{session};
  run.problem = kProblem;
  run.plan = plan;
  run.status = status;
  run.started_ms = ms;
  return run;
}

// Two sessions with everything that a run can have, and every status.
db::StoreContents contents() {
  db::StoreContents all;
  all.sessions = {session(4, 1'700'000'000'123, "NVIDIA H100"), session(2, 1'600'000'000'000, "NVIDIA \"H\"")};
  all.sessions[0].end = db::SessionEnd::complete;
  all.sessions[0].finished_ms = 1'700'000'009'999;
  db::StoredRun good = run(4, kPlan, db::RunStatus::ok, 1'700'000'001'000);
  good.samples_ns = {1, 20'001, 123'456'789'012};
  good.stages = {{"set_points", 17}, {"fft", 20'000}};
  good.error = 1.25e-7;
  good.round = 1;
  good.memory_bytes = 123'456'789'012;
  good.kernels = R"([{"entry":"a"}])";
  good.state = R"({"clock_mhz":1980})";
  good.joules = 0.00321;
  good.message = "untuned default";
  all.runs.push_back(good);
  for (const auto status :
       {db::RunStatus::rejected, db::RunStatus::compile_error, db::RunStatus::too_many_resources,
        db::RunStatus::wrong_result, db::RunStatus::timeout, db::RunStatus::crash, db::RunStatus::interrupted}) {
    all.runs.push_back(run(2, "cuda;fft=cufft", status, 1'600'000'000'005));
    all.runs.back().message = "it \"failed\"\nbadly";
  }
  return all;
}

TEST(T4, ReadsBackWhatWasWrittenAndWritesTheSameBytes) {
  const std::string text = t4_text(contents());
  const db::StoreContents back = contents_of_t4(text);
  EXPECT_EQ(t4_text(back), text);
  ASSERT_EQ(back.sessions.size(), 2u);
  ASSERT_EQ(back.runs.size(), 7u) << "an interrupted run says nothing";
  db::StoreContents expected = contents();
  const auto found = std::find_if(back.runs.begin(), back.runs.end(), [](const auto& r) { return r.plan == kPlan; });
  ASSERT_NE(found, back.runs.end());
  EXPECT_EQ(static_cast<const db::Run&>(*found), static_cast<const db::Run&>(expected.runs.front()));
  EXPECT_EQ(back.sessions[1].environment, expected.sessions[0].environment);
  EXPECT_EQ(back.sessions[1].seed, expected.sessions[0].seed);
  EXPECT_EQ(back.sessions[1].finished_ms, expected.sessions[0].finished_ms);
  EXPECT_TRUE(back.verdicts.empty());
}

TEST(T4, ADatabaseMadeOfItGivesTheSameBytesAndServesNothing) {
  const test::ScratchFolder folder;
  const std::string text = t4_text(contents());
  const db::StoreContents inputs[] = {contents_of_t4(text)};
  const auto merged = db::merge_stores(folder / "own.db", inputs);
  EXPECT_EQ(merged.runs, 7u);
  EXPECT_EQ(t4_text(db::contents_of_store(folder / "own.db")), text);
  EXPECT_EQ(db::merge_stores(folder / "own.db", inputs).runs, 0u) << "a second time it adds nothing";
  EXPECT_TRUE(db::TuningStore::open_for_reading(folder / "own.db").winners().empty());
}

TEST(T4, HasTheFieldsOfTheSchema) {
  const auto document = nlohmann::json::parse(t4_text(contents(), {kProblem}));
  EXPECT_EQ(document["schema_version"], "1.0.0");
  std::set<std::string> invalidities;
  for (const auto& result : document["results"]) {
    for (const char* name : {"timestamp", "configuration", "times", "invalidity", "correctness", "measurements"})
      EXPECT_TRUE(result.contains(name)) << name;
    invalidities.insert(result["invalidity"]);
  }
  EXPECT_EQ(invalidities,
            (std::set<std::string>{"correct", "constraints", "compile", "runtime", "correctness", "timeout"}));
  const auto& good = document["results"].back();
  EXPECT_EQ(good["timestamp"], "2023-11-14T22:13:21.000Z");
  EXPECT_EQ(good["configuration"]["sort_bin"], "8x4");
  EXPECT_EQ(good["times"]["runtimes"][1], 0.020001);
  EXPECT_TRUE(nlohmann::json::parse(t4_text(contents(), {"fft:type=c2c,n=65,prec=f32"}))["results"].empty());
}

TEST(T4, RefusesWhatIsNotRightAndNamesThePlace) {
  const auto changed = [](const std::function<void(nlohmann::json&)>& change) {
    auto document = nlohmann::json::parse(t4_text(contents()));
    change(document);
    try {
      contents_of_t4(document.dump());
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument);
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  const auto expect = [&](const char* part, const std::function<void(nlohmann::json&)>& change) {
    const std::string why = changed(change);
    EXPECT_NE(why.find(part), std::string::npos) << why;
  };
  expect("schema_version is \"2.0.0\"", [](auto& d) { d["schema_version"] = "2.0.0"; });
  expect("results[1]: its configuration has no", [](auto& d) { d["results"][1]["configuration"].erase("plan"); });
  expect("results[0]: ", [](auto& d) { d["results"][0]["configuration"]["problem"] = "fft:n=banana"; });
  expect("results[6]: a time", [](auto& d) { d["results"][6]["times"]["runtimes"] = {-1.0}; });
  expect("results[6]: a time", [](auto& d) { d["results"][6]["times"]["runtimes"] = {1e300}; });
  expect("results[2]: its session", [](auto& d) { d["results"][2]["session"] = 9; });
  expect("results[6]: its correctness", [](auto& d) { d["results"][6]["correctness"] = 0; });
  expect("results[0]: \"yesterday\" is not a time", [](auto& d) { d["results"][0]["timestamp"] = "yesterday"; });
  expect("results[0]: a text", [](auto& d) { d["results"][0]["configuration"]["plan"] = std::string(100'000, 'x'); });
  expect("metadata.sessions[0]: ", [](auto& d) { d["metadata"]["sessions"][0].erase("environment"); });
  for (const char* text : {"", "[]", "{}", "nonsense", "{\"results\":[]}"})
    EXPECT_THROW(contents_of_t4(text), Error) << text;
}

TEST(Configuration, NamesWhatIsInsideOfBrackets) {
  using Map = std::map<std::string, std::string>;
  EXPECT_EQ(configuration_of(kPlan),
            (Map{{"plan", "cuda"}, {"sort", "bins"}, {"sort_bin", "8x4"}, {"sort_cap", "64"}, {"fft", "plain"}}));
  EXPECT_EQ(configuration_of("a;b=c(1,d=e(f=2,g))"),
            (Map{{"plan", "a"}, {"b", "c"}, {"b_0", "1"}, {"b_d", "e"}, {"b_d_f", "2"}, {"b_d_1", "g"}}));
  EXPECT_EQ(configuration_of("cuda;fft=interleaved{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=64,tile=1x2]{Y(4)}:order=a,"
                             "prec=f64"),
            (Map{{"plan", "cuda"},
                 {"fft", "interleaved"},
                 {"fft_0", "X(8,8,8,64,tw),X(8,8,1,8,no-tw)"},
                 {"fft_0_threads", "64"},
                 {"fft_0_tile", "1x2"},
                 {"fft_1", "Y(4)"},
                 {"fft_order", "a"},
                 {"fft_prec", "f64"}}));
  for (const char* text : {"a={", "a={[", "a={}[", "a={}[b=]{", "a={}}:", "a={(}[)]:=", "", ";", "=", "a=(", ")(",
                           "a=b(c", "a=b)", "((((", "x=()"})
    configuration_of(text);
}

}  // namespace
}  // namespace fourtune::tuner
