// How long our families and FFTW's estimate take for a uniform transform on a processor: what an untuned transform has
// to choose between.
#pragma once

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"

namespace fourtune::generator {

// Seconds of one execute. The two are the same where our family gives the transform to FFTW (runtime's rows.cpp).
struct FftTimes {
  double rows = 0;     // fft=rows
  double library = 0;  // fft=fftw(rigor=estimate)
  double along = 0;    // fft=along; infinite for what it does not take
};
// Prices in nanoseconds, of one precision.
struct RowsPrices {
  double contiguous, strided;  // moving a value of a line along x, and of another one, to a vector's lane and back
  double level;                // an operation of a level of the transform
  double convolved;            // the same of lengths with large prime factors
  double beyond_l1;            // a value of a block that the first-level cache does not hold
  double real;                 // splitting a value of a real line
  double block, call;
  double long_line, long_level;  // a value of a long line, and an operation of its levels
  double exchanged;              // a value in the cache that one thread writes and another one reads
  double far;                    // a value in memory, for each time that it goes through the caches
  double chirp;                  // times of a long line that take those of a convolved one
};
struct LibraryPrices {
  double bit, odd, medium;  // a value: per bit of its length, per bit of factors 3, 5 and 7, per factor 11 and 13
  double prime;             // per unit of a larger prime factor, up to 64
  double conflict;          // a value of a line whose values compete for the same places in the cache
  double far;               // in memory
  double line, transform;   // a line without straight-line code; a transform of the batch
  double odd_real, real;    // a value of a real transform
  double call;
  double exchanged;  // a value in the cache that one thread writes and another one reads
  double shared;     // of a thread's part of the work, as TeamPrices::share
  double several;    // of lines with straight-line code in several dimensions, beside those of one dimension
};
struct AlongPrices {
  double value, real;  // a complex value; more for one of a real line
  double pass;         // a value, for each unit of its passes' cost (generator/plan/along.h)
  double beyond;       // a value of a line whose work areas the first-level cache does not hold
  double spilled;      // a value of a line that leaves the second-level cache
  double line, call;
  double far;  // a value in memory
};
struct TeamPrices {
  double meet;   // threads that begin and end a step together
  double share;  // of a thread's part of the work, beside what it takes one thread: 1 where threads do not disturb
};
struct FftPrices {
  RowsPrices rows;
  LibraryPrices library;
  AlongPrices along;
  TeamPrices team;
  const DeviceRates* machine;  // on which they were measured
};
// Those of the machine that is most like this one (fft_prices.cpp).
const FftPrices& fft_prices(const DeviceTraits& traits, Precision precision);
// For tools/fit, which varies them: every price with its name.
template <class Prices>
struct PriceField {
  const char* name;
  double Prices::*value;
};
inline constexpr PriceField<RowsPrices> rows_price_fields[] = {{"contiguous", &RowsPrices::contiguous},
                                                               {"strided", &RowsPrices::strided},
                                                               {"level", &RowsPrices::level},
                                                               {"convolved", &RowsPrices::convolved},
                                                               {"beyond_l1", &RowsPrices::beyond_l1},
                                                               {"real", &RowsPrices::real},
                                                               {"block", &RowsPrices::block},
                                                               {"call", &RowsPrices::call},
                                                               {"long_line", &RowsPrices::long_line},
                                                               {"long_level", &RowsPrices::long_level},
                                                               {"exchanged", &RowsPrices::exchanged},
                                                               {"far", &RowsPrices::far},
                                                               {"chirp", &RowsPrices::chirp}};
inline constexpr PriceField<LibraryPrices> library_price_fields[] = {
    {"bit", &LibraryPrices::bit},           {"odd", &LibraryPrices::odd},
    {"medium", &LibraryPrices::medium},     {"prime", &LibraryPrices::prime},
    {"conflict", &LibraryPrices::conflict}, {"far", &LibraryPrices::far},
    {"line", &LibraryPrices::line},         {"transform", &LibraryPrices::transform},
    {"odd_real", &LibraryPrices::odd_real}, {"real", &LibraryPrices::real},
    {"call", &LibraryPrices::call},         {"exchanged", &LibraryPrices::exchanged},
    {"shared", &LibraryPrices::shared},     {"several", &LibraryPrices::several}};
inline constexpr PriceField<AlongPrices> along_price_fields[] = {
    {"value", &AlongPrices::value},   {"real", &AlongPrices::real},       {"pass", &AlongPrices::pass},
    {"beyond", &AlongPrices::beyond}, {"spilled", &AlongPrices::spilled}, {"line", &AlongPrices::line},
    {"call", &AlongPrices::call},     {"far", &AlongPrices::far}};

inline constexpr PriceField<TeamPrices> team_price_fields[] = {{"meet", &TeamPrices::meet},
                                                               {"share", &TeamPrices::share}};

// Of a dense problem; strides are not looked at. threads >= 1.
FftTimes fft_times(const Problem& problem, int threads, const DeviceTraits& traits, const FftPrices& prices);
inline FftTimes fft_times(const Problem& problem, int threads, const DeviceTraits& traits) {
  return fft_times(problem, threads, traits, fft_prices(traits, problem.precision));
}

}  // namespace fourtune::generator
