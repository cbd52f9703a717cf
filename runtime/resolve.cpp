#include "runtime/resolve.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "db/lookup.h"
#include "generator/candidates.h"
#include "generator/type3_model.h"
#include "runtime/environment.h"
#include "runtime/families.h"
#include "runtime/record_points.h"
#include "runtime/validity.h"

namespace fourtune::runtime {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Beyond this a stranger's plan is a worse guess than the cost model: a factor of 4 in every size, say.
constexpr double kTooFar = 4;

double log_ratio(double a, double b) { return std::abs(std::log2(std::max(a, 1.0) / std::max(b, 1.0))); }

double density(const Problem& problem) {
  double cells = 1;
  for (int d = 0; d < problem.dim; ++d) cells *= static_cast<double>(problem.n[d]);
  return 1024 * static_cast<double>(problem.m.value_or(static_cast<std::int64_t>(cells))) / cells;
}

// How unlike two problems are for the purpose of borrowing a plan; infinite when it cannot be borrowed at all.
double distance_between(const Problem& a, const Problem& b) {
  if (a.kind != b.kind || a.dim != b.dim || a.precision != b.precision) return kInfinity;
  double distance = 0.2 * log_ratio(static_cast<double>(a.batch), static_cast<double>(b.batch));
  for (int d = 0; d < a.dim; ++d)
    distance += log_ratio(static_cast<double>(a.n[d]), static_cast<double>(b.n[d])) / a.dim;
  if (a.kind == Kind::fft) return a.fft_type == b.fft_type ? distance + 0.3 * (a.place != b.place) : kInfinity;
  if (a.type != b.type) return kInfinity;
  distance += std::abs(std::log10(a.tol / b.tol));
  if (a.points.value_or(PointClass::uniform) != b.points.value_or(PointClass::uniform)) distance += 0.5;
  if (a.type == 3)
    return distance + 0.3 * log_ratio(static_cast<double>(a.m.value_or(0)), static_cast<double>(b.m.value_or(0))) +
           0.3 * log_ratio(static_cast<double>(a.k.value_or(0)), static_cast<double>(b.k.value_or(0)));
  return distance + 0.5 * log_ratio(density(a), density(b));
}

// Looks stored plans over; everything it passes over is named in the explanation.
class Resolver {
 public:
  Resolver(const Problem& problem, const DeviceTraits& traits, const db::Lookup& lookup, std::string& explain)
      : problem_(problem), traits_(traits), lookup_(lookup), here_(environment_here(traits)), explain_(explain) {}

  // Tuned on points that the application recorded.
  bool recorded(Resolution& out) { return problem_.kind == Kind::nufft && exact(out, recorded_problem(problem_)); }
  bool exact(Resolution& out) { return exact(out, problem_); }

  // Same token but for the point counts, batch or extent, inside the ranges it was measured for.
  bool covered(Resolution& out) {
    const db::LookupEntry* entry = lookup_.nearest(here_, [&](const db::LookupEntry& candidate) {
      const auto measured = problem_of(candidate);
      std::string why;
      if (!measured || !covers(candidate.verdict.validity, *measured, problem_, why)) return kInfinity;
      return distance_between(*measured, problem_);
    });
    return entry && take(*entry, Source::verdict, out);
  }

  bool nearest(Resolution& out) {
    const db::LookupEntry* entry = lookup_.nearest(here_, [&](const db::LookupEntry& candidate) {
      const auto measured = problem_of(candidate);
      const double distance = measured ? distance_between(*measured, problem_) : kInfinity;
      return distance <= kTooFar ? distance : kInfinity;
    });
    if (entry) explain_outside(*entry);
    return entry && take(*entry, Source::nearest, out);
  }

 private:
  bool exact(Resolution& out, const Problem& problem) {
    const db::LookupEntry* entry = lookup_.winner(to_token(problem), here_);
    return entry && take(*entry, Source::verdict, out);
  }

  static std::optional<Problem> problem_of(const db::LookupEntry& entry) {
    try {
      return parse_problem(entry.verdict.problem);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  void explain_outside(const db::LookupEntry& entry) {
    std::string why;
    if (const auto measured = problem_of(entry); measured && !covers(entry.verdict.validity, *measured, problem_, why))
      explain_ += fmt::format("nearest tuned problem: {} ({})\n", entry.verdict.problem, why);
  }

  // Adapts the stored plan to this problem; a text that does not fit is passed over.
  bool take(const db::LookupEntry& entry, Source source, Resolution& out) {
    try {
      const Problem measured = parse_problem(entry.verdict.problem);
      const generator::Plan stored = generator::parse_plan(entry.verdict.plan, measured);
      // Inside its validity the plan is the one that was proved right, width and all.
      std::string why;
      const bool inside = measured == problem_ || measured == recorded_problem(problem_) ||
                          covers(entry.verdict.validity, measured, problem_, why);
      // A type 3 of few points needs wider windows than its neighbour with many was proved with.
      const bool few = problem_.kind == Kind::nufft && problem_.type == 3 &&
                       generator::type3_tolerance(problem_) < generator::type3_tolerance(measured);
      const bool same =
          inside && !few && stored.threads <= std::max(1, traits_.cores) && stored.chunk <= problem_.batch;
      out.plan = same ? stored : generator::adapt(stored, problem_, traits_);
      require_families(out.plan);
      out.source = source;
      out.wisdom = entry.wisdom;
    } catch (const Error& error) {
      explain_ += fmt::format("passed over: the plan stored for {}: {}\n", entry.verdict.problem, error.what());
      return false;
    }
    const auto& layer = lookup_.layers()[entry.layer];
    explain_ += fmt::format(
        "found: {} tuned for {} in {} (measurement {} on this machine{})\n", entry.verdict.plan, entry.verdict.problem,
        layer.path.string(), to_string(db::freshness(entry.verdict.environment, here_)),
        entry.verdict.winner_ns > 0 ? fmt::format(", {:.4g} ms", entry.verdict.winner_ns * 1e-6) : "");
    return true;
  }

  const Problem& problem_;
  const DeviceTraits& traits_;
  const db::Lookup& lookup_;
  db::Environment here_;
  std::string& explain_;
};

}  // namespace

const char* to_string(Source source) noexcept {
  switch (source) {
    case Source::forced:
      return "forced";
    case Source::verdict:
      return "verdict";
    case Source::nearest:
      return "nearest";
    case Source::model:
      return "model";
  }
  return "?";
}

Resolution resolve(const Problem& problem, const DeviceTraits& traits, const db::Lookup* lookup,
                   const std::string& forced_plan) {
  Resolution out;
  std::string notes = fmt::format("problem: {}\n", to_token(problem));
  if (!forced_plan.empty()) {
    out.plan = generator::parse_plan(forced_plan, problem);
    out.source = Source::forced;
  } else {
    bool found = false;
    if (lookup) {
      for (const auto& layer : lookup->layers())
        notes += layer.usable ? fmt::format("looked in: {} ({} verdicts)\n", layer.path.string(), layer.verdicts)
                              : fmt::format("not usable: {} ({})\n", layer.path.string(), layer.reason);
      Resolver resolver(problem, traits, *lookup, notes);
      found = resolver.recorded(out) || resolver.exact(out) || resolver.covered(out) || resolver.nearest(out);
    }
    if (!found) {
      out.plan = generator::default_plan(problem, traits);
      out.source = Source::model;
    }
  }
  static constexpr const char* reasons[] = {"forced by the caller", "tuned for this problem on such a machine",
                                            "tuned for a neighbouring problem and adapted",
                                            "the cost model's choice; nothing tuned fits"};
  out.explain = fmt::format("{}plan: {}\nwhy: {} ({})\n", notes, generator::to_text(out.plan, problem),
                            to_string(out.source), reasons[static_cast<int>(out.source)]);
  return out;
}

}  // namespace fourtune::runtime
