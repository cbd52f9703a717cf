// The cuFFT that a caller would have without us. loader.cpp serves programs that look its functions up by name.
#pragma once

#include "dropin/cufft/interface.h"

namespace fourtune::dropin {

// Its functions; null where that version has none.
struct RealLibrary {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name and a list of types
#define FOURTUNE_MEMBER(name, arguments) int(*name) arguments = nullptr;
  FOURTUNE_CUFFT_FUNCTIONS(FOURTUNE_MEMBER)
#undef FOURTUNE_MEMBER
};

// The library of the code at this return address: the one that this shared object is or needs (a process may
// have two, and an object may contain cuFFT), else the next one in the loader's order, else the one that was asked for
// by dlsym, else one that is loaded. Null: there is none. It lives as long as the process. Any thread.
const RealLibrary* real_library(const void* return_address) noexcept;

// The function of ours of this name, or null.
void* own_function(const char* name) noexcept;

// Notes the library that `dlopen` gave to somebody, who asks it for functions by name.
void note_library(void* loaded) noexcept;

}  // namespace fourtune::dropin
