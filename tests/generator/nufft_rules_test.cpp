// Properties of the nonuniform kernels other than their sums: layouts of records, the sort, defaults, and rules for
// parameters.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "fourtune/status.h"
#include "generator/plan/nufft/bins.h"
#include "generator/plan/nufft/rules.h"
#include "tests/generator/nufft_support.h"

namespace fourtune::generator::nufft::testing {
namespace {

TEST(NufftRecords, AreAsShortAsTheToleranceAllows) {
  const auto words = [](int dim, Precision precision, double tol, int cells, bool whole) {
    const RecordLayout layout = make_record_layout(
        dim, precision, position_unit(0.5 * tol, 2, dim),
        whole ? std::array{cells, dim > 1 ? cells : 0, dim > 2 ? cells : 0} : std::array{2, 2, 0}, whole, cells, 11);
    // Every bit is used, none twice, and the positions are as fine as requested.
    EXPECT_LE(dim * layout.fraction + layout.cell[0] + layout.cell[1] + layout.cell[2] + layout.group_bits,
              32 * layout.words);
    EXPECT_TRUE(layout.fraction == (precision == Precision::f32 ? 23 : 52) ||
                std::ldexp(1.0, -layout.fraction) <= position_unit(0.5 * tol, 2, dim));
    if (!whole) {
      EXPECT_GE(layout.low_bits + layout.stolen, 11);
    }
    EXPECT_LE(layout.stolen, kMostStolen);
    return layout.words;
  };
  EXPECT_EQ(words(3, Precision::f32, 1e-5, 9, false), 2);
  EXPECT_EQ(words(3, Precision::f32, 1e-5, 9, true), 3);
  EXPECT_EQ(words(3, Precision::f32, 1e-3, 8, true), 2);
  EXPECT_EQ(words(2, Precision::f32, 1e-5, 12, true), 2);
  EXPECT_EQ(words(2, Precision::f64, 1e-6, 11, true), 2);
  EXPECT_EQ(words(3, Precision::f64, 1e-6, 8, false), 3);
  EXPECT_EQ(words(3, Precision::f64, 1e-12, 8, false), 5);
  EXPECT_EQ(words(3, Precision::f64, 0, 10, true), 6);
  EXPECT_EQ(words(1, Precision::f32, 1e-4, 21, true), 2);
}

// A period is 2^24 or 2^53 steps of a coordinate in its second half, whatever the grid; the next larger unit loses
// some.
TEST(NufftRecords, ExactPointsKeepTheLastBitOfACoordinate) {
  EXPECT_EQ(exact_unit(Precision::f64, {1024, 64, 1}, 2), std::ldexp(1.0, 6 - 53));
  EXPECT_EQ(exact_unit(Precision::f64, {1024, 64, 1}, 1), std::ldexp(1.0, 10 - 53));
  EXPECT_EQ(exact_unit(Precision::f32, {32, 128, 40}, 3), std::ldexp(1.0, 5 - 24));
  EXPECT_EQ(
      make_record_layout(2, Precision::f64, exact_unit(Precision::f64, {64, 64, 1}, 2), {6, 6, 0}, true, 0, 0).words,
      4);  // 2 * (47 + 6) bits
}

TEST(NufftGroups, CoverEveryTransformOnceTheLargestFirst) {
  for (const int group : {1, 2, 4, 8, 16, 32})
    for (int transforms = 0; transforms < 70; ++transforms) {
      std::int64_t next = 0;
      int last = 64;
      for (const GroupRun& run : group_runs(transforms, group)) {
        EXPECT_EQ(run.first, next);
        EXPECT_LT(run.size, last);
        EXPECT_GT(run.count, 0);
        next += run.count * run.size, last = run.size;
      }
      EXPECT_EQ(next, transforms);
    }
}

// A point many turns away from the origin, on a fine grid of 2^28 cells: f32 coordinates count as exact numbers.
TEST(NufftSort, LocatesSinglePrecisionPointsOfLongGridsWithoutLosingDigits) {
  Case c = spreading("Long", 1, Precision::f32, 6, Spread::points);
  c.shape.fine = {std::int64_t{1} << 28, 1, 1};
  c.parameters.order = RecordOrder::caller;
  c.points = Points::uniform;
  const StageKernels kernels(c.shape, c.parameters, fit(window_of(6), 1e-8));
  const auto points = make_points(c);
  const std::int64_t m = c.count;
  GpuProgram program;
  for (const std::int64_t bytes : kernels.workspace_bytes(m)) program.workspace_bytes.push_back(bytes);
  program.workspace_bytes[kOffsets] = 64;  // not used without sorting and checking
  program.constants.push_back(packed_reals(points[0], Precision::f32));
  Arrays arrays;
  arrays.points = {BufferRef{BufferRef::Where::constant, 0, 0}, BufferRef{BufferRef::Where::constant, 0, 0},
                   BufferRef{BufferRef::Where::constant, 0, 0}};
  Parameters unchecked = c.parameters;
  unchecked.check = false;
  StageKernels(c.shape, unchecked, fit(window_of(6), 1e-8)).emit_sort(program, arrays, m, {}, 0);
  std::erase_if(program.launches, [](const Launch& l) { return l.arguments.size() == 3; });  // clears
  const Launch& place = program.launches.back();
  GpuProgram only{program.kernels, {place}, program.workspace_bytes, program.constants};
  only.launches[0].arguments[4] = BufferRef{BufferRef::Where::second, 0, 0};
  // 28 bits for the cell and 23 bits for the position in it need two words.
  std::vector<std::byte> none(16), records(static_cast<std::size_t>(m + 31) / 32 * 32 * 8);
  run_program(only, none, records);
  for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i) {
    std::uint64_t record;
    std::memcpy(&record, records.data() + i * 8, 8);
    const double z = (static_cast<double>(record & 0x7fffff) + 0.5) * 0x1p-22 - 1;
    const std::uint64_t cell = record >> 23;
    const long double turns = static_cast<long double>(points[0][i]) / (2 * std::numbers::pi_v<long double>);
    const long double u = (turns - std::floor(turns)) * 0x1p28L, first = std::ceil(u - 3);
    EXPECT_EQ(cell, static_cast<std::uint64_t>(static_cast<std::int64_t>(first) & ((1 << 28) - 1))) << points[0][i];
    EXPECT_NEAR(z, static_cast<double>(2 * (first - (u - 3)) - 1), 3e-7) << points[0][i];
  }
}

// Bins are computed by a product and a shift; coarse bins hold what one block can sort; few bins need one level.
TEST(NufftSort, CoarseBinsDivideTheBinsAndThePoints) {
  for (const int cells : {7, 40, 200, 512})
    for (const std::int64_t bin : {1, 3, 8})
      for (const std::int64_t m : {1ll, 5000ll, 1'000'000ll, 10'000'000ll, 130'000'000ll}) {
        if (cells == 512 && bin == 1) continue;  // too many bins
        Case c = spreading("Coarse", 3, Precision::f32, 6, Spread::window);
        c.shape.fine = {cells, cells + 2, cells};
        c.shape.unit = 1e-5, c.shape.whole_cells = false;
        c.parameters.bin = {static_cast<int>(bin), static_cast<int>(bin), 1};
        c.parameters.placement = Placement::two_level;
        const StageKernels kernels(c.shape, c.parameters, fit(window_of(6), 1e-8));
        GpuProgram program;
        kernels.emit_sort(program, {}, m, {}, 0);
        // Member `which` of parameter i, a struct.
        const auto number = [](const Launch& launch, std::size_t i, std::size_t which) {
          return std::get<std::int64_t>(std::get<ArgumentStruct>(launch.arguments[i]).members[which]);
        };
        const auto launch = [&](const std::string& name) {
          return std::find_if(program.launches.begin(), program.launches.end(), [&](const Launch& one) {
            return program.kernels[static_cast<std::size_t>(one.kernel)].entry.find(name) != std::string::npos;
          });
        };
        const Launch& counts = *launch("_coarse_count_");
        const std::int64_t coarse = number(counts, 2, 0), per = number(counts, 2, 1), all = kernels.bins().count();
        EXPECT_EQ(coarse, (all + per - 1) / per);
        for (std::int64_t one = 0; one < coarse; one += 1 + coarse / 100)
          for (const std::int64_t b : {one * per, std::min(one * per + per, all) - 1})
            EXPECT_EQ(static_cast<std::int64_t>(static_cast<std::uint64_t>(b) *
                                                    static_cast<std::uint64_t>(number(counts, 2, 2)) >>
                                                number(counts, 2, 3)),
                      one);
        const auto fine = launch("_fine_");
        EXPECT_EQ(fine == program.launches.end(), all <= 2048 || per == 1) << all;
        if (fine == program.launches.end()) {
          EXPECT_EQ(per, 1);
          continue;
        }
        const std::string& text = program.kernels[static_cast<std::size_t>(fine->kernel)].text;
        const double segment = std::stod(text.substr(text.find("NUFFT_SEGMENT ") + 14));
        EXPECT_LT(static_cast<double>(m) * static_cast<double>(per) / static_cast<double>(all), 0.96 * segment)
            << m << " points in " << all << " bins";
      }
}

// As few coarse bins as hold all points, for whole waves of blocks: each is nearly as full as uniform points allow.
TEST(NufftSort, CoarseBinsAreNearlyFull) {
  Shape shape;
  shape.fine = {512, 512, 512};
  Parameters with;
  with.bin = {10, 10, 1};
  with.placement = Placement::two_level;
  for (const std::int64_t m : {20'000'000, 30'000'000, 40'000'000}) {
    const SortLevels levels = Bins(shape, with).levels(m);
    ASSERT_TRUE(levels.possible && !levels.final);
    const double share = static_cast<double>(m) / static_cast<double>(levels.coarse * levels.segment);
    EXPECT_GT(share, 0.84) << m;
    EXPECT_LE(share, 0.9) << m;
    EXPECT_GT(levels.segment % 512 == 0 ? levels.segment : 0, 8192);
    EXPECT_LE(std::max({levels.place_bytes, levels.fine_bytes, levels.large_bytes}), shape.shared_bytes);
    EXPECT_GT(levels.large_bytes + 512 * 20, shape.shared_bytes - 2048) << "a block takes what it can";
  }
  // Few points in many bins: no more coarse bins than three for each multiprocessor, where columns are long enough that
  // the bits of a point's bin fit.
  shape.precision = Precision::f64, shape.fine = {192, 162, 192}, shape.whole_cells = false, shape.unit = 1e-5;
  with.bin = {2, 2, 1};
  const Bins many(shape, with);
  EXPECT_LE(many.levels(1'136'111).coarse, 3 * 132);
  EXPECT_EQ(many.levels(1'136'111).most_fine, 4096);
  EXPECT_LE(many.layout().stolen, kMostStolen);
  EXPECT_LE(many.levels(1'136'111).per, 4096);
  shape.fine = {192, 162, 16};
  EXPECT_EQ(Bins(shape, with).levels(1'136'111).most_fine, 2048) << "short columns have no bits to spare";
  // Fewer points than fill every multiprocessor twice: all blocks have work, none less than 2048 points.
  EXPECT_EQ(whole_waves(1, 10'000'000, 132), 132);
  EXPECT_EQ(whole_waves(133, 10'000'000, 132), 264);
  EXPECT_EQ(whole_waves(1, 100'000, 132), 49);
  EXPECT_EQ(whole_waves(60, 100'000, 132), 60);
}

// A block makes the offsets of whole groups where it lists their subproblems, of 2048 bins where it does not.
TEST(NufftSort, TilesOfOffsetsHaveWholeGroupsWhereSubproblemsAreListed) {
  Shape shape;
  shape.dim = 2;
  shape.fine = {129, 300, 1};
  Parameters with;
  with.order = RecordOrder::slide, with.bin = {1, 1, 1}, with.cap = 1000;
  const Bins columns(shape, with);
  EXPECT_EQ(columns.groups(), 129);
  EXPECT_TRUE(columns.lists_at_once());
  EXPECT_EQ(columns.tile_of_offsets(true, false), 2048);
  EXPECT_EQ(columns.tile_of_offsets(true, true), 6 * 300);
  EXPECT_EQ(columns.tile_of_offsets(false, true), 512 * 300);
  EXPECT_EQ(columns.state_bytes(100, true, true), 8 + 16 * 22);  // 129 groups by sixes
  EXPECT_EQ(columns.most_tasks(1'000'000), 129 + 1000);
  shape.fine[1] = 4096;
  EXPECT_EQ(Bins(shape, with).tile_of_offsets(true, true), 4096);
  EXPECT_TRUE(Bins(shape, with).lists_at_once());
  shape.fine[1] = 4097;
  EXPECT_FALSE(Bins(shape, with).lists_at_once()) << "one block would walk all bins of a column";
  with.order = RecordOrder::bins, with.slice = 100;
  const Bins cells(shape, with);
  EXPECT_EQ(cells.tile_of_offsets(true, true), 2048);
  EXPECT_EQ(cells.slices(100), 1);
  EXPECT_EQ(cells.slices(101), 2);
  EXPECT_EQ(cells.most_tasks(100), 100);
  EXPECT_EQ(cells.most_tasks(1'000'000'000), 1'000'000'000);
}

TEST(NufftSort, NamesTheFirstPointThatIsNotFinite) {
  Case c = spreading("Bad", 2, Precision::f32, 4, Spread::points);
  Prepared p = prepare(c);
  const float nan = std::nanf(""), infinite = std::numeric_limits<float>::infinity();
  std::memcpy(p.program.constants[1].data() + 4 * 77, &infinite, 4);
  std::memcpy(p.program.constants[0].data() + 4 * 31, &nan, 4);
  // Writes the status to the second array.
  for (Launch& launch : p.program.launches)
    for (LaunchArgument& argument : launch.arguments)
      for_each_pointer(argument, [](BufferRef& ref) {
        if (ref.where == BufferRef::Where::workspace && ref.index == kStatus) ref = {BufferRef::Where::second, 0, 0};
      });
  std::erase_if(p.program.launches, [](const Launch& l) { return l.stage == "spread"; });
  std::vector<std::byte> second(32);
  run_program(p.program, p.first, second);
  std::uint64_t bad;
  std::memcpy(&bad, second.data(), 8);
  EXPECT_EQ(bad, 31u);
}

TEST(NufftDefaults, FewPointsMakeSmallSubproblemsThatFillTheDevice) {
  Shape shape;
  shape.dim = 2;
  shape.fine = {128, 128, 1};
  const auto cap = [&](Spread family, double points) {
    return default_parameters(shape, family, points / (128 * 128)).cap;
  };
  for (const Spread family : {Spread::window, Spread::tile_owned}) {
    EXPECT_EQ(cap(family, 16384), 32);
    EXPECT_EQ(cap(family, 65536), 32);
    EXPECT_LE(cap(family, 200000), 128);
    EXPECT_GE(cap(family, 16e6), 256);
  }
  EXPECT_EQ(default_parameters(shape, Interpolate::tiled, 1).cap, 128) << "a point for each thread of a block";
}

TEST(NufftKernelRules, RefuseParametersThatCannotWork) {
  const Case good = spreading("Good", 3, Precision::f32, 6, Spread::window);
  const PiecewisePolynomial polynomial = fit(window_of(6), 1e-7);
  const auto refused = [&](auto change) {
    Case c = good;
    change(c);
    try {
      const StageKernels kernels(c.shape, c.parameters, polynomial);
      GpuProgram program;
      kernels.emit_spread(program, {}, 10, c.parameters.group, c.spread);
    } catch (const Error& error) {
      return error.status() == Status::invalid_plan;
    }
    return false;
  };
  EXPECT_FALSE(refused([](Case&) {}));
  EXPECT_TRUE(refused([](Case& c) { c.shape.fine[1] = 5; }));
  EXPECT_TRUE(refused([](Case& c) { c.shape.width = 5; }));
  EXPECT_TRUE(refused([](Case& c) { c.shape.width = 66; }));
  EXPECT_TRUE(refused([](Case& c) { c.parameters.bin[0] = 0; }));
  EXPECT_TRUE(refused([](Case& c) { c.parameters.bin[2] = 2; }));
  EXPECT_TRUE(refused([](Case& c) { c.parameters.order = RecordOrder::bins; }));
  EXPECT_TRUE(refused([](Case& c) { c.parameters.cap = 0; }));
  EXPECT_TRUE(refused([](Case& c) { c.parameters.run = 2; }));
  EXPECT_TRUE(refused([](Case& c) { c.parameters.deterministic = true; }));
  EXPECT_TRUE(refused([](Case& c) { c.parameters.split = 3; }));
  EXPECT_TRUE(refused([](Case& c) { c.parameters.group = 2; }));
  EXPECT_TRUE(refused([](Case& c) { c.spread = Spread::points, c.parameters.group = 3; }));
  EXPECT_TRUE(refused([](Case& c) { c.spread = Spread::points, c.parameters.group = 64; }));
  EXPECT_FALSE(refused([](Case& c) { c.spread = Spread::points, c.parameters.group = 32; }));
  EXPECT_TRUE(refused([](Case& c) { c.parameters.segment = 100; }));
  EXPECT_TRUE(refused([](Case& c) { c.parameters.warps = 0; }));
  EXPECT_TRUE(refused([](Case& c) { c.spread = Spread::points, c.parameters.lanes = 3; }));
  EXPECT_TRUE(refused([](Case& c) { c.shape.fine = {4096, 4096, 4096}; }));
  EXPECT_TRUE(refused([](Case& c) {
    c.spread = Spread::tile_owned, c.parameters.order = RecordOrder::bins, c.parameters.bin = {40, 40, 40};
  }));
}

// What no rule refuses has kernels that fit a block of the device, whatever the parameters.
TEST(NufftKernelRules, DecideAloneWhetherThereAreKernels) {
  std::mt19937 random(20261122);
  const auto pick = [&](auto... values) {
    const std::array list{values...};
    return list[random() % list.size()];
  };
  std::map<int, PiecewisePolynomial> polynomials;
  for (const int w : {2, 3, 6, 9, 12, 16}) polynomials[w] = fit(window_of(w), 1e-5);
  int kept = 0, broken = 0;
  for (int i = 0; i < 6000; ++i) {
    Shape shape;
    shape.dim = pick(1, 2, 3);
    shape.precision = pick(Precision::f32, Precision::f64);
    shape.width = pick(2, 3, 6, 9, 12, 16);
    shape.shared_bytes = pick(48, 64, 99, 163, 227) * 1024;
    shape.whole_cells = pick(true, true, false);
    shape.unit = pick(0.0, 1e-6, 1e-3);
    for (int d = 0; d < shape.dim; ++d) shape.fine[static_cast<std::size_t>(d)] = pick(16, 30, 81, 700);
    if (shape.dim < 3) shape.fine[0] = pick(16, 81, 700, 1 << 20);
    Parameters p;
    p.order = pick(RecordOrder::caller, RecordOrder::bins, RecordOrder::slide);
    p.bin = {pick(1, 2, 3, 10, 27), pick(1, 1, 2, 4, 9), pick(1, 1, 1, 2, 5)};
    p.cap = pick(32, 256, 4096);
    p.lanes = pick(1, 2, 4, 8, 16);
    p.warps = pick(1, 2, 4, 8, 16);
    p.unroll = pick(1, 2, 3);
    p.run = pick(1, 1, 2), p.split = pick(1, 1, 2), p.group = pick(1, 1, 2, 8, 16, 32);
    p.interleave = pick(true, false), p.fold = pick(true, false), p.deterministic = pick(false, false, true);
    p.placement = pick(Placement::scatter, Placement::fetch, Placement::staged, Placement::two_level);
    p.slice = pick(0, 0, 100, 1 << 20), p.segment = pick(0, 0, 512, 4096, 16384);
    const Spread spread = pick(Spread::points, Spread::tile_atomic, Spread::tile_owned, Spread::window, Spread::tf32x3);
    const Interpolate interp =
        pick(Interpolate::points, Interpolate::tiled, Interpolate::window, Interpolate::matrix, Interpolate::tf32x3);
    const std::int64_t m = pick(1, 1000, 3'000'000, 200'000'000);
    const auto agrees = [&](const std::string& rule, auto emit) {
      std::string said;
      try {
        GpuProgram program;
        emit(StageKernels(shape, p, polynomials[shape.width]), program);
        for (const KernelSource& kernel : program.kernels) EXPECT_LE(kernel.shared_bytes, shape.shared_bytes);
        for (const Launch& launch : program.launches)
          EXPECT_LE(launch.arguments.size(), 8u)
              << "parameters of " << program.kernels[static_cast<std::size_t>(launch.kernel)].entry;
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::invalid_plan) << error.what();
        said = error.what();
      }
      EXPECT_EQ(said, rule.empty() ? "" : "nufft kernels: " + rule);
      ++(rule.empty() ? kept : broken);
    };
    // The smaller groups at the end of a batch have kernels too, or are refused by a rule.
    const auto is_named = [&](auto emit) {
      try {
        GpuProgram program;
        emit(StageKernels(shape, p, polynomials[shape.width]), program);
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::invalid_plan) << error.what();
      }
    };
    is_named(
        [&](const StageKernels& k, GpuProgram& program) { k.emit_spread(program, {}, m, 2 * p.group - 1, spread); });
    is_named([&](const StageKernels& k, GpuProgram& program) {
      k.emit_interpolate(program, {}, m, 2 * p.group - 1, interp);
    });
    const auto first_of = [](const std::string& a, const std::string& b) { return a.empty() ? b : a; };
    const std::string all = broken_rule(shape, p);
    agrees(first_of(all, all.empty() ? broken_rule(shape, p, spread) : ""),
           [&](const StageKernels& k, GpuProgram& program) { k.emit_spread(program, {}, m, p.group, spread); });
    agrees(first_of(all, all.empty() ? broken_rule(shape, p, interp) : ""),
           [&](const StageKernels& k, GpuProgram& program) { k.emit_interpolate(program, {}, m, p.group, interp); });
    agrees(first_of(all, all.empty() ? broken_sort_rule(shape, p, m) : ""),
           [&](const StageKernels& k, GpuProgram& program) { k.emit_sort(program, {}, m, {}, k.large_bytes(m, m)); });
  }
  EXPECT_GT(kept, 4000);
  EXPECT_GT(broken, 4000);
}

}  // namespace
}  // namespace fourtune::generator::nufft::testing
