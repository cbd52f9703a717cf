// The bytes that a rank with a GPU sends, by every exchange, against the bounds of docs/design/distributed.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <regex>

#include "runtime/backends/emulated/shared_memory.h"
#include "tests/distributed/count_bytes.h"
#include "tests/distributed/fft_support.h"
#include "tests/distributed/support.h"

namespace fourtune::test {
namespace {

TEST(DistributedGpuBytes, FftsSendWhatEndsOnOtherRanksOnce) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  Options options;
  options.default_databases = false;
  options.backend = "emulated";
  options.device = -1;
  for (const char* exchange : {"host", "mpi", "nccl", "peer"})
    for (const char* chunks : {"chunks=1,cut=planes", "chunks=3,cut=planes", "chunks=2,cut=columns"}) {
      if (ranks == 1) continue;
      options.plan = std::string("ranks=slabs(") + chunks + ",exchange=" + exchange + ")";
      SCOPED_TRACE(options.plan);
      DistributedTransform transform("fft:type=c2c,n=16x20x24,prec=f64", MPI_Comm_c2f(MPI_COMM_WORLD), options);
      std::vector<std::complex<double>> in(static_cast<std::size_t>(transform.first_part().count()) + 1),
          out(static_cast<std::size_t>(transform.second_part().count()) + 1);
      const std::int64_t away = 16 * (20 - part_of(20, rank, ranks)) * part_of(24, rank, ranks) * 16;
      const std::int64_t back = 16 * (24 - part_of(24, rank, ranks)) * part_of(20, rank, ranks) * 16;
      for (const bool adjoint : {false, true}) {
        const std::int64_t bound = adjoint ? back : away;
        sent = 0;
        const std::int64_t written = runtime::emulated::reached_bytes();
        adjoint ? transform.execute_adjoint(in.data(), out.data()) : transform.execute(in.data(), out.data());
        // By peer writes the messages are words, a few for each chunk and rank.
        if (std::string(exchange) == "peer") {
          EXPECT_LE(sent, 256 + 512 * 3 * (ranks - 1));
          sent = runtime::emulated::reached_bytes() - written;
        }
        EXPECT_LE(static_cast<double>(sent), 1.05 * static_cast<double>(bound) + 256);
        EXPECT_GE(sent, bound);  // the counter sees this exchange too
      }
    }
}

// Half of the rows that cross are stored, and the others are loaded, which nobody counts here.
TEST(DistributedGpuBytes, KernelsStoreHalfOfWhatCrosses) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1 || ranks > 3) return;
  DistributedTransform transform("fft:type=c2c,n=16x24x24,prec=f64", MPI_Comm_c2f(MPI_COMM_WORLD),
                                 on_gpus("ranks=slabs(exchange=kernels)"));
  std::vector<std::complex<double>> in(static_cast<std::size_t>(transform.first_part().count()));
  std::vector<std::complex<double>> out(static_cast<std::size_t>(transform.second_part().count()));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = {std::sin(0.7 * static_cast<double>(i + 1)), 1.5};
  const double bound = 16.0 * (24 - part_of(24, rank, ranks)) * part_of(24, rank, ranks) * 16;
  const std::int64_t written = runtime::emulated::reached_bytes();
  sent = 0;
  transform.execute(in.data(), out.data());
  const auto stored = static_cast<double>(runtime::emulated::reached_bytes() - written);
  EXPECT_LE(sent, 256 + 512 * (ranks - 1));  // words
  EXPECT_LE(stored, 0.5 * bound);
  EXPECT_GE(stored, 0.4 * bound);  // bytes that are the same as before do not count
}

// What the plan's text says, and what device_slab.h makes of it.
struct Slabs {
  std::int64_t fine = 1, width = 1, plane = 1;
  std::vector<std::int64_t> starts{0};

  Slabs(const std::string& plan, const Problem& problem, int ranks) {
    std::smatch found;
    std::regex_search(plan, found, std::regex("width=(\\d+)"));
    width = std::stoll(found[1]);
    const std::string pattern = problem.dim == 3 ? "=(\\d+)x(\\d+)x(\\d+)" : "=(\\d+)x(\\d+)()";
    std::regex_search(plan, found, std::regex("fine" + pattern));
    const auto last = static_cast<std::size_t>(problem.dim);
    fine = std::stoll(found[last]);
    for (std::size_t d = 1; d < last; ++d) plane *= std::stoll(found[d]);
    std::regex_search(plan, found, std::regex("bin" + pattern));
    const std::int64_t bin = std::stoll(found[last]);
    const std::int64_t row = (std::max<std::int64_t>(16, width - 1) + bin - 1) / bin * bin;
    const std::int64_t rows = std::max<std::int64_t>(1, fine / row), counted = std::min(row * rows, fine);
    std::int64_t at = 0;
    for (int r = 1; r < ranks; ++r) {
      while (at < rows && static_cast<double>(2 * at + 1) * static_cast<double>(row * ranks) <=
                              2.0 * static_cast<double>(counted * r))
        ++at;
      starts.push_back(at == rows ? fine : at * row);
    }
    starts.push_back(fine);
  }
  std::int64_t planes(int rank) const {
    return starts[static_cast<std::size_t>(rank) + 1] - starts[static_cast<std::size_t>(rank)];
  }
  // The ranks that the point at this coordinate goes to: that of its first cell, and another one that it reaches.
  std::array<int, 2> ranks_of(double x) const {
    const double turns = x / (2 * std::numbers::pi);
    auto cell = static_cast<std::int64_t>(
        std::ceil((turns - std::floor(turns)) * static_cast<double>(fine) - static_cast<double>(width) / 2));
    std::array<int, 2> ranks{};
    for (const std::int64_t reach : {std::int64_t{0}, width - 1}) {
      const std::int64_t at = (cell + reach + fine) % fine;
      const auto after = std::upper_bound(starts.begin(), starts.end() - 1, at) - starts.begin();
      ranks[reach == 0 ? 0 : 1] = static_cast<int>(after) - 1;
    }
    return ranks;
  }
};

template <class T>
void count_nufft(const std::string& token, const std::string& exchange, const std::string& chunks) {
  const Whole<T> whole = draw<T>(token, 7);
  const Problem& p = whole.problem;
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  Options options;
  options.default_databases = false;
  options.backend = "emulated";
  options.device = -1;
  options.plan = "ranks=slabs(balance=planes," + chunks + ",exchange=" + exchange + ")";
  SCOPED_TRACE(token + " " + options.plan);
  DistributedTransform transform(token, MPI_Comm_c2f(MPI_COMM_WORLD), options);
  const Range mine = dealt(Deal::uneven, *p.m, rank, ranks);
  const auto last = static_cast<std::size_t>(p.dim - 1);
  // By peer writes the messages are words, and what kernels and copies write into other GPUs counts.
  std::int64_t written = 0;
  const auto count_from_here = [&] { sent = 0, written = runtime::emulated::reached_bytes(); };
  const auto counted = [&] { return exchange == "peer" ? runtime::emulated::reached_bytes() - written : sent; };
  count_from_here();
  transform.set_points({mine.size(), whole.x[0].data() + mine.begin, whole.x[1].data() + mine.begin,
                        p.dim == 3 ? whole.x[2].data() + mine.begin : nullptr});
  const std::int64_t of_points = counted();

  const Slabs slabs(transform.plan(), p, ranks);
  std::int64_t leave = 0, copies = 0, come = 0;
  for (std::int64_t j = 0; j < *p.m; ++j) {
    const auto to = slabs.ranks_of(static_cast<double>(whole.x[last][static_cast<std::size_t>(j)]));
    const bool own = j >= mine.begin && j < mine.end;
    leave += own && to[0] != rank;
    copies += own && to[1] != to[0] && to[1] != rank;
    come += !own && to[0] == rank;
  }
  const std::int64_t value = sizeof(std::complex<T>), real = sizeof(T);
  EXPECT_GE(of_points, (leave + copies) * p.dim * real * 95 / 100 - 256);
  EXPECT_LE(static_cast<double>(of_points), 1.05 * static_cast<double>((leave + copies) * p.dim * real) + 8192);

  const std::int64_t columns = p.n[last - 1], own_columns = part_of(columns, rank, ranks);
  const std::int64_t run = p.dim == 3 ? p.n[0] : 1, planes = slabs.planes(rank);
  const bool alone = planes == slabs.fine;
  const std::int64_t fetched = planes > 0 && !alone ? (slabs.width - 1) * slabs.plane * value : 0;
  const std::int64_t to_columns = (leave + copies) * value + planes * (columns - own_columns) * run * value;
  // Peers fetch the values of their points.
  const std::int64_t to_planes =
      (exchange == "peer" ? leave : come) * value + fetched + (slabs.fine - planes) * own_columns * run * value;
  std::vector<std::complex<T>> values(static_cast<std::size_t>(mine.size() * p.batch) + 1);
  std::vector<std::complex<T>> modes(static_cast<std::size_t>(transform.modes().count() * p.batch) + 1);
  for (const bool adjoint : {false, true}) {
    const std::int64_t bound = ((p.type == 1) != adjoint ? to_columns : to_planes) * p.batch;
    count_from_here();
    adjoint ? transform.execute_adjoint(values.data(), modes.data()) : transform.execute(values.data(), modes.data());
    EXPECT_LE(static_cast<double>(counted()), 1.05 * static_cast<double>(bound) + 512) << "adjoint " << adjoint;
    EXPECT_GE(static_cast<double>(counted()), 0.95 * static_cast<double>(bound)) << "adjoint " << adjoint;
  }
}

TEST(DistributedGpuBytes, SlabsWithPointsSendPrunedPlanesAndTheirPointsOnce) {
  if (size_of(MPI_COMM_WORLD) == 1) return;
  for (const char* exchange : {"host", "nccl", "peer"})
    count_nufft<float>("nufft:type=1,n=12x14x40,m=3000,prec=f32,tol=1e-3", exchange, "chunks=1");
  for (const char* exchange : {"mpi", "peer"})
    count_nufft<double>("nufft:type=2,n=12x14x40,m=3000,prec=f64,tol=1e-4", exchange, "chunks=3,cut=planes");
  count_nufft<double>("nufft:type=1,n=30x80,m=4000,prec=f64,tol=1e-6,batch=2", "nccl", "chunks=2,cut=batch");
}

}  // namespace
}  // namespace fourtune::test
