// The libraries that `fourtune bench` compares with. Each is loaded at run time through its public C interface; no part
// of it is linked, included or copied. The symbols in a file tell which interface it has: finufft.cpp, cufinufft.cpp,
// cufft.cpp, or peer_interface.h, which adapter.cpp calls. ours.cpp: this library.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "tools/bench/measure/contender.h"

namespace fourtune::tools {

// A loaded library. It stays loaded until the process ends, because its threads may outlive any handle, and it must
// outlive its contenders.
class PeerLibrary {
 public:
  virtual ~PeerLibrary() = default;
  virtual std::string name() const = 0;      // "cufft"
  virtual std::string describe() const = 0;  // "cuFFT 12.0.0"
  // Whether its arrays are in device memory.
  virtual bool on_device() const = 0;
  virtual bool on_host() const { return !on_device(); }
  // Selects the GPU that will hold the arrays, or -1 for host memory; needed by libraries that support both, or several
  // GPUs. That GPU's context is current when a contender is made and used.
  virtual void choose_device(int /*ordinal*/) {}
  virtual bool does(Kind kind) const = 0;
  // The variants that are worth a trial. Making one throws the library's error if it does not support the problem.
  virtual std::vector<Variant> variants(const Problem& problem, int threads) const = 0;
};

// Tries these kinds: an adapter (tools/bench/peers/peer_interface.h), cuFINUFFT, cuFFT, else FINUFFT. Throws PeerError.
std::unique_ptr<PeerLibrary> load_peer_library(const std::string& path);
// The cuFFT that this program itself would load. Throws Error{backend_unavailable}.
std::unique_ptr<PeerLibrary> load_own_cufft();

// Parts of load_peer_library. `library` is a handle from dlopen.
std::unique_ptr<PeerLibrary> make_cufft_peer(void* library, const std::string& path);
std::unique_ptr<PeerLibrary> make_cufinufft_peer(void* library, const std::string& path);
std::unique_ptr<PeerLibrary> make_adapter_peer(void* library, const std::string& path);

// A peer with the name that appears in its results: "cufft", and "cufft-2" for the second one.
struct Peer {
  std::string name, path;
  std::unique_ptr<PeerLibrary> library;
};
// Throws PeerError, and UsageError for a library whose arrays are not where the backend's are.
std::vector<Peer> load_peers(const std::vector<std::string>& paths, const runtime::Backend& backend, int device = 0);
Entrant peer_entrant(const Peer& peer, const Problem& problem, int threads);

}  // namespace fourtune::tools
