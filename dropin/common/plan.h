// What a plan handle of FINUFFT or cuFINUFFT refers to: Fourtune transforms, with the peers' rules on top.
//
// - Sizes of zero are allowed: without modes, points or targets, outputs are zeros.
// - Points are pointers of the caller, whose contents stay as they are until the next set_points; a second thread that
//   executes the plan while it is in use gets a separate transform, made from them.
// - Errors are Failure, or Fourtune's Error.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dropin/common/status.h"
#include "fourtune/transform.h"

namespace fourtune::dropin {

// The caller's lock around FFTW's planner, which is one for the whole process. Null functions: none.
struct PlannerLock {
  void (*lock)(void*) = nullptr;
  void (*unlock)(void*) = nullptr;
  void* data = nullptr;
};

// What happens where a tolerance is below the precision's epsilon, or out of reach for the points: the call fails, or
// it goes on with the least tolerance that is in reach, with or without a warning.
enum class TooAccurate { fails, warns, passes };

// A transform as the caller describes it.
struct Request {
  int type = 1;
  int dim = 1;
  std::array<std::int64_t, 3> modes{1, 1, 1};
  int sign = 1;
  std::int64_t count = 1;         // transforms with the same points
  std::int64_t most_at_once = 0;  // of them; 0: all
  Precision precision = Precision::f64;
  double tol = 1e-6;
  bool on_device = false;  // arrays are in a GPU's memory
  double upsampling = 2;   // for which the kernel is made, where options.only is not `whole`
  Options options;
  TooAccurate rule = TooAccurate::fails;
  PlannerLock planner_lock;
  double farthest = 0;  // types 1 and 2 refuse points beyond this distance from 0; 0: they fold them all
  bool shows_warnings = true;
  bool shows_times = false;  // on standard output: the plan, why it was taken, and the times of its stages
};

// A request that can be planned, and `less_accurate` where its tolerance was raised and the caller is to be told.
struct Checked {
  Request request;
  Code code = Code::success;
};

// Throws Failure where type, dimension, counts, modes or tolerance are impossible.
Checked check(Request request);

class ForeignPlan {
 public:
  explicit ForeignPlan(const Request& checked);  // by check()
  ~ForeignPlan();
  ForeignPlan(const ForeignPlan&) = delete;
  ForeignPlan& operator=(const ForeignPlan&) = delete;

  // Surplus coordinates (beyond the dimension; targets of types 1 and 2) are ignored. One thread at a time.
  Code set_points(Points points);
  // `adjoint` applies the conjugate transpose. Any number of threads.
  void execute(void* point_values, void* mode_values, bool adjoint);

  const Request& request() const noexcept { return request_; }

 private:
  // One transform. `points`: for which set_points of the plan its points are.
  struct Lane {
    std::unique_ptr<Transform> transform;
    std::uint64_t points = 0;
  };
  class Borrowed;

  void open_device();
  std::unique_ptr<Lane> new_lane();
  // Transforms that were planned under the caller's lock are not for others, who may have none.
  bool shares_transforms() const noexcept { return !request_.planner_lock.lock; }
  std::unique_ptr<Lane> lane_with_points();
  void take_tolerance(double tol);
  void take_kernel(std::unique_ptr<Lane>& lane);
  void give_up(std::unique_ptr<Lane> lane) noexcept;
  void place(Lane& lane) const;
  bool computes_nothing() const noexcept;
  void write_zeros(void* point_values, void* mode_values, bool adjoint) const;
  std::int64_t output_count(bool to_modes) const;
  void print_points(const Lane& lane) const;
  void print_times(const Lane& lane) const;

  Request request_;
  double tol_;                   // of the transforms; at most that of the request
  std::string token_;            // of `at_once_` transforms; empty: there are no modes
  std::int64_t at_once_ = 1;     // divides the number of transforms
  std::int64_t mode_count_ = 1;  // types 1 and 2
  Points points_;
  std::uint64_t points_number_ = 0;  // counts set_points; 0: none yet
  std::mutex mutex_;                 // of idle_
  std::vector<std::unique_ptr<Lane>> idle_;
};

}  // namespace fourtune::dropin
