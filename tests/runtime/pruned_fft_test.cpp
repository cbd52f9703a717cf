#include "runtime/backends/cpu/nufft/pruned_fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "tests/support/direct_dft.h"
#include "tests/support/turns.h"

namespace fourtune::runtime::cpu {
namespace {

using Long = long double;
using test::LongComplex;
using Extent = std::array<std::int64_t, 3>;

struct Case {
  int dim = 1;
  Extent fine{1, 1, 1}, modes{1, 1, 1};
  Extent length{0, 0, 0};  // length of the transform, if the grid holds only a part
  int sign = -1;
  ModeOrder order = ModeOrder::centred;
  bool factors = true;
  std::int64_t row_padding = 0, mode_padding = 0;
  int threads = 1;
  int block = 16;
  std::int64_t count = 1;
};

PrunedFftSpec spec_of(const Case& c, std::mt19937_64& random) {
  PrunedFftSpec spec;
  spec.grid.dim = c.dim;
  spec.grid.fine = c.fine;
  spec.grid.stride = {1, 0, 0};
  if (c.dim > 1) spec.grid.stride[1] = std::max(c.fine[0], c.modes[0]) + c.row_padding;
  if (c.dim > 2) spec.grid.stride[2] = spec.grid.stride[1] * std::max(c.fine[1], c.modes[1]) + c.row_padding;
  spec.grid.elements = c.dim == 1 ? c.fine[0] : spec.grid.stride[c.dim - 1] * c.fine[c.dim - 1];
  spec.length = c.length;
  spec.modes = c.modes;
  if (c.mode_padding > 0) {
    spec.mode_stride[1] = c.modes[0] + c.mode_padding;
    spec.mode_stride[2] = spec.mode_stride[1] * c.modes[1] + c.mode_padding;
  }
  spec.sign = c.sign;
  spec.order = c.order;
  spec.threads = c.threads;
  spec.fft.rigor = generator::Rigor::estimate;
  spec.fft.block = c.block;
  std::uniform_real_distribution<double> value(0.5, 2);
  for (int d = 0; d < c.dim && c.factors; ++d)
    for (std::int64_t j = 0; j <= c.modes[d] / 2; ++j) spec.factors[d].push_back(value(random));
  return spec;
}

std::int64_t frequency(const PrunedFftSpec& spec, int d, std::int64_t index) {
  const std::int64_t modes = spec.modes[d];
  if (spec.order == ModeOrder::centred) return index - modes / 2;
  return index < modes - modes / 2 ? index : index - modes;
}

// The transform's length along d, and the position in it of a cell of the grid.
std::int64_t length_of(const PrunedFftSpec& spec, int d) {
  return spec.length[d] > 0 ? spec.length[d] : spec.grid.fine[d];
}
std::int64_t position(const PrunedFftSpec& spec, int d, std::int64_t cell) {
  return spec.length[d] > 0 ? cell - spec.grid.fine[d] / 2 : cell;
}

// Applies F[mode, cell] = factor exp(sign i 2pi k position / length) along every dimension, from cells to modes or
// back.
std::vector<LongComplex> direct(const PrunedFftSpec& spec, std::vector<LongComplex> data, bool truncate) {
  Extent size = truncate ? spec.grid.fine : spec.modes;
  for (int d = 0; d < 3; ++d) {
    Extent next = size;
    next[d] = truncate ? spec.modes[d] : spec.grid.fine[d];
    const std::int64_t below = d == 0 ? 1 : d == 1 ? size[0] : size[0] * size[1];
    const std::int64_t above = size[0] * size[1] * size[2] / below / size[d], fine = length_of(spec, d);
    std::vector<LongComplex> result(next[0] * next[1] * next[2]);
    const std::vector<LongComplex>& root = test::roots(fine);
    for (std::int64_t i = 0; i < next[d]; ++i)
      for (std::int64_t j = 0; j < size[d]; ++j) {
        const std::int64_t k = frequency(spec, d, truncate ? i : j), cell = position(spec, d, truncate ? j : i);
        const LongComplex f = root[((spec.sign * k * cell) % fine + fine) % fine] *
                              (spec.factors[d].empty() ? Long(1) : Long(spec.factors[d][std::abs(k)]));
        for (std::int64_t a = 0; a < above; ++a)
          test::add_product(&result[(a * next[d] + i) * below], f, &data[(a * size[d] + j) * below], below);
      }
    data = std::move(result);
    size = next;
  }
  return data;
}

Long relative(const std::vector<LongComplex>& a, const std::vector<LongComplex>& b) {
  Long difference = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference += std::norm(a[i] - b[i]), scale += std::norm(b[i]);
  return std::sqrt(difference / scale);
}

template <class T>
std::vector<std::complex<T>> drawn_array(std::mt19937_64& random, std::int64_t size) {
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<std::complex<T>> values(size);
  for (auto& v : values) v = {static_cast<T>(value(random)), static_cast<T>(value(random))};
  return values;
}

template <class T>
void check(const Case& c, std::mt19937_64& random) {
  SCOPED_TRACE(testing::Message() << "dim " << c.dim << " fine " << c.fine[0] << "x" << c.fine[1] << "x" << c.fine[2]
                                  << " modes " << c.modes[0] << "x" << c.modes[1] << "x" << c.modes[2] << " sign "
                                  << c.sign << " order " << static_cast<int>(c.order) << " threads " << c.threads
                                  << " count " << c.count << " block " << c.block << " bytes " << sizeof(T));
  const PrunedFftSpec spec = spec_of(c, random);
  const auto fft = make_pruned_fft<T>(spec, random() % 2 == 0);
  const std::int64_t row = c.modes[0] + c.mode_padding, plane = row * c.modes[1] + c.mode_padding;
  const std::int64_t kept = c.dim == 1 ? c.modes[0] : c.dim == 2 ? row * c.modes[1] : plane * c.modes[2];
  const std::int64_t grid_distance = spec.grid.elements + 3, mode_distance = kept + 2;
  const auto grids = drawn_array<T>(random, c.count * grid_distance);
  const auto modes = drawn_array<T>(random, c.count * mode_distance);
  const Long tolerance = 30 * std::numeric_limits<T>::epsilon();

  auto cells = grids, spectrum = modes;
  fft->truncate(cells.data(), grid_distance, spectrum.data(), mode_distance, c.count);
  auto padded = grids;
  for (auto& v : padded) v = std::numeric_limits<T>::quiet_NaN();  // pad must overwrite every cell
  auto kept_modes = modes;
  fft->pad(kept_modes.data(), mode_distance, padded.data(), grid_distance, c.count);
  EXPECT_EQ(kept_modes, modes) << "pad changed its input";

  const auto dense_grid = [&](const std::vector<std::complex<T>>& from, std::int64_t b) {
    std::vector<LongComplex> dense;
    for (std::int64_t z = 0; z < c.fine[2]; ++z)
      for (std::int64_t y = 0; y < c.fine[1]; ++y)
        for (std::int64_t x = 0; x < c.fine[0]; ++x)
          dense.emplace_back(from[b * grid_distance + x + y * spec.grid.stride[1] + z * spec.grid.stride[2]]);
    return dense;
  };
  const auto dense_modes = [&](const std::vector<std::complex<T>>& from, std::int64_t b) {
    std::vector<LongComplex> dense;
    for (std::int64_t z = 0; z < c.modes[2]; ++z)
      for (std::int64_t y = 0; y < c.modes[1]; ++y)
        for (std::int64_t x = 0; x < c.modes[0]; ++x)
          dense.emplace_back(from[b * mode_distance + x + y * row + z * plane]);
    return dense;
  };
  for (std::int64_t b = 0; b < c.count; ++b) {
    EXPECT_LE(relative(dense_modes(spectrum, b), direct(spec, dense_grid(grids, b), true)), tolerance)
        << "truncate " << b;
    EXPECT_LE(relative(dense_grid(padded, b), direct(spec, dense_modes(modes, b), false)), tolerance) << "pad " << b;
    for (std::int64_t gap = kept; gap < mode_distance; ++gap)
      EXPECT_EQ(spectrum[b * mode_distance + gap], modes[b * mode_distance + gap]) << "wrote between transforms";
  }
}

TEST(PrunedFft, RandomCasesMatchTheDirectSum) {
  constexpr std::int64_t sizes[] = {1,  2,  3,  4,  5,  6,  8,  9,  10, 12, 14, 15, 16, 18,
                                    20, 21, 24, 25, 32, 35, 36, 40, 48, 54, 64, 11, 22, 17};
  std::mt19937_64 random(101);
  for (int i = 0; i < 300; ++i) {
    Case c;
    c.dim = 1 + static_cast<int>(random() % 3);
    do {
      for (int d = 0; d < c.dim; ++d) c.fine[d] = sizes[random() % std::size(sizes)];
    } while (c.fine[0] * c.fine[1] * c.fine[2] > 4000);
    const bool part = random() % 2 == 0;
    for (int d = 0; d < c.dim; ++d) {
      std::int64_t length = c.fine[d];
      if (part && random() % 4 != 0) {  // sometimes there are more modes than held cells
        do {
          length = sizes[random() % std::size(sizes)];
        } while (length < c.fine[d]);
        c.length[d] = length;
      }
      c.modes[d] = 1 + static_cast<std::int64_t>(random() % length);
    }
    c.mode_padding = static_cast<std::int64_t>(random() % 3);
    c.sign = random() % 2 == 0 ? -1 : 1;
    c.order = random() % 2 == 0 ? ModeOrder::centred : ModeOrder::fft;
    c.factors = random() % 4 != 0;
    c.row_padding = static_cast<std::int64_t>(random() % 4);
    c.threads = 1 + static_cast<int>(random() % 3);
    c.block = 1 + static_cast<int>(random() % 20);
    c.count = 1 + static_cast<std::int64_t>(random() % 5);
    if (!test::next_has_turn_under_sanitizers()) continue;
    i % 2 == 0 ? check<float>(c, random) : check<double>(c, random);
  }
}

TEST(PrunedFft, OneModeAllModesAndOneCellWork) {
  std::mt19937_64 random(103);
  for (const ModeOrder order : {ModeOrder::centred, ModeOrder::fft})
    for (int dim = 1; dim <= 3; ++dim)
      for (const std::int64_t fine : {1, 2, 7, 8})
        for (const std::int64_t modes : {std::int64_t{1}, fine}) {
          Case c;
          c.dim = dim;
          c.order = order;
          for (int d = 0; d < dim; ++d) c.fine[d] = fine, c.modes[d] = modes;
          check<float>(c, random);
          check<double>(c, random);
        }
}

// Too long to compute all modes directly: checks a sample of modes, and adjointness for the rest.
template <class T>
void check_long(std::int64_t fine, std::int64_t modes, int threads, std::mt19937_64& random) {
  SCOPED_TRACE(testing::Message() << fine << " cells " << modes << " modes " << threads << " threads");
  Case c;
  c.fine[0] = fine;
  c.modes[0] = modes;
  c.threads = threads;
  c.order = modes % 2 == 0 ? ModeOrder::centred : ModeOrder::fft;
  PrunedFftSpec spec = spec_of(c, random);
  const auto x = drawn_array<T>(random, fine), y = drawn_array<T>(random, modes);
  auto cells = x, ax = y, aty = x, input = y;
  make_pruned_fft<T>(spec, true)->truncate(cells.data(), fine, ax.data(), modes, 1);
  spec.sign = -spec.sign;
  make_pruned_fft<T>(spec, false)->pad(input.data(), modes, aty.data(), fine, 1);
  spec.sign = -spec.sign;
  EXPECT_EQ(input, y);
  std::vector<LongComplex> got, want, root(fine);
  const Long turn = spec.sign * 2 * std::numbers::pi_v<Long> / static_cast<Long>(fine);
  for (std::int64_t j = 0; j < fine; ++j) root[j] = std::polar(Long(1), turn * static_cast<Long>(j));
  for (std::int64_t i = 0; i < modes; i += 1 + static_cast<std::int64_t>(random() % (modes / 20))) {
    const std::int64_t k = frequency(spec, 0, i);
    LongComplex sum = 0;
    for (std::int64_t j = 0; j < fine; ++j) sum += root[((k * j) % fine + fine) % fine] * LongComplex(x[j]);
    got.emplace_back(ax[i]);
    want.push_back(sum * static_cast<Long>(spec.factors[0][std::abs(k)]));
  }
  const Long epsilon = std::numeric_limits<T>::epsilon();
  EXPECT_LE(relative(got, want), 30 * epsilon);
  LongComplex left = 0, right = 0;
  Long scale = 0;
  for (std::int64_t i = 0; i < modes; ++i) {
    left += std::conj(LongComplex(y[i])) * LongComplex(ax[i]);
    scale += std::norm(LongComplex(ax[i]));
  }
  for (std::int64_t j = 0; j < fine; ++j) right += std::conj(LongComplex(aty[j])) * LongComplex(x[j]);
  EXPECT_LE(std::abs(left - right), 30 * epsilon * std::sqrt(scale * static_cast<Long>(modes)));
}

TEST(PrunedFft, LongLinesMatchTheDirectSum) {
  std::mt19937_64 random(107);
  for (const std::int64_t fine : {5000, 8192, 11025, 16384, 20000, 32768, 19683, 20011})
    for (const std::int64_t modes : {fine / 2, fine * 4 / 5 + 1, fine})
      for (const int threads : {1, 2}) {
        if (!test::next_has_turn_under_sanitizers()) continue;
        check_long<float>(fine, modes, threads, random);
        check_long<double>(fine, modes, threads, random);
      }
}

// The held cells of a transform must equal the same cells of the whole one.
TEST(PrunedFft, HeldCellsAgreeWithTheWholeTransform) {
  std::mt19937_64 random(131);
  Case c;
  c.dim = 2;
  c.fine = {240, 250, 1};
  c.modes = {160, 150, 1};
  c.block = 64;
  const PrunedFftSpec whole = spec_of(c, random);
  PrunedFftSpec part = whole;
  part.grid.fine = {104, 130, 1};
  part.grid.stride = {1, 163, 0};  // room for the modes
  part.grid.elements = 163 * 130;
  part.length = c.fine;
  const auto modes = drawn_array<double>(random, 160 * 150);
  std::vector<std::complex<double>> all(whole.grid.elements), held(part.grid.elements);
  make_pruned_fft<double>(whole, false)->pad(modes.data(), 0, all.data(), 0, 1);
  make_pruned_fft<double>(part, false)->pad(modes.data(), 0, held.data(), 0, 1);
  for (std::int64_t y = 0; y < 130; ++y)
    for (std::int64_t x = 0; x < 104; ++x)
      ASSERT_EQ(held[x + 163 * y], all[(x - 52 + 240) % 240 + 240 * ((y - 65 + 250) % 250)]) << x << " " << y;

  // In the adjoint direction, cells that are not held count as zero.
  std::vector<std::complex<double>> spread(whole.grid.elements), from_all(160 * 150), from_held(160 * 150);
  for (std::int64_t y = 0; y < 130; ++y)
    for (std::int64_t x = 0; x < 104; ++x)
      spread[(x - 52 + 240) % 240 + 240 * ((y - 65 + 250) % 250)] = held[x + 163 * y];
  make_pruned_fft<double>(whole, true)->truncate(spread.data(), 0, from_all.data(), 0, 1);
  make_pruned_fft<double>(part, true)->truncate(held.data(), 0, from_held.data(), 0, 1);
  for (std::size_t i = 0; i < from_all.size(); ++i) ASSERT_EQ(from_held[i], from_all[i]) << i;
}

TEST(PrunedFft, TruncateAndConjugatePadAreAdjoint) {
  std::mt19937_64 random(109);
  Case c;
  c.dim = 3;
  c.fine = {40, 36, 30};
  c.modes = {21, 18, 24};
  c.row_padding = 5;
  const PrunedFftSpec spec = spec_of(c, random);
  PrunedFftSpec conjugate = spec;
  conjugate.sign = -spec.sign;
  const std::int64_t kept = c.modes[0] * c.modes[1] * c.modes[2];
  const auto x = drawn_array<double>(random, spec.grid.elements), y = drawn_array<double>(random, kept);
  auto cells = x, ax = y, aty = x, input = y;
  make_pruned_fft<double>(spec, true)->truncate(cells.data(), 0, ax.data(), 0, 1);
  make_pruned_fft<double>(conjugate, false)->pad(input.data(), 0, aty.data(), 0, 1);
  std::complex<double> left = 0, right = 0;
  for (std::int64_t i = 0; i < kept; ++i) left += std::conj(y[i]) * ax[i];
  for (std::int64_t z = 0; z < c.fine[2]; ++z)
    for (std::int64_t j = 0; j < c.fine[1]; ++j)
      for (std::int64_t i = 0; i < c.fine[0]; ++i) {
        const std::int64_t at = i + j * spec.grid.stride[1] + z * spec.grid.stride[2];
        right += std::conj(aty[at]) * x[at];
      }
  EXPECT_LE(std::abs(left - right), 1e-12 * std::abs(left) + 1e-9);
}

// Lengths of both kinds: those that go by vectors along the line, and one (17) that does not. Some grids hold a part.
TEST(PrunedFft, LinesOfABatchAreRight) {
  std::mt19937_64 random(127);
  for (const std::int64_t fine : {64, 96, 105, 360, 17, 1000})
    for (const std::int64_t held : {fine, fine / 2 + 3})
      for (const int threads : {1, 3}) {
        Case c;
        c.fine[0] = held;
        c.length[0] = held == fine ? 0 : fine;
        c.modes[0] = fine / 2 + 1;
        c.threads = threads;
        c.count = 9;
        check<float>(c, random);
        check<double>(c, random);
      }
}

template <class T>
void expect_bits_of_each_line(std::int64_t fine, std::mt19937_64& random) {
  constexpr std::int64_t count = 7;
  Case c;
  c.fine[0] = fine, c.modes[0] = fine / 2, c.threads = 3;
  PrunedFftSpec spec = spec_of(c, random);
  spec.together = count;
  const auto fft = make_pruned_fft<T>(spec, true);
  auto grids = drawn_array<T>(random, count * fine), grid = grids;
  std::vector<std::complex<T>> all(count * fine / 2), one(fine / 2);
  fft->truncate(grids.data(), fine, all.data(), fine / 2, count);
  for (std::int64_t b = 0; b < count; ++b) {
    fft->truncate(grid.data() + b * fine, fine, one.data(), fine / 2, 1);
    EXPECT_TRUE(std::equal(one.begin(), one.end(), all.begin() + b * fine / 2)) << fine << " line " << b;
  }
}
TEST(PrunedFft, ABatchHasTheBitsOfEachLine) {
  std::mt19937_64 random(137);
  for (const std::int64_t fine : {96, 1000, 8192, 20000}) {
    expect_bits_of_each_line<float>(fine, random);
    expect_bits_of_each_line<double>(fine, random);
  }
}

TEST(PrunedFft, ResultsDoNotDependOnTheThreadCount) {
  std::mt19937_64 random(113);
  for (int dim = 1; dim <= 3; ++dim) {
    Case c;
    c.dim = dim;
    c.fine = {dim == 1 ? 19200 : 48, dim > 1 ? 40 : 1, dim > 2 ? 24 : 1};
    c.modes = {dim == 1 ? 9600 : 24, dim > 1 ? 21 : 1, dim > 2 ? 12 : 1};
    PrunedFftSpec spec = spec_of(c, random);
    const auto grid = drawn_array<float>(random, spec.grid.elements);
    std::vector<std::vector<std::complex<float>>> results;
    for (const int threads : {1, 2, 3}) {
      spec.threads = threads;
      auto cells = grid;
      std::vector<std::complex<float>> modes(c.modes[0] * c.modes[1] * c.modes[2]);
      make_pruned_fft<float>(spec, true)->truncate(cells.data(), 0, modes.data(), 0, 1);
      results.push_back(modes);
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
  }
}

TEST(PrunedFft, MoreModesThanCellsAreRefused) {
  std::mt19937_64 random(127);
  Case c;
  c.fine[0] = 8;
  c.modes[0] = 8;
  PrunedFftSpec spec = spec_of(c, random);
  spec.modes[0] = 9;
  EXPECT_THROW(make_pruned_fft<double>(spec, true), Error);
  spec.length[0] = 9;
  EXPECT_NO_THROW(make_pruned_fft<double>(spec, true));
  spec.length[0] = 7;  // fewer than the grid holds
  spec.modes[0] = 7;
  EXPECT_THROW(make_pruned_fft<double>(spec, true), Error);
  Case rows;
  rows.dim = 2;
  rows.fine = rows.modes = {8, 8, 1};
  rows.length = {10, 10, 0};
  spec = spec_of(rows, random);
  spec.modes[0] = 9;  // the grid's rows have no room
  EXPECT_THROW(make_pruned_fft<double>(spec, true), Error);
}

}  // namespace
}  // namespace fourtune::runtime::cpu
