// Sizes, counts and positions are std::int64_t; at() makes one of them the index of a container.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fourtune::generator {

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace fourtune::generator
