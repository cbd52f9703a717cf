#include "tools/soak/subject.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/common/device_arrays.h"

namespace fourtune::tools {
namespace {

class OurTransform final : public Subject {
 public:
  OurTransform(const std::string& token, const Options& options) : transform_(token, options) {}
  void set_points(const Points& points) override { transform_.set_points(points); }
  void execute(void* first, void* second, bool adjoint) override {
    adjoint ? transform_.execute_adjoint(first, second) : transform_.execute(first, second);
  }
  std::string plan() const override { return transform_.plan(); }
  std::optional<MemoryUse> memory() const override { return transform_.memory(); }

 private:
  Transform transform_;
};

// Half of a single fft's arrays, or about half of what a nonuniform transform takes: points, their sorted copies and a
// fine grid with twice as many cells along each dimension, at least as many as kernels want.
std::size_t streamed_bytes(const Problem& problem) {
  const ArrayBytes bytes = array_bytes(problem);
  const auto batch = static_cast<std::size_t>(problem.batch);
  if (problem.kind == Kind::fft) return (bytes.first + bytes.second) / 2 / batch;
  std::int64_t grid = 2 * real_bytes(problem.precision);
  constexpr std::int64_t kLeastCells = 32;
  for (int d = 0; d < problem.dim; ++d) grid *= std::max(kLeastCells, 2 * problem.n[static_cast<std::size_t>(d)]);
  return (5 * bytes.first / batch + static_cast<std::size_t>(grid)) / 2;
}

}  // namespace

std::unique_ptr<Subject> make_transform(const SoakCase& one, const SoakSetup& setup) {
  Options options;
  options.default_databases = false;
  options.backend = setup.backend->name();
  options.device = setup.device;
  options.threads = one.threads;
  options.plan = setup.plan;
  options.deterministic = one.deterministic;
  options.mode_order = one.order;
  options.trust_points = one.trust;
  options.only = one.only;
  options.distinct_points = one.distinct;
  if (one.shared || one.streamed) options.device = 0, options.plan.clear();
  if (one.shared) options.devices = "all";
  if (one.streamed) options.devices = fmt::format("0:{}", streamed_bytes(one.problem));
  const std::string typed = typed_token(one);
  if (parse_typed_problem(typed) != one.problem) throw Trouble{"token", typed + " is read as another problem"};
  return std::make_unique<OurTransform>(typed, options);
}

}  // namespace fourtune::tools
