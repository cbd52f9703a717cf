#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace fourtune::fuzz {

void broken(const std::string& promise, std::string_view seen) {
  std::fprintf(stderr, "broken promise: %s\n%.*s\n", promise.c_str(), static_cast<int>(seen.size()), seen.data());
  std::abort();
}

MemoryFile::MemoryFile() : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
  require(descriptor_ >= 0, "the machine has files in memory");
}

MemoryFile::~MemoryFile() { ::close(descriptor_); }

std::filesystem::path MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

void MemoryFile::write(std::string_view bytes) const {
  require(::ftruncate(descriptor_, 0) == 0, "a file in memory can be emptied");
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t some = ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    require(some > 0, "a file in memory can be written");
    done += static_cast<std::size_t>(some);
  }
}

std::string MemoryFile::read() const {
  std::ifstream in(path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Folder::Folder() {
  const bool memory = ::access("/dev/shm", W_OK) == 0;
  const std::filesystem::path parent = memory ? "/dev/shm" : std::filesystem::temp_directory_path();
  std::string name = (parent / "fourtune-fuzz-XXXXXX").string();
  require(::mkdtemp(name.data()) != nullptr, "a folder can be made", name);
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace fourtune::fuzz
