// FFTs of many adjacent lines along the slowest dimension of an array in a GPU's memory, as AxisLines does on the
// processor. Generated kernels do them whatever their length, or the device's library where the plan says so.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "generator/plan/plan.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/fft/lines.h"
#include "runtime/distributed/counted_executors.h"

namespace fourtune::runtime::distributed {

class DeviceLines {
 public:
  struct Shape {
    std::int64_t length = 1;  // of a line
    // Lines that the arrays hold, side by side: elements from a position to the next, where they are read and written.
    std::int64_t from = 1, to = 1;
    int sign = -1;
    Precision precision = Precision::f64;
    // From an array to the next, where several are transformed at once.
    std::int64_t from_distance = 0, to_distance = 0;
    bool steady = false;  // bits do not depend on how many lines there are; by generated kernels, with codelets
  };
  // The backend outlives this. Throws Error{unsupported} where a backend makes no kernels.
  DeviceLines(const Backend& backend, const generator::Plan& plan, const Shape& shape, const ExecutorOptions& options);
  ~DeviceLines();

  // Makes the transform of so many lines at a time, each of so many arrays (several: by generated kernels). Throws what
  // binding and compiling throw.
  void prepare(std::int64_t count, std::int64_t arrays = 1);
  // Transforms these lines from one array to the other, on the stream of the options. run() takes the counts that were
  // prepared. adjoint: with the other sign, from `to` to `from`.
  void run(void* from, void* to, cpu::LineRange which, bool adjoint, std::int64_t arrays = 1);
  std::int64_t bytes() const;

 private:
  const Backend& backend_;
  std::unique_ptr<Backend> lines_backend_;  // whose kernels transform one dimension
  generator::Plan plan_;
  Shape shape_;
  ExecutorOptions options_;
  std::map<std::int64_t, CountedExecutors> ffts_;  // by the number of arrays
};

}  // namespace fourtune::runtime::distributed
