// MPI lets a program define its functions and call the real ones as PMPI_.
#include "tests/distributed/count_bytes.h"

#include <mpi.h>

#include "tests/distributed/support.h"

namespace fourtune::test {
std::int64_t sent = 0;
}

namespace {

using fourtune::test::sent;

std::int64_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::int64_t>(count) * size;
}
std::int64_t others(MPI_Comm comm) { return fourtune::test::size_of(comm) - 1; }

}  // namespace

#define SEEN extern "C" __attribute__((visibility("default")))
SEEN int MPI_Isend(const void* at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  sent += bytes_of(count, type);
  return PMPI_Isend(at, count, type, to, tag, comm, request);
}
// What a rank contributes to a collective counts once for each other rank that gets it.
SEEN int MPI_Alltoall(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type,
                      MPI_Comm comm) {
  sent += bytes_of(count, type) * others(comm);
  return PMPI_Alltoall(from, count, type, to, to_count, to_type, comm);
}
SEEN int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  sent += bytes_of(count, type) * (others(comm) > 0 ? 2 : 0);
  return PMPI_Allreduce(from, to, count, type, op, comm);
}
SEEN int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type,
                       MPI_Comm comm) {
  sent += bytes_of(count, type) * others(comm);
  return PMPI_Allgather(from, count, type, to, to_count, to_type, comm);
}
#undef SEEN
