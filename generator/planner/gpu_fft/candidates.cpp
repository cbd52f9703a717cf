// Candidates for uniform transforms on GPUs: the library, the plain plan with variations, and plans from the
// enumeration, in the forms that the emitter distinguishes.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/plan/fft/geometry.h"
#include "generator/planner/gpu_fft/families.h"
#include "generator/planner/gpu_fft/fitted_plan.h"
#include "generator/planner/gpu_fft/plan_cost.h"
#include "generator/planner/gpu_fft/planner.h"
#include "generator/planner/gpu_fft/program.h"

namespace fourtune::generator {
namespace {

void through_workspace(fft::FftPlan& plan) {
  for (std::size_t k = 0; k + 1 < plan.kernels.size(); ++k) plan.kernels[k].with.to = fft::Target::work;
}

// Bulk copies of the caller's array need dense rows.
void load_without_bulk_copies(fft::Kernel& kernel) {
  if (kernel.with.load != fft::Load::bulk) return;
  kernel.with.load = fft::Load::plain;
  kernel.with.pipeline = 0;
}

// Position of a plan in the space: the grouping of dimensions into kernels and, for every kernel, its radices, its
// shape (tile and threads) and the rest. Values are numbered in the order in which they appear, so that plans with
// similar numbers have similar estimates.
class Coordinates {
 public:
  static constexpr std::size_t most_kernels = 6, axes_of_kernel = 3;
  static std::vector<std::string> axes() {
    std::vector<std::string> names{"grouping"};
    for (std::size_t k = 1; k <= most_kernels; ++k)
      for (const char* what : {"radices", "shape", "form"}) names.push_back("kernel" + std::to_string(k) + " " + what);
    return names;
  }
  std::vector<int> of_name(const std::string& name) {
    std::vector<int> at(1 + most_kernels * axes_of_kernel, 0);
    at[0] = number(0, name);
    return at;
  }
  std::vector<int> of(const fft::FftPlan& plan) {
    std::string grouping;
    std::vector<int> at = of_name("");
    for (std::size_t k = 0; k < plan.kernels.size() && k < most_kernels; ++k) {
      const fft::Kernel& kernel = plan.kernels[k];
      fft::Lengths product;
      std::string radices;
      for (const fft::SubFft& sub : kernel.subs) {
        product[static_cast<std::size_t>(fft::index(sub.dim))] *= sub.radix;
        radices += fft::to_text(sub);
      }
      for (const std::int64_t p : product) grouping += std::to_string(p) + ",";
      grouping += ";";
      fft::KernelParameters shape, form = kernel.with;
      shape.threads = std::exchange(form.threads, 0);
      shape.tile = std::exchange(form.tile, {});
      shape.cluster = std::exchange(form.cluster, 1);
      const std::size_t axis = 1 + k * axes_of_kernel;
      at[axis] = number(axis, radices);
      at[axis + 1] = number(axis + 1, fft::to_text(fft::Kernel{kernel.subs, shape}).substr(radices.size()));
      at[axis + 2] = number(axis + 2, fft::to_text(fft::Kernel{kernel.subs, form}).substr(radices.size()));
    }
    at[0] = number(0, grouping);
    return at;
  }

 private:
  int number(std::size_t axis, const std::string& text) {
    auto& known = numbers_[axis];
    return known.emplace(text, static_cast<int>(known.size())).first->second;
  }
  std::map<std::size_t, std::map<std::string, int>> numbers_;
};

constexpr int least_spare = 16;  // registers beside values that the tuner tries; spills are refused when they are seen

using Take = std::function<void(const fft::FftPlan&)>;

// Single changes of one kernel, and the same change of all kernels together.
void vary(const fft::FftPlan& plan, const DeviceTraits& traits, const Take& take) {
  using Change = std::function<void(fft::FftPlan&, std::size_t)>;
  const Change changes[] = {
      [](fft::FftPlan& p, std::size_t k) {
        auto& parts = p.kernels[k].with.parts;
        parts = parts == fft::Parts::apart ? fft::Parts::together : fft::Parts::apart;
      },
      [](fft::FftPlan& p, std::size_t k) {
        auto& twiddle = p.kernels[k].with.twiddle;
        twiddle = twiddle == fft::TwiddleForm::table ? fft::TwiddleForm::computed : fft::TwiddleForm::table;
      },
      [](fft::FftPlan& p, std::size_t k) {
        auto& with = p.kernels[k].with;
        with.load = with.load == fft::Load::bulk ? fft::Load::plain : fft::Load::bulk;
        with.pipeline = with.load == fft::Load::bulk ? 1 : 0;
      },
      [](fft::FftPlan& p, std::size_t k) {
        auto& with = p.kernels[k].with;
        with.load = with.load == fft::Load::async ? fft::Load::plain : fft::Load::async;
        with.pipeline = with.load == fft::Load::async ? 2 : 0;
      },
      [](fft::FftPlan& p, std::size_t k) { p.kernels[k].with.pipeline *= 2; },
      [](fft::FftPlan& p, std::size_t k) {
        auto& banks = p.kernels[k].with.banks;
        banks = banks == fft::Banks::swizzle ? fft::Banks::pad : fft::Banks::swizzle;
      },
      [](fft::FftPlan& p, std::size_t k) {
        auto& with = p.kernels[k].with;
        with.exchange = with.exchange == fft::Exchange::shared ? fft::Exchange::shuffle : fft::Exchange::shared;
        with.parts = fft::Parts::together, with.banks = fft::Banks::pad;
      },
      [](fft::FftPlan& p, std::size_t k) {
        auto& with = p.kernels[k].with;
        with.coalesce = with.coalesce == fft::Coalesce::none ? fft::Coalesce::both : fft::Coalesce::none;
        if (with.coalesce != fft::Coalesce::none) with.exchange = fft::Exchange::shared;
      },
      [&](fft::FftPlan& p, std::size_t k) {
        p.kernels[k].with.registers = tighter_registers(p, k, least_spare, traits);
      },
      [](fft::FftPlan& p, std::size_t k) { p.kernels[k].with.registers = 0; },
      [](fft::FftPlan& p, std::size_t k) { p.kernels[k].with.cache = fft::Cache::l2; },
      [](fft::FftPlan& p, std::size_t k) { p.kernels[k].with.cache = fft::Cache::stream; },
      [](fft::FftPlan& p, std::size_t k) { p.kernels[k].with.threads *= 2; },
      [](fft::FftPlan& p, std::size_t k) { p.kernels[k].with.threads /= 2; },
      [](fft::FftPlan& p, std::size_t k) { p.kernels[k].with.tile[0] *= 2; },
      [](fft::FftPlan& p, std::size_t k) { p.kernels[k].with.tile[0] /= 2; },
      [](fft::FftPlan& p, std::size_t k) { p.kernels[k].with.tile[1] *= 2; },
      [](fft::FftPlan& p, std::size_t k) { p.kernels[k].with.tile[1] /= 2; },
  };
  const std::size_t kernels = plan.kernels.size();
  for (const Change& change : changes) {
    fft::FftPlan all = plan;
    for (std::size_t k = 0; k < kernels; ++k) {
      fft::FftPlan one = plan;
      change(one, k);
      take(one);
      change(all, k);
    }
    if (kernels > 1) take(all);
  }
}

class FftSpace {
 public:
  FftSpace(const Problem& problem, const DeviceTraits& traits) : problem_(problem), traits_(traits) {
    out_.space.axes = Coordinates::axes();
  }

  GpuFftSpace build(const fft::EnumerationLimits& limits) {
    if (gpu_fft_library_does(problem_, traits_)) add_family(GpuFftFamily::cufft, "cufft");
    add_family(GpuFftFamily::plain, "plain");
    const bool moved = problem_.fft_type != FftType::c2c && problem_.n[0] == 1;
    if (mode_count(problem_) > 1 && has_codelets(problem_) && !moved) add_notation(limits);
    if (!has_codelets(problem_))
      out_.counts.push_back({"groupings", "radix: every length is a product of radices up to 64", 1, 0});
    return std::move(out_);
  }

 private:
  void add_family(GpuFftFamily family, const char* name) {
    const Plan plan = plan_of(traits_, family);
    try {
      if (family == GpuFftFamily::plain) check_gpu_fft(problem_, plan, traits_);
    } catch (const Error&) {  // no kernel can do this problem
      return;
    }
    out_.space.candidates.push_back(
        {plan, coordinates_.of_name(name), gpu_fft_estimate(plan, problem_, traits_).execute});
  }

  void add_notation(const fft::EnumerationLimits& limits) {
    options_ = notation_options(problem_);
    options_.device = traits_;
    fft::FftCandidates found = fft::fft_candidates(request_of(problem_, options_), traits_, limits);
    out_.counts = std::move(found.counts);
    const std::size_t listed = found.list.size();
    for (fft::FftCandidate& candidate : found.list) candidate.plan = fft::facing(candidate.plan, problem_.order);
    tried_ = 0, added_ = 0;
    try {
      const fft::FftPlan plain = fft::fitted_plan(options_, traits_);
      take(plain);
      vary(plain, traits_, [this](const fft::FftPlan& plan) { take(plan); });
    } catch (const Error&) {  // it does not fit this device
    }
    for (std::size_t i = 0; i < listed; ++i) take(found.list[i].plan);
    if (const Plan untuned = gpu_fft_default_plan(problem_, traits_, nullptr);
        untuned.gpu().fft.family == GpuFftFamily::interleaved)
      take(untuned.gpu().fft.plan);
    for (std::size_t i = 0; i < std::min<std::size_t>(listed, static_cast<std::size_t>(limits.block_orders) / 2); ++i)
      vary(found.list[i].plan, traits_, [this](const fft::FftPlan& plan) { take(plan); });
    for (std::size_t i = 0; i < std::min(listed, tight_ones_); ++i) {  // the enumeration sets no register limit
      fft::FftPlan tight = found.list[i].plan;
      for (std::size_t k = 0; k < tight.kernels.size(); ++k)
        tight.kernels[k].with.registers = tighter_registers(tight, k, least_spare, traits_);
      take(tight);
    }
    out_.counts.push_back(
        {"programs", "kernels that differ, and are right for the arrays and the device", tried_, added_});
  }

  void take(const fft::FftPlan& asked) {
    const fft::FftPlan plan = for_arrays(asked, options_);
    const std::string text = fft::to_text(plan);
    ++tried_;
    if (!seen_.insert(text).second || !fits(plan)) return;
    Plan candidate = plan_of(traits_, GpuFftFamily::interleaved);
    candidate.gpu().fft.plan = plan;
    // Uses the parsed form (with defaults filled in), so that a stored text gives exactly this plan.
    candidate.gpu().fft.plan = fft::parse_notation(text);
    if (to_text(candidate, problem_).size() > most_text_) return;
    out_.space.candidates.push_back(
        {candidate, coordinates_.of(plan), gpu_fft_estimate(candidate, problem_, traits_).execute});
    ++added_;
  }

  bool fits(const fft::FftPlan& plan) const {
    for (const fft::Kernel& kernel : plan.kernels)
      for (const int carried : kernel.with.tile)
        if (carried < 1) return false;
    if (plan.kernels.size() > Coordinates::most_kernels || !fft::check(plan, problem_).empty() ||
        !fft::check_device(plan, traits_).empty())
      return false;
    return why_not_both_ways(plan, options_).empty();
  }

  static constexpr std::size_t tight_ones_ = 200;
  static constexpr std::size_t most_text_ = 4000;  // per plan; the parser accepts 4096 characters
  const Problem& problem_;
  const DeviceTraits& traits_;
  fft::EmitOptions options_;
  Coordinates coordinates_;
  std::set<std::string> seen_;
  GpuFftSpace out_;
  double tried_ = 0, added_ = 0;
};

}  // namespace

int tighter_registers(const fft::FftPlan& plan, std::size_t kernel, int spare, const DeviceTraits& traits) {
  const fft::KernelParameters& with = plan.kernels[kernel].with;
  const int words = static_cast<int>(real_bytes(plan.precision) / 4), k = static_cast<int>(kernel);
  const int estimate = fft::registers_estimate(plan, k), held = fft::geometry(plan, k).elements_per_thread;
  const int blocks = traits.registers_per_multiprocessor / (with.threads * ((estimate + 7) / 8 * 8));
  const int registers = traits.registers_per_multiprocessor / (with.threads * (blocks + 1)) / 8 * 8;
  return registers < 2 * held * words + spare || registers > 248 ? 0 : registers;
}

fft::FftRequest request_of(const Problem& problem, const fft::EmitOptions& options) {
  fft::FftRequest request;
  request.lengths = options.n;
  request.precision = problem.precision;
  request.place = problem.place;
  request.batch = problem.batch;
  if (problem.order != SpectrumOrder::natural) request.order = fft::DigitOrder::primes;
  return request;
}

std::string why_not_both_ways(const fft::FftPlan& plan, fft::EmitOptions options) {
  std::string why = why_not_emitted(plan, options);
  const bool by_primes = options.from != options.order;
  if (!why.empty() || options.type != FftType::c2c || !(options.input || options.output || by_primes)) return why;
  std::swap(options.input, options.output);
  std::swap(options.from, options.order);
  return why_not_emitted(by_primes ? fft::mirrored(plan) : plan, options);
}

fft::FftPlan for_arrays(fft::FftPlan plan, const fft::EmitOptions& options) {
  const bool hold = options.type == FftType::c2c && !options.output && !options.input;  // also in the adjoint
  if (options.type == FftType::c2r)                                                     // c2r transforms x last
    std::stable_partition(plan.kernels.begin(), plan.kernels.end(), [](const fft::Kernel& kernel) {
      return std::none_of(kernel.subs.begin(), kernel.subs.end(),
                          [](const fft::SubFft& sub) { return sub.dim == fft::Dim::x; });
    });
  if (!hold) through_workspace(plan);
  return plan;
}

bool gpu_fft_library_does(const Problem& problem, const DeviceTraits& traits) {
  const bool usual = problem.fft_type == FftType::c2c || problem.sign == (problem.fft_type == FftType::r2c ? -1 : 1);
  return has_gpu_fft_library(traits.backend) && problem.dim <= 3 && usual && problem.order == SpectrumOrder::natural;
}

GpuFftSpace gpu_fft_candidates(const Problem& problem, const DeviceTraits& traits,
                               const fft::EnumerationLimits& limits) {
  return FftSpace(problem, traits).build(limits);
}

Plan gpu_fft_adapt(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  Plan out = plan;
  out.backend = traits.backend;
  GpuFftChoice& chosen = out.gpu().fft;
  fft::EmitOptions options;
  if (chosen.family == GpuFftFamily::interleaved) {
    options = notation_options(problem);
    options.device = traits;
    chosen.plan.place = problem.place;
    chosen.plan = fft::facing(chosen.plan, problem.order);
    chosen.plan = for_arrays(chosen.plan, options);
    if (problem.input_layout || problem.output_layout) load_without_bulk_copies(chosen.plan.kernels.front());
    if (!fft::check(chosen.plan, problem).empty()) through_workspace(chosen.plan);  // needed in place
    if (const auto wrong = fft::check(chosen.plan, problem); !wrong.empty())
      throw Error(Status::invalid_plan, "fft: " + wrong.front().message);
    if (const auto wrong = fft::check_device(chosen.plan, traits); !wrong.empty())
      throw Error(Status::invalid_plan, "fft: " + wrong.front().message);
  }
  check_gpu_fft(problem, out, traits);
  if (chosen.family == GpuFftFamily::interleaved)
    if (const std::string wrong = why_not_both_ways(chosen.plan, options); !wrong.empty())
      throw Error(Status::invalid_plan, "fft: the adjoint: " + wrong);
  return parse_plan(to_text(out, problem), problem);
}

const Planner gpu_fft_planner{
    [](const Problem& problem, const DeviceTraits& traits) { return gpu_fft_candidates(problem, traits).space; },
    gpu_fft_default_plan, gpu_fft_adapt, gpu_fft_estimate, gpu_fft_floor_seconds};

}  // namespace fourtune::generator
