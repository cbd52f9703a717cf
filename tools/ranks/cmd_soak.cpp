#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "runtime/distributed/rank_plan.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/numbers.h"
#include "tools/common/problem_draw.h"
#include "tools/common/stopwatch.h"
#include "tools/ranks/commands.h"
#include "tools/ranks/trial.h"

namespace fourtune::tools {
namespace {

struct SoakArguments {
  std::string backend;
  std::int64_t count = 20;
  double seconds = 0, megabytes = 2;
  std::uint64_t seed = 1;
};

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// Draws cases on every rank alike, and tries each with one of the plans.
class RanksHunt {
 public:
  explicit RanksHunt(const SoakArguments& arguments)
      : arguments_(arguments),
        random_(arguments.seed),
        ffts_(Kind::fft, arguments.seed, arguments.megabytes),
        nuffts_(Kind::nufft, arguments.seed, arguments.megabytes) {
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    const runtime::MemoryKind arrays = capabilities_of(arguments.backend).arrays;
    device_ = arrays != runtime::MemoryKind::host;
    in_process_ = arrays == runtime::MemoryKind::aligned;
  }

  void run() {
    const Stopwatch clock;
    while (tried_ < arguments_.count && !late(clock)) {
      const SoakCase one = draw();
      if (!cannot_split(one).empty()) continue;
      ++tried_;
      try_one(one);
    }
    if (rank_of_world() == 0)
      fmt::print("soak: {} problems on {} ranks, {} refused, {} failures, seed {}\n", tried_, ranks_, refused_,
                 failures_, arguments_.seed);
    if (failures_ > 0)
      throw Failure(fmt::format("{} of {} runs failed", failures_, tried_),
                    "every line above ends with a command that repeats it");
  }

 private:
  bool late(const Stopwatch& clock) const {
    int stop = arguments_.seconds > 0 && clock.seconds() > arguments_.seconds ? 1 : 0;
    MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return stop != 0;
  }

  SoakCase draw() {
    const bool fft = random_.below(3) == 0;
    SoakCase one = draw_case(fft ? ffts_.next() : nuffts_.next(), random_, arguments_.megabytes);
    one.only = Only::whole;
    one.distinct = false;
    if (one.problem.kind == Kind::fft) {
      one.problem.place = Place::out;
      one.problem.order = SpectrumOrder::natural;
      one.problem.input_layout = one.problem.output_layout = std::nullopt;
    }
    one.threads = 1 + static_cast<int>(random_.below(2));
    return one;
  }

  std::string draw_plan(const SoakCase& one) {
    const bool fft = one.problem.kind == Kind::fft;
    const bool third = !fft && one.problem.type == 3;
    if (random_.below(4) == 0) return {};
    if (!fft && !one.deterministic && random_.below(4) == 0) return "ranks=replicated";
    const bool pencils = one.problem.dim == 3 && !third && (fft || !device_) && random_.below(2) == 0;
    std::vector<std::string> arguments;
    if (pencils && random_.below(4) > 0) {
      const auto grids = runtime::distributed::grids_of(ranks_);
      const auto& grid = grids[random_.below(grids.size())];
      arguments.push_back("grid=" + runtime::distributed::to_string(grid));
    }
    if (!fft && random_.below(2) == 0)
      arguments.emplace_back(random_.below(2) == 0 ? "balance=planes" : "balance=points");
    if (random_.below(3) > 0) {
      constexpr std::array kCuts{"planes", "columns", "batch"};
      arguments.push_back(fmt::format("chunks={},cut={}", 1 + random_.below(9), kCuts[random_.below(3)]));
    }
    // What else there is, NCCL or memory that ranks share, is taken where nothing is said.
    if (!device_ && !pencils && random_.below(3) == 0) arguments.emplace_back("exchange=host");
    if (device_ && random_.below(4) > 0) {
      const char* const copied = in_process_ && random_.below(2) == 0 ? "exchange=mpi" : "exchange=host";
      const bool kernels = random_.below(2) == 0 && one.problem.dim == 3 && !pencils && !third;
      const bool kept = kernels && !fft && random_.below(2) == 0;
      const char* const peers = kept                     ? "exchange=kernels,kept=grid"
                                : kernels && ranks_ <= 3 ? "exchange=kernels"
                                                         : "exchange=peer";
      const bool may_have_parts = !fft && !third && !pencils && !one.deterministic;
      const std::uint64_t parts = may_have_parts && random_.below(2) == 0 ? 1 + random_.below(4) : 1;
      if (ranks_ == 1 || random_.below(3) == 0)
        arguments.emplace_back(copied);
      else
        arguments.emplace_back(peers + std::string(parts > 1 ? fmt::format(",parts={}", parts) : ""));
      // In one chunk, and of some lengths, which soak counts as refused where they are others.
      if (arguments.back().starts_with("exchange=kernels"))
        std::erase_if(arguments, [](const std::string& word) { return word.starts_with("chunks="); });
    }
    const char* const name = pencils ? "ranks=pencils" : "ranks=slabs";
    return arguments.empty() ? name : fmt::format("{}({})", name, fmt::join(arguments, ","));
  }

  void try_one(const SoakCase& one) {
    const std::unique_ptr<const CaseData> made = data_on_all_ranks(one);
    const CaseData& data = *made;
    RanksOptions options;
    options.plan = draw_plan(one);
    options.backend = arguments_.backend;
    options.threads = one.threads;
    options.deal = std::array{Deal::even, Deal::halves, Deal::last}[random_.below(3)];
    options.default_databases = false;
    const RanksOutcome outcome = run_on_ranks(data, options, MPI_COMM_WORLD);
    std::string failed;
    if (outcome.status == Status::invalid_plan && (!options.plan.empty() || one.deterministic)) {
      ++refused_;  // slabs of a grid that is thinner than a window
      return;
    }
    if (outcome.status != Status::success) {
      failed = fmt::format("status {}: {}", status_name(outcome.status), outcome.message);
    } else if (rank_of_world() == 0) {
      const double error = result_error(data, {}, outcome.output);
      if (!(error <= allowed_error(one.problem)))
        failed = fmt::format("wrong: error {:.2e}, up to {:.1e} is right", error, allowed_error(one.problem));
      if (failed.empty() && one.deterministic) {
        RanksOptions one_rank = options;  // bits depend neither on the grid nor on chunks and exchanges
        const bool pencils = options.plan.starts_with("ranks=pencils");
        if (!options.plan.empty()) one_rank.plan = pencils && device_ ? "ranks=pencils" : "ranks=slabs";
        const RanksOutcome alone = run_on_ranks(data, one_rank, MPI_COMM_SELF);
        if (alone.status != Status::success || !same_bits(data.to, alone.output, outcome.output))
          failed = "bits: one rank has other ones " + alone.message;
      }
    }
    report(one, options, failed);
  }

  void report(const SoakCase& one, const RanksOptions& options, const std::string& failed) {
    int bad = failed.empty() ? 0 : 1;
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    failures_ += bad;
    if (bad == 0 || rank_of_world() != 0) return;
    fmt::print("FAILED #{} seed {}: {}; repeat: mpirun -n {} fourtune-ranks run{}{} '{}'\n", tried_, arguments_.seed,
               failed, ranks_, options.plan.empty() ? "" : fmt::format(" --plan '{}'", options.plan),
               options.backend.empty() ? "" : " --backend " + options.backend, to_text(one));
  }

  const SoakArguments& arguments_;
  tuner::Random random_;
  ProblemDraw ffts_, nuffts_;
  int ranks_ = 1;
  bool device_ = false;      // a backend that takes no host arrays
  bool in_process_ = false;  // but arrays in the memory of the process, so that MPI can take them
  std::int64_t tried_ = 0, refused_ = 0, failures_ = 0;
};

void run(const SoakArguments& arguments) {
  if (arguments.megabytes < kLeastMegabytes)
    throw UsageError(fmt::format("--megabytes {}: no problem is that small", arguments.megabytes),
                     fmt::format("{} is the least", kLeastMegabytes));
  command_backends();  // the emulated one too
  RanksHunt(arguments).run();
}

}  // namespace

void add_ranks_soak(CLI::App& app) {
  auto arguments = std::make_shared<SoakArguments>();
  CLI::App* command =
      app.add_subcommand("soak", "Try problems drawn at random on all ranks, and report those that go wrong");
  command->add_option("--count", arguments->count, "Problems to draw")
      ->check(between(std::int64_t{1}, std::int64_t{1000000000}))
      ->capture_default_str();
  command->add_option("--seconds", arguments->seconds, "Time for all; 0: until --count")->transform(duration(0, 1e7));
  command->add_option("--seed", arguments->seed, "Seed of everything that is drawn")->capture_default_str();
  command->add_option("--megabytes", arguments->megabytes, "Largest arrays of one problem")->capture_default_str();
  command->add_option("--backend", arguments->backend, "cpu, cuda, emulated")->type_name("NAME");
  command->footer("Example:\n  mpirun -n 4 fourtune-ranks soak --count 100 --seed 7");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace fourtune::tools
