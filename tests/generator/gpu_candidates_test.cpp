// Plans of uniform transforms on GPUs: every candidate can be stored, read back and made into kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/known_devices.h"
#include "generator/candidates.h"
#include "generator/plan/fft/geometry.h"
#include "generator/planner/gpu_fft/planner.h"
#include "generator/planner/gpu_fft/program.h"

namespace fourtune::generator {
namespace {

constexpr const char* kProblems[] = {
    "fft:type=c2c,n=128x128x128,prec=f32",     "fft:type=c2c,n=64x48x40,prec=f64,place=in",
    "fft:type=c2c,n=4096,prec=f32,batch=64",   "fft:type=c2c,n=1x96x5,prec=f64,sign=1",
    "fft:type=c2c,n=512x512,prec=f32,batch=3", "fft:type=c2c,n=15x7x9,prec=f32",
    "fft:type=c2c,n=1009,prec=f64,batch=8",    "fft:type=r2c,n=100x100x100,prec=f32",
    "fft:type=r2c,n=60x40,prec=f64,place=in",  "fft:type=c2r,n=60x40,prec=f64,batch=3",
    "fft:type=c2r,n=1x32,prec=f32,sign=1",     "fft:type=c2c,n=1048576,prec=f64",
};

// Fewer plans of each kind run the same code in less time.
fft::EnumerationLimits few() {
  fft::EnumerationLimits limits;
  limits.plans = 40;
  limits.groupings = 6;
  limits.shapes = 6;
  limits.block_orders = 2;
  return limits;
}

DeviceTraits emulated() {
  DeviceTraits traits = *known_device("h200");
  traits.backend = "emulated";
  return traits;
}

bool has(const Space& space, GpuFftFamily family) {
  return std::any_of(space.candidates.begin(), space.candidates.end(),
                     [&](const Candidate& c) { return c.plan.gpu().fft.family == family; });
}

TEST(GpuFftCandidates, ParseBackAndHavePrograms) {
  for (const char* token : kProblems)
    for (const char* device : {"h200", "t4"}) {
      SCOPED_TRACE(std::string(token) + " on " + device);
      const Problem problem = parse_problem(token);
      const DeviceTraits traits = *known_device(device);
      const GpuFftSpace found = gpu_fft_candidates(problem, traits, few());
      const auto& list = found.space.candidates;
      ASSERT_FALSE(list.empty());
      EXPECT_EQ(has(found.space, GpuFftFamily::cufft), problem.fft_type != FftType::c2r || problem.sign == 1);
      std::set<std::string> texts;
      std::set<std::vector<int>> places;
      for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string text = to_text(list[i].plan, problem);
        EXPECT_TRUE(texts.insert(text).second) << text;
        EXPECT_TRUE(places.insert(list[i].coordinates).second) << text;
        EXPECT_EQ(list[i].coordinates.size(), found.space.axes.size());
        EXPECT_GT(list[i].estimate, 0) << text;
        ASSERT_EQ(parse_plan(text, problem), list[i].plan) << text;
        if (i % 23 == 0) {
          EXPECT_NO_THROW(gpu_fft_program(problem, list[i].plan, traits)) << text;
        }
      }
    }
}

TEST(GpuFftCandidates, IncludeTheDefaultAndTheLibraryWhereThereIsOne) {
  for (const char* token : kProblems) {
    SCOPED_TRACE(token);
    const Problem problem = parse_problem(token);
    const Plan untuned = default_plan(problem, *known_device("h200"));
    const GpuFftSpace found = gpu_fft_candidates(problem, *known_device("h200"), few());
    EXPECT_TRUE(std::any_of(found.space.candidates.begin(), found.space.candidates.end(), [&](const Candidate& c) {
      return c.plan == untuned;
    })) << to_text(untuned, problem);
    EXPECT_FALSE(has(gpu_fft_candidates(problem, emulated(), few()).space, GpuFftFamily::cufft));
  }
}

// cuFFT has three dimensions at most.
TEST(GpuFftCandidates, OfFourDimensionsAreOurKernels) {
  for (const char* token : {"fft:type=c2c,n=16x16x16x16,prec=f32", "fft:type=r2c,n=16x12x10x8,prec=f64,batch=2",
                            "fft:type=c2r,n=12x1x8x6,prec=f32", "fft:type=c2c,n=4x67x3x2,prec=f64,place=in"}) {
    SCOPED_TRACE(token);
    const Problem problem = parse_problem(token);
    const DeviceTraits h200 = *known_device("h200");
    const Plan untuned = default_plan(problem, h200);
    EXPECT_NE(untuned.gpu().fft.family, GpuFftFamily::cufft);
    const GpuFftSpace found = gpu_fft_candidates(problem, h200, few());
    EXPECT_FALSE(has(found.space, GpuFftFamily::cufft));
    EXPECT_EQ(has(found.space, GpuFftFamily::interleaved), problem.n[1] != 67);
    for (const Candidate& candidate : found.space.candidates)
      ASSERT_EQ(parse_plan(to_text(candidate.plan, problem), problem), candidate.plan);
  }
}

TEST(GpuFftCandidates, AreTheSameEveryTime) {
  const Problem problem = parse_problem("fft:type=c2c,n=64x64,prec=f32");
  const Space a = gpu_fft_candidates(problem, emulated(), few()).space;
  const Space b = gpu_fft_candidates(problem, emulated(), few()).space;
  ASSERT_EQ(a.candidates.size(), b.candidates.size());
  for (std::size_t i = 0; i < a.candidates.size(); ++i) {
    EXPECT_EQ(a.candidates[i].plan, b.candidates[i].plan);
    EXPECT_EQ(a.candidates[i].coordinates, b.candidates[i].coordinates);
  }
}

TEST(GpuFftCandidates, AreCountedRuleByRule) {
  const GpuFftSpace found =
      gpu_fft_candidates(parse_problem("fft:type=c2c,n=64x64x64,prec=f32"), *known_device("h200"), few());
  ASSERT_FALSE(found.counts.empty());
  for (const fft::RuleCount& row : found.counts) EXPECT_LE(row.after, row.before) << row.rule;
  EXPECT_EQ(found.counts.back().after, static_cast<double>(found.space.candidates.size() - 2));  // cufft and plain
}

TEST(GpuFftDefault, IsWhatTheEstimatesExpectToBeFaster) {
  const auto family = [](const char* token, const DeviceTraits& traits) {
    return default_plan(parse_problem(token), traits).gpu().fft.family;
  };
  const DeviceTraits h200 = *known_device("h200");
  for (const char* token :
       {"fft:type=c2c,n=4096,prec=f32", "fft:type=r2c,n=128x128x128,prec=f64", "fft:type=c2c,n=1,prec=f32"})
    EXPECT_EQ(family(token, h200), GpuFftFamily::plain) << token;
  // Short lines pass through memory once whoever does them.
  EXPECT_EQ(family("fft:type=c2c,n=64,prec=f32,batch=262144", h200), GpuFftFamily::plain);
  // The library has fewer kernels than the plain plan.
  EXPECT_EQ(family("fft:type=r2c,n=65536,prec=f32,batch=128", h200), GpuFftFamily::cufft);
  // Fewer passes through memory than either: what the tuner finds too.
  EXPECT_EQ(family("fft:type=c2c,n=1048576,prec=f32,batch=64", h200), GpuFftFamily::interleaved);
  EXPECT_EQ(family("fft:type=c2c,n=256x256x256,prec=f32", h200), GpuFftFamily::interleaved);
  EXPECT_EQ(family("fft:type=c2c,n=64x64x64,prec=f32,batch=128", h200), GpuFftFamily::interleaved);
  EXPECT_EQ(family("fft:type=r2c,n=64x64x64,prec=f32,batch=64", h200), GpuFftFamily::interleaved);
}

// Below the cache kernels wait more than they move. The library takes longer than ours for primes between 64 and 128.
TEST(GpuFftDefault, CountsWhatKernelsWaitForBelowTheCache) {
  const auto library = [](const char* token) {
    return default_plan(parse_problem(token), *known_device("h100")).gpu().fft.family == GpuFftFamily::cufft;
  };
  for (const char* token :
       {"fft:type=c2c,n=256,prec=f32", "fft:type=c2c,n=4096,prec=f32,batch=8", "fft:type=c2c,n=64x64x64,prec=f32",
        "fft:type=r2c,n=79x79x79,prec=f64,batch=2", "fft:type=r2c,n=113x113x113,prec=f32,batch=2"})
    EXPECT_FALSE(library(token)) << token;
}

TEST(GpuFftCost, OfKernelsThatDoNotFillTheDeviceGrowsNoFasterThanTheirNumber) {
  const DeviceTraits h100 = *known_device("h100");
  const auto seconds = [&](const char* token) {
    const Problem problem = parse_problem(token);
    return gpu_fft_estimate(default_plan(problem, h100), problem, h100).execute;
  };
  const double one = seconds("fft:type=c2c,n=1024,prec=f32");
  EXPECT_GT(one, 1e-6);
  EXPECT_LT(one, 5e-6);
  EXPECT_LT(seconds("fft:type=c2c,n=1024,prec=f32,batch=64"), 1.2 * one);
  EXPECT_GT(seconds("fft:type=c2c,n=1024,prec=f32,batch=65536"), 50 * one);
}

// Threads hold 28 or 29 values of 14580, so that each radix is a separate round, with an exchange before it.
TEST(GpuFftCost, CountsEveryRoundOfTilesThatThreadsDoNotShareEvenly) {
  const DeviceTraits h200 = *known_device("h200");
  const Problem problem = parse_problem("fft:type=c2c,n=14580,prec=f32,batch=638");
  const auto seconds = [&](const char* kernel) {
    const Plan plan = parse_plan(std::string("cuda;fft=interleaved") + kernel + ":order=natural", problem);
    return gpu_fft_estimate(plan, problem, h200).execute;
  };
  const double seven = seconds(
      "{X(4860,3,4860,14580,tw),X(4860,3,1620,4860,tw),X(4860,3,540,1620,tw),X(4860,3,180,540,tw),X(2430,6,30,180,tw),"
      "X(2916,5,6,30,tw),X(2430,6,1,6,no-tw)}[threads=512,tile=1]");
  EXPECT_GT(seven,
            1.1 * seconds("{X(540,27,540,14580,tw),X(540,27,20,540,tw),X(729,20,1,20,no-tw)}[threads=736,tile=1]"));
}

// Half spectra are half of the work along the other dimensions, except for what comes before x in an r2c.
TEST(GpuFftCost, OfRealTransformsCountsWhatIsHalved) {
  const DeviceTraits h200 = *known_device("h200");
  const auto seconds = [&](const char* token, const char* kernels) {
    const Problem problem = parse_problem(token);
    const Plan plan = parse_plan(std::string("cuda;fft=interleaved") + kernels + ":order=natural", problem);
    return gpu_fft_estimate(plan, problem, h200).execute;
  };
  const std::string x = "{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=128,tile=1x8,to=work]";
  const std::string y = "{Y(16,16,16,256,tw),Y(16,16,1,16,no-tw)}[threads=256,tile=32,to=work]";
  const std::string last_x = x.substr(0, x.find(",to=")) + "]", last_y = y.substr(0, y.find(",to=")) + "]";
  const char* real = "fft:type=r2c,n=256x256,prec=f32,batch=512";
  const double whole = seconds("fft:type=c2c,n=256x256,prec=f32,batch=512", (x + last_y).c_str());
  const double x_first = seconds(real, (x + last_y).c_str()), y_first = seconds(real, (y + last_x).c_str());
  EXPECT_LT(x_first, 0.65 * whole);
  EXPECT_GT(y_first, 1.2 * x_first);
  EXPECT_LT(y_first, whole);
}

// Cuts the same problem of arrays that a larger cache holds: the choice follows the traits and no list of devices.
// Blocks that do not quite fit the device at once, and the same kernel with registers for one more of them.
TEST(GpuFftDefault, LimitsRegistersWhereAllBlocksThenRunAtOnce) {
  const auto registers = [](const char* token) {
    const Plan plan = default_plan(parse_problem(token), *known_device("h100"));
    return plan.gpu().fft.family == GpuFftFamily::interleaved ? plan.gpu().fft.plan.kernels.front().with.registers : 0;
  };
  EXPECT_EQ(registers("fft:type=c2c,n=2736,prec=f32,batch=553"), 64) << "five blocks of 192 threads for four";
  EXPECT_EQ(registers("fft:type=c2c,n=2736,prec=f32,batch=520"), 0) << "they run at once as they are";
  EXPECT_EQ(registers("fft:type=c2r,n=5472,prec=f32,batch=553"), 0) << "half lines are in no notation";
}

// Plans are listed beside a plain one of a single kernel only past the cache.
TEST(GpuFftDefault, FollowsTheCacheOfTheDevice) {
  const Problem problem = parse_problem("fft:type=r2c,n=729,prec=f32,batch=11507");  // 34 MB and 34 MB
  DeviceTraits traits = *known_device("h200");
  EXPECT_EQ(default_plan(problem, traits).gpu().fft.family, GpuFftFamily::interleaved);
  traits.l2_bytes = std::int64_t{256} << 20;
  EXPECT_EQ(default_plan(problem, traits).gpu().fft.family, GpuFftFamily::plain);
}

// Below it, too, two kernels are taken for three where the estimates expect something of that.
TEST(GpuFftDefault, HasFewerKernelsBelowTheCache) {
  const Plan plan = default_plan(parse_problem("fft:type=c2c,n=12x256x8,prec=f64"), *known_device("h200"));
  ASSERT_EQ(plan.gpu().fft.family, GpuFftFamily::interleaved);
  EXPECT_EQ(plan.gpu().fft.plan.kernels.size(), 2u);
}

// The library is a choice only where it does the problem.
TEST(GpuFftDefault, IsOursWhereTheLibraryDoesNotDoTheProblem) {
  const auto library = [](const char* token, const DeviceTraits& traits) {
    return default_plan(parse_problem(token), traits).gpu().fft.family == GpuFftFamily::cufft;
  };
  const DeviceTraits h200 = *known_device("h200");
  EXPECT_FALSE(library("fft:type=c2c,n=1048576,prec=f32,batch=64,layout=2+2097152/1+1048576", h200));
  EXPECT_FALSE(library("fft:type=c2c,n=1048576,prec=f32,batch=64", emulated()));
  EXPECT_TRUE(library("fft:type=r2c,n=65536,prec=f32,batch=128", h200));
  EXPECT_FALSE(library("fft:type=r2c,n=65536,prec=f32,batch=128,sign=1", h200));
  // It needs a copy of the input of a c2r.
  EXPECT_FALSE(library("fft:type=c2r,n=65536,prec=f32,batch=128,sign=1", h200));
  // It convolves primes in more passes than ours.
  EXPECT_FALSE(library("fft:type=r2c,n=2449x2449,prec=f64", h200));
  EXPECT_FALSE(library("fft:type=c2c,n=60x2503x16,prec=f32", h200));
  EXPECT_FALSE(library("fft:type=r2c,n=67x64,prec=f32", emulated()));
}

// Whatever is chosen runs, and parses back.
TEST(GpuFftDefault, HasAProgramPastTheCacheOfEveryDevice) {
  for (const auto& name : known_device_names())
    for (const char* token :
         {"fft:type=c2c,n=35x64x32,prec=f32,batch=122", "fft:type=c2c,n=131072,prec=f64,batch=17",
          "fft:type=c2c,n=2048000,prec=f32,batch=5,place=in", "fft:type=c2c,n=10x22x418,prec=f64,batch=102,place=in",
          "fft:type=c2c,n=1x1x4096,prec=f32,batch=4000", "fft:type=c2c,n=1,prec=f32,batch=20000000"}) {
      const DeviceTraits traits = *known_device(name);
      const Problem problem = parse_problem(token);
      const Plan plan = default_plan(problem, traits);
      SCOPED_TRACE(name + " " + to_text(plan, problem));
      EXPECT_EQ(parse_plan(to_text(plan, problem), problem), plan);
      if (plan.gpu().fft.family != GpuFftFamily::cufft) {
        EXPECT_NO_THROW(gpu_fft_program(problem, plan, traits));
      }
    }
}

TEST(GpuFftDefault, SaysWhatThePlanIs) {
  const auto why = [](const char* token, const DeviceTraits& traits) {
    std::string text;
    default_plan(parse_problem(token), traits, &text);
    return text;
  };
  const DeviceTraits h200 = *known_device("h200");
  EXPECT_NE(why("fft:type=r2c,n=65536,prec=f32,batch=128", h200).find("cuFFT, which the estimates expect"),
            std::string::npos);
  EXPECT_NE(why("fft:type=c2c,n=256x256x256,prec=f32", h200).find("best of a short list"), std::string::npos);
  EXPECT_NE(why("fft:type=c2c,n=1000,prec=f32", h200).find("kernels that take any size"), std::string::npos);
  EXPECT_NE(why("nufft:type=1,n=16x16,m=100,prec=f32,tol=1e-3", h200).find("cost model"), std::string::npos);
  // If none of our kernels supports the problem, the library does it and the reason is given; without a library this is
  // an error.
  const char* prime = "fft:type=c2c,n=16777259,prec=f32";
  EXPECT_NE(why(prime, h200).find("no generated kernels take this problem: length 16777259"), std::string::npos)
      << why(prime, h200);
  EXPECT_THROW(why(prime, emulated()), Error);
}

// The adjoint of a complex transform uses the same plan: bulk copies of one side are loads of the other's.
TEST(GpuFftDefault, RunsBothWaysWhereOneArrayIsStrided) {
  const DeviceTraits h200 = *known_device("h200");
  for (const char* layout : {"2x512x131072/1x256x65536", "1x256x65536/2x512x131072"}) {
    const Problem problem = parse_problem(std::string("fft:type=c2c,n=256x256x256,prec=f32,layout=") + layout);
    Problem back = problem;
    std::swap(back.input_layout, back.output_layout), back.sign = 1;
    const Plan plan = default_plan(problem, h200);
    EXPECT_NO_THROW(gpu_fft_program(problem, plan, h200)) << to_text(plan, problem);
    EXPECT_NO_THROW(gpu_fft_program(back, plan, h200)) << to_text(plan, problem);
  }
}

TEST(GpuFftAdapt, KeepsAPlanForTheSameLengthsOnly) {
  const DeviceTraits h200 = *known_device("h200");
  const Problem problem = parse_problem("fft:type=c2c,n=256x256x256,prec=f32");
  const Plan plan = parse_plan(
      "cuda;fft=interleaved{Z(32,8,32,256,tw),Y(64,4,64,256,tw),Y(8,32,2,64,tw)}[threads=512,tile=16,parts=apart,store="
      "sorted]{X(16,16,16,256,tw),X(16,16,1,16,no-tw),Y(128,2,1,2,no-tw),Z(8,32,1,32,no-tw)}[threads=512,tile=1,parts="
      "apart,load=bulk,pipeline=1]:order=natural",
      problem);
  Problem batched = problem, moved = problem, longer = problem;
  batched.batch = 4;
  moved.place = Place::in;
  longer.n = {256, 256, 512};
  EXPECT_EQ(adapt(plan, batched, h200), plan);
  EXPECT_EQ(adapt(plan, moved, h200).gpu().fft.plan.place, Place::in);
  EXPECT_THROW(adapt(plan, longer, h200), Error);
  EXPECT_THROW(adapt(plan, problem, *known_device("t4")), Error);  // bulk copies, large tiles
  EXPECT_EQ(adapt(plan, problem, emulated()).backend, "emulated");
  Plan processor;
  EXPECT_THROW(adapt(processor, problem, h200), Error);
}

TEST(GpuFftCost, MoreWorkCostsMoreAndTheFloorIsBelow) {
  const DeviceTraits h200 = *known_device("h200");
  const auto cost = [&](const char* token) {
    const Problem problem = parse_problem(token);
    const Plan plan = default_plan(problem, h200);
    const double seconds = estimate(plan, problem, h200).execute;
    EXPECT_LE(floor_seconds(plan, problem, h200), seconds) << token;
    return seconds;
  };
  EXPECT_GT(cost("fft:type=c2c,n=512x512x512,prec=f32"), cost("fft:type=c2c,n=256x256x256,prec=f32"));
  EXPECT_GT(cost("fft:type=c2c,n=256x256x256,prec=f64"), cost("fft:type=c2c,n=256x256x256,prec=f32"));
  EXPECT_GT(cost("fft:type=c2c,n=100x100x100,prec=f32,batch=8"), cost("fft:type=c2c,n=100x100x100,prec=f32"));
  EXPECT_GT(cost("fft:type=c2c,n=100x100x100,prec=f32"), cost("fft:type=r2c,n=100x100x100,prec=f32"));
}

TEST(GpuFftProgram, RefusesPlansThatWouldBeWrong) {
  const DeviceTraits h200 = *known_device("h200");
  const auto why = [&](const char* token, const std::string& fft) {
    const Problem problem = parse_problem(token);
    try {
      gpu_fft_program(problem, parse_plan("cuda;fft=interleaved" + fft, problem), h200);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const char* natural =
      "{X(1,16,1,16,no-tw)}[threads=32,tile=1x16]{Y(1,16,1,16,no-tw)}[threads=32,tile=16]:order=natural";
  const char* worked =
      "{X(1,16,1,16,no-tw)}[threads=32,tile=1x16,to=work]{Y(1,16,1,16,no-tw)}[threads=32,tile=16]:order=natural";
  EXPECT_EQ(why("fft:type=c2c,n=16x16,prec=f32", natural), "");
  EXPECT_NE(why("fft:type=c2c,n=16x16,prec=f32",
                "{X(1,16,1,16,no-tw)}[threads=32,tile=1x16]{Y(1,16,1,16,no-tw)}["
                "threads=32,tile=16]")
                .find("order=natural"),
            std::string::npos);
  // A strided output has gaps that must not be written.
  const char* strided = "fft:type=c2c,n=16x16,prec=f32,layout=1x16+256/2x40+700";
  EXPECT_NE(why(strided, natural).find("to=work"), std::string::npos) << why(strided, natural);
  EXPECT_EQ(why(strided, worked), "");
  const char* early =
      "{X(1,16,1,16,no-tw)}[threads=32,tile=1x9,to=work]{Y(1,16,1,16,no-tw)}[threads=32,tile=16]:order=natural";
  EXPECT_NE(why("fft:type=c2r,n=16x16,prec=f32", early).find("half spectrum"), std::string::npos);
  const char* bulk =
      "{X(1,15,1,15,no-tw)}[threads=32,tile=1x1,load=bulk,pipeline=1]{Y(1,16,1,16,no-tw)}[threads=32,tile=15]:order="
      "natural";
  EXPECT_NE(why("fft:type=c2c,n=15x16,prec=f32", bulk).find("16 bytes"), std::string::npos);
}

}  // namespace
}  // namespace fourtune::generator
