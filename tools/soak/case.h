// One test case: a problem and its options, as one line of text that can be parsed again.
//
//   nufft:type=1,n=24x31,m=700,prec=f32,tol=3.4e-6,batch=4 adjoint order=fft distinct at=borders threads=2 seed=91
//
// The words after the token may have any order; defaults are left out. vary.cpp draws variations of a case, typed.cpp
// spells its token as people may.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "fourtune/problem.h"
#include "fourtune/transform.h"

namespace fourtune::tools {

// How the points of the problem's class are moved.
enum class Scatter {
  none,
  far,         // moved by many periods (type 3: both sides moved away from the origin)
  folded,      // some of them moved by one period
  duplicated,  // many at the same place
  borders,     // on cells of grids, at 0 and at both ends of the period, and next to them
};
const char* to_string(Scatter scatter) noexcept;

struct SoakCase {
  Problem problem;  // m (and k) known
  bool adjoint = false;
  ModeOrder order = ModeOrder::centred;
  Only only = Only::whole;
  bool distinct = false, deterministic = false, trust = false;
  bool shared = false;    // all devices share the batch, with default plans
  bool streamed = false;  // in blocks through half the memory that it takes, or for an fft its arrays
  Scatter scatter = Scatter::none;
  int threads = 0;         // 0: all that this process may use
  std::uint64_t seed = 1;  // seed of the arrays
  friend bool operator==(const SoakCase&, const SoakCase&) = default;
};

// Whether this problem's spreading or interpolation alone is tried.
bool can_be_alone(const Problem& problem);
// The same on a grid that begins at -pi.
inline Only centred(Only only) {
  return only == Only::spread ? Only::spread_centred : only == Only::interpolate ? Only::interpolate_centred : only;
}

std::string to_text(const SoakCase& one);
// Throws UsageError, or what parse_problem throws.
SoakCase parse_case(std::string_view text);
// The problem whose plan runs. If every transform has its own points, transforms run one by one.
Problem planned_problem(const SoakCase& one);

// The problem's token as somebody might type it, drawn by the case's seed: keys in any order, blanks, capitals, powers
// of ten and of two, lists with commas.
std::string typed_token(const SoakCase& one);

// Draws a case for this token: signs, adjoints, layouts, extents, orders, classes and places of points, options. It
// uses at most about four times the token's memory, and never more than four times `megabytes`.
SoakCase draw_case(std::string_view token, tuner::Random& random, double megabytes);

}  // namespace fourtune::tools
