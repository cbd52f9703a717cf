// Sorts of points by bins on the emulated backend: what records hold, segments of coarse bins, the arithmetic of bins.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/generator/nufft_support.h"

namespace fourtune::generator::nufft::testing {
namespace {

class NufftSortKernels : public ::testing::TestWithParam<Case> {};

TEST_P(NufftSortKernels, AgreeWithTheDirectSumInEveryOrder) { expect_direct_sums(GetParam()); }

// Records with few bits and cells relative to their bins, in every placement. Clusters use the large coarse bins, with
// scratch allocated at once or only on request.
std::vector<Case> packed_cases() {
  std::vector<Case> cases;
  const Placement placements[] = {Placement::scatter, Placement::fetch, Placement::staged, Placement::two_level};
  int n = 0;
  for (const int dim : {1, 2, 3})
    for (const Precision precision : {Precision::f32, Precision::f64})
      for (const double unit : {0x1p-6, 0x1p-17, 0.0})
        for (const int family : {0, 1, 2, 3}) {
          const int width = 4 + (n + dim) % 4;
          Case c = family == 0   ? spreading("PackedOwned", dim, precision, width, Spread::tile_owned)
                   : family == 1 ? spreading("PackedWindow", dim, precision, width, Spread::window)
                   : family == 2 ? interpolating("PackedTiled", dim, precision, width, Interpolate::tiled)
                                 : interpolating("PackedWindows", dim, precision, width, Interpolate::window);
          c.shape.unit = unit;
          c.shape.whole_cells = false;
          c.parameters.placement = placements[n++ % 4];
          if (n % 3 != 0) c.parameters.placement = Placement::two_level;
          if (c.parameters.placement == Placement::two_level && n % 4 != 1) c.parameters.segment = 512;
          if (c.parameters.placement == Placement::two_level && n % 2 == 0) {
            c.points = Points::clustered;
            c.count = 1100;
            c.late = n % 4 == 0;
          }
          cases.push_back(c);
        }
  for (const bool late : {false, true}) {  // whole cells
    Case c = spreading(late ? "LateLarge" : "Large", 2, Precision::f64, 5, Spread::points);
    c.parameters.placement = Placement::two_level;
    c.parameters.segment = 512;
    c.points = Points::clustered;
    c.count = 1100;
    c.late = late;
    c.shape.unit = 1e-7;
    cases.push_back(c);
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Packed, NufftSortKernels, ::testing::ValuesIn(packed_cases()), name_of);

// So many bins for the multiprocessors that a coarse bin has more of them than a record has bits for: up to four of
// these bits travel with the index.
std::vector<Case> long_column_cases() {
  std::vector<Case> cases;
  for (const Precision precision : {Precision::f32, Precision::f64})
    for (const double unit : {0x1p-6, 0x1p-13, 0.0})
      for (const bool clustered : {false, true}) {
        Case spreads = spreading("LongColumns", 3, precision, 5, Spread::window);
        Case reads = interpolating("LongColumnsRead", 3, precision, 5, Interpolate::window);
        for (Case* c : {&spreads, &reads}) {
          c->shape.fine = {16, 16, 160}, c->shape.multiprocessors = 1;
          c->shape.unit = unit, c->shape.whole_cells = false;
          c->parameters.bin = {2, 2, 1}, c->parameters.placement = Placement::two_level;
          if (clustered) c->points = Points::clustered, c->parameters.segment = 512, c->count = 1100;
          cases.push_back(*c);
        }
      }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(LongColumns, NufftSortKernels, ::testing::ValuesIn(long_column_cases()), name_of);

// One block handles a coarse bin of exactly one segment; with one more point, several blocks do. The next coarse bin
// has a point, and scratch is allocated at once or only on request.
std::vector<Case> segment_cases() {
  std::vector<Case> cases;
  for (const bool late : {false, true})
    for (const int count : {511, 512, 513, 1023, 1024, 1025, 2047, 2049}) {
      const std::string name = (late ? "LateSpotOf" : "SpotOf") + std::to_string(count) + "Points";
      Case spreads = spreading(name, 1, Precision::f32, 4, Spread::tile_owned);
      Case reads = interpolating(name + "Read", 1, Precision::f32, 4, Interpolate::tiled);
      for (Case* c : {&spreads, &reads}) {
        c->parameters.placement = Placement::two_level;
        c->parameters.segment = count < 2000 ? 512 : 2048;  // which is more than a block has threads
        c->shape.fine[0] = 4096, c->parameters.bin[0] = 2;  // so many that a coarse bin has several
        c->points = Points::spot;
        c->count = count + 3;
        c->late = late;
        cases.push_back(*c);
      }
    }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Segments, NufftSortKernels, ::testing::ValuesIn(segment_cases()), name_of);

// The coarse bin of a bin is a product and a shift where counts have 32 bits, which is exact below 2^31 alone. Where
// they have 64, there may be more bins than any test has memory for, so the function is called by itself.
TEST(NufftSortTexts, TheCoarseBinOfABinIsAQuotientForEveryCount) {
  for (const bool large : {false, true}) {
    Case c = spreading("Coarse", 1, Precision::f32, 4, Spread::tile_owned);
    c.parameters.placement = Placement::two_level;
    c.parameters.segment = 512;
    c.shape.large_counts = large;
    const Prepared p = prepare(c);
    const auto found = std::find_if(p.program.kernels.begin(), p.program.kernels.end(), [](const KernelSource& kernel) {
      return kernel.entry.find("coarse_count") != std::string::npos;
    });
    ASSERT_NE(found, p.program.kernels.end());
    KernelSource kernel = *found;
    kernel.entry = "coarse_of";
    kernel.text +=
        "extern \"C\" __global__ void coarse_of(const unsigned long long* bins, unsigned* to, const CoarseBins coarse) {\n"
        "  to[threadIdx.x] = nufft_coarse(static_cast<count>(bins[threadIdx.x]), coarse);\n}\n";
    for (const std::uint64_t per : {1, 2, 3, 5, 7, 12, 1000, 4095, 4096}) {
      std::vector<std::uint64_t> bins;
      for (const std::uint64_t near : {per, 12345 * per, std::uint64_t{1} << 30, (std::uint64_t{1} << 31) - 2})
        bins.insert(bins.end(), {near - 1, near, near + 1});
      if (large)
        for (const std::uint64_t near : {(std::uint64_t{1} << 31) + 1, (per << 32) - 2})
          bins.insert(bins.end(), {near - 1, near, near + 1});
      kernel.block = {static_cast<std::uint32_t>(bins.size()), 1, 1};
      SortLevels levels;
      levels.per = static_cast<std::int64_t>(per);
      GpuProgram program;
      program.kernels = {kernel};
      program.launches = {{0,
                           {1, 1, 1},
                           {BufferRef{BufferRef::Where::first, 0, 0}, BufferRef{BufferRef::Where::second, 0, 0},
                            ArgumentStruct{{std::int64_t{1} << 32, levels.per, levels.magic(), levels.reach()}}},
                           "sort",
                           0,
                           0}};
      std::vector<std::byte> first = packed(bins), second(4 * bins.size());
      run_program(program, first, second, {});
      for (std::size_t i = 0; i < bins.size(); ++i) {
        std::uint32_t coarse = 0;
        std::memcpy(&coarse, second.data() + 4 * i, 4);
        EXPECT_EQ(coarse, bins[i] / per) << "bin " << bins[i] << " of " << per << (large ? ", 64 bits" : "");
      }
    }
  }
}

}  // namespace
}  // namespace fourtune::generator::nufft::testing
