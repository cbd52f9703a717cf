// Fourtune's C++ interface. Formulas, mode order, ownership and threads are those of fourtune.h; failures throw Error.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fourtune/export.h"
#include "fourtune/problem.h"
#include "fourtune/status.h"

namespace fourtune {

enum class ModeOrder { centred, fft };  // -n/2 .. (n-1)/2 ascending, or 0 .. then the negative ones
enum class Only { whole, spread, interpolate };

struct Options {
  bool default_databases = true;       // the user database, if it exists
  std::vector<std::string> databases;  // further ones, later ones win
  std::string backend;                 // "cpu", "cuda"; empty: "cpu", on a machine with a GPU too
  int device = 0;                      // number among the backend's devices; others are left alone
  int threads = 0;                     // 0: all that are of use (fourtune.h); more are as many
  std::string plan;                    // force this plan text
  bool deterministic = false;
  void* stream = nullptr;
  ModeOrder mode_order = ModeOrder::centred;
  bool clamp_tolerance = false;
  bool trust_points = false;
  Only only = Only::whole;
  // Every transform of a batch has points of its own: coordinates are batch times m (and k) values, those of the first
  // transform first. A plan for one transform serves all.
  bool distinct_points = false;
};

// Nonuniform points, arrays of the problem's precision, needed only until set_points returns.
struct Points {
  std::int64_t m = 0;
  const void* x = nullptr;
  const void* y = nullptr;
  const void* z = nullptr;
  std::int64_t k = 0;  // type 3: targets s, t, u
  const void* s = nullptr;
  const void* t = nullptr;
  const void* u = nullptr;
};

// Where all points of a type 3 lie: x, y, z, s, t, u; what is beyond the dimension is not looked at.
struct Bounds {
  std::array<double, 6> low{}, high{};
};

struct StageTime {
  std::string stage;  // sort, spread, fft, interpolate, ...
  double seconds = 0;
};

struct MemoryUse {
  std::int64_t held = 0;    // bytes allocated now
  std::int64_t needed = 0;  // bytes once points are set; an estimate before
};

class FOURTUNE_API Transform {
 public:
  explicit Transform(std::string_view problem, const Options& options = {});
  ~Transform();
  Transform(Transform&&) noexcept;
  Transform& operator=(Transform&&) noexcept;

  void set_points(const Points& points);
  // Type 3: later points will lie in there. GPUs make their grids for it, so that other points in the same bounds need
  // no other kernels; with trust_points set_points then does not wait. Points outside: Error{contradiction}, but where
  // they are trusted wrong results. Takes no effect on points that are set.
  void set_bounds(const Bounds& bounds);
  void execute(void* point_values, void* mode_values);
  void execute_adjoint(void* point_values, void* mode_values);
  void set_stream(void* stream);

  const Problem& problem() const noexcept;  // with m, k, extent filled in by set_points
  MemoryUse memory() const;
  // Plan text in use (types without m resolve in set_points), and the reason for it.
  const std::string& plan() const noexcept;
  const std::string& explain() const noexcept;
  // Stages of the last set_points and execute, in order.
  std::vector<StageTime> stage_times() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fourtune
