// The libraries that `fourtune bench` compares with, each loaded at run time through its public C interface: nothing of
// them is linked, included or copied. Which interface a file has is told by its symbols.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "tools/bench/measure/contender.h"

namespace fourtune::tools {

// A loaded library; stays loaded until the process ends (its threads may outlive any handle) and must outlive its
// contenders.
class PeerLibrary {
 public:
  virtual ~PeerLibrary() = default;
  virtual std::string name() const = 0;      // "cufft"
  virtual std::string describe() const = 0;  // "cuFFT 12.0.0"
  // Where its arrays are.
  virtual bool on_device() const = 0;
  virtual bool on_host() const { return !on_device(); }
  // The GPU that arrays will be on, or -1 for the host's memory: for libraries that do both, or several GPUs. That
  // GPU's context is current when a contender is made and used.
  virtual void choose_device(int /*ordinal*/) {}
  virtual bool does(Kind kind) const = 0;
  // The ways to run it that are worth a trial. Making one throws what the library says against the problem.
  virtual std::vector<Variant> variants(const Problem& problem, int threads) const = 0;
};

// Kinds: an adapter (tools/bench/peers/peer_interface.h), cuFINUFFT, cuFFT, else FINUFFT. Throws PeerError.
std::unique_ptr<PeerLibrary> load_peer_library(const std::string& path);
// The cuFFT that this program itself would load. Throws Error{backend_unavailable}.
std::unique_ptr<PeerLibrary> load_own_cufft();

// Parts of load_peer_library. `library` is a handle of dlopen.
std::unique_ptr<PeerLibrary> make_cufft_peer(void* library, const std::string& path);
std::unique_ptr<PeerLibrary> make_cufinufft_peer(void* library, const std::string& path);
std::unique_ptr<PeerLibrary> make_adapter_peer(void* library, const std::string& path);

// A peer with the name that its results carry: "cufft", and "cufft-2" for the second one.
struct Peer {
  std::string name, path;
  std::unique_ptr<PeerLibrary> library;
};
// Throws PeerError, and UsageError for a library whose arrays are elsewhere than the backend's.
std::vector<Peer> load_peers(const std::vector<std::string>& paths, const runtime::Backend& backend, int device = 0);
Entrant peer_entrant(const Peer& peer, const Problem& problem, int threads);

}  // namespace fourtune::tools
