// What is wrong on one rank fails with the same status on every rank, and the ranks can go on together.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fourtune/fourtune_mpi.h"
#include "tests/distributed/support.h"

namespace fourtune::test {
namespace {

const std::string kToken = "nufft:type=1,n=16x20,prec=f64,tol=1e-6";

bool last() { return rank_of(MPI_COMM_WORLD) + 1 == size_of(MPI_COMM_WORLD); }
int world() { return MPI_Comm_c2f(MPI_COMM_WORLD); }

// Every rank throws this status; one that talks of a rank names the right one.
void expect_everywhere(Status expected, const std::function<void()>& work, const std::string& word) {
  std::string message;
  const Status status = status_of(work, &message);
  EXPECT_EQ(status, expected) << message;
  EXPECT_NE(message.find(word), std::string::npos) << message;
  const int ranks = size_of(MPI_COMM_WORLD);
  EXPECT_TRUE(ranks == 1 || message.starts_with("rank ")) << message;
  int all = static_cast<int>(status);
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(all, static_cast<int>(expected));
}

TEST(DistributedErrors, BadProblemsAndOptionsAreNamed) {
  const auto made = [](const std::string& token, const Options& options) {
    return [=] { const DistributedTransform transform(token, world(), options); };
  };
  expect_everywhere(Status::invalid_problem, made("nufft:type=7,n=16x20,prec=f64,tol=1e-6", forced()), "type");
  expect_everywhere(Status::invalid_problem, made("", forced()), "");
  expect_everywhere(Status::unsupported, made("nufft:type=1,n=100,prec=f64,tol=1e-6", forced()), "one dimension");
  expect_everywhere(Status::unsupported, made("fft:type=c2c,n=16x20,prec=f64,place=in", forced()), "place=in");
  expect_everywhere(Status::tolerance_unreachable, made("nufft:type=1,n=16x20,prec=f32,tol=1e-12", forced()), "tol");
  Options options = forced();
  options.only = Only::spread;
  expect_everywhere(Status::invalid_option, made(kToken, options), "only");
  options = forced();
  options.distinct_points = true;
  expect_everywhere(Status::invalid_option, made(kToken, options), "distinct_points");
  options = forced();
  options.exact_points = true;
  expect_everywhere(Status::invalid_option, made(kToken, options), "exact_points");
  options = forced();
  options.threads = -1;
  expect_everywhere(Status::invalid_option, made(kToken, options), "threads");
  options = forced();
  options.backend = "abacus";
  expect_everywhere(Status::backend_unavailable, made(kToken, options), "abacus");
  expect_everywhere(Status::invalid_plan, made("fft:type=c2c,n=16x20,prec=f64", forced("ranks=replicated")),
                    "replicated");
  expect_everywhere(Status::invalid_plan, made("fft:type=c2c,n=16x20,prec=f64", forced("ranks=cubes")), "ranks=");
}

TEST(DistributedErrors, BadOptionsOfOneRankFailOnAll) {
  Options options = forced();
  if (last()) options.threads = -1;
  expect_everywhere(
      Status::invalid_option, [&] { const DistributedTransform transform(kToken, world(), options); }, "threads");
}

TEST(DistributedErrors, RanksThatDisagreeAreTold) {
  if (size_of(MPI_COMM_WORLD) == 1) return;
  const std::string other = last() ? "nufft:type=1,n=16x22,prec=f64,tol=1e-6" : kToken;
  expect_everywhere(
      Status::contradiction, [&] { const DistributedTransform transform(other, world(), forced()); },
      "all ranks pass the same");
  expect_everywhere(
      Status::contradiction,
      [&] { const DistributedTransform transform(kToken, world(), forced(last() ? "ranks=slabs" : "")); },
      "all ranks pass the same");
}

TEST(DistributedErrors, BadPointsOfOneRankFailOnAll) {
  for (const char* plan : {"ranks=slabs", "ranks=replicated"}) {
    SCOPED_TRACE(plan);
    DistributedTransform transform(kToken, world(), forced(plan));
    const std::vector<double> x{0.1, 0.2, 0.3};
    std::vector<double> bad = x;
    bad[1] = std::numeric_limits<double>::quiet_NaN();
    const double* null = nullptr;
    expect_everywhere(
        Status::invalid_argument,
        [&] {
          transform.set_points({3, x.data(), last() ? null : x.data()});
        },
        "y is null");
    expect_everywhere(
        Status::invalid_argument,
        [&] {
          transform.set_points({last() ? -1 : 3, x.data(), x.data()});
        },
        "must not be negative");
    expect_everywhere(
        Status::invalid_point,
        [&] {
          transform.set_points({3, x.data(), last() ? bad.data() : x.data()});
        },
        "y");
    const auto* off = reinterpret_cast<const double*>(reinterpret_cast<const char*>(x.data()) + 4);
    expect_everywhere(
        Status::invalid_argument,
        [&] {
          transform.set_points({2, x.data(), last() ? off : x.data()});
        },
        "multiple of 8");
    std::vector<std::complex<double>> values(3), modes(static_cast<std::size_t>(transform.modes().count()) + 1);
    expect_everywhere(
        Status::points_not_set, [&] { transform.execute(values.data(), modes.data()); }, "set_points");
    // The transform works after all that.
    transform.set_points({3, x.data(), x.data()});
    expect_everywhere(
        Status::invalid_argument, [&] { transform.execute(last() ? nullptr : values.data(), modes.data()); },
        "point_values");
    EXPECT_EQ(status_of([&] { transform.execute(values.data(), modes.data()); }), Status::success);
  }
}

// Where one rank makes another call than the rest, all of them are told, and none waits for the others.
TEST(DistributedErrors, RanksThatMakeDifferentCallsAreTold) {
  if (size_of(MPI_COMM_WORLD) == 1) return;
  const std::vector<double> x{0.1, 0.2, 0.3};
  for (const char* plan : {"ranks=slabs", "ranks=replicated"}) {
    SCOPED_TRACE(plan);
    DistributedTransform transform(kToken, world(), forced(plan));
    transform.set_points({3, x.data(), x.data()});
    std::vector<std::complex<double>> values(3), modes(static_cast<std::size_t>(transform.modes().count()) + 1);
    const auto told = [&](const std::function<void()>& here, const std::function<void()>& there, const char* words) {
      std::string message;
      EXPECT_EQ(status_of([&] { last() ? there() : here(); }, &message), Status::contradiction) << message;
      EXPECT_NE(message.find(words), std::string::npos) << message;
    };
    const auto execute = [&] { transform.execute(values.data(), modes.data()); };
    told(
        execute, [&] { transform.execute_adjoint(values.data(), modes.data()); },
        "some ranks call execute and others execute_adjoint");
    told(
        execute,
        [&] {
          transform.set_points({3, x.data(), x.data()});
        },
        "some ranks call set_points and others execute");
    transform.set_points({3, x.data(), x.data()});
    EXPECT_EQ(status_of(execute), Status::success);
  }
}

TEST(DistributedErrors, CountsOfTheTokenAreThoseOfAllRanks) {
  const std::int64_t ranks = size_of(MPI_COMM_WORLD);
  const std::vector<double> x{0.1, 0.2, 0.3};
  DistributedTransform right("nufft:type=1,n=16x20,m=" + std::to_string(3 * ranks) + ",prec=f64,tol=1e-6", world(),
                             forced());
  EXPECT_EQ(status_of([&] { right.set_points({3, x.data(), x.data()}); }), Status::success);
  EXPECT_EQ(*right.problem().m, 3 * ranks);
  expect_everywhere(
      Status::contradiction,
      [&] {
        right.set_points({last() ? 2 : 3, x.data(), x.data()});
      },
      "m=");
}

TEST(DistributedErrors, PlansThatDoNotFitAreRefused) {
  const std::vector<double> x{0.1, 0.2, 0.3};
  const auto refused = [&](const std::string& plan, const std::string& word) {
    DistributedTransform transform(kToken, world(), forced(plan));
    expect_everywhere(
        Status::invalid_plan,
        [&] {
          transform.set_points({3, x.data(), x.data()});
        },
        word);
  };
  refused("ranks=cubes", "ranks=");
  refused("ranks=slabs(balance=luck)", "balance");
  refused("ranks=slabs;abacus", "");
  refused("ranks=slabs(balance=points);cpu;threads=1",
          "stage 'window' is missing; a whole plan is cpu;window=...;sort=...;spread=...;interp=...;fft=...");
  refused("ranks=slabs(exchange=nccl)", "processors take host and shared");
  refused("ranks=slabs(exchange=shared,chunks=2,cut=planes)", "nothing travels");
  refused("ranks=replicated(exchange=shared)", "add up by MPI");
  // A tile of 4 cells is thinner than a window of 7 reaches.
  refused(
      "ranks=slabs;cpu;threads=1;window=pswf(sigma=2,width=7,fine=32x40);sort=tiles(tile=16x4);spread=subgrid(cap=4096,"
      "add=lock);interp=tile(cap=8192);fft=pruned(rigor=estimate)",
      "thinner");
}

TEST(DistributedErrors, MemoryIsSharedWhereThereAreOtherRanksAndSlabsOfTypesOneAndTwo) {
  const auto made = [](const std::string& token, MPI_Comm comm) {
    return [=] {
      const DistributedTransform transform(token, MPI_Comm_c2f(comm), forced("ranks=slabs(exchange=shared)"));
    };
  };
  std::string message;
  EXPECT_EQ(status_of(made("fft:type=c2c,n=16x20,prec=f64", MPI_COMM_SELF), &message), Status::unsupported);
  EXPECT_NE(message.find("there is one rank"), std::string::npos) << message;
  if (size_of(MPI_COMM_WORLD) == 1) return;
  DistributedTransform third("nufft:type=3,dim=2,prec=f64,tol=1e-6", world(), forced("ranks=slabs(exchange=shared)"));
  const std::vector<double> x{0.1, 0.2, 0.3};
  expect_everywhere(
      Status::invalid_plan,
      [&] {
        third.set_points({3, x.data(), x.data(), nullptr, 3, x.data(), x.data()});
      },
      "exchanged by MPI");
}

TEST(DistributedErrors, PartsOfOtherProblems) {
  DistributedTransform fft("fft:type=c2c,n=8x6,prec=f64", world(), forced());
  EXPECT_EQ(status_of([&] { (void)fft.modes(); }), Status::invalid_argument);
  DistributedTransform nufft(kToken, world(), forced());
  EXPECT_EQ(status_of([&] { (void)nufft.first_part(); }), Status::invalid_argument);
  EXPECT_EQ(status_of([&] { (void)nufft.second_part(); }), Status::invalid_argument);
  DistributedTransform third("nufft:type=3,dim=2,prec=f64,tol=1e-6", world(), forced());
  EXPECT_EQ(status_of([&] { (void)third.modes(); }), Status::invalid_argument);
}

TEST(DistributedErrors, TheCInterfaceAgreesToo) {
  fourtune_mpi_transform* transform = nullptr;
  fourtune_options options;
  fourtune_options_init(&options);
  if (last()) options.size = 3;
  EXPECT_EQ(fourtune_mpi_create(kToken.c_str(), world(), &options, &transform), FOURTUNE_INVALID_OPTION);
  EXPECT_EQ(transform, nullptr);
  EXPECT_EQ(fourtune_mpi_create(last() ? nullptr : kToken.c_str(), world(), nullptr, &transform),
            FOURTUNE_INVALID_ARGUMENT);
  EXPECT_NE(std::string(fourtune_last_error()).find("problem is null"), std::string::npos) << fourtune_last_error();
  EXPECT_EQ(fourtune_mpi_create(kToken.c_str(), MPI_Comm_c2f(MPI_COMM_NULL), nullptr, &transform),
            FOURTUNE_INVALID_ARGUMENT);
  ASSERT_EQ(fourtune_mpi_create(kToken.c_str(), world(), nullptr, &transform), FOURTUNE_SUCCESS)
      << fourtune_last_error();
  fourtune_mpi_part modes{};
  EXPECT_EQ(fourtune_mpi_parts(transform, nullptr, &modes), FOURTUNE_SUCCESS);
  EXPECT_EQ(modes.size[1], 20);
  const double x[] = {0.5, 1.5};
  EXPECT_EQ(fourtune_mpi_set_points(transform, 2, x, last() ? nullptr : x, nullptr, 0, nullptr, nullptr, nullptr),
            FOURTUNE_INVALID_ARGUMENT);
  EXPECT_EQ(fourtune_mpi_set_points(transform, 2, x, x, nullptr, 0, nullptr, nullptr, nullptr), FOURTUNE_SUCCESS);
  std::vector<double> values(4, 1.0), result(static_cast<std::size_t>(2 * modes.size[0] * modes.size[1]) + 1);
  EXPECT_EQ(fourtune_mpi_execute(transform, values.data(), result.data()), FOURTUNE_SUCCESS) << fourtune_last_error();
  EXPECT_EQ(fourtune_mpi_execute_adjoint(transform, values.data(), result.data()), FOURTUNE_SUCCESS);
  EXPECT_NE(std::string(fourtune_mpi_explain(transform)).find("ranks="), std::string::npos);
  fourtune_mpi_destroy(transform);
  fourtune_mpi_destroy(nullptr);
  EXPECT_EQ(fourtune_mpi_execute(nullptr, values.data(), result.data()), FOURTUNE_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(fourtune_mpi_explain(nullptr)), "");
}

}  // namespace
}  // namespace fourtune::test
