// Plans of nonuniform transforms on GPU backends.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <tuple>

#include "generator/plan/binding.h"
#include "generator/plan/summation.h"
#include "generator/plan/type3_geometry.h"
#include "generator/plan/type3_windows.h"
#include "generator/planner/gpu_nufft/choices.h"
#include "generator/planner/gpu_nufft/planner.h"
#include "generator/window/fft_size.h"

namespace fourtune::generator {
namespace {

using gpu_nufft::Lead;

constexpr double kHopeless = 4;       // times the best estimate
constexpr double kMemoryShare = 0.8;  // share of the device's memory
constexpr std::size_t kMostPlans = 20000;
constexpr double kSigmas[] = {2.0, 1.5, 1.25, 1.75, 1.375};
constexpr int kLeastSigma = 1200;  // in thousandths; below it, deconvolution factors grow large
// Bytes of grids, and of what their FFT needs, that fill an H200 and stay in its L2 cache: more of them take memory and
// save little.
constexpr double kChunkBytes = 40e6, kTwoBytes = 56e6;  // two transforms may have the latter
constexpr double kAsFast = 1.03;                        // times the least estimate that the model does not tell from it
constexpr double kLittle = 16e6;                        // bytes that are not worth a slower plan

// Fine grids: the nearest good size (variant 0); the nearest power of two where it costs little (1); rows of whole
// 128-byte lines in single precision (2), so that FFT tiles begin at cache lines and are evenly sized.
std::array<std::int64_t, 3> gpu_fine_grid(const Problem& problem, double sigma, int variant) {
  std::array<std::int64_t, 3> fine = fine_grid(problem, sigma, 0);
  if (variant == 2)
    while (fine[0] % 16 != 0) fine[0] = smooth_size(fine[0] + 1);
  if (variant != 1) return fine;
  for (int d = 0; d < problem.dim; ++d) {
    std::int64_t power = 1;
    while (power < fine[static_cast<std::size_t>(d)]) power *= 2;
    auto& size = fine[static_cast<std::size_t>(d)];
    size = static_cast<double>(power) <= 1.35 * static_cast<double>(size) ? power : smooth_size(size + 1);
  }
  return fine;
}

double points_of(const std::optional<std::int64_t>& count, double cells) {
  return count ? static_cast<double>(*count) : cells;
}

nufft::Shape shape_of(const Problem& problem, const DeviceTraits& traits, const std::array<std::int64_t, 3>& fine,
                      int width) {
  nufft::Shape shape = nufft::shape_on(traits, problem, fine, width);
  const std::int64_t most = std::max(problem.m.value_or(0), problem.k.value_or(0));
  shape.large_counts = most >= std::int64_t{1} << 31;
  return shape;
}
// In floating point, because no rule has looked at the shape yet.
double cells_of(const nufft::Shape& shape) {
  double cells = 1;
  for (const std::int64_t n : shape.fine) cells *= static_cast<double>(n);
  return cells;
}
double density(const std::optional<std::int64_t>& count, const nufft::Shape& shape) {
  return points_of(count, cells_of(shape)) / cells_of(shape);
}

// The approximate grids that the points of a type 3 will lead to.
nufft::Shape type3_shape(const Problem& problem, const DeviceTraits& traits, const Plan& plan, bool sources) {
  std::array<std::int64_t, 3> cells{1, 1, 1};
  const std::array<double, 3> extent = type3_extent(problem);
  const bool gaussian = plan.type3 == Type3Rule::gaussian;
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d) {
    const double outer = 2 * (gaussian ? plan.gaussian_r : plan.window.sigma) * extent[d] / std::numbers::pi;
    const double wanted = sources ? outer + plan.window.width + 2 : outer * plan.inner.sigma / plan.window.sigma;
    cells[d] = smooth_size(std::max<std::int64_t>(static_cast<std::int64_t>(std::min(wanted, 1e6)), 2 * kMaxWidth));
  }
  return shape_of(problem, traits, cells, sources ? plan.window.width : plan.inner.width);
}

std::vector<int> chunks(const Problem& problem) {
  std::vector<int> out;
  for (const std::int64_t chunk :
       {problem.batch, std::int64_t{1}, std::int64_t{4}, std::int64_t{8}, std::int64_t{16}}) {
    const int value = static_cast<int>(std::clamp<std::int64_t>(chunk, 1, std::min<std::int64_t>(problem.batch, 64)));
    if (std::find(out.begin(), out.end(), value) == out.end()) out.push_back(value);
  }
  return out;
}

// Bytes of memory that each further transform of a chunk takes.
double bytes_of_one(Plan plan, const Problem& problem, const DeviceTraits& traits) {
  const auto bytes = [&](int chunk) {
    plan.chunk = chunk;
    return gpu_nufft_estimate(plan, problem, traits).bytes;
  };
  return bytes(2) - bytes(1);
}

// Transforms of a batch that an untuned plan takes at a time: as many as have kChunkBytes of grids, in equal chunks.
// one: bytes_of_one.
int usual_chunk(const Problem& problem, const DeviceTraits& traits, int group, double one) {
  if (problem.batch == 1) return 1;
  const auto cached = [&](double of_h200) { return nufft::cached(of_h200, traits.l2_bytes); };
  one = std::max(1.0, one);
  const double most = 2 * one <= cached(kTwoBytes) ? 2 * one : 0;
  const auto fitting = static_cast<std::int64_t>(std::max(cached(kChunkBytes), most) / one);
  const std::int64_t groups = std::clamp<std::int64_t>(fitting / group, 1, 64 / group);
  const std::int64_t chunks = (problem.batch + groups * group - 1) / (groups * group);
  const std::int64_t even = (problem.batch + chunks - 1) / chunks;
  return static_cast<int>(std::min((even + group - 1) / group * group, problem.batch));
}

std::vector<GpuFftFamily> fft_families(const Problem& problem, const DeviceTraits& traits) {
  if (!has_gpu_fft_library(traits.backend) || problem.type == 3) return {GpuFftFamily::plain};
  return {GpuFftFamily::plain, GpuFftFamily::cufft};
}

// The least oversampling factor for each width that kSigmas require, at which rounding is small too. A smaller grid is
// cheaper to clear, to add to and to transform, at the same cost per point.
std::vector<double> least_sigmas(const Problem& problem, WindowKind kind) {
  const double tol = window_tolerance(problem);
  const double share = std::max(tol - 3 * epsilon(problem.precision), tol / 2);  // rounding errors take the rest
  std::set<int> widths;
  for (const double sigma : kSigmas) widths.insert(width_for(kind, tol, sigma, problem.dim));
  std::vector<double> out;
  for (const int width : widths) {
    if (width == 0) continue;
    int low = kLeastSigma, high = 2000;  // the upper end is always enough
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      const double sigma = middle / 1000.0;
      const bool enough =
          predicted_error(kind, width, sigma, problem.dim) <= share &&
          rounding_is_small(problem, magnification({kind, sigma, width, {0, 0, 0}, 0}, problem.dim), sigma);
      (enough ? high : low) = middle;
    }
    out.push_back(high / 1000.0);
  }
  return out;
}

// The windows of a problem in the order in which they are tried, with their coordinates.
struct WindowTry {
  WindowChoice window, inner;
  std::array<int, 4> at{};  // window, sigma, fine grid, width
};

std::vector<WindowTry> windows_of(const Problem& problem, std::size_t kinds, int variants) {
  std::vector<WindowTry> out;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    if (problem.type == 3) {
      int s = 0;
      for (const Type3Windows& pair : type3_windows(problem, kTriedWindows[kind], type3_tolerance(problem))) {
        for (std::size_t i = 0; i < std::min<std::size_t>(pair.inner.size(), 4); ++i)
          out.push_back({pair.outer, pair.inner[i], {static_cast<int>(kind), s, static_cast<int>(i), 0}});
        ++s;
      }
      continue;
    }
    const auto add = [&](double sigma, std::array<int, 4> at) {
      const Binding binding = bind_window(problem, kTriedWindows[kind], sigma, gpu_fine_grid(problem, sigma, at[2]));
      const int width = at[3] == 0 ? binding.width : binding.narrower;
      if (width == 0) return;
      const WindowChoice window{kTriedWindows[kind], binding.sigma, width, binding.fine, 0};
      const auto same = [&](const WindowTry& other) {
        return other.at[0] == at[0] && other.window.width == width && other.window.fine == binding.fine;
      };
      if (std::none_of(out.begin(), out.end(), same)) out.push_back({window, window, at});
    };
    int s = 0;
    for (const double sigma : kSigmas) {
      for (int v = 0; v < variants; ++v)
        for (int lax = 0; lax < std::min(2, variants); ++lax) add(sigma, {static_cast<int>(kind), s, v, lax});
      ++s;
    }
    if (problem.dim == 1) continue;  // only the points matter for the cost
    for (const double sigma : least_sigmas(problem, kTriedWindows[kind]))
      add(sigma, {static_cast<int>(kind), s++, 2, 0});
  }
  return out;
}

// Sorts and kernels for a plan whose windows are bound. In type 3 the two sides are chosen independently.
std::vector<GpuPointsChoice> choices_of(const Plan& plan, const Problem& problem, const DeviceTraits& traits,
                                        bool varied) {
  const double share = problem.type == 3 ? 1 : gpu_nufft::share_of(problem.points, problem.dim);
  const auto with_variations = [&](const nufft::Shape& shape, Lead lead, const std::optional<std::int64_t>& count) {
    const double dense = density(count, shape);
    std::vector<GpuPointsChoice> list = gpu_nufft::points_choices(shape, lead, dense, share, problem.batch);
    const auto crowded = [&](const GpuPointsChoice& one) { return one.spread == nufft::Spread::points; };
    if (lead == Lead::spread && !std::all_of(list.begin(), list.end(), crowded) &&
        !may_add_directly(problem, plan.window, Crowds::unseen))
      std::erase_if(list, crowded);
    const auto m = static_cast<std::int64_t>(std::min(points_of(count, cells_of(shape)), 1e15));
    const PointClass points = problem.points.value_or(PointClass::uniform);
    if (problem.type != 3)
      for (GpuPointsChoice& choice : list) choice = gpu_nufft::for_crowds(choice, shape, m, points);
    const std::size_t families = varied ? list.size() : 0;
    if (problem.type != 3)
      for (std::size_t i = 0; i < families; ++i)
        for (const int group : gpu_nufft::groups_of(shape, problem.batch))
          if (auto choice = gpu_nufft::grouped(list[i], shape, lead, group)) list.push_back(*choice);
    for (std::size_t i = 0; i < std::min<std::size_t>(families, 3); ++i)
      for (const GpuPointsChoice& choice : gpu_nufft::variations(list[i], shape, lead)) list.push_back(choice);
    for (GpuPointsChoice& choice : list) choice = gpu_nufft::sortable(choice, shape, m);
    return list;
  };
  if (problem.type != 3) {
    const nufft::Shape shape = shape_of(problem, traits, plan.window.fine, plan.window.width);
    return with_variations(shape, problem.type == 1 ? Lead::spread : Lead::interpolate, problem.m);
  }
  const nufft::Shape sources = type3_shape(problem, traits, plan, true),
                     targets = type3_shape(problem, traits, plan, false);
  const auto spreads = with_variations(sources, Lead::spread, problem.m);
  const auto reads = with_variations(targets, Lead::interpolate, problem.k);
  std::vector<GpuPointsChoice> out;
  for (std::size_t i = 0; i < std::max(spreads.size(), reads.size()); ++i) {
    // The two sides are independent, so the lists are paired entry by entry.
    const auto &a = spreads[std::min(i, spreads.size() - 1)], &b = reads[std::min(i, reads.size() - 1)];
    GpuPointsChoice choice;
    choice.spread = a.spread, choice.spread_with = a.spread_with;
    choice.interp = b.interp, choice.interp_with = b.interp_with;
    out.push_back(choice);
  }
  return out;
}

bool fits_memory(const Cost& cost, const DeviceTraits& traits) {
  return traits.memory_bytes <= 0 || cost.bytes <= kMemoryShare * static_cast<double>(traits.memory_bytes);
}

Plan plan_of(const DeviceTraits& traits, const WindowTry& windows) {
  Plan plan = plan_for(traits.backend);
  plan.window = windows.window;
  plan.inner = windows.inner;
  return plan;
}

}  // namespace

Space gpu_nufft_candidates(const Problem& problem, const DeviceTraits& traits) {
  Space space;
  space.axes = {"window", "sigma", "fine", "width", "points", "chunk", "fft"};
  std::set<std::string> seen;
  const auto chunk = chunks(problem);
  const auto ffts = fft_families(problem, traits);
  for (const WindowTry& windows : windows_of(problem, std::size(kTriedWindows), 2)) {
    Plan plan = plan_of(traits, windows);
    int number = 0;
    for (const GpuPointsChoice& choice : choices_of(plan, problem, traits, true)) {
      plan.gpu().points = choice;
      for (std::size_t c = 0; c < chunk.size(); ++c)
        for (std::size_t f = 0; f < ffts.size(); ++f) {
          plan.chunk = chunk[c];
          plan.gpu().fft.family = ffts[f];
          const int group = std::max(choice.spread_with.group, choice.interp_with.group);
          if (group > 1 && (ffts[f] == GpuFftFamily::cufft || plan.chunk < group)) continue;
          const Cost cost = gpu_nufft_estimate(plan, problem, traits);
          if (!fits_memory(cost, traits) || !seen.insert(to_text(plan, problem)).second) continue;
          const auto& at = windows.at;
          space.candidates.push_back(
              {plan, {at[0], at[1], at[2], at[3], number, static_cast<int>(c), static_cast<int>(f)}, cost.execute});
        }
      ++number;
    }
  }
  double best = INFINITY;
  for (const Candidate& candidate : space.candidates) best = std::min(best, candidate.estimate);
  double limit = kHopeless * best;
  if (space.candidates.size() > kMostPlans) {
    std::vector<double> estimates;
    for (const Candidate& candidate : space.candidates) estimates.push_back(candidate.estimate);
    std::nth_element(estimates.begin(), estimates.begin() + kMostPlans, estimates.end());
    limit = std::min(limit, estimates[kMostPlans]);
  }
  std::erase_if(space.candidates, [&](const Candidate& c) { return c.estimate > limit; });
  return space;
}

namespace {

// Sorts and kernels that may be the fastest ones of a window: the cheapest families, and for a batch those in groups,
// whose grids have to be there at once.
std::vector<GpuPointsChoice> usual_choices(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  constexpr std::size_t kFamilies = 2;
  constexpr double kGroupBytes = 64e6;
  constexpr int kMostGroup = 8;
  std::vector<GpuPointsChoice> out = choices_of(plan, problem, traits, false);
  // Clustered points share their bins in every slice, so slices may be as small as suits the cache: 240 us, compared
  // with 317 us for slices of 2^21 points (16.8 M points in a box, 2500 x 2500 cells, w = 4, f32, H200).
  if (problem.points == PointClass::cluster)
    for (GpuPointsChoice& choice : out)
      for (nufft::Parameters* with : {&choice.spread_with, &choice.interp_with})
        with->slice = std::min(with->slice, static_cast<int>(std::min(nufft::cached(1 << 20, traits.l2_bytes), 1e9)));
  if (problem.type == 3) return {out.begin(), out.begin() + std::min<std::ptrdiff_t>(1, std::ssize(out))};
  const nufft::Shape shape = shape_of(problem, traits, plan.window.fine, plan.window.width);
  const Lead lead = problem.type == 1 ? Lead::spread : Lead::interpolate;
  const double share = gpu_nufft::share_of(problem.points, problem.dim);
  const auto doubtful = [&](const GpuPointsChoice& one) { return !gpu_nufft::is_usual(one, shape, lead, share); };
  const std::vector<GpuPointsChoice> all = out;
  const auto known = std::find_if(out.begin(), out.end(), doubtful) - out.begin();
  out.resize(std::min({out.size(), kFamilies, static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, known))}));
  const double grid = cells_of(shape) * 2 * static_cast<double>(real_bytes(problem.precision));
  if (shape.dim == 1 || points_of(problem.m, cells_of(shape)) < shape.filling(nufft::kFewPoints)) return out;
  for (const int group : gpu_nufft::groups_of(shape, problem.batch))
    for (const GpuPointsChoice& choice : all) {
      const bool tiles = lead == Lead::spread ? choice.spread == nufft::Spread::tile_owned
                                              : choice.interp == nufft::Interpolate::tiled;
      if (!tiles || group > kMostGroup || group * grid > kGroupBytes) continue;
      const auto found = gpu_nufft::grouped(choice, shape, lead, group);
      if (found && !doubtful(*found)) out.push_back(*found);
    }
  return out;
}

// Transforms at a time: as usual_chunk has them, and more, up to the eight grids that cuFINUFFT holds, where those do
// not take much memory.
std::vector<int> usual_chunks(const Plan& plan, const Problem& problem, const DeviceTraits& traits, int group) {
  const double most_bytes = nufft::cached(80e6, traits.l2_bytes), one = bytes_of_one(plan, problem, traits);
  const int usual = usual_chunk(problem, traits, group, one);
  std::vector<int> out{usual};
  for (const std::int64_t most : {2 * usual, 4 * usual, 8}) {
    const std::int64_t chunks = (problem.batch + most - 1) / most, more = (problem.batch + chunks - 1) / chunks;
    if (more > out.back() && most <= 8 && more % group == 0 && static_cast<double>(more) * one <= most_bytes)
      out.push_back(static_cast<int>(more));
  }
  return out;
}

}  // namespace

Plan gpu_nufft_default_plan(const Problem& problem, const DeviceTraits& traits, std::string* why) {
  if (why) *why = "the cost model's choice";
  struct Found {
    Plan plan;
    double seconds = 0, bytes = 0;
    bool fits = false;
  };
  std::vector<Found> all;
  double least = INFINITY, smallest = INFINITY;
  for (const WindowTry& windows : windows_of(problem, 1, 1)) {
    Plan plan = plan_of(traits, windows);
    plan.gpu().fft.family = GpuFftFamily::plain;
    for (const GpuPointsChoice& choice : usual_choices(plan, problem, traits)) {
      plan.gpu().points = choice;
      const int group = std::max(choice.spread_with.group, choice.interp_with.group);
      const auto add = [&](int chunk) {
        plan.chunk = chunk;
        const Cost cost = gpu_nufft_estimate(plan, problem, traits);
        const bool fits = fits_memory(cost, traits);
        all.push_back({plan, cost.execute, cost.bytes, fits});
        if (fits) least = std::min(least, cost.execute);
        smallest = std::min(smallest, cost.bytes);
        return fits;
      };
      const std::vector<int> chunks = usual_chunks(plan, problem, traits, group);
      for (const int chunk : chunks) add(chunk);
      for (int chunk = chunks.front(); chunk / 2 >= group && !all.back().fits; chunk /= 2)
        if (add(chunk / 2)) break;
    }
  }
  if (all.empty())
    throw Error(Status::tolerance_unreachable,
                "no window width up to " + std::to_string(kMaxWidth) + " reaches this tolerance");
  // Of plans that are as fast, the one that needs the least memory, unless all need little. If nothing fits, the plan
  // that needs the least of all; allocating its memory then gives the error.
  const auto eligible = [&](const Found& one) {
    return least < INFINITY ? one.fits && one.seconds <= kAsFast * least : one.bytes <= smallest;
  };
  return std::min_element(all.begin(), all.end(),
                          [&](const Found& a, const Found& b) {
                            const auto rank = [&](const Found& one) {
                              return std::tuple(!eligible(one), std::max(one.bytes, kLittle), one.seconds);
                            };
                            return rank(a) < rank(b);
                          })
      ->plan;
}

Plan gpu_nufft_adapt(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  Plan out = plan;
  out.backend = traits.backend;
  auto& [fft, points] = out.gpu();
  out.chunk = static_cast<int>(std::clamp<std::int64_t>(plan.chunk, 1, problem.batch));
  for (int* group : {&points.spread_with.group, &points.interp_with.group})
    while (*group > (problem.type == 3 ? 1 : out.chunk)) *group /= 2;
  if (problem.type == 3) {
    if (plan.type3 == Type3Rule::compose) {
      const double tol = type3_tolerance(problem);
      out.window.width = type3_outer_width(problem, plan.window.kind, plan.window.sigma, tol);
      out.window.beta = plan.window.beta / plan.window.width * out.window.width;
      if (out.window.width > 0)
        out.inner.width = type3_inner_width(problem, plan.inner.kind, plan.inner.sigma, out.window, tol);
      out.inner.beta = plan.inner.beta / plan.inner.width * out.inner.width;
    }
  } else {
    const Binding binding =
        bind_window(problem, plan.window.kind, plan.window.sigma, gpu_fine_grid(problem, plan.window.sigma, 0));
    out.window = WindowChoice{plan.window.kind, binding.sigma, binding.width, binding.fine, 0};
    out.window.beta = plan.window.beta / plan.window.width * binding.width;
    out.inner = out.window;
  }
  if (out.window.width == 0 || (problem.type == 3 && out.inner.width == 0))
    throw Error(Status::invalid_plan, "no window of this kind reaches the tolerance at this oversampling");
  if (!nufft::by_subproblems(points.spread) && problem.type != 2 &&
      !may_add_directly(problem, out.window, Crowds::unseen))
    throw Error(Status::invalid_plan, "too many points may share a cell for a spreader that adds to the grid directly");
  if (fft.family == GpuFftFamily::interleaved && out.window.fine != plan.window.fine) fft = {GpuFftFamily::plain, {}};
  if (problem.type != 3) {
    nufft::Shape shape = shape_of(problem, traits, out.window.fine, out.window.width);
    shape.semicircle = semicircle_of(out.window);
    points = gpu_nufft::refit(points, shape, problem.type == 1 ? Lead::spread : Lead::interpolate);
    if (problem.m) points = gpu_nufft::sortable(points, shape, *problem.m);
  }
  return parse_plan(to_text(out, problem), problem);
}

const Planner gpu_nufft_planner{gpu_nufft_candidates, gpu_nufft_default_plan, gpu_nufft_adapt, gpu_nufft_estimate,
                                gpu_nufft_floor_seconds};

}  // namespace fourtune::generator
