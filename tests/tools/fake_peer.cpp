// An adapter of the peer interface in host memory that uses direct sums, whatever memory the program requests.
//   FAKE_INTERFACE  the version that it reports
//   FAKE_MEMORY     the result of fourtune_peer_memory
// It refuses in-place transforms.
#include <algorithm>
#include <cstring>

#include "tests/tools/fake_fft.h"
#include "tests/tools/fake_nufft.h"
#include "tools/bench/peers/peer_interface.h"

namespace {

struct Plan {
  fourtune_peer_problem problem;
  fake::Fft fft;
  fake::Plan<float> single{};
  fake::Plan<double> twice{};
};

template <class T>
fake::Plan<T> nonuniform(const fourtune_peer_problem& problem) {
  fake::Plan<T> plan{problem.type, problem.dim, problem.sign, static_cast<int>(problem.batch)};
  if (problem.type != 3) std::copy_n(problem.n, 3, plan.n);
  return plan;
}

fake::Fft uniform(const fourtune_peer_problem& problem) {
  fake::Fft fft;
  fft.type = static_cast<fake::Type>(problem.type);
  fft.sign = problem.sign;
  fft.batch = problem.batch;
  for (int d = 0; d < 3; ++d) {
    fft.n[d] = problem.n[d];
    fft.in.stride[d] = problem.in_stride[d];
    fft.out.stride[d] = problem.out_stride[d];
  }
  fft.in.distance = problem.in_distance;
  fft.out.distance = problem.out_distance;
  return fft;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED int fourtune_peer_interface() { return FAKE_INTERFACE; }
EXPORTED const char* fourtune_peer_name() { return "sums"; }
EXPORTED const char* fourtune_peer_describe() { return "direct sums 1.0"; }
EXPORTED int fourtune_peer_kinds() { return FOURTUNE_PEER_FFT | FOURTUNE_PEER_NUFFT; }
EXPORTED int fourtune_peer_memory() { return FAKE_MEMORY; }
EXPORTED int fourtune_peer_create(const fourtune_peer_problem* problem, void** out, char* message, size_t room) {
  if (problem->size < sizeof(fourtune_peer_problem)) return FOURTUNE_PEER_FAILED;
  if (problem->in_place) {
    std::strncpy(message, "in place is not done here", room);
    return FOURTUNE_PEER_REFUSED;
  }
  *out = new Plan{*problem, uniform(*problem), nonuniform<float>(*problem), nonuniform<double>(*problem)};
  return FOURTUNE_PEER_DONE;
}
EXPORTED int fourtune_peer_set_points(void* handle, int64_t m, const void* const x[3], int64_t k,
                                      const void* const s[3], void*) {
  auto& plan = *static_cast<Plan*>(handle);
  const auto place = [&]<class T>(fake::Plan<T>& to) {
    const auto of = [](const void* const arrays[3]) {
      const auto one = [&](int d) { return static_cast<const T*>(arrays[d]); };
      return fake::Coordinates<T>{one(0), one(1), one(2)};
    };
    return fake::place<T>(&to, m, of(x), k, of(s));
  };
  return plan.problem.precision == 4 ? place(plan.single) : place(plan.twice);
}
EXPORTED int fourtune_peer_execute(void* handle, void* first, void* second, void*) {
  auto& plan = *static_cast<Plan*>(handle);
  const bool single = plan.problem.precision == 4;
  if (plan.problem.kind == FOURTUNE_PEER_NUFFT)
    return single ? fake::run<float>(&plan.single, first, second) : fake::run<double>(&plan.twice, first, second);
  single ? fake::run<float>(plan.fft, first, second) : fake::run<double>(plan.fft, first, second);
  return FOURTUNE_PEER_DONE;
}
EXPORTED void fourtune_peer_destroy(void* handle) { delete static_cast<Plan*>(handle); }
