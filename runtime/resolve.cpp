#include "runtime/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "base/duration.h"
#include "base/spelling.h"
#include "base/text.h"
#include "db/lookup.h"
#include "db/trusted_file.h"
#include "generator/candidates.h"
#include "generator/plan/accuracy.h"
#include "generator/plan/type3_windows.h"
#include "runtime/backend_table.h"
#include "runtime/backends/families.h"
#include "runtime/environment.h"
#include "runtime/neighbour.h"
#include "runtime/record_points.h"
#include "runtime/validity.h"

namespace fourtune::runtime {
namespace {

// The longest stored text and the longest reason that an explanation shows, in bytes.
constexpr std::size_t kLongestStored = 5000, kLongestReason = 1000;

std::string shown(const std::string& stored) { return text::shown(stored, kLongestStored); }

// How explanations call a database or a pack.
std::string layer_name(const db::LayerReport& layer) {
  if (!layer.pack) return shown(layer.path.string());
  return fmt::format("the pack {} {}", text::shown(layer.pack->name()), text::shown(layer.pack->version()));
}
std::string layer_place(const db::LayerReport& layer) {
  return layer.pack ? fmt::format("{} ({})", layer_name(layer), shown(layer.path.string())) : layer_name(layer);
}

// Of a plan that was measured on such a machine (docs/design/database.md, Staleness).
const char* measured_by(db::Freshness freshness) {
  switch (freshness) {
    case db::Freshness::current:
      return "measured on such a machine";
    case db::Freshness::serves:
      return "measured on such a machine, with another driver or compiler";
    default:
      return "measured on a machine like this, with another size or name or other versions of the libraries";
  }
}

// What was measured of problems of this kind that borrowed plans as this entry is borrowed, among the packs at hand: on
// this device before others, of plans of this device before others, by the entry's pack before others, of more problems
// before fewer. of_neighbours: the plan was tuned on this device.
struct Measured {
  const db::Borrowing* borrowing = nullptr;
  std::size_t layer = 0;
};
Measured measured_loss(const db::Lookup& lookup, const db::LookupEntry& entry, Kind kind, const std::string& device,
                       bool of_neighbours) {
  Measured best;
  const auto rank = [&](const db::Borrowing& one, std::size_t layer) {
    return std::tuple(one.device == device, one.from == entry.verdict.environment.device, layer == entry.layer,
                      one.problems);
  };
  for (std::size_t i = 0; i < lookup.layers().size(); ++i) {
    if (!lookup.layers()[i].pack) continue;
    for (const db::Borrowing& one : lookup.layers()[i].pack->manifest().borrowings) {
      if (one.kind != (kind == Kind::fft ? "fft" : "nufft") || one.of_neighbours() != of_neighbours) continue;
      if (!best.borrowing || rank(one, i) > rank(*best.borrowing, best.layer)) best = {&one, i};
    }
  }
  return best;
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
        here_(environment_at_hand(traits)),
        explain_(explain) {}

  // Looks among what was measured on such a device first, then among what was measured on kindred ones.
  bool find(Resolution& out) {
    for (const Among among : {Among::such_devices, Among::kindred_ones}) {
      among_ = among;
      if (recorded(out) || exact(out, problem_) || covered(out) || nearest(out)) return true;
    }
    return false;
  }
  // Only plans that run as they are, since there are kernels for no others.
  bool find_foreign(Resolution& out) {
    among_ = Among::foreign_ones;
    return exact(out, problem_) || covered(out);
  }

 private:
  enum class Among { such_devices, kindred_ones, foreign_ones };

  // Finds a plan tuned on points that the application recorded.
  bool recorded(Resolution& out) { return problem_.kind == Kind::nufft && exact(out, recorded_problem(problem_)); }
  // Accepts tokens that differ only in point counts, batch or extent, if these lie inside the measured ranges.
  bool covered(Resolution& out) {
    return first_that_fits(Source::verdict, out, [&] {
      const auto distance = [&](const db::LookupEntry& candidate) {
        const auto measured = problem_of(candidate);
        std::string why;
        if (!measured || !covers(candidate.verdict.validity, *measured, problem_, why)) return kInfinity;
        return distance_between(*measured, problem_);
      };
      const bool exact_size = !(problem_.kind == Kind::nufft && problem_.type == 3);
      return lookup_.nearest(here_, distance, near(problem_, exact_size ? kSameSize : kCoveredReach), whose());
    });
  }

  bool nearest(Resolution& out) {
    return first_that_fits(Source::nearest, out, [&] {
      const auto distance = [&](const db::LookupEntry& candidate) {
        const auto measured = problem_of(candidate);
        const double d = measured ? distance_between(*measured, problem_) : kInfinity;
        return d <= kTooFar ? d : kInfinity;
      };
      db::FoundEntry entry = lookup_.nearest(here_, distance, near(problem_, kTooFar));
      if (entry) explain_outside(*entry);
      return entry;
    });
  }

  // Limits the cost of a file full of plans that fit nothing.
  static constexpr std::size_t kMostPassedOver = 16;
  // The sizes of problems that cover each other are equal, except for a type 3, where m and k may differ by a factor
  // of 2.
  static constexpr double kCoveredReach = 0.6001;

  static constexpr double kSameSize = 1e-9;
  db::Near near(const Problem& problem, double reach) const {
    const Neighbourhood here = neighbourhood_of(problem);
    return {here.kin, here.size, reach, [&](const db::Environment& its) { return is_looked_at(its); }};
  }

  template <class Find>
  bool first_that_fits(Source source, Resolution& out, const Find& find) {
    while (passed_over_.size() < kMostPassedOver) {
      const db::FoundEntry entry = find();
      if (!entry) return false;
      if (take(*entry, source, out)) return true;
      passed_over_.push_back(entry);
    }
    return false;
  }
  db::Lookup::Whose whose() const {
    return among_ == Among::foreign_ones ? db::Lookup::Whose::foreign : db::Lookup::Whose::ours;
  }
  bool is_looked_at(const db::LookupEntry& entry) const {
    return is_looked_at(entry.verdict.environment) &&
           std::none_of(passed_over_.begin(), passed_over_.end(), [&](const auto& other) { return *other == entry; });
  }
  bool is_looked_at(const db::Environment& measured) const {
    const bool kindred = among_ == Among::kindred_ones;
    return kindred == (db::freshness(measured, here_) == db::Freshness::kindred) &&
           (!kindred || is_near(measured.traits));
  }
  bool is_kindred(const db::LookupEntry& entry) const {
    return db::freshness(entry.verdict.environment, here_) == db::Freshness::kindred;
  }

  // Whether a device is enough like this one. Between an 8-core and a 1-core processor borrowed plans took 1.20 times
  // the time of the winners, the model's choices 1.16 times (docs/design/packs.md).
  bool is_near(const std::string& traits) const {
    constexpr double kReach = 2;  // a factor of 4 in one number, or of 2 in two
    const auto [known, added] = near_.try_emplace(traits, false);
    if (added) known->second = db::traits_distance(traits, here_.traits) <= kReach;
    return known->second;
  }

  bool exact(Resolution& out, const Problem& problem) {
    return first_that_fits(Source::verdict, out, [&] {
      return lookup_.winner(
          to_token(problem), here_, [&](const db::LookupEntry& entry) { return is_looked_at(entry); }, whose(),
          near(problem, kSameSize));
    });
  }

  // Returns nothing for an entry that must not be used.
  std::optional<Problem> problem_of(const db::LookupEntry& entry) const {
    if (!is_looked_at(entry)) return std::nullopt;
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
      generator::Plan stored = generator::parse_plan(entry.verdict.plan, measured);
      take_all_cores(stored, db::cores_in(entry.verdict.environment.traits));
      // Inside its validity the stored plan runs as it is, width included, because that is what was proved right.
      std::string why;
      const bool inside = measured == problem_ || measured == recorded_problem(problem_) ||
                          covers(entry.verdict.validity, measured, problem_, why);
      // A type 3 with few points needs a wider window than the one proved for a neighbour with many points.
      const bool few = problem_.kind == Kind::nufft && problem_.type == 3 &&
                       generator::type3_tolerance(problem_) < generator::type3_tolerance(measured);
      const bool fits = generator::is_gpu(stored.backend) || stored.cpu().threads <= std::max(1, traits_.cores);
      const bool kindred = is_kindred(entry);
      const bool foreign = among_ == Among::foreign_ones;
      const bool same = inside && !few && fits && !kindred && stored.chunk <= problem_.batch;
      if (foreign && !same) throw Error(Status::invalid_plan, "its kernels are for another problem");
      if (!same) take_whole_batch(stored, measured);
      const generator::Plan plan = same ? stored : generator::adapt(stored, problem_, traits_);
      require_families(plan);
      require_sound(plan);
      // A neighbour's plan may suit other sizes; the models of GPUs, and of uniform transforms on processors, are good
      // enough to tell.
      if (kindred || (!same && (problem_.kind == Kind::fft || generator::is_gpu(plan.backend))))
        require_promising(plan, !kindred && is_same_size(measured));
      out.plan = plan;
      out.source = kindred || foreign ? Source::nearest : source;
      out.from = layer_name(lookup_.layers()[entry.layer]);
      out.tuned_on = entry.verdict.environment.device;
      out.wisdom = entry.wisdom;
      out.objective = db::to_string(entry.verdict.objective);
      const bool own = same && measured == problem_ && among_ == Among::such_devices;
      out.measured_seconds = own ? entry.verdict.winner_ns * 1e-9 : 0;
    } catch (const Error& error) {
      explain_ += fmt::format("passed over: the plan stored for {}: {}\n", shown(entry.verdict.problem),
                              text::shown(error.what(), kLongestReason));
      return false;
    }
    const std::string validity = among_ != Among::such_devices
                                     ? fmt::format("measured on {}", shown(entry.verdict.environment.device))
                                     : measured_by(db::freshness(entry.verdict.environment, here_));
    explain_ +=
        fmt::format("found: {} tuned for {} in {} ({}{}{})\n", shown(entry.verdict.plan), shown(entry.verdict.problem),
                    layer_place(lookup_.layers()[entry.layer]), validity,
                    entry.verdict.winner_ns > 0 ? ", " + text::duration(entry.verdict.winner_ns * 1e-9) : "",
                    entry.verdict.objective == db::Objective::time ? "" : fmt::format(", won by {}", out.objective));
    if (out.source == Source::nearest) explain_ += loss_text(entry);
    return true;
  }

  // What to expect of a plan that was not tuned for this problem here.
  std::string loss_text(const db::LookupEntry& entry) const {
    const bool of_neighbours = among_ == Among::such_devices;
    const auto [loss, layer] = measured_loss(lookup_, entry, problem_.kind, traits_.name, of_neighbours);
    if (!loss)
      return fmt::format("expected loss: not known; no pack here says what plans of {} lose that are borrowed\n",
                         of_neighbours ? "neighbours" : "other devices");
    return fmt::format(
        "expected loss: {:.0f} % of the time of a plan tuned here, at most {:.0f} % ({} on {} with plans of {}, {}, "
        "from {})\n",
        100 * std::max(0.0, 1 / loss->speed - 1), 100 * std::max(0.0, 1 / loss->least - 1),
        counted(static_cast<std::size_t>(loss->problems),
                problem_.kind == Kind::fft ? "uniform problem" : "nonuniform problem"),
        shown(loss->device), of_neighbours ? "neighbours" : shown(loss->from), shown(loss->date),
        layer_name(lookup_.layers()[layer]));
  }

  // A plan that used all cores where it was measured takes as many here as the cost model's choice does.
  void take_all_cores(generator::Plan& plan, int measured_cores) const {
    if (generator::is_gpu(plan.backend) || plan.backend != traits_.backend) return;
    if (plan.cpu().threads == measured_cores && traits_.cores > measured_cores)
      plan.cpu().threads = generator::default_plan(problem_, traits_).cpu().threads;
  }

  // A GPU's plan that took a whole batch at once where it was measured takes as much of this one as the cost model's
  // choice does: one of a single transform would else start all its kernels for each of many.
  void take_whole_batch(generator::Plan& plan, const Problem& measured) const {
    if (!generator::is_gpu(plan.backend) || plan.backend != traits_.backend || plan.chunk < measured.batch) return;
    plan.chunk = model_choice().chunk;
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

  const generator::Plan& model_choice() const {
    if (!model_choice_) model_choice_ = generator::default_plan(problem_, traits_);
    return *model_choice_;
  }

  // Whether only the sign, the place or the layout differ.
  bool is_same_size(const Problem& measured) const {
    const auto size = [](const Problem& p) { return std::tie(p.kind, p.fft_type, p.n, p.precision, p.batch); };
    return problem_.kind == Kind::fft && size(measured) == size(problem_);
  }

  // Throws when the cost model expects a borrowed plan to be much slower than the one that it would choose.
  void require_promising(const generator::Plan& plan, bool same_size) const {
    // As large as the model's errors are (docs/design/packs.md). Where the plan won at this size the model's error is
    // the likelier reason.
    const double tolerated = generator::is_gpu(traits_.backend) && !same_size ? 1.05 : 1.25;
    const double seconds = generator::estimate(plan, problem_, traits_).execute;
    const double own_seconds = generator::estimate(model_choice(), problem_, traits_).execute;
    if (!(seconds <= tolerated * own_seconds))
      throw Error(
          Status::invalid_plan,
          fmt::format("it may be right where it was measured; here the cost model expects {:.3g} times the time "
                      "of the plan that it would choose",
                      seconds / own_seconds));
  }

  const Problem& problem_;
  const DeviceTraits& traits_;
  const db::Lookup& lookup_;
  const std::span<const Refusal> refused_;
  const db::Environment here_;
  std::string& explain_;
  std::vector<db::FoundEntry> passed_over_;
  mutable std::optional<generator::Plan> model_choice_;
  mutable std::map<std::string, bool> near_;  // of the traits of kindred devices
  Among among_ = Among::such_devices;         // whose plans are looked at
};

// One line per database that was searched.
std::string layer_text(const db::LayerReport& layer) {
  if (layer.usable && layer.path.empty()) return {};  // there is no user's database
  if (!layer.usable)
    return fmt::format("not usable: {} ({})\n", shown(layer.path.string()), text::shown(layer.reason, kLongestReason));
  return fmt::format("looked in: {} ({}{})\n", layer_place(layer),
                     counted(layer.verdicts, layer.pack ? "plan" : "winner"),
                     layer.damaged > 0 ? fmt::format(", {} damaged and passed over", layer.damaged) : "");
}

// Compiled kernels lie in the user's database; this line says so when they must not be loaded.
std::string kernels_text(const db::Lookup& lookup, const DeviceTraits& traits) {
  const Backend* backend = known_backend(traits.backend);
  if (!backend || !backend->capabilities().keeps_kernels) return {};
  if (lookup.layers().empty() || lookup.layers().front().path.empty()) return {};
  const std::string why = db::why_untrusted(lookup.layers().front().path);
  return why.empty() ? why : fmt::format("kernels: compiled again, not loaded: {}\n", text::shown(why, kLongestReason));
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
      found = resolver.find(out);
    }
    if (!found) {
      out.plan = generator::default_plan(problem, traits, &untuned);
      out.source = Source::model;
    }
  }
  const std::string reasons[] = {"forced by the caller",
                                 "from " + out.from + ": tuned for this problem on such a machine",
                                 "from " + out.from + ": tuned for a neighbouring problem or device and adapted",
                                 untuned + "; nothing tuned fits"};
  out.explain = fmt::format("{}plan: {}\nwhy: {} ({})\n", notes, generator::to_text(out.plan, problem),
                            to_string(out.source), reasons[static_cast<int>(out.source)]);
  return out;
}

std::optional<Resolution> resolve_foreign(const Problem& problem, const DeviceTraits& traits, const db::Lookup& lookup,
                                          std::span<const Refusal> refused) {
  Resolution out;
  std::string notes = fmt::format("problem: {}\n", to_token(problem));
  if (!Resolver(problem, traits, lookup, refused, notes).find_foreign(out)) return std::nullopt;
  out.explain = fmt::format("{}plan: {}\nwhy: {} (from {}: tuned for another architecture; there is no compiler)\n",
                            notes, generator::to_text(out.plan, problem), to_string(out.source), out.from);
  return out;
}

}  // namespace fourtune::runtime
