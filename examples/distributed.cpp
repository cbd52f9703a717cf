// A type 1 over MPI ranks: each rank brings its own points and gets its part of the modes.
//   mpirun -n 4 distributed_cpp
#include "fourtune/distributed.h"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <random>
#include <vector>

namespace {

void run(int rank) {
  // This rank's points: any number, anywhere.
  const std::int64_t m = 10000 + 1000 * rank;
  std::mt19937 engine(static_cast<unsigned>(rank));
  std::uniform_real_distribution<double> angle(-3.14, 3.14);
  std::vector<double> x(m), y(m), z(m);
  for (std::int64_t j = 0; j < m; ++j) x[j] = angle(engine), y[j] = angle(engine), z[j] = angle(engine);
  std::vector<std::complex<double>> values(m, {1, 0});

  fourtune::DistributedTransform transform("nufft:type=1,n=48x40x36,prec=f64,tol=1e-9", MPI_Comm_c2f(MPI_COMM_WORLD));
  transform.set_points({m, x.data(), y.data(), z.data()});
  const fourtune::Part part = transform.modes();
  std::vector<std::complex<double>> modes(part.count());
  transform.execute(values.data(), modes.data());

  // The mode (1, 2, 3), which one of the ranks has, by its definition.
  std::complex<double> sum = 0;
  for (std::int64_t j = 0; j < m; ++j) sum += values[j] * std::polar(1.0, -(x[j] + 2 * y[j] + 3 * z[j]));
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
  const std::int64_t at[3] = {24 + 1, 20 + 2, 18 + 3};  // modes begin at -n/2
  bool mine = true;
  for (int d = 0; d < 3; ++d) mine = mine && at[d] >= part.first[d] && at[d] < part.first[d] + part.size[d];
  if (!mine) return;
  const std::int64_t own[3] = {at[0] - part.first[0], at[1] - part.first[1], at[2] - part.first[2]};
  const std::complex<double> mode = modes[(own[2] * part.size[1] + own[1]) * part.size[0] + own[0]];
  std::printf("rank %d of %d: f(1,2,3) = %.6f %+.6fi, by its definition %.6f %+.6fi\n%s\n", rank, transform.ranks(),
              mode.real(), mode.imag(), sum.real(), sum.imag(), std::abs(mode - sum) < 1e-6 ? "right" : "WRONG");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, failed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    run(rank);  // transforms end before MPI does
  } catch (const fourtune::Error& error) {
    if (rank == 0) std::fprintf(stderr, "%s: %s\n", fourtune::status_name(error.status()), error.what());
    failed = 1;  // every rank has got the same error
  }
  MPI_Finalize();
  return failed;
}
