// All plans worth trying for a transform on a device, from its traits alone, best estimate first.
//
// Three steps, and the counts say what each left:
//   groupings  which part of every dimension each kernel transforms (products of radices), pruned by what a block can
//              hold and by floors;
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
  Lengths lengths{1, 1, 1};  // x, y, z; a dimension of length 1 is left out of the plans, the others move up
  Precision precision = Precision::f32;
  Order order = Order::natural;
  Place place = Place::out;
  std::int64_t batch = 1;
};

// Forms that a list may leave out because they seldom win. Measured on an H200: shuffles and swizzles are equal to
// shared memory with padding where memory is the bound, and swizzles lose where a thread holds 32 values; cp.async wins
// in f64.
struct EnumerationForms {
  bool swizzle = false;  // banks=swizzle besides pad
  bool shuffle = false;  // exchange=shuffle
  bool async = true;     // load=async
};

struct EnumerationLimits {
  EnumerationForms forms;
  int plans = 1000;          // most in the list; each number of kernels gets its share of it
  int plans_per_group = 24;  // of one grouping and layout (more where there are few), so that the list is varied
  int extra_kernels = 1;     // more kernels than the fewest possible
  int groupings = 48;        // most with the same number of kernels
  int shapes = 32;           // most tiles and threads of one kernel, over all its radix sequences
  int choices = 4;           // most exchanges and twiddles of one shape and kind of load
  int block_orders = 8;      // of the best plans come in every order of blocks, past `plans`
  double slack = 1.6;        // out is what has a floor, or an estimate, of more than slack times the best
};

struct RuleCount {
  std::string step;  // "groupings", "kernels", "choices", "plans"
  std::string rule;
  double before = 0, after = 0;  // plans can be more than 2^53
};

struct FftCandidate {
  FftPlan plan;
  double seconds = 0;  // plan_seconds
};

struct FftCandidates {
  std::vector<FftCandidate> list;  // by rising seconds
  std::vector<RuleCount> counts;   // in the order in which the rules apply
};

// An empty list where a length has a prime factor above 64 (the counts then say so: rule "radix"): those sizes are for
// other families. Throws Error{invalid_problem} for a length below 1 or a transform of more than 2^40 values.
FftCandidates fft_candidates(const FftRequest& request, const DeviceTraits& device,
                             const EnumerationLimits& limits = {});

// The plan with the cheapest parameters for its kernels where threads or tile are not bound; what is bound, the arrays
// and the layouts stay. For plans that come without parameters, as the paper's. Throws Error{unsupported} when a
// kernel fits the device with no parameters.
FftPlan bind(const FftPlan& plan, const DeviceTraits& device, std::int64_t batch = 1);

}  // namespace fourtune::generator::fft
