// FINUFFT as a contender, through the public C interface of a shared library that is loaded at run time. No part of it
// is linked, included or copied: the option structure is declared here for every version with a known layout, and a
// library whose layout cannot be verified is refused.
//
// There is no version symbol. The version is the text "FINUFFT version X.Y.Z" in the file. To verify the layout,
// default_opts is called on two guarded buffers with different contents: bytes that still differ afterwards were not
// written. All fields of the version's structure must have been written, nothing beyond its size may have been, the
// defaults must be the documented ones, and both precisions must agree.
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
  not_finufft,      // symbols of the FINUFFT interface are missing
  not_cufinufft,    // the same for cuFINUFFT
  not_cufft,        // the same for cuFFT
  not_an_adapter,   // the same for an adapter (tools/bench/peers/peer_interface.h)
  unknown_version,  // no version text, or a version with an unknown option structure
  layout_mismatch,  // the structure does not match the version
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

// A loaded library. It stays loaded until the process ends, because its threads may outlive any handle.
class FinufftLibrary {
 public:
  // Throws PeerError.
  explicit FinufftLibrary(const std::string& path);
  ~FinufftLibrary();
  const std::string& version() const noexcept;  // "2.5.1"
  const std::string& fft() const noexcept;      // "fftw" or "ducc", by its default planner flag
  // Whether a request that the library refuses as too accurate can be forced (2.6 and later).
  bool can_override() const noexcept;

  // Types 1 to 3 with centred modes. All options except the thread count (and warnings, which are off) have their
  // defaults. A request that is refused as too accurate is repeated with the override, and refusal() reports it; other
  // errors throw Failure. The library must outlive the contender.
  std::unique_ptr<Contender> make(const Problem& problem, int threads) const;

 private:
  struct Functions;
  std::unique_ptr<Functions> functions_;
  template <class T>
  friend class FinufftContender;
};

// The version in "... FINUFFT version 2.6.0-dev ..." anywhere in a file; empty when there is none.
std::string find_finufft_version(const std::string& path);

}  // namespace fourtune::tools
