#include "tools/bench/peers/peers.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "generator/plan/gpu_plan.h"
#include "runtime/backends/cuda/cufft_api.h"
#include "tools/bench/peers/finufft.h"
#include "tools/common/device_arrays.h"

namespace fourtune::tools {
namespace {

class FinufftPeer final : public PeerLibrary {
 public:
  explicit FinufftPeer(const std::string& path) : library_(path) {}
  std::string name() const override { return "finufft-" + library_.fft(); }
  std::string describe() const override {
    return fmt::format("FINUFFT {}, {} FFT", library_.version(), library_.fft());
  }
  bool on_device() const override { return false; }
  bool does(Kind kind) const override { return kind == Kind::nufft; }
  std::vector<Variant> variants(const Problem&, int threads) const override {
    return {{{}, [this, threads](const Problem& problem) { return library_.make(problem, threads); }}};
  }

 private:
  FinufftLibrary library_;
};

std::unique_ptr<PeerLibrary> recognise(void* library, const std::string& path) {
  if (dlsym(library, "fourtune_peer_create")) return make_adapter_peer(library, path);
  if (dlsym(library, "cufinufft_makeplan")) return make_cufinufft_peer(library, path);
  if (dlsym(library, "cufftMakePlanMany64")) return make_cufft_peer(library, path);
  return std::make_unique<FinufftPeer>(path);
}

}  // namespace

std::unique_ptr<PeerLibrary> load_peer_library(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw PeerError(PeerFault::missing_file, fmt::format("{}: there is no such file", path));
  // With absolute paths, two builds with the same soname count as two libraries.
  const std::string absolute = std::filesystem::canonical(path).string();
  void* library = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* reason = dlerror();
    throw PeerError(PeerFault::not_loadable, reason ? reason : path);
  }
  return recognise(library, absolute);
}

std::unique_ptr<PeerLibrary> load_own_cufft() {
  const std::string path = runtime::cuda::cufft().path;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // it is loaded already
  if (!library) throw PeerError(PeerFault::not_loadable, path);
  return make_cufft_peer(library, path);
}

std::vector<Peer> load_peers(const std::vector<std::string>& paths, const runtime::Backend& backend, int ordinal) {
  const bool device = !takes_host_arrays(backend);
  std::vector<Peer> peers;
  std::set<std::string> names;
  const auto add = [&](std::unique_ptr<PeerLibrary> library, const std::string& path) {
    if (device ? !library->on_device() : !library->on_host())
      throw UsageError(
          fmt::format("--peer {}: {} works on arrays in {} memory", path, library->describe(), device ? "host" : "GPU"),
          device ? "leave --backend out for it" : "give --backend cuda with it");
    library->choose_device(device ? ordinal : -1);
    std::string name = library->name();
    for (int copy = 2; !names.insert(name).second; ++copy) name = fmt::format("{}-{}", library->name(), copy);
    peers.push_back({name, path, std::move(library)});
  };
  for (const std::string& path : paths) add(load_peer_library(path), path);
  bool ffts = false;
  for (const Peer& peer : peers) ffts = ffts || peer.library->name() == "cufft";
  if (generator::has_gpu_fft_library(backend.name()) && !ffts && runtime::cuda::why_no_cufft().empty())
    add(load_own_cufft(), runtime::cuda::cufft().path);
  return peers;
}

Entrant peer_entrant(const Peer& peer, const Problem& problem, int threads) {
  return {peer.name, Role::peer, "peer:" + peer.path, peer.library->variants(problem, threads)};
}

}  // namespace fourtune::tools
