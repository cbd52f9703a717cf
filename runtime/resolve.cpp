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
#include "runtime/backend_table.h"
#include "runtime/backends/families.h"
#include "runtime/environment.h"
#include "runtime/record_points.h"
#include "runtime/validity.h"

namespace fourtune::runtime {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Beyond this distance the cost model is a better guess than a stored plan; 4 is, say, a factor of 4 in every size.
constexpr double kTooFar = 4;
// The longest stored text and the longest reason that an explanation shows, in bytes.
constexpr std::size_t kLongestStored = 5000, kLongestReason = 1000;

double log_ratio(double a, double b) { return std::abs(std::log2(std::max(a, 1.0) / std::max(b, 1.0))); }

double density(const Problem& problem) {
  double cells = 1;
  for (int d = 0; d < problem.dim; ++d) cells *= static_cast<double>(problem.n[d]);
  return 1024 * static_cast<double>(problem.m.value_or(static_cast<std::int64_t>(cells))) / cells;
}

// How different two problems are when one borrows the other's plan; infinite when it cannot be borrowed at all.
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

// Checks stored plans. Every plan that it passes over is named in the explanation and not tried again.
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

  // Finds a plan tuned on points that the application recorded.
  bool recorded(Resolution& out) { return problem_.kind == Kind::nufft && exact(out, recorded_problem(problem_)); }
  bool exact(Resolution& out) { return exact(out, problem_); }

  // Accepts tokens that differ only in point counts, batch or extent, if these lie inside the measured ranges.
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
  // Limits the cost of a file full of plans that fit nothing.
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

  // Returns nothing for an entry that must not be used.
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

  // Adapts the stored plan to this problem; a plan that does not fit is passed over.
  bool take(const db::LookupEntry& entry, Source source, Resolution& out) {
    try {
      const Problem measured = parse_problem(entry.verdict.problem);
      const generator::Plan stored = generator::parse_plan(entry.verdict.plan, measured);
      // Inside its validity the stored plan runs as it is, width included, because that is what was proved right.
      std::string why;
      const bool inside = measured == problem_ || measured == recorded_problem(problem_) ||
                          covers(entry.verdict.validity, measured, problem_, why);
      // A type 3 with few points needs a wider window than the one proved for a neighbour with many points.
      const bool few = problem_.kind == Kind::nufft && problem_.type == 3 &&
                       generator::type3_tolerance(problem_) < generator::type3_tolerance(measured);
      const bool fits = generator::is_gpu(stored.backend) || stored.cpu().threads <= std::max(1, traits_.cores);
      const bool same = inside && !few && fits && stored.chunk <= problem_.batch;
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

// One line per database that was searched.
std::string layer_text(const db::LayerReport& layer) {
  const std::string path = text::shown(layer.path.string(), kLongestStored);
  if (!layer.usable) return fmt::format("not usable: {} ({})\n", path, text::shown(layer.reason, kLongestReason));
  return fmt::format("looked in: {} ({} verdicts{})\n", path, layer.verdicts,
                     layer.damaged > 0 ? fmt::format(", {} damaged and passed over", layer.damaged) : "");
}

// Compiled kernels lie in the user's database; this line says so when they must not be loaded.
std::string kernels_text(const db::Lookup& lookup, const DeviceTraits& traits) {
  const Backend* backend = known_backend(traits.backend);
  if (!backend || !backend->capabilities().keeps_kernels) return {};
  if (lookup.layers().empty() || lookup.layers().front().path.empty()) return {};
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
