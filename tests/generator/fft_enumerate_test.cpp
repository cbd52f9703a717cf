// Candidates from device traits: all of them are right and possible, they are counted rule by rule, and the two-pass
// plans that are best by arithmetic are near the top.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "base/known_devices.h"
#include "generator/plan/fft/geometry.h"
#include "generator/planner/gpu_fft/enumerate.h"
#include "generator/planner/gpu_fft/plan_cost.h"
#include "generator/planner/gpu_fft/published_plans.h"
#include "tests/support/fft_reference.h"

namespace fourtune::generator::fft {
namespace {

FftRequest cube(std::int64_t n, Precision precision = Precision::f32, DigitOrder order = DigitOrder::natural) {
  FftRequest request;
  request.lengths = {n, n, n};
  request.precision = precision;
  request.order = order;
  return request;
}

// Fewer groupings give the same best plans in less time.
EnumerationLimits few() {
  EnumerationLimits limits;
  limits.groupings = 16;
  return limits;
}

// The part that each kernel transforms: "X256Y64|Y4Z256".
std::string grouping(const FftPlan& plan) {
  std::string out;
  for (const Kernel& kernel : plan.kernels) {
    Lengths part;
    for (const SubFft& sub : kernel.subs) part[static_cast<std::size_t>(index(sub.dim))] *= sub.radix;
    if (!out.empty()) out += "|";
    for (std::size_t d = 0; d < part.size(); ++d)
      if (part[d] > 1) out += "XYZW"[d] + std::to_string(part[d]);
  }
  return out;
}

void expect_sound(const FftCandidates& found, const FftRequest& request, const DeviceTraits& device) {
  ASSERT_FALSE(found.list.empty()) << device.name;
  double last = 0;
  std::set<std::string> texts;
  for (const auto& candidate : found.list) {
    const auto text = to_text(candidate.plan);
    const auto broken = check(candidate.plan);
    ASSERT_TRUE(broken.empty()) << text << "\n" << broken[0].message;
    const auto impossible = check_device(candidate.plan, device);
    ASSERT_TRUE(impossible.empty()) << text << "\n" << impossible[0].message;
    ASSERT_TRUE(bound(candidate.plan)) << text;
    ASSERT_EQ(parse_fft_plan(text), candidate.plan);
    ASSERT_TRUE(texts.insert(text).second) << "twice: " << text;
    EXPECT_GE(candidate.seconds, last);
    last = candidate.seconds;
    EXPECT_EQ(candidate.plan.order, request.order);
    EXPECT_GE(candidate.seconds, floors(candidate.plan, device, request.batch).total) << text;
  }
  ASSERT_FALSE(found.counts.empty());
  for (const auto& row : found.counts) EXPECT_LE(row.after, row.before) << row.rule;
  EXPECT_EQ(found.counts.back().after, static_cast<double>(found.list.size()));
}

class FftCandidatesOn : public testing::TestWithParam<const char*> {};

TEST_P(FftCandidatesOn, AreRightPossibleAndCounted) {
  const auto device = *known_device(GetParam());
  for (const auto& request : {cube(256), cube(60, Precision::f64, DigitOrder::reversed)})
    expect_sound(fft_candidates(request, device), request, device);
}

TEST_P(FftCandidatesOn, CoverAllDimensionsAndLongLines) {
  const auto device = *known_device(GetParam());
  for (const Lengths& n : {Lengths{16, 1, 1}, Lengths{1 << 22, 1, 1}, Lengths{1000, 1, 1}, Lengths{512, 96, 1},
                           Lengths{59, 61, 7}, Lengths{32, 16, 8, 24}}) {
    FftRequest request;
    request.lengths = n;
    request.batch = n[0] < 2000 ? 64 : 1;
    request.place = n[1] > 1 ? Place::in : Place::out;
    expect_sound(fft_candidates(request, device), request, device);
  }
}

TEST_P(FftCandidatesOn, UseOnlyWhatTheDeviceCanDo) {
  const auto device = *known_device(GetParam());
  bool bulk = false;
  for (const auto& candidate : fft_candidates(cube(256), device).list)
    for (const Kernel& kernel : candidate.plan.kernels) {
      EXPECT_LE(kernel.with.cluster, device.cluster_blocks);
      EXPECT_TRUE(device.compute_capability >= 80 || kernel.with.load == Load::plain);
      bulk = bulk || kernel.with.load == Load::bulk;
    }
  EXPECT_EQ(bulk, device.compute_capability >= 90);
}

INSTANTIATE_TEST_SUITE_P(Devices, FftCandidatesOn, testing::Values("h200", "rtx4090", "v100"),
                         [](const auto& one) { return std::string(one.param); });

TEST(FftCandidates, TheTwoPassPlanOf256CubedIsNearTheTopOnAnH200) {
  const auto found = fft_candidates(cube(256), *known_device("h200"));
  std::vector<std::string> order;  // groupings, sorted by their best plan
  bool tile = false;
  for (const auto& candidate : found.list) {
    const auto name = grouping(candidate.plan);
    if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
    const auto& second = candidate.plan.kernels.back();
    if (name == "X256Y64|Y4Z256")  // 16 neighbours along x: runs of 128 bytes, both tiles 128 KiB
      tile = tile || (second.with.tile[0] == 16 && geometry(candidate.plan, 0).tile_elements == 16384 &&
                      geometry(candidate.plan, 1).tile_elements == 16384);
  }
  EXPECT_TRUE(tile);
  EXPECT_LT(std::find(order.begin(), order.end(), "X256Y64|Y4Z256") - order.begin(), 10);
  EXPECT_GT(order.size(), 10U);  // many groupings, not variants of one
}

// Estimates of the best candidates against the best plans measured on an H200 so far (cuFFT needs 33.3, 238, 1824 and
// 14900 us). They must agree within a fifth, so that lower bounds and slack prune the right plans.
TEST(FftCandidates, EstimatesAreNearWhatAnH200Measured) {
  const auto device = *known_device("h200");
  const struct {
    std::int64_t n;
    Precision precision;
    double measured;
  } runs[] = {{128, Precision::f32, 20.0e-6},
              {256, Precision::f32, 160.0e-6},
              {512, Precision::f32, 1336e-6},
              {1024, Precision::f32, 13.05e-3},
              {256, Precision::f64, 336e-6}};
  for (const auto& run : runs) {
    const auto found = fft_candidates(cube(run.n, run.precision), device, few());
    EXPECT_LT(std::abs(std::log(found.list[0].seconds / run.measured)), std::log(1.2)) << run.n;
    EXPECT_LT(floors(found.list[0].plan, device).total, run.measured) << run.n;
  }
}

TEST(FftCandidates, NameOnlyTheFormsAskedFor) {
  const auto device = *known_device("h200");
  const auto count = [&](const EnumerationForms& forms) {
    EnumerationLimits limits;
    limits.forms = forms;
    limits.choices = 100;
    limits.plans = 20000;
    limits.plans_per_group = 1000;
    int swizzle = 0, shuffle = 0, async = 0;
    const auto found = fft_candidates(cube(64, Precision::f64), device, limits);
    for (const auto& candidate : found.list)
      for (const Kernel& kernel : candidate.plan.kernels) {
        swizzle += kernel.with.banks == Banks::swizzle ? 1 : 0;
        shuffle += kernel.with.exchange == Exchange::shuffle ? 1 : 0;
        async += kernel.with.load == Load::async ? 1 : 0;
      }
    return std::array<bool, 3>{swizzle > 0, shuffle > 0, async > 0};
  };
  EXPECT_EQ(count({false, false, false}), (std::array<bool, 3>{false, false, false}));
  EXPECT_EQ(count({true, true, true}), (std::array<bool, 3>{true, true, true}));
}

TEST(FftCandidates, TwoPassesWhereTilesFitAndThreeBeyond) {
  const auto device = *known_device("h200");
  EXPECT_EQ(fft_candidates(cube(256), device, few()).list[0].plan.kernels.size(), 2U);
  EXPECT_EQ(fft_candidates(cube(1024), device, few()).list[0].plan.kernels.size(), 3U);
  std::set<std::size_t> kernels;
  for (const auto& candidate : fft_candidates(cube(512), device, few()).list) {
    const auto& plan = candidate.plan;
    kernels.insert(plan.kernels.size());
    if (plan.kernels.size() == 2) {  // 2^27 values in two tiles: one of them needs several blocks
      EXPECT_TRUE(plan.kernels[0].with.cluster > 1 || plan.kernels[1].with.cluster > 1) << to_text(plan);
    }
  }
  EXPECT_EQ(kernels, (std::set<std::size_t>{2, 3}));
}

// Floors of bytes take many groupings to be equal; the few that are listed are the best by rough estimates.
TEST(FftCandidates, ShortListsHaveTheGroupingsThatRoughEstimatesPrefer) {
  const auto device = *known_device("h100");
  EnumerationLimits by_floor;
  by_floor.groupings = by_floor.ranked = 3, by_floor.extra_kernels = 0, by_floor.plans_per_group = 4;
  EnumerationLimits by_estimate = by_floor;
  by_estimate.ranked = EnumerationLimits{}.ranked;
  double logs = 0;
  for (const Lengths& n : {Lengths{189, 189, 189}, Lengths{1875, 1875}, Lengths{384000}, Lengths{120, 56, 70}}) {
    FftRequest request;
    request.lengths = n;
    request.precision = Precision::f64;
    const auto found = fft_candidates(request, device, by_estimate);
    ASSERT_FALSE(found.list.empty());
    logs += std::log(found.list[0].seconds / fft_candidates(request, device, by_floor).list[0].seconds);
    EXPECT_TRUE(std::any_of(found.counts.begin(), found.counts.end(), [](const RuleCount& row) {
      return row.rule == "the best by rough estimates" && row.before > 3 && row.after == 3;
    }));
  }
  EXPECT_LT(std::exp(logs / 4), 0.98);
}

// Lines that fill a block's registers have a thread for each DFT and limited registers, where that saves a kernel.
TEST(FftCandidates, LinesThatFillTheRegisterFileStayInOneKernel) {
  const auto device = *known_device("h100");
  FftRequest request;
  request.lengths = {9408, 1, 1};
  request.precision = Precision::f64;
  request.batch = 892;
  EnumerationLimits limits;
  limits.extra_kernels = 0;
  const auto found = fft_candidates(request, device, limits);
  ASSERT_FALSE(found.list.empty());
  int limited = 0, each = 0;
  for (const auto& [plan, seconds] : found.list) {
    ASSERT_EQ(plan.kernels.size(), 1U);
    const Kernel& kernel = plan.kernels[0];
    limited += kernel.with.registers > 0 && kernel.with.cluster == 1 ? 1 : 0;
    for (const SubFft& sub : kernel.subs) each += kernel.with.threads == (9408 / sub.radix + 31) / 32 * 32 ? 1 : 0;
    EXPECT_TRUE(check_device(plan, device).empty()) << to_text(plan);
  }
  EXPECT_GT(limited, 0);
  EXPECT_GT(each, 0);
}

TEST(FftCandidates, ReversedOrderNeedsNoWorkspaceAndNaturalOrderInPlaceDoes) {
  const auto device = *known_device("h200");
  auto request = cube(256, Precision::f32, DigitOrder::reversed);
  request.place = Place::in;
  for (const auto& candidate : fft_candidates(request, device, few()).list)
    EXPECT_FALSE(uses_workspace(candidate.plan));
  request.order = DigitOrder::natural;
  for (const auto& candidate : fft_candidates(request, device, few()).list) {
    const auto name = grouping(candidate.plan);
    bool split = false;  // whether a dimension is split between two kernels
    for (const char d : {'X', 'Y', 'Z'}) split = split || std::count(name.begin(), name.end(), d) > 1;
    EXPECT_EQ(uses_workspace(candidate.plan), split) << to_text(candidate.plan);
  }
}

TEST(FftCandidates, ComputeTheTransform) {
  const auto device = *known_device("h200");
  std::mt19937 random(5);
  std::uniform_real_distribution<double> value(-1, 1);
  for (const DigitOrder order : {DigitOrder::natural, DigitOrder::reversed, DigitOrder::grouped})
    for (const Lengths& n : {Lengths{24, 20, 18}, Lengths{64, 48, 1}, Lengths{4096, 1, 1}}) {
      FftRequest request;
      request.lengths = n;
      request.order = order;
      EnumerationLimits limits;
      limits.extra_kernels = 2;
      const auto found = fft_candidates(request, device, limits);
      ASSERT_FALSE(found.list.empty());
      const std::size_t step = std::max<std::size_t>(1, found.list.size() / 12);
      for (std::size_t i = 0; i < found.list.size(); i += step) {
        const auto& plan = found.list[i].plan;
        for (int d = 0; d < rank(plan); ++d) {
          std::vector<test::Complex> line(static_cast<std::size_t>(n[static_cast<std::size_t>(d)]));
          for (auto& c : line) c = {value(random), value(random)};
          auto out = line;
          test::run_line(plan, static_cast<Dim>(d), -1, out);
          const auto k = test::frequencies(plan, static_cast<Dim>(d));
          for (std::size_t at = 0; at < out.size(); at += out.size() / 8)
            ASSERT_LT(std::abs(out[at] - test::direct_dft(line, -1, k[at])), 1e-11) << to_text(plan);
        }
      }
    }
}

TEST(FftCandidates, LeaveOutDimensionsOfLengthOne) {
  const auto device = *known_device("h200");
  FftRequest request;
  request.lengths = {1, 64, 32};
  for (const auto& candidate : fft_candidates(request, device).list)
    EXPECT_EQ(lengths(candidate.plan), (Lengths{64, 32, 1}));
}

TEST(FftCandidates, SizesWithLargePrimesAreForOtherFamiliesAndTheCountsSaySo) {
  const auto found = fft_candidates(cube(67), *known_device("h200"));
  EXPECT_TRUE(found.list.empty());
  ASSERT_EQ(found.counts.size(), 1U);
  EXPECT_NE(found.counts[0].rule.find("radix"), std::string::npos);
  EXPECT_EQ(found.counts[0].after, 0);
  EXPECT_FALSE(fft_candidates(cube(61), *known_device("h200")).list.empty());
}

TEST(FftCandidates, ImpossibleSizesAreRefused) {
  const auto device = *known_device("h200");
  FftRequest request;
  request.lengths = {0, 1, 1};
  EXPECT_THROW(fft_candidates(request, device), Error);
  request.lengths = {std::int64_t{1} << 20, std::int64_t{1} << 20, 2};
  EXPECT_THROW(fft_candidates(request, device), Error);
}

TEST(FftCandidates, TheBestPlansComeInEveryOrderOfBlocks) {
  const auto found = fft_candidates(cube(64), *known_device("h200"));
  std::set<std::string> orders;
  for (const auto& candidate : found.list)
    for (const Kernel& kernel : candidate.plan.kernels) {
      std::string order;
      for (const Dim dim : kernel.with.blocks) order += "xyz"[index(dim)];
      orders.insert(order);
    }
  EXPECT_EQ(orders.size(), 6U);
}

TEST(FftPlanCost, FloorsGrowWithWorkAndShrinkWithTheDevice) {
  const auto two = parse_fft_plan("{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}{Y(16,16,16,256,tw),Y(16,16,1,16,no-tw)}");
  const auto four =
      parse_fft_plan("{X(16,16,16,256,tw)}{X(16,16,1,16,no-tw)}{Y(16,16,16,256,tw)}{Y(16,16,1,16,no-tw)}");
  auto wide = two;
  wide.precision = Precision::f64;
  const auto h200 = *known_device("h200"), v100 = *known_device("v100");
  const std::int64_t batch = 1000;
  EXPECT_LT(floors(two, h200, batch).total, floors(four, h200, batch).total);
  EXPECT_DOUBLE_EQ(floors(four, h200, batch).bytes, 2 * floors(two, h200, batch).bytes);
  EXPECT_LT(floors(two, h200, batch).total, floors(wide, h200, batch).total);
  EXPECT_LT(floors(two, h200, batch).total, floors(two, v100, batch).total);
  EXPECT_LT(floors(two, h200, 1).total, floors(two, h200, 2).total);
  EXPECT_DOUBLE_EQ(floors(two, h200, batch).launches, floors(two, h200, 1).launches);
}

TEST(FftPlanCost, FloorsAreThoseOfTheArithmetic) {
  // 256^3 f32: a pass moves 268 MB, which takes 0.062 ms at the 4.3 TB/s of a copy; two passes take 0.125 ms.
  const auto found = fft_candidates(cube(256), *known_device("h200"), few());
  EXPECT_NEAR(floors(found.list[0].plan, *known_device("h200")).bytes, 0.125e-3, 0.002e-3);
}

TEST(FftPlanCost, LongerRunsMoreBlocksAndBulkLoadsAreNeverEstimatedSlower) {
  EXPECT_LT(run_efficiency(32), 0.9);
  EXPECT_GT(run_efficiency(256), 0.97);
  for (double run = 8; run < 1e5; run *= 2) EXPECT_LT(run_efficiency(run), run_efficiency(2 * run));
  const auto device = *known_device("h200");
  const std::string text =
      "{Z(16,16,16,256,tw),Z(16,16,1,16,no-tw)}[threads=256,tile=16,banks=swizzle]"
      "{X(16,16,16,256,tw),X(16,16,1,16,no-tw),Y(16,16,16,256,tw),Y(16,16,1,16,no-tw)}[threads=512,tile=1,banks="
      "swizzle]";
  const auto plan = parse_notation(text);
  auto narrow = plan, plain = plan;
  narrow.kernels[0].with.tile[0] = 4;
  narrow.kernels[0].with.threads = 64;
  plain.kernels[0].with.banks = Banks::plain;
  EXPECT_LT(kernel_seconds(plan, 0, device), kernel_seconds(narrow, 0, device));
  EXPECT_LE(kernel_seconds(plan, 0, device), kernel_seconds(plain, 0, device));
}

TEST(FftPlanCost, TheOnlyBlockOfAMultiprocessorHidesNothing) {
  const auto device = *known_device("h200");
  const auto plan = parse_notation(
      "{X(64,16,64,1024,tw),X(64,16,4,64,tw),X(256,4,1,4,no-tw)}[threads=256,tile=1x8]:order=natural,prec=f64");
  // As many blocks as multiprocessors, with and without hiding.
  const std::int64_t batch = 8 * device.multiprocessors;
  FftCosts hiding;
  hiding.first = 0;
  EXPECT_GT(plan_seconds(plan, device, batch, FftCosts{}), 1.1 * plan_seconds(plan, device, batch, hiding));
  // Many blocks hide what they do behind each other.
  const double many = plan_seconds(plan, device, 100 * batch, FftCosts{});
  EXPECT_LT(many, 1.02 * plan_seconds(plan, device, 100 * batch, hiding));
}

TEST(FftPlanCost, FactorsThatNoArrayHoldsAreComputedForEachDft) {
  const auto device = *known_device("h200");
  const auto kernels = [&](const char* first) {
    return parse_notation(std::string("{") + first +
                          "}[threads=128,tile=25,store=grouped,to=work]{X(3125,25,25,625,tw),X(3125,25,1,25,no-tw)}"
                          "[threads=128,tile=5]:order=natural,prec=f64");
  };
  // On an H200 29.1 us with the smaller radix first and 25.2 with the larger one.
  const auto small = kernels("X(15625,5,15625,78125,tw),X(3125,25,625,15625,tw)");
  const auto large = kernels("X(3125,25,3125,78125,tw),X(15625,5,625,3125,tw)");
  EXPECT_LT(kernel_seconds(large, 0, device, 12), kernel_seconds(small, 0, device, 12));
  // The same radices in another order cost the same where an array has the factors.
  const auto stored = [&](const char* text) {
    return plan_seconds(parse_notation(std::string("{") + text + "}[threads=128,tile=1x25]:order=natural,prec=f64"),
                        device, 1000);
  };
  EXPECT_NEAR(stored("X(25,5,25,125,tw),X(5,25,1,25,no-tw)"), stored("X(5,25,5,125,tw),X(25,5,1,5,no-tw)"), 1e-9);
}

TEST(FftBind, ThePapersPlansGetParametersThatFitEveryDevice) {
  for (const char* name : {"h200", "rtx4090", "v100"}) {
    const auto device = *known_device(name);
    for (const auto& paper : published_plans()) {
      const auto plan = parse_fft_plan(corrected(paper));
      const auto complete = bind(plan, device);
      EXPECT_TRUE(bound(complete));
      EXPECT_TRUE(check(complete).empty()) << to_text(complete);
      EXPECT_TRUE(check_device(complete, device).empty()) << to_text(complete);
      for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
        EXPECT_EQ(complete.kernels[k].subs, plan.kernels[k].subs);
        EXPECT_GE(geometry(complete, static_cast<int>(k)).read_run, 4) << paper.section;
      }
    }
  }
}

// Blocks have few values, and no power of two of lines gives all of them.
TEST(FftBind, SmallArraysOfAnyLengths) {
  for (const char* text :
       {"{X(1,5,1,5,no-tw)}{Y(1,7,1,7,no-tw)}", "{X(6,5,6,30,tw)}{X(5,6,1,6,no-tw),Y(1,7,1,7,no-tw)}",
        "{X(1,5,1,5,no-tw)}{Y(1,7,1,7,no-tw)}{Z(1,11,1,11,no-tw)}"})
    for (const char* name : {"h200", "v100"})
      for (const std::int64_t batch : {1, 3}) {
        const auto device = *known_device(name);
        EXPECT_TRUE(bound(bind(parse_fft_plan(text), device, batch))) << text;
      }
}

TEST(FftBind, KeepsWhatThePlanSays) {
  const auto plan = parse_fft_plan(
      "{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[parts=apart,banks=pad,twiddle=fast]"
      "{Y(16,16,16,256,tw),Y(16,16,1,16,no-tw)}[threads=128,tile=8,banks=swizzle]:order=grouped");
  const auto complete = bind(plan, *known_device("h200"));
  EXPECT_EQ(complete.kernels[0].with.parts, Parts::apart);
  EXPECT_EQ(complete.kernels[0].with.banks, Banks::pad);
  EXPECT_EQ(complete.kernels[0].with.twiddle, TwiddleForm::fast);
  EXPECT_EQ(complete.kernels[1], plan.kernels[1]);
  EXPECT_EQ(complete.order, DigitOrder::grouped);
}

TEST(FftBind, SaysWhichKernelFitsNoDevice) {
  const auto plan = parse_fft_plan(
      "{X(16384,64,16384,1048576,tw),X(16384,64,256,16384,tw),X(65536,16,16,256,tw),X(65536,16,1,16,no-tw)}");
  try {
    bind(plan, *known_device("v100"));
    FAIL() << "bound";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::unsupported);
    EXPECT_NE(std::string(error.what()).find("kernel 1"), std::string::npos);
  }
}

TEST(FftDeviceRules, EachHasItsOwnError) {
  const DeviceTraits h200 = *known_device("h200"), t4 = *known_device("t4");
  DeviceTraits narrow = h200;
  narrow.threads_per_multiprocessor = 512;
  const struct {
    const char* parameters;
    const DeviceTraits& device;
    const char* message;
  } cases[] = {
      {"threads=64,tile=1x4", t4, ""},
      {"threads=1024,tile=1x64", h200, ""},
      {"threads=1024,tile=1x64", t4, "rule shared-memory: kernel 1: a block needs"},
      {"threads=64,tile=1x64", h200, "rule register-file: kernel 1: 256 values"},
      {"threads=64,tile=1x4,registers=16", h200, "rule register-file: kernel 1: registers=16 do not hold"},
      {"threads=1024,tile=1x4", narrow, "rule resident: kernel 1: no block fits"},
      {"threads=64,tile=1x4,load=async,pipeline=1", t4, "rule capability: kernel 1: load=async needs sm_80"},
      {"threads=64,tile=1x4,load=bulk,pipeline=1", t4, "rule capability: kernel 1: load=bulk needs sm_90"},
      {"threads=64,tile=1x4,cluster=2", t4, "rule capability: kernel 1: cluster=2"},
  };
  for (const auto& c : cases) {
    const auto plan = parse_fft_plan("{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[" + std::string(c.parameters) + "]");
    const auto broken = check_device(plan, c.device);
    EXPECT_EQ(broken.empty() ? "" : broken.front().message.substr(0, std::string(c.message).size()), c.message)
        << c.parameters << " on " << c.device.name << (broken.empty() ? "" : broken.front().message);
  }
}

TEST(KnownDevices, HaveAllNumbersThatCandidatesNeed) {
  for (const auto& name : known_device_names()) {
    const auto device = known_device(name);
    ASSERT_TRUE(device) << name;
    EXPECT_GE(device->compute_capability, 70);
    EXPECT_GT(device->multiprocessors, 0);
    EXPECT_GE(device->shared_per_block, 48 * 1024);
    EXPECT_GT(device->memory_bandwidth, 1e11);
    EXPECT_GT(device->clock_hz, 1e9);
  }
  EXPECT_FALSE(known_device("abacus"));
}

TEST(KnownDevices, GiveTheirRatesToWholeGpusOfTheirKind) {
  DeviceTraits h100 = *known_device("h100");
  h100.name = "NVIDIA H100 80GB HBM3", h100.rates = {};
  EXPECT_EQ(known_rates(h100).copy_far, h100_rates.copy_far);
  EXPECT_EQ(known_rates(*known_device("h200")).flops32, h200_rates.flops32);
  EXPECT_EQ(known_rates(*known_device("a100")).copy_far, 0) << "of which there is a data sheet only";
  DeviceTraits other = h100;
  other.name = "NVIDIA H800";
  EXPECT_EQ(known_rates(other).copy_far, 0);
  other = h100, other.multiprocessors = 66;
  EXPECT_EQ(known_rates(other).copy_far, 0) << "half of one";
  other = h100, other.memory_bandwidth = 2.04e12;
  EXPECT_EQ(known_rates(other).copy_far, 0) << "the card with slower memory";
  EXPECT_NE(known_device_date("h100"), "");
  EXPECT_EQ(known_device_date("a100"), "");
}

}  // namespace
}  // namespace fourtune::generator::fft
