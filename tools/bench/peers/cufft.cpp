// cuFFT as a contender: cufftMakePlanMany64 with its default work area, on the default stream. The interface is that of
// NVIDIA's documentation, "cuFFT".
#include <array>
#include <complex>
#include <utility>

#include "base/layout.h"
#include "runtime/backends/cuda/cufft_api.h"
#include "tools/bench/peers/peers.h"
#include "tools/bench/peers/symbol.h"

namespace fourtune::tools {
namespace {

namespace cuda = runtime::cuda;

struct CufftApi {
  int (*get_version)(int*);
  int (*create)(int*);
  int (*destroy)(int);
  int (*make_plan)(int, int, long long*, long long*, long long, long long, long long*, long long, long long, int,
                   long long, std::size_t*);
  int (*c2c)(int, void*, void*, int);
  int (*z2z)(int, void*, void*, int);
  int (*r2c)(int, void*, void*);
  int (*d2z)(int, void*, void*);
  int (*c2r)(int, void*, void*);
  int (*z2d)(int, void*, void*);
};

void check(int code, const char* step) {
  if (code != 0) throw Failure(fmt::format("{} fails with cuFFT's error {}", step, code));
}

class CufftContender final : public Contender {
 public:
  CufftContender(const CufftApi& api, const Problem& problem) : api_(api), problem_(problem) {
    if (problem.order != SpectrumOrder::natural) throw Failure("refuses: cuFFT has the natural order only");
    const cuda::CufftLayout in = cuda::cufft_layout(resolved_input_layout(problem), input_sizes(problem), problem.dim);
    const cuda::CufftLayout out =
        cuda::cufft_layout(resolved_output_layout(problem), output_sizes(problem), problem.dim);
    std::array<long long, 3> n{}, in_embed{}, out_embed{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d) {
      n[d] = problem.n[static_cast<std::size_t>(problem.dim) - 1 - d];
      in_embed[d] = in.embed[d];
      out_embed[d] = out.embed[d];
    }
    check(api_.create(&plan_), "cufftCreate");
    std::size_t work = 0;
    const int code = api_.make_plan(plan_, problem.dim, n.data(), in_embed.data(), in.stride, in.distance,
                                    out_embed.data(), out.stride, out.distance, type(), problem.batch, &work);
    if (code != 0) api_.destroy(plan_);
    check(code, "cufftMakePlanMany64");
  }
  ~CufftContender() override { api_.destroy(plan_); }
  CufftContender(const CufftContender&) = delete;
  CufftContender& operator=(const CufftContender&) = delete;

  void set_points(const Points&) override { throw Failure("cuFFT has no nonuniform transforms"); }
  void execute(void* first, void* second) override {
    const bool single = problem_.precision == Precision::f32;
    if (problem_.fft_type == FftType::c2c)
      check((single ? api_.c2c : api_.z2z)(plan_, first, second, problem_.sign), "execute");
    else if (problem_.fft_type == FftType::r2c)
      check((single ? api_.r2c : api_.d2z)(plan_, first, second), "execute");
    else
      check((single ? api_.c2r : api_.z2d)(plan_, first, second), "execute");
  }
  void restore_order(void* output) const override {
    if (problem_.fft_type == FftType::c2c || problem_.sign == (problem_.fft_type == FftType::r2c ? -1 : 1)) return;
    if (problem_.precision == Precision::f32)
      to_other_sign<float>(output);
    else
      to_other_sign<double>(output);
  }

 private:
  // cuFFT has r2c with sign -1 and c2r with sign 1 only. The other sign takes the same time: it conjugates the spectrum
  // of real values, and turns the real values of a spectrum around, element -i to i along every dimension.
  template <class Real>
  void to_other_sign(void* output) const {
    const Sizes sizes = output_sizes(problem_);
    const ArrayLayout layout = resolved_output_layout(problem_);
    const std::int64_t count = element_count(sizes);
    const auto opposite = [&](std::int64_t element) {
      std::int64_t out = 0, unit = 1;
      for (const std::int64_t n : sizes) {
        out += (n - element % n) % n * unit;
        element /= n, unit *= n;
      }
      return out;
    };
    for (std::int64_t b = 0; b < problem_.batch; ++b)
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t place = b * layout.distance + place_of(layout, sizes, i);
        if (problem_.fft_type == FftType::r2c) {
          std::complex<Real>& value = static_cast<std::complex<Real>*>(output)[place];
          value = std::conj(value);
        } else if (const std::int64_t other = opposite(i); i < other) {
          Real* const values = static_cast<Real*>(output);
          std::swap(values[place], values[b * layout.distance + place_of(layout, sizes, other)]);
        }
      }
  }

  int type() const {
    const bool single = problem_.precision == Precision::f32;
    if (problem_.fft_type == FftType::r2c) return single ? cuda::CUFFT_R2C : cuda::CUFFT_D2Z;
    if (problem_.fft_type == FftType::c2r) return single ? cuda::CUFFT_C2R : cuda::CUFFT_Z2D;
    return single ? cuda::CUFFT_C2C : cuda::CUFFT_Z2Z;
  }

  const CufftApi& api_;
  const Problem problem_;
  int plan_ = 0;
};

class CufftPeer final : public PeerLibrary {
 public:
  CufftPeer(void* library, const std::string& path) {
    const auto load = [&](const char* symbol, auto& function) {
      find_symbol(library, path, symbol, PeerFault::not_cufft, "a complete cuFFT", function);
    };
    load("cufftGetVersion", api_.get_version);
    load("cufftCreate", api_.create);
    load("cufftDestroy", api_.destroy);
    load("cufftMakePlanMany64", api_.make_plan);
    load("cufftExecC2C", api_.c2c);
    load("cufftExecZ2Z", api_.z2z);
    load("cufftExecR2C", api_.r2c);
    load("cufftExecD2Z", api_.d2z);
    load("cufftExecC2R", api_.c2r);
    load("cufftExecZ2D", api_.z2d);
    api_.get_version(&version_);
  }
  std::string name() const override { return "cufft"; }
  std::string describe() const override {
    return fmt::format("cuFFT {}.{}.{}", version_ / 1000, version_ % 1000 / 100, version_ % 100);
  }
  bool on_device() const override { return true; }
  bool does(Kind kind) const override { return kind == Kind::fft; }
  std::vector<Variant> variants(const Problem&, int) const override {
    return {{{}, [this](const Problem& problem) { return std::make_unique<CufftContender>(api_, problem); }}};
  }

 private:
  CufftApi api_{};
  int version_ = 0;
};

}  // namespace

std::unique_ptr<PeerLibrary> make_cufft_peer(void* library, const std::string& path) {
  return std::make_unique<CufftPeer>(library, path);
}

}  // namespace fourtune::tools
