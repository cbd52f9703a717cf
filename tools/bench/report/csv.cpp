// The comparison as CSV: one row per problem and contender, with the environment in every row, so that files can be
// joined.
#include <fmt/format.h>

#include <cmath>

#include "tools/bench/report/report.h"

namespace fourtune::tools {
namespace {

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : ""; }

std::string samples_text(const std::vector<std::int64_t>& samples) {
  std::string text;
  for (const std::int64_t sample : samples) {
    if (!text.empty()) text.push_back(' ');
    text.append(std::to_string(sample));
  }
  return text;
}

std::string join_row(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) line.push_back(',');
    line.append(csv_field(field));
  }
  line.push_back('\n');
  return line;
}

// The fields of the problem and of this contender's side of the comparison.
std::vector<std::string> row_of(const ProblemResult& result, const ContenderResult& one,
                                const BenchEnvironment& environment) {
  const Comparison found = compare(result);
  const Score score = &one == found.tuned ? found.tuned_score : &one == found.untuned ? found.untuned_score : Score{};
  std::string peers;
  for (const std::string& peer : environment.peers) {
    if (!peers.empty()) peers.append("; ");
    peers.append(peer);
  }
  std::string stages;
  for (const StageTime& stage : one.stages)
    stages += fmt::format("{}{}={:.6g}", stages.empty() ? "" : " ", stage.stage, stage.seconds);
  std::string passes;
  for (const PassResult& pass : one.passes)
    passes += fmt::format("{}{}:{}:seconds={:.6g}:bytes={:.6g}:flops={:.6g}", passes.empty() ? "" : " ", pass.stage,
                          pass.entry, pass.seconds, pass.bytes, pass.flops);
  return {result.token,
          group_of(result.problem),
          one.name,
          role_name(one.role),
          &one == found.peer ? "1" : "0",
          number(one.execute.median * 1e-9),
          number(one.execute.low * 1e-9),
          number(one.execute.high * 1e-9),
          std::to_string(one.execute_ns.size()),
          number(score.ratio),
          to_string(score.outcome),
          number(one.create_seconds),
          number(one.first_set_points_seconds),
          number(one.set_points.median * 1e-9),
          one.memory > 0 ? std::to_string(one.memory) : "",
          one.memory > 0 ? std::to_string(one.code) : "",
          one.first_use_ns > 0 ? number(static_cast<double>(one.first_use_ns) * 1e-9) : "",
          number(one.error),
          number(allowed_error(result.problem)),
          one.right ? "1" : "0",
          std::to_string(one.busy.disturbed),
          one.too_busy ? "1" : "0",
          one.refusal,
          one.failure,
          result.skipped,
          one.plan,
          stages,
          samples_text(one.execute_ns),
          samples_text(one.set_points_ns),
          std::to_string(environment.threads),
          std::to_string(environment.cores),
          environment.device,
          environment.isa,
          environment.compiler,
          environment.libraries,
          peers,
          environment.started,
          number(one.total.median * 1e-9),
          number(one.transfers.median * 1e-9),
          samples_text(one.total_ns),
          samples_text(one.transfers_ns),
          one.variants,
          passes,
          number(result.copy_bandwidth),
          number(result.peak_flops),
          std::to_string(result.sets)};
}

}  // namespace

const char* role_name(Role role) {
  switch (role) {
    case Role::tuned:
      return "tuned";
    case Role::untuned:
      return "untuned";
    case Role::peer:
      return "peer";
    case Role::reference:
      return "reference";
  }
  return "?";
}

const std::vector<std::string>& csv_columns() {
  static const std::vector<std::string> columns{"problem",
                                                "group",
                                                "contender",
                                                "role",
                                                "is_peer_of_problem",
                                                "execute_seconds",
                                                "execute_low",
                                                "execute_high",
                                                "rounds",
                                                "peer_over_ours",
                                                "outcome",
                                                "create_seconds",
                                                "first_set_points_seconds",
                                                "set_points_seconds",
                                                "peak_bytes",
                                                "code_bytes",
                                                "first_use_seconds",
                                                "error",
                                                "allowed_error",
                                                "right",
                                                "busy_samples",
                                                "too_busy",
                                                "refusal",
                                                "failure",
                                                "skipped",
                                                "plan",
                                                "stages",
                                                "execute_samples_ns",
                                                "set_points_samples_ns",
                                                "threads",
                                                "cores",
                                                "device",
                                                "isa",
                                                "compiler",
                                                "libraries",
                                                "peers",
                                                "started",
                                                "total_seconds",
                                                "total_with_transfers_seconds",
                                                "total_samples_ns",
                                                "total_with_transfers_samples_ns",
                                                "variants",
                                                "passes",
                                                "copy_bytes_per_second",
                                                "peak_flops_per_second",
                                                "sets_of_arrays"};
  return columns;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == text.npos) return text;
  std::string quoted(1, '"');
  for (const char letter : text) quoted.append(letter == '"' ? 2 : 1, letter);
  quoted.push_back('"');
  return quoted;
}

std::string comparison_csv(std::span<const ProblemResult> results, const BenchEnvironment& environment) {
  std::string text = join_row(csv_columns());
  for (const ProblemResult& result : results) {
    if (result.contenders.empty()) text += join_row(row_of(result, ContenderResult{}, environment));
    for (const ContenderResult& one : result.contenders) text += join_row(row_of(result, one, environment));
  }
  return text;
}

}  // namespace fourtune::tools
