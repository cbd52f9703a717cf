// One of the ranks ends in the middle of its transforms, without a word. MPI has to end the others, which wait for it
// in an exchange: the test that starts this looks whether they end, and that none of them goes on.
#include <mpi.h>
#include <unistd.h>

#include <complex>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "fourtune/distributed.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  fourtune::Options options;
  options.default_databases = false;
  options.threads = 1;
  options.plan = argc > 1 ? argv[1] : "";
  fourtune::DistributedTransform transform("nufft:type=1,n=24x20x32,prec=f64,tol=1e-6", MPI_Comm_c2f(MPI_COMM_WORLD),
                                           options);
  constexpr std::int64_t kPoints = 100;
  std::vector<double> x;
  for (std::int64_t i = 0; i < kPoints; ++i) x.push_back(0.06 * static_cast<double>(i + rank));
  transform.set_points({kPoints, x.data(), x.data(), x.data()});
  std::vector<std::complex<double>> values(kPoints, 1.0),
      modes(static_cast<std::size_t>(transform.modes().count()) + 1);
  constexpr int kLast = 7;
  for (int i = 0; i <= kLast; ++i) {
    if (i == kLast && rank + 1 == ranks) ::_exit(7);
    transform.execute(values.data(), modes.data());
  }
  std::printf("rank %d went on without the other one\n", rank);
  MPI_Finalize();
  return 0;
}
