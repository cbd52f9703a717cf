// Spellings of the enumerated parameters, shared by the printer and the parser.
#pragma once

#include "generator/plan/fft/notation.h"

namespace fourtune::generator::fft {

template <class Enum>
struct Spelling {
  Enum value;
  const char* name;
};

inline constexpr Spelling<Exchange> exchanges[] = {
    {Exchange::none, "none"}, {Exchange::shared, "shared"}, {Exchange::shuffle, "shuffle"}};
inline constexpr Spelling<Parts> parts_names[] = {{Parts::together, "together"}, {Parts::apart, "apart"}};
inline constexpr Spelling<Banks> banks_names[] = {
    {Banks::plain, "plain"}, {Banks::pad, "pad"}, {Banks::swizzle, "swizzle"}};
inline constexpr Spelling<TwiddleForm> twiddles[] = {
    {TwiddleForm::table, "table"}, {TwiddleForm::computed, "computed"}, {TwiddleForm::fast, "fast"}};
inline constexpr Spelling<Store> stores[] = {
    {Store::place, "place"}, {Store::grouped, "grouped"}, {Store::sorted, "sorted"}};
inline constexpr Spelling<Load> loads[] = {{Load::plain, "plain"}, {Load::async, "async"}, {Load::bulk, "bulk"}};
inline constexpr Spelling<Cache> caches[] = {{Cache::all, "all"}, {Cache::l2, "l2"}, {Cache::stream, "stream"}};
inline constexpr Spelling<Coalesce> coalesces[] = {
    {Coalesce::none, "none"}, {Coalesce::load, "load"}, {Coalesce::store, "store"}, {Coalesce::both, "both"}};
inline constexpr Spelling<Target> targets[] = {{Target::out, "out"}, {Target::work, "work"}};
inline constexpr Spelling<DigitOrder> orders[] = {{DigitOrder::reversed, "reversed"},
                                                  {DigitOrder::grouped, "grouped"},
                                                  {DigitOrder::natural, "natural"},
                                                  {DigitOrder::primes, "primes"}};
inline constexpr Spelling<DigitOrder> input_orders[] = {{DigitOrder::natural, "natural"},
                                                        {DigitOrder::primes, "primes"}};
inline constexpr Spelling<Precision> precisions[] = {{Precision::f32, "f32"}, {Precision::f64, "f64"}};
inline constexpr Spelling<Place> places[] = {{Place::out, "out"}, {Place::in, "in"}};

template <class Enum, std::size_t N>
const char* name_of(const Spelling<Enum> (&table)[N], Enum value) {
  for (const auto& entry : table)
    if (entry.value == value) return entry.name;
  return "?";
}

inline char letter(Dim dim) { return "xyzw"[index(dim)]; }
inline char letter_upper(Dim dim) { return "XYZW"[index(dim)]; }

inline Exchange default_exchange(const Kernel& kernel) {
  return kernel.subs.size() > 1 ? Exchange::shared : Exchange::none;
}

// Limits of what a text may contain, so that hostile text costs nothing.
inline constexpr std::size_t most_text = 16384;                     // bytes
inline constexpr std::size_t most_kernels = 16;                     // per plan
inline constexpr std::size_t most_subs = 24;                        // per kernel
inline constexpr std::int64_t most_length = std::int64_t{1} << 40;  // for any number in a sub-FFT

}  // namespace fourtune::generator::fft
