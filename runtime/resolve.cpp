#include "runtime/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/text.h"
#include "db/lookup.h"
#include "db/trusted_file.h"
#include "generator/candidates.h"
#include "generator/plan/accuracy.h"
#include "generator/plan/type3_windows.h"
#include "runtime/backends/families.h"
#include "runtime/environment.h"
#include "runtime/record_points.h"
#include "runtime/validity.h"

namespace fourtune::runtime {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Beyond this a stranger's plan is a worse guess than the cost model: a factor of 4 in every size, say.
constexpr double kTooFar = 4;
// Bytes of a stored text and of a reason that an explanation shows.
constexpr std::size_t kLongestStored = 5000, kLongestReason = 1000;

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

// Looks stored plans over; everything it passes over is named in the explanation, and not looked at again.
class Resolver {
 public:
  Resolver(const Problem& problem, const DeviceTraits& traits, const db::Lookup& lookup,
           std::span<const Refusal> refused, std::string& explain)
      : problem_(problem),
        traits_(traits),
        lookup_(lookup),
        refused_(refused),
        here_(environment_here(traits)),
        explain_(explain) {}

  // Tuned on points that the application recorded.
  bool recorded(Resolution& out) { return problem_.kind == Kind::nufft && exact(out, recorded_problem(problem_)); }
  bool exact(Resolution& out) { return exact(out, problem_); }

  // Same token but for the point counts, batch or extent, inside the ranges it was measured for.
  bool covered(Resolution& out) {
    return first_that_fits(Source::verdict, out, [&] {
      return lookup_.nearest(here_, [&](const db::LookupEntry& candidate) {
        const auto measured = problem_of(candidate);
        std::string why;
        if (!measured || !covers(candidate.verdict.validity, *measured, problem_, why)) return kInfinity;
        return distance_between(*measured, problem_);
      });
    });
  }

  bool nearest(Resolution& out) {
    return first_that_fits(Source::nearest, out, [&] {
      const db::LookupEntry* entry = lookup_.nearest(here_, [&](const db::LookupEntry& candidate) {
        const auto measured = problem_of(candidate);
        const double distance = measured ? distance_between(*measured, problem_) : kInfinity;
        return distance <= kTooFar ? distance : kInfinity;
      });
      if (entry) explain_outside(*entry);
      return entry;
    });
  }

 private:
  // A file full of plans that fit nothing costs so many looks, not more.
  static constexpr std::size_t kMostPassedOver = 16;

  template <class Find>
  bool first_that_fits(Source source, Resolution& out, const Find& find) {
    while (passed_over_.size() < kMostPassedOver) {
      const db::LookupEntry* entry = find();
      if (!entry) return false;
      if (take(*entry, source, out)) return true;
      passed_over_.push_back(entry);
    }
    return false;
  }
  bool is_passed_over(const db::LookupEntry& entry) const {
    return std::find(passed_over_.begin(), passed_over_.end(), &entry) != passed_over_.end();
  }

  bool exact(Resolution& out, const Problem& problem) {
    return first_that_fits(Source::verdict, out, [&] {
      return lookup_.winner(to_token(problem), here_,
                            [&](const db::LookupEntry& entry) { return !is_passed_over(entry); });
    });
  }

  // Nothing for an entry that is not to be taken.
  std::optional<Problem> problem_of(const db::LookupEntry& entry) const {
    if (is_passed_over(entry)) return std::nullopt;
    try {
      return parse_problem(entry.verdict.problem);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  void explain_outside(const db::LookupEntry& entry) {
    std::string why;
    if (const auto measured = problem_of(entry); measured && !covers(entry.verdict.validity, *measured, problem_, why))
      explain_ += fmt::format("nearest tuned problem: {} ({})\n", shown(entry.verdict.problem), shown(why));
  }

  // Adapts the stored plan to this problem; one that does not fit is passed over.
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
      const generator::Plan plan = same ? stored : generator::adapt(stored, problem_, traits_);
      require_families(plan);
      require_sound(plan);
      out.plan = plan;
      out.source = source;
      out.wisdom = entry.wisdom;
    } catch (const Error& error) {
      explain_ += fmt::format("passed over: the plan stored for {}: {}\n", shown(entry.verdict.problem),
                              text::shown(error.what(), kLongestReason));
      return false;
    }
    const auto& layer = lookup_.layers()[entry.layer];
    explain_ +=
        fmt::format("found: {} tuned for {} in {} (measurement {} on this machine{})\n", shown(entry.verdict.plan),
                    shown(entry.verdict.problem), shown(layer.path.string()),
                    to_string(db::freshness(entry.verdict.environment, here_)),
                    entry.verdict.winner_ns > 0 ? fmt::format(", {:.4g} ms", entry.verdict.winner_ns * 1e-6) : "");
    return true;
  }

  // Throws when the plan parses but must not run.
  void require_sound(const generator::Plan& plan) const {
    if (plan.backend != traits_.backend)
      throw Error(Status::invalid_plan,
                  fmt::format("it is for backend '{}', not for {}", text::shown(plan.backend), traits_.backend));
    if (const std::string fault = generator::accuracy_fault(plan, problem_); !fault.empty())
      throw Error(Status::invalid_plan, fault);
    const double bytes = generator::estimate(plan, problem_, traits_).bytes;
    if (traits_.memory_bytes > 0 && !(bytes <= static_cast<double>(traits_.memory_bytes)))
      throw Error(Status::out_of_memory, fmt::format("it would hold {:.3g} bytes, more than the device's {:.3g}", bytes,
                                                     static_cast<double>(traits_.memory_bytes)));
    const std::string own = generator::to_text(plan, problem_);
    for (const Refusal& refusal : refused_)
      if (refusal.plan == own) throw Error(Status::invalid_plan, "it does not run here: " + refusal.why);
  }

  static std::string shown(const std::string& stored) { return text::shown(stored, kLongestStored); }

  const Problem& problem_;
  const DeviceTraits& traits_;
  const db::Lookup& lookup_;
  const std::span<const Refusal> refused_;
  const db::Environment here_;
  std::string& explain_;
  std::vector<const db::LookupEntry*> passed_over_;
};

// One line a database that was looked into.
std::string layer_text(const db::LayerReport& layer) {
  const std::string path = text::shown(layer.path.string(), kLongestStored);
  if (!layer.usable) return fmt::format("not usable: {} ({})\n", path, text::shown(layer.reason, kLongestReason));
  return fmt::format("looked in: {} ({} verdicts{})\n", path, layer.verdicts,
                     layer.damaged > 0 ? fmt::format(", {} damaged and passed over", layer.damaged) : "");
}

// Compiled kernels lie in the user's database; says so when they are not to be loaded.
std::string kernels_text(const db::Lookup& lookup, const DeviceTraits& traits) {
  if (traits.backend != "cuda" || lookup.layers().empty() || lookup.layers().front().path.empty()) return {};
  const std::string why = db::why_untrusted(lookup.layers().front().path);
  return why.empty() ? why : fmt::format("kernels: compiled anew, not loaded: {}\n", text::shown(why, kLongestReason));
}

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
                   const std::string& forced_plan, std::span<const Refusal> refused) {
  Resolution out;
  std::string notes = fmt::format("problem: {}\n", to_token(problem)), untuned;
  if (!forced_plan.empty()) {
    out.plan = generator::parse_plan(forced_plan, problem);
    out.source = Source::forced;
  } else {
    bool found = false;
    if (lookup) {
      for (const auto& layer : lookup->layers()) notes += layer_text(layer);
      notes += kernels_text(*lookup, traits);
      Resolver resolver(problem, traits, *lookup, refused, notes);
      found = resolver.recorded(out) || resolver.exact(out) || resolver.covered(out) || resolver.nearest(out);
    }
    if (!found) {
      out.plan = generator::default_plan(problem, traits, &untuned);
      out.source = Source::model;
    }
  }
  const std::string reasons[] = {"forced by the caller", "tuned for this problem on such a machine",
                                 "tuned for a neighbouring problem and adapted", untuned + "; nothing tuned fits"};
  out.explain = fmt::format("{}plan: {}\nwhy: {} ({})\n", notes, generator::to_text(out.plan, problem),
                            to_string(out.source), reasons[static_cast<int>(out.source)]);
  return out;
}

}  // namespace fourtune::runtime
