/* Transforms over the ranks of an MPI communicator, in C: link libfourtune_mpi instead of libfourtune.
 *
 * distributed.h has the rules: what is collective, parts, memory, errors and threads. fourtune.h has the formulas, the
 * options, statuses and fourtune_last_error. */
#pragma once

#include "fourtune/fourtune.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fourtune_mpi_transform fourtune_mpi_transform;

/* The part of a uniform array that a rank holds: positions first[d] .. first[d] + size[d] - 1 for x, y, z. */
typedef struct fourtune_mpi_part {
  int64_t first[3];
  int64_t size[3];
} fourtune_mpi_part;

/* Collective. `communicator` is the Fortran handle of an MPI communicator: (int)MPI_Comm_c2f(comm). options may be NULL.
 * *transform is NULL on failure. The status is the same on every rank. */
FOURTUNE_API fourtune_status fourtune_mpi_create(const char* problem, int communicator, const fourtune_options* options,
                                                 fourtune_mpi_transform** transform);
/* Collective. This rank's points; see fourtune_set_points. */
FOURTUNE_API fourtune_status fourtune_mpi_set_points(fourtune_mpi_transform* transform, int64_t m, const void* x,
                                                     const void* y, const void* z, int64_t k, const void* s,
                                                     const void* t, const void* u);
/* Collective. This rank's parts of the arrays; see fourtune_execute. */
FOURTUNE_API fourtune_status fourtune_mpi_execute(fourtune_mpi_transform* transform, void* point_values,
                                                  void* mode_values);
FOURTUNE_API fourtune_status fourtune_mpi_execute_adjoint(fourtune_mpi_transform* transform, void* point_values,
                                                          void* mode_values);
/* This rank's parts of an fft's first and second array; for types 1 and 2, `second` is its part of the modes and first
 * is unused. Either pointer may be NULL. A type 3 has no parts: invalid_argument. */
FOURTUNE_API fourtune_status fourtune_mpi_parts(const fourtune_mpi_transform* transform, fourtune_mpi_part* first,
                                                fourtune_mpi_part* second);
/* Says how the transform is split, which plan runs and why. Valid until the next call that uses this transform. */
FOURTUNE_API const char* fourtune_mpi_explain(const fourtune_mpi_transform* transform);
/* Collective, unless MPI has ended. NULL is allowed. */
FOURTUNE_API void fourtune_mpi_destroy(fourtune_mpi_transform* transform);

#ifdef __cplusplus
}
#endif
