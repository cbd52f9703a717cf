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

}  // namespace fourtune::tools
