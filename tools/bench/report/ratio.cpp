#include "tools/bench/report/ratio.h"

#include <fmt/format.h>

#include <cmath>

namespace fourtune::tools {
namespace {

bool fair(const ContenderResult& peer) { return peer.right && peer.refusal.empty(); }

const ContenderResult* best_peer(const ProblemResult& result) {
  const ContenderResult* best = nullptr;
  for (const ContenderResult& peer : result.contenders) {
    if (peer.role != Role::peer || !peer.ran()) continue;
    const bool better =
        !best || fair(peer) > fair(*best) || (fair(peer) == fair(*best) && peer.execute.median < best->execute.median);
    if (better) best = &peer;
  }
  return best;
}

const ContenderResult* of_role(const ProblemResult& result, Role role) {
  for (const ContenderResult& one : result.contenders)
    if (one.role == role && one.ran()) return &one;
  return nullptr;
}

double quotient(double a, double b) { return a > 0 && b > 0 ? a / b : kNone; }

Score score_of(const ContenderResult* ours, const ContenderResult* peer) {
  Score score;
  if (!ours || !peer) return score;
  if (ours->right && (ours->too_busy || peer->too_busy)) {
    score.outcome = Outcome::too_busy;
    return score;
  }
  score.ratio = quotient(peer->execute.median, ours->execute.median);
  score.outcome = !ours->right ? Outcome::lost_by_us : fair(*peer) ? Outcome::counted : Outcome::lost_by_peer;
  return score;
}

}  // namespace

const char* to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::none:
      return "none";
    case Outcome::too_busy:
      return "too_busy";
    case Outcome::counted:
      return "counted";
    case Outcome::lost_by_peer:
      return "lost_by_peer";
    case Outcome::lost_by_us:
      return "lost_by_us";
  }
  return "?";
}

Comparison compare(const ProblemResult& result) {
  Comparison found;
  found.tuned = of_role(result, Role::tuned);
  found.untuned = of_role(result, Role::untuned);
  found.peer = best_peer(result);
  found.tuned_score = score_of(found.tuned, found.peer);
  found.untuned_score = score_of(found.untuned, found.peer);
  const ContenderResult* ours = found.tuned ? found.tuned : found.untuned;
  if (ours && found.peer) {
    found.set_points_ratio = quotient(found.peer->set_points.median, ours->set_points.median);
    found.memory_ratio = quotient(static_cast<double>(ours->memory), static_cast<double>(found.peer->memory));
  }
  return found;
}

std::string group_of(const Problem& problem) {
  if (problem.kind == Kind::fft) return fmt::format("fft {} {}D", to_string(problem.fft_type), problem.dim);
  return fmt::format("nufft type {} {}D", problem.type, problem.dim);
}

double geometric_mean(std::span<const double> values) {
  if (values.empty()) return kNone;
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

Summary summarise(std::span<const Scored> scores) {
  Summary summary;
  std::vector<double> counted, all;
  for (const Scored& one : scores) {
    if (one.score.outcome == Outcome::none || !(one.score.ratio > 0)) continue;
    all.push_back(one.score.ratio);
    summary.lost_by_us += one.score.outcome == Outcome::lost_by_us;
    summary.lost_by_peer += one.score.outcome == Outcome::lost_by_peer;
    if (one.score.outcome != Outcome::counted) continue;
    counted.push_back(one.score.ratio);
    if (!(summary.worst <= one.score.ratio)) {
      summary.worst = one.score.ratio;
      summary.worst_token = one.token;
    }
  }
  summary.counted = counted.size();
  summary.mean = geometric_mean(counted);
  summary.mean_with_lost = geometric_mean(all);
  return summary;
}

}  // namespace fourtune::tools
