// cuFINUFFT as a contender, through its C interface (makeplan, setpts, execute, destroy; 2.2 and later), on the default
// stream, with arrays in GPU memory.
//
// The file has no version text. The option structure has grown by one int in 2.3 (modeord), 2.4 (debug) and 2.5
// (gpu_np, before debug), so the number of bytes that default_opts writes reveals the version's layout; it is called on
// two guarded buffers with different contents. The fields that are set here (method, upsampling, stream) have the same
// offset in all versions.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tools/bench/peers/peers.h"
#include "tools/bench/peers/symbol.h"

namespace fourtune::tools {
namespace cufinufft_structures {  // which mostly have the names of FINUFFT's
namespace {

// The fields in the order of the documentation, 2.2.
struct OptionsHead {
  double upsampfac;
  std::int32_t gpu_method, gpu_sort;
  std::int32_t gpu_binsize[3], gpu_obinsize[3];
  std::int32_t gpu_maxsubprobsize, gpu_kerevalmeth, gpu_spreadinterponly, gpu_maxbatchsize, gpu_device_id;
  void* gpu_stream;
};
static_assert(offsetof(OptionsHead, gpu_stream) == 64 && sizeof(OptionsHead) == 72);
struct Layout {
  std::size_t written;  // bytes from the start to the end of the last field
  const char* version;
};
constexpr Layout kLayouts[] = {{72, "2.2"}, {76, "2.3"}, {80, "2.4"}, {84, "2.5 or later"}};
constexpr std::size_t kGuarded = 1024;
constexpr int kAccuracyWarning = 1;  // the plan was made, with the best possible tolerance

struct Options {
  alignas(16) std::array<unsigned char, kGuarded> bytes{};
  OptionsHead head() const {
    OptionsHead copy;
    std::memcpy(&copy, bytes.data(), sizeof(copy));
    return copy;
  }
  template <class T>
  void set(std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof(value));
  }
};

template <class T>
struct Interface {
  int (*makeplan)(int, int, const std::int64_t*, int, int, T, void**, const void*) = nullptr;
  int (*setpts)(void*, std::int64_t, const T*, const T*, const T*, int, const T*, const T*, const T*) = nullptr;
  int (*execute)(void*, void*, void*) = nullptr;
  int (*destroy)(void*) = nullptr;
};

struct Functions : InBothPrecisions<Interface> {
  const char* version = "";
  Options defaults;
};

void find_layout(void (*default_opts)(void*), const std::string& path, Functions& functions) {
  Options second;
  functions.defaults.bytes.fill(0xa5);
  second.bytes.fill(0x5a);
  default_opts(functions.defaults.bytes.data());
  default_opts(second.bytes.data());
  std::size_t end = 0;
  for (std::size_t at = 0; at < kGuarded; ++at)
    if (functions.defaults.bytes[at] == second.bytes[at]) end = at + 1;
  const OptionsHead head = functions.defaults.head();
  for (const Layout& layout : kLayouts)
    if (layout.written == end) functions.version = layout.version;
  const bool plausible = head.upsampfac >= 0 && head.upsampfac <= 4 && head.gpu_method >= 0 && head.gpu_method <= 4 &&
                         head.gpu_device_id == 0 && head.gpu_stream == nullptr && head.gpu_spreadinterponly == 0;
  if (!*functions.version || !plausible)
    throw PeerError(PeerFault::layout_mismatch,
                    fmt::format("{}: its option structure has {} bytes, or defaults, of no known version of cuFINUFFT "
                                "(2.2 to 2.5)",
                                path, end));
}

template <class T>
Interface<T> find_interface(void* library, const std::string& path) {
  const std::string prefix = sizeof(T) == 4 ? "cufinufftf_" : "cufinufft_";
  Interface<T> found;
  const auto load = [&](const char* name, auto& function) {
    find_symbol(library, path, prefix + name, PeerFault::not_cufinufft, "cuFINUFFT 2.2 or later", function);
  };
  load("makeplan", found.makeplan);
  load("setpts", found.setpts);
  load("execute", found.execute);
  load("destroy", found.destroy);
  return found;
}

// The driver's default pool of a device, from which the library (from 2.6 on) takes the grids in each execute.
class Pool {
 public:
  explicit Pool(int device) {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!driver) return;
    const auto find = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(driver, name));
    };
    int (*default_pool)(void**, int) = nullptr;
    find("cuDeviceGetDefaultMemPool", default_pool);
    find("cuMemPoolGetAttribute", get_);
    find("cuMemPoolSetAttribute", set_);
    if (!default_pool || !get_ || !set_ || default_pool(&pool_, device) != 0) pool_ = nullptr;
    dlclose(driver);  // it stays loaded
  }
  void restart_peak() {
    std::uint64_t zero = 0;
    if (pool_) set_(pool_, kUsedHigh, &zero);
  }
  std::int64_t given_back() const { return static_cast<std::int64_t>(value(kUsedHigh) - value(kUsedNow)); }

 private:
  static constexpr int kUsedNow = 7, kUsedHigh = 8;  // CU_MEMPOOL_ATTR_USED_MEM_CURRENT, _HIGH
  std::uint64_t value(int attribute) const {
    std::uint64_t bytes = 0;
    return pool_ && get_(pool_, attribute, &bytes) == 0 ? bytes : 0;
  }
  void* pool_ = nullptr;
  int (*get_)(void*, int, void*) = nullptr;
  int (*set_)(void*, int, void*) = nullptr;
};

template <class T>
class CufinufftContender final : public Contender {
 public:
  CufinufftContender(const Functions& functions, const Problem& problem, int method, double upsampling)
      : api_(functions.of<T>()), options_(functions.defaults) {
    options_.set<std::int32_t>(offsetof(OptionsHead, gpu_method), method);
    options_.set<double>(offsetof(OptionsHead, upsampfac), upsampling);
    check(api_.makeplan(problem.type, problem.dim, problem.n.data(), problem.sign, static_cast<int>(problem.batch),
                        static_cast<T>(problem.tol), &plan_, options_.bytes.data()),
          "makeplan");
  }
  ~CufinufftContender() override {
    if (plan_) api_.destroy(plan_);
  }
  CufinufftContender(const CufinufftContender&) = delete;
  CufinufftContender& operator=(const CufinufftContender&) = delete;

  void set_points(const Points& p) override {
    const auto of = [](const void* array) { return static_cast<const T*>(array); };
    check(api_.setpts(plan_, p.m, of(p.x), of(p.y), of(p.z), static_cast<int>(p.k), of(p.s), of(p.t), of(p.u)),
          "setpts");
  }
  void execute(void* first, void* second) override { check(api_.execute(plan_, first, second), "execute"); }
  std::int64_t passing_bytes(const std::function<void()>& execute) const override {
    Pool pool(options_.head().gpu_device_id);
    pool.restart_peak();
    execute();
    return pool.given_back();
  }

 private:
  static void check(int code, const char* step) {
    if (code > kAccuracyWarning) throw Failure(fmt::format("{} fails with error {}", step, code));
  }
  const Interface<T>& api_;
  Options options_;
  void* plan_ = nullptr;
};

class CufinufftPeer final : public PeerLibrary {
 public:
  CufinufftPeer(void* library, const std::string& path) {
    void (*default_opts)(void*) = nullptr;
    find_symbol(library, path, "cufinufft_default_opts", PeerFault::not_cufinufft, "cuFINUFFT 2.2 or later",
                default_opts);
    functions_.single = find_interface<float>(library, path);
    functions_.twice = find_interface<double>(library, path);
    find_layout(default_opts, path, functions_);
  }
  std::string name() const override { return "cufinufft"; }
  std::string describe() const override { return fmt::format("cuFINUFFT with the options of {}", functions_.version); }
  bool on_device() const override { return true; }
  // The library itself makes the device of its options current.
  void choose_device(int ordinal) override {
    functions_.defaults.set<std::int32_t>(offsetof(OptionsHead, gpu_device_id), ordinal);
  }
  bool does(Kind kind) const override { return kind == Kind::nufft; }
  // The library's spreading methods and oversamplings; method 3 exists for type 1 only.
  std::vector<Variant> variants(const Problem& problem, int) const override {
    std::vector<Variant> list;
    for (const double upsampling : {2.0, 1.25})
      for (int method = 1; method <= (problem.type == 2 ? 2 : 3); ++method)
        list.push_back({fmt::format("method={}, upsampfac={}", method, upsampling),
                        [this, method, upsampling](const Problem& p) { return make(p, method, upsampling); }});
    return list;
  }

 private:
  std::unique_ptr<Contender> make(const Problem& problem, int method, double upsampling) const {
    if (problem.precision == Precision::f32)
      return std::make_unique<CufinufftContender<float>>(functions_, problem, method, upsampling);
    return std::make_unique<CufinufftContender<double>>(functions_, problem, method, upsampling);
  }
  Functions functions_;
};

}  // namespace
}  // namespace cufinufft_structures

std::unique_ptr<PeerLibrary> make_cufinufft_peer(void* library, const std::string& path) {
  return std::make_unique<cufinufft_structures::CufinufftPeer>(library, path);
}

}  // namespace fourtune::tools
