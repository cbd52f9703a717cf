#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "tools/common/errors.h"
#include "tools/soak/subject.h"

namespace fourtune::tools {
namespace {

// More bytes than any release's structure of options has.
using OptionBytes = std::array<unsigned char, 4096>;

// Where fields are in the structures of release 2.6, whose library lib/dropin has.
constexpr std::size_t kModeOrder = 0, kShowWarnings = 16, kThreads = 20;  // finufft_opts
constexpr std::size_t kGpuDevice = 56, kGpuModeOrder = 72;                // cufinufft_opts

void set(OptionBytes& bytes, std::size_t offset, std::int32_t value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

template <class Function>
void find(void* library, const std::string& name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name.c_str()));
  if (!function) throw UsageError(fmt::format("--dropin: the library has no function {}", name), "");
}

template <class T>
class DropInTransform final : public Subject {
 public:
  DropInTransform(void* library, const std::string& name, const SoakCase& one, int device)
      : on_device_(name[0] == 'c') {
    const std::string prefix = name + (sizeof(T) == 4 ? "f_" : "_");
    void (*defaults)(void*) = nullptr;
    int (*make)(int, int, const std::int64_t*, int, int, T, void**, const void*) = nullptr;
    find(library, on_device_ ? name + "_default_opts" : prefix + "default_opts", defaults);
    find(library, prefix + "makeplan", make);
    find(library, prefix + "setpts", set_points_);
    find(library, prefix + "execute", execute_);
    adjoint_ = reinterpret_cast<decltype(adjoint_)>(::dlsym(library, (prefix + "execute_adjoint").c_str()));
    find(library, prefix + "destroy", destroy_);
    OptionBytes options{};
    defaults(options.data());
    set(options, on_device_ ? kGpuModeOrder : kModeOrder, one.order == ModeOrder::fft ? 1 : 0);
    if (on_device_) {
      set(options, kGpuDevice, device);
    } else {
      set(options, kShowWarnings, 0);
      set(options, kThreads, one.threads);
    }
    const Problem& problem = one.problem;
    const std::array<std::int64_t, 3> modes{problem.n[0], problem.n[1], problem.n[2]};
    check("makeplan", make(problem.type, problem.dim, modes.data(), problem.sign, static_cast<int>(problem.batch),
                           static_cast<T>(problem.tol), &plan_, options.data()));
  }
  ~DropInTransform() override {
    if (plan_) destroy_(plan_);
  }
  DropInTransform(const DropInTransform&) = delete;
  DropInTransform& operator=(const DropInTransform&) = delete;

  void set_points(const Points& p) override {
    const auto of = [](const void* array) { return static_cast<const T*>(array); };
    check("setpts", set_points_(plan_, p.m, of(p.x), of(p.y), of(p.z), p.k, of(p.s), of(p.t), of(p.u)));
  }
  void execute(void* first, void* second, bool adjoint) override {
    adjoint ? check("execute_adjoint", adjoint_(plan_, first, second))
            : check("execute", execute_(plan_, first, second));
  }
  bool has_adjoint() const override { return adjoint_ != nullptr; }
  std::string plan() const override { return {}; }
  std::optional<MemoryUse> memory() const override { return std::nullopt; }

 private:
  static void check(const char* step, int code) {
    if (code != 0) throw Failure(fmt::format("{} ends with {}", step, code));
  }

  bool on_device_;
  void* plan_ = nullptr;
  int (*set_points_)(void*, std::int64_t, const T*, const T*, const T*, std::int64_t, const T*, const T*,
                     const T*) = nullptr;
  int (*execute_)(void*, void*, void*) = nullptr;
  int (*adjoint_)(void*, void*, void*) = nullptr;
  int (*destroy_)(void*) = nullptr;
};

}  // namespace

DropIn::DropIn(const std::string& path) {
  // With its whole path the loader takes no library of this name that is loaded already.
  std::error_code error;
  const auto whole = std::filesystem::canonical(path, error);
  library_ = error ? nullptr : ::dlopen(whole.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_)
    throw UsageError(fmt::format("--dropin {}: {}", path, error ? error.message() : std::string(::dlerror())),
                     "a build has build/lib/dropin/libfinufft.so and libcufinufft.so");
  on_device_ = ::dlsym(library_, "cufinufft_makeplan") != nullptr;
  name_ = on_device_ ? "cufinufft" : "finufft";
  if (!::dlsym(library_, (name_ + "_makeplan").c_str()))
    throw UsageError(fmt::format("--dropin {}: it has neither FINUFFT's functions nor cuFINUFFT's", path),
                     "a build has build/lib/dropin/libfinufft.so and libcufinufft.so");
}

bool DropIn::has_adjoint() const { return ::dlsym(library_, (name_ + "_execute_adjoint").c_str()) != nullptr; }

template <class T>
std::unique_ptr<Subject> DropIn::make_of(const SoakCase& one, int device) const {
  return std::make_unique<DropInTransform<T>>(library_, name_, one, device);
}

std::unique_ptr<Subject> DropIn::make(const SoakCase& one, int device) const {
  return one.problem.precision == Precision::f32 ? make_of<float>(one, device) : make_of<double>(one, device);
}

SoakCase as_dropin_says(SoakCase one, bool adjoints) {
  one.adjoint = one.adjoint && adjoints;
  one.only = Only::whole;
  one.distinct = one.deterministic = one.trust = one.shared = one.streamed = false;
  return one;
}

}  // namespace fourtune::tools
