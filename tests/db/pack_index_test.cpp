// The index beside a pack: it says what the pack has, only of exactly this file, and packs stay closed where it says
// that they have nothing.
#include "db/pack_index.h"

#include <string>
#include <vector>

#include "db/lookup.h"
#include "db/pack_writer.h"
#include "tests/db/support.h"

namespace fourtune::db::testing {
namespace {

PackPlan indexed_plan(const Environment& environment, const std::string& kin, double size,
                      const std::string& problem = kProblem) {
  PackPlan one;
  one.verdict = sample_verdict("cpu;threads=2;spread=atomic");
  one.verdict.problem = problem;
  one.environment = environment;
  one.kin = kin;
  one.size = size;
  return one;
}

std::span<const std::byte> bytes_of_text(const std::string& text) { return std::as_bytes(std::span(text)); }

class PackIndexes : public ::testing::Test {
 protected:
  TempFolder folder;
  fs::path path = folder / "sample.pack";
  Environment here = sample_environment(), other = sample_environment();
  PackContents contents;

  PackIndexes() {
    other.backend = "cuda";
    contents.manifest = {"sample", "1.5", "CC0", "fourtune 0", here.generator, {}};
    contents.plans = {indexed_plan(here, "nufft 1 2d f32", 7.25), indexed_plan(other, "nufft 2 3d f64", 6),
                      indexed_plan(here, "nufft 1 2d f32", 7.25, kOtherProblem)};
  }
  void write() const {
    const auto bytes = pack_bytes(contents);
    write_file(path, bytes);
    write_file(index_path(path), bytes_of_text(index_text(contents, bytes)));
  }
  static bool has(const PackIndex& index, const Near& near, const Environment& ours) {
    return index.may_have(near, [&](const Environment& measured) { return measured.backend == ours.backend; });
  }
};

TEST_F(PackIndexes, SayWhatThePackHas) {
  write();
  const auto index = index_beside(path);
  ASSERT_TRUE(index);
  EXPECT_EQ(index->name, "sample");
  EXPECT_EQ(index->version, "1.5");
  EXPECT_EQ(index->plans, 3u);
  EXPECT_EQ(index->kernels, 0u);
  EXPECT_EQ(index->environments, (std::vector{here, other}));
  ASSERT_EQ(index->places.size(), 2u) << "two plans at one place are one line";
  EXPECT_EQ(index->places[0], (PackIndex::Place{0, 7.25, "nufft 1 2d f32"}));
  EXPECT_TRUE(has(*index, {"nufft 1 2d f32", 7.25, 0}, here));
  EXPECT_TRUE(has(*index, {"nufft 1 2d f32", 8, 0.75}, here));
  EXPECT_FALSE(has(*index, {"nufft 1 2d f32", 8, 0.5}, here)) << "too far";
  EXPECT_FALSE(has(*index, {"nufft 1 2d f64", 7.25, 9}, here)) << "of another kin";
  EXPECT_FALSE(has(*index, {"nufft 2 3d f64", 6, 9}, here)) << "of another backend only";
  EXPECT_TRUE(has(*index, {"nufft 2 3d f64", 6, 9}, other));
  EXPECT_TRUE(has(*index, {}, here)) << "any kin";
  const auto no_device = [](const Environment&) { return false; };
  EXPECT_FALSE(has(*index, {"nufft 1 2d f32", 7.25, 0, no_device}, here));
}

TEST_F(PackIndexes, OfAnotherFileOrDamagedAreNone) {
  const auto bytes = pack_bytes(contents);
  const std::string text = index_text(contents, bytes);
  ASSERT_TRUE(parse_index(text, bytes));
  for (std::size_t at : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    auto changed = bytes;
    changed[at] ^= std::byte{1};
    EXPECT_FALSE(parse_index(text, changed)) << at;
  }
  EXPECT_FALSE(parse_index(text, std::span(bytes).first(bytes.size() - 1)));
  EXPECT_FALSE(parse_index(text.substr(0, text.find("sample")), bytes)) << "cut before the environments";
  for (const char* line : {"x 1 nufft", "2 1 nufft", "0 nan nufft", "0 1", "0"})
    EXPECT_FALSE(parse_index(text + line + "\n", bytes)) << line;
  contents.manifest.name = "two\nlines";
  EXPECT_THROW(index_text(contents, bytes), StoreError);
  EXPECT_THROW(index_text({}, std::vector<std::byte>(kMostIndexedBytes + 1)), StoreError);
}

TEST_F(PackIndexes, PacksAreOpenedOnlyForWhatTheyMayHave) {
  write();
  const Near near{"nufft 1 2d f32", 7.25, 1}, far{"nufft 1 2d f32", 1, 1};
  const auto any = [](const LookupEntry&) { return 1.0; };
  {
    const Lookup lookup = Lookup::load({}, std::vector{path});
    ASSERT_TRUE(lookup.layers()[1].usable);
    EXPECT_EQ(lookup.layers()[1].verdicts, 3u);
    EXPECT_FALSE(lookup.nearest(here, any, far));
    EXPECT_TRUE(lookup.nearest(here, any, near));
    EXPECT_TRUE(lookup.winner(kProblem, here, {}, Lookup::Whose::ours, near));
    EXPECT_FALSE(lookup.winner(kProblem, here, {}, Lookup::Whose::ours, far)) << "it is believed";
    EXPECT_TRUE(lookup.winner(kProblem, here));
    EXPECT_EQ(lookup.layers()[1].pack->manifest(), contents.manifest);
  }
  // Without the file, only what the index says is known.
  const Lookup lookup = Lookup::load({}, std::vector{path});
  fs::remove(path);
  const Pack& pack = *lookup.layers()[1].pack;
  EXPECT_EQ(pack.name(), "sample");
  EXPECT_EQ(pack.version(), "1.5");
  EXPECT_EQ(pack.size(), 3u);
  EXPECT_FALSE(pack.has_kernels());
  EXPECT_FALSE(lookup.nearest(here, any, near));
  EXPECT_FALSE(lookup.winner(kProblem, here));
  EXPECT_EQ(pack.manifest(), PackManifest());
  EXPECT_FALSE(pack.check().is_complete);
  EXPECT_NE(pack.why_kernels_not_trusted({}), "");
  EXPECT_FALSE(pack.kernel(std::string(64, '0')));
}

// A pack that was replaced, with the index of the old one beside it.
TEST_F(PackIndexes, OfAnOldFileHideNothing) {
  write();
  contents.plans[0].kin = contents.plans[2].kin = "nufft 1 2d f64";
  write_file(path, pack_bytes(contents));
  EXPECT_FALSE(index_beside(path));
  const Lookup lookup = Lookup::load({}, std::vector{path});
  EXPECT_TRUE(lookup.nearest(here, [](const LookupEntry&) { return 1.0; }, {"nufft 1 2d f64", 7.25, 1}));
}

}  // namespace
}  // namespace fourtune::db::testing
