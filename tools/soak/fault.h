// A backend that does on purpose what `fourtune soak` looks for, so that tests can see it found.
#pragma once

#include <memory>
#include <string>

#include "runtime/backends/backend.h"

namespace fourtune::tools {

// "KIND:TEXT" of the environment variable FOURTUNE_TEST_FAULT: executes of problems whose token contains TEXT
//   wrong    give a wrong value           behind, before   write one element outside the array that they write
//   noise    differ from call to call     input            change the array that they read
//   crash    end by a signal              hang             do not end
// The result has the traits of `sound` and another name. Null when the variable asks for nothing of this.
std::unique_ptr<runtime::Backend> faulty_backend(const runtime::Backend& sound);

}  // namespace fourtune::tools
