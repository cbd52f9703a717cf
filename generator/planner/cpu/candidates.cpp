// Lists the plans worth trying. An axis is one decision, and a candidate is one choice on every axis. Choices that
// cannot work on this device, or that the model considers hopeless, are left out.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "generator/plan/along.h"
#include "generator/plan/binding.h"
#include "generator/plan/summation.h"
#include "generator/plan/type3_windows.h"
#include "generator/planner/cpu/planner.h"

namespace fourtune::generator {
namespace {

constexpr double kHopeless = 6;       // times the best estimate
constexpr double kOtherTile = 1.05;   // the gain for which a default plan leaves the usual tile
constexpr double kMemoryShare = 0.7;  // share of the device's memory
// In one dimension, an untuned plan that does not sort may take longer to execute by this share of what sorting takes.
constexpr double kSortShare = 0.25;
constexpr std::size_t kMostPlans = 20000;

void bind_windows(Plan& plan, WindowKind kind, const Binding& binding, int width) {
  plan.window = WindowChoice{kind, binding.sigma, width, binding.fine, 0};
  plan.inner = plan.window;
}

// Two threads share the points of small tiles better, where there are few of them (docs/design/cpu-choices.md).
bool is_small_type3(const Problem& problem) {
  constexpr std::int64_t kFewPoints = 6000;
  return problem.type == 3 && problem.dim == 3 && problem.precision == Precision::f32 && problem.m &&
         *problem.m < kFewPoints;
}

// The best tile shape first, as measured on a core with 48 KB and 2 MB of cache (docs/design/cpu-choices.md).
std::vector<std::array<int, 3>> tile_shapes(const Problem& problem) {
  if (problem.dim == 1) return {{256, 1, 1}, {128, 1, 1}, {64, 1, 1}};
  if (problem.dim == 2 && problem.type == 3) return {{16, 16, 1}, {32, 32, 1}, {64, 64, 1}};
  const bool f32 = problem.precision == Precision::f32;
  if (problem.dim == 2 && f32) return {{64, 64, 1}, {32, 32, 1}, {128, 128, 1}, {64, 32, 1}, {16, 16, 1}};
  if (problem.dim == 2) return {{32, 32, 1}, {64, 64, 1}, {16, 16, 1}, {64, 32, 1}, {128, 128, 1}};
  if (is_small_type3(problem))
    return {{16, 8, 8}, {32, 16, 16}, {32, 8, 16}, {16, 16, 16}, {24, 16, 16}, {48, 8, 8}, {8, 16, 16}};
  if (f32) return {{32, 16, 16}, {32, 8, 16}, {16, 16, 16}, {24, 16, 16}, {16, 8, 8}, {48, 8, 8}, {8, 16, 16}};
  return {{32, 8, 16}, {16, 16, 16}, {16, 8, 16}, {32, 16, 16}, {16, 8, 8}, {48, 8, 8}, {8, 16, 16}};
}

std::vector<int> thread_counts(const DeviceTraits& traits) {
  std::vector<int> counts{std::max(1, traits.cores)};
  while (counts.back() > 1 && counts.size() < 3) counts.push_back((counts.back() + 1) / 2);
  return counts;
}

std::vector<int> chunks(const Problem& problem, const DeviceTraits& traits) {
  std::vector<int> out;
  for (const std::int64_t chunk :
       {std::int64_t{traits.cores}, std::int64_t{1}, std::int64_t{4}, std::int64_t{8}, problem.batch}) {
    const int value = static_cast<int>(std::clamp<std::int64_t>(chunk, 1, std::min<std::int64_t>(problem.batch, 64)));
    if (std::find(out.begin(), out.end(), value) == out.end()) out.push_back(value);
  }
  return out;
}

struct Method {
  SpreadFamily spread;
  AddRule add;
  InterpFamily interp;
  bool sorted;
};
// The best method first. Types 1 and 2 vary the kernel that they run; the other kernel (for the adjoint of the same
// plan) follows.
std::vector<Method> methods(const Problem& problem) {
  using enum SpreadFamily;
  std::vector<Method> out;
  if (problem.type != 2) {
    out = {{subgrid, AddRule::lock, InterpFamily::tile, true},
           {subgrid, AddRule::colour, InterpFamily::tile, true},
           {colour_index, AddRule::lock, InterpFamily::direct, true},
           {colour_list, AddRule::lock, InterpFamily::direct, true},
           {atomic, AddRule::lock, InterpFamily::direct, false}};
    if (problem.type == 3) {
      out.push_back({subgrid, AddRule::lock, InterpFamily::direct, true});
      out.push_back({colour_index, AddRule::lock, InterpFamily::tile, true});
    }
  } else {
    out = {{subgrid, AddRule::lock, InterpFamily::tile, true},
           {subgrid, AddRule::lock, InterpFamily::direct, true},
           {atomic, AddRule::lock, InterpFamily::direct, false}};
  }
  return out;
}

// Calls visit(coordinates) for every point of the box; the last axis is the fastest.
template <class Visit>
void for_each(const std::vector<int>& sizes, Visit&& visit) {
  std::vector<int> at(sizes.size(), 0);
  for (bool more = true; more;) {
    visit(at);
    more = false;
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      if (++at[axis] < sizes[axis]) {
        more = true;
        break;
      }
      at[axis] = 0;
    }
  }
}

class SpaceBuilder {
 public:
  SpaceBuilder(const Problem& problem, const DeviceTraits& traits) : problem_(problem), traits_(traits) {}
  void add(const Plan& plan, const std::vector<int>& coordinates) {
    const Cost cost = cpu_estimate(plan, problem_, traits_);
    if (traits_.memory_bytes > 0 && cost.bytes > kMemoryShare * static_cast<double>(traits_.memory_bytes)) return;
    if (texts_.insert(to_text(plan, problem_)).second) space.candidates.push_back({plan, coordinates, cost.execute});
  }
  // Drops the plans that the model considers hopeless, and the worst plans of very large spaces.
  Space finish() && {
    double best = INFINITY;
    for (const auto& candidate : space.candidates) best = std::min(best, candidate.estimate);
    double limit = kHopeless * best;
    if (space.candidates.size() > kMostPlans) {
      std::vector<double> estimates;
      for (const auto& candidate : space.candidates) estimates.push_back(candidate.estimate);
      std::nth_element(estimates.begin(), estimates.begin() + kMostPlans, estimates.end());
      limit = std::min(limit, estimates[kMostPlans]);
    }
    std::erase_if(space.candidates, [&](const Candidate& c) { return c.estimate > limit; });
    return std::move(space);
  }
  Space space;

 private:
  const Problem& problem_;
  const DeviceTraits& traits_;
  std::set<std::string> texts_;
};

Space fft_candidates(const Problem& problem, const DeviceTraits& traits) {
  const std::vector<int> threads = thread_counts(traits);
  struct Choice {
    FftFamily family;
    Rigor rigor;
    int block;
  };
  std::vector<Choice> choices = {{FftFamily::rows, Rigor::measure, 64}, {FftFamily::rows, Rigor::measure, 32},
                                 {FftFamily::rows, Rigor::measure, 16}, {FftFamily::rows, Rigor::measure, 128},
                                 {FftFamily::rows, Rigor::patient, 64}, {FftFamily::fftw, Rigor::measure, 64},
                                 {FftFamily::fftw, Rigor::patient, 64}, {FftFamily::fftw, Rigor::estimate, 64}};
  if (along_length(problem) > 0) choices.insert(choices.begin(), {FftFamily::along, Rigor::measure, 64});
  SpaceBuilder builder(problem, traits);
  builder.space.axes = {"fft", "threads"};
  for_each({static_cast<int>(choices.size()), static_cast<int>(threads.size())}, [&](const std::vector<int>& at) {
    const Choice& choice = choices[at[0]];
    Plan plan;
    plan.cpu().threads = threads[at[1]];
    plan.cpu().fft = FftChoice{choice.family, choice.rigor, choice.block};
    builder.add(plan, at);
  });
  Space space = std::move(builder.space);  // about a dozen plans, which are all measured
  return space;
}

constexpr double kSigmas[] = {1.25, 1.375, 1.5, 1.75, 2.0, 2.5};  // 2.5: narrower windows for many points per cell
constexpr int kCaps[] = {8192, 2048, 32768};
// Prefetch distances in points; the first stands for the family's usual one.
constexpr int kPrefetches[] = {-1, 0, 64, 128, 256};
constexpr FftChoice kFfts[] = {{FftFamily::pruned, Rigor::measure, 64},
                               {FftFamily::pruned, Rigor::measure, 32},
                               {FftFamily::pruned, Rigor::measure, 128},
                               {FftFamily::pruned, Rigor::measure, 16},
                               {FftFamily::pruned, Rigor::measure, 8}};

// Pairs of windows for a type 3, ordered by the model's cost with one method, best first. The list is short because the
// rest of the space multiplies it.
std::vector<Type3Windows> best_type3_windows(const Problem& problem, const DeviceTraits& traits, WindowKind kind,
                                             double tol) {
  constexpr std::size_t kOuter = 5, kInner = 3;
  std::vector<Type3Windows> list = type3_windows(problem, kind, tol);
  Plan plan;
  plan.cpu().spread.family = SpreadFamily::colour_index;
  plan.cpu().interp.family = InterpFamily::direct;
  const auto cost = [&](const WindowChoice& outer, const WindowChoice& inner) {
    plan.window = outer, plan.inner = inner;
    return cpu_estimate(plan, problem, traits).execute;
  };
  for (Type3Windows& entry : list) {
    std::stable_sort(entry.inner.begin(), entry.inner.end(), [&](const WindowChoice& a, const WindowChoice& b) {
      return cost(entry.outer, a) < cost(entry.outer, b);
    });
    if (entry.inner.size() > kInner) entry.inner.resize(kInner);
  }
  std::stable_sort(list.begin(), list.end(), [&](const Type3Windows& a, const Type3Windows& b) {
    return cost(a.outer, a.inner[0]) < cost(b.outer, b.inner[0]);
  });
  if (list.size() > kOuter) list.resize(kOuter);
  return list;
}

// The choices on every axis of a nonuniform problem. In type 3 the sigma axis selects the outer window, the axis of
// fine grids selects the inner window, and the width axis also allows errors up to what still counts as right.
struct NufftAxes {
  NufftAxes(const Problem& problem, const DeviceTraits& traits, std::size_t kinds, int variants)
      : tiles(tile_shapes(problem)),
        threads(thread_counts(traits)),
        chunk(chunks(problem, traits)),
        method(methods(problem)),
        type(problem.type),
        dim(problem.dim),
        problem_(problem) {
    if (type == 3 && threads.back() > 1) threads.push_back(1);  // for small problems
    for (std::size_t k = 0; k < kinds; ++k) {
      if (type == 3) {
        const double tol = type3_tolerance(problem);
        for (int lax = 0; lax < variants && (lax == 0 || tol == problem.tol); ++lax) {
          pairs[k][lax] = best_type3_windows(problem, traits, kTriedWindows[k], lax == 0 ? tol : kStillRight * tol);
          outer = std::max(outer, pairs[k][lax].size());
          for (const Type3Windows& pair : pairs[k][lax]) inner = std::max(inner, pair.inner.size());
        }
        continue;
      }
      for (std::size_t s = 0; s < std::size(kSigmas); ++s)
        for (int v = 0; v < variants; ++v) binding[s][k][v] = bind_window(problem, kTriedWindows[k], kSigmas[s], v);
    }
  }
  std::vector<std::array<int, 3>> tiles;
  std::vector<int> threads, chunk;
  std::vector<Method> method;
  int type, dim;
  Binding binding[std::size(kSigmas)][std::size(kTriedWindows)][2];
  std::vector<Type3Windows> pairs[std::size(kTriedWindows)][2];
  std::size_t outer = 0, inner = 0;  // the longest list of each kind

  // Computed once per window, for thousands of plans.
  bool may_add_directly(const WindowChoice& window) const {
    const auto [at, fresh] = direct_.try_emplace({window.kind, window.sigma, window.width, window.fine});
    if (fresh) at->second = generator::may_add_directly(problem_, window, Crowds::counted);
    return at->second;
  }

 private:
  const Problem& problem_;
  mutable std::map<std::tuple<WindowKind, double, int, std::array<std::int64_t, 3>>, bool> direct_;
};

enum Axis { kSigma, kWindow, kFine, kWidth, kMethod, kTile, kCap, kRecords, kThreads, kChunk, kFft, kPrefetch, kAxes };
const std::vector<std::string> kAxisNames = {"sigma", "window",  "fine",    "width", "method", "tile",
                                             "cap",   "records", "threads", "chunk", "fft",    "prefetch"};

// Returns false if there is no such plan (no width reaches the tolerance).
bool make_plan(Plan& plan, const std::vector<int>& at, const NufftAxes& axes) {
  if (axes.type == 3) {
    const auto& pairs = axes.pairs[at[kWindow]][at[kWidth]];
    const auto outer = static_cast<std::size_t>(at[kSigma]), inner = static_cast<std::size_t>(at[kFine]);
    if (outer >= pairs.size() || inner >= pairs[outer].inner.size()) return false;
    plan.window = pairs[outer].outer, plan.inner = pairs[outer].inner[inner];
  } else {
    const Binding& binding = axes.binding[at[kSigma]][at[kWindow]][at[kFine]];
    const int width = at[kWidth] == 0 ? binding.width : binding.narrower;
    if (width == 0) return false;
    bind_windows(plan, kTriedWindows[at[kWindow]], binding, width);
  }
  const Method& method = axes.method[at[kMethod]];
  if (!spreader_of(method.spread).private_tiles && !axes.may_add_directly(plan.window)) return false;
  CpuStages& stages = plan.cpu();
  stages.spread.family = method.spread;
  stages.spread.add = method.add;
  stages.interp.family = method.interp;
  stages.sort.family = method.sorted ? SortFamily::tiles : SortFamily::none;
  stages.sort.tile = axes.tiles[at[kTile]];
  stages.spread.cap = stages.interp.cap = kCaps[at[kCap]];
  stages.sort.copy = at[kRecords] < 2;
  // Sorting inside a tile too costs up to a quarter of set_points. In 3D it saves 2 to 20 % of spreading and 0 to 50 %
  // of interpolation (docs/design/cpu-choices.md).
  stages.sort.local = axes.dim == 3 && at[kRecords] == 0;
  stages.threads = axes.threads[at[kThreads]];
  plan.chunk = axes.chunk[at[kChunk]];
  stages.fft = kFfts[at[kFft]];
  if (at[kPrefetch] > 0) set_prefetch(stages.spread, stages.interp, method.sorted, kPrefetches[at[kPrefetch]]);
  return true;
}

Space nufft_candidates(const Problem& problem, const DeviceTraits& traits) {
  const NufftAxes axes(problem, traits, std::size(kTriedWindows), 2);
  const auto size = [](const auto& list) { return static_cast<int>(std::size(list)); };
  std::vector<int> sizes(kAxes);
  sizes[kSigma] = size(kSigmas), sizes[kWindow] = size(kTriedWindows), sizes[kFine] = 2, sizes[kWidth] = 2;
  if (problem.type == 3) sizes[kSigma] = static_cast<int>(axes.outer), sizes[kFine] = static_cast<int>(axes.inner);
  sizes[kMethod] = size(axes.method), sizes[kTile] = size(axes.tiles), sizes[kCap] = size(kCaps), sizes[kRecords] = 3;
  sizes[kThreads] = size(axes.threads), sizes[kChunk] = size(axes.chunk);
  // In 1D there is no strided pass; blocks of few lines are for the small grids of type 3.
  sizes[kFft] = problem.dim == 1 ? 1 : problem.type == 3 ? size(kFfts) : 3;
  sizes[kPrefetch] = size(kPrefetches);
  SpaceBuilder builder(problem, traits);
  builder.space.axes = kAxisNames;
  for_each(sizes, [&](const std::vector<int>& at) {
    // Details that seldom matter are varied at most two at a time, not in all combinations.
    const int details = (at[kFine] > 0) + (at[kCap] > 0) + (at[kRecords] > 0) + (at[kThreads] > 0) + (at[kFft] > 0);
    if (details > 2 || (at[kPrefetch] > 0 && details > 0)) return;
    if (!axes.method[at[kMethod]].sorted && (at[kTile] > 0 || at[kCap] > 0 || at[kRecords] > 0)) return;
    Plan plan;
    if (make_plan(plan, at, axes)) builder.add(plan, at);
  });
  if (problem.type == 3)
    for (const double r : {2.2, 2.5, 3.0}) {  // the parameterisation of paper nufft-type3-cuda
      Plan plan;
      plan.cpu().threads = axes.threads[0];
      plan.type3 = Type3Rule::gaussian;
      plan.gaussian_r = r;
      plan.cpu().sort.tile = axes.tiles[0];
      std::vector<int> at(kAxes, 0);
      at[kSigma] = 100 + static_cast<int>(r * 10);  // a separate place on the sigma axis
      builder.add(plan, at);
    }
  return std::move(builder).finish();
}

// Together their grids may take as much as this and 4 bytes a point, as any sort of the points does. Larger chunks are
// 1.1 to 1.3 times as fast where windows cost much beside few cells, and most of a transform's memory
// (docs/design/cpu-choices.md).
constexpr double kChunkBytes = 1.5e6, kChunkPoint = 4;

// Whether an untuned plan may process more transforms together than there are threads. Their windows in a tile must fit
// the second-level cache, and their grids twice the second-level caches of all threads, as far as that is a small part
// of the last-level cache.
bool is_light_chunk(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  const double value = 2.0 * static_cast<double>(real_bytes(problem.precision)) * plan.chunk;
  double tile = value, grid = value;
  for (int d = 0; d < problem.dim; ++d) {
    tile *= plan.cpu().sort.tile[d] + plan.window.width;
    grid *= static_cast<double>(plan.window.fine[d] + plan.window.width);
  }
  const auto cache = static_cast<double>(traits.l2_bytes);
  const double all = std::min(2 * cache * std::max(1, plan.cpu().threads), static_cast<double>(traits.l3_bytes) / 8);
  const double memory = kChunkBytes + kChunkPoint * static_cast<double>(problem.m.value_or(0));
  return tile <= cache && grid <= std::min(memory, std::max(cache, all));
}

// Whether FFTW's estimate may run untuned: in a build that links it, on the dense arrays whose times the model knows.
bool may_estimate(const Problem& problem) {
#ifdef FOURTUNE_FFTW
  return problem.order == SpectrumOrder::natural && !problem.input_layout && !problem.output_layout;
#else
  (void)problem;
  return false;
#endif
}

Plan fft_default_plan(const Problem& problem, const DeviceTraits& traits, std::string* why) {
  Plan best;
  double least = INFINITY;
  const auto consider = [&](const FftChoice& fft, int threads) {
    Plan plan;
    plan.cpu().fft = fft, plan.cpu().threads = threads;
    const double seconds = cpu_estimate(plan, problem, traits).execute;
    if (seconds < least) least = seconds, best = plan;
  };
  for (const int threads : {1, std::max(1, traits.cores)}) {  // threads may cost more than they save
    consider({FftFamily::rows, Rigor::measure, 64}, threads);
    if (along_length(problem) > 0) consider({FftFamily::along, Rigor::measure, 64}, threads);
    if (may_estimate(problem)) consider({FftFamily::fftw, Rigor::estimate, 64}, threads);
  }
  if (why)
    *why = best.cpu().fft.family == FftFamily::fftw ? "FFTW's estimate, faster for such lines by the cost model"
           : best.cpu().fft.family == FftFamily::along
               ? "vectors along the line, faster for such lines by the cost model"
               : "the usual plan of the processor";
  return best;
}

// For plans with large memory use, halving the memory is worth a sixth of the time, for smaller ones an eighth.
double memory_price(double bytes) {
  constexpr double kLittle = 1.5e6, kMuch = 32e6;
  return std::pow(std::clamp(bytes, kLittle, kMuch), 0.2) * std::pow(std::max(bytes, kMuch), 0.25);
}

Plan nufft_default_plan(const Problem& problem, const DeviceTraits& traits, std::string* why) {
  if (why) *why = "the cost model's choice";
  Plan best;
  const NufftAxes axes(problem, traits, 1, 1);
  double least = INFINITY;
  const bool type3 = problem.type == 3;
  const bool has_usual_tile = !type3 || is_small_type3(problem);
  std::vector<int> sizes(kAxes, 1);
  sizes[kSigma] = static_cast<int>(type3 ? axes.outer : std::size(kSigmas));
  sizes[kMethod] = static_cast<int>(axes.method.size());
  if (!type3) sizes[kChunk] = static_cast<int>(axes.chunk.size());
  sizes[kTile] = type3 || problem.dim > 1 ? static_cast<int>(axes.tiles.size()) : 1;
  if (type3) {  // small problems: threads may cost more than they save
    sizes[kFine] = static_cast<int>(axes.inner);
    sizes[kThreads] = static_cast<int>(axes.threads.size());
    sizes[kFft] = problem.dim == 1 ? 1 : static_cast<int>(std::size(kFfts));
  }
  const bool any = std::all_of(sizes.begin(), sizes.end(), [](int size) { return size > 0; });
  for_each(sizes, [&](const std::vector<int>& at) {
    Plan plan;
    if (!any || !make_plan(plan, at, axes)) return;
    if (plan.chunk > plan.cpu().threads && !is_light_chunk(plan, problem, traits)) return;
    // The model cannot distinguish similar plans.
    const Cost parts = cpu_estimate(plan, problem, traits);
    const double other_tile = has_usual_tile && at[kTile] > 0 ? kOtherTile : 1;
    const double sort = problem.dim == 1 && !type3 ? kSortShare * parts.set_points : 0;
    const double cost = (parts.execute + sort) * memory_price(parts.bytes) * other_tile;
    if (cost < least) least = cost, best = plan;
  });
  if (least == INFINITY)
    throw Error(Status::tolerance_unreachable,
                "no window width up to " + std::to_string(kMaxWidth) + " reaches this tolerance");
  return best;
}

Plan with_fewer_threads(const Plan& plan, const DeviceTraits& traits) {
  Plan out = plan;
  out.cpu().threads = std::clamp(plan.cpu().threads, 1, std::max(1, traits.cores));
  return out;
}

Plan fft_adapt(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  return parse_plan(to_text(with_fewer_threads(plan, traits), problem), problem);
}

Plan nufft_adapt(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  Plan out = with_fewer_threads(plan, traits);
  out.chunk = static_cast<int>(std::clamp<std::int64_t>(plan.chunk, 1, problem.batch));
  if (problem.type == 3 && plan.type3 == Type3Rule::compose) {
    const double tol = type3_tolerance(problem);
    out.window.width = type3_outer_width(problem, plan.window.kind, plan.window.sigma, tol);
    if (out.window.width > 0)
      out.inner.width = type3_inner_width(problem, plan.inner.kind, plan.inner.sigma, out.window, tol);
  } else if (problem.type != 3) {
    const Binding binding = bind_window(problem, plan.window.kind, plan.window.sigma, 0);
    bind_windows(out, plan.window.kind, binding, binding.width);
    out.window.table = plan.window.table;
  }
  if (out.window.width == 0 || (problem.type == 3 && out.inner.width == 0))
    throw Error(Status::invalid_plan, "no window of this kind reaches the tolerance at this oversampling");
  if (problem.type == 3 && plan.type3 == Type3Rule::compose && !type3_rounding_is_small(problem, out.window, out.inner))
    throw Error(Status::invalid_plan, "rounding is too large for the tolerance at this oversampling");
  if (!spreader_of(out.cpu().spread.family).private_tiles && !may_add_directly(problem, out.window, Crowds::counted))
    throw Error(Status::invalid_plan, "too many points may share a cell for a spreader that adds to the grid directly");
  return parse_plan(to_text(out, problem), problem);
}

}  // namespace

const Planner cpu_fft_planner{fft_candidates, fft_default_plan, fft_adapt, cpu_estimate, cpu_floor_seconds};
const Planner cpu_nufft_planner{nufft_candidates, nufft_default_plan, nufft_adapt, cpu_estimate, cpu_floor_seconds};

}  // namespace fourtune::generator
