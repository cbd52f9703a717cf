// Kernels compiled for the processor and loaded.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "generator/codegen/kernel_source.h"
#include "runtime/backends/emulated/host_table.h"

namespace fourtune::runtime::emulated {

struct CompileOptions {
  bool instrumented = false;  // checks every memory access: races, exact bounds, uninitialised reads
  bool undefined = false;     // traps on undefined behaviour
  // Compiles in two thirds of the time and runs slower. Not for instrumented kernels: a vector that is read and used in
  // part counts as uninitialised. Products and sums are not contracted as the CUDA compilers do it.
  bool quick = false;
  friend bool operator==(const CompileOptions&, const CompileOptions&) = default;
};

using Index3 = std::array<std::uint32_t, 3>;

struct Binary;

// One kernel. Kernels that were compiled together share their built-in variables.
class Module {
 public:
  // `name` is the kernel's name in the binary.
  Module(std::shared_ptr<const Binary> binary, const std::string& name, std::string entry,
         const CompileOptions& options);

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
  std::shared_ptr<const Binary> binary_;
  std::string entry_;
  CompileOptions options_;
  const void* begin_ = nullptr;
  const void* end_ = nullptr;
  int parameters_ = 0;
};

// Compiles kernels with $FOURTUNE_EMULATED_CXX, else g++ on the PATH. The result is kept in cache_folder(), where each
// kernel is found again by the digest of its text, options and compiler, whatever it was compiled with. Those that are
// missing are compiled together, since starting compiler and linker takes as long as translating a kernel. Returns a
// module for each kernel, in their order. Throws Error{backend_unavailable} without a compiler and Error{internal} with
// the compiler's messages if a text does not compile. Threads: may be called from any thread; the modules of one call
// may run one at a time.
std::vector<std::unique_ptr<Module>> compile_modules(std::span<const generator::KernelSource> kernels,
                                                     const CompileOptions& options);

// $FOURTUNE_EMULATED_CACHE, else a private folder of this user in the system's temporary folder.
std::filesystem::path cache_folder();
// The first line of the compiler's version; empty when no compiler runs.
std::string compiler_version();
// How many times this process has started the compiler.
int compilations() noexcept;

}  // namespace fourtune::runtime::emulated
