// Drawing problems, and cases as text: the same on every machine.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/known_devices.h"
#include "runtime/backends/families.h"
#include "tests/support/golden.h"
#include "tools/common/errors.h"
#include "tools/common/problem_draw.h"
#include "tools/common/python_random.h"
#include "tools/soak/case.h"
#include "tools/soak/data.h"
#include "tools/soak/plan.h"
#include "tools/soak/points.h"

namespace fourtune::tools {
namespace {

std::vector<std::string> drawn(Kind kind, std::uint64_t seed, double megabytes, int count) {
  ProblemDraw draw(kind, seed, megabytes);
  std::vector<std::string> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(draw.next());
  return tokens;
}

// One case for each problem that a few seeds give.
std::vector<SoakCase> many_cases(int each) {
  std::vector<SoakCase> cases;
  for (const Kind kind : {Kind::fft, Kind::nufft}) {
    ProblemDraw draw(kind, 5, 1);
    tuner::Random random(3);
    for (int i = 0; i < each; ++i) cases.push_back(draw_case(draw.next(), random, 1));
  }
  return cases;
}

TEST(SoakDraw, GivesTheNumbersOfPython) {
  PythonRandom random("fft 7");
  EXPECT_EQ(random.random(), 0.3485412463729055);
  EXPECT_EQ(random.random(), 0.8358835034306494);
  EXPECT_EQ(random.random(), 0.768807265100208);
  constexpr int weights[] = {6, 2, 1};
  EXPECT_EQ(random.choices(weights), 0u);
  EXPECT_EQ(random.choice(9), 7u);
  EXPECT_EQ(random.uniform(-2, 5), 1.370168962252432);
}

TEST(SoakDraw, GivesTheTokensOfThePythonProgram) {
  EXPECT_EQ(
      drawn(Kind::fft, 7, 600, 6),
      (std::vector<std::string>{"fft:type=c2c,n=315x40,prec=f64", "fft:type=c2c,n=135x135x135,prec=f32",
                                "fft:type=c2c,n=16,prec=f32,batch=1909", "fft:type=c2c,n=259,prec=f32",
                                "fft:type=c2c,n=22,prec=f32,batch=13", "fft:type=c2c,n=1228800,prec=f32,batch=4"}));
  EXPECT_EQ(drawn(Kind::nufft, 7, 600, 6),
            (std::vector<std::string>{"nufft:type=1,n=672x32,m=17290,prec=f32,tol=2.2e-04",
                                      "nufft:type=1,n=64x64x64,m=15736,prec=f64,tol=6.1e-10,batch=16,points=radial",
                                      "nufft:type=1,n=441x1024,m=69677,prec=f64,tol=1.3e-12,batch=8,points=radial",
                                      "nufft:type=2,n=256x24x90,m=3643170,prec=f64,tol=3.1e-08",
                                      "nufft:type=1,n=86765,m=26120,prec=f32,tol=1.0e-02",
                                      "nufft:type=1,n=256x256x256,m=2121730,prec=f64,tol=1.3e-02,points=radial"}));
  EXPECT_EQ(drawn(Kind::fft, 3, 1, 5),
            (std::vector<std::string>{"fft:type=c2c,n=40x40,prec=f32", "fft:type=c2r,n=32x32,prec=f64",
                                      "fft:type=c2r,n=18x2048,prec=f32", "fft:type=c2c,n=8x8,prec=f64,batch=11",
                                      "fft:type=c2c,n=8192,prec=f64,batch=2"}));
  EXPECT_EQ(drawn(Kind::nufft, 3, 1, 3),
            (std::vector<std::string>{"nufft:type=2,n=32x32x32,m=1267,prec=f64,tol=2.9e-11",
                                      "nufft:type=3,dim=3,m=1331,k=2789,prec=f64,tol=2.7e-03",
                                      "nufft:type=3,dim=3,m=1029,k=358,prec=f64,tol=1.1e-07"}));
}

// The tuner never tries the published methods of a GPU, so a share of the drawn plans has them.
TEST(SoakDraw, DrawsPublishedMethods) {
  SoakCase one;
  one.problem = parse_problem("nufft:type=1,n=30x20,m=1000,prec=f32,tol=1e-4");
  const DeviceTraits h200 = *generator::known_device("h200");
  const auto methods = [&](std::uint64_t draws) {
    std::set<std::string> found;
    for (std::uint64_t seed = 0; seed < draws && found.size() < 3; ++seed) {
      const std::string plan = draw_plan(one, PlanKind::candidate, h200, seed);
      for (const char* method : {"spread=gm(", "spread=gm_sort(", "spread=sm("})
        if (plan.find(method) != std::string::npos) found.insert(method);
    }
    return found.size();
  };
  EXPECT_EQ(methods(200), 3u);
  one.deterministic = true;
  EXPECT_EQ(methods(60), 0u);
}

// Cases of a seed, header "fft 5 1": kind, seed and megabytes; the plans that a case is tried with on two devices; a
// digest of more cases.
std::string cases_text(const std::string& header) {
  std::istringstream words(header);
  std::string kind;
  std::uint64_t seed = 0;
  double megabytes = 0;
  words >> kind >> seed >> megabytes;
  ProblemDraw draw(kind == "fft" ? Kind::fft : Kind::nufft, seed, megabytes);
  tuner::Random random(seed + 1);
  DeviceTraits processor;
  processor.backend = "cpu", processor.isa = "avx2", processor.cores = 4;
  processor.l1_bytes = 32 << 10, processor.l2_bytes = 1 << 20, processor.l3_bytes = 32 << 20;
  std::string text = header + "\n";
  for (int i = 0; i < 2; ++i) {
    const SoakCase one = draw_case(draw.next(), random, megabytes);
    text += "  " + to_text(one) + "\n";
    for (const DeviceTraits& device : {processor, *generator::known_device("h200")})
      for (const PlanKind plan : {PlanKind::candidate, PlanKind::adapted}) {
        std::string chosen;
        try {
          chosen = draw_plan(one, plan, device, seed + static_cast<std::uint64_t>(i));
        } catch (const Error& error) {
          chosen = error.what();
        }
        text += "    " + chosen + "\n";
      }
  }
  test::Digest more;
  for (int i = 0; i < 100; ++i) more.add(to_text(draw_case(draw.next(), random, megabytes)));
  return text + "  " + more.text() + "\n";
}

TEST(SoakDraw, ASeedGivesTheSameCasesAndPlansOnEveryMachine) {
  if (!runtime::has_fftw()) GTEST_SKIP() << "recorded by a build with FFTW, whose estimate may run untuned";
  test::GoldenFile("soak.txt", cases_text).compare(0, 1);
}

TEST(SoakDraw, EveryTokenParsesAlsoAtTheLeastSize) {
  for (const Kind kind : {Kind::fft, Kind::nufft})
    for (const std::string& token : drawn(kind, 1, kLeastMegabytes, 50)) EXPECT_NO_THROW(parse_problem(token)) << token;
}

TEST(SoakCase, TextParsesBack) {
  for (const SoakCase& one : many_cases(300)) EXPECT_EQ(parse_case(to_text(one)), one) << to_text(one);
}

TEST(SoakCase, TokensAreTypedInManyWaysAndMeanTheSame) {
  std::set<char> seen;
  for (const SoakCase& one : many_cases(150)) {
    const std::string typed = typed_token(one);
    EXPECT_EQ(parse_typed_problem(typed), one.problem) << typed;
    seen.insert(typed.begin(), typed.end());
  }
  for (const char c : std::string(" ^_*NFT")) EXPECT_TRUE(seen.count(c)) << c;
}

TEST(SoakCase, EveryOptionIsDrawnNowAndThen) {
  std::set<std::string> seen;
  for (const SoakCase& one : many_cases(600)) {
    const std::string text = to_text(one);
    for (const char* word : {" shared",
                             " streamed",
                             " adjoint",
                             " order=fft",
                             " only=spread",
                             " only=interpolate",
                             " only=spread_centred",
                             " only=interpolate_centred",
                             " distinct",
                             " deterministic",
                             " trust",
                             " at=far",
                             " at=folded",
                             " at=duplicated",
                             " at=borders",
                             " threads=",
                             ",layout=",
                             ",extent=",
                             ",sign=",
                             ",place=in",
                             "points=spiral",
                             "points=stack",
                             "points=ewald"})
      if (text.find(word) != std::string::npos) seen.insert(word);
  }
  EXPECT_EQ(seen.size(), 23u);
}

// Distinct coordinates along x of both sides, except for the two points that define the extent.
std::pair<std::size_t, std::size_t> places_of(const std::string& words) {
  const auto points =
      make_case_points<double>(parse_case("nufft:type=3,dim=1,m=400,k=300,prec=f64,tol=1e-6" + words), 0);
  const auto count = [](const auto& x) { return std::set(x.begin() + 2, x.end()).size(); };
  return {count(points.sources.x[0]), count(points.targets.x[0])};
}

TEST(SoakCase, PointsOfAType3AreMovedOnlyAsTheCaseSays) {
  EXPECT_EQ(places_of(""), (std::pair<std::size_t, std::size_t>{398, 298}));
  EXPECT_EQ(places_of(" at=far"), (std::pair<std::size_t, std::size_t>{398, 298}));
  const auto [sources, targets] = places_of(" at=borders");
  EXPECT_LE(sources, 33u);
  EXPECT_LE(targets, 33u);
  EXPECT_GT(sources, 8u);
}

TEST(SoakCase, NoTwoElementsOfADrawnLayoutShareAPlace) {
  for (const SoakCase& one : many_cases(150)) {
    if (one.problem.kind != Kind::fft) continue;
    const CaseData data(one);
    for (const ArraySide& side : {data.from, data.to}) {
      std::set<std::int64_t> places;
      std::int64_t elements = 0;
      side.each([&](std::int64_t at) { places.insert(at), ++elements; });
      ASSERT_EQ(static_cast<std::int64_t>(places.size()), elements) << to_text(one);
      ASSERT_LE((*places.rbegin() + side.parts) * side.real_size, static_cast<std::int64_t>(side.bytes()));
    }
  }
}

TEST(SoakCase, WhatIsNoCaseIsRefusedByName) {
  EXPECT_THROW(parse_case(""), UsageError);
  EXPECT_THROW(parse_case("nufft:type=1,n=8,prec=f32,tol=0.1"), UsageError);  // m is required
  EXPECT_THROW(parse_case("fft:type=c2c,n=8,prec=f32 at=home"), UsageError);
  EXPECT_THROW(parse_case("fft:type=c2c,n=8,prec=f32 threads=two"), UsageError);
  EXPECT_THROW(parse_case("fft:type=c2c,n=8,prec=f31"), Error);
}

// Only what the tuner itself may drop, or a paper's rule of thumb, may miss the bound.
TEST(SoakPlan, CandidatesAndThePapersGaussianHaveSlack) {
  const SoakCase type1 = parse_case("nufft:type=1,n=8x8,m=50,prec=f32,tol=1e-2"),
                 type3 = parse_case("nufft:type=3,dim=1,m=50,k=20,prec=f64,tol=1e-6");
  EXPECT_EQ(slack_of(type1, PlanKind::candidate, "cpu"), 10);
  for (const PlanKind kind : {PlanKind::untuned, PlanKind::adapted, PlanKind::shipped, PlanKind::given}) {
    EXPECT_EQ(slack_of(type1, kind, "cpu;window=pswf"), 1) << to_string(kind);
    EXPECT_EQ(slack_of(type1, kind, "cpu;window=gaussian"), 1) << to_string(kind);
    EXPECT_GT(slack_of(type3, kind, "cpu;type3=gaussian"), 1e6) << to_string(kind);
  }
}

}  // namespace
}  // namespace fourtune::tools
