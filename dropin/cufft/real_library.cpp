#include "dropin/cufft/real_library.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <map>
#include <memory>
#include <unordered_map>

#include "base/fork_safe_mutex.h"

namespace fourtune::dropin {
namespace {

struct Named {
  const char* name;
  void* function;
};
const Named kOwn[] = {
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define FOURTUNE_NAMED(name, arguments) {#name, reinterpret_cast<void*>(&name)},
    FOURTUNE_CUFFT_FUNCTIONS(FOURTUNE_NAMED)
#undef FOURTUNE_NAMED
};

// The libraries by the address of a function that each of them has, and those of callers by return address.
struct Known {
  ForkSafeMutex mutex;
  std::map<void*, std::unique_ptr<RealLibrary>> libraries;
  std::unordered_map<const void*, const RealLibrary*> callers;
  const RealLibrary* asked_by_name = nullptr;
};
Known& known() {
  static Known* const only = new Known;  // never destroyed: plans are used until the process ends
  return *only;
}

// The library that `from` (of dlopen, or RTLD_NEXT) leads to; null if it has no cuFFT but ours.
const RealLibrary* library_of(void* from) {
  void* const mark = ::dlsym(from, "cufftDestroy");
  if (!mark || mark == own_function("cufftDestroy")) return nullptr;
  auto& entry = known().libraries[mark];
  if (entry) return entry.get();
  entry = std::make_unique<RealLibrary>();
// NOLINTBEGIN(bugprone-macro-parentheses)
#define FOURTUNE_LOAD(name, arguments) \
  if (void* const found = ::dlsym(from, #name)) entry->name = reinterpret_cast<int(*) arguments>(found);
  FOURTUNE_CUFFT_FUNCTIONS(FOURTUNE_LOAD)
#undef FOURTUNE_LOAD
  // NOLINTEND(bugprone-macro-parentheses)
  return entry.get();
}

const RealLibrary* loaded_library(const char* name) {
  void* const library = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  return library ? library_of(library) : nullptr;
}

const RealLibrary* find(const void* return_address) {
  Dl_info info{};
  link_map* object = nullptr;
  const bool found = ::dladdr1(return_address, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) != 0;
  if (found && object && object->l_name && *object->l_name)  // the program itself has no name
    if (const RealLibrary* library = loaded_library(object->l_name)) return library;
  if (const RealLibrary* library = library_of(RTLD_NEXT)) return library;
  if (known().asked_by_name) return known().asked_by_name;
  for (const char* name : {"libcufft.so.12", "libcufft.so.11", "libcufft.so.10", "libcufft.so"})
    if (const RealLibrary* library = loaded_library(name)) return library;
  return nullptr;
}

}  // namespace

const RealLibrary* real_library(const void* return_address) noexcept try {
  struct Last {
    const void* return_address = nullptr;
    const RealLibrary* library = nullptr;
  };
  thread_local Last last;
  if (last.return_address == return_address && last.library) return last.library;
  const std::lock_guard lock(known().mutex);
  const RealLibrary*& library = known().callers[return_address];
  if (!library) library = find(return_address);
  last = {return_address, library};
  return library;
} catch (...) {  // no memory
  return nullptr;
}

void* own_function(const char* name) noexcept {
  for (const Named& own : kOwn)
    if (__builtin_strcmp(own.name, name) == 0) return own.function;
  return nullptr;
}

void note_library(void* loaded) noexcept try {
  const std::lock_guard lock(known().mutex);
  if (const RealLibrary* library = library_of(loaded)) known().asked_by_name = library;
} catch (...) {  // no memory
}

}  // namespace fourtune::dropin
