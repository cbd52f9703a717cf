// A Transform that knows the type of its elements. Float arrays for a transform of doubles do not compile; a token of
// the other precision and arrays that are too short are refused by name. Arrays are anything with std::data and
// std::size: std::vector, std::array, std::span, C arrays. For C++17 and later; what transform.h says holds here too.
//
//   fourtune::TypedTransform<double> transform("nufft:type=1,n=64x48,prec=f64,tol=1e-9");
//   transform.set_points(x, y);
//   transform.execute(c, f);
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include "fourtune/transform.h"

namespace fourtune {

template <class T>
class TypedTransform {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "elements are float (f32) or double (f64)");

 public:
  // Throws Error{invalid_problem} unless the token has this precision, and what Transform throws.
  explicit TypedTransform(std::string_view problem, const Options& options = {})
      : points_of_one_(!options.distinct_points), transform_(checked(problem), options) {}

  // One array for each dimension; of a type 3 the sources first, then the targets. Throws Error{contradiction} for
  // another number of arrays, for arrays of different lengths, and with distinct_points for arrays that cannot hold as
  // many points for each transform.
  template <class... Arrays>
  void set_points(const Arrays&... coordinates) {
    (check_coordinates<Arrays>(), ...);
    const void* const data[] = {std::data(coordinates)...};
    const std::size_t sizes[] = {std::size(coordinates)...};
    const auto dim = static_cast<std::size_t>(transform_.problem().dim);
    const std::size_t wanted = transform_.problem().type == 3 ? 2 * dim : dim;
    if (sizeof...(Arrays) != wanted)
      throw Error(Status::contradiction, std::to_string(sizeof...(Arrays)) +
                                             " arrays of coordinates where this problem has " + std::to_string(wanted));
    for (std::size_t i = 0; i < wanted; ++i)
      if (sizes[i] != sizes[i / dim * dim])
        throw Error(Status::contradiction, "coordinates of " + std::to_string(sizes[i]) + " points beside those of " +
                                               std::to_string(sizes[i / dim * dim]));
    const std::int64_t sets = points_of_one_ ? 1 : transform_.problem().batch;
    for (std::size_t i = 0; i < wanted; i += dim)
      if (static_cast<std::int64_t>(sizes[i]) % sets != 0)
        throw Error(Status::contradiction, "coordinates of " + std::to_string(sizes[i]) + " points for " +
                                               std::to_string(sets) + " transforms with distinct points");
    Points points;
    const void** const places[] = {&points.x, &points.y, &points.z, &points.s, &points.t, &points.u};
    for (std::size_t i = 0; i < wanted; ++i) *places[i < dim ? i : 3 + i - dim] = data[i];
    points.m = static_cast<std::int64_t>(sizes[0]) / sets;
    if (wanted > dim) points.k = static_cast<std::int64_t>(sizes[dim]) / sets;
    transform_.set_points(points);
  }

  // As Transform::execute and execute_adjoint. Throw Error{invalid_argument} for arrays that are too short.
  template <class First, class Second>
  void execute(First& point_values, Second& mode_values) {
    check_sizes(point_values, mode_values);
    transform_.execute(std::data(point_values), std::data(mode_values));
  }
  template <class First, class Second>
  void execute_adjoint(First& point_values, Second& mode_values) {
    check_sizes(point_values, mode_values);
    transform_.execute_adjoint(std::data(point_values), std::data(mode_values));
  }
  // An fft in place (place=in).
  template <class Array>
  void execute(Array& values) {
    execute(values, values);
  }

  Transform& plain() noexcept { return transform_; }
  const Transform& plain() const noexcept { return transform_; }

 private:
  template <class Array>
  using Element = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<Array&>()))>>;

  template <class Array>
  static constexpr void check_coordinates() {
    static_assert(std::is_same_v<Element<const Array>, T>,
                  "coordinates have the type of the transform: float or double");
  }

  static std::string_view checked(std::string_view token) {
    const bool is_double = parse_problem(token).precision == Precision::f64;
    if (is_double != std::is_same_v<T, double>)
      throw Error(Status::invalid_problem, std::string("prec=") + (is_double ? "f64" : "f32") +
                                               " where the elements are " + (is_double ? "float" : "double") +
                                               "; TypedTransform<" + (is_double ? "double" : "float") + "> is right");
    return token;
  }

  // Real numbers from the beginning of an array to its end.
  template <class Array>
  static std::int64_t reals_of(const Array& array) {
    using E = Element<const Array>;
    static_assert(std::is_same_v<E, T> || std::is_same_v<E, std::complex<T>>,
                  "arrays have the type of the transform: float or double, or std::complex of it");
    return static_cast<std::int64_t>(std::size(array)) * (std::is_same_v<E, T> ? 1 : 2);
  }
  static std::int64_t span(const ArrayLayout& layout, const Sizes& sizes, std::int64_t batch) {
    std::int64_t last = (batch - 1) * layout.distance;
    for (std::size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * layout.stride[d];
    return last + 1;
  }

  template <class First, class Second>
  void check_sizes(const First& first, const Second& second) const {
    const Problem& p = transform_.problem();
    std::int64_t needs[2];
    if (p.kind == Kind::nufft) {
      needs[0] = 2 * p.batch * p.m.value_or(0);
      needs[1] = 2 * p.batch * (p.type == 3 ? p.k.value_or(0) : mode_count(p));
    } else {
      needs[0] = span(resolved_input_layout(p), input_sizes(p), p.batch) * (p.fft_type == FftType::r2c ? 1 : 2);
      needs[1] = span(resolved_output_layout(p), output_sizes(p), p.batch) * (p.fft_type == FftType::c2r ? 1 : 2);
    }
    const std::int64_t have[2] = {reals_of(first), reals_of(second)};
    for (int i = 0; i < 2; ++i)
      if (have[i] < needs[i])
        throw Error(Status::invalid_argument, std::string(i == 0 ? "the first" : "the second") + " array holds " +
                                                  std::to_string(have[i]) + " real numbers where the transform needs " +
                                                  std::to_string(needs[i]));
  }

  bool points_of_one_;
  Transform transform_;
};

}  // namespace fourtune
