// Two functions of the C library that a process has through us, only in the library that is preloaded.
//
// dlsym gives out our functions for those of cuFFT. Programs that open cuFFT themselves (CuPy for its callbacks, XLA,
// Julia) would else set a callback, or execute, behind our back.
//
// __cxa_atexit leaves out the destructors of our static objects and of NVRTC's. A process may end while our thread
// makes a transform; exit() would destroy what the thread is using before it gets to where it waits for the thread.
#include <dlfcn.h>

#include <cstring>

#include "dropin/cufft/plans.h"
#include "dropin/cufft/real_library.h"

namespace {

using Dlsym = void* (*)(void*, const char*);

Dlsym real_dlsym() {
  static const Dlsym found = [] {
    for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"})
      if (void* const one = ::dlvsym(RTLD_NEXT, "dlsym", version)) return reinterpret_cast<Dlsym>(one);
    return Dlsym(nullptr);
  }();
  return found;
}

bool is_here(const void* address) {
  Dl_info theirs{}, ours{};
  return ::dladdr(address, &theirs) != 0 && ::dladdr(reinterpret_cast<const void*>(&is_here), &ours) != 0 &&
         theirs.dli_fbase == ours.dli_fbase;
}

// Ours, if this handle's library has a cuFFT function of this name. RTLD_NEXT and RTLD_DEFAULT find ours in their
// order.
void* ours_instead(void* library, const char* name, const void* caller) noexcept {
  if (library == RTLD_NEXT || library == RTLD_DEFAULT || !name) return nullptr;
  if (std::strncmp(name, "cufft", 5) != 0 && std::strncmp(name, "__cufft", 7) != 0) return nullptr;
  void* const own = fourtune::dropin::own_function(name);
  if (!own || fourtune::dropin::mode() == fourtune::dropin::Mode::off || is_here(caller)) return nullptr;
  void* const found = real_dlsym()(library, name);
  if (!found || found == own) return found;
  fourtune::dropin::note_library(library);
  return own;
}

// Whether the shared object with this address in it is the compiler, or we.
bool is_left_alone(const void* object) {
  Dl_info info{};
  if (!object || ::dladdr(object, &info) == 0 || !info.dli_fname) return false;
  return is_here(object) || std::strstr(info.dli_fname, "libnvrtc") || std::strstr(info.dli_fname, "libnvJitLink");
}

}  // namespace

// The real function looks at its return address, so it is jumped to: a call in the last place, without a frame of ours.
extern "C" __attribute__((visibility("default"), optimize("O2"))) void* dlsym(void* library, const char* name) {
  if (void* const ours = ours_instead(library, name, __builtin_return_address(0))) return ours;
  return real_dlsym()(library, name);
}

// NOLINTNEXTLINE(bugprone-reserved-identifier): the C library's name
extern "C" __attribute__((visibility("default"))) int __cxa_atexit(void (*destroy)(void*), void* argument,
                                                                   void* object) {
  using Register = int (*)(void (*)(void*), void*, void*);
  static const auto real = reinterpret_cast<Register>(::dlsym(RTLD_NEXT, "__cxa_atexit"));
  if (is_left_alone(object)) return 0;
  return real ? real(destroy, argument, object) : -1;
}
