#include "tools/bench/peers/finufft.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

#include "tools/bench/peers/symbol.h"

namespace fourtune::tools {
namespace {

// ---- the option structure, with the fields that the documentation lists for each version -------------------------
struct OptionsHead {  // common to 2.1 and all later ones
  std::int32_t modeord;
  std::int32_t second;  // chkbnds up to 2.3, spreadinterponly afterwards
  std::int32_t debug, spread_debug, showwarn, nthreads, fftw, spread_sort, spread_kerevalmeth, spread_kerpad;
  double upsampfac;
  std::int32_t spread_thread, maxbatchsize, spread_nthr_atomic, spread_max_sp_size;
};
struct Locks {
  void (*lock)(void*);
  void (*unlock)(void*);
  void* data;
};
struct Options21 {
  OptionsHead head;
};
struct Options24 {
  OptionsHead head;
  Locks locks;
};
struct Options25 {
  OptionsHead head;
  std::int32_t spread_kerformula;
  Locks locks;
};
struct Options26 {
  OptionsHead head;
  std::int32_t spread_kerformula, allow_eps_too_small;
  Locks locks;
};
static_assert(sizeof(Options21) == 64 && sizeof(Options24) == 88 && sizeof(Options25) == 96 && sizeof(Options26) == 96);

struct Layout {
  int major, minor_first, minor_last;
  std::size_t size;
  std::ptrdiff_t locks, formula, allow;  // offsets; -1: the version has no such field
};
constexpr Layout kLayouts[] = {
    {2, 1, 3, sizeof(Options21), -1, -1, -1},
    {2, 4, 4, sizeof(Options24), offsetof(Options24, locks), -1, -1},
    {2, 5, 5, sizeof(Options25), offsetof(Options25, locks), offsetof(Options25, spread_kerformula), -1},
    {2, 6, 6, sizeof(Options26), offsetof(Options26, locks), offsetof(Options26, spread_kerformula),
     offsetof(Options26, allow_eps_too_small)},
};

constexpr std::size_t kGuarded = 4096;
constexpr int kTooAccurate = 26;     // "eps too small" as a refusal
constexpr int kAccuracyWarning = 1;  // the same as a warning of earlier versions; the plan is made

struct OptionsBuffer {
  alignas(16) std::array<unsigned char, kGuarded> bytes{};
  OptionsHead head() const {
    OptionsHead copy;
    std::memcpy(&copy, bytes.data(), sizeof(copy));
    return copy;
  }
  std::int32_t number(std::ptrdiff_t offset) const {
    std::int32_t value = 0;
    std::memcpy(&value, bytes.data() + offset, sizeof(value));
    return value;
  }
  void set(std::ptrdiff_t offset, std::int32_t value) { std::memcpy(bytes.data() + offset, &value, sizeof(value)); }
};

template <class T>
struct Interface {
  using Plan = void*;
  void (*default_opts)(void*) = nullptr;
  int (*makeplan)(int, int, const std::int64_t*, int, int, T, Plan*, const void*) = nullptr;
  int (*setpts)(Plan, std::int64_t, const T*, const T*, const T*, std::int64_t, const T*, const T*, const T*) = nullptr;
  int (*execute)(Plan, void*, void*) = nullptr;
  int (*destroy)(Plan) = nullptr;
};

template <class Function>
void find(void* library, const std::string& path, const std::string& name, Function& function) {
  void* symbol = dlsym(library, name.c_str());
  if (!symbol)
    throw PeerError(PeerFault::not_finufft, fmt::format("{}: has no function {}; it is not a FINUFFT library with the "
                                                        "guru interface",
                                                        path, name));
  function = reinterpret_cast<Function>(symbol);
}

template <class T>
Interface<T> find_interface(void* library, const std::string& path) {
  const std::string prefix = sizeof(T) == 4 ? "finufftf_" : "finufft_";
  Interface<T> found;
  find(library, path, prefix + "default_opts", found.default_opts);
  find(library, path, prefix + "makeplan", found.makeplan);
  find(library, path, prefix + "setpts", found.setpts);
  find(library, path, prefix + "execute", found.execute);
  find(library, path, prefix + "destroy", found.destroy);
  return found;
}

std::optional<std::pair<int, int>> numbers_of(const std::string& version) {
  const auto dot = version.find('.');
  if (dot == 0 || dot == version.npos) return std::nullopt;
  int parts[2] = {0, 0};
  std::size_t at = 0;
  for (int& part : parts) {
    const std::size_t start = at;
    while (at < version.size() && version[at] >= '0' && version[at] <= '9' && at - start < 4)
      part = part * 10 + (version[at++] - '0');
    if (at == start) return std::nullopt;
    if (&part == &parts[0] && (at >= version.size() || version[at++] != '.')) return std::nullopt;
  }
  return std::pair(parts[0], parts[1]);
}

const Layout& layout_for(const std::string& path, const std::string& version) {
  const auto numbers = numbers_of(version);
  if (numbers)
    for (const Layout& layout : kLayouts)
      if (numbers->first == layout.major && numbers->second >= layout.minor_first &&
          numbers->second <= layout.minor_last)
        return layout;
  throw PeerError(
      PeerFault::unknown_version,
      version.empty()
          ? fmt::format("{}: says no FINUFFT version, so the layout of its option structure is unknown", path)
          : fmt::format("{}: is FINUFFT {}; option structures are known for 2.1 to 2.6", path, version));
}

// Calls default_opts on two guarded buffers and checks which bytes it wrote.
OptionsBuffer defaults_of(void (*default_opts)(void*), const Layout& layout, const std::string& path,
                          const std::string& version) {
  const auto mismatch = [&](const std::string& what) {
    throw PeerError(
        PeerFault::layout_mismatch,
        fmt::format("{}: calls itself FINUFFT {}, but {}; its options cannot be filled safely", path, version, what));
  };
  OptionsBuffer first, second;
  first.bytes.fill(0xa5);
  second.bytes.fill(0x5a);
  default_opts(first.bytes.data());
  default_opts(second.bytes.data());
  const auto written = [&](std::size_t at) { return first.bytes[at] == second.bytes[at]; };
  for (std::size_t at = layout.size; at < kGuarded; ++at)
    if (written(at))
      mismatch(fmt::format("its option structure goes beyond the {} bytes of that version (byte {} is written)",
                           layout.size, at));
  const auto require = [&](std::size_t from, std::size_t count) {
    for (std::size_t at = from; at < from + count; ++at)
      if (!written(at)) mismatch(fmt::format("byte {} of that version's option structure has no default", at));
  };
  require(0, sizeof(OptionsHead));
  if (layout.formula >= 0) require(static_cast<std::size_t>(layout.formula), 4);
  if (layout.allow >= 0) require(static_cast<std::size_t>(layout.allow), 4);
  if (layout.locks >= 0) require(static_cast<std::size_t>(layout.locks), 2 * sizeof(void*));  // data may stay unwritten

  const OptionsHead head = first.head();
  const bool plausible = head.modeord == 0 && head.debug == 0 && head.spread_debug == 0 && head.showwarn == 1 &&
                         head.nthreads == 0 && (head.fftw == 64 || head.fftw == 0 || head.fftw == -1) &&
                         head.spread_sort == 2 && head.upsampfac >= 0 && head.upsampfac <= 4 &&
                         head.maxbatchsize == 0 && head.spread_nthr_atomic >= -1 && head.spread_max_sp_size >= 0;
  if (!plausible) mismatch("its default options are not the documented ones");
  if (layout.formula >= 0 && first.number(layout.formula) != 0) mismatch("spread_kerformula is not 0 by default");
  if (layout.allow >= 0 && first.number(layout.allow) != 0) mismatch("allow_eps_too_small is not 0 by default");
  if (layout.locks >= 0) {
    void* locks[2];
    std::memcpy(locks, first.bytes.data() + layout.locks, sizeof(locks));
    if (locks[0] || locks[1]) mismatch("its planner locks are not null by default");
    std::memset(first.bytes.data() + layout.locks, 0, sizeof(Locks));
  }
  return first;
}

}  // namespace

const char* to_string(PeerFault fault) noexcept {
  switch (fault) {
    case PeerFault::missing_file:
      return "missing_file";
    case PeerFault::not_loadable:
      return "not_loadable";
    case PeerFault::not_finufft:
      return "not_finufft";
    case PeerFault::not_cufinufft:
      return "not_cufinufft";
    case PeerFault::not_cufft:
      return "not_cufft";
    case PeerFault::not_an_adapter:
      return "not_an_adapter";
    case PeerFault::unknown_version:
      return "unknown_version";
    case PeerFault::layout_mismatch:
      return "layout_mismatch";
  }
  return "?";
}

PeerError::PeerError(PeerFault fault, const std::string& message)
    : UsageError(fmt::format("{}: {}", to_string(fault), message),
                 "--peer takes a libfinufft.so, libcufinufft.so, libcufft.so or an adapter (docs/benchmark.md)"),
      fault_(fault) {}

std::string find_finufft_version(const std::string& path) {
  constexpr std::string_view mark = "FINUFFT version ";
  std::ifstream file(path, std::ios::binary);
  std::string block, version;
  std::vector<char> chunk(1 << 20);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), file.gcount() > 0) {
    block.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
    for (auto at = block.find(mark); at != block.npos; at = block.find(mark, at + 1)) {
      const auto start = at + mark.size();
      const auto end = block.find_first_of(std::string_view(" \n\0", 3), start);
      if (end == block.npos) break;  // continues in the next chunk
      version = block.substr(start, std::min<std::size_t>(end - start, 40));
      if (numbers_of(version)) return version;
    }
    if (block.size() > 256) block.erase(0, block.size() - 256);
  }
  return version;
}

struct FinufftLibrary::Functions : InBothPrecisions<Interface> {
  std::string path, version, fft;
  Layout layout{};
  OptionsBuffer defaults;
};

FinufftLibrary::FinufftLibrary(const std::string& path) : functions_(std::make_unique<Functions>()) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw PeerError(PeerFault::missing_file, fmt::format("{}: there is no such file", path));
  // With absolute paths, two builds with the same soname count as two libraries.
  functions_->path = std::filesystem::canonical(path).string();
  void* library = dlopen(functions_->path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* reason = dlerror();
    throw PeerError(PeerFault::not_loadable, reason ? reason : path);
  }
  functions_->single = find_interface<float>(library, path);
  functions_->twice = find_interface<double>(library, path);
  functions_->version = find_finufft_version(functions_->path);
  functions_->layout = layout_for(path, functions_->version);
  functions_->defaults = defaults_of(functions_->twice.default_opts, functions_->layout, path, functions_->version);
  const OptionsBuffer other =
      defaults_of(functions_->single.default_opts, functions_->layout, path, functions_->version);
  if (std::memcmp(other.bytes.data(), functions_->defaults.bytes.data(), sizeof(OptionsHead)) != 0)
    throw PeerError(PeerFault::layout_mismatch, fmt::format("{}: its two precisions have different defaults", path));
  functions_->fft = functions_->defaults.head().fftw == -1 ? "ducc" : "fftw";
}
FinufftLibrary::~FinufftLibrary() = default;
const std::string& FinufftLibrary::version() const noexcept { return functions_->version; }
const std::string& FinufftLibrary::fft() const noexcept { return functions_->fft; }
bool FinufftLibrary::can_override() const noexcept { return functions_->layout.allow >= 0; }

template <class T>
class FinufftContender final : public Contender {
 public:
  using Functions = FinufftLibrary::Functions;

  FinufftContender(const Functions& functions, const Problem& problem, int threads)
      : functions_(functions), problem_(problem), options_(functions.defaults) {
    options_.set(offsetof(OptionsHead, nthreads), threads);
    options_.set(offsetof(OptionsHead, showwarn), 0);
    const int code = make_plan();
    if (code == kTooAccurate)
      override_after("makeplan", code);
    else
      check(code, "makeplan");
  }
  ~FinufftContender() override { release(); }
  FinufftContender(const FinufftContender&) = delete;
  FinufftContender& operator=(const FinufftContender&) = delete;

  void set_points(const Points& points) override {
    int code = place(points);
    if (code == kTooAccurate && refusal_.empty()) {
      override_after("setpts", code);
      code = place(points);
    }
    check(code, "setpts");
  }
  void execute(void* first, void* second) override {
    check(functions_.of<T>().execute(plan_, first, second), "execute");
  }
  std::string refusal() const override { return refusal_; }

 private:
  int make_plan() {
    release();
    // Rounds the tolerance as a C caller would.
    return functions_.of<T>().makeplan(problem_.type, problem_.dim, problem_.n.data(), problem_.sign,
                                       static_cast<int>(problem_.batch), static_cast<T>(problem_.tol), &plan_,
                                       options_.bytes.data());
  }
  int place(const Points& p) const {
    const auto of = [](const void* array) { return static_cast<const T*>(array); };
    return functions_.of<T>().setpts(plan_, p.m, of(p.x), of(p.y), of(p.z), p.k, of(p.s), of(p.t), of(p.u));
  }
  void override_after(const char* step, int code) {
    refusal_ = fmt::format("{} refuses tol={:g} with error {}", step, problem_.tol, code);
    if (functions_.layout.allow < 0) throw Failure(refusal_);
    options_.set(functions_.layout.allow, 1);
    check(make_plan(), "makeplan");
  }
  void check(int code, const char* step) const {
    if (code > kAccuracyWarning) throw Failure(fmt::format("{} fails with error {}", step, code));
  }
  void release() {
    if (plan_) functions_.of<T>().destroy(plan_);
    plan_ = nullptr;
  }

  const Functions& functions_;
  const Problem problem_;
  OptionsBuffer options_;
  void* plan_ = nullptr;
  std::string refusal_;
};

std::unique_ptr<Contender> FinufftLibrary::make(const Problem& problem, int threads) const {
  if (problem.kind != Kind::nufft) throw Failure("FINUFFT has no uniform transforms");
  if (problem.precision == Precision::f32)
    return std::make_unique<FinufftContender<float>>(*functions_, problem, threads);
  return std::make_unique<FinufftContender<double>>(*functions_, problem, threads);
}

}  // namespace fourtune::tools
