/* A type 2 over MPI ranks: each rank brings its part of the modes and its own points, and gets the values there.
 *   mpirun -n 4 distributed_c */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "fourtune/fourtune_mpi.h"

/* Every rank gets the same status, so all of them leave together. */
static int failed(fourtune_status status, int rank) {
  if (status != FOURTUNE_SUCCESS && rank == 0)
    fprintf(stderr, "%s: %s\n", fourtune_status_name(status), fourtune_last_error());
  return status != FOURTUNE_SUCCESS;
}

static int run(int rank) {
  enum { m = 5000 };
  fourtune_mpi_transform* transform = NULL;
  if (failed(fourtune_mpi_create("nufft:type=2,n=64x50,prec=f32,tol=1e-5", (int)MPI_Comm_c2f(MPI_COMM_WORLD), NULL,
                                 &transform),
             rank))
    return 1;

  float* x = malloc(m * sizeof *x);
  float* y = malloc(m * sizeof *y);
  float* values = malloc(2 * m * sizeof *values);
  for (int j = 0; j < m; ++j) {
    x[j] = (float)sin(1.0 + j + 7.0 * rank);
    y[j] = (float)(3 * cos(2.0 * j));
  }
  int bad = failed(fourtune_mpi_set_points(transform, m, x, y, NULL, 0, NULL, NULL, NULL), rank);

  fourtune_mpi_part unused, modes; /* x is the fastest dimension; modes begin at -n/2 */
  fourtune_mpi_parts(transform, &unused, &modes);
  float* f = calloc((size_t)(2 * modes.size[0] * modes.size[1] + 1), sizeof *f);
  /* One mode is not zero, (k, l) = (3, -4): the values are exp(i (3 x - 4 y)). */
  const int64_t column = 3 + 32 - modes.first[0], row = -4 + 25 - modes.first[1];
  if (column >= 0 && column < modes.size[0]) f[2 * (row * modes.size[0] + column)] = 1;
  bad = bad || failed(fourtune_mpi_execute(transform, values, f), rank);

  double worst = 0;
  for (int j = 0; j < m && !bad; ++j) {
    const double angle = 3.0 * x[j] - 4.0 * y[j];
    worst = fmax(worst, hypot(values[2 * j] - cos(angle), values[2 * j + 1] - sin(angle)));
  }
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && !bad) printf("largest error %.1e\n%s\n", worst, worst < 1e-3 ? "right" : "WRONG");

  fourtune_mpi_destroy(transform);
  free(f), free(values), free(y), free(x);
  return bad || !(worst < 1e-3);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int bad = run(rank); /* transforms end before MPI does */
  MPI_Finalize();
  return bad;
}
