// Is a transform's result right? A problem's points, input and reference are made once and serve every candidate.
//
// Right means: the relative l2 error on sampled outputs against direct sums in higher precision is at most
// max(3 tol, 30 eps), and the adjoint is the adjoint: |<Ax, Ax> - <x, A*Ax>| / |Ax|^2 is within the same bound. The
// second test sees every output, the first only a sample.
#pragma once

#include <complex>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"

namespace fourtune::tuner {

// The problem as it is tuned: an absent m is density 1 (one point a mode); for type 3, absent m and k are each other,
// or 2^16 when both are absent. What has a default of its own (points, extent) stays absent.
Problem bound_problem(const Problem& problem);

struct Validation {
  bool right = false;
  double error = 0;             // relative l2; NaN when an output is NaN or was never written
  double adjoint_mismatch = 0;  // 0 where there is no adjoint to test (real transforms)
  std::string message;          // what is wrong
};

// How much of a device's result is fetched and compared, where an earlier right one is kept.
enum class Look {
  whole,
  pieces  // the sampled outputs, and 1/1024 to 64 MB of the others in up to 512 pieces, of dense uniform transforms
};

// Synthetic inputs of one bound problem and the arrays that executors work on. Holds about the memory that a user of
// the transform holds, plus one copy of the input. Not thread-safe.
class ProblemData {
 public:
  // Throws Error{invalid_problem} when m or k is unknown, std::bad_alloc when it does not fit.
  // recorded: folder of recorded points, for problems of that class (recorded_points.h).
  ProblemData(const Problem& problem, std::uint64_t seed, const std::filesystem::path& recorded = {});
  ~ProblemData();
  const Problem& problem() const;
  // Valid as long as this object; empty for an fft.
  runtime::PointSet points() const;
  // Arguments of Executor::execute; equal for an in-place fft.
  void* first();
  void* second();
  // Writes the input again (an in-place transform, or an earlier candidate, has overwritten it).
  void restore_input();
  // Restores the input and fills the output with NaN, so that error() afterwards sees only what was written since.
  void prepare();
  // From now on points and arrays are copies in this memory (a device's), in so many sets; host results are fetched
  // when they are looked at. Throws Error{out_of_memory}.
  void use(std::unique_ptr<runtime::ArrayMemory> memory, int sets);
  // Bytes of both arrays, and how many sets of them there are; further sets are for timing only.
  std::size_t array_bytes() const;
  int sets() const;
  void* first(int set);
  void* second(int set);
  // Relative l2 error of the output array as it is now, on the sampled outputs of a forward transform.
  double error() const;
  // Executes once forward and once adjoint on a freshly restored input with NaN in the output, and compares. The points
  // must be set. What the executor throws passes through. On a device the whole result of an fft that passed takes the
  // adjoint's part from then on: it sees every output too, and no kernel of the adjoint has to be compiled.
  Validation validate(runtime::Executor& executor, Look look = Look::whole);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fourtune::tuner
