// A kernel text compiled for the processor and loaded.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "generator/codegen/kernel_source.h"
#include "runtime/backends/emulated/host_table.h"

namespace fourtune::runtime::emulated {

struct CompileOptions {
  bool instrumented = false;  // checks every memory access: races, exact bounds, uninitialised reads
  bool undefined = false;     // traps on undefined behaviour
  friend bool operator==(const CompileOptions&, const CompileOptions&) = default;
};

using Index3 = std::array<std::uint32_t, 3>;

// Threads: compile and load from any thread; run from one thread at a time (the module has the built-in variables).
class Module {
 public:
  // Compiles with the C++ compiler $FOURTUNE_EMULATED_CXX, else g++ on the PATH, into cache_folder(), where the result
  // is found again by the digest of text, options and compiler. Throws Error{backend_unavailable} without a compiler
  // and Error{internal} with the compiler's messages when the text does not compile.
  Module(const generator::KernelSource& source, const CompileOptions& options);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();

  const std::string& entry() const { return entry_; }
  const CompileOptions& options() const { return options_; }
  int parameters() const { return parameters_; }

  // The module's built-in variables and the function that calls its entry.
  Index3* thread_index = nullptr;
  Index3* block_index = nullptr;
  Index3* block_dim = nullptr;
  Index3* grid_dim = nullptr;
  void (*call)(void** arguments) = nullptr;

  // True for an address in its code or data.
  bool holds(const void* address) const { return address >= begin_ && address < end_; }
  const void* begin() const { return begin_; }
  // The line of the kernel's text that produced the instruction before `where`; 0 when unknown. Starts addr2line.
  int line_of(const void* where) const;

 private:
  struct Close {
    void operator()(void* handle) const noexcept;
  };
  std::string entry_;
  CompileOptions options_;
  std::filesystem::path file_;
  std::unique_ptr<void, Close> handle_;
  const void* begin_ = nullptr;
  const void* end_ = nullptr;
  int parameters_ = 0;
};

// The text that the compiler receives after the shim: the unchanged kernel, and the function that calls it.
std::string compiled_text(const generator::KernelSource& source);
// $FOURTUNE_EMULATED_CACHE, else a private folder of this user in the system's temporary folder.
std::filesystem::path cache_folder();
// The first line of the compiler's version; empty when no compiler runs.
std::string compiler_version();
// How many times this process has started the compiler.
int compilations() noexcept;

}  // namespace fourtune::runtime::emulated
