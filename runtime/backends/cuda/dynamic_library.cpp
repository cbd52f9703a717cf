#include "runtime/backends/cuda/dynamic_library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>

namespace fourtune::runtime::cuda {

// Never closed: NVIDIA's libraries keep threads and handlers that outlive their users.
void DynamicLibrary::Close::operator()(void*) const noexcept {}

DynamicLibrary DynamicLibrary::open(const std::vector<std::string>& names) {
  std::vector<std::string> folders{""};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(variable); value && *value)
      for (const char* inner : {"/lib64/", "/lib/", "/targets/x86_64-linux/lib/", "/targets/sbsa-linux/lib/"})
        folders.push_back(std::string(value) + inner);
  for (const char* inner : {"lib64/", "lib/", "targets/x86_64-linux/lib/", "targets/sbsa-linux/lib/"})
    folders.push_back(std::string("/usr/local/cuda/") + inner);
  DynamicLibrary library;
  for (const std::string& name : names)
    for (const std::string& folder : folders) {
      const std::string path = folder + name;
      if (void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        library.handle_.reset(handle);
        link_map* loaded = nullptr;
        const bool known = ::dlinfo(handle, RTLD_DI_LINKMAP, &loaded) == 0 && loaded && *loaded->l_name;
        library.path_ = known ? loaded->l_name : path;
        return library;
      }
      const char* error = ::dlerror();
      if (library.why_.empty()) library.why_ = error ? error : "cannot be opened";
    }
  return library;
}

void* DynamicLibrary::find(const char* symbol) const { return handle_ ? ::dlsym(handle_.get(), symbol) : nullptr; }

}  // namespace fourtune::runtime::cuda
