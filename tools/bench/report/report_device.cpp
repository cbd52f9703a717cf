// Tables of a comparison on a device, beyond the times of execute.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/bench/report/report.h"
#include "tools/common/text.h"
#include "tuner/report/report.h"
#include "tuner/report/table.h"

namespace fourtune::tools {
namespace {

double seconds_of(const tuner::MedianInterval& interval) { return interval.median * 1e-9; }

// "ours / the peer's (ratio)".
std::string pair_text(const tuner::MedianInterval& ours, const tuner::MedianInterval* peer) {
  if (!(ours.median > 0)) return "-";
  std::string text = tuner::format_seconds(seconds_of(ours));
  if (peer && peer->median > 0)
    text += fmt::format(" / {} ({:.2f})", tuner::format_seconds(seconds_of(*peer)), peer->median / ours.median);
  return text;
}

std::string mean_text(const std::vector<double>& ratios) {
  const double mean = geometric_mean(ratios);
  return std::isfinite(mean) ? fmt::format("{:.2f} ({} problems)", mean, ratios.size()) : "-";
}

// Lower bounds for the time of one stage's launches, in seconds.
struct StageFloor {
  std::string stage;
  double seconds = 0, memory = 0, arithmetic = 0;
  double bound = 0;  // sum over launches of the larger lower bound
  double reached() const { return seconds > 0 ? bound / seconds : 0; }
};

// The stages in the order of their first launch.
std::vector<StageFloor> stage_floors(std::span<const PassResult> passes, double copy_bandwidth, double peak_flops) {
  std::vector<StageFloor> stages;
  for (const PassResult& pass : passes) {
    auto stage = std::ranges::find(stages, pass.stage, &StageFloor::stage);
    if (stage == stages.end()) stage = stages.insert(stage, StageFloor{pass.stage});
    const double memory = pass.bytes / copy_bandwidth, arithmetic = pass.flops / peak_flops;
    stage->seconds += pass.seconds;
    stage->memory += memory;
    stage->arithmetic += arithmetic;
    stage->bound += std::max(memory, arithmetic);
  }
  return stages;
}

}  // namespace

std::string modes_table(std::span<const ProblemResult> results, const tuner::Screen& screen) {
  std::vector<std::vector<std::string>> rows{
      {"problem", "set_points", "execute", "total", "total with transfers", "memory"}};
  std::vector<double> total, transfers;
  for (const ProblemResult& result : results) {
    if (!result.skipped.empty() || result.problem.kind != Kind::nufft) continue;
    const Comparison found = compare(result);
    const ContenderResult* ours = found.tuned ? found.tuned : found.untuned;
    const ContenderResult* shown = ours ? ours : found.peer;  // a peer without ours is shown too
    if (!shown || shown->total.median <= 0) continue;         // transforms on the host have one mode
    const ContenderResult* peer = ours ? found.peer : nullptr;
    const bool counted = ours && peer && ours->right && peer->right && peer->refusal.empty();
    if (counted && ours->total.median > 0 && peer->total.median > 0)
      total.push_back(peer->total.median / ours->total.median);
    if (counted && ours->transfers.median > 0 && peer->transfers.median > 0)
      transfers.push_back(peer->transfers.median / ours->transfers.median);
    rows.push_back({result.token + (ours ? "" : "  (" + shown->name + " alone)"),
                    pair_text(shown->set_points, peer ? &peer->set_points : nullptr),
                    pair_text(shown->execute, peer ? &peer->execute : nullptr),
                    pair_text(shown->total, peer ? &peer->total : nullptr),
                    pair_text(shown->transfers, peer ? &peer->transfers : nullptr),
                    bytes_text(shown->memory) + (peer ? " / " + bytes_text(peer->memory) : std::string())});
  }
  if (rows.size() == 1) return {};
  return fmt::format(
      "\nours / the peer's (the peer's over ours); total: set_points and execute; with transfers: also points and "
      "input to the device and the output back\n{}total, geometric mean {}; with transfers {}\n",
      tuner::table_text(rows, {{1, 2, 3, 4, 5}}, screen), mean_text(total), mean_text(transfers));
}

std::string stages_table(std::span<const ProblemResult> results, const tuner::Screen& screen) {
  std::vector<std::vector<std::string>> rows{
      {"problem", "stage", "time", "memory floor", "arithmetic floor", "reached"}};
  for (const ProblemResult& result : results) {
    const Comparison found = compare(result);
    const ContenderResult* ours = found.tuned ? found.tuned : found.untuned;
    if (!ours || !(result.copy_bandwidth > 0) || !(result.peak_flops > 0)) continue;
    for (const StageFloor& stage : stage_floors(ours->passes, result.copy_bandwidth, result.peak_flops))
      rows.push_back({stage.stage == ours->passes.front().stage ? result.token : "", stage.stage,
                      tuner::format_seconds(stage.seconds), tuner::format_seconds(stage.memory),
                      tuner::format_seconds(stage.arithmetic), fmt::format("{:.0f}%", 100 * stage.reached())});
  }
  if (rows.size() == 1) return {};
  return fmt::format(
      "\nevery stage beside its floors: the bytes that it has to move at the speed of a copy, its multiply-adds at the "
      "device's peak; reached: the greater of both, launch by launch, over the time (above 100%: data stayed in the "
      "cache, or products ran on matrix units)\n{}",
      tuner::table_text(rows, {{2, 3, 4, 5}}, screen));
}

std::string passes_table(std::span<const ProblemResult> results, const tuner::Screen& screen) {
  std::vector<std::vector<std::string>> rows{
      {"problem", "stage", "kernel", "time", "GB/s", "GFLOP/s", "copy GB/s", "of copy"}};
  for (const ProblemResult& result : results) {
    const Comparison found = compare(result);
    const ContenderResult* ours = found.tuned ? found.tuned : found.untuned;
    if (!ours) continue;
    for (const PassResult& pass : ours->passes) {
      const double rate = pass.seconds > 0 ? pass.bytes / pass.seconds : 0;
      const bool copied = result.copy_bandwidth > 0;
      rows.push_back({&pass == &ours->passes.front() ? result.token : "", pass.stage, pass.entry,
                      tuner::format_seconds(pass.seconds), fmt::format("{:.0f}", rate * 1e-9),
                      fmt::format("{:.0f}", pass.seconds > 0 ? pass.flops / pass.seconds * 1e-9 : 0),
                      copied ? fmt::format("{:.0f}", result.copy_bandwidth * 1e-9) : "-",
                      copied ? fmt::format("{:.0f}%", 100 * rate / result.copy_bandwidth) : "-"});
    }
  }
  if (rows.size() == 1) return {};
  return fmt::format("\nevery launch of ours, timed by events between them; GB/s of what it has to move\n{}",
                     tuner::table_text(rows, {{3, 4, 5, 6, 7}}, screen));
}

std::string variants_text(std::span<const ProblemResult> results) {
  std::string text;
  for (const ProblemResult& result : results)
    for (const ContenderResult& one : result.contenders)
      if (!one.variants.empty()) text += fmt::format("  {}: {}: {}\n", result.token, one.name, one.variants);
  return text.empty() ? text : "\ntrials of a peer's variants; the fastest right one was measured\n" + text;
}

}  // namespace fourtune::tools
