// Any library as a contender, through the C interface of tools/bench/peers/peer_interface.h.
#include <array>

#include "tools/bench/peers/peer_interface.h"
#include "tools/bench/peers/peers.h"
#include "tools/bench/peers/symbol.h"

namespace fourtune::tools {
namespace {

struct Api {
  decltype(&fourtune_peer_interface) version;
  decltype(&fourtune_peer_name) name;
  decltype(&fourtune_peer_describe) describe;
  decltype(&fourtune_peer_kinds) kinds;
  decltype(&fourtune_peer_memory) memory;
  decltype(&fourtune_peer_create) create;
  decltype(&fourtune_peer_set_points) set_points = nullptr;
  decltype(&fourtune_peer_execute) execute;
  decltype(&fourtune_peer_destroy) destroy;
};

fourtune_peer_problem described(const Problem& problem, const std::string& token, int device, int threads) {
  fourtune_peer_problem out{};
  out.size = sizeof(out);
  out.token = token.c_str();
  out.kind = problem.kind == Kind::fft ? FOURTUNE_PEER_FFT : FOURTUNE_PEER_NUFFT;
  out.dim = problem.dim;
  out.sign = problem.sign;
  out.precision = static_cast<std::int32_t>(real_bytes(problem.precision));
  out.device = device;
  out.threads = threads;
  for (int d = 0; d < 3; ++d) out.n[d] = problem.n[static_cast<std::size_t>(d)];
  out.batch = problem.batch;
  out.tolerance = problem.tol;
  out.m = problem.m.value_or(0);
  out.k = problem.k.value_or(0);
  if (problem.kind == Kind::nufft) {
    out.type = problem.type;
    return out;
  }
  out.type = problem.fft_type == FftType::c2c   ? FOURTUNE_PEER_C2C
             : problem.fft_type == FftType::r2c ? FOURTUNE_PEER_R2C
                                                : FOURTUNE_PEER_C2R;
  out.in_place = problem.place == Place::in;
  const ArrayLayout in = resolved_input_layout(problem), to = resolved_output_layout(problem);
  for (std::size_t d = 0; d < 3; ++d) {
    out.in_stride[d] = in.stride[d];
    out.out_stride[d] = to.stride[d];
  }
  out.in_distance = in.distance;
  out.out_distance = to.distance;
  return out;
}

class AdapterContender final : public Contender {
 public:
  AdapterContender(const Api& api, const Problem& problem, int device, int threads) : api_(api) {
    if (problem.order != SpectrumOrder::natural) throw Failure("refuses: this interface has the natural order only");
    if (problem.dim > 3) throw Failure("refuses: this interface has up to three dimensions");
    const std::string token = to_token(problem);
    const fourtune_peer_problem wanted = described(problem, token, device, threads);
    std::array<char, 512> message{};
    const int code = api_.create(&wanted, &plan_, message.data(), message.size());
    message.back() = '\0';
    if (code == FOURTUNE_PEER_DONE) return;
    plan_ = nullptr;
    const std::string why = message[0] ? message.data() : "without a word";
    throw Failure((code == FOURTUNE_PEER_REFUSED ? "refuses: " : "fails: ") + why);
  }
  ~AdapterContender() override {
    if (plan_) api_.destroy(plan_);
  }
  AdapterContender(const AdapterContender&) = delete;
  AdapterContender& operator=(const AdapterContender&) = delete;

  void set_points(const Points& p) override {
    if (!api_.set_points) throw Failure("has no fourtune_peer_set_points, so no nonuniform transforms");
    const void* coordinates[] = {p.x, p.y, p.z};
    const void* targets[] = {p.s, p.t, p.u};
    check(api_.set_points(plan_, p.m, coordinates, p.k, targets, nullptr), "set_points");
  }
  void execute(void* first, void* second) override { check(api_.execute(plan_, first, second, nullptr), "execute"); }

 private:
  static void check(int code, const char* step) {
    if (code != FOURTUNE_PEER_DONE) throw Failure(fmt::format("{} returns {}", step, code));
  }
  const Api& api_;
  void* plan_ = nullptr;
};

class AdapterPeer final : public PeerLibrary {
 public:
  AdapterPeer(void* library, const std::string& path) {
    const auto load = [&](const char* symbol, auto& function) {
      find_symbol(library, path, symbol, PeerFault::not_an_adapter, "an adapter of this version's interface", function);
    };
    load("fourtune_peer_interface", api_.version);
    if (const int version = api_.version(); version != FOURTUNE_PEER_VERSION)
      throw PeerError(PeerFault::unknown_version,
                      fmt::format("{}: speaks version {} of the peer interface, this program "
                                  "version {}",
                                  path, version, FOURTUNE_PEER_VERSION));
    load("fourtune_peer_name", api_.name);
    load("fourtune_peer_describe", api_.describe);
    load("fourtune_peer_kinds", api_.kinds);
    load("fourtune_peer_memory", api_.memory);
    load("fourtune_peer_create", api_.create);
    load("fourtune_peer_execute", api_.execute);
    load("fourtune_peer_destroy", api_.destroy);
    if ((api_.kinds() & FOURTUNE_PEER_NUFFT) != 0) load("fourtune_peer_set_points", api_.set_points);
  }
  std::string name() const override { return api_.name(); }
  std::string describe() const override { return api_.describe(); }
  bool on_device() const override { return api_.memory() != 0; }
  bool on_host() const override { return api_.memory() != 1; }
  bool does(Kind kind) const override {
    return (api_.kinds() & (kind == Kind::fft ? FOURTUNE_PEER_FFT : FOURTUNE_PEER_NUFFT)) != 0;
  }
  std::vector<Variant> variants(const Problem&, int threads) const override {
    const int device = device_;
    return {{{}, [this, threads, device](const Problem& problem) {
               return std::make_unique<AdapterContender>(api_, problem, device, threads);
             }}};
  }
  void choose_device(int ordinal) override { device_ = ordinal; }

 private:
  Api api_{};
  int device_ = -1;
};

}  // namespace

std::unique_ptr<PeerLibrary> make_adapter_peer(void* library, const std::string& path) {
  return std::make_unique<AdapterPeer>(library, path);
}

}  // namespace fourtune::tools
