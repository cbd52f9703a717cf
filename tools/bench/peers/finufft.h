// FINUFFT as a contender, through the public C interface of a shared library loaded at run time. Nothing of it is
// linked, included or copied: the option structure is declared here for every version whose layout is known, and a
// library whose layout cannot be proved is refused.
//
// There is no version symbol. The version is the text "FINUFFT version X.Y.Z" in the file; then default_opts is called
// on two differently filled guarded buffers: bytes that both calls leave different were not written. All fields of the
// version's structure must have been written, nothing beyond its size, the defaults must be the documented ones, and
// both precisions must agree.
#pragma once

#include <memory>
#include <string>

#include "fourtune/problem.h"
#include "tools/bench/measure/contender.h"
#include "tools/common/errors.h"

namespace fourtune::tools {

enum class PeerFault {
  missing_file,
  not_loadable,     // the dynamic loader refuses it
  not_finufft,      // symbols of the interface are absent, of FINUFFT
  not_cufinufft,    // of cuFINUFFT,
  not_cufft,        // of cuFFT,
  not_an_adapter,   // of an adapter (tools/bench/peers/peer_interface.h)
  unknown_version,  // no version text, or a version whose option structure is not known
  layout_mismatch,  // the structure is not the version's
};
const char* to_string(PeerFault fault) noexcept;  // "missing_file", ...

// what() starts with the fault's name.
class PeerError : public UsageError {
 public:
  PeerError(PeerFault fault, const std::string& message);
  PeerFault fault() const noexcept { return fault_; }

 private:
  PeerFault fault_;
};

// A loaded library; stays loaded until the process ends (its threads may outlive any handle).
class FinufftLibrary {
 public:
  // Throws PeerError.
  explicit FinufftLibrary(const std::string& path);
  ~FinufftLibrary();
  const std::string& version() const noexcept;  // "2.5.1"
  const std::string& fft() const noexcept;      // "fftw", "ducc": the FFT behind it, by its default planner flag
  // Whether a request that it refuses as too accurate can be forced (2.6 and later).
  bool can_override() const noexcept;

  // Types 1 to 3, modes centred, everything but the thread count (and warnings, which are off) at its default. A
  // request refused as too accurate is made again with the override, and refusal() tells; other errors throw Failure.
  // The library must outlive the contender.
  std::unique_ptr<Contender> make(const Problem& problem, int threads) const;

 private:
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
  template <class T>
  friend class FinufftContender;
};

// The version in "... FINUFFT version 2.6.0-dev ..." somewhere in a file; empty when there is none.
std::string find_finufft_version(const std::string& path);

}  // namespace fourtune::tools
