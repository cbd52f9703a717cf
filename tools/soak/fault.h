// A backend with deliberate faults of the kinds that `fourtune soak` looks for, so that tests can check that they are
// found.
#pragma once

#include <memory>
#include <string>

#include "runtime/backends/backend.h"

namespace fourtune::tools {

// The environment variable FOURTUNE_TEST_FAULT holds "KIND:TEXT". Executes of problems whose token contains TEXT
//   wrong    give a wrong value           behind, before   write one element outside the array that they write
//   noise    differ from call to call     input            change the array that they read
//   crash    end by a signal              hang             do not end
// The result has the traits of `sound` and a different name. Null when the variable asks for none of these faults.
std::unique_ptr<runtime::Backend> faulty_backend(const runtime::Backend& sound);

}  // namespace fourtune::tools
