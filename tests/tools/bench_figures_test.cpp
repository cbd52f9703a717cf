// What comparisons and the papers' suites make of a run: problems, tables and figures of invented times; nothing is
// measured.
// tests/golden/bench/*.txt; FOURTUNE_UPDATE_GOLDEN=1 writes them again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <sstream>

#include "tests/support/program.h"
#include "tools/bench/report/csv_read.h"

namespace fourtune::tools {
namespace {

// Rounded times of contender c for problem p; every figure differs from the others.
ContenderResult contender(const std::string& name, std::size_t p, std::size_t c) {
  ContenderResult one;
  one.name = name;
  one.role = name == "untuned" ? Role::untuned : name == "cufinufft" || name == "cufft" ? Role::peer : Role::reference;
  const auto ns = static_cast<std::int64_t>(1000 * (p + 1) + 37'000'000 * (c + 1));
  one.execute_ns = {ns - ns / 16, ns, ns + ns / 11};
  one.set_points_ns = {ns / 3};
  one.total_ns = {ns / 3 + ns};
  one.transfers_ns = {3 * ns};
  one.first_use_ns = 5 * ns;
  one.plan = "the plan of " + name;
  one.error = 1e-4 * static_cast<double>(c + 1);
  one.right = c != 1;
  one.memory = static_cast<std::int64_t>(p + 1) * 1000'000 * static_cast<std::int64_t>(c + 2);
  if (one.role == Role::peer) return one;  // peers have no stages
  const double seconds = 1e-9 * static_cast<double>(ns);
  one.stages = {{"sort", seconds / 7}, {"spread", seconds / 2}, {"fft", seconds / 5}, {"interpolate", seconds / 11}};
  one.passes = {{"fft", "kernel_a", seconds / 3, 2e9, 4e9}, {"fft", "kernel_b", seconds / 4, 1e9, 1e9}};
  return one;
}

class ShownComparison : public testing::Test {
 protected:
  // What `fourtune bench` prints of run.csv, and the script of its figures: without gnuplot on the PATH it is left.
  std::string shown(const std::vector<std::string>& options, int code = 0) {
    std::vector<std::string> words{test::fourtune_program(), "bench", "--from-csv", "run.csv", "--plot", "figures.svg"};
    words.insert(words.end(), options.begin(), options.end());
    const test::Finished done = test::run_program(words, folder_.path(), {{"PATH", folder_.path().string()}});
    EXPECT_EQ(done.code, code) << done.err;
    return done.out + test::read_text(folder_ / "figures.svg.gp");
  }
  static void expect_golden(const std::string& name, const std::string& text) {
    const std::string path = fmt::format("{}/tests/golden/bench/{}.txt", FOURTUNE_SOURCE_DIR, name);
    if (std::getenv("FOURTUNE_UPDATE_GOLDEN")) test::write_text(path, text);
    EXPECT_EQ(text, test::read_text(path))
        << "if the change is meant: FOURTUNE_UPDATE_GOLDEN=1 tools_bench_figures_test";
  }
  void write(const std::string& name, const std::vector<ProblemResult>& results) {
    BenchEnvironment environment;
    environment.device = "a device", environment.isa = "its isa", environment.compiler = "a compiler";
    environment.libraries = "libraries", environment.started = "today", environment.threads = 3;
    environment.peers = {"p: 1.0"};
    write_text_file(folder_ / name, comparison_csv(results, environment));
  }
  test::ScratchFolder folder_;
};

class Suites : public ShownComparison,
               public testing::WithParamInterface<std::pair<const char*, std::vector<std::string>>> {};

TEST_P(Suites, ShowTheirProblemsTablesAndFigures) {
  const auto& [suite, names] = GetParam();
  ProblemResult none;
  none.problem = parse_problem(none.token = "fft:type=c2c,n=8,prec=f32");
  none.skipped = "is of no suite";
  write("run.csv", {none});
  const std::string empty = shown({"--suite", suite});
  // The first problems, which are those of tables, and a third of the others have results; the rest is named.
  std::vector<ProblemResult> results;
  std::istringstream lines(empty);
  std::size_t p = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("skipped: ", 0) != 0) continue;
    const std::string token = line.substr(9, line.find(": ", 9) - 9);
    const auto same = [&](const ProblemResult& one) { return one.token == token; };
    if ((++p > 6 && p % 3 != 1) || std::any_of(results.begin(), results.end(), same)) continue;
    ProblemResult& result = results.emplace_back();
    result.problem = parse_problem(result.token = token);
    result.copy_bandwidth = 4e12;
    result.peak_flops = 6e13;
    for (std::size_t c = 0; c < names.size(); ++c) result.contenders.push_back(contender(names[c], p, c));
  }
  ASSERT_FALSE(results.empty()) << empty;
  write("run.csv", results);
  // The same elsewhere: twice as slow, or half as fast.
  for (ProblemResult& result : results)
    for (ContenderResult& one : result.contenders)
      for (std::int64_t& ns : one.execute_ns) ns = &one == &result.contenders.front() ? 2 * ns : ns / 2;
  write("other.csv", results);
  std::vector<std::string> options{"--suite", suite};
  if (std::string(suite) != "fft3d-interleaved") options.insert(options.end(), {"--baseline", "other.csv"});
  expect_golden(suite, shown(options));
}

// Times that other programs disturbed are shown as such and make no speed-up, neither of theirs nor of what stands
// against them.
TEST_F(ShownComparison, SuitesMakeNoSpeedUpOfABusyMachine) {
  std::vector<ProblemResult> results;
  const char* const tokens[] = {"nufft:type=3,dim=2,m=256,k=256,prec=f64,tol=1e-10",
                                "nufft:type=3,dim=2,m=512,k=512,prec=f64,tol=1e-10"};
  for (std::size_t p = 0; p < 2; ++p) {
    ProblemResult& result = results.emplace_back();
    result.problem = parse_problem(result.token = tokens[p]);
    for (std::size_t c = 0; c < 3; ++c) {
      result.contenders.push_back(contender(std::array{"paper", "paper as printed", "untuned"}[c], p, c));
      result.contenders.back().too_busy = p == 0 ? c == 0 : c == 2;
    }
  }
  write("run.csv", results);
  std::istringstream lines(shown({"--suite", "nufft-type3"}));
  std::map<std::string, std::vector<std::string>> rows;  // words of the rows with times, by their N
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string n, words;
    if (line.find("paper") == line.npos && line.find("untuned") == line.npos) continue;
    if (in >> n && (n == "256" || n == "512")) rows[n].push_back(line);
  }
  ASSERT_EQ(rows["256"].size(), 3u);
  ASSERT_EQ(rows["512"].size(), 3u);
  for (const std::string& line : rows["256"]) EXPECT_EQ(line.find("x  "), line.npos) << line;
  EXPECT_NE(rows["256"][0].find("~37.0 ms"), std::string::npos) << rows["256"][0];
  EXPECT_NE(rows["512"][0].find("1.0x"), std::string::npos) << rows["512"][0];
  EXPECT_NE(rows["512"][1].find("0.5x"), std::string::npos) << rows["512"][1];
  EXPECT_NE(rows["512"][2].find("~111 ms"), std::string::npos) << rows["512"][2];
  EXPECT_EQ(rows["512"][2].find("0.3x"), std::string::npos) << rows["512"][2];
}

// Every group of problems; sides that are missing, wrong, refused at first and failed.
TEST_F(ShownComparison, ShowsItsTablesSummaryAndRatios) {
  const std::vector<std::string> tokens{
      "fft:type=c2c,n=64,prec=f32",
      "fft:type=c2c,n=64x32,prec=f64,batch=3",
      "fft:type=r2c,n=64x32,prec=f32",
      "fft:type=c2r,n=16x16x16,prec=f64,sign=1",
      "nufft:type=1,n=64,m=1000,prec=f32,tol=1e-3",
      "nufft:type=1,n=64x64,m=1000,prec=f64,tol=1e-6",
      "nufft:type=2,n=16x16x16,m=1000,prec=f32,tol=1e-3",
      "nufft:type=3,dim=2,m=1000,k=500,prec=f64,tol=1e-9",
      "nufft:type=3,dim=3,m=1000,k=500,prec=f32,tol=1e-3",
  };
  std::vector<ProblemResult> results;
  for (std::size_t p = 0; p < tokens.size(); ++p) {
    ProblemResult& result = results.emplace_back();
    result.problem = parse_problem(result.token = tokens[p]);
    result.copy_bandwidth = 4e12;
    result.peak_flops = 6e13;
    ContenderResult ours = contender("untuned", p, p % 4), tuned = contender("tuned", 3 * p, 0),
                    peer = contender("cufft", 5 * p, 2), other = contender("cufinufft", 7 * p, 4);
    tuned.role = Role::tuned;
    if (p == 2) peer.refusal = "error 26", other.right = false;
    if (p == 3) peer.failure = "error 9", peer.execute_ns.clear(), other.variants = "method=1: 3 us";
    if (p == 4) peer.right = other.right = false;
    result.contenders = {ours, peer, other};
    if (p % 2 == 0) result.contenders.insert(result.contenders.begin(), tuned);
    if (p == 7) result.contenders.resize(1);
  }
  results.emplace_back();
  results.back().problem = parse_problem(results.back().token = "fft:type=c2c,n=4096x4096,prec=f32");
  results.back().skipped = "does not fit";
  write("run.csv", results);
  expect_golden("comparison", shown({}, 1));  // one of ours is wrong
}

INSTANTIATE_TEST_SUITE_P(
    All, Suites,
    testing::Values(std::pair{"cufinufft",
                              std::vector<std::string>{"GM as published", "SM, newer parts", "untuned", "cufinufft"}},
                    std::pair{"nufft-type3", std::vector<std::string>{"paper", "paper as printed", "untuned"}},
                    std::pair{"fft3d-interleaved",
                              std::vector<std::string>{"A.2.1: its order", "4.3.2: its order", "untuned", "cufft"}}),
    [](const auto& one) {
      std::string name = one.param.first;
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace fourtune::tools
