#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "fourtune/device_traits.h"
#include "generator/candidates.h"
#include "generator/plan/plan.h"
#include "generator/window/window.h"
#include "tools/common/errors.h"
#include "tools/soak/subject.h"

namespace fourtune::tools {
namespace {

// More bytes than any release's structure of options has.
using OptionBytes = std::array<unsigned char, 4096>;

// Where fields are in the structures of release 2.6, whose library lib/dropin has.
struct Offsets {
  std::size_t mode_order, spread_only, upsampling;
};
constexpr Offsets kHost{0, 4, 40};                        // finufft_opts
constexpr std::size_t kShowWarnings = 16, kThreads = 20;  // of it
constexpr Offsets kGpu{72, 48, 0};                        // cufinufft_opts
constexpr std::size_t kGpuDevice = 56;                    // of it

template <class Value>
void set(OptionBytes& bytes, std::size_t offset, Value value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// The window that docs/dropin.md promises for spreading and interpolating alone, made for `upsampling`.
generator::WindowChoice window_for(const Problem& problem, double upsampling) {
  generator::WindowChoice window;
  window.sigma = upsampling;
  const double tol = std::max(problem.tol, 2.5 * epsilon(problem.precision));
  window.width = generator::width_for(window.kind, tol, upsampling, problem.dim);
  for (int d = 0; d < problem.dim; ++d)
    window.fine[d] = static_cast<std::int64_t>(std::ceil(upsampling * static_cast<double>(problem.n[d])));
  return window;
}

// An upsampling factor that a window reaches the tolerance with, drawn by the case's seed.
double upsampling_of(const SoakCase& one) {
  constexpr std::array kFactors{2.0, 1.25, 1.7, 3.0};
  const double factor = kFactors[one.seed / 3 % kFactors.size()];
  return window_for(one.problem, factor).width > 0 ? factor : kFactors[0];
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
      : one_(one), on_device_(name[0] == 'c') {
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
    const Offsets& at = on_device_ ? kGpu : kHost;
    set<std::int32_t>(options, at.mode_order, one.order == ModeOrder::fft ? 1 : 0);
    if (one.only != Only::whole) {
      set<std::int32_t>(options, at.spread_only, 1);
      set<double>(options, at.upsampling, upsampling_of(one));
    }
    if (on_device_) {
      set<std::int32_t>(options, kGpuDevice, device);
    } else {
      set<std::int32_t>(options, kShowWarnings, 0);
      set<std::int32_t>(options, kThreads, one.threads);
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
  // Some plan with the promised window.
  std::string reference_plan() const override {
    if (one_.only == Only::whole) return {};
    const Problem problem = planned_problem(one_);
    generator::Plan plan = generator::default_plan(problem, cpu_traits());
    plan.window = window_for(problem, upsampling_of(one_));
    return generator::to_text(plan, problem);
  }
  std::optional<MemoryUse> memory() const override { return std::nullopt; }

 private:
  static void check(const char* step, int code) {
    if (code != 0) throw Failure(fmt::format("{} ends with {}", step, code));
  }

  SoakCase one_;
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

// Of ours, the loader finds our functions too, in the library or in one that it needs.
DropInSays DropIn::says() const {
  return {::dlsym(library_, (name_ + "_execute_adjoint").c_str()) != nullptr,
          ::dlsym(library_, "fourtune_version") != nullptr};
}

template <class T>
std::unique_ptr<Subject> DropIn::make_of(const SoakCase& one, int device) const {
  return std::make_unique<DropInTransform<T>>(library_, name_, one, device);
}

std::unique_ptr<Subject> DropIn::make(const SoakCase& one, int device) const {
  if (one.only != centred(one.only) || (one.only != Only::whole && !says().our_window))
    throw UsageError(
        "only=: through these interfaces grids begin at -pi (..._centred), and the window is known of our "
        "libraries alone",
        "");
  return one.problem.precision == Precision::f32 ? make_of<float>(one, device) : make_of<double>(one, device);
}

SoakCase as_dropin_says(SoakCase one, const DropInSays& says) {
  one.adjoint = one.adjoint && says.adjoints;
  one.only = says.our_window ? centred(one.only) : Only::whole;
  // Of what few problems draw alone, more is seen here.
  if (says.our_window && can_be_alone(one.problem) && one.seed % 4 == 0)
    one.only = one.problem.type == 1 ? Only::spread_centred : Only::interpolate_centred;
  one.distinct = one.deterministic = one.trust = one.shared = one.streamed = false;
  return one;
}

}  // namespace fourtune::tools
