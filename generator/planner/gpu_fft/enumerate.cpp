#include "generator/planner/gpu_fft/enumerate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <queue>
#include <set>

#include "generator/plan/fft/notation_keys.h"
#include "generator/planner/gpu_fft/enumerate_steps.h"
#include "generator/planner/gpu_fft/plan_cost.h"

namespace fourtune::generator::fft {

void CountTable::add(std::string_view step, std::string_view rule, double before, double after) {
  const auto found = std::find_if(rows_.begin(), rows_.end(),
                                  [&](const RuleCount& row) { return row.rule == rule && row.step == step; });
  if (found == rows_.end()) {
    rows_.push_back({std::string(step), std::string(rule), before, after});
  } else {
    found->before += before;
    found->after += after;
  }
}

namespace {

bool cheaper(const KernelOption& a, const KernelOption& b) { return a.seconds < b.seconds; }

void keep_best(std::vector<KernelOption>& options, int most) {
  std::stable_sort(options.begin(), options.end(), cheaper);
  if (options.size() > static_cast<std::size_t>(most)) options.resize(static_cast<std::size_t>(most), options[0]);
}

FftRequest squeezed(const FftRequest& request, int& dims) {
  FftRequest out = request;
  out.lengths = {};
  dims = 0;
  double all = 1;
  for (const std::int64_t n : request.lengths) {
    if (n < 1) throw Error(Status::invalid_problem, fmt::format("a length of {}; lengths are at least 1", n));
    all *= static_cast<double>(n);
    if (n > 1) out.lengths[static_cast<std::size_t>(dims++)] = n;
  }
  if (all > static_cast<double>(most_length))
    throw Error(Status::invalid_problem, "a transform has at most 2^40 values");
  return out;
}

bool has_radices(std::int64_t n) {
  for (int radix = 2; radix <= most_radix; ++radix)
    while (n % radix == 0) n /= radix;
  return n == 1;
}

// For a grouping, the layouts between its kernels and the arrays that they use.
struct Scheme {
  std::vector<Store> stores;
  std::vector<Target> targets;
};

void apply(const Scheme& scheme, FftPlan& plan) {
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    plan.kernels[k].with.store = scheme.stores[k];
    plan.kernels[k].with.to = scheme.targets[k];
  }
}

bool finishes_all(const FftPlan& plan, std::size_t k) {
  for (const SubFft& sub : plan.kernels[k].subs) {
    bool last = false;
    for (const SubFft& other : plan.kernels[k].subs) last = last || (other.dim == sub.dim && other.stride == 1);
    if (!last) return false;
  }
  return true;
}

// For every choice of layouts, the arrays that use the workspace least among those that the rules allow.
std::vector<Scheme> schemes(FftPlan plan) {
  std::vector<Store> ways{Store::place};
  if (plan.order == DigitOrder::natural) ways = {Store::sorted, Store::grouped};
  if (plan.order == DigitOrder::grouped) ways = {Store::grouped};
  std::vector<Scheme> out;
  const std::size_t kernels = plan.kernels.size();
  std::vector<unsigned> bits(std::size_t{1} << (kernels - 1));
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<unsigned>(i);
  std::stable_sort(bits.begin(), bits.end(),
                   [](unsigned a, unsigned b) { return __builtin_popcount(a) < __builtin_popcount(b); });
  for (const Store way : ways) {
    Scheme scheme;
    bool any = false;
    for (std::size_t k = 0; k < kernels; ++k) {
      const bool done = finishes_all(plan, k);
      scheme.stores.push_back(done ? Store::place : way);
      any = any || !done;
    }
    for (const unsigned choice : bits) {
      scheme.targets.clear();
      for (std::size_t k = 0; k < kernels; ++k)
        scheme.targets.push_back(k + 1 < kernels && ((choice >> k) & 1U) != 0 ? Target::work : Target::out);
      apply(scheme, plan);
      if (!check(plan).empty()) continue;
      out.push_back(scheme);
      break;
    }
    if (!any) break;
  }
  return out;
}

class Enumeration {
 public:
  Enumeration(const FftRequest& request, int dims, const DeviceTraits& device, const EnumerationLimits& limits)
      : request_(request), dims_(dims), device_(device), limits_(limits) {}

  FftCandidates run() {
    double best_floor = 0;
    int fewest = 0;  // smallest number of kernels for which there are plans
    for (int kernels = 1; kernels <= 6 && (fewest == 0 || kernels <= fewest + limits_.extra_kernels); ++kernels) {
      double floor = best_floor;
      const std::size_t before = list_.size();
      const auto kept = ranked(best_groupings(groupings(request_, dims_, device_, kernels, counts_), request_, device_,
                                              floor, limits_, counts_));
      per_group_ = std::max(limits_.plans_per_group, limits_.plans / std::max(1, static_cast<int>(kept.size())));
      for (const Grouping& grouping : kept) visit(grouping);
      if (list_.size() == before) continue;  // groupings that seemed to fit did not
      best_floor = floor;
      if (fewest == 0) fewest = kernels;
    }
    return finish();
  }

 private:
  using Sequences = KernelRadices;

  static std::vector<Sequences> sequences(const Lengths& part) {
    std::vector<Sequences> out;
    for (const auto& x : radix_sequences(part[0]))
      for (const auto& y : radix_sequences(part[1]))
        for (const auto& z : radix_sequences(part[2]))
          for (const auto& w : radix_sequences(part[3])) out.push_back({x, y, z, w});
    return out;
  }

  // The best groupings by the estimates of their kernels with one sequence of radices each: floors of bytes know
  // neither sectors nor what a block can hide.
  std::vector<Grouping> ranked(std::vector<Grouping> all) {
    const auto most = static_cast<std::size_t>(std::max(0, limits_.groupings));
    if (all.size() <= most) return all;
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < all.size(); ++i) order.emplace_back(rough_seconds(all[i]), i);
    std::sort(order.begin(), order.end());
    std::vector<Grouping> best;
    for (std::size_t i = 0; i < most; ++i) best.push_back(std::move(all[order[i].second]));
    counts_.add("groupings", "the best by rough estimates", static_cast<double>(all.size()), static_cast<double>(most));
    return best;
  }

  double rough_seconds(const Grouping& grouping) const {
    std::vector<Sequences> radices(grouping.size());
    for (std::size_t k = 0; k < grouping.size(); ++k)
      for (std::size_t d = 0; d < grouping[k].size(); ++d) radices[k][d] = radix_sequences(grouping[k][d]).back();
    FftPlan plan = plan_of(request_, grouping, radices, std::vector<int>(grouping.size(), 0));
    double least = std::numeric_limits<double>::infinity();
    for (const Scheme& scheme : schemes(plan)) {
      apply(scheme, plan);
      double sum = 0;
      for (std::size_t k = 0; k < grouping.size(); ++k) {
        CountTable uncounted;
        const auto best = kernel_shapes(plan, static_cast<int>(k), device_, request_.batch, 1, uncounted);
        sum += best.empty() ? std::numeric_limits<double>::infinity() : best.front().seconds;
      }
      least = std::min(least, sum);
    }
    return least;
  }

  void visit(const Grouping& grouping) {
    std::vector<std::vector<Sequences>> all;
    std::vector<Sequences> first;
    for (const auto& part : grouping) {
      all.push_back(sequences(part));
      if (request_.order == DigitOrder::primes)
        std::erase_if(all.back(), [](const Sequences& radices) {
          return !std::all_of(radices.begin(), radices.end(), primes_ascend);
        });
      if (all.back().empty()) return;
      first.push_back(all.back()[0]);
    }
    const std::vector<int> ascending(grouping.size(), 0);
    for (const Scheme& scheme : schemes(plan_of(request_, grouping, first, ascending))) {
      std::vector<std::vector<KernelOption>> options;
      double combinations = 1;
      for (std::size_t k = 0; k < grouping.size(); ++k) {
        options.push_back(options_of(grouping, k, all[k], first, scheme));
        combinations *= static_cast<double>(options.back().size());
      }
      if (combinations > 0) combine(options, combinations);
    }
  }

  // Options of one kernel over all its radix sequences. The other kernels matter only through the layouts that they
  // leave.
  std::vector<KernelOption> options_of(const Grouping& grouping, std::size_t k, const std::vector<Sequences>& sequences,
                                       std::vector<Sequences> radices, const Scheme& scheme) {
    const auto& part = grouping[k];
    const bool several = std::count_if(part.begin(), part.end(), [](std::int64_t p) { return p > 1; }) > 1;
    std::vector<KernelOption> shapes;
    FftPlan plan;
    for (const Sequences& sequence : sequences)
      for (int descending = 0; descending <= (several ? 1 : 0); ++descending) {
        radices[k] = sequence;
        std::vector<int> order(grouping.size(), 0);
        order[k] = descending;
        plan = plan_of(request_, grouping, radices, order);
        apply(scheme, plan);
        for (auto& shape : kernel_shapes(plan, static_cast<int>(k), device_, request_.batch, limits_.shapes, counts_))
          shapes.push_back(std::move(shape));
      }
    const double before = static_cast<double>(shapes.size());
    keep_best(shapes, limits_.shapes);
    counts_.add("kernels", "the best by estimate", before, static_cast<double>(shapes.size()));
    std::vector<KernelOption> out;
    double choices = 0;
    for (const auto& shape : shapes) {
      plan.kernels[k] = shape.kernel;
      std::map<Load, std::vector<KernelOption>> by_load;  // the estimate is least certain about loads
      for (auto& option : kernel_choices(plan, static_cast<int>(k), device_, request_.batch, limits_.forms, counts_)) {
        by_load[option.kernel.with.load].push_back(std::move(option));
        ++choices;
      }
      for (auto& [load, same] : by_load) {
        keep_best(same, limits_.choices);
        std::move(same.begin(), same.end(), std::back_inserter(out));
      }
    }
    counts_.add("choices", "the best of a shape with each kind of load", choices, static_cast<double>(out.size()));
    std::stable_sort(out.begin(), out.end(), cheaper);
    return out;
  }

  // Finds the cheapest combinations of one option per kernel. The option lists are sorted, so a heap over index tuples
  // suffices.
  void combine(const std::vector<std::vector<KernelOption>>& options, double combinations) {
    using Tuple = std::vector<std::size_t>;
    const auto seconds = [&](const Tuple& at) {
      double sum = 0;
      for (std::size_t k = 0; k < at.size(); ++k) sum += options[k][at[k]].seconds;
      return sum;
    };
    using Entry = std::pair<double, Tuple>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
    std::set<Tuple> seen;
    const Tuple start(options.size(), 0);
    next.emplace(seconds(start), start);
    seen.insert(start);
    int taken = 0;
    while (!next.empty() && taken < per_group_) {
      const auto [sum, at] = next.top();
      next.pop();
      FftCandidate candidate;
      candidate.plan.order = request_.order;
      candidate.plan.precision = request_.precision;
      candidate.plan.place = request_.place;
      for (std::size_t k = 0; k < at.size(); ++k) candidate.plan.kernels.push_back(options[k][at[k]].kernel);
      candidate.seconds = sum;
      list_.push_back(std::move(candidate));
      ++taken;
      for (std::size_t k = 0; k < at.size(); ++k) {
        Tuple further = at;
        if (++further[k] < options[k].size() && seen.insert(further).second) next.emplace(seconds(further), further);
      }
    }
    combinations_ += combinations;
    taken_ += taken;
  }

  // Keeps the cheapest plans, at most limits.plans. Every number of kernels gets a share, because the estimate is least
  // certain about that number.
  std::vector<FftCandidate> shortened(std::vector<FftCandidate> all) const {
    const auto most = static_cast<std::size_t>(std::max(0, limits_.plans));
    if (all.size() <= most) return all;
    std::map<std::size_t, std::size_t> taken;
    for (const auto& candidate : all) taken[candidate.plan.kernels.size()] = 0;
    const std::size_t share = most / (taken.size() + 1);
    std::vector<bool> keep(all.size());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (taken[all[i].plan.kernels.size()]++ < share) keep[i] = true, ++kept;
    for (std::size_t i = 0; i < all.size() && kept < most; ++i)
      if (!keep[i]) keep[i] = true, ++kept;
    std::vector<FftCandidate> out;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (keep[i]) out.push_back(std::move(all[i]));
    return out;
  }

  // The estimate does not see the order in which blocks run. Therefore the best plans are repeated with every order, at
  // the end of the list of plans with equal estimates.
  void add_block_orders(std::vector<FftCandidate>& list) {
    const auto best = std::min(list.size(), static_cast<std::size_t>(std::max(0, limits_.block_orders)));
    for (std::size_t i = 0; i < best; ++i)
      for (std::size_t k = 0; k < list[i].plan.kernels.size(); ++k) {
        BlockOrder order = memory_order;
        const auto end = order.begin() + dims_;
        while (std::next_permutation(order.begin(), end)) {
          FftCandidate other = list[i];
          other.plan.kernels[k].with.blocks = order;
          list.push_back(std::move(other));
        }
      }
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    counts_.add("plans", "block orders of the best", static_cast<double>(list.size()),
                static_cast<double>(list.size()));
  }

  FftCandidates finish() {
    counts_.add("plans", "the cheapest combinations of each grouping", combinations_, taken_);
    std::stable_sort(list_.begin(), list_.end(),
                     [](const FftCandidate& a, const FftCandidate& b) { return a.seconds < b.seconds; });
    const double found = static_cast<double>(list_.size());
    // A plan whose floor is above the best estimate cannot win if the estimate is right; the slack allows for errors of
    // the estimate.
    std::vector<FftCandidate> within;
    for (auto& candidate : list_)
      if (floors(candidate.plan, device_, request_.batch).total <= limits_.slack * list_[0].seconds &&
          candidate.seconds <= 2 * limits_.slack * list_[0].seconds)
        within.push_back(std::move(candidate));
    counts_.add("plans", "floor within the slack of the best estimate", found, static_cast<double>(within.size()));
    const double before = static_cast<double>(within.size());
    within = shortened(std::move(within));
    counts_.add("plans", "the list's length", before, static_cast<double>(within.size()));
    add_block_orders(within);
    return {std::move(within), counts_.take()};
  }

  FftRequest request_;
  int dims_;
  const DeviceTraits& device_;
  EnumerationLimits limits_;
  CountTable counts_;
  std::vector<FftCandidate> list_;
  int per_group_ = 0;
  double combinations_ = 0, taken_ = 0;
};

// Whether a choice keeps all parameters that the plan already specifies.
bool keeps(const Kernel& kernel, const KernelParameters& choice) {
  const KernelParameters& with = kernel.with;
  const KernelParameters defaults;
  return (with.exchange == default_exchange(kernel) || with.exchange == choice.exchange) &&
         (with.parts == defaults.parts || with.parts == choice.parts) &&
         (with.banks == defaults.banks || with.banks == choice.banks) &&
         (with.twiddle != TwiddleForm::computed || with.twiddle == choice.twiddle) &&
         (with.load == defaults.load || (with.load == choice.load && with.pipeline == choice.pipeline));
}

}  // namespace

FftCandidates fft_candidates(const FftRequest& request, const DeviceTraits& device, const EnumerationLimits& limits) {
  int dims = 0;
  const FftRequest moved = squeezed(request, dims);
  CountTable counts;
  const bool possible = dims > 0 && std::all_of(moved.lengths.begin(), moved.lengths.end(), has_radices);
  if (!possible) {
    counts.add("groupings", "radix: every length is a product of radices up to 64", 1, 0);
    return {{}, counts.take()};
  }
  return Enumeration(moved, dims, device, limits).run();
}

FftPlan bind(const FftPlan& plan, const DeviceTraits& device, std::int64_t batch) {
  FftPlan out = plan;
  for (std::size_t k = 0; k < out.kernels.size(); ++k) {
    const KernelParameters asked = out.kernels[k].with;
    if (asked.threads != 0 && asked.tile[0] != 0) continue;
    const int at = static_cast<int>(k);
    CountTable counts;
    KernelOption best;
    FftPlan trial = out;
    const auto shapes = kernel_shapes(out, at, device, batch, 64, counts);
    for (const auto& shape : shapes) {
      trial.kernels[k] = shape.kernel;
      for (const auto& choice : kernel_choices(trial, at, device, batch, {true, true, true}, counts))
        if (keeps(plan.kernels[k], choice.kernel.with) && (best.seconds == 0 || choice.seconds < best.seconds))
          best = choice;
    }
    if (best.seconds == 0)
      throw Error(Status::unsupported, fmt::format("kernel {}, {}: no tile and threads fit {}", k + 1,
                                                   to_text(plan.kernels[k]), device.name));
    out.kernels[k] = best.kernel;
    if (asked.twiddle == TwiddleForm::fast) out.kernels[k].with.twiddle = asked.twiddle;
  }
  return out;
}

}  // namespace fourtune::generator::fft
