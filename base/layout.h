// Elements of a strided array, how many places it spans, and whether two of its indices share an element.
#pragma once

#include <cstdint>
#include <optional>

#include "fourtune/problem.h"

namespace fourtune {

// The number of elements from an array's first to one past its last. Sizes, batch and strides are at least 1 (strides
// of a size of 1 and the distance of a batch of 1 may be anything). Throws Error{size_overflow}, naming `what`.
std::int64_t layout_span(const ArrayLayout& layout, const Sizes& sizes, std::int64_t batch, const char* what);

// The number of elements of one transform, and the place of one of them; they are counted from 0, x fastest.
std::int64_t element_count(const Sizes& sizes);
std::int64_t place_of(const ArrayLayout& layout, const Sizes& sizes, std::int64_t element);

enum class Overlap { none, found, unknown };

// Whether two different indices (x, y, z, w, transform) of the array refer to the same element. The answer is exact and
// takes a bounded number of steps; it is unknown only for layouts whose dimensions are not nested in each other and
// that span more than 2^40 elements (2^33 with four dimensions and a batch). Precondition: layout_span does not throw.
Overlap self_overlap(const ArrayLayout& layout, const Sizes& sizes, std::int64_t batch);

// Throws Error{unsupported} when the adjoint of this fft would write an input that overlaps itself.
void require_adjoint(const Problem& fft);

}  // namespace fourtune
