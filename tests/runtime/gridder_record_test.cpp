// Packed records: every field is recovered, they are as short as promised, and rounding of positions costs no more than
// allowed.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "fmt/format.h"
#include "fourtune/status.h"
#include "runtime/backends/cpu/gridder/record.h"
#include "runtime/backends/cpu/gridder/sort.h"
#include "runtime/backends/cpu/gridder/weights.h"
#include "tests/runtime/gridder_reference.h"
#include "tests/support/turns.h"

namespace fourtune::runtime::cpu {
namespace {

Tiling tiling_of(int dim, std::array<int, 3> tile, int width = 4) {
  return make_tiling(dim, {200, 180, 160}, width, tile, 16);
}

TEST(GridderRecord, LengthsFollowFromBits) {
  // Bits of 64 x 64 cells, two fractions and an index of 10^6 points: 6 + 6 + 2 f + 20.
  EXPECT_EQ(make_record_form(tiling_of(2, {64, 64, 1}), 16, 1000000, true).words, 2);
  EXPECT_EQ(make_record_form(tiling_of(2, {64, 64, 1}), 17, 1000000, true).words, 3);
  EXPECT_EQ(make_record_form(tiling_of(3, {32, 16, 16}), 52, 1000000, true).words, 6);
  EXPECT_EQ(make_record_form(tiling_of(1, {256, 1, 1}), 24, 1000000, false).words, 1);
  EXPECT_EQ(make_record_form(tiling_of(3, {256, 256, 256}), 52, (std::int64_t{1} << 40) - 1, true).words,
            kMaxRecordWords);
}

// The least sufficient number of bits: one bit less would be insufficient.
TEST(GridderRecord, FractionBitsAreTheLeastThatKeepTheError) {
  for (const int dim : {1, 2, 3}) {
    for (const double error : {1e-2, 1e-5, 3e-9, 1e-13}) {
      const int bits = fraction_bits(error, 1.5, dim);
      const double unit = std::sqrt(static_cast<double>(dim)) * std::numbers::pi / (6 * 1.5);
      EXPECT_LE(unit * std::ldexp(1.0, -bits), error);
      if (bits > 8) {
        EXPECT_GT(unit * std::ldexp(1.0, 1 - bits), error);
      }
    }
  }
  EXPECT_EQ(fraction_bits(1e-30, 2, 3), 52);
}

// Every point is recovered with its index, its cell and its fraction, for every form of record; tests both the vector
// kernels and the portable ones.
template <class T>
void round_trip(int dim, std::array<int, 3> tile, int fraction, const Points<T>& points, bool portable) {
  const Tiling tiling = tiling_of(dim, tile);
  const std::int64_t m = points.size();
  WeightTables<T> tables;
  const GridderKernels<T> kernels = portable ? portable_kernels<T>() : select_kernels<T>(tiling, tables);
  PointStore<T> store;
  store.set(m, {points.data(0, dim), points.data(1, dim), points.data(2, dim)}, radians(), tiling,
            {PointOrder::permuted, dim == 3, fraction, 2}, kernels);
  const RecordForm& form = store.form();
  std::vector<char> seen(m, 0);
  for (std::int64_t t = 0; t < tiling.tiles(); ++t) {
    const auto origin = tiling.origin(t);
    for (std::int64_t p = store.tile_start(t); p < store.tile_start(t + 1); ++p) {
      const std::uint32_t* record = store.record(p);
      const std::int64_t j = form.index(record);
      ASSERT_LT(j, m);
      ASSERT_EQ(seen[j], 0);
      seen[j] = 1;
      for (int d = 0; d < dim; ++d) {
        const PeriodAxis axis{0, kInverseTwoPi, kInverseTwoPiLow, static_cast<std::int32_t>(tiling.fine[d]),
                              tiling.width};
        std::int64_t cell = 0;
        double f = 0;
        ASSERT_TRUE(locate_one(points.c[d][j], axis, cell, f));
        const std::uint64_t below = form.field[d].of(record) & ((std::uint64_t{1} << form.fraction) - 1);
        const double position = static_cast<double>(origin[d] + form.cell(record, d)) -
                                std::ldexp(static_cast<double>(below) + 0.5, -form.fraction);
        // Half a unit by truncation, and up to half a unit of rounding where positions have more than 32 bits.
        double apart = std::abs(position - (static_cast<double>(cell) - f));
        apart = std::min(apart, static_cast<double>(tiling.fine[d]) - apart);
        const double units = fraction + std::bit_width(static_cast<unsigned>(tiling.fine[d])) <= 30 ? 0.51 : 1;
        EXPECT_LE(apart, std::ldexp(units, -form.fraction) + 1e-13) << dim << "D, " << fraction << " bits";
      }
    }
  }
}
TEST(GridderRecord, EveryFieldComesBackFromEveryForm) {
  for (const bool portable : {false, true}) {
    for (const int fraction : {8, 13, 16, 20, 21, 24, 29, 33, 40, 44, 47, 52}) {
      for (const std::int64_t m : {1, 100, 3000}) {
        const Kind kind = m > 100 ? Kind::far : Kind::interior;
        const auto doubles = make_points<double>(kind, 3, m, 0, 5);
        const auto floats = make_points<float>(kind, 3, m, 0, 5);
        round_trip<double>(1, {200, 1, 1}, fraction, doubles, portable);
        round_trip<double>(2, {64, 17, 1}, fraction, doubles, portable);
        round_trip<double>(3, {32, 8, 16}, fraction, doubles, portable);
        round_trip<float>(2, {64, 64, 1}, std::min(fraction, 24), floats, portable);
        round_trip<float>(3, {7, 16, 1}, std::min(fraction, 24), floats, portable);
      }
    }
  }
}

// However many threads group points, and whether all that was located is kept, a part in the lent memory, or nothing.
TEST(GridderRecord, NeitherThreadsNorLentMemoryChangeTheGroupedRecords) {
  const Tiling tiling = tiling_of(3, {32, 8, 16});
  const WeightTables<double> tables;
  const GridderKernels<double> kernels = select_kernels<double>(tiling, tables);
  for (const auto& [m, fraction] : {std::pair{5000, 30}, {9000, 18}, {70000, 30}, {70000, 18}, {200001, 30}}) {
    const auto points = make_points<double>(Kind::far, 3, m, 0, 5);
    for (const PointOrder order : {PointOrder::permuted, PointOrder::indexed}) {
      if (!test::next_has_turn_under_sanitizers()) continue;
      std::vector<std::uint32_t> first;
      for (const int threads : {1, 2, 3}) {
        for (const std::int64_t lent_bytes :
             {std::int64_t{0}, std::int64_t{1000}, 11 * std::int64_t{m}, 40 * std::int64_t{m}}) {
          Buffer<std::byte> lent(lent_bytes);
          std::fill_n(lent.data(), lent_bytes, std::byte{0xa5});
          PointStore<double> store;
          store.set(m, {points.data(0, 3), points.data(1, 3), points.data(2, 3)}, radians(), tiling,
                    {order, true, fraction, threads, lent.memory()}, kernels);
          std::vector<std::uint32_t> records(store.record(0), store.record(m));
          for (std::int64_t j = 0; j < m && order == PointOrder::indexed; ++j)
            records.push_back(static_cast<std::uint32_t>(store.indexed(j)));
          if (first.empty()) first = records;
          EXPECT_EQ(records, first) << m << " points, " << threads << " threads, " << lent_bytes << " bytes lent";
          const bool used =
              std::any_of(lent.data(), lent.data() + lent_bytes, [](std::byte b) { return b != std::byte{0xa5}; });
          EXPECT_EQ(used, lent_bytes >= 40 * m || (lent_bytes >= 11 * m && m > 65536));
        }
      }
    }
  }
}

// Points are located in 8 or 16 lanes, and the last ones of a chunk by vectors that are not full. A number that is not
// finite is refused in each of them, and its neighbours are where they are without it; so are those of points far away.
template <class T>
void expect_lanes_apart(int fraction) {
  const Tiling tiling = tiling_of(3, {32, 8, 16});
  const WeightTables<T> tables;
  const GridderKernels<T> kernels = select_kernels<T>(tiling, tables);
  const std::int64_t m = kChunk + 29;
  const auto points = make_points<T>(Kind::interior, 3, m, 0, 5);
  const auto records_of = [&](const Points<T>& p) {
    PointStore<T> store;
    store.set(m, {p.data(0, 3), p.data(1, 3), p.data(2, 3)}, radians(), tiling,
              {PointOrder::caller, false, fraction, 1}, kernels);
    return std::vector<std::uint32_t>(store.record(0), store.record(m));
  };
  const auto plain = records_of(points);
  const std::int64_t words = std::ssize(plain) / m;
  for (const std::int64_t at : {0, 7, 8, 15, 16, 31, kChunk - 1, kChunk, kChunk + 15, kChunk + 16, kChunk + 28}) {
    for (int d = 0; d < 3; ++d) {
      auto moved = points;
      for (const T bad : {std::numeric_limits<T>::quiet_NaN(), -std::numeric_limits<T>::quiet_NaN(),
                          std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity()}) {
        moved.c[d][at] = bad;
        try {
          records_of(moved);
          ADD_FAILURE() << "point " << at << " was taken";
        } catch (const Error& error) {
          EXPECT_EQ(error.status(), Status::invalid_point);
          EXPECT_NE(std::string(error.what()).find(fmt::format("point {}: coordinate {}", at, "xyz"[d])),
                    std::string::npos)
              << error.what();
        }
      }
      for (const T far : {T(7), T(-7), T(40), T(-1e9), std::numeric_limits<T>::max()}) {
        moved.c[d][at] = far;
        auto others = records_of(moved);
        std::copy_n(plain.begin() + at * words, words, others.begin() + at * words);
        EXPECT_EQ(others, plain) << far << " at " << at;
      }
    }
  }
}
TEST(GridderRecord, LanesDoNotDependOnEachOther) {
  for (const int fraction : {12, 24, 44}) {
    expect_lanes_apart<double>(fraction);
    expect_lanes_apart<float>(std::min(fraction, 24));
  }
}

// A tile's points keep the caller's order until there are enough of them to be grouped within the tile, twice as many
// where they are spread.
TEST(GridderRecord, FewPointsOfATileAreGroupedWithinItToInterpolateOnly) {
  const Tiling tiling = make_tiling(3, {32, 16, 16}, 4, {32, 16, 16}, 16);
  const WeightTables<double> tables;
  const GridderKernels<double> kernels = select_kernels<double>(tiling, tables);
  const auto least = [&](bool to_spread) {
    for (std::int64_t m = tiling.bins; m < 400 * tiling.bins; m += tiling.bins) {
      const auto points = make_points<double>(Kind::interior, 3, m, 0, 5);
      PointStore<double> store;
      store.set(m, {points.data(0, 3), points.data(1, 3), points.data(2, 3)}, radians(), tiling,
                {PointOrder::permuted, true, 16, 1, {}, to_spread}, kernels);
      for (std::int64_t j = 0; j < m; ++j)
        if (store.form().index(store.record(j)) != j) return m;
    }
    return std::int64_t{0};
  };
  EXPECT_GT(least(false), 0);
  EXPECT_EQ(least(true), 2 * least(false));
}

// Raw points are located where they are used, and come back in the caller's order.
template <class T>
void raw_round_trip(int fraction, const Points<T>& points, bool portable, int threads) {
  const Tiling tiling = tiling_of(1, {64, 1, 1});
  const std::int64_t m = points.size();
  WeightTables<T> tables;
  const GridderKernels<T> kernels = portable ? portable_kernels<T>() : select_kernels<T>(tiling, tables);
  PointStore<T> store;
  store.set(m, {points.data(0, 1), nullptr, nullptr}, radians(), tiling, {PointOrder::raw, false, fraction, threads},
            kernels);
  ASSERT_EQ(store.form().words, 2);
  Located chunk;
  for (std::int64_t first = 0; first < m; first += 50) {
    const int n = static_cast<int>(std::min<std::int64_t>(50, m - first));
    store.locate_raw(first, n, chunk);
    for (int i = 0; i < n; ++i) {
      const PeriodAxis axis{0, kInverseTwoPi, kInverseTwoPiLow, static_cast<std::int32_t>(tiling.fine[0]),
                            tiling.width};
      std::int64_t cell = 0;
      double f = 0;
      ASSERT_TRUE(locate_one(points.c[0][first + i], axis, cell, f));
      const auto* record = reinterpret_cast<const std::uint32_t*>(&chunk.word[0][i]);
      const std::uint64_t below = store.form().field[0].of(record) & ((std::uint64_t{1} << store.form().fraction) - 1);
      const std::int64_t at = std::int64_t{chunk.key[i]} * tiling.tile[0] + store.form().cell(record, 0);
      const double position =
          static_cast<double>(at) - std::ldexp(static_cast<double>(below) + 0.5, -store.form().fraction);
      double apart = std::abs(position - (static_cast<double>(cell) - f));
      apart = std::min(apart, static_cast<double>(tiling.fine[0]) - apart);
      EXPECT_LE(apart, std::ldexp(1.0, -store.form().fraction) + 1e-13) << first + i << " of " << m;
    }
  }
}
TEST(GridderRecord, RawPointsAreLocatedInTheCallersOrder) {
  for (const bool portable : {false, true})
    for (const int fraction : {9, 24, 40, 47})
      for (const std::int64_t m : {1, 63, 200000}) {
        raw_round_trip<double>(fraction, make_points<double>(Kind::far, 1, m, 0, 5), portable, 3);
        raw_round_trip<float>(std::min(fraction, 24), make_points<float>(Kind::far, 1, m, 0, 5), portable, 3);
      }
}
// A number that is not finite is named, wherever it lies; so is one that another map than radians makes overflow.
TEST(GridderRecord, RawPointsThatCannotBeLocatedAreNamed) {
  const Tiling tiling = tiling_of(1, {64, 1, 1});
  WeightTables<double> tables;
  const auto refused = [&](std::int64_t at, double x, const PointMap& map) {
    auto points = make_points<double>(Kind::interior, 1, 150000, 0, 5);
    points.c[0][at] = x;
    PointStore<double> store;
    try {
      store.set(points.size(), {points.data(0, 1), nullptr, nullptr}, map, tiling, {PointOrder::raw, false, 24, 3},
                select_kernels<double>(tiling, tables));
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_point);
      EXPECT_NE(std::string(error.what()).find(fmt::format("point {}:", at)), std::string::npos) << error.what();
      return true;
    }
    return false;
  };
  for (const std::int64_t at : {0, 299, 149999}) {
    EXPECT_TRUE(refused(at, std::numeric_limits<double>::quiet_NaN(), radians()));
    EXPECT_TRUE(refused(at, -std::numeric_limits<double>::infinity(), radians()));
    EXPECT_FALSE(refused(at, std::numeric_limits<double>::max(), radians()));
    EXPECT_TRUE(refused(at, std::numeric_limits<double>::max(), {{0, 0, 0}, {11, 0, 0}}));
  }
}

// Points within a period, within a few and far beyond, next to each other; also on cells and at the ends of a period.
template <class T>
Points<T> points_of_any_turn() {
  Points<T> all = make_points<T>(Kind::interior, 3, 500, 0, 1);
  for (const Kind kind : {Kind::wrapping, Kind::on_cells, Kind::at_pi, Kind::far}) {
    const auto some = make_points<T>(kind, 3, 500, 200, 2);
    for (int d = 0; d < 3; ++d) all.c[d].insert(all.c[d].end(), some.c[d].begin(), some.c[d].end());
  }
  const auto turns = make_points<T>(Kind::interior, 3, 500, 0, 3);
  for (int d = 0; d < 3; ++d) {
    for (const T x : turns.c[d]) all.c[d].push_back(8 * x);
    std::shuffle(all.c[d].begin(), all.c[d].end(), std::mt19937_64(4 + d));
  }
  return all;
}
TEST(GridderRecord, PointsOfAnyTurnKeepTheirDigits) {
  const auto doubles = points_of_any_turn<double>();
  const auto floats = points_of_any_turn<float>();
  for (const bool portable : {false, true}) {
    for (const int fraction : {9, 24, 36, 45}) {
      for (const int tile : {64, 60}) {  // fixed point, and error-free products
        round_trip<double>(1, {tile, 1, 1}, fraction, doubles, portable);
        round_trip<double>(3, {tile, 16, 8}, fraction, doubles, portable);
        round_trip<float>(2, {tile, 16, 1}, std::min(fraction, 24), floats, portable);
        round_trip<float>(3, {tile, 16, 8}, std::min(fraction, 24), floats, portable);
      }
    }
  }
}

// `local`: the points of a tile are sorted by x-bin, where windows are a few planes wide too; otherwise they are in the
// caller's order. With `same_order` that is so whatever the number of threads, else for the points of each thread,
// which follow those of the thread before.
template <class T>
void check_inner_order(std::array<int, 3> tile, int width, int planes, bool portable) {
  SCOPED_TRACE(fmt::format("tile {}x{}x{} width {} bytes {} portable {}", tile[0], tile[1], tile[2], width, sizeof(T),
                           portable));
  const Tiling tiling = make_tiling(3, {32, 30, 34}, width, tile, 2 * sizeof(T));
  constexpr std::int64_t m = 40000;
  const auto points = make_points<T>(Kind::interior, 3, m, 0, 5);
  WeightTables<T> tables;
  const GridderKernels<T> kernels = portable ? portable_kernels<T>() : select_kernels<T>(tiling, tables);
  std::vector<std::int64_t> order[2];
  for (const bool same_order : {true, false}) {
    for (const int threads : {1, 3}) {
      PointStore<T> store;
      store.set(m, {points.data(0, 3), points.data(1, 3), points.data(2, 3)}, radians(), tiling,
                {PointOrder::permuted, true, 16, threads, {}, false, same_order}, kernels);
      std::vector<std::int64_t> all(m);
      for (std::int64_t t = 0; t < tiling.tiles(); ++t) {
        std::array<std::int64_t, 3> before{-1, -1, -1};
        int parts = 1;
        std::int64_t earlier = -1, most = -1;  // the largest index of the parts before this one, and of all parts
        for (std::int64_t p = store.tile_start(t); p < store.tile_start(t + 1); ++p) {
          const std::uint32_t* record = store.record(p);
          const std::array<std::int64_t, 3> now{store.form().cell(record, 0) / tiling.bin,
                                                store.form().cell(record, 2) / planes, store.form().index(record)};
          if (now < before) ++parts, earlier = most;
          ASSERT_GT(now[2], earlier);
          most = std::max(most, now[2]);
          before = now;
          all[p] = now[2];
        }
        ASSERT_LE(parts, same_order ? 1 : threads);
      }
      if (same_order) order[threads > 1] = all;
    }
  }
  EXPECT_EQ(order[0], order[1]);
}
TEST(GridderRecord, PointsOfATileComeByBins) {
  for (const bool portable : {false, true}) {
    for (const int x : {16, 12}) {  // fixed point, and error-free products
      check_inner_order<float>({x, 8, 16}, 6, 16, portable);
      check_inner_order<double>({x, 8, 16}, 5, 16, portable);
      check_inner_order<double>({x, 8, 16}, 9, 8, portable);
      check_inner_order<double>({x, 8, 16}, 12, 16, portable);  // processed slab by slab
    }
  }
}

// Among near points, one is millions of periods away: plain products would lose its digits.
TEST(GridderRecord, FarPointsAmongNearOnesKeepTheirDigits) {
  GridderSpec spec = make_spec(2, {64, 60, 1}, 7, 16);
  spec.accuracy = 1e-7;
  auto points = make_points<double>(Kind::interior, 2, 1000, 0, 3);
  for (std::int64_t j = 5; j < points.size(); j += 97) points.c[j % 2][j] = 3e10 + 0.1 * static_cast<double>(j);
  const auto cells = random_values<double>(spec.grid.elements, 9);
  const Reference<double> reference(spec, points);
  auto gridder = make_gridder<double>(spec);
  gridder->set_points(points.size(), points.data(0, 2), points.data(1, 2), nullptr, radians());
  std::vector<std::complex<double>> out(points.size());
  gridder->interpolate(cells.data(), 0, nullptr, out.data(), 0, 1);
  EXPECT_LT(relative_error(out.data(), reference.interpolate(cells.data(), nullptr)), 4e-6);
}

// Exact points differ where their coordinates do, whatever the tolerance: all steps of the second half of a period.
template <class T>
void check_exact(int dim, std::array<std::int64_t, 3> fine, int bits) {
  GridderSpec spec = make_spec(dim, fine, 4, 16);
  spec.accuracy = 1e-2;
  EXPECT_LT(position_bits<T>(spec), bits);
  spec.exact_points = true;
  EXPECT_EQ(position_bits<T>(spec), bits);
  spec.accuracy = 1e-30;  // the tolerance may ask for more
  EXPECT_GE(position_bits<T>(spec), bits);
}
TEST(GridderRecord, ExactPointsKeepTheLastBitOfACoordinate) {
  check_exact<double>(1, {128, 1, 1}, 53 - 7);
  check_exact<double>(2, {127, 1000, 1}, 53 - 6);
  check_exact<double>(3, {1000, 300, 100}, 53 - 6);
  check_exact<float>(2, {64, 100, 1}, 24 - 6);
}

// At every tolerance, and so on both sides of every length of a record, the gridder meets the error of its window. The
// data are modes with the frequencies that a transform keeps, at random phases.
TEST(GridderRecord, RoundedPositionsStayBelowTheWindowsError) {
  for (int width = 2; width <= 14; ++width) {
    GridderSpec spec = make_spec(1, {128, 1, 1}, width, 16);
    spec.window.kind = WindowKind::kaiser_bessel;
    spec.sort.tile = {32, 1, 1};
    spec.accuracy = 0;  // derived from the window, as transforms do
    const int bits = position_bits<double>(spec);
    const double promised = generator::predicted_error(spec.window.kind, width, spec.window.sigma, 1);
    const double unit = std::numbers::pi / (6 * spec.window.sigma);
    EXPECT_LE(unit * std::ldexp(1.0, -bits),
              std::max(0.4 * promised, 4 * 0.25 * std::numeric_limits<double>::epsilon()))
        << "width " << width;
    const auto points = make_points<double>(Kind::interior, 1, 2000, 0, 3);
    // Modes up to a quarter of the grid (oversampling 2), computed exactly at the cells.
    std::vector<std::complex<double>> grid(spec.grid.elements), exact(points.size()), got(points.size());
    auto fine_spec = spec;
    fine_spec.accuracy = 1e-16;
    const auto coefficients = random_values<double>(64, 11);
    for (std::int64_t i = 0; i < 128; ++i) {
      for (int k = -32; k < 32; ++k) {
        grid[i] += coefficients[k + 32] * std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(k * i) / 128);
      }
    }
    for (const bool rounded : {false, true}) {
      auto gridder = make_gridder<double>(rounded ? spec : fine_spec);
      gridder->set_points(points.size(), points.data(0, 1), nullptr, nullptr, radians());
      gridder->interpolate(grid.data(), 0, nullptr, (rounded ? got : exact).data(), 0, 1);
    }
    EXPECT_LT(relative_error(got.data(), exact), std::max(0.6 * promised, 1e-14)) << "width " << width;
  }
}

}  // namespace
}  // namespace fourtune::runtime::cpu
