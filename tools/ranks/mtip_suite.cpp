#include "tools/ranks/mtip_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "runtime/distributed/communicator.h"
#include "tools/bench/measure/contender.h"
#include "tools/bench/peers/peers.h"
#include "tools/bench/suites/cufinufft.h"
#include "tools/common/gpu_backends.h"
#include "tuner/report/report.h"

namespace fourtune::tools::mtip {
namespace {

// Where this rank computes, and what it compares.
struct Seat {
  const runtime::Backend* backend = nullptr;
  int device = 0, threads = 1;
  std::shared_ptr<void> current;
  std::vector<Peer> peers;
};

Seat take_seat(const Options& options, const runtime::distributed::Communicator& world) {
  Seat seat;
  world.together([&] {
    seat.backend = &bench_backend(options.backend);
    // Round robin, as in the paper.
    seat.device = world.rank_on_machine() % std::max(1, seat.backend->device_count());
    seat.current = seat.backend->make_current(seat.device);
    const int cores = seat.backend->traits(seat.device).cores;
    seat.threads = options.threads > 0 ? options.threads : std::max(1, cores / world.sharing());
    seat.peers = load_peers(options.peers, *seat.backend, seat.device);
  });
  return seat;
}

std::vector<Entrant> entrants_of(const Problem& problem, const Options& options, const Seat& seat) {
  OursOptions ours{std::string(seat.backend->name()), seat.threads, {}, {}, seat.device};
  std::vector<Entrant> list{our_entrant("untuned", Role::untuned, ours)};
  ours.db = options.db;
  if (!options.db.empty() && has_verdict(problem, ours)) list.push_back(our_entrant("tuned", Role::tuned, ours));
  for (const Peer& peer : seat.peers)
    if (peer.library->does(problem.kind)) list.push_back(peer_entrant(peer, problem, seat.threads));
  return list;
}

void say(const runtime::distributed::Communicator& world, const std::string& text) {
  if (world.rank() != 0) return;
  fmt::print("{}", text);
  std::fflush(stdout);
}

Task measure_task(const char* name, const Problem& problem, const Options& options, const Seat& seat,
                  const runtime::distributed::Communicator& world) {
  Task task{name, problem, 0, {}};
  RankRounds rounds(world, MPI_COMM_WORLD, problem, *seat.backend, seat.device, options.seed);
  task.exchanged = rounds.exchanged_bytes();
  for (const Entrant& entrant : entrants_of(problem, options, seat)) {
    task.versions.push_back({rounds.admit(entrant), {}});
    const Admitted& one = task.versions.back().admitted;
    say(world, one.failure.empty() ? fmt::format("{}: {} is {}, error {:.1e}: {}\n", name, one.name,
                                                 one.right ? "right" : "WRONG", one.error, one.plan)
                                   : fmt::format("{}: {} does not run: {}\n", name, one.name, one.failure));
  }
  for (int ranks = 1; ranks <= world.size(); ++ranks) {
    for (Version& version : task.versions)
      if (version.admitted.failure.empty()) version.by_ranks.push_back({ranks, {}});
    // Versions take turns. The first turn of each number of ranks warms up and does not count.
    for (int turn = 0; turn <= options.rounds; ++turn)
      for (Version& version : task.versions) {
        if (!version.admitted.failure.empty()) continue;
        const RoundTimes times = rounds.round(version.admitted, ranks);
        if (turn > 0) version.by_ranks.back().rounds.push_back(times);
      }
  }
  return task;
}

}  // namespace

RoundTimes Measured::median() const {
  const auto of = [&](double RoundTimes::*field) {
    std::vector<double> values;
    for (const RoundTimes& round : rounds) values.push_back(round.*field);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return values.empty() ? 0 : *middle;
  };
  RoundTimes result;
  for (double RoundTimes::*field :
       {&RoundTimes::create, &RoundTimes::upload, &RoundTimes::set_points, &RoundTimes::execute, &RoundTimes::download,
        &RoundTimes::work, &RoundTimes::again, &RoundTimes::exchange})
    result.*field = of(field);
  return result;
}

int Results::whole() const { return shares_devices ? std::min(ranks, devices) : ranks; }

Results measure(const Options& options) {
  const runtime::distributed::Communicator world(MPI_Comm_c2f(MPI_COMM_WORLD));
  const Seat seat = take_seat(options, world);
  Results results;
  results.ranks = world.size();
  results.machines = world.machines();
  results.shares_devices = generator::is_gpu(seat.backend->traits(seat.device).backend);
  const std::int64_t of_machine = world.rank_on_machine() == 0 ? std::max(1, seat.backend->device_count()) : 0;
  results.devices = static_cast<int>(world.sum(of_machine));
  results.where = seat.backend->traits(seat.device).name;
  world.take_first(results.where);
  results.where = results.shares_devices
                      ? fmt::format("{} ranks share {} of {}", results.ranks, results.devices, results.where)
                      : fmt::format("{} ranks of {} threads on {}", results.ranks, seat.threads, results.where);
  say(world, fmt::format("paper cufinufft, M-TIP: {}\n", results.where));
  for (const Peer& peer : seat.peers) say(world, fmt::format("peer {}: {}\n", peer.name, peer.library->describe()));
  const std::vector<Problem> problems = cufinufft::table_two(options.scale);
  for (const Problem& problem : problems)
    results.tasks.push_back(measure_task(problem.type == 2 ? "slicing" : "merging", problem, options, seat, world));
  return results;
}

}  // namespace fourtune::tools::mtip
