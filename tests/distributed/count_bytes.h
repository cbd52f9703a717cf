// Counts what passes between the library and MPI.
#pragma once

#include <cstdint>

namespace fourtune::test {

// Bytes of this rank's messages since it was last set to 0.
extern std::int64_t sent;

}  // namespace fourtune::test
