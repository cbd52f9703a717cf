// Uniform FFTs over ranks against those of one process.
#include <gtest/gtest.h>

#include "tests/distributed/fft_support.h"

namespace fourtune::test {
namespace {

void compare(const std::string& token) { compare_with_alone(token, {forced(), forced("ranks=slabs(exchange=host)")}); }

TEST(DistributedFft, EveryTypeSignAndPrecision) {
  for (const char* size : {"24x20", "16x18x20"})
    for (const char* type : {"c2c", "r2c", "c2r"})
      for (const char* precision : {"f32", "f64"})
        for (const char* sign : {"-1", "1"})
          compare(std::string("fft:type=") + type + ",n=" + size + ",prec=" + precision + ",sign=" + sign);
}

TEST(DistributedFft, OddAndPrimeAndTinySizes) {
  for (const char* size : {"7x11", "1x9", "9x1", "13x3x17", "5x1x6", "1x4x31", "6x7x1", "33x2x5"})
    for (const char* type : {"c2c", "r2c", "c2r"})
      compare(std::string("fft:type=") + type + ",n=" + size + ",prec=f64");
}

TEST(DistributedFft, Batches) {
  for (const char* type : {"c2c", "r2c", "c2r"}) {
    compare(std::string("fft:type=") + type + ",n=12x14x10,prec=f32,batch=3");
    compare(std::string("fft:type=") + type + ",n=30x16,prec=f64,batch=5");
  }
}

// Planes that ranks share lie apart (plane_gap of transposition_pieces.h).
TEST(DistributedFft, PlanesOfManyPages) {
  for (const char* type : {"c2c", "r2c", "c2r"})
    compare(std::string("fft:type=") + type + ",n=126x66x5,prec=f64,batch=2");
  compare("fft:type=c2c,n=64x64x6,prec=f64,sign=1");
}

TEST(DistributedFft, AForcedLibraryPlanRunsOnEveryRank) {
  Options options = forced();
  options.plan = "cpu;threads=1;fft=fftw(rigor=estimate)";
  const Problem problem = parse_problem("fft:type=c2c,n=16x12x20,prec=f64");
  std::string message;
  const Status status = status_of(
      [&] {
        const auto result =
            together<std::complex<double>, std::complex<double>>(problem, false, options, MPI_COMM_WORLD);
        const auto right = alone<std::complex<double>, std::complex<double>>(problem, false, forced());
        EXPECT_LE(error_of(result.second, right.second), 30 * epsilon(problem.precision));
      },
      &message);
  // A build without FFTW says so.
  EXPECT_TRUE(status == Status::success || status == Status::unsupported) << message;
}

TEST(DistributedFft, AnInverseTakesThePartsOfItsForwardTransform) {
  const int world = MPI_Comm_c2f(MPI_COMM_WORLD);
  DistributedTransform forward("fft:type=r2c,n=18x14x16,prec=f64", world, forced());
  DistributedTransform inverse("fft:type=c2r,n=18x14x16,prec=f64,sign=1", world, forced());
  EXPECT_EQ(forward.first_part().size, inverse.second_part().size);
  EXPECT_EQ(forward.second_part().first, inverse.first_part().first);
  EXPECT_EQ(forward.second_part().size, inverse.first_part().size);
  const auto whole = drawn<double>(18 * 14 * 16, 5);
  const auto mine = take(whole, {18, 14, 16}, forward.first_part(), 1);
  std::vector<double> in = mine, out(mine.size());
  std::vector<std::complex<double>> spectrum(static_cast<std::size_t>(forward.second_part().count()));
  forward.execute(in.data(), spectrum.data());
  inverse.execute(spectrum.data(), out.data());
  for (double& value : out) value /= 18 * 14 * 16;
  EXPECT_LE(error_of(out, mine), 1e-14);
}

}  // namespace
}  // namespace fourtune::test
