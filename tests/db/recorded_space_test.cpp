// Recorded search spaces as text.
#include "db/recorded_space.h"

#include <sstream>

#include "tests/db/support.h"

namespace fourtune::db::testing {
namespace {

RecordedSpace sample_space() {
  return {kProblem,
          sample_environment(),
          {{"cpu;threads=1", RunStatus::ok, 1.2345678901234567e-6, {1000, 1001, 999}},
           {"cpu;\"quoted\"\n;\\", RunStatus::ok, std::nullopt, {}},
           {"cpu;threads=2", RunStatus::timeout, std::nullopt, {}}}};
}

std::string text_of(const RecordedSpace& space) {
  std::ostringstream out;
  write_space(out, space);
  return out.str();
}

RecordedSpace parse(const std::string& text) {
  std::istringstream in(text);
  return read_space(in);
}

TEST(RecordedSpace, RoundTripsThroughText) {
  EXPECT_EQ(parse(text_of(sample_space())), sample_space());
  EXPECT_EQ(parse(text_of({kProblem, {}, {}})), (RecordedSpace{kProblem, {}, {}}));
}

TEST(RecordedSpace, HasOneLinePerPlanAndIgnoresUnknownKeys) {
  const std::string text = text_of(sample_space());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_NE(text.find(R"({"plan":"cpu;threads=2","status":"timeout","samples_ns":[]})"), std::string::npos);
  EXPECT_EQ(parse(text + R"({"plan":"p","status":"ok","samples_ns":[1],"colour":3})" + "\n\n").plans.back(),
            (RecordedPlan{"p", RunStatus::ok, std::nullopt, {1}}));
}

TEST(RecordedSpace, ErrorsNameTheLine) {
  const std::string head = text_of({kProblem, {}, {}});
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::io);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(message("").find("line 1"), std::string::npos);
  EXPECT_NE(message("{}").find("line 1"), std::string::npos);
  EXPECT_NE(message(R"({"fourtune_space":2,"problem":"p","environment":{}})").find("line 1"), std::string::npos);
  for (const char* bad : {
           "not json",
           "[1]",
           R"({"plan":"p","status":"great","samples_ns":[]})",
           R"({"plan":"p","status":"ok"})",
           R"({"plan":"p","status":"ok","samples_ns":[1.5]})",
           R"({"plan":"p","status":"ok","samples_ns":[1],"error":"small"})",
           R"({"plan":7,"status":"ok","samples_ns":[1]})",
       }) {
    EXPECT_NE(message(head + bad).find("line 2"), std::string::npos) << bad;
  }
  const std::string plan = "{\"plan\":\"p\",\"status\":\"ok\",\"samples_ns\":[1]}\n";
  EXPECT_NE(message(head + plan + plan).find("line 3"), std::string::npos);
}

TEST(RecordedSpace, IsTakenFromAStore) {
  const TempFolder folder;
  auto store = TuningStore::open_for_writing(folder / "tuning.db");
  const SessionId session = store.begin_session(sample_session());
  store.record_run(session, sample_run("good"));
  store.record_run(session, sample_run("good"));
  store.record_run(session, sample_run("bad", RunStatus::crash));
  db::Run later = sample_run("flaky");
  store.record_run(session, later);
  later.status = RunStatus::timeout;
  store.record_run(session, later);
  const RecordedSpace space = record_space(store, kProblem, sample_environment());
  ASSERT_EQ(space.plans.size(), 3u);
  EXPECT_EQ(space.plans[0].samples_ns.size(), 6u);
  EXPECT_EQ(space.plans[1].status, RunStatus::crash);
  EXPECT_EQ(space.plans[2].status, RunStatus::ok);
  EXPECT_EQ(parse(text_of(space)), space);
}

}  // namespace
}  // namespace fourtune::db::testing
