// The data of one problem, placed where the contenders of a backend need it: the host's arrays themselves, or copies in
// device memory, in enough sets to exceed the device's cache.
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
  // The arguments of execute; they are equal in place. 0 <= set < sets().
  virtual int sets() const = 0;
  virtual void* first(int set) const = 0;
  virtual void* second(int set) const = 0;
  // True for transforms in place; on a device, transforms to real data may overwrite their input too.
  virtual bool destroys_input() const = 0;
  // prepare: renews the input and fills the output of set 0 with NaN. restore_input: renews the input of every set
  // where transforms destroy it.
  virtual void prepare() = 0;
  virtual void restore_input() = 0;
  // Relative l2 error of the output of set 0 on the sampled outputs. `reorder` is first applied to the output on the
  // host.
  virtual double error(const std::function<void(void*)>& reorder = {}) = 0;
  virtual void wait() = 0;
  virtual std::int64_t free_bytes() const = 0;  // 0: unknown
  virtual runtime::StreamTimer& timer() = 0;
  // The copies that a user with data on the host makes before and after: points and input of set 0, then its output.
  virtual void upload() = 0;
  virtual void download() = 0;
};

// Uses that device of the backend. Throws std::bad_alloc or Error{out_of_memory} when the data do not fit.
std::unique_ptr<BenchArrays> make_bench_arrays(const Problem& problem, std::uint64_t seed,
                                               const runtime::Backend& backend, int device = 0);

}  // namespace fourtune::tools
