// Functions of a drop-in library by their names, called without any header, as the linker of an old program would.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

namespace fourtune::test {

class Library {
 public:
  // `folder`: "" for the newest release, "2.4" for another one.
  Library(const std::string& name, const std::string& folder)
      : Library(std::string(FOURTUNE_BUILD_DIR) + "/lib/dropin/" + (folder.empty() ? "" : folder + "/") + "lib" + name +
                ".so") {}
  explicit Library(std::string path) : path_(std::move(path)), handle_(::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) ADD_FAILURE() << ::dlerror();
  }
  const std::string& path() const { return path_; }
  void* find(const std::string& function) const { return handle_ ? ::dlsym(handle_, function.c_str()) : nullptr; }

  template <class Result = int, class... Arguments>
  Result call(const std::string& function, Arguments... arguments) const {
    void* const found = find(function);
    if (!found) {
      ADD_FAILURE() << "no function " << function << " in " << path_;
      return Result();
    }
    return reinterpret_cast<Result (*)(Arguments...)>(found)(arguments...);
  }

 private:
  std::string path_;
  void* handle_;
};

// Of this process, in memory.
inline long resident_pages() {
  long all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident;
}

// `size` bytes whose end is the end of readable memory, all 0xAB: what writes or reads beyond them ends the process.
class AtTheEnd {
 public:
  explicit AtTheEnd(std::size_t size) : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    pages_ = static_cast<char*>(::mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(pages_ + page_, page_, PROT_NONE);
    std::memset(pages_, 0xAB, page_);
    bytes_ = pages_ + page_ - size;
  }
  ~AtTheEnd() { ::munmap(pages_, 2 * page_); }
  AtTheEnd(const AtTheEnd&) = delete;
  AtTheEnd& operator=(const AtTheEnd&) = delete;

  void* get() const { return bytes_; }
  template <class T>
  T at(std::size_t offset) const {
    T value;
    std::memcpy(&value, bytes_ + offset, sizeof value);
    return value;
  }
  template <class T>
  void set(std::size_t offset, T value) const {
    std::memcpy(bytes_ + offset, &value, sizeof value);
  }

 private:
  std::size_t page_;
  char *pages_, *bytes_;
};

}  // namespace fourtune::test
