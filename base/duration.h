// Times as people read them.
#pragma once

#include <string>

namespace fourtune::text {

// With three digits: "108 ns", "45.6 us", "1.23 ms", "2.00 s"; "-" for what is no time.
std::string duration(double seconds);

}  // namespace fourtune::text
