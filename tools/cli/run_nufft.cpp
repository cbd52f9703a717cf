// The arrays of a nonuniform transform for `fourtune run`.
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <optional>
#include <span>
#include <vector>

#include "base/npy.h"
#include "runtime/backends/cpu/base/buffer.h"
#include "tools/cli/run_arrays.h"
#include "tools/common/errors.h"
#include "tuner/reference/check.h"
#include "tuner/reference/recorded_points.h"
#include "tuner/reference/synthetic.h"

namespace fourtune::tools {
namespace {

using runtime::cpu::Buffer;

void settle(std::optional<std::int64_t>& promised, const std::string& file, std::optional<std::int64_t> found,
            const char* key) {
  if (found && promised && *found != *promised)
    throw UsageError(fmt::format("{}: holds {} points where the problem says {}={}", file, *found, key, *promised),
                     fmt::format("leave {} out of the problem to take it from the file", key));
  if (found) promised = found;
}

void settle_counts(Problem& problem, std::optional<std::int64_t> sources, std::optional<std::int64_t> targets,
                   const RunRequest& request) {
  settle(problem.m, request.points, sources, "m");
  settle(problem.k, request.targets, targets, "k");
  if (problem.type != 3) {
    if (!problem.m) problem.m = mode_count(problem);
  } else if (!problem.m || !problem.k) {
    throw UsageError("a type 3 problem needs m and k to run",
                     "add m=... and k=..., or give --points FILE.npy and --targets FILE.npy");
  }
  if (sources || targets) problem.points.reset();  // the class describes synthetic points only
  validate(problem);
}

template <class T>
class NufftArrays final : public RunArrays {
 public:
  NufftArrays(Problem& problem, const RunRequest& request) : adjoint_(request.adjoint) {
    if (!request.points.empty()) sources_ = tuner::read_points<T>(request.points, problem.dim);
    if (!request.targets.empty()) targets_ = tuner::read_points<T>(request.targets, problem.dim);
    settle_counts(problem, request.points.empty() ? std::nullopt : std::optional(sources_.count()),
                  request.targets.empty() ? std::nullopt : std::optional(targets_.count()), request);
    problem_ = problem;
    modes_each_ = problem.type == 3 ? *problem.k : mode_count(problem);
    check_memory(static_cast<double>(sizeof(T)) *
                 (static_cast<double>(*problem.m + modes_each_) * 2 * static_cast<double>(problem.batch) +
                  static_cast<double>(problem.dim) * static_cast<double>(*problem.m + problem.k.value_or(0))));
    if (request.points.empty()) sources_ = tuner::make_points<T>(problem, request.seed);
    if (problem.type == 3 && request.targets.empty()) targets_ = tuner::make_targets<T>(problem, request.seed + 1);
    point_values_ = Buffer<std::complex<T>>(checked_multiply(*problem.m, problem.batch, "points times batch"));
    mode_values_ = Buffer<std::complex<T>>(checked_multiply(modes_each_, problem.batch, "modes times batch"));
    fill(point_values_, 0);
    fill(mode_values_, 0);
    fill_input(request);
  }

  Points points() const override {
    Points set;
    set.m = *problem_.m;
    set.x = sources_.data(0);
    set.y = sources_.data(1);
    set.z = sources_.data(2);
    if (problem_.type == 3) {
      set.k = *problem_.k;
      set.s = targets_.data(0);
      set.t = targets_.data(1);
      set.u = targets_.data(2);
    }
    return set;
  }
  void* first() override { return point_values_.data(); }
  void* second() override { return mode_values_.data(); }
  void restore_input() override {}

  // The adjoint is itself a transform with a direct sum: types 1 and 2 are exchanged, type 3 swaps its sides, and the
  // sign is reversed.
  Checked checked(tuner::DeviceSums* sums, const tuner::DeviceInput& there) const override {
    Problem direct = problem_;
    const tuner::PointSet<T>*from = &sources_, *to = &targets_;
    if (adjoint_) {
      direct.sign = -direct.sign;
      if (direct.type == 3) {
        std::swap(direct.m, direct.k);
        std::swap(from, to);
      } else {
        direct.type = 3 - direct.type;
      }
    }
    tuner::PointView<T> sources = tuner::view(*from), targets = tuner::view(*to);
    tuner::CheckOptions options;
    options.sums = sums, options.there = there;
    const tuner::ErrorEstimate found =
        tuner::nufft_error<T>(direct, sources, targets, reads_points() ? point_values_.data() : mode_values_.data(),
                              reads_points() ? mode_values_.data() : point_values_.data(), options);
    return {found.relative, found.by_device};
  }

  void write_output(const std::string& path) const override {
    const Buffer<std::complex<T>>& out = reads_points() ? mode_values_ : point_values_;
    write_npy(path, sizeof(T) == 4 ? "<c8" : "<c16", shape(reads_points()), out.data(),
              static_cast<std::size_t>(out.bytes()));
  }

 private:
  bool reads_points() const { return (problem_.type != 2) != adjoint_; }

  std::vector<std::int64_t> shape(bool modes) const {
    std::vector<std::int64_t> sizes;
    if (problem_.batch > 1) sizes.push_back(problem_.batch);
    if (modes && problem_.type != 3)
      for (int d = problem_.dim - 1; d >= 0; --d) sizes.push_back(problem_.n[static_cast<std::size_t>(d)]);
    else
      sizes.push_back(modes ? *problem_.k : *problem_.m);
    return sizes;
  }

  static void fill(Buffer<std::complex<T>>& values, T value) {
    std::fill_n(values.data(), values.size(), std::complex<T>(value));
  }

  void fill_input(const RunRequest& request) {
    Buffer<std::complex<T>>& in = reads_points() ? point_values_ : mode_values_;
    if (request.values.empty())
      return tuner::fill_random<T>(std::span(in.data(), static_cast<std::size_t>(in.size())), request.seed + 2);
    const NpyArray array = read_npy(request.values);
    if (!has_axes(array.shape, shape(!reads_points())))
      throw UsageError(fmt::format("{}: holds {} values of shape ({}) where {} are read", request.values, array.count(),
                                   fmt::join(array.shape, ", "), in.size()),
                       fmt::format("its shape should be ({})", fmt::join(shape(!reads_points()), ", ")));
    for (std::int64_t i = 0; i < in.size(); ++i) in[i] = std::complex<T>(array.values[static_cast<std::size_t>(i)]);
  }

  Problem problem_;
  bool adjoint_;
  std::int64_t modes_each_ = 0;  // modes, or targets of type 3
  tuner::PointSet<T> sources_, targets_;
  Buffer<std::complex<T>> point_values_, mode_values_;
};

}  // namespace

std::unique_ptr<RunArrays> make_nufft_arrays(Problem& problem, const RunRequest& request) {
  if (problem.type != 3 && !request.targets.empty())
    throw UsageError("--targets belongs to type 3", "the modes of types 1 and 2 are given by n");
  if (problem.precision == Precision::f32) return std::make_unique<NufftArrays<float>>(problem, request);
  return std::make_unique<NufftArrays<double>>(problem, request);
}

}  // namespace fourtune::tools
