#include "tools/bench/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <map>

#include "fourtune/device_traits.h"
#include "runtime/environment.h"
#include "tools/common/errors.h"
#include "tools/common/text.h"
#include "tuner/report/report.h"
#include "tuner/report/table.h"

namespace fourtune::tools {
namespace {

std::string ratio_text(double ratio) { return std::isfinite(ratio) ? fmt::format("{:.2f}", ratio) : "-"; }
std::string error_text(double error) { return std::isfinite(error) ? fmt::format("{:.1e}", error) : "-"; }
std::string time_text(const ContenderResult* one) {
  return one ? tuner::format_seconds(one->execute.median * 1e-9) : "-";
}

std::string first_use_text(const ContenderResult* one) {
  return one && one->first_use_ns > 0 ? tuner::format_seconds(static_cast<double>(one->first_use_ns) * 1e-9) : "-";
}

std::string score_text(const Score& score) {
  if (score.outcome == Outcome::none) return "-";
  const std::string ratio = ratio_text(score.ratio);
  return score.outcome == Outcome::lost_by_us     ? ratio + " WRONG"
         : score.outcome == Outcome::lost_by_peer ? ratio + " *"
                                                  : ratio;
}

std::string remark(const ContenderResult* ours, const ContenderResult* peer) {
  std::string said;
  if (peer && !peer->refusal.empty()) said = peer->right ? "peer refused" : "peer refused, forced: wrong";
  if (peer && peer->refusal.empty() && !peer->right) said = "peer wrong";
  if ((ours && ours->too_busy) || (peer && peer->too_busy)) said += said.empty() ? "too busy to judge" : ", too busy";
  return said;
}

// Half the width of the interval, relative to the median.
double spread_of(const tuner::MedianInterval& interval) {
  return interval.median > 0 ? 0.5 * (interval.high - interval.low) / interval.median : 0;
}

std::vector<Scored> scores_of(std::span<const ProblemResult> results, bool tuned, const std::string& group) {
  std::vector<Scored> scores;
  for (const ProblemResult& result : results) {
    if (!result.skipped.empty() || (!group.empty() && group_of(result.problem) != group)) continue;
    const Comparison found = compare(result);
    scores.push_back({result.token, tuned ? found.tuned_score : found.untuned_score});
  }
  return scores;
}

double mean_of(std::span<const ProblemResult> results, double Comparison::*field) {
  std::vector<double> values;
  for (const ProblemResult& result : results) {
    if (!result.skipped.empty()) continue;
    const double value = compare(result).*field;
    if (value > 0) values.push_back(value);
  }
  return geometric_mean(values);
}

std::vector<std::string> summary_row(const std::string& name, const std::vector<Scored>& scores) {
  const Summary s = summarise(scores);
  return {name,
          fmt::format("{}", s.counted),
          ratio_text(s.mean),
          ratio_text(s.worst),
          fmt::format("{}", s.lost_by_us),
          fmt::format("{}", s.lost_by_peer),
          ratio_text(s.mean_with_lost),
          s.worst_token.empty() ? "-" : s.worst_token};
}

}  // namespace

BenchEnvironment bench_environment(int threads, const runtime::Backend& backend, int device) {
  const DeviceTraits traits = backend.traits(device);
  const db::Environment here = runtime::environment_here(traits);
  BenchEnvironment environment;
  environment.device = traits.name;
  environment.isa = traits.isa;
  environment.compiler = here.compiler;
  environment.libraries = here.libraries;
  environment.cores = traits.cores;
  environment.threads = threads;
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  environment.started = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                                    utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
  return environment;
}

std::string comparison_table(std::span<const ProblemResult> results, bool plans, const tuner::Screen& screen) {
  std::vector<std::pair<double, const ProblemResult*>> order;
  for (const ProblemResult& result : results) {
    if (!result.skipped.empty()) continue;
    const double ratio = compare(result).untuned_score.ratio;
    order.emplace_back(std::isfinite(ratio) ? ratio : INFINITY, &result);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::vector<std::string>> rows{{"problem", "tuned", "untuned", "peer", "which", "x tuned", "x untuned",
                                              "set_points", "memory", "first use", "error", "peer's", "allowed", "+-",
                                              "remark"}};
  std::string plan_lines;
  for (const auto& [ratio, result] : order) {
    const Comparison found = compare(*result);
    const ContenderResult* ours = found.tuned ? found.tuned : found.untuned;
    double spread = 0;
    for (const auto* one : {ours, found.peer})
      if (one) spread = std::max(spread, spread_of(one->execute));
    rows.push_back({result->token, found.tuned ? time_text(found.tuned) : "untuned", time_text(found.untuned),
                    time_text(found.peer), found.peer ? found.peer->name : "-", score_text(found.tuned_score),
                    score_text(found.untuned_score), ratio_text(found.set_points_ratio), ratio_text(found.memory_ratio),
                    first_use_text(ours), ours ? error_text(ours->error) : "-",
                    found.peer ? error_text(found.peer->error) : "-", error_text(allowed_error(result->problem)),
                    fmt::format("{:.0f}%", 100 * spread), remark(ours, found.peer)});
    if (ours) plan_lines += fmt::format("  {}\n    {}\n", result->token, ours->plan);  // whole, to be copied
  }
  if (rows.size() == 1) return "no problem was measured\n";
  std::string text = tuner::table_text(rows, {{1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13}}, screen);
  text += tuner::wrapped(
      "times are medians of one execute; x: the peer's time / ours; set_points: the peer's / ours; memory: ours / the "
      "peer's;\nfirst use: our create, set_points and execute in a fresh process;\n+-: half the 95 % interval of the "
      "median; *: lost by the peer (it refused, or its answer misses the allowed error)\n",
      0, screen);
  if (plans) text += "\nplans\n" + plan_lines;
  return text;
}

std::string comparison_summary(std::span<const ProblemResult> results, const tuner::Screen& screen) {
  std::vector<std::vector<std::string>> rows{
      {"", "problems", "geomean", "worst", "lost by us", "lost by peer", "with those", "worst problem"}};
  std::vector<std::string> groups;
  for (const ProblemResult& result : results)
    if (result.skipped.empty() && std::find(groups.begin(), groups.end(), group_of(result.problem)) == groups.end())
      groups.push_back(group_of(result.problem));
  std::sort(groups.begin(), groups.end());
  for (const bool tuned : {true, false}) {
    const std::string column = tuned ? "tuned" : "untuned";
    const auto all = scores_of(results, tuned, {});
    if (std::all_of(all.begin(), all.end(), [](const Scored& s) { return s.score.outcome == Outcome::none; })) continue;
    rows.push_back(summary_row(column + ", all", all));
    for (const std::string& group : groups)
      rows.push_back(summary_row(column + ", " + group, scores_of(results, tuned, group)));
  }
  if (rows.size() == 1) return {};
  std::string text = tuner::table_text(rows, {{1, 2, 3, 4, 5, 6}, -1, 7}, screen);
  text += fmt::format("set_points, geometric mean {}; memory, geometric mean {}\n",
                      ratio_text(mean_of(results, &Comparison::set_points_ratio)),
                      ratio_text(mean_of(results, &Comparison::memory_ratio)));
  for (const bool tuned : {true, false})
    for (const Scored& one : scores_of(results, tuned, {}))
      if (one.score.outcome == Outcome::lost_by_us)
        text += fmt::format("WRONG ({}): {}\n", tuned ? "tuned" : "untuned", one.token);
  return text;
}

std::string skip_notes(std::span<const ProblemResult> results) {
  std::string text;
  tuner::BusyCount busy;
  bool too_busy = false;
  for (const ProblemResult& result : results)
    for (const ContenderResult& one : result.contenders) busy += one.busy, too_busy = too_busy || one.too_busy;
  if (busy.matters() || too_busy)
    text += fmt::format("{}; these count nowhere{}\n", busy.text(),
                        too_busy ? ", and some problems could not be judged" : "");
  for (const ProblemResult& result : results) {
    if (!result.skipped.empty()) text += fmt::format("skipped: {}: {}\n", result.token, result.skipped);
    for (const ContenderResult& one : result.contenders) {
      if (!one.failure.empty()) text += fmt::format("failed: {}: {}: {}\n", result.token, one.name, one.failure);
      if (!one.refusal.empty())
        text += fmt::format("refused: {}: {}: {}; timed with its override, error {}\n", result.token, one.name,
                            one.refusal, error_text(one.error));
    }
  }
  return text;
}

std::string progress_line(const ProblemResult& result, const tuner::Screen& screen, const std::string& before) {
  if (!result.skipped.empty())
    return before +
           tuner::wrapped(fmt::format("{}: skipped: {}", result.token, result.skipped), 2, screen, before.size());
  std::vector<std::string> parts;
  for (const ContenderResult& one : result.contenders)
    parts.push_back(one.ran()
                        ? fmt::format("{} {}{}{}", one.name, one.too_busy ? "~" : "",
                                      tuner::format_seconds(one.execute.median * 1e-9), one.right ? "" : " (wrong)")
                        : one.name + " failed");
  const Comparison found = compare(result);
  if (found.tuned_score.outcome != Outcome::none) parts.push_back("tuned x" + score_text(found.tuned_score));
  if (found.untuned_score.outcome != Outcome::none) parts.push_back("untuned x" + score_text(found.untuned_score));
  std::string text = before + result.token + ":";
  std::size_t line = text.size();
  for (const std::string& part : parts) {
    const bool fits = screen.width == 0 || line + 2 + part.size() <= screen.width;
    text += (fits ? "  " : "\n  ") + part;
    line = (fits ? line : 0) + 2 + part.size();
  }
  return text;
}

void write_text_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (!file) throw cannot_write(path);
}

}  // namespace fourtune::tools
