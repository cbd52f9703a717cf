// The problem to solve and its canonical text, the problem token.
//
//   fft:type=c2c,n=256x256x256,prec=f32
//   fft:type=r2c,n=64x64x64x32,prec=f64,batch=2
//   fft:type=c2c,n=1048576,prec=f32,order=reversed
//   nufft:type=1,n=256x256x256,m=16777216,prec=f32,tol=1e-5,batch=8,points=cluster
//   nufft:type=3,dim=2,m=1048576,k=1048576,prec=f64,tol=1e-10,extent=3000x3000
//
// Keys come in the order type, n, dim, m, k, prec, tol, batch, place, sign, order, layout, extent, points. Default
// values are never printed, and every value has one spelling. parse(print(p)) == p, and print(parse(t)) is canonical.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "fourtune/export.h"
#include "fourtune/status.h"

namespace fourtune {

enum class Kind { fft, nufft };
enum class FftType { c2c, r2c, c2r };
enum class Precision { f32, f64 };
enum class Place { out, in };
// Classes of point distributions. Tuning results are stored separately for each class. recorded: points recorded from
// an application (FOURTUNE_RECORD_POINTS, `fourtune tune --recorded`).
enum class PointClass { uniform, cluster, radial, spiral, stack, ewald, recorded };
// How a complex fft numbers frequencies. Digit reversal is of the prime factors: for n = p_1 p_2 .. p_m, ascending,
// frequency k = k_1 + p_1 (k_2 + p_2 (k_3 + ..)) has position k_m + p_m (k_(m-1) + p_(m-1) (.. + p_2 k_1)) along its
// dimension; for powers of two that is bit reversal, and a prime length stays as it is. Real ffts are natural.
enum class SpectrumOrder {
  natural,
  reversed,   // the second array (the output of execute) holds the frequencies in digit-reversed order
  unreversed  // the first array does: the inverse of a reversed transform
};

// Dimensions that a problem may have: an fft up to four, x, y, z and w, of which x is the fastest; a nufft up to three.
inline constexpr int most_dimensions = 4;
constexpr int most_dimensions_of(Kind kind) noexcept { return kind == Kind::fft ? most_dimensions : 3; }

// Sizes along x, y, z and w. Those that are not given are 1.
struct Sizes : std::array<std::int64_t, most_dimensions> {
  constexpr Sizes(std::int64_t x = 1, std::int64_t y = 1, std::int64_t z = 1, std::int64_t w = 1) noexcept
      : std::array<std::int64_t, most_dimensions>{x, y, z, w} {}
  constexpr Sizes(const std::array<std::int64_t, 3>& of_xyz) noexcept : Sizes(of_xyz[0], of_xyz[1], of_xyz[2]) {}
  // Those along x, y and z, which are all that a nufft has.
  constexpr std::array<std::int64_t, 3> xyz() const noexcept { return {(*this)[0], (*this)[1], (*this)[2]}; }
};

// Strides (x, y, z, w) and the distance between the transforms of a batch, both in elements of the array (real or
// complex numbers). Entries of unused dimensions are 0.
struct ArrayLayout {
  std::array<std::int64_t, most_dimensions> stride{};
  std::int64_t distance = 0;
  friend bool operator==(const ArrayLayout& a, const ArrayLayout& b) {
    return a.stride == b.stride && a.distance == b.distance;
  }
  friend bool operator!=(const ArrayLayout& a, const ArrayLayout& b) { return !(a == b); }
};

// Invariants (checked by validate): 1 <= dim <= 4, at most 3 for a nufft; n[d] >= 1 for d < dim and n[d] == 1 for
// d >= dim; type-3 problems have no n; every product of sizes times 16 bytes fits std::int64_t.
struct Problem {
  Kind kind = Kind::nufft;
  FftType fft_type = FftType::c2c;  // fft only
  int type = 1;                     // nufft only: 1, 2 or 3
  int dim = 1;
  Sizes n;                        // x is fastest; numbers of modes (types 1 and 2) or sizes of an fft
  std::optional<std::int64_t> m;  // number of nonuniform points (sources); absent until set_points
  std::optional<std::int64_t> k;  // number of type 3 targets; absent until set_points
  Precision precision = Precision::f64;
  SpectrumOrder order = SpectrumOrder::natural;  // fft only; order=transposed and untransposed are layouts
  double tol = 0;                                // nufft only: requested relative l2 error
  std::int64_t batch = 1;
  Place place = Place::out;                     // fft only
  int sign = -1;                                // sign of i in the exponential; default -1, and +1 for type 2
  std::optional<ArrayLayout> input_layout;      // fft only; absent: dense
  std::optional<ArrayLayout> output_layout;     // fft only; absent: dense
  std::optional<std::array<double, 3>> extent;  // type 3: X_d * S_d, half-widths of sources times targets
  std::optional<PointClass> points;             // absent: taken as uniform when tuned, unknown when linked

  friend bool operator==(const Problem& a, const Problem& b) {
    const auto fields = [](const Problem& p) {
      return std::tie(p.kind, p.fft_type, p.type, p.dim, p.n, p.m, p.k, p.precision, p.order, p.tol, p.batch, p.place,
                      p.sign, p.input_layout, p.output_layout, p.extent, p.points);
    };
    return fields(a) == fields(b);
  }
  friend bool operator!=(const Problem& a, const Problem& b) { return !(a == b); }
};

// Parses a token. Throws Error{invalid_problem} that points at the offending key and lists what is allowed.
FOURTUNE_API Problem parse_problem(std::string_view token);
// Parses a token as people type it: keys in any order, blanks, capitals, n=64,64, m=1e6, n=2^20. Throws
// Error{invalid_problem}, whose message names the nearest right token if one is near. to_token gives the canonical
// text.
FOURTUNE_API Problem parse_typed_problem(std::string_view text);
// Returns the canonical token. Precondition: validate(problem) passes.
FOURTUNE_API std::string to_token(const Problem& problem);
// Throws Error{invalid_problem | size_overflow} when a field is out of range or fields contradict each other.
FOURTUNE_API void validate(const Problem& problem);

// Machine epsilon of the precision (2^-23 or 2^-52); size of a real number in bytes; the largest relative l2 error that
// counts as right, max(3 tol, 30 eps).
FOURTUNE_API double epsilon(Precision precision) noexcept;
FOURTUNE_API std::int64_t real_bytes(Precision precision) noexcept;
FOURTUNE_API double allowed_error(const Problem& problem) noexcept;

// The layout that applies: the explicit one if given, else dense with x fastest (padded rows for in-place real
// transforms).
FOURTUNE_API ArrayLayout resolved_input_layout(const Problem& problem);
FOURTUNE_API ArrayLayout resolved_output_layout(const Problem& problem);
// Sizes of an fft's arrays in elements (real or complex): r2c output and c2r input have n[0]/2+1 along x.
FOURTUNE_API Sizes input_sizes(const Problem& problem);
FOURTUNE_API Sizes output_sizes(const Problem& problem);
// The layout that order=transposed gives the spectrum: dense, with the last dimension fastest and x slowest. The
// spectrum is the half one of r2c and c2r, else as large as n.
FOURTUNE_API ArrayLayout transposed_layout(const Problem& problem);
// Where an fft's spectrum holds the frequency (kx, ky, kz, kw) of the first transform of a batch, in complex numbers
// from its beginning, for this problem's order and layout, on every backend and with any plan. The spectrum is the
// second array; for c2r, and orders unreversed and untransposed, the first one. -n/2 <= k < n in each dimension (k and
// k - n are the same frequency); 0 <= kx <= n/2 for the half spectrum of a real transform. Throws
// Error{invalid_argument} for others, and Error{invalid_problem} unless the problem is an fft.
FOURTUNE_API std::int64_t spectrum_index(const Problem& problem,
                                         const std::array<std::int64_t, most_dimensions>& frequency);
// n[0]*n[1]*n[2]*n[3]. Throws Error{invalid_problem} for type 3.
FOURTUNE_API std::int64_t mode_count(const Problem& problem);

// Enumerators to and from their spellings in tokens; from_* throws Error{invalid_problem} naming what is allowed.
FOURTUNE_API const char* to_string(Kind) noexcept;
FOURTUNE_API const char* to_string(FftType) noexcept;
FOURTUNE_API const char* to_string(Precision) noexcept;
FOURTUNE_API const char* to_string(Place) noexcept;
FOURTUNE_API const char* to_string(PointClass) noexcept;
FOURTUNE_API const char* to_string(SpectrumOrder) noexcept;
FOURTUNE_API PointClass point_class_from(std::string_view text);

// Returns a * b, or throws Error{size_overflow} naming `what`. Arguments must not be negative.
FOURTUNE_API std::int64_t checked_multiply(std::int64_t a, std::int64_t b, const char* what);

}  // namespace fourtune
