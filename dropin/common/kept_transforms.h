// Transforms that were destroyed by their owners and wait for the next one who asks for the same.
//
// Programs make and destroy plans in loops, and the simple functions do so in every call. A small transform takes
// longer to make than to execute. 16 are kept at most, the least recently used one goes first: of the processor those
// that hold at most 4 MiB, of each GPU as many as hold 1/32 of its memory together, or 1 GiB if that is less, as a
// device takes 10 to 90 ms to load kernels and make room even for large ones. All functions may be called from any
// thread, and in the child of a fork.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fourtune/transform.h"

namespace fourtune::dropin {

// Of each library.
struct Keeping {
  std::int64_t each = 0;               // bytes that one transform may hold
  std::int64_t (*all)(int) = nullptr;  // and all those of a device together
  bool streams = false;                // the next owner may have another stream
};
extern const Keeping keeping;

// A transform of this problem (without its points) and these options: a kept one, on options.stream, or a new one.
std::unique_ptr<Transform> take_transform(const std::string& token, const Options& options);

// Keeps the transform, or destroys it. It was made by take_transform with these arguments.
void give_transform(const std::string& token, const Options& options, std::unique_ptr<Transform> transform) noexcept;

}  // namespace fourtune::dropin
