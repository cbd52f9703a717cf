// Elements of a strided array, how many places it spans, and whether two of its indices share an element; the order of
// the frequencies along its dimensions (spectrum_order.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "fourtune/problem.h"

namespace fourtune {

// The number of elements from an array's first to one past its last. Sizes, batch and strides are at least 1 (strides
// of a size of 1 and the distance of a batch of 1 may be anything). Throws Error{size_overflow}, naming `what`.
std::int64_t layout_span(const ArrayLayout& layout, const Sizes& sizes, std::int64_t batch, const char* what);

// The number of elements of one transform, and the place of one of them; they are counted from 0, x fastest.
std::int64_t element_count(const Sizes& sizes);
std::int64_t place_of(const ArrayLayout& layout, const Sizes& sizes, std::int64_t element);

// Prime factors of n, ascending; none for 1.
std::vector<std::int64_t> prime_factors(std::int64_t n);
// The position of frequency k among n = the product of these ascending primes, digit-reversed (problem.h).
std::int64_t reversed_position(const std::vector<std::int64_t>& primes, std::int64_t k);

// The order of the adjoint, which exchanges the arrays.
SpectrumOrder adjoint_order(SpectrumOrder order);

// The places of the elements of an fft's input or output array. Elements are counted naturally, x fastest: by positions
// in the array, or by frequencies where the array holds them in reversed order.
class ArrayPlaces {
 public:
  ArrayPlaces(const Problem& problem, bool input);
  bool reversed() const { return reversed_; }
  // An element's place, in elements from the beginning of its transform, is a sum over the dimensions.
  std::int64_t along(std::size_t d, std::int64_t i) const {
    return layout_.stride[d] * (reversed_ ? reversed_position(primes_[d], i) : i);
  }
  std::int64_t of(std::int64_t element) const;

 private:
  Sizes sizes_;
  ArrayLayout layout_;
  bool reversed_;
  std::array<std::vector<std::int64_t>, most_dimensions> primes_;
};

// Whether the layouts are those of order=transposed or untransposed: that array is dense with the last dimension
// fastest, the other one has its default layout.
bool is_transposed(const Problem& fft);
bool is_untransposed(const Problem& fft);

enum class Overlap { none, found, unknown };

// Whether two different indices (x, y, z, w, transform) of the array refer to the same element. The answer is exact and
// takes a bounded number of steps; it is unknown only for layouts whose dimensions are not nested in each other and
// that span more than 2^40 elements (2^33 with four dimensions and a batch). Precondition: layout_span does not throw.
Overlap self_overlap(const ArrayLayout& layout, const Sizes& sizes, std::int64_t batch);

// Throws Error{unsupported} when the adjoint of this fft would write an input that overlaps itself.
void require_adjoint(const Problem& fft);

}  // namespace fourtune
