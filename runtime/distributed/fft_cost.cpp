#include "runtime/distributed/fft_cost.h"

#include <algorithm>

namespace fourtune::runtime::distributed {
namespace {

// An element that is sent costs as much as two steps along a dimension. For N = 256^3 elements in f32 two threads, of
// 1.5 N steps each, took 29 ms, and two ranks, which also send N / 4 elements each, 38.8 ms on the same two cores
// (docs/design/distributed.md, "What was measured"). Networks are slower.
constexpr double kSent = 2;

struct BusiestRank {
  double work = 0, sent = 0;
};

BusiestRank busiest(const Problem& problem, const RankGrid& grid) {
  const auto most = [](std::int64_t n, int parts) { return static_cast<double>((n + parts - 1) / parts); };
  const std::int64_t half = problem.fft_type == FftType::c2c ? problem.n[0] : problem.n[0] / 2 + 1;
  const auto nx = static_cast<double>(half), ny = static_cast<double>(problem.n[1]),
             nz = static_cast<double>(problem.n[2]);
  // Parts of y among the ranks of a plane, and among those that have the same part of x.
  const double x = most(half, grid.in_plane), z = most(problem.n[2], grid.of_planes);
  const double y_first = most(problem.n[1], grid.in_plane), y_last = most(problem.n[1], grid.of_planes);
  return {nx * y_first * z + x * ny * z + x * y_last * nz, y_first * z * (nx - x) + x * z * (ny - y_last)};
}

}  // namespace

double fft_work(const Problem& problem, const RankGrid& grid) { return busiest(problem, grid).work; }
double fft_sent(const Problem& problem, const RankGrid& grid) { return busiest(problem, grid).sent; }

double fft_cost(const Problem& problem, const RankGrid& grid) {
  const BusiestRank rank = busiest(problem, grid);
  return rank.work + kSent * rank.sent;
}

RankGrid best_grid(const Problem& problem, int ranks) {
  const std::vector<RankGrid> grids = grids_of(ranks);
  return *std::min_element(grids.begin(), grids.end(), [&](const RankGrid& a, const RankGrid& b) {
    return fft_cost(problem, a) < fft_cost(problem, b);
  });
}

bool slabs_leave_ranks_idle(const Problem& problem, int ranks) { return ranks > std::min(problem.n[1], problem.n[2]); }

}  // namespace fourtune::runtime::distributed
