#include "tools/ranks/trial.h"

#include <algorithm>
#include <sstream>
#include <string>

#include "runtime/distributed/communicator.h"
#include "tools/common/stopwatch.h"

namespace fourtune::tools {
namespace {

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}
double slowest(double seconds, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

// The stages of rank 0 get the time of the slowest rank. Ranks without planes, say, have fewer stages.
void slowest_of_each(std::vector<StageTime>& stages, MPI_Comm comm) {
  std::string names;
  for (const StageTime& stage : stages) names += stage.stage + '\n';
  auto length = static_cast<int>(names.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, comm);
  names.resize(static_cast<std::size_t>(length));
  MPI_Bcast(names.data(), length, MPI_CHAR, 0, comm);
  std::istringstream lines(names);
  for (std::string name; std::getline(lines, name);) {
    const auto own = std::find_if(stages.begin(), stages.end(), [&](const auto& stage) { return stage.stage == name; });
    const double seconds = slowest(own != stages.end() ? own->seconds : 0, comm);
    if (own != stages.end()) own->seconds = seconds;
  }
}

class RankTrial {
 public:
  RankTrial(const CaseData& data, const RanksOptions& options, MPI_Comm comm)
      : data_(data), options_(options), comm_(comm), problem_(data.one.problem) {
    sources_ = share_of(options.deal, problem_.m.value_or(0), rank_of(comm), size_of(comm));
    targets_ = share_of(options.deal, problem_.k.value_or(0), rank_of(comm), size_of(comm));
  }

  void run(RanksOutcome& outcome) {
    Options chosen;
    chosen.default_databases = options_.default_databases;
    chosen.backend = options_.backend;
    chosen.device = options_.device;
    chosen.threads = options_.threads;
    chosen.plan = options_.plan;
    chosen.mode_order = data_.one.order;
    chosen.deterministic = data_.one.deterministic;
    chosen.trust_points = data_.one.trust;
    const Stopwatch create;
    DistributedTransform transform(to_token(problem_), MPI_Comm_c2f(comm_), chosen);
    outcome.create = slowest(create.seconds(), comm_);
    if (problem_.kind == Kind::nufft) {
      const Stopwatch set_points;
      set(transform);
      outcome.set_points = slowest(set_points.seconds(), comm_);
    }
    const std::array<RankBox, 2> boxes = boxes_of(transform, problem_, sources_, targets_);
    const RankBox &from = boxes[data_.reads_first ? 0 : 1], &to = boxes[data_.reads_first ? 1 : 0];
    Bytes input = cut(data_.input, from);
    Bytes output(static_cast<std::size_t>(to.part.count() * to.batch * to.element), kUnwritten);
    void *const first = data_.reads_first ? input.data() : output.data(), *const second = data_.reads_first
                                                                                              ? output.data()
                                                                                              : input.data();
    for (int i = 0; i <= options_.repeat; ++i) {
      MPI_Barrier(comm_);
      const Stopwatch execute;
      data_.one.adjoint ? transform.execute_adjoint(first, second) : transform.execute(first, second);
      const double seconds = slowest(execute.seconds(), comm_);
      if (i > 0) outcome.execute.push_back(seconds);
    }
    std::sort(outcome.execute.begin(), outcome.execute.end());
    outcome.stages = transform.stage_times();
    slowest_of_each(outcome.stages, comm_);
    outcome.plan = transform.plan();
    outcome.explain = transform.explain();
    outcome.problem = transform.problem();
    outcome.output = gather(output, to, comm_);
  }

 private:
  void set(DistributedTransform& transform) const {
    const std::int64_t real = real_bytes(problem_.precision);
    const auto at = [&](std::size_t which, const PointShare& share) -> const void* {
      const Bytes& all = data_.coordinates[which];
      return all.empty() ? nullptr : all.data() + share.begin * real;
    };
    Points points;
    points.m = sources_.count, points.k = targets_.count;
    points.x = at(0, sources_), points.y = at(1, sources_), points.z = at(2, sources_);
    points.s = at(3, targets_), points.t = at(4, targets_), points.u = at(5, targets_);
    transform.set_points(points);
  }

  const CaseData& data_;
  const RanksOptions& options_;
  MPI_Comm comm_;
  const Problem& problem_;
  PointShare sources_, targets_;
};

}  // namespace

std::string cannot_split(const SoakCase& one) {
  const Problem& p = one.problem;
  if (p.dim == 1) return "a problem of one dimension is not split";
  if (p.dim > 3) return "a problem of four dimensions is not split";
  if (one.only != Only::whole) return "only=: a transform over ranks is whole";
  if (one.distinct) return "distinct: the transforms of a batch over ranks share their points";
  if (p.order != SpectrumOrder::natural) return "parts of an fft are in natural order";
  if (p.place == Place::in || p.input_layout || p.output_layout) return "parts of an fft are dense and out of place";
  return {};
}

std::unique_ptr<CaseData> data_on_all_ranks(const SoakCase& one) {
  std::unique_ptr<CaseData> data;
  const runtime::distributed::Communicator ranks(MPI_Comm_c2f(MPI_COMM_WORLD));
  ranks.together([&] { data = std::make_unique<CaseData>(one); });
  return data;
}

RanksOutcome run_on_ranks(const CaseData& data, const RanksOptions& options, MPI_Comm comm) {
  RanksOutcome outcome;
  try {
    RankTrial(data, options, comm).run(outcome);
  } catch (const Error& error) {
    outcome.status = error.status();
    outcome.message = error.what();
  }
  return outcome;
}

}  // namespace fourtune::tools
