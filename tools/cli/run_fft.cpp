// The arrays of a uniform transform for `fourtune run`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "base/layout.h"
#include "base/npy.h"
#include "fourtune/device_traits.h"
#include "runtime/backends/cpu/base/buffer.h"
#include "tools/cli/run_arrays.h"
#include "tools/common/errors.h"
#include "tools/common/text.h"
#include "tuner/reference/check.h"
#include "tuner/reference/synthetic.h"

namespace fourtune::tools {
namespace {

using runtime::cpu::Buffer;

// One side of an fft: a strided array of real or complex elements.
struct Side {
  Sizes size;
  ArrayLayout layout;
  bool real = false;
  std::int64_t batch = 1;

  std::int64_t count() const { return element_count(size) * batch; }
  std::int64_t span() const { return layout_span(layout, size, batch, "the array"); }
  std::int64_t reals() const { return span() * (real ? 1 : 2); }
  // visit(index in dense order, index in the array, x index), x fastest.
  template <class Visit>
  void each(Visit visit) const {
    std::int64_t dense = 0;
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t row = 0; row < element_count(size); row += size[0])
        for (std::int64_t x = 0; x < size[0]; ++x)
          visit(dense++, b * layout.distance + place_of(layout, size, row) + x * layout.stride[0], x);
  }
};

Side input_side(const Problem& problem) {
  return {input_sizes(problem), resolved_input_layout(problem), problem.fft_type == FftType::r2c, problem.batch};
}
Side output_side(const Problem& problem) {
  return {output_sizes(problem), resolved_output_layout(problem), problem.fft_type == FftType::c2r, problem.batch};
}

// The transform whose direct sum equals the adjoint, up to weights (see weigh_interior).
Problem adjoint_problem(const Problem& problem) {
  Problem adjoint = problem;
  adjoint.sign = -problem.sign;
  adjoint.order = adjoint_order(problem.order);
  std::swap(adjoint.input_layout, adjoint.output_layout);
  if (problem.fft_type == FftType::r2c) adjoint.fft_type = FftType::c2r;
  if (problem.fft_type == FftType::c2r) adjoint.fft_type = FftType::r2c;
  return adjoint;
}

template <class T>
class FftArrays final : public RunArrays {
 public:
  FftArrays(const Problem& problem, const RunRequest& request)
      : problem_(problem), adjoint_(request.adjoint), in_place_(problem.place == Place::in) {
    direct_ = adjoint_ ? adjoint_problem(problem) : problem;
    from_ = input_side(direct_);
    to_ = output_side(direct_);
    check_memory(static_cast<double>(sizeof(T)) * 2 *
                 (static_cast<double>(from_.span()) + static_cast<double>(to_.span())) * 2);
    read_ = Buffer<T>(in_place_ ? std::max(from_.reals(), to_.reals()) : from_.reals());
    written_ = Buffer<T>(in_place_ ? 0 : to_.reals());
    std::fill_n(read_.data(), read_.size(), T(0));
    std::fill_n(written_.data(), written_.size(), T(0));
    fill_input(request);
    if (!in_place_) return;
    kept_ = Buffer<T>(from_.reals());
    std::copy_n(read_.data(), kept_.size(), kept_.data());
  }

  Points points() const override { return {}; }
  void* first() override { return in_place_ || !adjoint_ ? read_.data() : written_.data(); }
  void* second() override { return in_place_ || adjoint_ ? read_.data() : written_.data(); }
  void restore_input() override {
    if (in_place_) std::copy_n(kept_.data(), kept_.size(), read_.data());
  }

  Checked checked(tuner::DeviceSums*, const tuner::DeviceInput&) const override { return {error(), false}; }
  double error() const {
    const Buffer<T>& in = in_place_ ? kept_ : read_;
    const Buffer<T>& out = in_place_ ? read_ : written_;
    if (!adjoint_ || problem_.fft_type == FftType::c2c)
      return tuner::fft_error(direct_, in.data(), out.data()).relative;
    // r2c* is the c2r of the half spectrum with its interior halved; c2r* is the r2c with the interior doubled.
    Buffer<T> weighed(problem_.fft_type == FftType::r2c ? from_.reals() : to_.reals());
    std::copy_n(problem_.fft_type == FftType::r2c ? in.data() : out.data(), weighed.size(), weighed.data());
    halve_interior(weighed, problem_.fft_type == FftType::r2c ? from_ : to_);
    if (problem_.fft_type == FftType::r2c) return tuner::fft_error(direct_, weighed.data(), out.data()).relative;
    return tuner::fft_error(direct_, in.data(), weighed.data()).relative;
  }

  void write_output(const std::string& path) const override {
    const T* out = (in_place_ ? read_ : written_).data();
    const std::int64_t parts = to_.real ? 1 : 2;
    std::vector<T> dense(static_cast<std::size_t>(to_.count() * parts));
    to_.each([&](std::int64_t d, std::int64_t at, std::int64_t) {
      for (std::int64_t part = 0; part < parts; ++part)
        dense[static_cast<std::size_t>(d * parts + part)] = out[at * parts + part];
    });
    const char* descr = sizeof(T) == 4 ? (to_.real ? "<f4" : "<c8") : (to_.real ? "<f8" : "<c16");
    write_npy(path, descr, shape(to_), dense.data(), dense.size() * sizeof(T));
  }

 private:
  std::vector<std::int64_t> shape(const Side& side) const {
    std::vector<std::int64_t> sizes;
    if (problem_.batch > 1) sizes.push_back(problem_.batch);
    for (int d = problem_.dim - 1; d >= 0; --d) sizes.push_back(side.size[static_cast<std::size_t>(d)]);
    return sizes;
  }

  // Halves the columns of the half spectrum that stand for two columns of the whole.
  void halve_interior(Buffer<T>& values, const Side& side) const {
    side.each([&](std::int64_t, std::int64_t at, std::int64_t x) {
      if (x == 0 || 2 * x == problem_.n[0]) return;
      values[2 * at] *= T(0.5);
      values[2 * at + 1] *= T(0.5);
    });
  }

  void fill_input(const RunRequest& request) {
    const std::int64_t parts = from_.real ? 1 : 2;
    std::vector<T> dense(static_cast<std::size_t>(from_.count() * parts));
    if (!request.values.empty())
      read_values(request.values, dense, parts);
    else if (from_.real)
      tuner::fill_random<T>(std::span<T>(dense), request.seed + 2);
    else if (direct_.fft_type == FftType::c2r)
      tuner::fill_half_spectrum<T>(complex_span(dense), problem_.n, problem_.batch, request.seed + 2);
    else
      tuner::fill_random<T>(complex_span(dense), request.seed + 2);
    from_.each([&](std::int64_t d, std::int64_t at, std::int64_t) {
      for (std::int64_t part = 0; part < parts; ++part)
        read_[at * parts + part] = dense[static_cast<std::size_t>(d * parts + part)];
    });
  }

  static std::span<std::complex<T>> complex_span(std::vector<T>& reals) {
    return {reinterpret_cast<std::complex<T>*>(reals.data()), reals.size() / 2};
  }

  void read_values(const std::string& path, std::vector<T>& dense, std::int64_t parts) const {
    const NpyArray array = read_npy(path);
    if (!has_axes(array.shape, shape(from_)) || (array.is_complex && from_.real))
      throw UsageError(fmt::format("{}: holds {} {} values of shape ({}) where {} {} ones are read", path,
                                   array.count(), array.is_complex ? "complex" : "real", fmt::join(array.shape, ", "),
                                   from_.count(), from_.real ? "real" : "complex"),
                       fmt::format("its shape should be ({})", fmt::join(shape(from_), ", ")));
    for (std::size_t i = 0; i < array.values.size(); ++i) {
      dense[i * static_cast<std::size_t>(parts)] = static_cast<T>(array.values[i].real());
      if (parts == 2) dense[2 * i + 1] = static_cast<T>(array.values[i].imag());
    }
  }

  Problem problem_, direct_;
  bool adjoint_, in_place_;
  Side from_, to_;                   // of the transform that runs, which may be the adjoint
  Buffer<T> read_, written_, kept_;  // in place: read_ is the only array, and kept_ a copy of the input
};

}  // namespace

bool has_axes(std::vector<std::int64_t> given, std::vector<std::int64_t> right) {
  std::erase(given, 1), std::erase(right, 1);
  if (given.size() == 1)
    return given[0] == std::accumulate(right.begin(), right.end(), std::int64_t{1}, std::multiplies<>());
  return given == right;
}

void check_memory(double bytes) {
  const auto have = static_cast<double>(cpu_traits().memory_bytes);
  if (have > 0 && bytes > have)
    throw Failure(
        fmt::format("the arrays need {} and this machine has {}", bytes_text(static_cast<std::int64_t>(bytes)),
                    bytes_text(static_cast<std::int64_t>(have))),
        "a smaller problem, or a smaller batch");
}

std::unique_ptr<RunArrays> make_fft_arrays(const Problem& problem, const RunRequest& request) {
  if (!request.points.empty() || !request.targets.empty())
    throw UsageError("--points and --targets belong to a nufft", "an fft reads --values only");
  if (problem.precision == Precision::f32) return std::make_unique<FftArrays<float>>(problem, request);
  return std::make_unique<FftArrays<double>>(problem, request);
}

std::unique_ptr<RunArrays> make_run_arrays(Problem& problem, const RunRequest& request) {
  return problem.kind == Kind::fft ? make_fft_arrays(problem, request) : make_nufft_arrays(problem, request);
}

}  // namespace fourtune::tools
