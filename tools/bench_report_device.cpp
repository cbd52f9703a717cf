// What the comparison says beyond times of execute when it ran on a device.
#include <fmt/format.h>

#include <cmath>

#include "tools/bench_report.h"
#include "tools/text.h"
#include "tuner/report.h"

namespace fourtune::tools {
namespace {

double seconds_of(const tuner::MedianInterval& interval) { return interval.median * 1e-9; }

// "ours / peer's (ratio)".
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

}  // namespace

std::string modes_table(std::span<const ProblemResult> results) {
  std::vector<std::vector<std::string>> rows{
      {"problem", "set_points", "execute", "total", "total with transfers", "memory"}};
  std::vector<double> total, transfers;
  for (const ProblemResult& result : results) {
    if (!result.skipped.empty() || result.problem.kind != Kind::nufft) continue;
    const Comparison found = compare(result);
    const ContenderResult* ours = found.tuned ? found.tuned : found.untuned;
    const ContenderResult* shown = ours ? ours : found.peer;  // a peer alone is shown too
    if (!shown || shown->total.median <= 0) continue;         // the host's transforms have one mode
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
      table_text(rows, {1, 2, 3, 4, 5}), mean_text(total), mean_text(transfers));
}

std::string passes_table(std::span<const ProblemResult> results) {
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
                     table_text(rows, {3, 4, 5, 6, 7}));
}

std::string variants_text(std::span<const ProblemResult> results) {
  std::string text;
  for (const ProblemResult& result : results)
    for (const ContenderResult& one : result.contenders)
      if (!one.variants.empty()) text += fmt::format("  {}: {}: {}\n", result.token, one.name, one.variants);
  return text.empty() ? text : "\ntrials of a peer's variants; the fastest right one was measured\n" + text;
}

}  // namespace fourtune::tools
