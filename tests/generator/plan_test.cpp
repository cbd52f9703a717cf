// The text of plans: one canonical spelling, and refusals that name stage and key.
#include "generator/plan/plan.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <set>

#include "fourtune/device_traits.h"
#include "generator/candidates.h"
#include "tests/support/turns.h"

namespace fourtune::generator {
namespace {

const char* const kType1 = "nufft:type=1,n=128x96,m=100000,prec=f32,tol=1e-4";
const char* const kPlan1 =
    "cpu;threads=2;window=pswf(sigma=1.5,width=6,fine=192x144);sort=tiles(tile=32x16);spread=subgrid(cap=8192,add=lock)"
    ";"
    "interp=tile(cap=8192);fft=pruned(rigor=measure,block=16)";

std::string refusal(const std::string& text, const char* token) {
  try {
    parse_plan(text, parse_problem(token));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_plan) << text;
    return error.what();
  }
  return "accepted";
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = kPlan1;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(PlanText, PrefetchDistancesAreChecked) {
  EXPECT_EQ(refusal(with("add=lock", "add=lock,prefetch=128"), kType1), "accepted");
  EXPECT_NE(refusal(with("add=lock", "add=lock,prefetch=4097"), kType1).find("from 0 to 4096"), std::string::npos);
  EXPECT_NE(
      refusal(with("subgrid(cap=8192,add=lock)", "colour_list(prefetch=64)"), kType1).find("'prefetch' is unknown"),
      std::string::npos);
  // The usual distance is not printed.
  const Problem problem = parse_problem(kType1);
  EXPECT_EQ(to_text(parse_plan(with("add=lock", "add=lock,prefetch=64"), problem), problem),
            to_text(parse_plan(kPlan1, problem), problem));
  for (const char* text : {"colour_index(prefetch=64)", "colour_index"}) {
    const std::string plan = with("subgrid(cap=8192,add=lock)", text);
    EXPECT_EQ(to_text(parse_plan(plan, problem), problem), plan);
  }
  const char* const type2 = "nufft:type=2,n=50,prec=f64,tol=1e-9";
  EXPECT_NE(
      refusal("cpu;threads=1;window=kb(sigma=2,width=10,fine=100);sort=none;spread=atomic;interp=direct(prefetch=0);"
              "fft=pruned(rigor=estimate,block=16)",
              type2)
          .find("leave it out"),
      std::string::npos);
}

// The tuner tries distances where there are any, and only there.
TEST(Candidates, PrefetchDistancesAreVaried) {
  const Problem problem = parse_problem("nufft:type=1,n=64x64x64,m=1000000,prec=f32,tol=1e-3");
  std::set<std::optional<int>> subgrid, colour;
  for (const Candidate& candidate : candidates(problem, cpu_traits()).candidates) {
    const SpreadChoice& spread = candidate.plan.cpu().spread;
    if (spread.family == SpreadFamily::subgrid) subgrid.insert(spread.prefetch);
    if (spread.family == SpreadFamily::colour_index) colour.insert(spread.prefetch);
    if (!may_prefetch(spread.family)) {
      EXPECT_FALSE(spread.prefetch);
    }
  }
  EXPECT_EQ(subgrid, (std::set<std::optional<int>>{std::nullopt, 0, 128, 256}));
  EXPECT_TRUE(colour.empty() || colour == (std::set<std::optional<int>>{std::nullopt, 64, 128, 256}));
}

TEST(PlanText, CanonicalTextsPrintBackUnchanged) {
  const struct {
    const char *problem, *plan;
  } cases[] = {
      {kType1, kPlan1},
      {"fft:type=c2c,n=64x64,prec=f32", "cpu;threads=4;fft=fftw(rigor=patient)"},
      {"fft:type=r2c,n=64,prec=f64,batch=3", "cpu;threads=1;fft=rows(rigor=measure,block=8)"},
      {"nufft:type=2,n=50,prec=f64,tol=1e-9,batch=4",
       "cpu;threads=1;window=kb(sigma=2,width=10,fine=100,table=1024);sort=none;spread=atomic;interp=direct;"
       "fft=pruned(rigor=estimate,block=16);chunk=4"},
      {"nufft:type=3,dim=2,m=100,k=200,prec=f64,tol=1e-10",
       "cpu;threads=2;type3=compose;window=es(sigma=1.25,width=12);inner=es(sigma=2,width=11);sort=tiles(tile=16x16,"
       "copy=0);"
       "spread=colour_list;interp=direct;fft=pruned(rigor=measure,block=16)"},
      {"nufft:type=1,n=30,prec=f64,tol=1e-3",
       "cpu;threads=1;window=es(sigma=2,width=4,fine=60,beta=9.2);sort=none;spread=atomic;interp=direct;"
       "fft=pruned(rigor=measure,block=64)"},
      {"nufft:type=1,n=8x8x8,prec=f64,tol=1e-3",
       "cpu;threads=1;window=pswf(sigma=2,width=4,fine=32x32x32);sort=tiles(tile=8x8x8,local=1);spread=subgrid(cap=64,"
       "add=colour);interp=direct;fft=pruned(rigor=measure,block=64)"},
      {"nufft:type=3,dim=2,m=100,k=200,prec=f64,tol=1e-10",
       "cpu;threads=2;type3=gaussian(r=2.2);sort=tiles(tile=16x16);spread=colour_index;interp=direct;"
       "fft=pruned(rigor=measure,block=16)"},
  };
  for (const auto& c : cases) {
    const Problem problem = parse_problem(c.problem);
    EXPECT_EQ(to_text(parse_plan(c.plan, problem), problem), c.plan);
  }
}

TEST(PlanText, RefusalsNameStageKeyAndRange) {
  const struct {
    std::string text;
    const char *stage, *allowed;
  } cases[] = {
      {with("width=6", "width=99"), "width=99", "from 2 to 16"},
      {with("width=6", "width=six"), "width=six", "number"},
      {with("width=6,", ""), "'width' is missing", "window"},
      {with("sigma=1.5", "sigma=1"), "sigma", "above 1"},
      {with("sigma=1.5", "sigma=nan"), "sigma=nan", "number"},
      {with("sigma=1.5", "sigma=1.5,beta=301"), "beta=301", "0 to 300"},
      {with("fine=192x144", "fine=100x144"), "fine=100", "128 modes"},
      {with("fine=192x144", "fine=192"), "fine=192", "2 numbers"},
      {with("pswf", "boxcar"), "boxcar", "es, kb, pswf, gaussian"},
      {with("subgrid", "magic"), "magic", "subgrid"},
      {with("cap=8192,add", "cap=0,add"), "cap=0", "from 1"},
      {with("add=lock", "add=never"), "never", "lock, colour"},
      {with("tile=32x16", "tile=32x16,turbo=1"), "'turbo'", "unknown"},
      {with("tile=32x16", "tile=32x16,tile=8x8"), "'tile'", "twice"},
      {with("threads=2", "threads=0"), "threads=0", "from 1"},
      {with("sort=tiles(tile=32x16)", "sort=none"), "spread=subgrid", "sort=tiles"},
      {with("fft=pruned(rigor=measure,block=16)", "fft=rows(rigor=measure)"), "rows", "pruned"},
      {with("interp=tile(cap=8192)", "interp=tile(cap=8192"), "interp", ")"},
      {with(";interp=tile(cap=8192)", ""), "'interp'", "missing"},
      {with("cpu;", ""), "backend", "cpu;"},
      {std::string(kPlan1) + ";fft=pruned(rigor=measure)", "'fft'", "twice"},
      {std::string(kPlan1) + ";cache=big", "'cache'", "stages are"},
      {std::string(5000, 'x'), "4096", "longer"},
  };
  for (const auto& c : cases) {
    const std::string message = refusal(c.text, kType1);
    EXPECT_NE(message.find(c.stage), std::string::npos) << c.text << " -> " << message;
    EXPECT_NE(message.find(c.allowed), std::string::npos) << c.text << " -> " << message;
  }
  EXPECT_NE(refusal("cpu;threads=1;fft=pruned(rigor=measure)", "fft:type=c2c,n=8,prec=f32").find("rows"),
            std::string::npos);
  EXPECT_NE(refusal("cpu;threads=1;type3=gaussian(r=2);sort=none;spread=atomic;interp=direct;fft=pruned(rigor=measure)",
                    "nufft:type=3,dim=1,prec=f64,tol=1e-6")
                .find("above 2"),
            std::string::npos);
}

// A range of a plan's text: what stands for the number, and the ends of what is allowed.
struct Range {
  const char* from;
  const char* key;
  std::int64_t least, most;
  const char* rest;  // of what is replaced
};
void expect_ranges(const std::string& plan, const char* token, const std::vector<Range>& ranges) {
  for (const Range& range : ranges)
    for (const auto& [value, allowed] :
         {std::pair{range.least, true}, {range.most, true}, {range.least - 1, false}, {range.most + 1, false}}) {
      std::string text = plan;
      const auto at = text.find(range.from);
      ASSERT_NE(at, std::string::npos) << range.from;
      text.replace(at, std::string(range.from).size(), range.key + std::to_string(value) + range.rest);
      const std::string said = refusal(text, token);
      if (allowed) {
        EXPECT_EQ(said, "accepted") << text;
      } else {
        EXPECT_NE(said.find(std::to_string(value)), std::string::npos) << text << ": " << said;
      }
    }
}

TEST(PlanText, EveryNumberIsAllowedAtTheEndsOfItsRangeAndRefusedBeyond) {
  expect_ranges(kPlan1, kType1,
                {{"threads=2", "threads=", 1, 4096, ""},
                 {"threads=2", "threads=2;chunk=", 1, 1 << 20, ""},
                 {"width=6", "width=", 2, 16, ""},
                 {"width=6", "width=6,table=", 0, 1 << 20, ""},
                 {"fine=192x144", "fine=", 128, std::int64_t{1} << 40, "x144"},
                 {"fine=192x144", "fine=192x", 96, std::int64_t{1} << 40, ""},
                 {"tile=32x16", "tile=", 1, 1 << 20, "x16"},
                 {"tile=32x16", "tile=32x16,copy=", 0, 1, ""},
                 {"tile=32x16", "tile=32x16,local=", 0, 1, ""},
                 {"cap=8192,add", "cap=", 1, 1 << 30, ",add"},
                 {"tile(cap=8192)", "tile(cap=", 1, 1 << 30, ")"},
                 {"block=16", "block=", 1, 4096, ""}});
  for (const auto& [sigma, allowed] : {std::pair{"1.0001", true}, {"4", true}, {"4.0001", false}, {"0.5", false}})
    EXPECT_EQ(refusal(with("sigma=1.5", "sigma=" + std::string(sigma)), kType1) == "accepted", allowed) << sigma;
}

TEST(GpuPlanText, EveryNumberIsAllowedAtTheEndsOfItsRangeAndRefusedBeyond) {
  const std::string plan =
      "cuda;chunk=2;window=pswf(sigma=1.5,width=6,fine=192x144);sort=bins(bin=4x2,order=bins,segment=0,slice=0,cap=256);"
      "spread=tile_owned(lanes=8,warps=1,unroll=2,run=1,split=1,blocks=0,fold=0,group=1,interleave=0);"
      "interp=tiled(lanes=8,warps=2);fft=plain";
  ASSERT_EQ(refusal(plan, kType1), "accepted");
  expect_ranges(plan, kType1,
                {{"chunk=2", "chunk=", 1, 1 << 20, ""},
                 {"bin=4x2", "bin=", 1, 4096, "x2"},
                 {"cap=256", "cap=", 32, 1 << 24, ""},
                 {"segment=0", "segment=", 0, 16384, ""},
                 {"slice=0", "slice=", 0, 1 << 30, ""},
                 {"lanes=8", "lanes=", 1, 32, ""},
                 {"warps=1", "warps=", 1, 32, ""},
                 {"unroll=2", "unroll=", 1, 16, ""},
                 {"run=1", "run=", 1, 2, ""},
                 {"split=1", "split=", 1, 2, ""},
                 {"blocks=0", "blocks=", 0, 32, ""},
                 {"fold=0", "fold=", 0, 1, ""},
                 {"group=1", "group=", 1, 32, ""},
                 {"group=1,interleave=0", "group=2,interleave=", 0, 1, ""}});
}

TEST(PlanText, MutilatedTextsAreRefusedOrCanonicalAndNeverCrash) {
  const Problem problem = parse_problem(kType1);
  std::mt19937 random(11);
  for (int i = 0; i < 20000; ++i) {
    std::string text = kPlan1;
    for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      const int what = static_cast<int>(random() % 3);
      if (what == 0) text.erase(at, 1);
      if (what == 1) text[at] = static_cast<char>(random() % 256);
      if (what == 2) text.insert(at, 1, "();=,x-019e."[random() % 12]);
    }
    if (!test::next_has_turn_under_sanitizers()) continue;
    try {
      const Plan plan = parse_plan(text, problem);
      EXPECT_EQ(parse_plan(to_text(plan, problem), problem), plan) << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_plan) << text;
    }
  }
}

TEST(PlanText, EveryCandidateParsesBack) {
  const DeviceTraits traits = cpu_traits();
  for (const char* token :
       {"nufft:type=1,n=64x64x64,m=500000,prec=f64,tol=1e-6,points=radial",
        "nufft:type=2,n=4096,m=10000,prec=f32,tol=1e-5,batch=32", "fft:type=c2c,n=96x96x96,prec=f64",
        "nufft:type=3,dim=2,m=1024,k=1024,prec=f64,tol=1e-10"}) {
    const Problem problem = parse_problem(token);
    const Space space = candidates(problem, traits);
    EXPECT_GE(space.candidates.size(), problem.kind == Kind::fft ? 6u : 100u) << token;
    for (const Candidate& candidate : space.candidates) {
      ASSERT_EQ(candidate.coordinates.size(), space.axes.size());
      if (!test::next_has_turn_under_sanitizers()) continue;
      const std::string text = to_text(candidate.plan, problem);
      ASSERT_EQ(to_text(parse_plan(text, problem), problem), text);
    }
  }
}

constexpr const char* kGpuTexts[][2] = {
    {"fft:type=c2c,n=256x256x256,prec=f32", "cuda;fft=cufft"},
    {"fft:type=c2c,n=250,prec=f64", "emulated;fft=plain"},
    {"fft:type=c2c,n=256,prec=f32",
     "cuda;fft=interleaved{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=32,tile=1]:order=natural"},
    {"nufft:type=1,n=64x64x64,m=500000,prec=f32,tol=1e-5,batch=4",
     "cuda;window=pswf(sigma=2,width=6,fine=128x128x128);sort=bins(bin=3x3x1,order=slide,placement=two_level,cap=1024,"
     "segment=512,slice=131072);"
     "spread=window(lanes=8,warps=2,unroll=2,run=2,split=1,blocks=3);interp=points(lanes=4,warps=1,unroll=2,run=1,"
     "split=1,blocks=0);"
     "fft=plain;chunk=2"},
    {"nufft:type=2,n=64x64,m=5000,prec=f32,tol=1e-3,batch=9",
     "cuda;window=pswf(sigma=2,width=4,fine=128x128);sort=bins(bin=24x24,order=bins,placement=scatter,cap=1024);"
     "spread=tile_owned(lanes=4,warps=1,unroll=2,run=1,split=1,blocks=0,group=8);interp=tiled(lanes=1,warps=8,unroll=2,"
     "run=1,split=1,blocks=0,group=4,interleave=1);fft=plain;chunk=9"},
    {"nufft:type=2,n=64,m=500,prec=f64,tol=1e-9",
     "emulated;window=es(sigma=1.5,width=12,fine=96);sort=none;spread=points(lanes=4,warps=1,unroll=2,run=1,split=1,"
     "blocks=0);"
     "interp=points(lanes=4,warps=1,unroll=2,run=1,split=1,blocks=0);fft=cufft"},
    {"nufft:type=3,dim=2,m=1024,k=1024,prec=f64,tol=1e-10",
     "cuda;type3=compose;window=pswf(sigma=2,width=13);inner=pswf(sigma=2,width=13);"
     "sort=bins(bin=3x1,order=slide,placement=scatter,cap=1024);targets=none;"
     "spread=window(lanes=8,warps=1,unroll=2,run=1,split=1,blocks=0);interp=points(lanes=2,warps=1,unroll=2,run=1,"
     "split=1,blocks=0);"
     "fft=plain"},
};

TEST(GpuPlanText, IsCanonicalAndKeepsEveryStage) {
  for (const auto& [token, text] : kGpuTexts) {
    const Problem problem = parse_problem(token);
    EXPECT_EQ(to_text(parse_plan(text, problem), problem), text);
  }
}

TEST(GpuPlanText, MutilatedTextsAreRefusedOrCanonicalAndNeverCrash) {
  std::mt19937 random(12);
  for (const auto& [token, original] : kGpuTexts) {
    const Problem problem = parse_problem(token);
    for (int i = 0; i < 3000; ++i) {
      std::string text = original;
      for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
        const std::size_t at = random() % text.size();
        const int what = static_cast<int>(random() % 3);
        if (what == 0) text.erase(at, 1);
        if (what == 1) text[at] = static_cast<char>(random() % 256);
        if (what == 2) text.insert(at, 1, "();=,x-019e.{}[]:"[random() % 17]);
      }
      if (!test::next_has_turn_under_sanitizers()) continue;
      try {
        const Plan plan = parse_plan(text, problem);
        EXPECT_EQ(parse_plan(to_text(plan, problem), problem), plan) << text;
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::invalid_plan) << text << ": " << error.what();
      }
    }
  }
}

TEST(GpuPlanText, ErrorsNameStageAndWhatIsAllowed) {
  constexpr const char* cases[][2] = {
      {"cuda", "stage 'fft' is missing; a whole plan is cuda;fft=..."},
      {"cuda;fft=fftw", "allowed are cufft, plain, interleaved"},
      {"cuda;threads=2;fft=cufft", "stage 'threads'"},
      {"cuda;fft=interleaved{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}:order=natural", "needs threads"},
      {"cuda;fft=interleaved{X(8,16,8,128,tw),X(16,8,1,8,no-tw)}[threads=32,tile=1]", "256"},
  };
  for (const auto& [text, part] : cases) {
    try {
      parse_plan(text, parse_problem("fft:type=c2c,n=256,prec=f32"));
      ADD_FAILURE() << text << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_plan);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace fourtune::generator
