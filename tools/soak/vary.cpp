// Everything that is drawn in addition to a token: all options of a caller that problem lists leave at their defaults.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/layout.h"
#include "tools/soak/case.h"
#include "tuner/reference/synthetic.h"

namespace fourtune::tools {
namespace {

using tuner::Random;

bool chance(Random& random, double probability) { return random.uniform() < probability; }

template <class T, std::size_t N>
T one_of(Random& random, const std::array<T, N>& list) {
  return list[random.below(N)];
}

// Any order of the dimensions and the batch in memory, with gaps between them, but no two elements at one place.
ArrayLayout draw_layout(Random& random, const Problem& problem, const Sizes& sizes) {
  std::vector<int> axes;
  for (int d = 0; d < problem.dim; ++d) axes.push_back(d);
  constexpr int batch = most_dimensions;
  axes.push_back(batch);
  if (chance(random, 0.4)) random.shuffle(axes);
  ArrayLayout layout;
  std::int64_t next = chance(random, 0.3) ? 2 : 1;
  for (const int axis : axes) {
    const std::int64_t size = axis == batch ? problem.batch : sizes[static_cast<std::size_t>(axis)];
    (axis == batch ? layout.distance : layout.stride[static_cast<std::size_t>(axis)]) = next;
    next = next * size + (chance(random, 0.4) ? static_cast<std::int64_t>(random.below(5)) : 0);
  }
  if (problem.batch == 1) layout.distance = 0;
  return layout;
}

// Makes four dimensions out of fewer, with as many values: one after the other is split in two factors.
void split_dimensions(Random& random, Problem& problem) {
  while (problem.dim < most_dimensions) {
    std::int64_t& n = problem.n[random.below(static_cast<std::uint64_t>(problem.dim))];
    const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
    std::int64_t part = 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(root)));
    while (n % part != 0) --part;
    problem.n[static_cast<std::size_t>(problem.dim++)] = part;
    n /= part;
  }
}

// The orders that this type has; a transposed one is a layout. Layouts go with reversed orders too.
void vary_order(Random& random, Problem& problem) {
  const bool complex = problem.fft_type == FftType::c2c;
  if (complex && chance(random, 0.2)) {
    problem.order = chance(random, 0.5) ? SpectrumOrder::reversed : SpectrumOrder::unreversed;
  } else if (problem.dim > 1 && !problem.input_layout && chance(random, 0.1)) {
    const bool input = problem.fft_type == FftType::c2r || (complex && chance(random, 0.4));
    (input ? problem.input_layout : problem.output_layout) = transposed_layout(problem);
    if (input)
      problem.output_layout = resolved_output_layout(problem);
    else
      problem.input_layout = resolved_input_layout(problem);
  }
}

void vary_fft(SoakCase& one, Random& random) {
  Problem& problem = one.problem;
  if (problem.dim > 1 && chance(random, 0.2)) split_dimensions(random, problem);
  if (problem.fft_type != FftType::c2c && chance(random, 0.15)) problem.place = Place::in;
  const bool real_in_place = problem.place == Place::in && problem.fft_type != FftType::c2c;
  if (chance(random, 0.35) && !real_in_place) {
    problem.input_layout = draw_layout(random, problem, input_sizes(problem));
    if (problem.place == Place::in)
      problem.output_layout = problem.input_layout;
    else if (chance(random, 0.7))
      problem.output_layout = draw_layout(random, problem, output_sizes(problem));
  }
  vary_order(random, problem);
}

void vary_type3(SoakCase& one, Random& random, double bytes) {
  Problem& problem = one.problem;
  const double each = 2.0 * static_cast<double>((*problem.m + *problem.k) * real_bytes(problem.precision));
  if (chance(random, 0.2)) problem.batch = 1 + static_cast<std::int64_t>(random.below(5));
  problem.batch = std::clamp<std::int64_t>(static_cast<std::int64_t>(bytes / each), 1, problem.batch);
  if (one.scatter != Scatter::far && chance(random, 0.4)) {
    std::array<double, 3> extent = tuner::resolved_extent(problem);
    for (int d = 0; d < problem.dim; ++d)
      extent[static_cast<std::size_t>(d)] *= std::pow(10.0, 1.8 * random.uniform() - 1.5);
    for (double& value : extent) value = std::round(value * 1000) / 1000;
    problem.extent = extent;
  }
}

void vary_nufft(SoakCase& one, Random& random, double bytes) {
  Problem& problem = one.problem;
  constexpr std::array kClasses{PointClass::uniform, PointClass::cluster, PointClass::radial,
                                PointClass::spiral,  PointClass::stack,   PointClass::ewald};
  constexpr std::array kMoves{Scatter::far, Scatter::folded, Scatter::duplicated, Scatter::borders};
  if (chance(random, 0.25)) problem.points = one_of(random, kClasses);
  if (chance(random, 0.4)) one.scatter = one_of(random, kMoves);
  if (chance(random, 0.15)) one.trust = true;
  if (problem.type == 3) return vary_type3(one, random, bytes);
  if (chance(random, 0.25)) one.order = ModeOrder::fft;
  const double coordinates =
      static_cast<double>(*problem.m * problem.batch * problem.dim * real_bytes(problem.precision));
  if (problem.batch > 1 && coordinates <= bytes && chance(random, 0.3)) one.distinct = true;
  if (can_be_alone(problem) && chance(random, 0.12)) one.only = problem.type == 1 ? Only::spread : Only::interpolate;
}

// Devices do not share layouts, which may have gaps, nor a grid.
bool can_be_shared(const SoakCase& one) {
  const Problem& problem = one.problem;
  return problem.batch > 1 && one.only == Only::whole && !problem.input_layout && !problem.output_layout;
}

// Blocks are planes or lines, of which half the memory of the arrays has to hold some; or slabs, of which half of what
// the whole takes has to hold one.
bool can_be_streamed(const SoakCase& one) {
  const Problem& problem = one.problem;
  if (problem.kind == Kind::nufft) {
    constexpr std::int64_t kThick = 64;
    return problem.type != 3 && problem.dim >= 2 && one.only == Only::whole && !one.deterministic &&
           problem.n[static_cast<std::size_t>(problem.dim) - 1] >= kThick;
  }
  if (problem.kind != Kind::fft || problem.dim < 2 || problem.order != SpectrumOrder::natural) return false;
  const std::int64_t planes = problem.n[static_cast<std::size_t>(problem.dim) - 1];
  constexpr std::int64_t kLeast = 16;
  return planes >= kLeast && mode_count(problem) / planes >= kLeast && !problem.input_layout && !problem.output_layout;
}

}  // namespace

// They work on a grid of any size, but the direct sums visit every cell of every point.
bool can_be_alone(const Problem& problem) {
  return problem.kind == Kind::nufft && problem.type != 3 && *problem.m <= 200000 &&
         *std::min_element(problem.n.begin(), problem.n.begin() + problem.dim) >= 32;
}

SoakCase draw_case(std::string_view token, Random& random, double megabytes) {
  SoakCase one;
  one.problem = parse_problem(token);
  one.seed = 1 + random.below(1000000);
  if (chance(random, 0.2)) one.problem.sign = -one.problem.sign;
  if (chance(random, 0.3)) one.adjoint = true;
  if (chance(random, 0.2)) one.deterministic = true;
  if (chance(random, 0.3)) one.threads = 1 + static_cast<int>(random.below(3));
  one.problem.kind == Kind::fft ? vary_fft(one, random) : vary_nufft(one, random, megabytes * 1e6);
  one.problem = parse_problem(to_token(one.problem));  // exactly what the token says
  one.shared = can_be_shared(one) && one.seed % 6 == 0;
  one.streamed = can_be_streamed(one) && one.seed % 6 == 1;
  if (one.only != Only::whole && one.seed % 3 == 0) one.only = centred(one.only);
  return one;
}

}  // namespace fourtune::tools
