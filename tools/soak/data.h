// The arrays of a case as a caller would have them, on the host, and what their results should be.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tools/soak/case.h"

namespace fourtune::tools {

using Bytes = std::vector<std::byte>;
// What nobody has written: not a number in both precisions.
inline constexpr std::byte kUnwritten{0xff};

// One array: where its elements are. Everything else in it is a gap.
struct ArraySide {
  std::array<std::int64_t, 3> size{1, 1, 1};
  ArrayLayout layout;
  std::int64_t batch = 1;
  int parts = 2;  // real numbers an element
  std::int64_t real_size = 8;

  std::size_t bytes() const;
  // visit(index of an element's first real number), x fastest, batch slowest.
  template <class Visit>
  void each(Visit visit) const {
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t z = 0; z < size[2]; ++z)
        for (std::int64_t y = 0; y < size[1]; ++y) {
          const std::int64_t row = b * layout.distance + z * layout.stride[2] + y * layout.stride[1];
          for (std::int64_t x = 0; x < size[0]; ++x) visit((row + x * layout.stride[0]) * parts);
        }
  }
};

// Made from the case's seed alone.
struct CaseData {
  explicit CaseData(const SoakCase& one);

  SoakCase one;
  std::size_t first_bytes = 0, second_bytes = 0;  // of execute's arguments; in place they are one array
  bool in_place = false;
  bool reads_first = true;  // in the direction that the case asks for
  ArraySide from, to;       // in that direction
  Bytes input;              // the array that is read; gaps are unwritten
  std::array<Bytes, 6> coordinates;
};

// Relative l2 error of an output (bytes of `to`) against direct sums at sampled outputs. `plan` is needed for spreading
// and interpolation alone, whose window it says.
double result_error(const CaseData& data, const std::string& plan, const Bytes& output);

// Relative l2 difference of the elements of two such arrays; NaN where one is.
double difference(const ArraySide& side, const Bytes& a, const Bytes& b);
bool same_bits(const ArraySide& side, const Bytes& a, const Bytes& b);
// Sum of products, real number by real number.
double inner_product(const ArraySide& side, const Bytes& a, const Bytes& b);
// Whether everything but the elements, up to the end of the array, is still unwritten.
bool gaps_unwritten(const ArraySide& side, const Bytes& array);

}  // namespace fourtune::tools
