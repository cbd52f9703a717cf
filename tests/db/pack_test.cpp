// Packs: what is written is read, the same contents give the same bytes, and what is not as it was written is not used.
#include "db/pack.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "db/pack_writer.h"
#include "db/signature.h"
#include "tests/db/support.h"
#include "tests/support/turns.h"

namespace fourtune::db::testing {
namespace {

PackPlan sample_plan(const std::string& problem = kProblem, const std::string& plan = "cpu;threads=2;spread=atomic") {
  PackPlan one;
  one.verdict = sample_verdict(plan);
  one.verdict.problem = problem;
  one.verdict.incumbent_ns = 1300;
  one.verdict.ratio_low = 1.15, one.verdict.ratio_high = 1.25;
  one.verdict.rounds = 9;
  one.environment = sample_environment();
  one.error = 1.25e-6;
  one.created_ms = 1700000000123;
  one.wisdom = "(fftw-3.3.10 fftw_wisdom\n)";
  one.kin = "nufft 1 2d f32";
  one.size = 8;
  return one;
}

PackKernel sample_kernel(const std::string& entry = "spread") {
  PackKernel one;
  one.digest = kernel_digest({entry, "text of " + entry, {"-O3"}, "nvrtc 13.0", "sm_90"});
  one.entry = entry, one.target = "sm_90", one.compiler = "nvrtc 13.0";
  for (int i = 0; i < 3000; ++i) one.kernel.image.push_back(std::byte((i + entry.size()) % 7));
  one.kernel.log = "registers 96";
  return one;
}

PackContents sample_contents() {
  PackContents contents;
  contents.manifest = {"sample",
                       "1.0",
                       "CC0",
                       "fourtune 0",
                       sample_environment().generator,
                       {"a database with a name that is longer than what a string holds in itself"}};
  contents.plans = {sample_plan(), sample_plan(kOtherProblem, "cpu;threads=1;fft=lines")};
  contents.plans[1].wisdom.clear();
  contents.plans[1].error.reset();
  contents.plans[1].kin = "fft c2c 3d f64";
  contents.plans[1].size = 6;
  contents.kernels = {sample_kernel("spread"), sample_kernel("interpolate")};
  return contents;
}

class Packs : public ::testing::Test {
 protected:
  TempFolder folder;
  fs::path path = folder / "sample.pack";

  std::shared_ptr<const Pack> written(const PackContents& contents, std::string_view key = {}) {
    write_file(path, pack_bytes(contents, key));
    return Pack::open(path);
  }
  static std::vector<std::string> plans_of(const Pack& pack, const std::string& token) {
    std::vector<std::string> plans;
    std::size_t damaged = 0;
    for (const Pack::Row& row : pack.plans_of(token, damaged)) plans.push_back(row.plan.verdict.plan);
    EXPECT_EQ(damaged, 0u);
    return plans;
  }
};

TEST_F(Packs, WhatIsWrittenIsRead) {
  PackContents contents = sample_contents();
  const auto pack = written(contents);
  EXPECT_EQ(pack->manifest(), contents.manifest);
  EXPECT_EQ(pack->size(), 2u);
  EXPECT_TRUE(pack->has_kernels());
  std::size_t damaged = 0;
  const auto rows = pack->plans_of(kProblem, damaged);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].plan, contents.plans[0]);
  EXPECT_EQ(pack->kernel(contents.kernels[1].digest), contents.kernels[1].kernel);
  EXPECT_FALSE(pack->kernel(std::string(64, '0')));
  PackContents all = pack->contents(damaged);
  const auto by_token = [](const PackPlan& a, const PackPlan& b) { return a.verdict.problem > b.verdict.problem; };
  std::sort(all.plans.begin(), all.plans.end(), by_token);
  std::sort(all.kernels.begin(), all.kernels.end(),
            [](const PackKernel& a, const PackKernel& b) { return a.entry > b.entry; });
  EXPECT_EQ(all, contents);
  EXPECT_EQ(damaged, 0u);
}

TEST_F(Packs, WhatWonByEnergySaysSoInVersionTwoAndOthersStayOfVersionOne) {
  PackContents contents = sample_contents();
  const auto by_time = pack_bytes(contents);
  EXPECT_EQ(std::to_integer<int>(by_time[63]), 1) << "user_version: releases that know no energy read it";
  contents.plans[1].verdict.objective = Objective::energy;
  const auto pack = written(contents);
  EXPECT_EQ(std::to_integer<int>(pack_bytes(contents)[63]), 2);
  std::size_t damaged = 0;
  EXPECT_EQ(pack->plans_of(kProblem, damaged).at(0).plan, contents.plans[0]);
  EXPECT_EQ(pack->plans_of(kOtherProblem, damaged).at(0).plan, contents.plans[1]);
  EXPECT_EQ(damaged, 0u);
  EXPECT_TRUE(pack->check().is_complete);
  EXPECT_EQ(pack_bytes(pack->contents(damaged)), pack_bytes(contents));
  PackPlan other = contents.plans[1];
  other.verdict.objective = Objective::time;
  EXPECT_NE(pack_checksum(other), pack_checksum(contents.plans[1])) << "the objective is not lost unseen";
}

TEST_F(Packs, BytesInMemoryAreReadLikeAFile) {
  const auto bytes = pack_bytes(sample_contents());
  const auto pack = Pack::of_bytes(bytes, "embedded");
  EXPECT_EQ(pack->where(), "embedded");
  EXPECT_EQ(plans_of(*pack, kOtherProblem), std::vector<std::string>{"cpu;threads=1;fft=lines"});
}

TEST_F(Packs, TheSameContentsInAnyOrderGiveTheSameBytes) {
  PackContents contents = sample_contents();
  contents.manifest.sources = {"b", "a"};
  const auto bytes = pack_bytes(contents);
  std::reverse(contents.plans.begin(), contents.plans.end());
  std::reverse(contents.kernels.begin(), contents.kernels.end());
  std::reverse(contents.manifest.sources.begin(), contents.manifest.sources.end());
  EXPECT_EQ(pack_bytes(contents), bytes);
  contents.plans[0].created_ms += 1;
  EXPECT_NE(pack_bytes(contents), bytes);
}

TEST_F(Packs, OneThatIsReadAndWrittenAgainIsTheSame) {
  const auto bytes = pack_bytes(sample_contents());
  std::size_t damaged = 0;
  EXPECT_EQ(pack_bytes(Pack::of_bytes(bytes, "x")->contents(damaged)), bytes);
}

TEST_F(Packs, RunnersUpComeAfterTheWinner) {
  PackContents contents = sample_contents();
  PackPlan second = sample_plan(kProblem, "second");
  second.rank = 1;
  contents.plans.insert(contents.plans.begin(), second);
  EXPECT_EQ(plans_of(*written(contents), kProblem),
            (std::vector<std::string>{"cpu;threads=2;spread=atomic", "second"}));
}

TEST_F(Packs, NeighboursAreVisitedByTheirDifferenceInSizeUpToTheReach) {
  PackContents contents = sample_contents();
  contents.plans.clear();
  for (const double size : {1.0, 4.0, 5.5, 8.0, 20.0}) {
    contents.plans.push_back(sample_plan("nufft:n=" + std::to_string(size), std::to_string(size)));
    contents.plans.back().size = size;
  }
  contents.plans.push_back(sample_plan("of another kin"));
  contents.plans.back().kin = "other";
  const auto pack = written(contents);
  const auto visited = [&](double size, double reach, double shrinks_to) {
    std::vector<double> sizes;
    pack->visit_near("nufft 1 2d f32", size, reach, [&](const Pack::Row& row) {
      sizes.push_back(row.plan.size);
      return shrinks_to;
    });
    return sizes;
  };
  EXPECT_EQ(visited(5, 100, 100), (std::vector<double>{5.5, 4, 8, 1, 20}));
  EXPECT_EQ(visited(5, 3, 100), (std::vector<double>{5.5, 4, 8}));
  EXPECT_EQ(visited(5, 2.99, 100), (std::vector<double>{5.5, 4}));
  EXPECT_EQ(visited(5, 100, 0.75), (std::vector<double>{5.5}));
  EXPECT_EQ(visited(8, 0, 0), (std::vector<double>{8}));
  EXPECT_TRUE(visited(100, 5, 5).empty());
}

TEST_F(Packs, AFlippedByteCostsTheEntryThatItIsInOrTheFileButIsNeverServed) {
  const PackContents contents = sample_contents();
  auto bytes = pack_bytes(contents);
  std::size_t served = 0, passed_over = 0, refused = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (!test::next_has_turn()) continue;
    bytes[at] ^= std::byte{0x15};
    try {
      const auto pack = Pack::of_bytes(bytes, "flipped");
      std::size_t damaged = 0;
      for (const PackPlan& plan : contents.plans) {
        const auto rows = pack->plans_of(plan.verdict.problem, damaged);
        for (const Pack::Row& row : rows) ASSERT_EQ(row.plan, plan) << at;
        rows.empty() ? ++passed_over : ++served;
      }
      for (const PackKernel& kernel : contents.kernels) {
        const auto found = pack->kernel(kernel.digest);
        ASSERT_TRUE(!found || found->image == kernel.kernel.image) << at;
      }
      pack->visit_near("fft c2c 3d f64", 6, 1, [&](const Pack::Row& row) {
        EXPECT_EQ(row.plan, contents.plans[1]) << at;
        return 1.0;
      });
      pack->check();
    } catch (const Error& error) {
      ++refused;
      ASSERT_GT(std::string(error.what()).size(), 20u) << at;
    }
    bytes[at] ^= std::byte{0x15};
  }
  EXPECT_GT(served, passed_over);
  EXPECT_GT(passed_over, 0u);
  EXPECT_GT(refused, 0u);
}

TEST_F(Packs, ACutOrLongerFileIsRefused) {
  const auto bytes = pack_bytes(sample_contents());
  for (const std::size_t keep : {bytes.size() - 1, bytes.size() - 4096, bytes.size() / 2, std::size_t{100}}) {
    write_file(path, std::span(bytes).first(keep));
    fault_of([&] { Pack::open(path); });
    try {
      Pack::open(path);
    } catch (const StoreError& error) {
      EXPECT_EQ(std::string(error.what()).find("tuning database"), std::string::npos) << error.what();
    }
    fault_of([&] { Pack::of_bytes(std::span(bytes).first(keep), "cut"); });
  }
  auto longer = bytes;
  longer.push_back(std::byte{});
  write_file(path, longer);
  EXPECT_EQ(fault_of([&] { Pack::open(path); }), StoreFault::damaged);
}

TEST_F(Packs, OtherFilesAreRefusedByName) {
  EXPECT_EQ(fault_of([&] { Pack::open(folder / "none"); }), StoreFault::unreadable);
  EXPECT_EQ(fault_of([&] { Pack::open(folder.path()); }), StoreFault::foreign);
  write_bytes(path, "not a pack");
  EXPECT_EQ(fault_of([&] { Pack::open(path); }), StoreFault::foreign);
  EXPECT_FALSE(is_pack(path));
  write_bytes(path, "");
  EXPECT_EQ(fault_of([&] { Pack::open(path); }), StoreFault::foreign);
  TuningStore::open_for_writing(folder / "user.db", 1000, Journal::rollback);
  EXPECT_EQ(fault_of([&] { Pack::open(folder / "user.db"); }), StoreFault::foreign);
  written(sample_contents());
  EXPECT_TRUE(is_pack(path));
  raw_sql(path, "PRAGMA user_version = 99");
  EXPECT_EQ(fault_of([&] { Pack::open(path); }), StoreFault::newer);
}

TEST_F(Packs, OneWithMoreThanOurTablesIsHostile) {
  for (const char* sql : {"CREATE VIEW plans AS SELECT * FROM plan", "CREATE TABLE more (a)",
                          "CREATE TRIGGER t AFTER INSERT ON plan BEGIN SELECT 1; END",
                          "ALTER TABLE plan ADD COLUMN more INTEGER", "CREATE INDEX more ON plan (rank)",
                          "DROP TABLE image; CREATE VIEW image AS SELECT id, log AS data FROM kernel"}) {
    written(sample_contents());
    raw_sql(path, sql);
    EXPECT_EQ(fault_of([&] { Pack::open(path); }), StoreFault::hostile) << sql;
  }
  written(sample_contents());
  raw_sql(path, "DROP INDEX plan_of_kin");
  EXPECT_EQ(fault_of([&] { Pack::open(path); }), StoreFault::damaged);
}

TEST_F(Packs, ValuesThatNoWriterWritesArePassedOver) {
  for (const char* sql :
       {"UPDATE plan SET rank = -1", "UPDATE plan SET environment = 77", "UPDATE plan SET winner_ns = 0",
        "UPDATE plan SET data = zeroblob(50)", "UPDATE plan SET data = zeroblob(7000000)",
        "UPDATE plan SET rounds = 99999999999", "UPDATE plan SET error = 9e999", "UPDATE plan SET checksum = 1",
        "UPDATE plan SET created_ms = 1", "UPDATE plan SET wisdom = NULL, error = NULL, checksum = -1",
        "UPDATE environment SET device = 'another'", "DELETE FROM environment",
        "UPDATE dictionary SET data = zeroblob(100)"}) {
    written(sample_contents());
    raw_sql(path, sql);
    const auto pack = Pack::open(path);
    std::size_t damaged = 0;
    EXPECT_TRUE(pack->plans_of(kProblem, damaged).empty()) << sql;
    EXPECT_EQ(damaged, 1u) << sql;
    const PackCheck check = pack->check();
    EXPECT_FALSE(check.is_complete) << sql;
  }
}

TEST_F(Packs, HugeCountsCostNothing) {
  for (const char* count : {"999999999999", "-5", "x", ""}) {
    written(sample_contents());
    raw_sql(path, std::string("UPDATE manifest SET value = '") + count + "' WHERE key LIKE '%count'");
    const auto pack = Pack::open(path);
    EXPECT_EQ(plans_of(*pack, kProblem).size(), 1u);
    EXPECT_FALSE(pack->check().is_complete);
  }
}

TEST_F(Packs, AManifestThatLacksARowIsRefused) {
  written(sample_contents());
  raw_sql(path, "DELETE FROM manifest WHERE key = 'plan_language'");
  EXPECT_EQ(fault_of([&] { Pack::open(path); }), StoreFault::damaged);
}

// What borrowed plans lose travels in the manifest, and a pack that says nothing of it is as it was, byte by byte.
TEST_F(Packs, TheManifestSaysWhatBorrowedPlansLose) {
  PackContents contents = sample_contents();
  const std::vector<std::byte> without = pack_bytes(contents);
  const Borrowing neighbours{"GPU A", "GPU A", "nufft", 31, 0.957, 0.71, "2026-11-26"};
  const Borrowing foreign{"GPU A", "GPU B", "fft", 2, 0.5, 0.125, "2026-11-27"};
  contents.manifest.borrowings = {neighbours, foreign};
  const auto pack = written(contents);
  EXPECT_EQ(pack->manifest(), contents.manifest);
  EXPECT_TRUE(pack->manifest().borrowings[0].of_neighbours());
  EXPECT_FALSE(pack->manifest().borrowings[1].of_neighbours());
  EXPECT_TRUE(pack->check().is_complete);
  contents.manifest.borrowings.clear();
  EXPECT_EQ(pack_bytes(contents), without);
}

TEST_F(Packs, ALossThatNobodyCanHaveMeasuredIsRefused) {
  const std::string right = "GPU A\tGPU B\tfft\t2\t0.5\t0.125\t2026-11-27";
  EXPECT_EQ(to_text(parse_borrowing(right)), right);
  PackContents contents = sample_contents();
  contents.manifest.borrowings = {parse_borrowing(right)};
  for (const char* line :
       {"", "GPU A", "GPU A\tGPU B\tfft\t2\t0.5\t0.125", "GPU A\tGPU B\tdct\t2\t0.5\t0.1\t2026-11-27",
        "GPU A\tGPU B\tfft\t0\t0.5\t0.1\t2026-11-27", "GPU A\tGPU B\tfft\t2\tnan\t0.1\t2026-11-27",
        "GPU A\tGPU B\tfft\t2\t0.5\t0\t2026-11-27", "GPU A\tGPU B\tfft\t2\t0.5\t0.1\tyesterday",
        "GPU A\t\tfft\t2\t0.5\t0.1\t2026-11-27", "GPU A\tGPU B\tfft\t2\t0.5\t0.1\t2026-11-27\tmore"}) {
    EXPECT_EQ(status_of([&] { parse_borrowing(line); }), Status::invalid_argument) << line;
    written(contents);
    raw_sql(path, std::string("UPDATE manifest SET value = '") + line + "' WHERE key = 'borrowings'");
    EXPECT_EQ(fault_of([&] { Pack::open(path); }), StoreFault::damaged) << line;
  }
}

TEST_F(Packs, ContentsThatNoPackHasAreRefused) {
  const auto refused = [](const std::function<void(PackContents&)>& change) {
    PackContents contents = sample_contents();
    change(contents);
    return status_of([&] { pack_bytes(contents); }) == Status::invalid_argument;
  };
  EXPECT_FALSE(refused([](PackContents&) {}));
  EXPECT_TRUE(refused([](PackContents& c) { c.plans.push_back(c.plans[0]); }));
  EXPECT_FALSE(refused([](PackContents& c) { c.plans.push_back(c.plans[0]), c.plans.back().rank = 1; }));
  EXPECT_TRUE(refused([](PackContents& c) { c.plans[0].rank = -1; }));
  EXPECT_TRUE(refused([](PackContents& c) { c.plans[0].environment.generator = "plan texts 2"; }));
  EXPECT_TRUE(refused([](PackContents& c) { c.plans[0].verdict.winner_ns = -1; }));
  EXPECT_TRUE(refused([](PackContents& c) { c.manifest.name = ""; }));
  EXPECT_TRUE(refused([](PackContents& c) { c.manifest.name = "a/b"; }));
  EXPECT_TRUE(refused([](PackContents& c) { c.manifest.version = "1 0"; }));
}

TEST_F(Packs, AWriteThatFailsLeavesTheOldFile) {
  written(sample_contents());
  const std::string before = bytes_of(path);
  EXPECT_EQ(status_of([&] { write_file(folder / "no" / "such" / "x.pack", {}); }), Status::io);
  fs::create_directory(folder / "taken");
  EXPECT_EQ(status_of([&] { write_file(folder / "taken", {}); }), Status::io);
  EXPECT_EQ(bytes_of(path), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2);
}

TEST_F(Packs, AWriteGoesOnWhereAKilledOneLeftItsFile) {
  write_bytes(path.string() + "." + std::to_string(::getpid()) + ".0", "half");
  EXPECT_EQ(written(sample_contents())->size(), 2u);
}

// ---- signatures
class SignedPacks : public Packs {
 protected:
  KeyPair keys = make_keys("maker"), others = make_keys("other");
  std::shared_ptr<const Pack> embedded(const std::vector<std::byte>& bytes) {
    return Pack::of_bytes(bytes, "embedded");
  }
};

TEST_F(SignedPacks, KernelsOfBytesInMemoryNeedATrustedKey) {
  const auto bytes = pack_bytes(sample_contents(), keys.secret_key), unsigned_bytes = pack_bytes(sample_contents());
  const std::vector<std::string> right{others.public_key, keys.public_key}, wrong{others.public_key};
  EXPECT_EQ(embedded(bytes)->why_kernels_not_trusted(right), "");
  EXPECT_NE(embedded(bytes)->why_kernels_not_trusted(wrong), "");
  EXPECT_NE(embedded(bytes)->why_kernels_not_trusted({}), "");
  EXPECT_NE(embedded(unsigned_bytes)->why_kernels_not_trusted(right), "");
}

TEST_F(SignedPacks, AFileThatOthersCanWriteNeedsATrustedKey) {
  const std::vector<std::string> right{keys.public_key};
  EXPECT_EQ(written(sample_contents())->why_kernels_not_trusted(right), "") << "the user's own file";
  fs::permissions(path, fs::perms(0666));
  EXPECT_NE(Pack::open(path)->why_kernels_not_trusted(right), "");
  const auto pack = written(sample_contents(), keys.secret_key);
  fs::permissions(path, fs::perms(0666));
  EXPECT_EQ(pack->why_kernels_not_trusted(right), "");
  EXPECT_NE(pack->why_kernels_not_trusted({}), "");
}

TEST_F(SignedPacks, ASignatureIsOfTheContentsAndSoNothingCanBeSwapped) {
  const std::vector<std::string> right{keys.public_key};
  written(sample_contents(), keys.secret_key);
  fs::permissions(path, fs::perms(0666));
  const std::string before = bytes_of(path);
  const auto check = Pack::open(path)->check();
  EXPECT_TRUE(check.is_complete);
  EXPECT_EQ(check.signer, bare_public_key(keys.public_key));
  for (const char* sql :
       {"UPDATE manifest SET value = 'other' WHERE key = 'name'", "DELETE FROM kernel WHERE entry = 'spread'",
        "UPDATE kernel SET digest = CASE entry WHEN 'spread' THEN 'x' ELSE digest END",
        "UPDATE kernel SET checksum = lower(hex(zeroblob(32))) WHERE entry = 'spread'",
        "UPDATE signature SET value = 'AAAA'", "DELETE FROM signature"}) {
    write_bytes(path, before);
    raw_sql(path, sql);
    EXPECT_NE(Pack::open(path)->why_kernels_not_trusted(right), "") << sql;
  }
  // Two kernels exchange their images: the signed list holds, and the checksums find it.
  write_bytes(path, before);
  raw_sql(path, "UPDATE image SET id = -id; UPDATE image SET id = 3 + id");
  const auto swapped = Pack::open(path);
  EXPECT_EQ(swapped->why_kernels_not_trusted(right), "");
  for (const PackKernel& kernel : sample_contents().kernels) EXPECT_FALSE(swapped->kernel(kernel.digest));
  EXPECT_FALSE(swapped->check().is_complete);
}

TEST_F(SignedPacks, KeysAreCheckedByName) {
  EXPECT_EQ(public_key_of(keys.secret_key), bare_public_key(keys.public_key));
  EXPECT_EQ(bare_public_key(bare_public_key(keys.public_key)), bare_public_key(keys.public_key));
  EXPECT_TRUE(is_signed(keys.public_key, "text", sign(keys.secret_key, "text")));
  EXPECT_FALSE(is_signed(keys.public_key, "texT", sign(keys.secret_key, "text")));
  EXPECT_FALSE(is_signed(others.public_key, "text", sign(keys.secret_key, "text")));
  EXPECT_FALSE(is_signed(keys.public_key, "text", "no signature"));
  for (const std::string& bad : {std::string(), std::string("fourtune-public-key"), std::string("abc"), keys.secret_key,
                                 keys.public_key.substr(0, 40)})
    EXPECT_EQ(status_of([&] { bare_public_key(bad); }), Status::invalid_argument) << bad;
  for (const std::string& bad : {std::string(), keys.public_key, std::string("fourtune-secret-key AAAA x")})
    EXPECT_EQ(status_of([&] { sign(bad, "text"); }), Status::invalid_argument) << bad;
  for (const char* name : {"", "a b", "a\n"}) EXPECT_EQ(status_of([&] { make_keys(name); }), Status::invalid_argument);
}

TEST_F(SignedPacks, ManyThreadsReadOnePack) {
  const auto pack = written(sample_contents());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(plans_of(*pack, kProblem).size(), 1u);
        pack->visit_near("fft c2c 3d f64", 6, 1,
                         [&](const Pack::Row&) { return plans_of(*pack, kProblem).empty() ? 0.0 : 1.0; });
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace fourtune::db::testing
