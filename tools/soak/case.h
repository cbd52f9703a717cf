// One thing to try: a problem and the options it runs with, as one line of text that parses back.
//
//   nufft:type=1,n=24x31,m=700,prec=f32,tol=3.4e-6,batch=4 adjoint order=fft distinct at=borders threads=2 seed=91
//
// The words behind the token come in any order; a default is left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "fourtune/problem.h"
#include "fourtune/transform.h"

namespace fourtune::tools {

// What is done to the points of the problem's class.
enum class Scatter {
  none,
  far,         // moved by many periods (type 3: both sides moved off the origin)
  folded,      // some of them by one period
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
  Scatter scatter = Scatter::none;
  int threads = 0;         // 0: all this process may use
  std::uint64_t seed = 1;  // of the arrays
  friend bool operator==(const SoakCase&, const SoakCase&) = default;
};

std::string to_text(const SoakCase& one);
// Throws UsageError, or what parse_problem throws.
SoakCase parse_case(std::string_view text);
// The problem whose plan runs: with points of their own transforms run one by one.
Problem planned_problem(const SoakCase& one);

// A case of this token: signs, adjoints, layouts, extents, orders, classes and places of points, options. At most about
// four times the token's memory, and never more than `megabytes` times four.
SoakCase draw_case(std::string_view token, tuner::Random& random, double megabytes);

}  // namespace fourtune::tools
