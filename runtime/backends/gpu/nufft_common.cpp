#include "runtime/backends/gpu/nufft_common.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "runtime/backends/distinct_points.h"
#include "runtime/backends/gpu/nufft_executor.h"
#include "runtime/backends/gpu/shared_queue.h"

namespace fourtune::runtime::gpu {

std::int64_t volume(const std::array<std::int64_t, 3>& sizes, const char* what) {
  return checked_multiply(checked_multiply(sizes[0], sizes[1], what), sizes[2], what);
}

void check_supported(const generator::Plan& plan) {
  if (plan.window.table > 0 || plan.inner.table > 0)
    throw Error(Status::invalid_plan, "window: GPU kernels have no look-up tables; leave table out");
}

double position_unit(const generator::nufft::Shape& shape, double sigma, double tol, double predicted_error,
                     bool exact_points) {
  const double enough = generator::nufft::position_unit(0.5 * std::max(tol, predicted_error), sigma, shape.dim);
  if (!exact_points) return enough;
  return std::min(enough, generator::nufft::exact_unit(shape.precision, shape.fine, shape.dim));
}

generator::nufft::LargeBins check_status(Queue& queue, const std::byte* status,
                                         const std::array<const std::byte*, 3>& points, const Problem& problem,
                                         std::int64_t first) {
  const std::string_view names = "xyz";
  std::array<std::uint64_t, 3> words{};
  queue.read(words.data(), status, sizeof words);
  const std::uint64_t bad = words[0];
  if (bad == ~std::uint64_t{0})
    return words[1] == bad
               ? generator::nufft::LargeBins{}
               : generator::nufft::LargeBins{static_cast<std::int64_t>(words[1]), static_cast<std::int64_t>(words[2])};
  char name = names.front();
  for (int d = problem.dim; d-- > 0;) {
    double value = 0;
    float single = 0;
    const auto size = static_cast<std::size_t>(real_bytes(problem.precision));
    if (problem.precision == Precision::f32)
      queue.read(&single, points[static_cast<std::size_t>(d)] + bad * size, size), value = single;
    else
      queue.read(&value, points[static_cast<std::size_t>(d)] + bad * size, size);
    if (!std::isfinite(value)) name = names[static_cast<std::size_t>(d)];
  }
  throw Error(Status::invalid_point, fmt::format("point {}: coordinate {} is NaN, infinite or overflows when scaled; "
                                                 "every coordinate must be a finite number",
                                                 static_cast<std::uint64_t>(first) + bad, name));
}

void explain_memory(const Error& error, const Problem& problem, const generator::Plan& plan, std::int64_t grids,
                    std::int64_t points) {
  const auto mega = [](double bytes) { return fmt::format("{:.4g} MB", bytes * 1e-6); };
  const auto held = static_cast<double>(grids), rest = static_cast<double>(points);
  std::string text = fmt::format("{}; the transform needs {}: {} of grids and {} of points", error.what(),
                                 mega(held + rest), mega(held), mega(rest));
  const std::int64_t chunk = std::clamp<std::int64_t>(plan.chunk, 1, problem.batch);
  if (chunk > 1) text += fmt::format("; chunk=1 needs {}", mega(held / static_cast<double>(chunk) + rest));
  if (plan.window.sigma > 1.3) {
    const double shrink = std::pow(1.25 / plan.window.sigma, problem.dim);
    text += fmt::format("; an oversampling of 1.25 in place of {} needs about {}", plan.window.sigma,
                        mega(held * shrink + rest));
  }
  throw Error(Status::out_of_memory, text);
}

std::unique_ptr<Executor> make_gpu_nufft_executor(const Problem& problem, const generator::Plan& plan,
                                                  const ExecutorOptions& options, std::unique_ptr<Queue> queue) {
  if (problem.kind != Kind::nufft) throw Error(Status::internal, "a uniform transform has another executor");
  validate(problem);
  if (options.distinct_points && problem.batch > 1) {
    const auto shared = std::make_shared<SharedQueue>(std::move(queue));
    ExecutorOptions own = options;
    own.distinct_points = false;
    return make_distinct_points_executor(
        problem, [&](const Problem& one) { return make_gpu_nufft_executor(one, plan, own, shared->share()); },
        [shared] { return shared->counted_twice(); });
  }
  return problem.type == 3 ? make_gpu_type3_executor(problem, plan, options, std::move(queue))
                           : make_gpu_type12_executor(problem, plan, options, std::move(queue));
}

}  // namespace fourtune::runtime::gpu
