// Whole problems that every rank can make alone, and their parts.
#pragma once

#include <mpi.h>

#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "fourtune/distributed.h"

namespace fourtune::test {

int rank_of(MPI_Comm comm);
int size_of(MPI_Comm comm);

// How points are distributed over the ranks, in the order of the list.
enum class Deal { even, all_on_last, uneven };
struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};
Range dealt(Deal deal, std::int64_t m, int rank, int ranks);
// One of three deals, for tests that try one of them at a time: with `turn` and the number of ranks all have their
// turn.
inline Deal deal_in_turn(int turn) {
  constexpr std::array kDeals{Deal::even, Deal::uneven, Deal::all_on_last};
  return kDeals[static_cast<std::size_t>(turn + size_of(MPI_COMM_WORLD)) % kDeals.size()];
}

// One transform on a communicator: made, given its part of the points and executed; the result has this rank's part.
struct Way {
  Options options;
  MPI_Comm comm = MPI_COMM_WORLD;
  Deal deal = Deal::even;
  bool adjoint = false;
};

template <class T>
struct Whole {
  using Complex = std::complex<T>;
  Problem problem;
  std::array<std::vector<T>, 3> x, s;  // points and targets
  std::vector<Complex> points, modes;  // values, of all transforms; modes are targets' values for type 3
};

// A plan that is given, on one thread.
inline Options forced(const std::string& plan = "", bool deterministic = false) {
  Options options;
  options.default_databases = false;
  options.threads = 1;
  options.plan = plan;
  options.deterministic = deterministic;
  return options;
}

// Of n planes, those that a rank has.
inline std::int64_t part_of(std::int64_t n, int rank, int ranks) { return n / ranks + (rank < n % ranks ? 1 : 0); }

// Deterministic transforms, which read no database.
inline Options reproducible(int threads) {
  Options options;
  options.default_databases = false;
  options.deterministic = true;
  options.threads = threads;
  return options;
}

// On ranks with GPUs, which are emulated.
inline Options on_gpus(const std::string& plan = "") {
  Options options;
  options.default_databases = false;
  options.backend = "emulated";
  options.device = -1;
  options.plan = plan;
  return options;
}

// Drawn by the seed, the same on every rank. Points lie in several periods.
template <class T>
Whole<T> draw(const std::string& token, unsigned seed);

// The sums by their definition in double precision: what execute writes.
template <class T>
std::vector<std::complex<double>> direct(const Whole<T>& whole, bool adjoint, ModeOrder order);

// What a run writes, gathered on every rank as one array.
template <class T>
std::vector<std::complex<T>> result_of(const Whole<T>& whole, const Way& way, std::string* explain = nullptr);

// The greatest error, in units of what is allowed, of a type 1 in 3D on all ranks that gets its 900 points dealt in one
// way after another. Its token may leave m out.
double error_where_points_are_set_again(const std::string& token, const Options& options);

// Copies a part of an array of these sizes; `put` is the reverse.
template <class T>
std::vector<T> take(const std::vector<T>& whole, const Sizes& sizes, const Part& part, std::int64_t batch);
template <class T>
std::vector<T> gathered(const std::vector<T>& own, const Sizes& sizes, const Part& part, std::int64_t batch,
                        MPI_Comm comm);
// The values of every rank one after the other, for each transform of a batch.
template <class T>
std::vector<T> gathered(const std::vector<T>& own, Deal deal, std::int64_t m, std::int64_t batch, MPI_Comm comm);

// The relative l2 error.
template <class A, class B>
double error_of(const std::vector<A>& result, const std::vector<B>& right) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    difference += std::norm(std::complex<double>(result[i]) - std::complex<double>(right[i]));
    size += std::norm(std::complex<double>(right[i]));
  }
  return size > 0 ? std::sqrt(difference / size) : std::sqrt(difference);
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// The status that `work` throws; success when it throws nothing. `message` gets what it says.
Status status_of(const std::function<void()>& work, std::string* message = nullptr);

}  // namespace fourtune::test
