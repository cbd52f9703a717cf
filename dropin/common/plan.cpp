#include "dropin/common/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "dropin/common/kept_transforms.h"
#include "dropin/common/spreading_kernel.h"
#include "fourtune/problem.h"

namespace fourtune::dropin {
namespace {

constexpr std::int64_t kMostPoints = 100'000'000'000'000;  // 1e14, as the peers document it

bool has_modes(const Request& request) {
  return request.type == 3 ||
         std::all_of(request.modes.begin(), request.modes.begin() + request.dim, [](std::int64_t n) { return n > 0; });
}

template <class T>
void check_distance(const Points& points, double farthest) {
  const auto most = static_cast<T>(farthest);
  for (const void* axis : {points.x, points.y, points.z}) {
    const auto* const x = static_cast<const T*>(axis);
    for (std::int64_t j = 0; x && j < points.m; ++j)
      if (!(std::abs(x[j]) <= most))
        throw Failure(Code::bad_point, fmt::format("point {} has a coordinate {:g}, outside [-3 pi, 3 pi]; set chkbnds "
                                                   "to 0 to have it folded",
                                                   j, x[j]));
  }
}

void check_shape(const Request& request) {
  const auto bad = [](Code code, const std::string& text) { throw Failure(code, text); };
  if (request.type < 1 || request.type > 3) bad(Code::bad_type, fmt::format("type={}: 1, 2 or 3", request.type));
  if (request.dim < 1 || request.dim > 3) bad(Code::bad_dimension, fmt::format("dimension {}: 1, 2 or 3", request.dim));
  if (request.count < 1)
    bad(Code::bad_transform_count, fmt::format("{} transforms: at least 1 is needed", request.count));
  if (request.most_at_once < 0)
    bad(Code::bad_argument, fmt::format("maxbatchsize={}: 0 (automatic) or a positive number", request.most_at_once));
  for (int d = 0; d < request.dim && request.type != 3; ++d)
    if (request.modes[d] < 0) bad(Code::bad_modes, fmt::format("{} modes: a count is not negative", request.modes[d]));
  if (std::isnan(request.tol)) bad(Code::bad_argument, "the tolerance is not a number");
  if (request.options.only != Only::whole && request.type == 3)
    bad(Code::bad_argument, "spreadinterponly: a type 3 has no grid of the caller's; only types 1 and 2 have");
  if (!has_modes(request) && request.on_device) bad(Code::bad_modes, "a dimension has no modes");
}

// The largest number of transforms at once that divides their number, so that one transform does them all.
std::int64_t batch_of(const Request& request) {
  if (request.most_at_once == 0 || request.most_at_once >= request.count) return request.count;
  std::int64_t batch = request.most_at_once;
  while (request.count % batch != 0) --batch;
  return batch;
}

// So few points and modes take microseconds with any window. Programs that check their gradients on small problems, by
// differences over 1e-8, meet points that lie on cells, where a window ends: at the peers' tolerance of 1e-6 results
// would jump there by more than such a difference.
bool is_small(const Request& request, const Points& points, std::int64_t modes) {
  constexpr std::int64_t kFewPoints = 64, kFewModes = 1024;
  return request.type != 3 && request.precision == Precision::f64 && request.options.only == Only::whole &&
         points.m <= kFewPoints && modes <= kFewModes;
}
constexpr double kSmallTolerance = 1e-13;

Problem problem_of(const Request& request, double tol, std::int64_t batch) {
  Problem problem;
  problem.type = request.type;
  problem.dim = request.dim;
  if (request.type != 3) std::copy_n(request.modes.begin(), request.dim, problem.n.begin());
  problem.precision = request.precision;
  problem.tol = tol;
  problem.batch = batch;
  problem.sign = request.sign;
  return problem;
}

// The caller's lock for the time of its life.
class PlannerGuard {
 public:
  explicit PlannerGuard(const PlannerLock& lock) : lock_(lock) {
    if (lock_.lock) lock_.lock(lock_.data);
  }
  ~PlannerGuard() {
    if (lock_.unlock) lock_.unlock(lock_.data);
  }
  PlannerGuard(const PlannerGuard&) = delete;
  PlannerGuard& operator=(const PlannerGuard&) = delete;

 private:
  const PlannerLock& lock_;
};

}  // namespace

Checked check(Request request) {
  check_shape(request);
  Code code = Code::success;
  const double least = epsilon(request.precision);
  if (request.tol < least) {
    if (request.rule == TooAccurate::fails)
      throw Failure(Code::too_accurate,
                    fmt::format("tolerance {:g} is below {:.3g}, the epsilon of {}; ask for at least that, or for the "
                                "other precision",
                                request.tol, least, to_string(request.precision)));
    if (request.rule == TooAccurate::warns) code = Code::less_accurate;
    request.tol = least;
  }
  request.options.exact_points = true;  // as the peers': programs take differences over steps far below the tolerance
  request.tol = std::min(request.tol, 0.5);  // a tolerance of 1 or more asks for nothing; half is as cheap
  return {std::move(request), code};
}

ForeignPlan::ForeignPlan(const Request& checked) : request_(checked), tol_(checked.tol), at_once_(batch_of(checked)) {
  if (!has_modes(request_)) {
    mode_count_ = 0;
    return;
  }
  const Problem problem = problem_of(request_, tol_, at_once_);
  validate(problem);
  if (request_.type != 3) mode_count_ = fourtune::mode_count(problem);
  checked_multiply(checked_multiply(mode_count_, request_.count, "modes"), 16, "bytes of modes");
  token_ = to_token(problem);
  if (request_.on_device) open_device();
}

// A device that is missing is told at once, not when points are set.
void ForeignPlan::open_device() {
  try {
    idle_.push_back(new_lane());
  } catch (const Error& error) {
    throw Failure(Code::gpu_failed, error.what());
  }
}

ForeignPlan::~ForeignPlan() {
  for (auto& lane : idle_) give_up(std::move(lane));
}

std::unique_ptr<ForeignPlan::Lane> ForeignPlan::new_lane() {
  auto lane = std::make_unique<Lane>();
  lane->transform = shares_transforms() ? take_transform(token_, request_.options)
                                        : std::make_unique<Transform>(token_, request_.options);
  return lane;
}

void ForeignPlan::give_up(std::unique_ptr<Lane> lane) noexcept {
  if (!lane || !lane->transform) return;
  if (shares_transforms()) return give_transform(token_, request_.options, std::move(lane->transform));
  const PlannerGuard guard(request_.planner_lock);
  lane.reset();
}

// Plans that need FFTW's planner are made here, and by the first adjoint.
void ForeignPlan::place(Lane& lane) const {
  const PlannerGuard guard(request_.planner_lock);
  lane.points = 0;
  lane.transform->set_points(points_);
  lane.points = points_number_;
}

// A lane with the plan's points, at a larger tolerance where the caller's is out of reach and may be raised.
std::unique_ptr<ForeignPlan::Lane> ForeignPlan::lane_with_points() {
  constexpr double kLargest = 0.1;
  for (;;) {
    auto lane = idle_.empty() ? new_lane() : std::move(idle_.back());
    idle_.clear();
    try {
      place(*lane);
      if (request_.options.only != Only::whole && request_.options.plan.empty()) take_kernel(lane);
      return lane;
    } catch (const Error& error) {
      const bool unreachable = error.status() == Status::tolerance_unreachable && request_.tol < kLargest;
      if (!unreachable || (request_.rule == TooAccurate::fails && tol_ == request_.tol)) throw;
    }
    if (tol_ == request_.tol) request_.tol *= 2;
    take_tolerance(request_.tol);
  }
}

void ForeignPlan::take_tolerance(double tol) {
  if (tol == tol_) return;
  for (auto& lane : idle_) give_up(std::move(lane));
  idle_.clear();
  tol_ = tol;
  token_ = to_token(problem_of(request_, tol_, at_once_));
}

// Forces the window that the caller's upsampling asks for, which only the caller's own steps will see. The rest of the
// plan is fitted to it when it is bound.
void ForeignPlan::take_kernel(std::unique_ptr<Lane>& lane) {
  std::string plan = with_kernel(lane->transform->plan(), problem_of(request_, tol_, at_once_), request_.upsampling);
  give_up(std::move(lane));
  request_.options.plan = std::move(plan);
  lane = new_lane();
  place(*lane);
}

Code ForeignPlan::set_points(Points points) {
  const auto check_count = [](std::int64_t count, const char* what) {
    if (count < 0 || count > kMostPoints)
      throw Failure(Code::bad_point_count, fmt::format("{} {}: from 0 to 1e14", count, what));
  };
  check_count(points.m, "points");
  if (request_.type != 3) points.k = 0, points.s = points.t = points.u = nullptr;
  check_count(points.k, "targets");
  if (request_.dim < 3) points.z = points.u = nullptr;
  if (request_.dim < 2) points.y = points.t = nullptr;
  points_ = points;
  ++points_number_;
  const std::int64_t most = std::max(points.m, points.k);
  checked_multiply(checked_multiply(most, request_.count, "values"), 16, "bytes of values");
  if (computes_nothing()) return Code::success;
  if (request_.farthest > 0 && request_.type != 3) {
    const bool single = request_.precision == Precision::f32;
    single ? check_distance<float>(points, request_.farthest) : check_distance<double>(points, request_.farthest);
  }
  while (idle_.size() > 1) give_up(std::move(idle_.back())), idle_.pop_back();
  const double asked = request_.tol;
  take_tolerance(is_small(request_, points_, mode_count_) ? std::min(asked, kSmallTolerance) : asked);
  auto lane = lane_with_points();
  if (request_.shows_times) print_points(*lane);
  idle_.push_back(std::move(lane));
  return request_.tol != asked && request_.rule == TooAccurate::warns ? Code::less_accurate : Code::success;
}

// Takes a transform that is idle, or makes another one; gives it back unless an exception ended its work.
class ForeignPlan::Borrowed {
 public:
  explicit Borrowed(ForeignPlan& plan) : plan_(plan) {
    {
      const std::lock_guard lock(plan_.mutex_);
      if (!plan_.idle_.empty()) lane_ = std::move(plan_.idle_.back()), plan_.idle_.pop_back();
    }
    if (!lane_) lane_ = plan_.new_lane();
    if (lane_->points != plan_.points_number_) plan_.place(*lane_);
  }
  ~Borrowed() {
    if (!failed_) give_back();
    if (!lane_) return;
    const PlannerGuard guard(plan_.request_.planner_lock);
    lane_.reset();
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  Lane& lane() { return *lane_; }
  void done() { failed_ = false; }

 private:
  void give_back() noexcept try {
    const std::lock_guard lock(plan_.mutex_);
    plan_.idle_.push_back(std::move(lane_));
  } catch (const std::bad_alloc&) {  // without memory for its place it is destroyed
  }

  ForeignPlan& plan_;
  std::unique_ptr<Lane> lane_;
  bool failed_ = true;
};

void ForeignPlan::execute(void* point_values, void* mode_values, bool adjoint) {
  if (points_number_ == 0) throw Failure(Code::bad_argument, "the plan has no points yet; call setpts first");
  if (computes_nothing()) return write_zeros(point_values, mode_values, adjoint);
  const std::int64_t bytes = 2 * real_bytes(request_.precision);
  const std::int64_t point_step = at_once_ * points_.m * bytes;
  const std::int64_t mode_step = at_once_ * (request_.type == 3 ? points_.k : mode_count_) * bytes;
  Borrowed borrowed(*this);
  Transform& transform = *borrowed.lane().transform;
  auto* points = static_cast<char*>(point_values);
  auto* modes = static_cast<char*>(mode_values);
  for (std::int64_t done = 0; done < request_.count; done += at_once_, points += point_step, modes += mode_step) {
    if (adjoint) {
      const PlannerGuard guard(request_.planner_lock);
      transform.execute_adjoint(points, modes);
    } else {
      transform.execute(points, modes);
    }
  }
  if (request_.shows_times) print_times(borrowed.lane());
  borrowed.done();
}

bool ForeignPlan::computes_nothing() const noexcept {
  if (mode_count_ == 0) return true;
  return !request_.on_device && (points_.m == 0 || (request_.type == 3 && points_.k == 0));
}

std::int64_t ForeignPlan::output_count(bool to_modes) const {
  if (!to_modes) return points_.m * request_.count;
  return (request_.type == 3 ? points_.k : mode_count_) * request_.count;
}

void ForeignPlan::write_zeros(void* point_values, void* mode_values, bool adjoint) const {
  const bool to_modes = (request_.type != 2) != adjoint;
  void* const output = to_modes ? mode_values : point_values;
  const std::int64_t count = output_count(to_modes);
  if (count == 0) return;
  if (!output) throw Failure(Code::bad_argument, "the array of results is null");
  std::memset(output, 0, static_cast<std::size_t>(count * 2 * real_bytes(request_.precision)));
}

void ForeignPlan::print_points(const Lane& lane) const {
  std::printf("%lld points, %lld targets, %lld transforms\n%s", static_cast<long long>(points_.m),
              static_cast<long long>(points_.k), static_cast<long long>(request_.count),
              lane.transform->explain().c_str());
}

void ForeignPlan::print_times(const Lane& lane) const {
  for (const StageTime& time : lane.transform->stage_times())
    std::printf("  %-12s %.3e s\n", time.stage.c_str(), time.seconds);
}

}  // namespace fourtune::dropin
