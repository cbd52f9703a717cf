#include "tools/ranks/rank_rounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <utility>

#include "runtime/slabs/split.h"
#include "tools/common/stopwatch.h"

namespace fourtune::tools {
namespace {

// Of the trial of a variant: the least of so many executes.
constexpr int kTrials = 3;

double lap(Stopwatch& watch) {
  const double seconds = watch.seconds();
  watch = Stopwatch();
  return seconds;
}

}  // namespace

RankRounds::RankRounds(const runtime::distributed::Communicator& ranks, MPI_Comm comm, const Problem& problem,
                       const runtime::Backend& backend, int device, std::uint64_t seed)
    : ranks_(ranks), comm_(comm), problem_(problem) {
  ranks_.together([&] {
    arrays_ = make_bench_arrays(problem, seed + static_cast<std::uint64_t>(ranks.rank()), backend, device);
    const auto bytes = static_cast<std::size_t>(mode_count(problem) * 2 * real_bytes(problem.precision));
    grid_.assign(bytes, 0);
    part_.assign(bytes, 0);
  });
  communicators_.assign(static_cast<std::size_t>(ranks_.size()) + 1, MPI_COMM_NULL);
}

RankRounds::~RankRounds() {
  for (MPI_Comm& one : communicators_)
    if (one != MPI_COMM_NULL) MPI_Comm_free(&one);
}

MPI_Comm RankRounds::first_ranks(int active) {
  MPI_Comm& one = communicators_[static_cast<std::size_t>(active)];
  const bool works = ranks_.rank() < active;
  int known = works && one == MPI_COMM_NULL ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &known, 1, MPI_INT, MPI_MIN, comm_);
  if (known == 0)
    runtime::distributed::check(MPI_Comm_split(comm_, works ? 0 : MPI_UNDEFINED, ranks_.rank(), &one),
                                "MPI_Comm_split");
  return one;
}

RankRounds::Tried RankRounds::run_once(const Variant& variant, bool timed) {
  Tried tried;
  const auto contender = variant.make(problem_);
  contender->set_points(arrays_->points());
  arrays_->prepare();
  contender->execute(arrays_->first(0), arrays_->second(0));
  arrays_->wait();
  tried.error = arrays_->error([&](void* output) { contender->restore_order(output); });
  tried.plan = contender->plan().empty() ? variant.name : contender->plan();
  tried.seconds = HUGE_VAL;
  for (int i = 0; timed && i < kTrials; ++i) {
    const Stopwatch watch;
    contender->execute(arrays_->first(0), arrays_->second(0));
    arrays_->wait();
    tried.seconds = std::min(tried.seconds, watch.seconds());
  }
  return tried;
}

// On rank 0: the number of the fastest variant with a right result, else of the most accurate one; -1: none runs.
int RankRounds::fastest_variant(const Entrant& entrant, std::string& failure) {
  const bool timed = entrant.variants.size() > 1;
  int best = -1;
  Tried least;
  for (std::size_t i = 0; i < entrant.variants.size(); ++i) try {
      const Tried now = run_once(entrant.variants[i], timed);
      const auto right = [&](const Tried& one) { return one.error <= allowed_error(problem_); };
      const bool better = right(now) != right(least) ? right(now)
                          : right(now)               ? now.seconds < least.seconds
                                                     : now.error < least.error;
      if (best >= 0 && !better) continue;
      best = static_cast<int>(i);
      least = now;
    } catch (const std::exception& error) {
      failure = error.what();
    }
  return best;
}

Admitted RankRounds::admit(const Entrant& entrant) {
  Admitted admitted{entrant.name, entrant.role, {}, {}, 0, false, {}};
  int best = ranks_.rank() == 0 ? fastest_variant(entrant, admitted.failure) : 0;
  MPI_Bcast(&best, 1, MPI_INT, 0, comm_);
  ranks_.take_first(admitted.failure);
  if (best < 0) return admitted;
  admitted.failure.clear();
  admitted.variant = entrant.variants[static_cast<std::size_t>(best)];
  try {
    ranks_.together([&] {
      const Tried tried = run_once(admitted.variant, false);
      admitted.error = tried.error;
      admitted.plan = tried.plan;
    });
  } catch (const std::exception& error) {
    admitted.failure = error.what();
    return admitted;
  }
  // A NaN is never right.
  const double worst = ranks_.largest(std::isnan(admitted.error) ? HUGE_VAL : admitted.error);
  admitted.error = worst;
  admitted.right = worst <= allowed_error(problem_);
  return admitted;
}

void RankRounds::work(const Variant& variant, RoundTimes& times) {
  const Stopwatch whole;
  Stopwatch watch;
  const auto contender = variant.make(problem_);
  arrays_->wait();
  times.create = lap(watch);
  arrays_->upload();
  arrays_->wait();
  times.upload = lap(watch);
  contender->set_points(arrays_->points());
  arrays_->wait();
  times.set_points = lap(watch);
  contender->execute(arrays_->first(0), arrays_->second(0));
  arrays_->wait();
  times.execute = lap(watch);
  arrays_->download();
  arrays_->wait();
  times.download = lap(watch);
  times.work = whole.seconds();
  arrays_->upload();
  contender->set_points(arrays_->points());
  contender->execute(arrays_->first(0), arrays_->second(0));
  arrays_->download();
  arrays_->wait();
  times.again = whole.seconds() - times.work;
}

double RankRounds::exchange(MPI_Comm among) {
  using runtime::distributed::check;
  int rank = 0, size = 1;
  MPI_Comm_rank(among, &rank);
  MPI_Comm_size(among, &size);
  if (size == 1) return 0;
  const int real = real_bytes(problem_.precision);
  MPI_Datatype const type = real == 4 ? MPI_FLOAT : MPI_DOUBLE;
  const auto all = static_cast<std::int64_t>(grid_.size()) / real;
  const auto parts = runtime::Split::even(all, size);
  std::vector<int> counts, starts;
  for (int r = 0; r < size; ++r) {
    starts.push_back(static_cast<int>(parts.begin(r)));
    counts.push_back(static_cast<int>(parts.size(r)));
  }
  const auto me = static_cast<std::size_t>(rank);
  MPI_Barrier(among);
  const Stopwatch watch;
  if (problem_.type == 1)
    check(MPI_Reduce_scatter(grid_.data(), part_.data(), counts.data(), type, MPI_SUM, among), "MPI_Reduce_scatter");
  else
    check(MPI_Allgatherv(part_.data(), counts[me], type, grid_.data(), counts.data(), starts.data(), type, among),
          "MPI_Allgatherv");
  return watch.seconds();
}

RoundTimes RankRounds::round(const Admitted& one, int active) {
  MPI_Comm among = first_ranks(active);
  const bool works = among != MPI_COMM_NULL;
  RoundTimes own;
  MPI_Barrier(comm_);
  ranks_.together([&] {
    if (works) work(one.variant, own);
  });
  if (works) own.exchange = exchange(among);
  std::array<double, 8> all{own.create,   own.upload, own.set_points, own.execute,
                            own.download, own.work,   own.again,      own.exchange};
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_MAX, comm_);
  return {all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7]};
}

}  // namespace fourtune::tools
