// Compiles kernel texts to machine code: one at a time, or many on several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fourtune/status.h"
#include "generator/codegen/kernel_source.h"

namespace fourtune::runtime::cuda {

// What ptxas reports about an entry.
struct CompileReport {
  int registers = 0;  // per thread
  int spill_store_bytes = 0, spill_load_bytes = 0, stack_bytes = 0;
  int static_shared_bytes = 0;
  friend bool operator==(const CompileReport&, const CompileReport&) = default;
};
// Reads the program log of a compilation with --ptxas-options=-v; returns zeros for an entry not mentioned in it.
CompileReport parse_ptxas_log(std::string_view log, std::string_view entry);

// What a kernel is compiled to.
struct KernelTarget {
  // Implicit, since most code is for the machine code of one architecture.
  KernelTarget(int capability, bool as_ptx = false) : compute_capability(capability), ptx(as_ptx) {}
  int compute_capability;  // 10 major + minor
  bool ptx;                // not machine code but PTX, which drivers translate for this architecture and later ones
};
// "sm_90" or, for PTX, "compute_90": NVRTC's -arch, and what kernel stores and packs call it.
std::string to_text(KernelTarget target);
// Throws Error{invalid_argument} for other texts.
KernelTarget parse_target(std::string_view text);

enum class CompileOutcome { ok, failed, timeout };
struct CompiledKernel {
  CompileOutcome outcome = CompileOutcome::failed;
  std::vector<std::byte> image;  // cubin, or PTX that ends with NUL
  CompileReport report;
  std::string log;     // the compiler's messages
  double seconds = 0;  // time that compiling took
};

// The options that decide what a kernel compiles to; part of the store's key.
std::vector<std::string> compile_options(const generator::KernelSource& source, KernelTarget target);
// For example "nvrtc 13.0".
std::string nvrtc_version_text();

// Throws Error{backend_unavailable} without NVRTC, and Error{unsupported}, listing the targets that NVRTC supports,
// when it does not support this one. A text that does not compile is an outcome, not an error. `seconds` limits
// the calling thread's processor time, unless <= 0; it is checked when the compiler calls back, and not at all with an
// NVRTC without that callback. May be called from any thread.
CompiledKernel compile(const generator::KernelSource& source, KernelTarget target, double seconds = 0);

// Milliseconds of processor time that compiling takes, roughly (NVRTC 13.0, sm_90): what takes longest begins first. A
// length of text says little about a kernel that is unrolled: the slowest one of a type 3 was the fifth longest text.
std::size_t compile_weight(const generator::KernelSource& source);
// Compiles all sources on up to `threads` threads, the slowest first; results are in the order of the sources.
// Exceptions of a worker are rethrown when all workers have ended.
std::vector<CompiledKernel> compile_all(std::span<const generator::KernelSource> sources, KernelTarget target,
                                        int threads, double seconds_each = 0);
// Uses the same threads for any work: runs work(i) for each i, heaviest weight first. An item of weight 0 compiles
// nothing, and a thread that has no others gets no memory for it (compile_memory.h).
void run_longest_first(std::span<const std::size_t> weights, int threads, const std::function<void(std::size_t)>& work);

}  // namespace fourtune::runtime::cuda
