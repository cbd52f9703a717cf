#include "tuner/session/planning.h"

#include <algorithm>

#include "db/lookup.h"
#include "generator/plan/accuracy.h"
#include "generator/planner/gpu_fft/planner.h"
#include "runtime/backends/families.h"
#include "runtime/environment.h"
#include "runtime/plan_sources.h"
#include "runtime/resolve.h"
#include "tuner/session/session.h"

namespace fourtune::tuner {
namespace {

class OneProcess final : public Planning {
 public:
  OneProcess(const SessionOptions& options, const DeviceTraits& device)
      : options_(options), traits_(device), environment_(runtime::environment_here(device)) {
    if (options.threads > 0) traits_.cores = std::min(traits_.cores, options.threads);
  }

  db::Environment environment() const override { return environment_; }

  ListedPlans list(const Problem& problem) const override {
    const auto space = std::make_shared<generator::Space>(
        options_.list_candidates ? options_.list_candidates(problem, traits_)
                                 : runtime::runnable(generator::candidates(problem, traits_)));
    ListedPlans listed;
    listed.axes = space->axes;
    listed.space = search_space(*space);
    for (const generator::Candidate& candidate : space->candidates)
      listed.texts.push_back(generator::to_text(candidate.plan, problem));
    listed.floor_seconds = [this, space, problem](std::size_t candidate) {
      return floor_seconds(space->candidates[candidate].plan, problem);
    };
    return listed;
  }

  std::string untuned(const Problem& problem) const override {
    return generator::to_text(untuned_plan(problem), problem);
  }

  std::string library(const Problem& problem) const override {
    const bool gpu = generator::is_gpu(traits_.backend);
    if (problem.kind != Kind::fft || !(gpu ? generator::gpu_fft_library_does(problem, traits_) : runtime::has_fftw()))
      return {};
    generator::Plan plan = generator::plan_for(traits_.backend);
    if (gpu) {
      plan.gpu().fft.family = generator::GpuFftFamily::cufft;
    } else {
      plan.cpu().threads = std::max(1, traits_.cores);
      plan.cpu().fft = {generator::FftFamily::fftw, generator::Rigor::measure, generator::FftChoice{}.block};
    }
    return generator::to_text(plan, problem);
  }

  std::string served(const Problem& problem, const std::filesystem::path& database) const override {
    const db::Lookup lookup = runtime::lookup_beside(database);
    const runtime::Resolution found = runtime::resolve(problem, traits_, &lookup, "");
    return found.source == runtime::Source::model ? std::string() : generator::to_text(found.plan, problem);
  }

  std::string fault(const std::string& plan, const Problem& problem) const override {
    try {
      return generator::accuracy_fault(generator::parse_plan(plan, problem), problem);
    } catch (const Error& error) {
      return error.what();
    }
  }

  generator::Cost expected(const Problem& problem) const override {
    return generator::estimate(untuned_plan(problem), problem, traits_);
  }

 private:
  generator::Plan untuned_plan(const Problem& problem) const {
    return options_.untuned_plan ? options_.untuned_plan(problem, traits_) : generator::default_plan(problem, traits_);
  }
  double floor_seconds(const generator::Plan& plan, const Problem& problem) const {
    return options_.floor_seconds ? options_.floor_seconds(plan, problem, traits_)
                                  : generator::floor_seconds(plan, problem, traits_);
  }

  const SessionOptions& options_;
  DeviceTraits traits_;
  db::Environment environment_;
};

}  // namespace

std::shared_ptr<const Planning> planning_of_one_process(const SessionOptions& options, const DeviceTraits& device) {
  return std::make_shared<const OneProcess>(options, device);
}

}  // namespace fourtune::tuner
