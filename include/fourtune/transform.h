// Fourtune's C++ interface. fourtune.h has the formulas, mode order, ownership and thread rules. Failures throw Error.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fourtune/export.h"
#include "fourtune/problem.h"
#include "fourtune/status.h"

namespace fourtune {

enum class ModeOrder { centred, fft };  // -n/2 .. (n-1)/2 ascending, or 0, 1, .. followed by the negative modes
// With spreading or interpolation alone, the array of modes is the fine grid. It begins at 0, or if `centred` at -pi;
// then 0 is in its middle, between two cells where their number is odd.
enum class Only { whole, spread, interpolate, spread_centred, interpolate_centred };

// A pack in memory. The bytes must not change while a transform made with them exists.
struct PackBytes {
  const void* data = nullptr;
  std::size_t size = 0;
  std::string name;  // its name in messages
};

struct Options {
  bool default_databases = true;       // use the user's database, if it exists, and the packs of this machine (ship.md)
  std::vector<std::string> databases;  // further packs and databases, by path; later ones win
  std::string backend;                 // "cpu" or "cuda"; empty: "cpu", even on a machine with a GPU
  int device = 0;                      // index among the backend's devices; no other device is used
  int threads = 0;                     // 0: as many as are useful (fourtune.h); a larger number is reduced to that
  std::string plan;                    // text of the plan to use; empty: Fourtune chooses a plan
  bool deterministic = false;
  void* stream = nullptr;
  ModeOrder mode_order = ModeOrder::centred;
  bool clamp_tolerance = false;
  bool trust_points = false;
  // Keeps all digits of points that an array of the precision can hold over a period, not only those that the tolerance
  // needs. Then the error, too, changes smoothly with the points, so that differences over small steps of a point are
  // right; set_points takes more time and memory. It has no effect where the only kernels are those of a pack that
  // lacks it.
  bool exact_points = false;
  Only only = Only::whole;
  // Every transform of a batch has separate points: each coordinate array has batch times m (or k) values, those of the
  // first transform first. All transforms use one plan, made for a single transform.
  bool distinct_points = false;
  std::vector<PackBytes> packs;           // further packs, in memory; later ones win, all of them over `databases`
  std::vector<std::string> trusted_keys;  // public keys; compiled kernels of packs that they signed may run
  // A file in which problems that run untuned are remembered, for `fourtune tune --misses`: token, number of transforms
  // and of executes, no data. Written when a plan is chosen and when the transform ends, never by execute. Empty: the
  // file that the environment variable FOURTUNE_RECORD_MISSES names, or none.
  std::string misses;
  // GPUs that share a batch: "all", or numbers such as "0,1". Each has a part of the transforms, larger where the
  // device is faster, its plan, all points and a thread. Arrays may be in host memory or in the memory of any of the
  // devices; parts are copied in pieces while others are computed. execute waits for `stream` (null: for the default
  // streams of the devices) and returns when its work is done. `device` has to be 0, and `only` whole. "0:20e9" limits
  // what may be allocated there; ffts and types 1 and 2 that need more run in blocks or slabs (docs/several-gpus.md).
  // Empty: `device` alone.
  std::string devices;
};

// Nonuniform points: arrays of the problem's precision, which are needed only until set_points returns.
struct Points {
  std::int64_t m = 0;
  const void* x = nullptr;
  const void* y = nullptr;
  const void* z = nullptr;
  std::int64_t k = 0;  // type 3: number of targets s, t, u
  const void* s = nullptr;
  const void* t = nullptr;
  const void* u = nullptr;
};

// Bounds of all points of a type 3, in the order x, y, z, s, t, u; entries beyond the problem's dimension are ignored.
struct Bounds {
  std::array<double, 6> low{}, high{};
};

struct StageTime {
  std::string stage;  // sort, spread, fft, interpolate, ...
  double seconds = 0;
};

struct MemoryUse {
  std::int64_t held = 0;    // bytes allocated now
  std::int64_t needed = 0;  // the most allocated once points are set, also while executing; an estimate until then
};

class FOURTUNE_API Transform {
 public:
  explicit Transform(std::string_view problem, const Options& options = {});
  ~Transform();
  Transform(Transform&&) noexcept;
  Transform& operator=(Transform&&) noexcept;

  // Compiles what a transform of this problem will need, and keeps it in the user's database; does nothing on the cpu
  // backend. The token needs m (and k). A type 3 is prepared for points that fill the token's extent, at least to 0.8,
  // or, without one, (pi/2) k^(1/dim); other points compile other kernels. Adjoints are not prepared. May be called
  // from any thread. Throws as the constructor does.
  static void prepare(std::string_view problem, const Options& options = {});

  // Throws Error{invalid_argument} for null, surplus or misaligned arrays, Error{invalid_point} for a coordinate that
  // is not finite, and Error{contradiction} where counts or positions differ from the problem token or the bounds.
  void set_points(const Points& points);
  // Type 3: promises that later points lie within the bounds. GPU backends size their grids for the bounds, so that
  // other points within them need no new kernels; with trust_points, set_points then does not wait for the device. For
  // points outside, set_points throws Error{contradiction}; with trust_points, results are wrong instead. Points that
  // are already set are not affected. Throws Error{invalid_argument} unless bounds are finite with low <= high.
  void set_bounds(const Bounds& bounds);
  // Arrays are read and written as by fourtune_execute; execute_adjoint applies the conjugate transpose. Both throw
  // Error{points_not_set} before set_points, and Error{invalid_argument} for null, misaligned or aliased arrays.
  void execute(void* point_values, void* mode_values);
  void execute_adjoint(void* point_values, void* mode_values);
  // GPU backends queue later work on this stream. The cpu backend throws Error{invalid_argument} unless it is null.
  void set_stream(void* stream);

  const Problem& problem() const noexcept;  // set_points fills in m and k
  MemoryUse memory() const;
  // Text of the plan in use, and the reason for it. Without m (and k) in the token, set_points chooses the plan.
  const std::string& plan() const noexcept;
  const std::string& explain() const noexcept;
  // One line for each database or pack that cannot be used, or whose kernels may not run, with the reason; empty: none.
  const std::string& warnings() const noexcept;
  // Times of the stages of the last set_points and execute, in order; with `devices`, the time of each in execute.
  std::vector<StageTime> stage_times() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Called after each problem, by one thread at a time; false ends the work.
using PrepareProgress = std::function<bool(std::size_t done, std::size_t all, const std::string& problem)>;

// Transform::prepare for many problems, on options.threads threads (0: as many as are useful). A problem that
// fails does not stop the others; the first failure is thrown at the end, with its problem. Throws Error{interrupted}
// when `progress` ended the work.
FOURTUNE_API void prepare(const std::vector<std::string>& problems, const Options& options = {},
                          const PrepareProgress& progress = {});

}  // namespace fourtune
