#include "runtime/distributed/choose_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/lookup.h"
#include "generator/codegen/fft/any_length/any_size.h"
#include "runtime/backends/families.h"
#include "runtime/distributed/fft_cost.h"
#include "runtime/distributed/fft_geometry.h"
#include "runtime/distributed/slab_cost.h"
#include "runtime/environment.h"
#include "runtime/plan_sources.h"
#include "runtime/resolve.h"

namespace fourtune::runtime::distributed {
namespace {

// What slabs of an fft run untuned: our own kernels or lines, which need no planning.
generator::Plan fft_plan(const DeviceTraits& traits) {
  generator::Plan plan = generator::plan_for(traits.backend);
  if (generator::is_gpu(traits.backend)) {
    plan.gpu().fft.family = generator::GpuFftFamily::plain;
    return plan;
  }
  plan.cpu().threads = traits.cores;
  plan.cpu().fft.family = generator::FftFamily::rows;
  plan.cpu().fft.rigor = generator::Rigor::estimate;
  return plan;
}

// Why a problem with these options is replicated, or not; empty: it may be slabs.
std::string why_not_slabs(const Problem& problem, const DeviceTraits& traits, const ExchangeMeans& means) {
  if (problem.kind == Kind::nufft && (means.mixed || generator::is_gpu(traits.backend) != means.gpus))
    return "some ranks have GPUs, and others have none";
  return {};
}

class Chooser {
 public:
  Chooser(const Crew& crew, const Problem& problem, const DeviceTraits& traits, const Options& options,
          const db::Lookup* lookup)
      : crew_(crew), problem_(problem), traits_(traits), options_(options), lookup_(lookup) {
    forced_ = parse_forced(options.plan, problem);
    no_slabs_ = why_not_slabs(problem, traits, crew.means);
  }

  ChosenPlan choose() {
    ChosenPlan chosen;
    if (tuned(chosen)) return chosen;
    chosen.plan.balance = forced_.balance.value_or(Balance::points);
    if (forced_.decomposition == Decomposition::replicated) {
      if (problem_.kind == Kind::fft)
        throw Error(Status::invalid_plan, "ranks=replicated: an fft is split by ranks=slabs, as it has no points");
      return replicated(chosen, "forced by the caller");
    }
    if (forced_.decomposition == Decomposition::pencils)
      return problem_.kind == Kind::fft ? pencils(chosen) : pencils_of_points(chosen);
    if (!no_slabs_.empty()) {
      if (forced_.decomposition) throw Error(Status::unsupported, "ranks=slabs: " + no_slabs_);
      if (problem_.kind == Kind::fft) throw Error(Status::unsupported, "an fft is split by slabs, and " + no_slabs_);
      return replicated(chosen, no_slabs_);
    }
    if (!forced_.decomposition && grid_of_parts().in_plane > 1) return pencils(chosen);
    return slabs(chosen);
  }

 private:
  bool looks_up() const { return lookup_ != nullptr && options_.plan.empty() && !options_.deterministic; }
  std::optional<TunedPlan> find(const Problem& problem, std::string& notes) const {
    if (!looks_up()) return std::nullopt;
    return find_tuned(problem, environment_of(crew_, environment_at_hand(traits_)), *lookup_, crew_.ranks, notes);
  }

  // The grid that decides about the parts of an fft where the caller does not: that of the tuned plan, or the usual
  // one, of the transform to the spectrum. So its inverse has the same parts, whatever has been tuned.
  RankGrid grid_of_parts() const {
    const RankGrid slabs{1, crew_.ranks};
    if (problem_.kind != Kind::fft || !no_pencils(problem_, traits_.backend).empty()) return slabs;
    // The bits of slabs on GPUs are not those of pencils.
    if (options_.deterministic && generator::is_gpu(traits_.backend)) return slabs;
    Problem to_spectrum = problem_;
    if (!goes_to_spectrum(problem_)) {
      if (problem_.fft_type == FftType::c2r) to_spectrum.fft_type = FftType::r2c;
      to_spectrum.sign = -problem_.sign;
    }
    std::string notes;
    if (const auto found = find(to_spectrum, notes)) return found->plan.grid;
    return slabs_leave_ranks_idle(problem_, crew_.ranks) ? best_grid(problem_, crew_.ranks) : slabs;
  }

  bool tuned(ChosenPlan& chosen) {
    const auto found = find(problem_, notes_);
    if (!found) return false;
    if (problem_.kind == Kind::fft && found->plan.grid != grid_of_parts()) {
      notes_ += fmt::format(
          "passed over: the tuned plan has parts by a grid of {} ranks, and the transform that this one "
          "is the inverse of has them by {}\n",
          to_string(found->plan.grid), to_string(grid_of_parts()));
      return false;
    }
    chosen.plan = found->plan;
    if (!crew_.means.why_not(chosen.plan.exchange).empty()) {
      chosen.plan.exchange =
          chosen.plan.decomposition == Decomposition::replicated ? RankExchange::host : crew_.means.best();
      chosen.plan.kept = Kept::apart, chosen.plan.parts = 1;
    }
    chosen.explain = explained(to_text(chosen.plan, problem_), found->why, {});
    return true;
  }

  ChosenPlan replicated(ChosenPlan chosen, const std::string& why) {
    if (options_.deterministic && crew_.ranks > 1)
      throw Error(Status::unsupported,
                  fmt::format("deterministic: a replicated plan adds up in another order on another "
                              "number of ranks, and slabs are not used: {}",
                              why));
    chosen.plan.decomposition = Decomposition::replicated;
    const bool by_nccl = generator::is_gpu(traits_.backend) && problem_.type != 3;
    if (forced_.exchange && !generator::is_gpu(traits_.backend))
      throw Error(Status::invalid_plan, "ranks=replicated: exchange= is for ranks with GPUs");
    if (forced_.exchange == RankExchange::nccl && !by_nccl)
      throw Error(Status::unsupported, "exchange=nccl: the points of a type 3 are exchanged by the host");
    chosen.plan.exchange =
        forced_.exchange.value_or(by_nccl && crew_.means.no_nccl.empty() ? RankExchange::nccl : RankExchange::host);
    require_means(chosen.plan.exchange);
    chosen.plan.replicated = forced_.local;
    chosen.explain = explained(to_text(chosen.plan, problem_), why, {});
    return chosen;
  }

  ChosenPlan pencils(ChosenPlan chosen) {
    if (const std::string why = no_pencils(problem_, traits_.backend); !why.empty())
      throw Error(Status::unsupported, "ranks=pencils: " + why);
    chosen.plan.decomposition = Decomposition::pencils;
    chosen.plan.grid =
        forced_.decomposition ? forced_.grid.value_or(best_grid(problem_, crew_.ranks)) : grid_of_parts();
    require_grid(chosen.plan.grid, crew_.ranks);
    chosen.plan.local = forced_.local.empty() ? fft_plan(traits_) : forced_plan();
    std::string fault = pencils_fault(chosen.plan.local, problem_);
    if (fault.empty()) fault = steady_fault(chosen.plan.local, true);
    if (!fault.empty()) throw Error(Status::invalid_plan, "ranks=pencils: " + fault);
    choose_copies(chosen.plan);
    chosen.plan.chunks =
        forced_.chunks.value_or(usual_chunks(chosen.plan.local, problem_, crew_.ranks, chosen.plan.exchange));
    const std::string why =
        forced_.decomposition ? "forced by the caller"
        : slabs_leave_ranks_idle(problem_, crew_.ranks)
            ? fmt::format("pencils: {} ranks are more than slabs have planes ({}) or columns ({}) for", crew_.ranks,
                          problem_.n[2], problem_.n[1])
            : "pencils: the transform that this one is the inverse of has been tuned so";
    chosen.explain = explained(to_text(chosen.plan, problem_), why, {});
    return chosen;
  }

  ChosenPlan pencils_of_points(ChosenPlan chosen) {
    std::string why = no_pencils(problem_, traits_.backend);
    if (why.empty()) why = no_slabs_;
    if (!why.empty()) throw Error(Status::unsupported, "ranks=pencils: " + why);
    std::string source;
    if (forced_.local.empty()) {
      const Resolution resolution = resolve(problem_, chooser_traits(), lookup_, {});
      chosen.plan.local = fitted(resolution.plan, true);
      source = resolution.explain;
    } else {
      chosen.plan.local = forced_plan();
    }
    if (const std::string fault = pencils_fault(chosen.plan.local, problem_); !fault.empty())
      throw Error(Status::invalid_plan, "ranks=pencils: " + fault);
    return with_grid(chosen, "forced by the caller", source);
  }

  // Finishes a plan of pencils with points.
  ChosenPlan with_grid(ChosenPlan chosen, const std::string& why, const std::string& source) const {
    RankPlan& plan = chosen.plan;
    plan.decomposition = Decomposition::pencils;
    choose_copies(plan);
    plan.grid = forced_.grid.value_or(best_points_grid(plan.local, problem_, crew_.ranks));
    require_grid(plan.grid, crew_.ranks);
    plan.chunks = forced_.chunks.value_or(usual_chunks(plan.local, problem_, crew_.ranks, plan.exchange));
    chosen.explain = explained(to_text(plan, problem_), why, source);
    return chosen;
  }

  // The plan of one process with what slabs need and, for pencils and where bits have to be theirs, what they need.
  generator::Plan fitted(const generator::Plan& plan, bool pencils) const {
    generator::Plan slabs = fit_for_slabs(plan, problem_, traits_, options_.deterministic);
    const bool on_gpu = generator::is_gpu(plan.backend);
    // Bits follow from the tiles, whatever the number of ranks.
    if (!on_gpu && !pencils && !options_.deterministic) even_rows(slabs, problem_.dim - 1, crew_.ranks);
    return (pencils || options_.deterministic) && !on_gpu ? fit_for_pencils(slabs, problem_) : slabs;
  }

  // Whether slabs, which nobody asked for, leave ranks without cells that pencils have work for.
  bool pencils_reach_more(const generator::Plan& plan) const {
    return !forced_.decomposition && forced_.local.empty() && no_pencils(problem_, plan.backend).empty() &&
           slabs_are_too_few(plan, problem_.dim, crew_.ranks) &&
           pencils_fault(fit_for_pencils(plan, problem_), problem_).empty() &&
           best_points_grid(fit_for_pencils(plan, problem_), problem_, crew_.ranks).in_plane > 1;
  }

  ChosenPlan slabs(ChosenPlan chosen) {
    std::string source, fault;
    chosen.plan.decomposition = Decomposition::slabs;
    chosen.plan.grid = {1, crew_.ranks};
    if (problem_.kind == Kind::fft) {
      chosen.plan.local = forced_.local.empty() ? fft_plan(traits_) : forced_plan();
      fault = fft_fault(chosen.plan.local);
      if (!fault.empty()) throw Error(Status::invalid_plan, "ranks=slabs: " + fault);
      source = "ffts are split by slabs\n";
    } else if (!forced_.local.empty()) {
      chosen.plan.local = forced_plan();
      fault = slabs_fault(chosen.plan.local, problem_);
    } else {
      const Resolution resolution = resolve(problem_, chooser_traits(), lookup_, {});
      chosen.plan.local = fitted(resolution.plan, false);
      fault = slabs_fault(chosen.plan.local, problem_);
      source = resolution.explain;
    }
    choose_exchange(chosen.plan);
    choose_parts(chosen.plan);
    chosen.plan.chunks =
        forced_.chunks.value_or(usual_chunks(chosen.plan.local, problem_, crew_.ranks, chosen.plan.exchange));
    if (!fault.empty()) {
      if (forced_.decomposition || options_.deterministic) throw Error(Status::invalid_plan, "ranks=slabs: " + fault);
      return replicated(chosen, fault);
    }
    std::string why = forced_.decomposition ? "forced by the caller" : "less work, or less to send, than replicated";
    if (options_.deterministic) {
      why = "deterministic";
    } else if (!forced_.decomposition && choose_kind(chosen.plan.local) == Decomposition::replicated) {
      return replicated(chosen, crew_.ranks == 1     ? "one rank"
                                : problem_.type == 3 ? "few points on one side: less to send than with slabs"
                                                     : "few cells per point: less to send than with slabs");
    }
    if (problem_.kind == Kind::nufft && pencils_reach_more(chosen.plan.local)) {
      chosen.plan.local = fit_for_pencils(chosen.plan.local, problem_);
      return with_grid(chosen, fmt::format("pencils: {} ranks are more than slabs have rows of tiles for", crew_.ranks),
                       source);
    }
    chosen.explain = explained(to_text(chosen.plan, problem_), why, source);
    return chosen;
  }

  std::string fft_fault(const generator::Plan& plan) const {
    const std::string fault = slabs_fault(plan, problem_);
    return fault.empty() ? steady_fault(plan, false) : fault;
  }
  // Why the bits of an fft on GPUs would depend on the ranks; empty: they do not, or may.
  std::string steady_fault(const generator::Plan& plan, bool pencils) const {
    constexpr std::int64_t kLongest = 8192;  // whose steps follow from the length, as a block holds it in any case
    if (!options_.deterministic || !generator::is_gpu(plan.backend)) return {};
    if (pencils && problem_.n[0] > kLongest)
      return fmt::format(
          "deterministic: kernels for rows of more than {} values depend on how many a rank has; "
          "take ranks=slabs",
          kLongest);
    if (plan.gpu().fft.family == generator::GpuFftFamily::cufft)
      return "deterministic: cuFFT's results may depend on how many lines a rank has; fft=plain's do not";
    for (const std::int64_t n : problem_.n)
      if (!generator::fft::has_codelets(n))
        return fmt::format(
            "deterministic: length {} has a prime factor above 61, and a GPU's kernels for it depend on "
            "how many lines a rank has",
            n);
    return {};
  }
  // Of pencils.
  void choose_copies(RankPlan& plan) const {
    if (!generator::is_gpu(plan.local.backend)) {
      if (forced_.exchange.value_or(RankExchange::host) != RankExchange::host)
        throw Error(Status::invalid_plan, fmt::format("ranks=pencils: exchange={} is for GPUs; processors take host",
                                                      to_string(*forced_.exchange)));
      plan.exchange = RankExchange::host;
      return;
    }
    plan.exchange = forced_.exchange.value_or(crew_.means.best());
    require_means(plan.exchange);
  }
  void choose_exchange(RankPlan& plan) {
    if (!generator::is_gpu(plan.local.backend)) {
      plan.exchange = host_exchange();
      return;
    }
    plan.kept = forced_.kept.value_or(Kept::apart);
    const std::string why_not = no_kernels(plan.local, problem_, crew_.ranks, plan.kept);
    RankExchange best = crew_.means.best();
    if (best == RankExchange::peer && why_not.empty() && kernels_pay(problem_, crew_.ranks))
      best = RankExchange::kernels;
    if (forced_.chunks && *forced_.chunks != Chunks{} && best == RankExchange::kernels) best = RankExchange::peer;
    plan.exchange = forced_.exchange.value_or(best);
    require_means(plan.exchange);
    if (plan.exchange == RankExchange::kernels && !why_not.empty())
      throw Error(Status::invalid_plan, "exchange=kernels: " + why_not);
    if (!takes_too_much(plan)) return;
    notes_ +=
        fmt::format("kept=grid: otherwise a rank would hold about {:.3g} bytes, and {:.3g} are free on each GPU\n",
                    device_slab_bytes(plan, problem_, crew_.ranks), static_cast<double>(crew_.device_bytes));
    plan.exchange = RankExchange::kernels, plan.kept = Kept::grid;
  }
  void choose_parts(RankPlan& plan) const {
    const std::string why_not = no_parts(problem_, plan.local.backend, plan.exchange, options_.deterministic);
    if (forced_.parts.value_or(1) > 1 && !why_not.empty())
      throw Error(Status::invalid_plan, fmt::format("ranks=slabs: parts={}: {}", *forced_.parts, why_not));
    plan.parts = forced_.parts.value_or(why_not.empty() ? usual_parts(problem_, crew_.ranks) : 1);
  }
  RankExchange host_exchange() const {
    const std::string why_not = no_shared(problem_, forced_.chunks.value_or(Chunks{}));
    if (!forced_.exchange)
      return why_not.empty() && crew_.means.no_shared.empty() ? RankExchange::shared : RankExchange::host;
    if (*forced_.exchange != RankExchange::host && *forced_.exchange != RankExchange::shared)
      throw Error(Status::invalid_plan,
                  fmt::format("ranks=slabs: exchange={} is for the slabs of GPUs; processors take host "
                              "and shared",
                              to_string(*forced_.exchange)));
    require_means(*forced_.exchange);
    if (*forced_.exchange == RankExchange::shared && !why_not.empty())
      throw Error(Status::invalid_plan, "exchange=shared: " + why_not);
    return *forced_.exchange;
  }
  // Whether the GPU with the least memory cannot hold what this plan takes, and keeping planes in the grid would help.
  bool takes_too_much(const RankPlan& plan) const {
    const bool free =
        !forced_.kept && (!forced_.exchange || forced_.exchange == RankExchange::kernels) && !forced_.chunks;
    return free && problem_.kind == Kind::nufft && crew_.ranks > 1 && crew_.device_bytes > 0 &&
           crew_.means.no_peer.empty() && no_kernels(plan.local, problem_, crew_.ranks, Kept::grid).empty() &&
           device_slab_bytes(plan, problem_, crew_.ranks) > static_cast<double>(crew_.device_bytes);
  }
  void require_means(RankExchange way) const {
    if (const std::string& why = crew_.means.why_not(way); !why.empty())
      throw Error(Status::unsupported, fmt::format("exchange={}: {}", to_string(way), why));
  }
  Decomposition choose_kind(const generator::Plan& plan) const {
    return distributed::choose(plan, problem_, crew_.ranks);
  }
  generator::Plan forced_plan() const {
    generator::Plan plan = generator::parse_plan(forced_.local, problem_);
    if (plan.backend != traits_.backend)
      throw Error(Status::invalid_plan, fmt::format("ranks=: the plan of a rank is for {}, and the backend is {}",
                                                    plan.backend, traits_.backend));
    require_families(plan);
    return plan;
  }
  // Where bits must not depend on the number of ranks, the plan must not depend on this rank's number of cores, nor on
  // what is free. Else a grid that fits no GPU's free memory is as small as it can be.
  DeviceTraits chooser_traits() const {
    DeviceTraits traits = traits_;
    if (options_.deterministic)
      traits.cores = 1;
    else if (generator::is_gpu(traits.backend) && crew_.device_bytes > 0)
      traits.memory_bytes = std::min(traits.memory_bytes, crew_.device_bytes);
    return traits;
  }

  std::string explained(const std::string& plan, const std::string& why, const std::string& local) const {
    return fmt::format("problem: {}\nranks: {}\n{}plan: {}\nwhy: {}\n{}", to_token(problem_), crew_.ranks, notes_, plan,
                       why, local.empty() ? "" : "plan of one rank:\n" + local);
  }

  const Crew crew_;
  const Problem& problem_;
  const DeviceTraits& traits_;
  const Options& options_;
  const db::Lookup* lookup_;
  ForcedPlan forced_;
  std::string no_slabs_;
  std::string notes_;  // tuned plans that were passed over
};

}  // namespace

ChosenPlan choose_on_first(const Crew& crew, const Problem& problem, const DeviceTraits& traits, const Options& options,
                           const db::Lookup* lookup) {
  return Chooser(crew, problem, traits, options, lookup).choose();
}

ChosenPlan choose_plan(const Communicator& ranks, const ExchangeMeans& means, std::int64_t device_bytes,
                       const Problem& problem, const DeviceTraits& traits, const Options& options) {
  ChosenPlan chosen;
  std::string text;
  ranks.together([&] {
    if (ranks.rank() != 0) return;
    const auto lookup = shared_lookup(options);
    chosen =
        choose_on_first({ranks.size(), ranks.machines(), means, device_bytes}, problem, traits, options, lookup.get());
    text = to_text(chosen.plan, problem);
  });
  ranks.take_first(text);
  ranks.take_first(chosen.explain);
  ranks.together([&] {
    const ForcedPlan first = parse_forced(text, problem);
    chosen.plan.decomposition = *first.decomposition;
    chosen.plan.balance = first.balance.value_or(Balance::points);
    chosen.plan.grid = first.grid.value_or(RankGrid{1, ranks.size()});
    chosen.plan.chunks = first.chunks.value_or(Chunks{});
    chosen.plan.exchange = first.exchange.value_or(RankExchange::host);
    chosen.plan.kept = first.kept.value_or(Kept::apart);
    chosen.plan.parts = first.parts.value_or(1);
    chosen.plan.replicated = chosen.plan.decomposition == Decomposition::replicated ? first.local : "";
    if (chosen.plan.decomposition == Decomposition::replicated) return;
    chosen.plan.local = generator::parse_plan(first.local, problem);
    if (!generator::is_gpu(chosen.plan.local.backend)) chosen.plan.local.cpu().threads = traits.cores;
  });
  return chosen;
}

}  // namespace fourtune::runtime::distributed
