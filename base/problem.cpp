// Properties of a problem: validation, sizes, layouts, spellings. The token's grammar is in token.cpp.
#include "fourtune/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/layout.h"
#include "base/text.h"

namespace fourtune {
namespace {

[[noreturn]] void bad(const std::string& message) { throw Error(Status::invalid_problem, message); }

std::int64_t product(const Sizes& sizes, const char* what) {
  std::int64_t all = 1;
  for (const std::int64_t size : sizes) all = checked_multiply(all, size, what);
  return all;
}

// Dense strides, x fastest, with `row` elements between successive y.
ArrayLayout dense(const Problem& problem, Sizes sizes, std::int64_t row) {
  ArrayLayout layout;
  sizes[0] = row;
  layout.distance = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (static_cast<int>(d) < problem.dim) layout.stride[d] = layout.distance;
    layout.distance = checked_multiply(layout.distance, sizes[d], "array size");
  }
  return layout;
}

void validate_layout(const Problem& problem, const ArrayLayout& layout, const char* which) {
  for (int d = 0; d < most_dimensions; ++d) {
    if (d < problem.dim && layout.stride[d] < 1)
      bad(fmt::format("layout: the {} stride of dimension {} is {}; strides are at least 1", which, "xyzw"[d],
                      layout.stride[d]));
    if (d >= problem.dim && layout.stride[d] != 0)
      bad(fmt::format("layout: {} strides for {} dimensions are needed, one each", which, problem.dim));
  }
  if (problem.batch > 1 && layout.distance < 1)
    bad(fmt::format("layout: a batch of {} needs a {} distance (stride[xstride..]+distance)", problem.batch, which));
}

// Dense arrays of n complex numbers in either precision must be addressable in bytes.
void validate_modes(const Problem& problem) {
  checked_multiply(checked_multiply(product(problem.n, "n"), 16, "n"), problem.batch, "n times batch");
}

// The array's size in bytes must not overflow, and elements that are written must not overlap. An input that is only
// read may overlap itself.
void validate_array(const Problem& problem, bool input) {
  const auto sizes = input ? input_sizes(problem) : output_sizes(problem);
  const ArrayLayout layout = input ? resolved_input_layout(problem) : resolved_output_layout(problem);
  const bool real = problem.fft_type == (input ? FftType::r2c : FftType::c2r);
  const char* what = input ? "layout of the input" : "layout of the output";
  checked_multiply(layout_span(layout, sizes, problem.batch, what), (real ? 1 : 2) * real_bytes(problem.precision),
                   what);
  if (!(input ? problem.input_layout : problem.output_layout) || (input && problem.place == Place::out)) return;
  const Overlap overlap = self_overlap(layout, sizes, problem.batch);
  if (overlap == Overlap::none) return;
  std::string size, stride;
  for (int d = 0; d < problem.dim; ++d) {
    size += fmt::format("{}{}", d ? "x" : "", sizes[d]);
    stride += fmt::format("{}{}", d ? "x" : "", layout.stride[d]);
  }
  if (problem.batch > 1) size += fmt::format(" times {}", problem.batch), stride += fmt::format("+{}", layout.distance);
  bad(
      fmt::format("{}: {} values at strides {} {}, and would be written more than once; strides and distance keep them "
                  "apart when each is beyond the reach of the smaller ones",
                  what, size, stride, overlap == Overlap::found ? "overlap themselves" : "may overlap themselves"));
}

void validate_fft(const Problem& problem) {
  if (problem.m || problem.k || problem.extent || problem.points || problem.tol != 0)
    bad("an fft has no m, k, tol, extent or points");
  for (int d = 0; d < problem.dim; ++d)
    if (problem.n[d] < 1) bad(fmt::format("n: size {} is {}; sizes are at least 1", "xyzw"[d], problem.n[d]));
  if (problem.input_layout) validate_layout(problem, *problem.input_layout, "input");
  if (problem.output_layout) validate_layout(problem, *problem.output_layout, "output");
  if (problem.order != SpectrumOrder::natural && problem.fft_type != FftType::c2c)
    bad(
        fmt::format("order: {}: a real transform stores the frequencies 0 to n/2 along x, which have no digits to "
                    "reverse; allowed are natural and transposed",
                    to_string(problem.order)));
  if (problem.place == Place::in && problem.fft_type == FftType::c2c && problem.input_layout != problem.output_layout &&
      !is_transposed(problem) && !is_untransposed(problem))
    bad("layout: an in-place c2c transform has one layout for both sides, or order=transposed");
  validate_modes(problem);
  validate_array(problem, true);
  validate_array(problem, false);
}

void validate_nufft(const Problem& problem) {
  if (problem.type < 1 || problem.type > 3) bad(fmt::format("type: {} is none of 1, 2, 3", problem.type));
  if (problem.place != Place::out || problem.input_layout || problem.output_layout ||
      problem.order != SpectrumOrder::natural)
    bad("place, order and layout belong to an fft");
  if (!(problem.tol > 0 && problem.tol < 1)) bad(fmt::format("tol: {} is not between 0 and 1", problem.tol));
  if (problem.m && *problem.m < 0) bad(fmt::format("m: {} points; a count is not negative", *problem.m));
  if (problem.type == 3) {
    if (std::any_of(problem.n.begin(), problem.n.end(), [](std::int64_t n) { return n != 1; }))
      bad("n: a type 3 problem has no modes; give dim, m and k");
    if (problem.k && *problem.k < 0) bad(fmt::format("k: {} targets; a count is not negative", *problem.k));
    if (problem.extent)
      for (int d = 0; d < problem.dim; ++d)
        if (!((*problem.extent)[d] >= 0 && std::isfinite((*problem.extent)[d])))
          bad(fmt::format("extent: {} is not a finite number of at least 0", (*problem.extent)[d]));
  } else {
    if (problem.k || problem.extent) bad("k and extent belong to type 3");
    for (int d = 0; d < problem.dim; ++d)
      if (problem.n[d] < 1) bad(fmt::format("n: size {} is {}; sizes are at least 1", "xyzw"[d], problem.n[d]));
  }
  validate_modes(problem);
  for (const auto& count : {problem.m, problem.k})
    if (count) checked_multiply(checked_multiply(*count, 24, "points"), problem.batch, "points times batch");
}

}  // namespace

std::int64_t checked_multiply(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result))
    throw Error(Status::size_overflow, fmt::format("{}: {} * {} does not fit in 64 bits", what, a, b));
  return result;
}

void validate(const Problem& problem) {
  if (problem.dim < 1 || problem.dim > most_dimensions_of(problem.kind))
    bad(fmt::format("dim: {}; {} has 1 to {} dimensions", problem.dim, problem.kind == Kind::fft ? "an fft" : "a nufft",
                    most_dimensions_of(problem.kind)));
  for (int d = problem.dim; d < most_dimensions; ++d)
    if (problem.n[d] != 1) bad(fmt::format("n: {} sizes are given for {} dimensions", d + 1, problem.dim));
  if (problem.batch < 1) bad(fmt::format("batch: {} is less than 1", problem.batch));
  if (problem.sign != 1 && problem.sign != -1) bad(fmt::format("sign: {} is neither -1 nor 1", problem.sign));
  problem.kind == Kind::fft ? validate_fft(problem) : validate_nufft(problem);
}

double epsilon(Precision precision) noexcept {
  return precision == Precision::f32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
}
std::int64_t real_bytes(Precision precision) noexcept { return precision == Precision::f32 ? 4 : 8; }
double allowed_error(const Problem& problem) noexcept {
  return std::max(3 * problem.tol, 30 * epsilon(problem.precision));
}

Sizes input_sizes(const Problem& problem) {
  auto sizes = problem.n;
  if (problem.kind == Kind::fft && problem.fft_type == FftType::c2r) sizes[0] = sizes[0] / 2 + 1;
  return sizes;
}
Sizes output_sizes(const Problem& problem) {
  auto sizes = problem.n;
  if (problem.kind == Kind::fft && problem.fft_type == FftType::r2c) sizes[0] = sizes[0] / 2 + 1;
  return sizes;
}

ArrayLayout resolved_input_layout(const Problem& problem) {
  if (problem.input_layout) return *problem.input_layout;
  const auto sizes = input_sizes(problem);
  const bool padded = problem.fft_type == FftType::r2c && problem.place == Place::in;
  return dense(problem, sizes, padded ? 2 * (problem.n[0] / 2 + 1) : sizes[0]);
}
ArrayLayout resolved_output_layout(const Problem& problem) {
  if (problem.output_layout) return *problem.output_layout;
  const auto sizes = output_sizes(problem);
  const bool padded = problem.fft_type == FftType::c2r && problem.place == Place::in;
  return dense(problem, sizes, padded ? 2 * (problem.n[0] / 2 + 1) : sizes[0]);
}

std::int64_t mode_count(const Problem& problem) {
  if (problem.kind == Kind::nufft && problem.type == 3) bad("a type 3 problem has targets, not modes");
  return product(problem.n, "n");
}

const char* to_string(Kind kind) noexcept { return kind == Kind::fft ? "fft" : "nufft"; }
const char* to_string(FftType type) noexcept {
  return type == FftType::c2c ? "c2c" : type == FftType::r2c ? "r2c" : "c2r";
}
const char* to_string(Precision precision) noexcept { return precision == Precision::f32 ? "f32" : "f64"; }
const char* to_string(Place place) noexcept { return place == Place::in ? "in" : "out"; }
const char* to_string(PointClass points) noexcept {
  static constexpr const char* names[] = {"uniform", "cluster", "radial", "spiral", "stack", "ewald", "recorded"};
  return names[static_cast<int>(points)];
}
PointClass point_class_from(std::string_view text) {
  for (const auto points : {PointClass::uniform, PointClass::cluster, PointClass::radial, PointClass::spiral,
                            PointClass::stack, PointClass::ewald, PointClass::recorded})
    if (text == to_string(points)) return points;
  bad(fmt::format("points: '{}' is none of uniform, cluster, radial, spiral, stack, ewald, recorded",
                  text::shown(text)));
}

}  // namespace fourtune
