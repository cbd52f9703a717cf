// Lines that are stored past the caches have the values of others, wherever the arrays begin and however many lines
// there are.
#include "runtime/distributed/axis_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "runtime/distributed/transposition_pieces.h"

namespace fourtune::runtime::distributed {
namespace {

template <class T>
void compare(std::int64_t lines, std::int64_t shift) {
  using Complex = std::complex<T>;
  constexpr std::int64_t kLength = 24, kUntouched = 40;
  const std::int64_t count = kLength * lines;
  generator::FftChoice choice;
  choice.family = generator::FftFamily::rows;
  choice.block = 32;
  const AxisLines<T> fft(kLength, -1, lines, choice, 2);
  std::vector<Complex> from(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = {static_cast<T>(i % 17), static_cast<T>(i % 5) - 2};
  // As aligned as a vector, and `shift` elements behind that.
  const auto result = [&](bool past_caches) {
    cpu::AlignedBytes bytes(static_cast<std::int64_t>(sizeof(Complex)) * (count + shift + kUntouched));
    auto* const to = bytes.as<Complex>() + shift;
    std::fill_n(to, count + kUntouched, Complex(7));
    AxisSide<T> side{cpu::whole_side(kLength)};
    const AxisSide<T> in = side;
    side.past_caches = past_caches;
    fft.run(from.data(), in, to, side, lines, {0, lines});
    return std::vector<Complex>(to, to + count + kUntouched);
  };
  EXPECT_EQ(result(true), result(false)) << lines << " lines, " << shift << " elements behind";
}

TEST(AxisLines, StoredPastTheCachesAreTheSame) {
  for (const std::int64_t lines : {1, 16, 33, 64, 96})
    for (const std::int64_t shift : {0, 1, 2}) compare<float>(lines, shift), compare<double>(lines, shift);
}

TEST(TranspositionShape, PlanesOfManyPagesAreAnOddNumberOfThemAndALineApart) {
  EXPECT_EQ(plane_gap(1000, 16), 0);
  for (const std::int64_t elements : {4096, 4097, 65536, 262144, 73000})
    for (const std::int64_t element : {8, 16}) {
      const std::int64_t gap = plane_gap(elements, element), bytes = (elements + gap) * element;
      if (elements * element < 65536) continue;
      EXPECT_EQ(bytes % 8192, 4096 + 64) << elements;
      EXPECT_LE(gap * element, 2 * 4096 + 64);
    }
}

}  // namespace
}  // namespace fourtune::runtime::distributed
