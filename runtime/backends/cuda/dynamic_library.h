// A shared library opened at run time, searched for in the places that the CUDA toolkit uses.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fourtune::runtime::cuda {

class DynamicLibrary {
 public:
  // Tries each name: first as the dynamic loader would (LD_LIBRARY_PATH, ld.so.conf), then in the library folders of
  // $CUDA_HOME, $CUDA_PATH and /usr/local/cuda. The result is empty() when none opens; why() then has the loader's
  // message.
  static DynamicLibrary open(const std::vector<std::string>& names);

  bool empty() const { return !handle_; }
  const std::string& path() const { return path_; }  // the path as opened
  const std::string& why() const { return why_; }
  void* find(const char* symbol) const;  // null when not found
  template <class Function>
  bool load(const char* symbol, Function& function) const {  // false, and a null function, when not found
    function = reinterpret_cast<Function>(find(symbol));
    return function != nullptr;
  }

 private:
  struct Close {
    void operator()(void* handle) const noexcept;
  };
  std::unique_ptr<void, Close> handle_;
  std::string path_, why_;
};

}  // namespace fourtune::runtime::cuda
