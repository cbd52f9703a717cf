// Checks whether a transform's result is right. A problem's points, input and reference are made once for all
// candidates.
//
// A result is right when two tests pass. First, the relative l2 error of sampled outputs against direct sums in higher
// precision is at most max(3 tol, 30 eps). Second, the adjoint is consistent: |<Ax, Ax> - <x, A*Ax>| / |Ax|^2 is within
// the same bound. The second test sees every output, the first only a sample.
#pragma once

#include <complex>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "tuner/measure/spent.h"

namespace fourtune::tuner {

class DeviceSums;

// Returns the problem as it is tuned. An absent m becomes density 1 (one point per mode). For type 3, an absent m or k
// takes the value of the other, or 2^16 when both are absent. Fields with a separate default (points, extent) stay
// absent.
Problem bound_problem(const Problem& problem);

struct Validation {
  bool right = false;
  double error = 0;             // relative l2; NaN when an output is NaN or was never written
  double adjoint_mismatch = 0;  // 0 where no adjoint can be tested (real transforms)
  std::string message;          // what is wrong
};

// How much of a device's result is fetched and compared when an earlier right result is kept.
enum class Look {
  whole,
  pieces,  // some of the sampled outputs, and up to 4 MB of the others in up to 256 pieces; dense arrays only
  adjoint  // the whole result, and the adjoint is tested in any case
};

// The positions of sampled outputs in the output array, what they should be, and how many outputs each stands for.
struct References {
  std::vector<std::int64_t> at;
  std::vector<std::complex<double>> value;
  std::vector<double> weight;
};

// Synthetic inputs of one bound problem, and the arrays that executors work on. Holds about as much memory as a user of
// the transform holds, plus one copy of the input. Not thread-safe.
class ProblemData {
 public:
  // Throws Error{invalid_problem} when m or k is unknown, and std::bad_alloc when the data do not fit in memory.
  // recorded: the folder of recorded points, for problems of class recorded (recorded_points.h).
  // later: make_references() or take_references() comes next; else the host makes them now.
  ProblemData(const Problem& problem, std::uint64_t seed, const std::filesystem::path& recorded = {},
              bool later = false);
  ~ProblemData();
  const Problem& problem() const;
  // What making it took.
  const Spent& spent() const;
  // Sums what the output should be, at some places, unless that was done. sums: of the device whose memory is in use;
  // null: the host. Only inputs as they were made are read, so it may come at any time before the first check.
  void make_references(DeviceSums* sums = nullptr);
  // Null before they are made. They serve any data of the same problem, seed and recorded points.
  std::shared_ptr<const References> references() const;
  void take_references(std::shared_ptr<const References> made);
  // Valid while this object lives; empty for an fft.
  runtime::PointSet points() const;
  // The arguments of Executor::execute; they are equal for an in-place fft.
  void* first();
  void* second();
  // Writes the input again after an in-place transform or an earlier candidate has overwritten it.
  void restore_input();
  // Restores the input and fills the output with NaN, so that a later error() sees only what was written since.
  void prepare();
  // From now on points and arrays are copies in this memory (of a device), with `sets` sets of arrays. Results are
  // fetched to the host when they are checked. Throws Error{out_of_memory}.
  void use(std::unique_ptr<runtime::ArrayMemory> memory, int sets);
  // Bytes of both arrays together, and the number of sets. Sets after the first are used for timing only.
  std::size_t array_bytes() const;
  int sets() const;
  void* first(int set);
  void* second(int set);
  // Whether a whole result was right; later ones are compared with it, and need no adjoint.
  bool has_right_result() const;
  // The relative l2 error of the present output array, on the sampled outputs of a forward transform.
  double error() const;
  // Restores the input, fills the output with NaN, executes once forward and once adjoint, and compares. The points
  // must be set. Exceptions of the executor pass through. On a device, once a whole result has passed, later results
  // are compared with it instead of testing the adjoint: this also sees every output, and no kernel of the adjoint has
  // to be compiled. Two right results of a nonuniform transform may differ by twice what each is off.
  Validation validate(runtime::Executor& executor, Look look = Look::whole);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fourtune::tuner
