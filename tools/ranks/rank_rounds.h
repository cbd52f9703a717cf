// Rounds of a bench in which every rank works on a separate problem: how well ranks beside each other keep the time of
// one. Every member is collective: all ranks call the same ones in the same order. What one throws, it throws on every
// rank.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "runtime/backends/backend.h"
#include "runtime/distributed/communicator.h"
#include "tools/bench/measure/arrays.h"
#include "tools/bench/measure/contender.h"

namespace fourtune::tools {

// Seconds of one round, each those of the slowest rank.
struct RoundTimes {
  double create = 0, upload = 0, set_points = 0, execute = 0, download = 0;
  double work = 0;      // all of the above, on the rank for which they are longest
  double again = 0;     // the same with the transform that is there now: nothing is made
  double exchange = 0;  // of the uniform array, between the ranks
  double total() const { return work + exchange; }
};

// A contender that ran on every rank.
struct Admitted {
  std::string name;
  Role role = Role::peer;
  std::string plan;     // or the variant that was fastest on rank 0
  std::string failure;  // why it takes part in no round; the rest is then not set
  double error = 0;     // the largest of all ranks
  bool right = false;
  Variant variant;
};

class RankRounds {
 public:
  // Makes this rank's points and arrays, which no other rank has. `problem` is a nonuniform one of types 1 and 2.
  RankRounds(const runtime::distributed::Communicator& ranks, MPI_Comm comm, const Problem& problem,
             const runtime::Backend& backend, int device, std::uint64_t seed);
  ~RankRounds();
  RankRounds(const RankRounds&) = delete;
  RankRounds& operator=(const RankRounds&) = delete;

  // Tries the variants on rank 0, alone, and runs the fastest right one on every rank, where its result is checked.
  Admitted admit(const Entrant& entrant);
  // On the first `active` ranks; the others wait. A transform is made, its points and input are brought to where it
  // computes, it is executed and its output brought back; then all but the first once more. Before a type 2 every rank
  // fetches the uniform array of which each has a part; after a type 1 the arrays are added up, and each rank keeps a
  // part.
  RoundTimes round(const Admitted& one, int active);

  // Bytes of the uniform array.
  double exchanged_bytes() const { return static_cast<double>(grid_.size()); }

 private:
  struct Tried {
    double error = 0, seconds = 0;
    std::string plan;
  };
  Tried run_once(const Variant& variant, bool timed);
  int fastest_variant(const Entrant& entrant, std::string& failure);
  void work(const Variant& variant, RoundTimes& times);
  double exchange(MPI_Comm among);
  // A communicator of the first ranks; null on the others.
  MPI_Comm first_ranks(int active);

  const runtime::distributed::Communicator& ranks_;
  MPI_Comm comm_;
  Problem problem_;
  std::unique_ptr<BenchArrays> arrays_;
  std::vector<char> grid_, part_;        // what is exchanged
  std::vector<MPI_Comm> communicators_;  // by the number of their ranks
};

}  // namespace fourtune::tools
