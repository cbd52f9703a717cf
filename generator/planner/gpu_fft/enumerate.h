// Lists all plans worth trying for a transform, from the device's traits alone, with the best estimate first.
//
// There are three steps; the counts report how many plans each step left:
//   groupings  which part of every dimension each kernel transforms (products of radices), pruned by what a block can
//              hold, by floors and by rough estimates;
//   kernels    for every kernel of a grouping: radix sequences, order of the dimensions, tile, threads, exchange,
//              banks, twiddles, loads, clusters, block order; pruned by the rules and the device;
//   plans      combinations, the cheapest first, with the arrays and the layouts in between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fourtune/device_traits.h"
#include "generator/plan/fft/notation.h"

namespace fourtune::generator::fft {

struct FftRequest {
  Lengths lengths{1, 1, 1};  // x, y, z; plans leave out dimensions of length 1, and later dimensions move up
  Precision precision = Precision::f32;
  DigitOrder order = DigitOrder::natural;
  Place place = Place::out;
  std::int64_t batch = 1;
};

// Forms that a list may leave out because they seldom win. On an H200, shuffles and swizzles are as fast as padded
// shared memory where memory bandwidth is the limit, swizzles lose where a thread holds 32 values, and cp.async wins in
// f64.
struct EnumerationForms {
  bool swizzle = false;  // banks=swizzle in addition to pad
  bool shuffle = false;  // exchange=shuffle
  bool async = true;     // load=async
  bool bulk = true;      // load=bulk
};

struct EnumerationLimits {
  EnumerationForms forms;
  int plans = 1000;          // maximum length of the list; each number of kernels gets a share
  int plans_per_group = 24;  // per grouping and layout (more if there are few groupings), so that the list is varied
  int extra_kernels = 1;     // kernels more than the smallest possible number
  int ranked = 200;          // groupings per number of kernels that are compared by rough estimates
  int groupings = 48;        // of these, the best that are listed
  int shapes = 32;           // maximum number of tiles and thread counts per kernel, over all its radix sequences
  int choices = 4;           // maximum number of exchanges and twiddle forms per shape and kind of load
  int block_orders = 8;      // number of best plans that are repeated with every block order, in addition to `plans`
  double slack = 1.6;        // plans with a floor or an estimate above slack times the best are dropped
};

struct RuleCount {
  std::string step;  // "groupings", "kernels", "choices", "plans"
  std::string rule;
  double before = 0, after = 0;  // double, because there can be more than 2^53 plans
};

struct FftCandidate {
  FftPlan plan;
  double seconds = 0;  // plan_seconds
};

struct FftCandidates {
  std::vector<FftCandidate> list;  // by increasing seconds
  std::vector<RuleCount> counts;   // in the order in which the rules apply
};

// Returns an empty list if a length has a prime factor above 64 (the counts then show it: rule "radix"); other families
// handle such sizes. Throws Error{invalid_problem} for a length below 1 or a transform of more than 2^40 values.
FftCandidates fft_candidates(const FftRequest& request, const DeviceTraits& device,
                             const EnumerationLimits& limits = {});

// Returns the plan with the cheapest parameters for every kernel whose threads or tile are not bound. Bound parameters,
// the arrays and the layouts stay unchanged. This is for plans without parameters, as in the paper. Throws
// Error{unsupported} if no parameters make a kernel fit the device.
FftPlan bind(const FftPlan& plan, const DeviceTraits& device, std::int64_t batch = 1);

}  // namespace fourtune::generator::fft
