// What the cost model of GPU FFT kernels knows of a device besides its traits: shares of the rates that the traits
// give, which kernels reach. Set by hand, those of the library from an H100 and the others from an H200;
// tools/fit/fit_fft_costs.cpp fits them to measured plans.
#pragma once

#include <array>
#include <string_view>

#include "fourtune/device_traits.h"

namespace fourtune::generator::fft {

struct FftCosts {
  double copy = 0.9;          // share of the memory's peak that a copy reaches
  double cached = 1.4;        // speed of kernels that find their input in the L2 cache, relative to a copy
  double trips_cached = 1.2;  // the same of all kernels of a transform of which nothing but its traffic is known
  double cold = 1.8e-6;       // seconds until the first kernel's loads come, which nothing has brought to the cache
  double launch = 8.2e-7;     // seconds between two dependent kernels of one stream
  double wait = 2.2e-7;       // seconds that a block waits for its loads and stores; a tenth of that per exchange
  double step = 0.9;          // clocks for an operation of a thread's DFTs that waits for the one before
  double run = 44;            // a run of b bytes costs as much as b (1 + run / b^1.5) bytes
  double run_rows = 80;       // the same of kernels that do not transform x, whose runs lie in rows of other dimensions
  double run_cached = 2;      // what short runs cost in the L2 cache, relative to that
  double straddle = 2;        // share of a sector that a run reads or writes in vain where it begins inside one
  double scattered_loads = 1.5;   // time of loads of single values, to others
  double scattered_stores = 2.5;  // the same of stores of chunks of less than two sectors in rows of several dimensions
  double partial = 1.35;          // share of a sector that other short chunks write in vain where they begin inside one
  double alone = 0.086;           // memory idles while the only block of a multiprocessor computes
  double crowded = 1.03;          // time of kernels whose threads hold more than 32 values in f32
  double few_warps = 0.012;       // memory idles with few warps: share of their accesses' latency that one warp leaves
  double arithmetic = 0.49;       // share of the peak that mixes of additions and multiply-adds reach
  double shared = 0.84;           // share of 128 bytes per clock that exchanges reach
  double crossing = 0.21;         // share of 64 bytes per clock that the blocks of clusters exchange
  double hidden = 0.91;           // share of the shorter of memory's and arithmetic's time that hides behind the longer
  double first = 0.75;            // share of that which the only block of a multiprocessor cannot hide
  double unit = 90;               // operations of a computed twiddle factor in f64
  double real = 0.55;             // time of a real transform's passes relative to the complex one's
  double convolution_trip = 0.8;  // share of copy bandwidth of our convolutions
  double convolution_long = 9;    // trips through memory of those by two plans
  double library_trip = 0.9;      // the same of the library's kernels for powers of two
  double library_mixed = 1.2;     // time of its kernels for other lengths, relative to those
  double library_odd = 1.8;       // the same for real lines of odd length, which it computes as complex ones
  double library_even = 1.3;      // the same for real lines of even length, except for powers of two
  double library_long = 1.2;      // the same of each kernel of a long power of two
  double library_long_mixed = 1.7;  // the same of another long line
  double library_filled = 1.5;      // the same of a line of which one fills a block
  double library_work = 0.4;        // share of the peak that it reaches, as in direct DFTs of factors from 11 to 127
  double library_convolution = 5;   // the same with prime factors above 127
  double library_halves = 0.72;     // the same of real lines of even length, relative to those
  double library_padded = 2.2;      // the same of lines that a block holds, and their padded double not
  double library_longest = 1.4;     // the same of lines of more than 2^19 values, and of real ones of several kernels
  double library_launch = 4e-6;     // seconds that each of its kernels takes besides, with its part of the call
};
struct CostField {
  std::string_view name;
  double FftCosts::*value;
};
// All fields, for the fit and for printing.
inline constexpr std::array<CostField, 39> cost_fields{{{"copy", &FftCosts::copy},
                                                        {"cached", &FftCosts::cached},
                                                        {"trips_cached", &FftCosts::trips_cached},
                                                        {"cold", &FftCosts::cold},
                                                        {"launch", &FftCosts::launch},
                                                        {"wait", &FftCosts::wait},
                                                        {"step", &FftCosts::step},
                                                        {"run", &FftCosts::run},
                                                        {"run_rows", &FftCosts::run_rows},
                                                        {"run_cached", &FftCosts::run_cached},
                                                        {"straddle", &FftCosts::straddle},
                                                        {"scattered_loads", &FftCosts::scattered_loads},
                                                        {"scattered_stores", &FftCosts::scattered_stores},
                                                        {"partial", &FftCosts::partial},
                                                        {"alone", &FftCosts::alone},
                                                        {"crowded", &FftCosts::crowded},
                                                        {"few_warps", &FftCosts::few_warps},
                                                        {"arithmetic", &FftCosts::arithmetic},
                                                        {"shared", &FftCosts::shared},
                                                        {"crossing", &FftCosts::crossing},
                                                        {"hidden", &FftCosts::hidden},
                                                        {"first", &FftCosts::first},
                                                        {"unit", &FftCosts::unit},
                                                        {"real", &FftCosts::real},
                                                        {"convolution_trip", &FftCosts::convolution_trip},
                                                        {"convolution_long", &FftCosts::convolution_long},
                                                        {"library_trip", &FftCosts::library_trip},
                                                        {"library_mixed", &FftCosts::library_mixed},
                                                        {"library_odd", &FftCosts::library_odd},
                                                        {"library_even", &FftCosts::library_even},
                                                        {"library_long", &FftCosts::library_long},
                                                        {"library_long_mixed", &FftCosts::library_long_mixed},
                                                        {"library_filled", &FftCosts::library_filled},
                                                        {"library_work", &FftCosts::library_work},
                                                        {"library_convolution", &FftCosts::library_convolution},
                                                        {"library_halves", &FftCosts::library_halves},
                                                        {"library_padded", &FftCosts::library_padded},
                                                        {"library_longest", &FftCosts::library_longest},
                                                        {"library_launch", &FftCosts::library_launch}}};

// One set serves every device so far: all but `launch` are shares, so they scale with its traits. On a calibrated
// device the shares are those that it reaches (docs/design/calibration.md).
FftCosts fft_costs(const DeviceTraits& device);

}  // namespace fourtune::generator::fft
