// The report as a page: it says what the database has, nothing of a database becomes markup, and nothing is loaded.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "db/tuning_store.h"
#include "tests/support/program.h"
#include "tuner/report/html.h"
#include "tuner/report/story.h"
#include "tuner/session/problem_tuning.h"

namespace fourtune::tuner {
namespace {

constexpr const char* kProblem = "fft:type=c2c,n=64,prec=f32";
constexpr const char* kOther = "nufft:type=1,n=32,m=100,prec=f64,tol=1e-6";

class HtmlReport : public ::testing::Test {
 protected:
  HtmlReport() : store_(db::TuningStore::open_for_writing(folder_ / "a.db")) {}

  db::SessionId begin(const std::string& device = "Example CPU") {
    db::SessionStart start;
    start.environment = {"cpu", device, "avx2", R"({"cores":2})", "", "gcc", "fftw 3.3.10", "generator-1"};
    start.strategy = "local";
    environment_ = start.environment;
    return session_ = store_.begin_session(start);
  }
  void run(const std::string& problem, const std::string& plan, std::int64_t ns, const std::string& message = {},
           db::RunStatus status = db::RunStatus::ok) {
    db::Run run;
    run.problem = problem;
    run.plan = plan;
    run.status = status;
    run.message = message;
    if (status == db::RunStatus::ok) run.samples_ns = {ns, ns, ns}, run.stages = {{"set_points", 5}, {"fft", ns}};
    store_.record_run(session_, run);
  }
  void win(const std::string& problem, const std::string& plan, double ns) {
    store_.record_verdict(session_, {problem, plan, "", "", ns, 0, 1, 1, 0});
  }
  std::string page() { return html_report(stories_of(store_), "a.db"); }

  test::ScratchFolder folder_;
  db::TuningStore store_;
  db::SessionId session_{};
  db::Environment environment_;
};

// Checks that every tag is closed in its turn.
void expect_balanced(const std::string& page) {
  const std::vector<std::string> single{"meta", "br", "!DOCTYPE"};
  std::vector<std::string> open;
  for (std::size_t at = page.find('<'); at != page.npos; at = page.find('<', at + 1)) {
    const std::size_t end = page.find('>', at);
    ASSERT_NE(end, page.npos);
    const std::string tag = page.substr(at + 1, end - at - 1), name = tag.substr(0, tag.find_first_of(" /", 1));
    if (std::find(single.begin(), single.end(), name) != single.end() || tag.ends_with("/")) continue;
    if (tag.front() != '/') {
      open.push_back(name);
      continue;
    }
    ASSERT_FALSE(open.empty()) << tag;
    ASSERT_EQ("/" + open.back(), tag);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

TEST_F(HtmlReport, TellsTheStoryOfEachProblem) {
  begin();
  run(kProblem, "plan-untuned", 4000, untuned_mark);
  run(kProblem, "cpu;fft=fftw(rigor=measure)", 3000);
  run(kProblem, "plan-bad", 0, "too much shared memory", db::RunStatus::too_many_resources);
  run(kProblem, "plan-worse", 0, "another reason", db::RunStatus::too_many_resources);
  run(kProblem, "plan-dead", 0, "the worker died", db::RunStatus::crash);
  run(kProblem, "plan-stopped", 0, "", db::RunStatus::interrupted);
  run(kProblem, "plan-fast", 2000);
  run(kProblem, "plan-fast", 1900);  // again, in the finals
  win(kProblem, "plan-fast", 2000);
  run(kOther, "plan-untuned", 500, untuned_mark);

  const auto stories = stories_of(store_);
  ASSERT_EQ(stories.size(), 2u);
  const Story& story = stories[0];
  EXPECT_EQ(story.problem, kProblem);
  const std::vector<double> nanoseconds{4000, 3000, 0, 0, 0, 2000};
  ASSERT_EQ(story.course.size(), nanoseconds.size());
  for (std::size_t i = 0; i < nanoseconds.size(); ++i) EXPECT_NEAR(story.course[i], nanoseconds[i] * 1e-9, 1e-12) << i;
  EXPECT_EQ(story.winner.plan, "plan-fast");
  EXPECT_EQ(story.untuned.plan, "plan-untuned");
  EXPECT_NEAR(story.untuned.seconds, 4e-6, 1e-12);
  EXPECT_EQ(story.library.plan, "cpu;fft=fftw(rigor=measure)");
  ASSERT_EQ(story.stages.size(), 1u) << "set_points is a sum of others";
  EXPECT_EQ(story.stages[0].stage, "fft");
  ASSERT_EQ(story.failures.size(), 2u);
  EXPECT_EQ(story.failures[0].status, db::RunStatus::too_many_resources);
  EXPECT_EQ(story.failures[0].count, 2u);
  EXPECT_EQ(story.failures[0].message, "too much shared memory");
  EXPECT_EQ(story.failures[1].status, db::RunStatus::crash);
  EXPECT_EQ(stories[1].winner.plan, "");

  const std::string text = page();
  expect_balanced(text);
  for (const char* part : {"2.00x", "1.50x as fast as the library", "too much shared memory", "the worker died",
                           "No plan has won yet", "7 plans measured, 3 of them failed"})
    EXPECT_NE(text.find(part), text.npos) << part;
}

TEST_F(HtmlReport, FloorsAreThoseOfThePlanAndBelowItsTime) {
  begin();
  const std::string problem = "fft:type=c2c,n=256x256,prec=f32",
                    plan = "cpu;threads=1;fft=rows(rigor=measure,block=64)";
  run(problem, plan, 1000000);
  win(problem, plan, 1000000);
  const Story story = stories_of(store_).at(0);
  ASSERT_EQ(story.stages.size(), 1u);
  EXPECT_GT(story.stages[0].floor, 1e-6);
  EXPECT_LT(story.stages[0].floor, 1e-3);
}

TEST_F(HtmlReport, NothingOfADatabaseBecomesMarkupAndNothingIsLoaded) {
  const std::string hostile = "<script>alert(\"1\")</script>'&<img src=x onerror='y'>\x01\x1b[2J\xff";
  begin(hostile);
  run(kProblem, hostile + "untuned", 4000, untuned_mark);
  run(kProblem, hostile, 2000);
  run(kProblem, hostile + "dead", 0, hostile, db::RunStatus::crash);
  win(kProblem, hostile, 2000);
  const std::string text = html_report(stories_of(store_), hostile);
  expect_balanced(text);
  for (const char* part : {"<script", "<img", "http:", "https:", "<link", "@import", "url(", "\x1b", "\x01", "\xff"})
    EXPECT_EQ(text.find(part), text.npos) << part;
  EXPECT_NE(text.find("&lt;script&gt;alert(&quot;1&quot;)"), text.npos);
  EXPECT_NE(text.find("default-src 'none'"), text.npos);
}

TEST_F(HtmlReport, OddCoursesAreDrawnToo) {
  const auto drawn = [](std::vector<double> course, double untuned = 0) {
    Story story;
    story.course = std::move(course);
    story.untuned.seconds = untuned;
    std::string svg = course_chart(story);
    expect_balanced(svg);
    EXPECT_EQ(svg.find("nan"), svg.npos);
    EXPECT_EQ(svg.find("inf"), svg.npos);
    return svg;
  };
  EXPECT_NE(drawn({}).find("No plan was right"), std::string::npos);
  EXPECT_NE(drawn({0, 0}).find("No plan was right"), std::string::npos);
  drawn({1e-6});
  drawn({1e-6, 1e-6, 1e-6}, 1e-6);
  drawn({0, 1e-9, 1e3}, 1e3);
  const std::string many = drawn(std::vector<double>(100000, 1e-6));
  EXPECT_LT(many.size(), 100000u) << "a page stays small";
  const std::string gains = gains_chart({});
  expect_balanced(gains);
  EXPECT_EQ(gains.find("nan"), gains.npos);
  EXPECT_NE(gains_chart({1, 1.05, 1.05, 9}).find(">2</text>"), std::string::npos);
}

TEST_F(HtmlReport, AnEmptyDatabaseSaysSo) {
  EXPECT_NE(page().find("Nothing is tuned yet"), std::string::npos);
  expect_balanced(page());
}

}  // namespace
}  // namespace fourtune::tuner
