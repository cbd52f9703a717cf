// Finds the functions of a peer's library.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

#include "tools/bench/peers/finufft.h"

namespace fourtune::tools {

// Throws PeerError{fault} if the file has no such function, because it is then not the assumed kind of library.
template <class Function>
void find_symbol(void* library, const std::string& path, const std::string& symbol, PeerFault fault,
                 const char* taken_for, Function& function) {
  void* found = dlsym(library, symbol.c_str());
  if (!found) throw PeerError(fault, fmt::format("{}: has no function {}; it is not {}", path, symbol, taken_for));
  function = reinterpret_cast<Function>(found);
}

// The functions of a library that has one of each kind for either precision.
template <template <class> class Interface>
struct InBothPrecisions {
  Interface<float> single;
  Interface<double> twice;

  template <class T>
  const Interface<T>& of() const {
    if constexpr (sizeof(T) == 4)
      return single;
    else
      return twice;
  }
};

}  // namespace fourtune::tools
