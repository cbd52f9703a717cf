// The bytes that a rank sends, counted between the library and MPI, against the bounds of docs/design/distributed.md.
#include <gtest/gtest.h>

#include "tests/distributed/count_bytes.h"
#include "tests/distributed/geometry.h"
#include "tests/distributed/support.h"

namespace fourtune::test {
namespace {

template <class T>
void count_nufft(const std::string& token, bool deterministic, const std::string& chunks = "") {
  SCOPED_TRACE(token);
  const Whole<T> whole = draw<T>(token, 7);
  const Problem& p = whole.problem;
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  DistributedTransform transform(token, MPI_Comm_c2f(MPI_COMM_WORLD),
                                 forced("ranks=slabs(balance=planes,exchange=host" + chunks + ")", deterministic));
  const Range mine = dealt(Deal::even, *p.m, rank, ranks);
  const auto last = static_cast<std::size_t>(p.dim - 1);
  Points points{mine.size(), whole.x[0].data() + mine.begin, whole.x[1].data() + mine.begin,
                p.dim == 3 ? whole.x[2].data() + mine.begin : nullptr};
  sent = 0;
  transform.set_points(points);
  const std::int64_t of_points = sent;

  const Geometry g(transform.plan());
  const Cuts cuts(g, last, ranks);
  std::int64_t leave = 0, come = 0;
  for (std::int64_t j = 0; j < *p.m; ++j) {
    const int owner = cuts.part_of_cell(g.cell(last, static_cast<double>(whole.x[last][static_cast<std::size_t>(j)])));
    const bool own = j >= mine.begin && j < mine.end;
    leave += own && owner != rank;
    come += !own && owner == rank;
  }
  const std::int64_t value = sizeof(std::complex<T>), real = sizeof(T);
  const std::int64_t planes = cuts.cells(rank);
  std::int64_t plane = 1, modes_of_plane = 1;
  for (std::size_t d = 0; d < last; ++d) plane *= g.fine[d], modes_of_plane *= p.n[d];
  const std::int64_t columns = p.n[last - 1], run = modes_of_plane / columns,
                     own_columns = part_of(columns, rank, ranks);
  const std::int64_t shared = planes > 0 && cuts.parts_with_cells() > 1 ? (g.width - 1) * plane * value : 0;

  EXPECT_LE(static_cast<double>(of_points), 1.05 * static_cast<double>(leave * p.dim * real) + 4096);

  std::vector<std::complex<T>> values(static_cast<std::size_t>(mine.size() * p.batch));
  std::vector<std::complex<T>> modes(static_cast<std::size_t>(transform.modes().count() * p.batch) + 1);
  sent = 0;
  transform.execute(values.data(), modes.data());
  const std::int64_t to_columns = planes * (columns - own_columns) * run * value;
  const std::int64_t to_planes = (g.fine[last] - planes) * own_columns * run * value;
  const std::int64_t bound = p.type == 1 ? leave * value + shared + to_columns : come * value + shared + to_planes;
  EXPECT_LE(static_cast<double>(sent), 1.05 * static_cast<double>(bound * p.batch) + 256)
      << "bound " << bound * p.batch;
}

TEST(DistributedBytes, SlabsOfTypesOneAndTwo) {
  for (const bool deterministic : {false, true}) {
    count_nufft<float>("nufft:type=1,n=40x44x96,m=60000,prec=f32,tol=1e-5", deterministic);
    count_nufft<double>("nufft:type=2,n=40x44x96,m=60000,prec=f64,tol=1e-6", deterministic);
    count_nufft<double>("nufft:type=1,n=200x220,m=30000,prec=f64,tol=1e-6,batch=2", deterministic);
    count_nufft<float>("nufft:type=2,n=200x220,m=30000,prec=f32,tol=1e-4", deterministic);
  }
}

TEST(DistributedBytes, ChunksSendNothingTwice) {
  count_nufft<float>("nufft:type=1,n=40x44x96,m=60000,prec=f32,tol=1e-5", false, ",chunks=4,cut=planes");
  count_nufft<double>("nufft:type=2,n=200x220,m=30000,prec=f64,tol=1e-6,batch=3", false, ",chunks=2,cut=batch");
  count_nufft<float>("nufft:type=2,n=40x44x96,m=60000,prec=f32,tol=1e-5", true, ",chunks=3,cut=columns");
}

TEST(DistributedBytes, Ffts) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  DistributedTransform c2c("fft:type=c2c,n=48x50x52,prec=f64", MPI_Comm_c2f(MPI_COMM_WORLD),
                           forced("ranks=slabs(chunks=5,cut=columns)"));
  std::vector<std::complex<double>> in(static_cast<std::size_t>(c2c.first_part().count())),
      out(static_cast<std::size_t>(c2c.second_part().count()));
  sent = 0;
  c2c.execute(in.data(), out.data());
  const std::int64_t bound = part_of(52, rank, ranks) * 48 * (50 - part_of(50, rank, ranks)) * 16;
  EXPECT_LE(static_cast<double>(sent), 1.05 * static_cast<double>(bound) + 256);
  DistributedTransform c2r("fft:type=c2r,n=90x200,prec=f32", MPI_Comm_c2f(MPI_COMM_WORLD),
                           forced("ranks=slabs(exchange=host)"));
  std::vector<std::complex<float>> half(static_cast<std::size_t>(c2r.first_part().count()));
  std::vector<float> real(static_cast<std::size_t>(c2r.second_part().count()));
  sent = 0;
  c2r.execute(half.data(), real.data());
  const std::int64_t back = (200 - part_of(200, rank, ranks)) * part_of(46, rank, ranks) * 8;
  EXPECT_LE(static_cast<double>(sent), 1.05 * static_cast<double>(back) + 256);
}

// Where ranks share memory, points and the array between planes and lines are put where they are used: messages are
// only the cells that windows of two ranks reach.
TEST(DistributedBytes, RanksThatShareMemorySendCellsAlone) {
  DistributedTransform c2c("fft:type=c2c,n=48x50x52,prec=f64", MPI_Comm_c2f(MPI_COMM_WORLD), forced(""));
  std::vector<std::complex<double>> in(static_cast<std::size_t>(c2c.first_part().count())),
      out(static_cast<std::size_t>(c2c.second_part().count()));
  sent = 0;
  c2c.execute(in.data(), out.data());
  EXPECT_LE(sent, 256);
  for (const int type : {1, 2}) {
    const std::string token = "nufft:type=" + std::to_string(type) + ",n=20x24x96,m=60000,prec=f64,tol=1e-6";
    const Whole<double> whole = draw<double>(token, 7);
    DistributedTransform transform(token, MPI_Comm_c2f(MPI_COMM_WORLD), forced("ranks=slabs"));
    const Range mine = dealt(Deal::even, 60000, rank_of(MPI_COMM_WORLD), size_of(MPI_COMM_WORLD));
    sent = 0;
    transform.set_points(
        {mine.size(), whole.x[0].data() + mine.begin, whole.x[1].data() + mine.begin, whole.x[2].data() + mine.begin});
    EXPECT_LE(sent, 4096);
    const Geometry g(transform.plan());
    std::vector<std::complex<double>> values(static_cast<std::size_t>(mine.size())),
        modes(static_cast<std::size_t>(transform.modes().count()) + 1);
    sent = 0;
    transform.execute(values.data(), modes.data());
    EXPECT_LE(static_cast<double>(sent), 1.05 * static_cast<double>((g.width - 1) * g.fine[0] * g.fine[1] * 16) + 256);
  }
}

TEST(DistributedBytes, ReplicatedTransforms) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  const std::int64_t all = 40 * 44 * 36 * 8, own = part_of(44, rank, ranks) * 40 * 36 * 8;
  for (const int type : {1, 2}) {
    const std::string token = "nufft:type=" + std::to_string(type) + ",n=40x44x36,m=900,prec=f32,tol=1e-4";
    const Whole<float> whole = draw<float>(token, 7);
    DistributedTransform transform(token, MPI_Comm_c2f(MPI_COMM_WORLD), forced("ranks=replicated"));
    const Range mine = dealt(Deal::even, 900, rank, ranks);
    transform.set_points(
        {mine.size(), whole.x[0].data() + mine.begin, whole.x[1].data() + mine.begin, whole.x[2].data() + mine.begin});
    std::vector<std::complex<float>> values(900), modes(static_cast<std::size_t>(transform.modes().count()) + 1);
    sent = 0;
    transform.execute(values.data(), modes.data());
    const std::int64_t bound = type == 1 ? all - own : own * (ranks - 1);
    EXPECT_LE(static_cast<double>(sent), 1.05 * static_cast<double>(bound) + 256);
  }
}

TEST(DistributedBytes, TypeThreeSharesTheShorterSide) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  const Whole<double> whole = draw<double>("nufft:type=3,dim=2,m=9000,k=4000,prec=f64,tol=1e-4", 7);
  DistributedTransform transform("nufft:type=3,dim=2,prec=f64,tol=1e-4", MPI_Comm_c2f(MPI_COMM_WORLD),
                                 forced("ranks=replicated"));
  const Range mine = dealt(Deal::even, 9000, rank, ranks), targets = dealt(Deal::even, 4000, rank, ranks);
  Points points{mine.size(), whole.x[0].data() + mine.begin, whole.x[1].data() + mine.begin};
  points.k = targets.size(), points.s = whole.s[0].data() + targets.begin, points.t = whole.s[1].data() + targets.begin;
  sent = 0;
  transform.set_points(points);
  EXPECT_LE(static_cast<double>(sent), 1.05 * static_cast<double>((ranks - 1) * targets.size() * 2 * 8) + 4096);
  std::vector<std::complex<double>> values(static_cast<std::size_t>(mine.size())),
      results(static_cast<std::size_t>(targets.size()));
  sent = 0;
  transform.execute(values.data(), results.data());
  EXPECT_LE(static_cast<double>(sent), 1.05 * static_cast<double>((4000 - targets.size()) * 16) + 256);
}

}  // namespace
}  // namespace fourtune::test
