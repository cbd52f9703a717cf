// The packs of db/packs, which come with the library: whole, of this plan language, and used where they were measured.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "base/known_devices.h"
#include "db/lookup.h"
#include "db/pack.h"
#include "db/pack_index.h"
#include "generator/candidates.h"
#include "runtime/environment.h"
#include "runtime/plan_sources.h"
#include "runtime/resolve.h"
#include "tests/support/turns.h"

namespace fourtune::runtime {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = fs::path(FOURTUNE_SOURCE_DIR) / "db" / "packs";

db::Lookup with_pack(const char* name) {
  const std::vector<db::PlanSource> packs{{kFolder / name, {}}};
  return db::Lookup::load({}, packs);
}
std::vector<db::PackPlan> plans_of(const char* name) {
  std::size_t damaged = 0;
  std::vector<db::PackPlan> plans = db::Pack::open(kFolder / name)->contents(damaged).plans;
  EXPECT_EQ(damaged, 0u);
  return plans;
}

TEST(ShippedPacks, AreWholeAndOfThisPlanLanguage) {
  for (const char* name : {"h100.pack", "h200.pack", "xeon.pack"}) {
    SCOPED_TRACE(name);
    const db::Lookup lookup = with_pack(name);
    ASSERT_EQ(lookup.layers().size(), 2u);
    ASSERT_TRUE(lookup.layers()[1].usable) << lookup.layers()[1].reason;
    EXPECT_FALSE(lookup.layers()[1].pack->manifest().licence.empty());
    for (const auto& winner : plans_of(name))
      EXPECT_EQ(winner.environment.generator, environment_at_hand(cpu_traits()).generator)
          << "make the pack again (tools/make_pack)";
  }
}

TEST(ShippedPacks, HaveTheirIndices) {
  for (const char* name : {"h100.pack", "h200.pack", "xeon.pack"}) {
    std::ifstream in(kFolder / name, std::ios::binary), index(db::index_path(kFolder / name));
    const std::string file{std::istreambuf_iterator<char>(in), {}}, text{std::istreambuf_iterator<char>(index), {}};
    std::size_t damaged = 0;
    const db::PackContents contents = db::Pack::open(kFolder / name)->contents(damaged);
    EXPECT_EQ(text, db::index_text(contents, std::as_bytes(std::span(file))))
        << "make it again: fourtune pack index db/packs/" << name;
  }
}

// What a transform takes from packs is the same with their indices and without, on the devices that they are for, on
// others like these and on one that takes nothing. Successive commits take the problems in turns.
TEST(ShippedPacks, IndicesHideNothing) {
  const fs::path bare = fs::path(::testing::TempDir()) / "packs_without_indices";
  fs::create_directories(bare);
  std::vector<db::PlanSource> with, without;
  std::vector<Problem> problems;
  for (const char* name : {"h100.pack", "h200.pack", "xeon.pack"}) {
    fs::copy_file(kFolder / name, bare / name, fs::copy_options::overwrite_existing);
    with.push_back({kFolder / name, {}});
    without.push_back({bare / name, {}});
    const auto plans = plans_of(name);
    for (std::size_t i = 0; i < plans.size(); i += 7) {
      Problem problem = parse_problem(plans[i].verdict.problem);
      problems.push_back(problem);
      problem.n[0] += 40, problem.batch = 3;  // a neighbour
      problems.push_back(problem);
    }
  }
  DeviceTraits few = cpu_traits(), many = cpu_traits();
  few.isa = many.isa = "avx512";
  many.name = "another one", many.cores = 6;
  many.l1_bytes = 48 << 10, many.l2_bytes = 2 << 20, many.l3_bytes = 300 << 20;
  few.name = "a third one", few.cores = 1;
  const db::Lookup indexed = db::Lookup::load({}, with), opened = db::Lookup::load({}, without);
  int tried = 0, taken = 0;
  for (const DeviceTraits& traits : {few, many, *generator::known_device("h100"), *generator::known_device("h200"),
                                     *generator::known_device("a100")})
    for (const Problem& problem : problems) {
      if (!test::next_has_turn()) continue;
      ++tried;
      const Resolution a = resolve(problem, traits, &indexed, ""), b = resolve(problem, traits, &opened, "");
      EXPECT_EQ(generator::to_text(a.plan, problem), generator::to_text(b.plan, problem)) << a.explain << b.explain;
      EXPECT_EQ(a.source, b.source) << a.explain << b.explain;
      EXPECT_EQ(a.from, b.from);
      taken += a.source != Source::model;
    }
  EXPECT_GE(tried, 50);
  EXPECT_GT(taken, tried / 40);
  fs::remove_all(bare);
}

TEST(ShippedPacks, TheH200sPlansRunOnAnH200AsTheyAre) {
  const db::Lookup lookup = with_pack("h200.pack");
  const DeviceTraits h200 = *generator::known_device("h200");
  const auto winners = plans_of("h200.pack");
  ASSERT_GE(winners.size(), 35u);
  for (const auto& winner : winners) {
    const Problem problem = parse_problem(winner.verdict.problem);
    const Resolution found = resolve(problem, h200, &lookup, "");
    EXPECT_EQ(found.source, Source::verdict) << found.explain;
    EXPECT_EQ(found.from, "the pack h200 2.0");
    EXPECT_EQ(generator::to_text(found.plan, problem), winner.verdict.plan);
    EXPECT_NE(found.explain.find("why: verdict (from the pack h200 2.0: tuned for this problem"), std::string::npos)
        << found.explain;
  }
}

// A size that was tuned serves the other sign as it is, and in place and with strides as a neighbour.
TEST(ShippedPacks, ASizeThatWasTunedServesInOtherForms) {
  const db::Lookup lookup = with_pack("h200.pack");
  const DeviceTraits h200 = *generator::known_device("h200");
  const Resolution other_sign = resolve(parse_problem("fft:type=c2c,n=256x256x256,prec=f32,sign=1"), h200, &lookup, "");
  EXPECT_EQ(other_sign.source, Source::verdict) << other_sign.explain;
  EXPECT_EQ(other_sign.from, "the pack h200 2.0");
  for (const char* token :
       {"fft:type=c2c,n=512x512x512,prec=f64,place=in", "fft:type=c2c,n=128x128x128,prec=f64,place=in,sign=1",
        "fft:type=c2c,n=4096x4096,prec=f32,place=in",
        "fft:type=c2c,n=256x256x256,prec=f32,layout=2x512x131072/1x256x65536"}) {
    const Problem problem = parse_problem(token);
    const Resolution found = resolve(problem, h200, &lookup, "");
    EXPECT_EQ(found.source, Source::nearest) << found.explain;
    EXPECT_EQ(found.plan.gpu().fft.family, generator::GpuFftFamily::interleaved) << found.explain;
    EXPECT_EQ(found.plan.gpu().fft.plan.place, problem.place) << found.explain;
  }
}

// Planners list what such a device could run, for hundreds of problems: successive commits take them in turns.
TEST(ShippedPacks, OtherDevicesTakeThemOnlyWhereTheirArchitectureIsTheSame) {
  const db::Lookup lookup = with_pack("h200.pack");
  int tried = 0, taken = 0;
  for (const auto& winner : plans_of("h200.pack")) {
    if (!test::next_has_turn()) continue;
    ++tried;
    const Problem problem = parse_problem(winner.verdict.problem);
    const Resolution h100 = resolve(problem, *generator::known_device("h100"), &lookup, "");
    EXPECT_NE(h100.source, Source::verdict) << h100.explain;
    taken += h100.source == Source::nearest;
    if (h100.source == Source::nearest) {
      EXPECT_NE(h100.explain.find("measured on NVIDIA H200"), std::string::npos) << h100.explain;
    }
    const Resolution a100 = resolve(problem, *generator::known_device("a100"), &lookup, "");
    EXPECT_EQ(a100.source, Source::model) << a100.explain;
  }
  EXPECT_GE(tried, 35);
  EXPECT_GE(taken, tried / 12);
}

TEST(ShippedPacks, PlansOfTheXeonServeAProcessorLikeItWithItsThreads) {
  const db::Lookup lookup = with_pack("xeon.pack");
  DeviceTraits other = cpu_traits();
  other.name = "another one";
  other.l1_bytes = 48 << 10, other.l2_bytes = 2 << 20, other.l3_bytes = 300 << 20;
  for (const int cores : {4, 1})  // one core is too far from eight
    for (const char* isa : {"avx512", "avx2", "portable"}) {
      SCOPED_TRACE(fmt::format("{} cores, {}", cores, isa));
      other.cores = cores, other.isa = isa;
      int taken = 0;
      for (const auto& winner : plans_of("xeon.pack")) {
        const Resolution found = resolve(parse_problem(winner.verdict.problem), other, &lookup, "");
        EXPECT_LE(found.plan.cpu().threads, cores) << found.explain;
        EXPECT_NE(found.source, Source::verdict) << found.explain;
        taken += found.source == Source::nearest;
      }
      EXPECT_EQ(taken > 0, cores == 4 && std::string(isa) != "portable");
    }
}

TEST(ShippedPacks, LieBesideTheLibraryUnlessAnotherFolderIsNamed) {
  const auto packs = [] {
    int count = 0;
    for (const db::LayerReport& layer : lookup_beside({}).layers()) count += layer.pack != nullptr;
    return count;
  };
  EXPECT_EQ(packs(), 0) << "tests hide them";
  ::setenv("FOURTUNE_SHIPPED_PACKS", kFolder.c_str(), 1);
  EXPECT_EQ(packs(), 3);
  ::unsetenv("FOURTUNE_SHIPPED_PACKS");
  EXPECT_EQ(packs(), 3);
  ::setenv("FOURTUNE_SHIPPED_PACKS", "", 1);
}

}  // namespace
}  // namespace fourtune::runtime
