// The data of one problem where the contenders of a backend want it: the host's arrays as they are, or copies in the
// device's memory, in as many sets as it takes to be past its cache.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "fourtune/problem.h"
#include "fourtune/transform.h"
#include "runtime/backends/backend.h"

namespace fourtune::tools {

class BenchArrays {
 public:
  virtual ~BenchArrays() = default;
  virtual bool on_device() const = 0;
  virtual Points points() const = 0;
  // Arguments of execute; equal in place. 0 <= set < sets().
  virtual int sets() const = 0;
  virtual void* first(int set) const = 0;
  virtual void* second(int set) const = 0;
  // A transform in place overwrites its input; so may one to real data on a device.
  virtual bool destroys_input() const = 0;
  // prepare: fresh input and NaN in the output of set 0. restore_input: fresh input in every set where it is destroyed.
  virtual void prepare() = 0;
  virtual void restore_input() = 0;
  // Relative l2 error of the output of set 0 on the sampled outputs, after `reorder` has seen it on the host.
  virtual double error(const std::function<void(void*)>& reorder = {}) = 0;
  virtual void wait() = 0;
  virtual std::int64_t free_bytes() const = 0;  // 0: unknown
  virtual runtime::StreamTimer& timer() = 0;
  // What a user with data on the host does before and after: points and input of set 0, its output.
  virtual void upload() = 0;
  virtual void download() = 0;
};

// On that device of the backend. Throws std::bad_alloc or Error{out_of_memory} when the data do not fit.
std::unique_ptr<BenchArrays> make_bench_arrays(const Problem& problem, std::uint64_t seed,
                                               const runtime::Backend& backend, int device = 0);

}  // namespace fourtune::tools
