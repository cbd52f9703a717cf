// Compares sort, spreading and interpolation kernels on the emulated backend with direct sums.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fourtune/status.h"
#include "tests/generator/nufft_support.h"

namespace fourtune::generator::nufft::testing {
namespace {

constexpr Precision kF32 = Precision::f32, kF64 = Precision::f64;

// Every family with a few widths, in every dimension.
void add_families(std::vector<Case>& cases) {
  for (const int dim : {1, 2, 3}) {
    cases.push_back(spreading("Points", dim, kF32, 4 + dim, Spread::points));
    cases.push_back(spreading("Points", dim, kF64, 11 - dim, Spread::points));
    cases.push_back(spreading("TileAtomic", dim, dim == 2 ? kF64 : kF32, 6, Spread::tile_atomic));
    cases.push_back(spreading("TileOwned", dim, kF32, 5 + dim, Spread::tile_owned));
    cases.push_back(spreading("TileOwned", dim, kF64, 8, Spread::tile_owned));
    cases.push_back(spreading("Window", dim, kF32, 6, Spread::window));
    cases.push_back(spreading("Window", dim, kF32, 2 + dim, Spread::window));
    cases.push_back(spreading("Window", dim, kF64, 13, Spread::window));
    cases.push_back(spreading("Window", dim, kF64, 8, Spread::window));
    cases.push_back(interpolating("InterpolatePoints", dim, kF32, 3 + dim, Interpolate::points));
    cases.push_back(interpolating("InterpolatePoints", dim, kF64, 9 + dim, Interpolate::points));
    cases.push_back(interpolating("InterpolateTiled", dim, kF32, 6, Interpolate::tiled));
    cases.push_back(interpolating("InterpolateTiled", dim, kF64, 7, Interpolate::tiled));
  }
  for (const int dim : {1, 2, 3}) {
    cases.push_back(interpolating("InterpolateWindow", dim, kF32, 6, Interpolate::window));
    cases.push_back(interpolating("InterpolateWindow", dim, kF64, dim == 3 ? 13 : 7, Interpolate::window));
  }
}

// Matrix units, with tiles of their sizes and of others.
void add_matrices(std::vector<Case>& cases) {
  for (const int width : {2, 3, 6, 7, 10, 13, 16})
    for (const Precision precision : {kF32, kF64}) {
      Case matrix = interpolating("InterpolateMatrix", 2, precision, width, Interpolate::matrix);
      cases.push_back(matrix);
      matrix.parameters.bin = {width % 3 + 2, width % 2 + 1, 1};  // tiles that are not multiples of four
      matrix.parameters.warps = width % 2 + 2;
      matrix.points = width % 2 == 0 ? Points::edges : Points::clustered;
      cases.push_back(matrix);
      matrix.points = width == 6 ? Points::none : Points::one;
      matrix.shape.fine = {std::max(8, width), std::max(5, width), 1};  // not larger than a tile
      cases.push_back(matrix);
    }
  for (const int width : {2, 3, 6, 8, 9, 13})
    for (const Precision precision : {kF32, kF64}) {
      Case planes = interpolating("InterpolateMatrix", 3, precision, width, Interpolate::matrix);
      planes.count = 300;
      cases.push_back(planes);
      planes.parameters.bin = {width % 3 + 1, width % 2 + 2, 1};
      planes.parameters.warps = width % 2 + 1;
      planes.parameters.unroll = 1;
      planes.parameters.placement = Placement::two_level;
      planes.points = width % 2 == 0 ? Points::edges : Points::clustered;
      cases.push_back(planes);
      planes.points = width == 6 ? Points::none : Points::one;
      planes.shape.fine = {std::max(8, width), std::max(5, width), std::max(3, width)};
      cases.push_back(planes);
    }
}

// Matrix units in single precision, with the largest bins and smaller ones, and tiles of an odd number of rows.
void add_tf32(std::vector<Case>& cases) {
  for (const int width : {2, 4, 5, 6, 7})
    for (const bool spreads : {true, false}) {
      Case one = spreads ? spreading("SpreadTf32", 3, kF32, width, Spread::tf32x3)
                         : interpolating("InterpolateTf32", 3, kF32, width, Interpolate::tf32x3);
      one.count = 120;
      cases.push_back(one);
      one.parameters.bin = {1, std::max(1, 8 - width), 1};
      one.parameters.cap = 32;
      one.parameters.placement = Placement::two_level;
      one.points = width % 2 == 0 ? Points::edges : Points::clustered;
      cases.push_back(one);
      one.points = width == 6 ? Points::none : Points::one;
      one.shape.fine = {8, 8, 8};  // not larger than a tile
      cases.push_back(one);
      one.points = Points::uniform;  // long gaps between planes, and many points of one
      one.shape.fine = {9, 10, width % 2 == 0 ? 8 : 60};
      one.transforms = 2;
      one.count = 40;
      cases.push_back(one);
    }
}

// Pairs of cells, and the least and largest widths.
void add_widths(std::vector<Case>& cases) {
  for (const int width : {2, 5, 6, 13})
    for (const int dim : {2, 3})
      for (const Spread family : {Spread::points, Spread::window}) {
        Case c = spreading("Pairs" + std::to_string(static_cast<int>(family)), dim, kF32, width, family);
        c.shape.fine[0] = dim == 2 ? 46 : 18;
        c.parameters.run = 2;
        if (family == Spread::window) c.parameters.bin[0] = 4;
        c.parameters.split = 1;
        if (width == 5) c.points = Points::edges;
        cases.push_back(c);
      }
  for (const int width : {2, 16}) {
    cases.push_back(spreading("Window", 3, kF32, width, Spread::window));
    cases.push_back(spreading("Points", 3, kF32, width, Spread::points));
    cases.push_back(spreading("TileOwned", 2, kF64, width, Spread::tile_owned));
    cases.push_back(interpolating("InterpolateTiled", 2, kF64, width, Interpolate::tiled));
  }
  for (const int dim : {1, 2, 3})  // the Gaussian windows of type 3
    for (const int width : {17, 65}) {
      if (dim == 3 && width == 65) continue;
      for (const Precision precision : {kF32, kF64}) {
        Case wide = spreading("WidePoints", dim, precision, width, Spread::points);
        Case also = interpolating("WideInterpolate", dim, precision, width, Interpolate::points);
        for (Case* one : {&wide, &also}) {
          one->count = 40;
          if (dim == 2) one->shape.fine = {67, 66, 1};
          cases.push_back(*one);
        }
      }
    }
}

// Threads per point, and windows that several warps share.
void add_threads(std::vector<Case>& cases) {
  Case c = spreading("PointsOneThreadEach", 3, kF32, 6, Spread::points);
  c.parameters.lanes = 1;
  cases.push_back(c);
  c.name = "PointsFetchedThroughTheIndex";
  c.parameters.placement = Placement::fetch;
  cases.push_back(c);
  c.name = "PointsStaged";
  c.parameters.placement = Placement::staged;
  cases.push_back(c);
  c.name = "PointsInTheCallersOrder";
  c.parameters.order = RecordOrder::caller;
  cases.push_back(c);
  for (const int dim : {1, 2, 3})
    for (const Interpolate family : {Interpolate::points, Interpolate::tiled}) {
      c = interpolating("InterpolateOneThreadEach" + std::to_string(static_cast<int>(family)), dim,
                        dim == 1 ? kF64 : kF32, 5 + dim, family);
      c.parameters.lanes = 1;
      cases.push_back(c);
    }
  for (const int width : {2, 6, 7, 13})
    for (const int dim : {2, 3}) {
      c = spreading("WindowSplit", dim, width == 7 ? kF64 : kF32, width, Spread::window);
      c.parameters.split = 2;
      c.parameters.warps = 1;
      if (width < 13) c.parameters.bin[0] = 5;
      if (dim == 3) c.parameters.bin[1] = 3;
      if (width == 13) c.points = Points::edges;
      c.parameters.placement = Placement::two_level;
      cases.push_back(c);
      c.name = "Folded" + c.name;
      c.parameters.fold = true;
      c.parameters.split = width % 2 + 1;
      cases.push_back(c);
    }
}

// Kinds of points.
void add_points(std::vector<Case>& cases) {
  Case c;
  for (const Points points : {Points::clustered, Points::edges, Points::one, Points::none}) {
    const std::string name = points == Points::clustered ? "Clustered"
                             : points == Points::edges   ? "Edges"
                             : points == Points::one     ? "One"
                                                         : "None";
    for (const int dim : {1, 2, 3}) {
      for (const Spread family : {Spread::points, Spread::tile_owned, Spread::window}) {
        c = spreading(name + std::to_string(static_cast<int>(family)) + "Spread", dim, kF32, 5, family);
        c.points = points;
        cases.push_back(c);
      }
      c = interpolating(name + "Windows", dim, kF32, 5, Interpolate::window);
      c.points = points;
      cases.push_back(c);
      c = interpolating(name + "Tiled", dim, kF64, 5, Interpolate::tiled);
      c.points = points;
      cases.push_back(c);
    }
  }
}

// Sorts in one level and in two.
void add_sorts(std::vector<Case>& cases) {
  Case c;
  for (const int dim : {1, 2, 3})
    for (const Precision precision : {kF32, kF64})
      for (const Points points : {Points::uniform, Points::clustered, Points::edges, Points::one, Points::none}) {
        c = spreading("TwoLevels" + std::to_string(static_cast<int>(points)), dim, precision, 4 + dim,
                      dim == 1 ? Spread::tile_owned : Spread::window);
        c.parameters.placement = Placement::two_level;
        c.parameters.segment = 512;
        c.points = points;
        c.count = points == Points::clustered || points == Points::edges ? 1500 : 700;
        cases.push_back(c);
      }
  for (const int dim : {1, 2, 3})  // few bins: one level, even for two_level
    for (const Points points : {Points::uniform, Points::clustered, Points::one}) {
      c = spreading("FewBins" + std::to_string(static_cast<int>(points)), dim, dim == 2 ? kF64 : kF32, 5,
                    dim == 1 ? Spread::tile_owned : Spread::window);
      c.parameters.placement = Placement::two_level;
      c.points = points;
      c.count = 2100;
      cases.push_back(c);
    }
  for (const int dim : {1, 2, 3}) cases.push_back(batches(dim));
  c = spreading("TwoLevelsManyBlocks", 1, kF32, 4, Spread::tile_owned);  // of both levels, and some large coarse bins
  c.parameters.placement = Placement::two_level;
  c.parameters.segment = 512;
  c.parameters.bin = {1, 1, 1};
  c.parameters.cap = 500;
  c.shape.fine = {9000, 1, 1};
  c.count = 17000;
  cases.push_back(c);
}

// Slices of crowded bins, and counts beyond 32 bits.
void add_slices(std::vector<Case>& cases) {
  for (const Placement placement : {Placement::scatter, Placement::fetch, Placement::staged, Placement::two_level})
    for (const int dim : {2, 3}) {
      const std::string name = "Slices" + std::to_string(static_cast<int>(placement));
      Case reads = interpolating(name + "Tiled", dim, dim == 2 ? kF32 : kF64, 5, Interpolate::tiled);
      Case windows = interpolating(name + "Windows", dim, dim == 2 ? kF64 : kF32, 5, Interpolate::window);
      Case spreads = spreading(name + "Spread", dim, kF32, 4, dim == 2 ? Spread::tile_owned : Spread::window);
      Case clustered = spreading(name + "Clustered", dim, kF64, 4, Spread::tile_owned);
      clustered.points = Points::clustered;
      clustered.parameters.deterministic = dim == 3;
      clustered.parameters.segment = 512;
      clustered.count = 1900;
      for (Case* one : {&reads, &windows, &spreads, &clustered}) {
        one->parameters.placement = placement;
        one->parameters.slice = one == &clustered ? 900 : dim == 2 ? 64 : 100;  // the last smaller, or as large
        cases.push_back(*one);
      }
    }
  Case c = interpolating("PointsLargeCounts", 2, kF32, 5, Interpolate::points);
  c.shape.large_counts = true;
  c.parameters.placement = Placement::two_level;
  cases.push_back(c);
  c = spreading("TileLargeCounts", 2, kF32, 5, Spread::tile_owned);
  c.shape.large_counts = true;
  c.parameters.placement = Placement::staged;
  cases.push_back(c);
  c = spreading("TwoLevelsLargeCounts", 3, kF64, 5, Spread::window);
  c.shape.large_counts = true;
  c.parameters.placement = Placement::two_level;
  cases.push_back(c);
}

// Tiles of register windows, sparse and dense ones, several transforms.
void add_windows(std::vector<Case>& cases) {
  Case c;
  for (const int width : {5, 8, 9, 10, 11}) {  // every tile that a default may choose
    c = spreading("", 3, width == 5 ? kF32 : kF64, width, Spread::window);
    c.shape.fine[0] += c.shape.fine[0] % 2;
    const std::string name = c.name;
    for (const Parameters& with : window_tiles(c.shape, 0.25)) {
      c.name = fmt::format("WindowTile{}x{}", with.bin[0], with.bin[1]) + name;
      c.parameters = with;
      c.parameters.cap = 40;
      cases.push_back(c);
    }
  }
  c = spreading("WindowSparse", 3, kF32, 6, Spread::window);
  c.shape.fine = {20, 18, 90};  // long empty ranges along the columns
  c.count = 12;
  c.parameters.cap = 1000;
  cases.push_back(c);
  c = spreading("WindowDense", 3, kF32, 6, Spread::window);
  c.count = 1500;
  c.parameters.cap = 300;
  cases.push_back(c);
  c = spreading("WindowSharedByWarps", 3, kF32, 6, Spread::window);
  c.parameters.warps = 3;
  c.parameters.bin = {5, 4, 1};
  c.parameters.unroll = 2;
  cases.push_back(c);
  c = spreading("WindowManyTransforms", 2, kF32, 6, Spread::window);
  c.transforms = 3;
  cases.push_back(c);
  c = interpolating("InterpolateManyTransforms", 2, kF32, 6, Interpolate::tiled);
  c.transforms = 3;
  cases.push_back(c);
  c = spreading("ManyBins", 2, kF32, 4, Spread::tile_owned);  // more than one block sums up
  c.shape.fine = {150, 130, 1};
  c.parameters.bin = {1, 1, 1};
  cases.push_back(c);
  c = interpolating("ManyBinsOfFewPoints", 1, kF32, 4, Interpolate::tiled);  // several bins per thread
  c.shape.fine = {5000, 1, 1};
  c.parameters.bin = {2, 1, 1};
  c.parameters.placement = Placement::fetch;
  cases.push_back(c);
  c = spreading("WindowLargeCounts", 3, kF64, 5, Spread::window);
  c.shape.large_counts = true;
  cases.push_back(c);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto add :
       {add_families, add_matrices, add_tf32, add_widths, add_threads, add_points, add_sorts, add_slices, add_windows})
    add(cases);
  return cases;
}

std::vector<Case> all_grouped_cases() {
  std::vector<Case> cases = grouped_cases(2, 3, 150);
  for (const auto& [group, transforms] : {std::pair{4, 7}, std::pair{8, 9}, std::pair{16, 16}})
    for (Case& c : grouped_cases(group, transforms, group == 4 ? 150 : 70))
      if (group == 4 || c.shape.dim == 2 || (c.shape.dim == 3 && c.shape.precision == Precision::f32))
        cases.push_back(std::move(c));
  for (Case& c : grouped_cases(4, 12, 100)) {
    if (c.shape.precision == Precision::f64) continue;
    c.name += "Edges";
    c.points = Points::edges;
    c.parameters.placement = Placement::two_level;
    cases.push_back(c);
  }
  for (Case& one : grouped_cases(4, 9, 80)) {  // two groups and a single transform
    if ((one.shape.dim == 1) != (one.shape.precision == Precision::f64)) continue;
    one.name += "Interleaved";
    one.parameters.interleave = true;
    cases.push_back(one);
  }
  Case c = spreading("GroupOf32Tiled", 2, Precision::f32, 8, Spread::tile_owned);
  c.parameters.group = c.transforms = 32;
  cases.push_back(c);
  c = interpolating("GroupOf32Tiled", 2, Precision::f32, 8, Interpolate::tiled);
  c.parameters.group = c.transforms = 32;
  cases.push_back(c);
  c = interpolating("GroupWide", 3, Precision::f32, 13, Interpolate::tiled);
  c.parameters.bin = {3, 2, 2};
  c.parameters.group = 2, c.transforms = 2;
  cases.push_back(c);
  c = spreading("GroupInTheCallersOrder", 3, Precision::f32, 6, Spread::points);
  c.parameters.group = 4, c.transforms = 5;
  c.parameters.order = RecordOrder::caller;
  cases.push_back(c);
  c = interpolating("GroupLargeCounts", 2, Precision::f32, 5, Interpolate::tiled);
  c.shape.large_counts = true;
  c.parameters.group = c.transforms = 4;
  c.points = Points::one;
  cases.push_back(c);
  return cases;
}

class NufftKernels : public ::testing::TestWithParam<Case> {};

TEST_P(NufftKernels, AgreeWithTheDirectSumInEveryOrder) { expect_direct_sums(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, NufftKernels, ::testing::ValuesIn(all_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Groups, NufftKernels, ::testing::ValuesIn(all_grouped_cases()), name_of);

// Subproblems of many batches of 32 points, all in one column of cells: what is read ahead for the third batch is used.
std::vector<Case> long_cases() {
  std::vector<Case> cases;
  for (const int dim : {1, 2, 3})
    for (const Precision precision : {kF32, kF64}) {
      for (const Spread family : {Spread::tile_atomic, Spread::tile_owned, Spread::window})
        cases.push_back(spreading("Long" + std::to_string(static_cast<int>(family)), dim, precision, 6, family));
      for (const Interpolate family : {Interpolate::tiled, Interpolate::window, Interpolate::matrix})
        if (family != Interpolate::matrix || dim > 1)
          cases.push_back(
              interpolating("LongInterpolate" + std::to_string(static_cast<int>(family)), dim, precision, 6, family));
    }
  for (Case& c : cases) c.parameters.cap = 1000, c.points = Points::spot, c.count = 203;
  return cases;
}
INSTANTIATE_TEST_SUITE_P(LongTasks, NufftKernels, ::testing::ValuesIn(long_cases()), name_of);

// A kernel that does not wait may overtake the one before it (templates/launch_order.cuh), which the emulator cannot
// show.
TEST(NufftKernelTexts, EveryKernelWaitsForEarlierOnes) {
  for (const Case& c : all_cases())
    for (const KernelSource& kernel : prepare(c).program.kernels) {
      int kernels = 0;
      for (std::size_t at = kernel.text.find("extern \"C\" __global__"); at != std::string::npos;) {
        const std::size_t next = kernel.text.find("extern \"C\" __global__", at + 1);
        const std::string body = kernel.text.substr(at, next == std::string::npos ? next : next - at);
        EXPECT_TRUE(body.find("dev_follow();") != body.npos || body.find("dev_wait_earlier();") != body.npos)
            << kernel.entry;
        // No return may come before the wait.
        for (std::size_t end = body.find("return;\n"); end != body.npos; end = body.find("return;\n", end + 1))
          EXPECT_LT(body.find("dev_follow();"), end) << kernel.entry;
        at = next, ++kernels;
      }
      EXPECT_GT(kernels, 0) << kernel.entry;
    }
}

}  // namespace
}  // namespace fourtune::generator::nufft::testing
