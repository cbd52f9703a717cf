// A backend that runs GPU programs, and can run others than those that the generator makes.
#pragma once

#include <memory>

#include "runtime/backends/backend.h"
#include "runtime/backends/gpu/nufft_queue.h"
#include "runtime/backends/gpu/program_source.h"

namespace fourtune::runtime::gpu {

class ProgramBackend : public Backend {
 public:
  // A backend of the same kind whose programs come from there.
  virtual std::unique_ptr<Backend> with_programs(ProgramSource programs) const = 0;
  // The device for programs that are no whole transform.
  virtual std::unique_ptr<Queue> queue(int device) const = 0;
};

}  // namespace fourtune::runtime::gpu
