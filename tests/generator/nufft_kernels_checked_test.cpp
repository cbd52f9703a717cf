// Runs every kernel of the nonuniform stages under the emulator's race, bounds and undefined-behaviour checks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/generator/nufft_support.h"

namespace fourtune::generator::nufft::testing {
namespace {

class NufftKernelsChecked : public ::testing::TestWithParam<Case> {};

TEST_P(NufftKernelsChecked, HaveNoRacesAndStayInBounds) {
  const Case& c = GetParam();
  const Prepared p = prepare(c);
  RunOptions options;
  options.instrumented = options.undefined = true;
  options.second_call = p.sorted;
  std::vector<std::byte> first = p.first, second = p.second;
  run_program(p.program, first, second, options);
  EXPECT_EQ(wrong(c, p, second), "");
}

// Orders of points, records and scans that the families' cases do not cover.
std::vector<Case> checked_sorts() {
  std::vector<Case> cases;
  const Placement placements[] = {Placement::scatter, Placement::fetch, Placement::staged, Placement::two_level};
  for (int i = 0; i < 4; ++i) {
    const int dim = 1 + i % 3;
    const Precision precision = i % 2 == 0 ? Precision::f32 : Precision::f64;
    Case sliced = interpolating("Sliced" + std::to_string(i), dim, precision, 5, Interpolate::tiled);
    sliced.parameters.slice = 40;
    Case packed = i % 2 == 0 ? spreading("Packed" + std::to_string(i), dim, precision, 4, Spread::tile_owned)
                             : interpolating("Packed" + std::to_string(i), dim, precision, 4, Interpolate::window);
    packed.shape.unit = i < 2 ? 0x1p-17 : 0x1p-6, packed.shape.whole_cells = false;
    for (Case* one : {&sliced, &packed}) {
      one->parameters.placement = placements[i];
      one->count = 90;
      cases.push_back(*one);
    }
  }
  Case many = spreading("ManyBins", 2, Precision::f32, 4, Spread::tile_owned);  // more than one block sums up
  many.shape.fine = {150, 130, 1};
  many.parameters.bin = {1, 1, 1};
  many.count = 90;
  cases.push_back(many);
  many = interpolating("ManyBinsTwoLevels", 1, Precision::f64, 4, Interpolate::points);
  many.shape.fine = {9000, 1, 1};
  many.parameters.placement = Placement::two_level;
  many.parameters.segment = 512;
  many.parameters.bin = {1, 1, 1};
  many.count = 600;
  cases.push_back(many);
  return cases;
}

std::vector<Case> one_of_each_family() {
  std::vector<Case> cases;
  for (const Spread family : {Spread::points, Spread::tile_atomic, Spread::tile_owned, Spread::window})
    cases.push_back(spreading("Spread" + std::to_string(static_cast<int>(family)), 3, Precision::f32, 5, family));
  cases.push_back(spreading("WindowOfWarps", 3, Precision::f64, 13, Spread::window));
  cases.push_back(interpolating("InterpolateWindowOfWarps", 3, Precision::f64, 13, Interpolate::window));
  for (const Interpolate family : {Interpolate::points, Interpolate::tiled, Interpolate::window})
    cases.push_back(
        interpolating("Interpolate" + std::to_string(static_cast<int>(family)), 3, Precision::f64, 5, family));
  for (const int dim : {2, 3})
    for (const Precision precision : {Precision::f32, Precision::f64})
      cases.push_back(interpolating("InterpolateMatrix", dim, precision, 7, Interpolate::matrix));
  cases.push_back(spreading("SpreadTf32", 3, Precision::f32, 6, Spread::tf32x3));
  cases.push_back(interpolating("InterpolateTf32", 3, Precision::f32, 6, Interpolate::tf32x3));
  cases[1].parameters.placement = Placement::fetch;
  cases[2].parameters.placement = Placement::staged;
  cases[3].parameters.placement = Placement::two_level;
  for (Case& c : cases) c.count = 90;
  Case large = spreading("TwoLevelsClustered", 2, Precision::f32, 5, Spread::window);
  large.parameters.placement = Placement::two_level;
  large.parameters.segment = 512;
  large.points = Points::clustered;
  large.count = 1100;
  cases.push_back(large);
  large.name = "TwoLevelsClusteredPacked";
  large.shape.unit = 1e-5, large.shape.whole_cells = false, large.late = true;
  cases.push_back(large);
  cases.push_back(batches(2));
  Case few = spreading("FewBins", 2, Precision::f32, 5, Spread::tile_owned);
  few.parameters.placement = Placement::two_level;
  few.shape.unit = 1e-5, few.shape.whole_cells = false;
  cases.push_back(few);
  Case split = spreading("WindowSplit", 2, Precision::f32, 6, Spread::window);
  split.parameters.split = 2;
  split.count = 90;
  cases.push_back(split);
  for (const Spread family : {Spread::points, Spread::tile_atomic, Spread::tile_owned}) {
    Case fixed = spreading("Fixed" + std::to_string(static_cast<int>(family)), 2, Precision::f32, 5, family);
    fixed.parameters.deterministic = true;
    fixed.count = 90;
    cases.push_back(fixed);
  }
  Case one = interpolating("InterpolateOneThreadEach", 3, Precision::f32, 6, Interpolate::tiled);
  one.parameters.lanes = 1;
  one.count = 90;
  cases.push_back(one);
  return cases;
}
std::vector<Case> checked_groups() {
  std::vector<Case> cases = grouped_cases(4, 6, 60);
  std::erase_if(cases, [](const Case& c) {
    return c.shape.dim == 1 || (c.shape.dim == 2) != (c.shape.precision == Precision::f32);
  });
  // Padded tiles that reach twice around the last dimension.
  for (const bool spreads : {true, false}) {
    Case around = spreads ? spreading("Around", 3, Precision::f32, 5, Spread::tile_owned)
                          : interpolating("AroundRead", 3, Precision::f32, 5, Interpolate::tiled);
    around.shape.fine[2] = 5;
    around.parameters.bin = {4, 3, 4};
    around.parameters.group = 4, around.transforms = 4, around.count = 60;
    cases.push_back(around);
  }
  for (Case& c : cases) c.parameters.interleave = c.shape.dim == 3;
  return cases;
}
INSTANTIATE_TEST_SUITE_P(All, NufftKernelsChecked, ::testing::ValuesIn(one_of_each_family()), name_of);
INSTANTIATE_TEST_SUITE_P(Sorts, NufftKernelsChecked, ::testing::ValuesIn(checked_sorts()), name_of);
INSTANTIATE_TEST_SUITE_P(Groups, NufftKernelsChecked, ::testing::ValuesIn(checked_groups()), name_of);

}  // namespace
}  // namespace fourtune::generator::nufft::testing
