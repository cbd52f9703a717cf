// The C interface of transforms over ranks.
#include <algorithm>
#include <string>

#include "fourtune/distributed.h"
#include "fourtune/fourtune_mpi.h"
#include "runtime/c_boundary.h"
#include "runtime/distributed/communicator.h"

struct fourtune_mpi_transform {
  fourtune::DistributedTransform transform;
  mutable std::string explain;  // keeps the text returned alive
};

namespace {

using fourtune::Status;
using fourtune::runtime::guarded;
using fourtune::runtime::options_of;
using fourtune::runtime::refuse;

fourtune::DistributedTransform& checked(fourtune_mpi_transform* transform) {
  if (transform == nullptr) refuse(Status::invalid_argument, "the transform is null");
  return transform->transform;
}

void copy(const fourtune::Part& from, fourtune_mpi_part* to) {
  if (to == nullptr) return;
  std::copy(from.first.begin(), from.first.end(), to->first);
  std::copy(from.size.begin(), from.size.end(), to->size);
}

}  // namespace

extern "C" {

fourtune_status fourtune_mpi_create(const char* problem, int communicator, const fourtune_options* options,
                                    fourtune_mpi_transform** transform) {
  if (transform != nullptr) *transform = nullptr;
  return guarded([&] {
    fourtune::Options chosen;
    // What is wrong on this rank alone, all ranks have to hear of.
    fourtune::runtime::distributed::Communicator(communicator).together([&] {
      if (problem == nullptr) refuse(Status::invalid_argument, "the problem is null");
      if (transform == nullptr) refuse(Status::invalid_argument, "the pointer to receive the transform is null");
      chosen = options_of(options);
    });
    *transform = new fourtune_mpi_transform{fourtune::DistributedTransform(problem, communicator, chosen), {}};
  });
}

fourtune_status fourtune_mpi_set_points(fourtune_mpi_transform* transform, int64_t m, const void* x, const void* y,
                                        const void* z, int64_t k, const void* s, const void* t, const void* u) {
  return guarded([&] { checked(transform).set_points({m, x, y, z, k, s, t, u}); });
}

fourtune_status fourtune_mpi_execute(fourtune_mpi_transform* transform, void* point_values, void* mode_values) {
  return guarded([&] { checked(transform).execute(point_values, mode_values); });
}

fourtune_status fourtune_mpi_execute_adjoint(fourtune_mpi_transform* transform, void* point_values, void* mode_values) {
  return guarded([&] { checked(transform).execute_adjoint(point_values, mode_values); });
}

fourtune_status fourtune_mpi_parts(const fourtune_mpi_transform* transform, fourtune_mpi_part* first,
                                   fourtune_mpi_part* second) {
  return guarded([&] {
    if (transform == nullptr) refuse(Status::invalid_argument, "the transform is null");
    const fourtune::DistributedTransform& one = transform->transform;
    if (one.problem().kind == fourtune::Kind::fft) {
      copy(one.first_part(), first);
      copy(one.second_part(), second);
    } else {
      copy(one.modes(), second);
    }
  });
}

const char* fourtune_mpi_explain(const fourtune_mpi_transform* transform) {
  if (transform == nullptr) return "";
  const fourtune_status status = guarded([&] { transform->explain = transform->transform.explain(); });
  return status == FOURTUNE_SUCCESS ? transform->explain.c_str() : "";
}

void fourtune_mpi_destroy(fourtune_mpi_transform* transform) { delete transform; }

}  // extern "C"
