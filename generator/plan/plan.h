// A plan names a family for every stage, with all parameters bound. It has one canonical text.
//
//   cpu;threads=2;fft=fftw(rigor=measure)
//   cpu;threads=2;window=pswf(sigma=1.5,width=6,fine=384x384x384);sort=tiles(tile=24x16x16);spread=subgrid(cap=8192,
//   add=lock);fft=pruned(rigor=measure)                                            (on one line, without the blank)
//
// Grammar: backend { ";" stage "=" family [ "(" key "=" value { "," key "=" value } ")" ] }. A plain stage may be a
// bare value (threads=2). This file's parser range-checks text from databases and users before other code sees it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fourtune/problem.h"
#include "fourtune/status.h"
#include "generator/plan/gpu_plan.h"
#include "generator/window/window.h"

namespace fourtune::generator {

// ---- uniform and shared parts -----------------------------------------------------------------------------------
enum class Rigor { estimate, measure, patient };  // planning rigor of FFTW
enum class FftFamily {
  fftw,    // one FFTW plan for the whole transform: exactly what the library itself would run
  rows,    // our loop over dimensions, one small measured FFTW plan per dimension (known-good shapes, cheap planning)
  pruned,  // as rows, but skips lines known to be zero or unwanted, and includes deconvolution (nufft only)
  along,   // line by line, vectors along the line (one dimension without gaps; generator/plan/along.h)
};
struct FftChoice {
  FftFamily family = FftFamily::pruned;
  Rigor rigor = Rigor::measure;
  int block = 64;  // rows, pruned: lines transformed together along a strided dimension
  friend bool operator==(const FftChoice&, const FftChoice&) = default;
};

// ---- nonuniform parts -------------------------------------------------------------------------------------------
struct WindowChoice {
  WindowKind kind = WindowKind::pswf;
  double sigma = 2;                           // nominal oversampling factor
  int width = 6;                              // taps per dimension
  std::array<std::int64_t, 3> fine{1, 1, 1};  // fine grid; {0,0,0} where it depends on the points (type 3)
  int table = 0;                              // entries per cell of a look-up table; 0: piecewise polynomial
  double beta = 0;                            // shape parameter; 0: by beta_rule
  friend bool operator==(const WindowChoice&, const WindowChoice&) = default;
};
// The window itself. Throws Error{invalid_plan} for numbers for which there is none.
Window window_of(const WindowChoice& choice);
// Its shape parameter if it is the exponential of semicircle, else 0 (nufft::Shape::semicircle).
double semicircle_of(const WindowChoice& choice);
enum class SortFamily {
  none,   // points stay in the caller's order
  tiles,  // points are grouped by tiles of the fine grid
};
struct SortChoice {
  SortFamily family = SortFamily::tiles;
  std::array<int, 3> tile{32, 16, 16};  // cells per side
  bool copy = true;                     // keep permuted coordinates (else only an index)
  bool local = false;                   // 3D copies: sort inside tiles too (slower to sort, faster to run)
  friend bool operator==(const SortChoice&, const SortChoice&) = default;
};
enum class SpreadFamily {
  atomic,        // one point per iteration, atomic additions to the fine grid (paper nufft-type3-cuda, CPU version)
  colour_index,  // blocks with colour scheduling; the points of a block are reached through an index array (paper
                 // nufft3d-cpu-optimization)
  colour_list,   // the same through a static linked list (the paper's memory-saving form)
  subgrid,       // private padded subgrids, which are added to the fine grid when they are finished
};
inline constexpr int kSpreadFamilies = static_cast<int>(SpreadFamily::subgrid) + 1;  // the last one stays it
// What a spreader is like. Each family has a line; the cost models price it by this.
struct Spreader {
  const char* name;    // as plan texts spell it
  bool unsorted;       // takes points in the caller's order; others work on blocks of sorted points
  bool private_tiles;  // sums in tiles of `cap` points, which are added by `add`; others add points to the grid
  bool coloured;       // writes one colour of tiles after the other
  bool atomic;         // additions to the grid are atomic
  int prefetch;        // the usual distance (below); kNoPrefetch: there is no choice
};
inline constexpr int kUsualPrefetch = 64, kMostPrefetch = 4096, kNoPrefetch = -1;
// In the order of SpreadFamily.
inline constexpr Spreader kSpreaders[] = {
    // name, unsorted, private_tiles, coloured, atomic, prefetch
    {"atomic", true, false, false, true, kNoPrefetch},
    {"colour_index", false, false, true, false, 0},
    {"colour_list", false, false, true, false, kNoPrefetch},
    {"subgrid", false, true, false, false, kUsualPrefetch},
};
static_assert(std::size(kSpreaders) == kSpreadFamilies, "each SpreadFamily has a line");
constexpr const Spreader& spreader_of(SpreadFamily family) { return kSpreaders[static_cast<std::size_t>(family)]; }
enum class AddRule { lock, colour };  // how a finished subgrid is added; colour is bit-reproducible
struct SpreadChoice {
  SpreadFamily family = SpreadFamily::subgrid;
  int cap = 8192;  // maximum number of points per subproblem
  AddRule add = AddRule::lock;
  std::optional<int> prefetch = std::nullopt;  // absent: the usual one; see prefetch_distance
  friend bool operator==(const SpreadChoice&, const SpreadChoice&) = default;
};
enum class InterpFamily {
  direct,  // every point reads the fine grid directly
  tile,    // a padded tile is copied to private memory first
};
struct InterpChoice {
  InterpFamily family = InterpFamily::tile;
  int cap = 8192;
  std::optional<int> prefetch = std::nullopt;
  friend bool operator==(const InterpChoice&, const InterpChoice&) = default;
};
// How many points ahead of the one that a kernel works on the values of points, which lie in the caller's order, are
// fetched into the cache; 0: none. It moves nothing but time. Families without a choice take none: those that reach
// points one by one, and points that are not sorted.
constexpr bool may_prefetch(SpreadFamily family) { return spreader_of(family).prefetch != kNoPrefetch; }
constexpr int usual_prefetch(SpreadFamily family) { return may_prefetch(family) ? spreader_of(family).prefetch : 0; }
constexpr int prefetch_distance(const SpreadChoice& spread) {
  return spread.prefetch.value_or(usual_prefetch(spread.family));
}
constexpr int prefetch_distance(const InterpChoice& interp) { return interp.prefetch.value_or(kUsualPrefetch); }
// Sets the distance of both kernels where there is a choice; the usual one is absent, so that a plan has one text.
void set_prefetch(SpreadChoice& spread, InterpChoice& interp, bool sorted, int distance);

enum class Type3Rule {
  compose,  // spread, then a type 2 (with any window)
  gaussian  // the parameterisation of paper nufft-type3-cuda, Table 1 and equations 6-7
};

// The stages of a plan for the processor.
struct CpuStages {
  int threads = 1;
  FftChoice fft;
  // nufft only
  SortChoice sort;
  SpreadChoice spread;  // types 1 and 3
  InterpChoice interp;  // types 2 and 3
  friend bool operator==(const CpuStages&, const CpuStages&) = default;
};

struct Plan {
  std::string backend = "cpu";
  std::variant<CpuStages, GpuStages> stages;  // GpuStages if is_gpu(backend)
  // nufft only, alike on all devices
  WindowChoice window;  // types 1 and 2; in type 3 the window of the outer spreading
  WindowChoice inner;   // type 3 compose: the window of the inner type 2
  int chunk = 1;        // transforms of a batch that run together
  Type3Rule type3 = Type3Rule::compose;
  double gaussian_r = 2.2;  // type 3 gaussian: R of Table 1, strictly above 2

  // The stages, for code that knows the kind of device. The wrong one throws std::bad_variant_access.
  CpuStages& cpu() { return std::get<CpuStages>(stages); }
  const CpuStages& cpu() const { return std::get<CpuStages>(stages); }
  GpuStages& gpu() { return std::get<GpuStages>(stages); }
  const GpuStages& gpu() const { return std::get<GpuStages>(stages); }

  friend bool operator==(const Plan&, const Plan&) = default;
};

// A plan of this backend in which every stage has its default.
Plan plan_for(std::string_view backend);

// Returns the canonical text of the plan for this kind of problem (prints only the stages that the problem has).
std::string to_text(const Plan& plan, const Problem& problem);
// Parses the text and checks its ranges against the problem. Throws Error{invalid_plan} naming the stage, the key and
// what is allowed.
Plan parse_plan(std::string_view text, const Problem& problem);

}  // namespace fourtune::generator
