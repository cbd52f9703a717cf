// The public transform over ranks: takes a problem and options, and holds a plan and its executor on every rank.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "fourtune/distributed.h"
#include "runtime/arguments.h"
#include "runtime/backend_table.h"
#include "runtime/distributed/choose_plan.h"
#include "runtime/distributed/communicator.h"
#include "runtime/distributed/exchange.h"
#include "runtime/distributed/nccl.h"
#include "runtime/distributed/parts.h"
#include "runtime/distributed/rank_executor.h"

namespace fourtune {
namespace {

using runtime::distributed::Call;

void check_problem(const Problem& problem) {
  if (problem.dim != 2 && problem.dim != 3)
    throw Error(Status::unsupported, fmt::format("a problem of {} is not split over ranks; 2 or 3 dimensions are",
                                                 problem.dim == 1 ? "one dimension" : "four dimensions"));
  if (problem.kind != Kind::fft) return;
  if (problem.place == Place::in)
    throw Error(Status::unsupported,
                "place=in: the parts of input and output differ, so an fft over ranks is place=out");
  if (problem.input_layout || problem.output_layout)
    throw Error(Status::unsupported, "layout and order: the parts of a distributed array are dense, x fastest");
  if (problem.order != SpectrumOrder::natural)
    throw Error(Status::unsupported, "order: the parts of a distributed array have their frequencies in natural order");
}

void check_options(const Options& options) {
  const auto bad = [](const std::string& message) { throw Error(Status::invalid_option, message); };
  if (options.threads < 0) bad(fmt::format("threads={} is negative", options.threads));
  if (options.stream != nullptr) bad("stream: a transform over ranks waits for its work; pass none");
  if (!options.devices.empty()) bad("devices: each rank works on one device; start more ranks");
  if (options.only != Only::whole) bad("only: a transform over ranks is whole");
  if (options.distinct_points) bad("distinct_points: the transforms of a batch over ranks share their points");
  if (options.exact_points) bad("exact_points: points over ranks keep the digits that the tolerance deserves");
}

// What has to be the same on every rank, as a text.
std::string agreed(std::string_view problem, const Options& options) {
  return fmt::format("{};plan={};deterministic={};mode_order={};clamp_tolerance={};trust_points={}", problem,
                     options.plan, options.deterministic, options.mode_order == ModeOrder::fft ? "fft" : "centred",
                     options.clamp_tolerance, options.trust_points);
}

}  // namespace

struct DistributedTransform::State {
  State(std::string_view token, int communicator, const Options& given) : options(given), ranks(communicator) {
    ranks.require_same(agreed(token, options), "the problem with its options");
    ranks.together([&] {
      asked = runtime::reachable(parse_typed_problem(token), options.clamp_tolerance);
      problem = asked;
      check_problem(problem);
      check_options(options);
      const runtime::Backend& backend = runtime::find_backend(options.backend);
      if (options.device < 0) options.device = ranks.rank_on_machine() % std::max(1, backend.device_count());
      traits = backend.traits(options.device);
      const int share = std::max(1, traits.cores / ranks.sharing());
      if (!generator::is_gpu(traits.backend)) {
        traits.cores = options.threads > 0 ? std::min(options.threads, traits.cores) : share;
      } else {
        streams = backend.streams(options.device);
      }
    });
    if (problem.kind == Kind::fft) ranks.require_same(traits.backend, "the backend of an fft");
    const std::int64_t gpus = ranks.sum(streams ? 1 : 0);
    on_gpus = gpus == ranks.size();
    device_memory =
        on_gpus && runtime::find_backend(options.backend).capabilities().arrays == runtime::MemoryKind::device;
    if (on_gpus)
      means = runtime::distributed::find_means(ranks, runtime::find_backend(options.backend), options.device, *streams);
    else if (gpus == 0)
      means = runtime::distributed::find_host_means(ranks);
    means.mixed = gpus > 0 && !on_gpus;
    if (problem.kind == Kind::fft) bind();
  }

  ~State() {
    if (ranks.over()) return;
    try {
      end_executor();
    } catch (...) {  // MPI is of no use any more
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Options options;
  runtime::distributed::Communicator ranks;  // ends last
  Problem asked, problem;
  DeviceTraits traits;
  std::unique_ptr<runtime::DeviceStreams> streams;  // of ranks with GPUs
  runtime::distributed::ExchangeMeans means;
  std::unique_ptr<runtime::distributed::NcclRanks> nccl;
  runtime::distributed::ChosenPlan chosen;
  bool on_gpus = false;                      // all ranks have one
  bool device_memory = false;                // which has separate memory
  std::optional<std::int64_t> device_bytes;  // that all ranks' GPUs have for points and grids, before they have any
  std::string plan_text;
  std::string planned;  // the problem that the plan was chosen for; empty where a rank has no executor
  std::unique_ptr<runtime::distributed::RankExecutor> executor;
  bool points_set = false;
  bool no_points = false, no_targets = false;  // on this rank

  void end_executor() {
    if (executor) executor->let_go();
    executor.reset();
  }

  // Choosing a plan takes milliseconds; other points of the same number keep theirs.
  void bind() {
    namespace distributed = runtime::distributed;
    const std::string token = to_token(problem);
    if (token == planned) return;
    planned.clear();
    if (!device_bytes)
      device_bytes =
          on_gpus && problem.kind == Kind::nufft
              ? distributed::least_device_bytes(ranks, runtime::find_backend(options.backend), options.device, *streams)
              : 0;
    chosen = distributed::choose_plan(ranks, means, *device_bytes, problem, traits, options);
    const std::string text = distributed::to_text(chosen.plan, problem);
    if (text != plan_text) {
      end_executor();
      plan_text.clear();
      make_executor();
      plan_text = text;
    }
    planned = token;
  }

  void make_executor() {
    namespace distributed = runtime::distributed;
    const distributed::RankOptions own{options.deterministic, options.trust_points, options.mode_order,
                                       traits.l3_bytes};
    const bool on_gpu = computes_on_gpus();
    const bool by_nccl = on_gpus && chosen.plan.exchange == distributed::RankExchange::nccl;
    if (by_nccl && !nccl) nccl = std::make_unique<distributed::NcclRanks>(ranks, *streams);
    ranks.together([&] {
      const distributed::RankDevice device{on_gpus ? &runtime::find_backend(options.backend) : nullptr, options.device,
                                           streams.get(), nccl.get()};
      if (on_gpu) {
        const auto make = problem.kind == Kind::fft ? distributed::make_gpu_fft
                          : problem.type == 3       ? distributed::make_gpu_type3
                                                    : distributed::make_gpu_nufft_slabs;
        executor = make(ranks, problem, chosen.plan, own, device);
      } else if (problem.kind == Kind::fft) {
        executor = distributed::make_host_fft(ranks, problem, chosen.plan, own);
      } else if (chosen.plan.decomposition != distributed::Decomposition::replicated) {
        executor = problem.type == 3 ? distributed::make_host_type3(ranks, problem, chosen.plan, own)
                                     : distributed::make_host_nufft(ranks, problem, chosen.plan, own);
      } else {
        Options local = options;
        local.plan = chosen.plan.replicated;
        if (!generator::is_gpu(traits.backend)) local.threads = traits.cores;
        executor = by_nccl ? distributed::make_gpu_replicated(ranks, problem, local, device)
                           : distributed::make_replicated(ranks, problem, local);
      }
    });
  }

  void count_points(const Points& points) {
    const std::vector<std::int64_t> counts = ranks.sum(std::vector<std::int64_t>{points.m, points.k});
    const auto check = [&](const char* key, const std::optional<std::int64_t>& promised, std::int64_t given) {
      if (promised && *promised != given)
        throw Error(Status::contradiction, fmt::format("set_points: {} points are given on all ranks together, but the "
                                                       "problem says {}={}",
                                                       given, key, *promised));
    };
    ranks.together([&] {
      check("m", asked.m, counts[0]);
      if (asked.type == 3) check("k", asked.k, counts[1]);
      Problem now = asked;
      now.m = counts[0];
      if (now.type == 3) now.k = counts[1];
      validate(now);
      problem = now;
    });
  }

  // By slabs or pencils.
  bool computes_on_gpus() const {
    return chosen.plan.decomposition != runtime::distributed::Decomposition::replicated &&
           generator::is_gpu(chosen.plan.local.backend);
  }

  // Replicated plans exchange points and their transforms by the host but where NCCL does it.
  void refuse_device_arrays(const char* call, std::initializer_list<const void*> arrays) const {
    if (computes_on_gpus() || chosen.plan.exchange == runtime::distributed::RankExchange::nccl) return;
    for (const void* array : arrays)
      if (device_memory && array != nullptr && streams->reaches(array))
        throw Error(
            Status::invalid_argument,
            fmt::format("{}: an array is in a GPU's memory; replicated transforms over ranks take host arrays unless "
                        "their exchange is nccl",
                        call));
  }

  void run(void* first, void* second, bool adjoint) {
    const auto check = [&] {
      if (problem.kind == Kind::nufft && !points_set)
        throw Error(Status::points_not_set, "execute: call set_points first");
      const bool none = problem.kind == Kind::nufft ? no_points : part(0).count() == 0;
      const bool none_after = problem.type == 3 && problem.kind == Kind::nufft ? no_targets : part(1).count() == 0;
      if ((!first && !none) || (!second && !none_after))
        throw Error(Status::invalid_argument,
                    fmt::format("execute: {} is null", !first && !none ? "point_values" : "mode_values"));
      if (problem.kind == Kind::nufft) refuse_device_arrays("execute", {first, second});
      runtime::check_alignment(first, problem.precision, "execute: point_values");
      runtime::check_alignment(second, problem.precision, "execute: mode_values");
      if (first != nullptr && first == second && !(none && none_after))
        throw Error(Status::invalid_argument, "execute: point_values and mode_values are the same array");
    };
    ranks.together(check, adjoint ? Call::execute_adjoint : Call::execute);
    executor->execute(first, second, adjoint);
  }

  // Which: 0 for the first array, 1 for the second.
  Part part(int which) const {
    // An fft has its plan from the beginning; the modes of types 1 and 2 do not depend on theirs.
    const auto grid = problem.kind == Kind::fft ? chosen.plan.grid : runtime::distributed::RankGrid{1, ranks.size()};
    return runtime::distributed::part_of(problem, grid, ranks.rank(), which);
  }
};

DistributedTransform::DistributedTransform(std::string_view problem, int communicator, const Options& options) try
    : state_(std::make_unique<State>(problem, communicator, options)) {
} catch (...) {
  runtime::rethrow_named();
}
DistributedTransform::~DistributedTransform() = default;
DistributedTransform::DistributedTransform(DistributedTransform&&) noexcept = default;
DistributedTransform& DistributedTransform::operator=(DistributedTransform&&) noexcept = default;

void DistributedTransform::set_points(const Points& points) try {
  State& state = *state_;
  state.points_set = false;
  state.ranks.together([&] { runtime::check_points(state.problem, points); }, Call::set_points);
  state.count_points(points);
  state.bind();
  state.ranks.together([&] {
    state.refuse_device_arrays("set_points", {points.x, points.y, points.z, points.s, points.t, points.u});
  });
  state.executor->set_points(points);
  state.no_points = points.m == 0;
  state.no_targets = points.k == 0;
  state.points_set = true;
} catch (...) {
  runtime::rethrow_named();
}

void DistributedTransform::execute(void* point_values, void* mode_values) {
  state_->run(point_values, mode_values, false);
}
void DistributedTransform::execute_adjoint(void* point_values, void* mode_values) {
  state_->run(point_values, mode_values, true);
}

Part DistributedTransform::modes() const {
  if (state_->problem.kind != Kind::nufft || state_->problem.type == 3)
    throw Error(Status::invalid_argument, "modes: only types 1 and 2 have modes");
  return state_->part(1);
}
Part DistributedTransform::first_part() const {
  if (state_->problem.kind != Kind::fft) throw Error(Status::invalid_argument, "first_part: not an fft; see modes");
  return state_->part(0);
}
Part DistributedTransform::second_part() const {
  if (state_->problem.kind != Kind::fft) throw Error(Status::invalid_argument, "second_part: not an fft; see modes");
  return state_->part(1);
}

int DistributedTransform::rank() const noexcept { return state_->ranks.rank(); }
int DistributedTransform::ranks() const noexcept { return state_->ranks.size(); }
const Problem& DistributedTransform::problem() const noexcept { return state_->problem; }
MemoryUse DistributedTransform::memory() const { return state_->executor ? state_->executor->memory() : MemoryUse{}; }
const std::string& DistributedTransform::plan() const noexcept { return state_->plan_text; }
const std::string& DistributedTransform::explain() const noexcept { return state_->chosen.explain; }

std::vector<StageTime> DistributedTransform::stage_times() const {
  if (!state_->executor) return {};
  const auto times = state_->executor->stage_times();
  return {times.begin(), times.end()};
}

}  // namespace fourtune
