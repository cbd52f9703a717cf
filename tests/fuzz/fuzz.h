// Common parts of the fuzz targets. A target is one file: it passes bytes to one reader and checks the result against
// the promises in the reader's header. Refusals are our named exceptions; anything else ends the process, which the
// fuzzer then reports.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include "fourtune/status.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fourtune::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Prints the promise that does not hold and ends the process.
[[noreturn]] void broken(const std::string& promise, std::string_view seen = {});

inline void require(bool holds, const char* promise, std::string_view seen = {}) {
  if (!holds) broken(promise, seen);
}

// Overwrites parts of a file by a list of changes: three bytes of position, one byte of length, then that many bytes.
inline void change(std::string& file, std::string_view changes) {
  while (changes.size() > 4) {
    const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(changes[i])); };
    const std::size_t place = byte(0) | byte(1) << 8 | byte(2) << 16;
    const std::size_t count = std::min(byte(3), changes.size() - 4);
    for (std::size_t i = 0; i < count; ++i) file[(place + i) % file.size()] = changes[4 + i];
    changes.remove_prefix(4 + count);
  }
}

// True when `work` completed, false when it refused its input by an Error.
template <class Work>
bool accepted(Work&& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    require(error.what()[0] != '\0', "an error says what is wrong");
    return false;
  }
}

// A file in memory, for readers that take a path.
class MemoryFile {
 public:
  MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();
  void write(std::string_view bytes) const;  // replaces the previous contents
  std::string read() const;
  std::filesystem::path path() const;

 private:
  int descriptor_;
};

// A folder in memory where possible, removed when the process exits normally.
class Folder {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace fourtune::fuzz
