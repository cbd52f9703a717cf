// The arrays of a case as a caller would hold them on the host, and the expected results (reference.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/layout.h"
#include "tools/soak/case.h"
#include "tuner/reference/device_sums.h"

namespace fourtune::tools {

using Bytes = std::vector<std::byte>;
// Marks bytes that were never written: NaN in both precisions.
inline constexpr std::byte kUnwritten{0xff};

// One array: the positions of its elements. Everything else in it is a gap.
struct ArraySide {
  Sizes size;
  ArrayLayout layout;
  std::int64_t batch = 1;
  int parts = 2;  // real numbers per element
  std::int64_t real_size = 8;

  std::size_t bytes() const;
  // visit(index of an element's first real number), x fastest, batch slowest.
  template <class Visit>
  void each(Visit visit) const {
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t first = 0; first < element_count(size); first += size[0]) {
        const std::int64_t row = b * layout.distance + place_of(layout, size, first);
        for (std::int64_t x = 0; x < size[0]; ++x) visit((row + x * layout.stride[0]) * parts);
      }
  }
};

// Generated from the case's seed only.
struct CaseData {
  explicit CaseData(const SoakCase& one);

  SoakCase one;
  std::size_t first_bytes = 0, second_bytes = 0;  // sizes of execute's arguments; in place they are one array
  bool in_place = false;
  bool reads_first = true;  // for the direction of the case
  ArraySide from, to;       // for the same direction
  Bytes input;              // the array that the transform reads; its gaps are unwritten
  std::array<Bytes, 6> coordinates;
};

// Relative l2 error of an output (bytes of `to`) against direct sums at sampled outputs. `plan` is needed only for
// spreading or interpolation alone, because it contains the window.
// sums: null, or of a device where `there` are this direction's sources and all that the transform read.
double result_error(const CaseData& data, const std::string& plan, const Bytes& output,
                    tuner::DeviceSums* sums = nullptr, const tuner::DeviceInput& there = {});

// Relative l2 difference of the elements of two such arrays; NaN if an element is NaN.
double difference(const ArraySide& side, const Bytes& a, const Bytes& b);
bool same_bits(const ArraySide& side, const Bytes& a, const Bytes& b);
// Sum of products, taken over the real numbers.
double inner_product(const ArraySide& side, const Bytes& a, const Bytes& b);
// Whether everything except the elements, up to the end of the array, is still unwritten.
bool gaps_unwritten(const ArraySide& side, const Bytes& array);

}  // namespace fourtune::tools
