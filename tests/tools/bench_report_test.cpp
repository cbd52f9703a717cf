#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <sstream>

#include "runtime/backend_table.h"
#include "runtime/environment.h"
#include "tests/support/program.h"
#include "tools/bench/measure/memory.h"
#include "tools/bench/report/csv_read.h"
#include "tools/bench/report/ratio.h"
#include "tools/bench/report/report.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_backends.h"

namespace fourtune::tools {
namespace {

ContenderResult contender(const std::string& name, Role role, std::int64_t ns, double error = 1e-4) {
  ContenderResult one;
  one.name = name;
  one.role = role;
  one.execute_ns = {ns, ns, ns};
  one.set_points_ns = {ns / 10};
  one.execute = tuner::median_interval(one.execute_ns);
  one.set_points = tuner::median_interval(one.set_points_ns);
  one.error = error;
  one.right = error <= 3e-3;
  one.memory = ns;
  one.plan = "cpu;threads=1,\"quoted\"";
  return one;
}

ProblemResult result_of(const std::string& token, std::vector<ContenderResult> contenders) {
  ProblemResult result;
  result.problem = parse_problem(token);
  result.token = token;
  result.contenders = std::move(contenders);
  return result;
}

const std::string k2d = "nufft:type=1,n=64x64,m=1000,prec=f32,tol=1e-3";
const std::string k3d = "nufft:type=1,n=16x16x16,m=1000,prec=f32,tol=1e-3";

TEST(BenchRatio, GeometricMeanIsTheRootOfTheProduct) {
  const double values[] = {0.5, 2, 8};
  EXPECT_NEAR(geometric_mean(values), 2, 1e-15);
  EXPECT_TRUE(std::isnan(geometric_mean({})));
}

TEST(BenchRatio, BetterOfTwoRightPeersIsThePeer) {
  const auto result = result_of(k2d, {contender("untuned", Role::untuned, 100), contender("a", Role::peer, 300),
                                      contender("b", Role::peer, 200)});
  const Comparison found = compare(result);
  ASSERT_NE(found.peer, nullptr);
  EXPECT_EQ(found.peer->name, "b");
  EXPECT_DOUBLE_EQ(found.untuned_score.ratio, 2);
  EXPECT_EQ(found.untuned_score.outcome, Outcome::counted);
  EXPECT_EQ(found.tuned_score.outcome, Outcome::none);
  EXPECT_DOUBLE_EQ(found.set_points_ratio, 2);
  EXPECT_DOUBLE_EQ(found.memory_ratio, 0.5);
}

TEST(BenchRatio, FasterPeerThatIsWrongOrRefusesGivesWayToARightOne) {
  auto refused = contender("refused", Role::peer, 10);
  refused.refusal = "error 26";
  const auto result = result_of(k2d, {contender("untuned", Role::untuned, 100), contender("wrong", Role::peer, 20, 1.0),
                                      refused, contender("right", Role::peer, 150)});
  EXPECT_EQ(compare(result).peer->name, "right");
  EXPECT_EQ(compare(result).untuned_score.outcome, Outcome::counted);
}

TEST(BenchRatio, RefusalAndWrongAnswerAreLostByThePeerAndOursByUs) {
  auto refused = contender("refused", Role::peer, 50);
  refused.refusal = "error 26";
  EXPECT_EQ(compare(result_of(k2d, {contender("untuned", Role::untuned, 100), refused})).untuned_score.outcome,
            Outcome::lost_by_peer);
  EXPECT_EQ(compare(result_of(k2d, {contender("untuned", Role::untuned, 100), contender("p", Role::peer, 9, NAN)}))
                .untuned_score.outcome,
            Outcome::lost_by_peer);
  // Ours is faster but wrong, and the peer is wrong as well: this still counts as lost by us.
  EXPECT_EQ(compare(result_of(k2d, {contender("untuned", Role::untuned, 10, 0.1), contender("p", Role::peer, 90, 1)}))
                .untuned_score.outcome,
            Outcome::lost_by_us);
}

TEST(BenchRatio, ReferencesAndFailedContendersCountInNoRatio) {
  auto failed = contender("failed", Role::peer, 1);
  failed.failure = "error 9";
  const Comparison found = compare(
      result_of(k2d, {contender("untuned", Role::untuned, 100), contender("estimate", Role::reference, 1), failed}));
  EXPECT_EQ(found.peer, nullptr);
  EXPECT_EQ(found.untuned_score.outcome, Outcome::none);
}

TEST(BenchRatio, SamplesOfABusyMachineMakeNoRatio) {
  for (const bool ours_was : {true, false}) {
    auto ours = contender("untuned", Role::untuned, 100), peer = contender("p", Role::peer, 900);
    (ours_was ? ours : peer).too_busy = true;
    const auto result = result_of(k2d, {ours, peer});
    EXPECT_EQ(compare(result).untuned_score.outcome, Outcome::too_busy);
    EXPECT_NE(comparison_table({&result, 1}, false).find("too busy to judge"), std::string::npos);
    const Scored scores[] = {{"a", compare(result).untuned_score}, {"b", {2, Outcome::counted}}};
    EXPECT_EQ(summarise(scores).counted, 1u);
    EXPECT_EQ(summarise(scores).mean_with_lost, 2);
    EXPECT_NE(skip_notes({&result, 1}).find("could not be judged"), std::string::npos);
  }
}

TEST(BenchRatio, SummaryMeansOnlyWhatCountsAndNamesTheWorst) {
  const Scored scores[] = {{"a", {4, Outcome::counted}},
                           {"b", {0.25, Outcome::counted}},
                           {"c", {100, Outcome::lost_by_us}},
                           {"d", {0.04, Outcome::lost_by_peer}},
                           {"e", {kNone, Outcome::none}}};
  const Summary summary = summarise(scores);
  EXPECT_EQ(summary.counted, 2u);
  EXPECT_EQ(summary.lost_by_us, 1u);
  EXPECT_EQ(summary.lost_by_peer, 1u);
  EXPECT_NEAR(summary.mean, 1, 1e-15);
  EXPECT_NEAR(summary.mean_with_lost, std::sqrt(2.0), 1e-12) << "(4 * 0.25 * 100 * 0.04)^(1/4)";
  EXPECT_EQ(summary.worst, 0.25);
  EXPECT_EQ(summary.worst_token, "b");
  EXPECT_TRUE(std::isnan(summarise({}).mean));
  // If no result counts, there is no mean without the lost results, but one with them, for each kind of loss.
  for (const Outcome outcome : {Outcome::lost_by_us, Outcome::lost_by_peer}) {
    const Scored lost[] = {{"a", {2, outcome}}, {"b", {8, outcome}}};
    EXPECT_TRUE(std::isnan(summarise(lost).mean));
    EXPECT_NEAR(summarise(lost).mean_with_lost, 4, 1e-12);
  }
}

TEST(BenchReport, TableListsTheSlowestProblemFirstAndSaysWhatIsUntuned) {
  const ProblemResult results[] = {
      result_of(k2d, {contender("untuned", Role::untuned, 100), contender("p", Role::peer, 300)}),
      result_of(k3d, {contender("untuned", Role::untuned, 100), contender("tuned", Role::tuned, 50),
                      contender("p", Role::peer, 60)})};
  const std::string table = comparison_table(results, false);
  EXPECT_LT(table.find(k3d), table.find(k2d));
  const std::string line_2d = table.substr(table.find(k2d), table.find('\n', table.find(k2d)) - table.find(k2d));
  EXPECT_NE(line_2d.find("  untuned  "), std::string::npos) << line_2d;
  EXPECT_NE(line_2d.find("3.00"), std::string::npos) << line_2d;
  const std::string summary = comparison_summary(results);
  EXPECT_NE(summary.find("untuned, nufft type 1 3D"), std::string::npos) << summary;
  EXPECT_NE(summary.find("tuned, all"), std::string::npos) << summary;
  EXPECT_EQ(summary.find("WRONG"), std::string::npos);
}

TEST(BenchReport, WrongAnswersOfOursAreNamed) {
  const ProblemResult results[] = {
      result_of(k2d, {contender("untuned", Role::untuned, 100, 0.5), contender("p", Role::peer, 300)})};
  EXPECT_NE(comparison_table(results, false).find("3.00 WRONG"), std::string::npos);
  EXPECT_NE(comparison_summary(results).find("WRONG (untuned): " + k2d), std::string::npos);
}

TEST(BenchReport, NotesNameEverySkipFailureAndRefusal) {
  ProblemResult skipped = result_of(k2d, {});
  skipped.skipped = "does not fit";
  auto failed = contender("a", Role::peer, 1);
  failed.failure = "error 9";
  auto refused = contender("b", Role::peer, 1);
  refused.refusal = "setpts refuses";
  const ProblemResult results[] = {skipped, result_of(k3d, {failed, refused})};
  EXPECT_EQ(skip_notes(results), "skipped: " + k2d + ": does not fit\nfailed: " + k3d + ": a: error 9\nrefused: " +
                                     k3d + ": b: setpts refuses; timed with its override, error 1.0e-04\n");
  EXPECT_EQ(skip_notes({}), "");
}

// The fields of one CSV line, without quotes.
std::vector<std::string> split_csv(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      fields.back() += line[++i];
    else if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == ',' && !quoted)
      fields.emplace_back();
    else
      fields.back() += line[i];
  }
  return fields;
}

TEST(BenchReport, TheEnvironmentIsThatOfTheDevice) {
  for (const char* name : {"cpu", "emulated"}) {
    const runtime::Backend& backend = *known_backend(name);
    const DeviceTraits traits = backend.traits(0);
    const db::Environment here = runtime::environment_here(traits);
    const BenchEnvironment environment = bench_environment(3, backend);
    EXPECT_EQ(environment.device, traits.name);
    EXPECT_EQ(environment.isa, traits.isa);
    EXPECT_EQ(environment.compiler, here.compiler);
    EXPECT_EQ(environment.libraries, here.libraries);
    EXPECT_FALSE((environment.compiler + environment.libraries).empty()) << name;
    EXPECT_EQ(environment.cores, traits.cores);
    EXPECT_EQ(environment.threads, 3);
    EXPECT_TRUE(environment.peers.empty());
    EXPECT_TRUE(
        std::regex_match(environment.started, std::regex("20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-9]{2}(:[0-9]{2}){2}Z")))
        << environment.started;
  }
}

TEST(BenchReport, CsvHasOneRowAContenderAndEveryRowEveryColumn) {
  ProblemResult skipped = result_of(k3d, {});
  skipped.skipped = "too slow, and large";
  const ProblemResult results[] = {
      result_of(k2d, {contender("untuned", Role::untuned, 100), contender("p", Role::peer, 300)}), skipped};
  BenchEnvironment environment = bench_environment(2, runtime::find_backend("cpu"));
  environment.peers = {"p: FINUFFT 2.5.1"};
  std::istringstream text(comparison_csv(results, environment));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(text, line);) rows.push_back(split_csv(line));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0], csv_columns());
  const auto field = [&](std::size_t row, const std::string& column) {
    const auto at = std::find(rows[0].begin(), rows[0].end(), column);
    return at == rows[0].end() ? "no such column" : rows[row][static_cast<std::size_t>(at - rows[0].begin())];
  };
  for (const auto& row : rows) EXPECT_EQ(row.size(), csv_columns().size());
  EXPECT_EQ(field(1, "problem"), k2d);
  EXPECT_EQ(field(1, "peer_over_ours"), "3");
  EXPECT_EQ(field(1, "outcome"), "counted");
  EXPECT_EQ(field(1, "plan"), "cpu;threads=1,\"quoted\"");
  EXPECT_EQ(field(1, "execute_samples_ns"), "100 100 100");
  EXPECT_EQ(field(1, "threads"), "2");
  EXPECT_EQ(field(2, "is_peer_of_problem"), "1");
  EXPECT_EQ(field(2, "peers"), "p: FINUFFT 2.5.1");
  EXPECT_EQ(field(3, "problem"), k3d);
  EXPECT_EQ(field(3, "skipped"), "too slow, and large");
}

TEST(BenchReport, CsvIsReadBackAsItWasWritten) {
  const test::ScratchFolder folder;
  ProblemResult skipped = result_of(k3d, {});
  skipped.skipped = "too slow, and\nlarge";
  auto ours = contender("untuned", Role::untuned, 100);
  ours.stages = {{"sort", 0.25}, {"spread", 0.5}};
  ours.passes = {{"spread", "nufft_spread", 0.5, 1024, 2048}, {"fft", "", 0.25, 0, 0}};  // a library's has no name
  ours.total_ns = ours.transfers_ns = {7, 9, 8};
  ours.total = ours.transfers = tuner::median_interval(ours.total_ns);
  ours.memory = 12345;
  auto failed = contender("p", Role::peer, 300);
  failed.execute_ns.clear();
  failed.execute = {};
  failed.failure = "error \"9\"";
  const std::vector<ProblemResult> results{result_of(k2d, {ours, failed}), skipped};
  BenchEnvironment environment = bench_environment(2, runtime::find_backend("cpu"));
  environment.peers = {"p: FINUFFT 2.5.1"};
  const std::string path = folder / "run.csv", text = comparison_csv(results, environment);
  write_text_file(path, text);
  const CsvRun run = read_comparison_csv(path);
  EXPECT_EQ(comparison_csv(run.results, run.environment), text);
  EXPECT_EQ(comparison_table(run.results, true), comparison_table(results, true));
  ASSERT_NE(run.find(k3d), nullptr);
  EXPECT_EQ(run.find(k3d)->skipped, skipped.skipped);
  EXPECT_EQ(run.find("nothing"), nullptr);

  const auto said = [&](const std::string& content) {
    write_text_file(path, content);
    try {
      read_comparison_csv(path);
    } catch (const Failure& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(said("problem,group\n"), path + ": has no column contender; it must come from fourtune bench --csv");
  EXPECT_EQ(said("problem,group,problem\n"), path + ": has column problem twice");
  const std::string broken = said(text.substr(0, text.find('\n') + 1) + "a,b\n");
  EXPECT_EQ(broken, fmt::format("{}, row 1: 2 fields where the heading has {}", path, csv_columns().size()));
  EXPECT_NE(said(std::string(text).replace(text.find("100 100"), 7, "100 1x0")).find("\"1x0\" is not a number"),
            std::string::npos);
}

// Every field has a different value, so that none can stand in for another.
ContenderResult with_every_field() {
  ContenderResult one;
  one.name = "ours, tuned";
  one.role = Role::tuned;
  one.plan = "cpu;threads=3";
  one.variants = "method=1: 3 us";
  one.refusal = "error 26";
  one.create_seconds = 0.5;
  one.first_set_points_seconds = 0.25;
  one.set_points_ns = {31, 32, 33};
  one.execute_ns = {101, 102, 103, 104, 105};
  one.total_ns = {201, 202, 203};
  one.transfers_ns = {301, 302, 303};
  one.error = 1.5e-4;
  one.right = true;
  one.memory = 4096;
  one.code = 512;
  one.first_use_ns = 2'500'000;
  one.stages = {{"spread", 0.125}, {"fft", 0.0625}};
  one.passes = {{"fft", "kernel_a", 1e-3, 2e9, 4e9}};
  for (auto [samples, interval] : {std::pair{&one.set_points_ns, &one.set_points},
                                   {&one.execute_ns, &one.execute},
                                   {&one.total_ns, &one.total},
                                   {&one.transfers_ns, &one.transfers}})
    *interval = tuner::median_interval(*samples);
  return one;
}

TEST(BenchReport, EveryFieldOfAResultComesBackFromTheFile) {
  const ContenderResult one = with_every_field();
  ProblemResult result = result_of(k2d, {one});
  result.copy_bandwidth = 3e12;
  result.peak_flops = 6e13;
  result.sets = 7;
  BenchEnvironment environment;
  environment.device = "a device", environment.isa = "its isa", environment.compiler = "a compiler";
  environment.libraries = "libraries", environment.started = "today", environment.cores = 5, environment.threads = 3;
  environment.peers = {"p: 1.0"};
  const test::ScratchFolder folder;
  write_text_file(folder / "run.csv", comparison_csv(std::vector{result}, environment));
  const CsvRun run = read_comparison_csv(folder / "run.csv");
  ASSERT_EQ(run.results.size(), 1u);
  const ProblemResult& found = run.results[0];
  EXPECT_EQ(found.problem, result.problem);
  EXPECT_EQ(found.token, k2d);
  EXPECT_EQ(found.copy_bandwidth, 3e12);
  EXPECT_EQ(found.peak_flops, 6e13);
  EXPECT_EQ(found.sets, 7);
  ASSERT_EQ(found.contenders.size(), 1u);
  const ContenderResult& read = found.contenders[0];
  EXPECT_EQ(read.name, one.name);
  EXPECT_EQ(read.role, Role::tuned);
  EXPECT_EQ(read.plan, one.plan);
  EXPECT_EQ(read.variants, one.variants);
  EXPECT_EQ(read.refusal, one.refusal);
  EXPECT_EQ(read.failure, "");
  EXPECT_EQ(read.create_seconds, 0.5);
  EXPECT_EQ(read.first_set_points_seconds, 0.25);
  EXPECT_EQ(read.set_points_ns, one.set_points_ns);
  EXPECT_EQ(read.execute_ns, one.execute_ns);
  EXPECT_EQ(read.total_ns, one.total_ns);
  EXPECT_EQ(read.transfers_ns, one.transfers_ns);
  EXPECT_EQ(read.set_points.median, 32);
  EXPECT_EQ(read.execute.median, 103);
  EXPECT_EQ(read.total.median, 202);
  EXPECT_EQ(read.transfers.median, 302);
  EXPECT_EQ(read.error, 1.5e-4);
  EXPECT_TRUE(read.right);
  EXPECT_EQ(read.memory, 4096);
  EXPECT_EQ(read.code, 512);
  EXPECT_EQ(read.first_use_ns, 2'500'000);
  ASSERT_EQ(read.stages.size(), 2u);
  EXPECT_EQ(read.stages[1].stage, "fft");
  EXPECT_EQ(read.stages[1].seconds, 0.0625);
  ASSERT_EQ(read.passes.size(), 1u);
  EXPECT_EQ(read.passes[0].stage, "fft");
  EXPECT_EQ(read.passes[0].entry, "kernel_a");
  EXPECT_EQ(read.passes[0].seconds, 1e-3);
  EXPECT_EQ(read.passes[0].bytes, 2e9);
  EXPECT_EQ(read.passes[0].flops, 4e9);
  EXPECT_EQ(run.environment.device, "a device");
  EXPECT_EQ(run.environment.isa, "its isa");
  EXPECT_EQ(run.environment.compiler, "a compiler");
  EXPECT_EQ(run.environment.libraries, "libraries");
  EXPECT_EQ(run.environment.started, "today");
  EXPECT_EQ(run.environment.cores, 5);
  EXPECT_EQ(run.environment.threads, 3);
  EXPECT_EQ(run.environment.peers, environment.peers);
}

TEST(BenchReport, PlotScriptHoldsEveryRatioAndOtherEndingsAreRefused) {
  ProblemResult skipped = result_of("nufft:type=2,n=8,m=9,prec=f64,tol=1e-3", {});
  skipped.skipped = "too slow";
  const ProblemResult results[] = {
      result_of(k2d, {contender("untuned", Role::untuned, 100), contender("p", Role::peer, 300)}), skipped,
      result_of("nufft:type=2,n=8,m=10,prec=f64,tol=1e-3", {contender("untuned", Role::untuned, 100)}),  // no peer
      result_of(k3d, {contender("tuned", Role::tuned, 200), contender("untuned", Role::untuned, 100),
                      contender("p", Role::peer, 250)})};
  const std::string head = "# Ratios of `fourtune bench`: the peer's time over ours; above 1 we are faster.\n",
                    axes =
                        "set logscale x\nset xlabel 'time of the peer / our time'\nset grid x\nset key top left\n"
                        "unset mouse\nset datafile missing '?'\nset ytics font ',8'\n",
                    foot =
                        "END\nset arrow from 1, graph 0 to 1, graph 1 nohead lw 2\n"
                        "plot $ratios using (1):1:ytic(2) with dots lc rgb 'white' notitle, "
                        "$ratios using 6:($1+0.15):7:8 with xerrorbars pt 6 lc rgb '#0072b2' title 'untuned'";
  EXPECT_EQ(
      comparison_gnuplot(results, "it's.svg"),
      head + "set terminal svg size 1200,300 noenhanced\nset output 'it''s.svg'\n" + axes +
          "set yrange [-1:3]\n$ratios << END\n0 \"nufft:type=2,n=8,m=10,prec=f64,tol=1e-3 (no peer)\" ? ? ? ? ? ?\n1 \"" +
          k3d + "\" 1.25 1.25 1.25 2.5 2.5 2.5\n2 \"" + k2d + "\" ? ? ? 3 3 3\n" + foot +
          ", $ratios using 3:($1-0.15):4:5 with xerrorbars pt 7 lc rgb '#0072b2' title 'tuned'\n");
  EXPECT_EQ(comparison_gnuplot(std::span(results).first(1), "a.png"),
            head + "set terminal pngcairo size 1200,300 noenhanced\nset output 'a.png'\n" + axes +
                "set yrange [-1:1]\n$ratios << END\n0 \"" + k2d + "\" ? ? ? 3 3 3\n" + foot + "\n");
  const std::vector<ProblemResult> many(20, results[0]);
  EXPECT_NE(comparison_gnuplot(many, "a.png").find("size 1200,440 "), std::string::npos) << "16 more per problem";
  EXPECT_THROW(plot_comparison(results, "ratios.pdf"), UsageError);
}

TEST(BenchMemory, NeedGrowsWithPointsAndContenders) {
  const double small = memory_need(parse_problem(k3d), 1);
  EXPECT_GT(small, 1000 * 4 * 3);
  EXPECT_GT(memory_need(parse_problem(k3d), 3), small);
  EXPECT_GT(memory_need(parse_problem("nufft:type=1,n=16x16x16,m=100000,prec=f32,tol=1e-3"), 1), small);
  EXPECT_GT(available_memory(), 0);
}

TEST(BenchMemory, WhatTheMakingOfTheDataFreedIsNoGift) {
  struct Modest final : Contender {
    std::vector<std::vector<char>> blocks;  // small enough to come from memory that was freed before
    void set_points(const Points&) override {}
    void execute(void*, void*) override {
      for (int i = 0; i < 256; ++i) blocks.emplace_back(16 << 10, 1);
    }
  };
  {
    std::vector<std::vector<char>> freed;
    for (int i = 0; i < 1024; ++i) freed.emplace_back(16 << 10, 1);
  }
  const Entrant entrant{"modest", Role::peer, "", {{{}, [](const Problem&) { return std::make_unique<Modest>(); }}}};
  const FirstUse use = first_use_here(parse_problem(k3d), entrant, 1);
  ASSERT_EQ(use.failure, "");
  EXPECT_GE(use.peak_bytes, 3 << 20);
}

TEST(BenchMemory, PeakSeesWhatAContenderTouches) {
  struct Hungry final : Contender {
    std::vector<char> block;
    void set_points(const Points&) override {}
    void execute(void*, void*) override { block.assign(64 << 20, 1); }
  };
  const Entrant entrant{"hungry", Role::peer, "", {{{}, [](const Problem&) { return std::make_unique<Hungry>(); }}}};
  const FirstUse use = first_use_here(parse_problem(k3d), entrant, 1);
  ASSERT_EQ(use.failure, "");
  EXPECT_GE(use.peak_bytes, 60 << 20);
  EXPECT_GT(use.ns, 0);
  const FirstUse read = parse_first_use(to_line(use));
  EXPECT_EQ(read.failure, "");
  EXPECT_EQ(read.peak_bytes, use.peak_bytes);
  EXPECT_EQ(read.code_bytes, use.code_bytes);
  EXPECT_LT(use.code_bytes, 60 << 20);  // the block does not belong to a file
  EXPECT_EQ(read.ns, use.ns);
  EXPECT_EQ(parse_first_use("error: no such plan\nmore").failure, "error: no such plan");
  EXPECT_NE(parse_first_use("").failure, "");
}

}  // namespace
}  // namespace fourtune::tools
