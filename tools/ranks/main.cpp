// `fourtune-ranks`: the commands that run on every rank of an mpirun. `fourtune run --ranks N` and the same of tune,
// soak and bench start it.
#include <mpi.h>

#include <cstdio>

#include "tools/ranks/commands.h"

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool speaks = rank == 0;  // what fails, fails on all of them
  const int code = fourtune::tools::run_ranks_command_line(argc, argv, speaks);
  std::fflush(stdout);
  MPI_Finalize();
  return code;
}
