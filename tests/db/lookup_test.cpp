// Which stored verdict the runtime receives.
#include "db/lookup.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "db/pack_writer.h"
#include "db/recorded_space.h"
#include "tests/db/support.h"

namespace fourtune::db::testing {
namespace {

class Layers : public ::testing::Test {
 protected:
  TempFolder folder;
  fs::path user = folder / "user.db";
  fs::path pack_a = folder / "a.db";
  fs::path pack_b = folder / "b.db";
  Environment here = sample_environment();

  static void add(const fs::path& path, const std::string& plan, const Environment& environment,
                  const std::string& problem = kProblem) {
    auto store = TuningStore::open_for_writing(path, 1000, Journal::rollback);
    SessionStart start = sample_session();
    start.environment = environment;
    const SessionId session = store.begin_session(start);
    db::Run run = sample_run(plan);
    run.problem = problem;
    run.wisdom = "wisdom of " + plan;
    store.record_run(session, run);
    Verdict verdict = sample_verdict(plan);
    verdict.problem = problem;
    store.record_verdict(session, verdict);
  }
  Environment changed(std::string Environment::*piece) const {
    Environment other = here;
    other.*piece = "other";
    return other;
  }
  Lookup load() const { return Lookup::load(user, std::vector{pack_a, pack_b}); }
  std::string winning_plan() const {
    const Lookup lookup = load();
    const FoundEntry entry = lookup.winner(kProblem, here);
    return entry ? entry->verdict.plan : "none";
  }
};

TEST_F(Layers, FirstIsTheUserThenThePacksInOrder) {
  add(pack_b, "from b", here);
  EXPECT_EQ(winning_plan(), "from b");
  add(pack_a, "from a", here);
  EXPECT_EQ(winning_plan(), "from a");
  add(user, "from user", here);
  EXPECT_EQ(winning_plan(), "from user");
}

TEST_F(Layers, AVerdictThatServesGoesBeforeAFirstCandidateOfTheUser) {
  add(user, "from user, older generator", changed(&Environment::generator));
  EXPECT_EQ(winning_plan(), "from user, older generator");
  add(pack_a, "from pack, other compiler", changed(&Environment::compiler));
  EXPECT_EQ(winning_plan(), "from pack, other compiler");
  add(user, "from user, other driver", changed(&Environment::driver));
  EXPECT_EQ(winning_plan(), "from user, other driver");
  add(user, "from user, current", here);
  add(user, "from user, other driver, later", changed(&Environment::driver));
  EXPECT_EQ(winning_plan(), "from user, current");
}

TEST_F(Layers, ACurrentPackDoesNotGoBeforeAUserDatabaseThatServes) {
  add(user, "from user, other driver", changed(&Environment::driver));
  add(pack_a, "from pack, current", here);
  EXPECT_EQ(winning_plan(), "from user, other driver");
}

// Writes two verdicts of every layer and freshness, and tries every two and three of them as the only rivals.
TEST_F(Layers, OfAnyRivalsTheWinnerIsTheOneThatTheRuleNames) {
  const std::vector<fs::path> files{user, pack_a, pack_b};
  const std::vector<Environment> environments{here, changed(&Environment::driver), changed(&Environment::generator)};
  for (std::size_t layer = 0; layer < files.size(); ++layer) {
    auto store = TuningStore::open_for_writing(files[layer], 1000, Journal::rollback);
    for (const char* age : {"early", "late"})
      for (std::size_t fresh = 0; fresh < environments.size(); ++fresh) {
        SessionStart start = sample_session();
        start.environment = environments[fresh];
        store.record_verdict(store.begin_session(start),
                             sample_verdict(std::to_string(layer) + std::to_string(fresh) + age));
      }
  }
  // Freshness 2 (measured first only) goes last; otherwise by layer, then by freshness, then the later one first.
  const auto goes_before = [](const std::string& a, const std::string& b) {
    if ((a[1] == '2') != (b[1] == '2')) return b[1] == '2';
    if (a[0] != b[0]) return a[0] < b[0];
    if (a[1] != b[1]) return a[1] < b[1];
    return a.substr(2) == "late";
  };
  const Lookup lookup = load();
  ASSERT_EQ(lookup.entries().size(), 18u);
  std::vector<std::string> names;
  for (const LookupEntry& entry : lookup.entries()) names.push_back(entry.verdict.plan);
  const auto expect_winner_of = [&](const std::vector<std::string>& rivals) {
    std::string expected = rivals[0];
    for (const std::string& rival : rivals)
      if (rival != expected && goes_before(rival, expected)) expected = rival;
    const auto takes_part = [&](const LookupEntry& entry) {
      return std::find(rivals.begin(), rivals.end(), entry.verdict.plan) != rivals.end();
    };
    const FoundEntry winner = lookup.winner(kProblem, here, takes_part);
    const FoundEntry nearest = lookup.nearest(here, [&](const LookupEntry& entry) {
      return takes_part(entry) ? 1.0 : std::numeric_limits<double>::infinity();
    });
    ASSERT_TRUE(winner && nearest);
    EXPECT_EQ(winner->verdict.plan, expected);
    EXPECT_EQ(nearest->verdict.plan, expected) << "ties of the nearest go the same way";
  };
  for (std::size_t a = 0; a < names.size(); ++a)
    for (std::size_t b = a + 1; b < names.size(); ++b) {
      expect_winner_of({names[a], names[b]});
      for (std::size_t c = b + 1; c < names.size(); ++c) expect_winner_of({names[a], names[b], names[c]});
    }
}

TEST_F(Layers, ADamagedVerdictIsNotLoadedAndTheOneBeforeItServes) {
  add(user, "width=7", here);
  add(user, "width=3 later", here);
  raw_sql(user, "UPDATE plan SET text = 'width=2 later' WHERE text = 'width=3 later'");
  EXPECT_EQ(winning_plan(), "width=7");
  EXPECT_EQ(load().layers()[0].verdicts, 1u);
  EXPECT_EQ(load().layers()[0].damaged, 1u);
}

TEST_F(Layers, DamagedWisdomDoesNotComeAlong) {
  add(user, "plan", here);
  raw_sql(user, "UPDATE run SET wisdom = 'wisdom of p1an'");
  const Lookup lookup = load();
  ASSERT_TRUE(lookup.winner(kProblem, here));
  EXPECT_EQ(lookup.winner(kProblem, here)->wisdom, "");
}

TEST_F(Layers, AForeignInstructionSetNeverWins) {
  add(user, "of another instruction set", changed(&Environment::isa));
  EXPECT_EQ(winning_plan(), "none");
  EXPECT_EQ(load().entries().size(), 1u);
}

// A device is what its numbers say, so another name with the same numbers is such a device.
TEST_F(Layers, KindredDevicesComeLastAndTheOneWithTheNearestTraitsFirst) {
  const auto on = [&](const char* device, const char* traits) {
    Environment other = here;
    other.device = device, other.traits = traits;
    return other;
  };
  add(user, "far", on("far", R"({"cores":64})"));
  EXPECT_EQ(winning_plan(), "far");
  add(pack_b, "near", on("near", R"({"cores":3})"));
  EXPECT_EQ(winning_plan(), "near");
  add(user, "unknown traits", on("unknown", "no JSON"));
  EXPECT_EQ(winning_plan(), "near");
  add(pack_b, "the same by another name", on("renamed", R"({"cores":2})"));
  EXPECT_EQ(winning_plan(), "the same by another name");
  const Lookup lookup = load();
  const FoundEntry nearest =
      lookup.nearest(here, [](const LookupEntry& entry) { return entry.verdict.plan == "near" ? 0.0 : 3.0; });
  ASSERT_TRUE(nearest);
  EXPECT_EQ(nearest->verdict.plan, "the same by another name") << "kindred devices come after all others";
}

// ---- packs
class LayersWithPacks : public Layers {
 protected:
  void write(const fs::path& path, const std::vector<PackPlan>& plans) {
    write_file(path, pack_bytes({{path.stem(), "1.0", "", "test", here.generator, {}}, plans, {}}));
  }
  PackPlan plan(const std::string& text, const Environment& environment, const std::string& problem = kProblem) {
    PackPlan one;
    one.verdict = sample_verdict(text);
    one.verdict.problem = problem;
    one.environment = environment;
    one.wisdom = "wisdom of " + text;
    one.kin = "kin", one.size = 5;
    return one;
  }
};

TEST_F(LayersWithPacks, APackIsALayerLikeADatabase) {
  write(pack_a, {plan("from pack", here)});
  const Lookup lookup = load();
  ASSERT_TRUE(lookup.winner(kProblem, here));
  EXPECT_EQ(lookup.winner(kProblem, here)->verdict.plan, "from pack");
  EXPECT_EQ(lookup.winner(kProblem, here)->wisdom, "wisdom of from pack");
  EXPECT_EQ(lookup.winner(kProblem, here)->layer, 1u);
  EXPECT_FALSE(lookup.winner(kOtherProblem, here));
  EXPECT_TRUE(lookup.layers()[1].usable);
  EXPECT_EQ(lookup.layers()[1].verdicts, 1u);
  ASSERT_TRUE(lookup.layers()[1].pack);
  EXPECT_EQ(lookup.layers()[1].pack->manifest().name, "a");
  add(pack_b, "from a database behind it", here);
  EXPECT_EQ(winning_plan(), "from pack");
  add(user, "from user", here);
  EXPECT_EQ(winning_plan(), "from user");
}

TEST_F(LayersWithPacks, ARunnerUpServesWhereTheWinnerIsPassedOver) {
  PackPlan second = plan("second", here), third = plan("third", here);
  second.rank = 1, third.rank = 2;
  write(pack_a, {third, plan("first", here), second});
  const Lookup lookup = load();
  std::vector<std::string> passed_over;
  for (const char* expected : {"first", "second", "third"}) {
    const FoundEntry entry = lookup.winner(kProblem, here, [&](const LookupEntry& one) {
      return std::find(passed_over.begin(), passed_over.end(), one.verdict.plan) == passed_over.end();
    });
    ASSERT_TRUE(entry);
    EXPECT_EQ(entry->verdict.plan, expected);
    passed_over.push_back(entry->verdict.plan);
  }
}

TEST_F(LayersWithPacks, TheNearestIsTheNearestOfDatabasesAndOfPacksWithinReach) {
  PackPlan close = plan("close", here, "close"), far = plan("far", here, "far"), other = plan("other", here, "other");
  close.size = 5.5, far.size = 9, other.kin = "other kin";
  write(pack_a, {far, close, other});
  add(user, "user", here, "user");
  const auto nearest = [&](double of_user, double reach, const char* kin = "kin") {
    const Lookup lookup = load();
    const FoundEntry entry =
        lookup.nearest(here,
                       [&](const LookupEntry& one) {
                         return one.verdict.plan == "user" ? of_user : one.verdict.plan == "close" ? 0.5 : 4.0;
                       },
                       {kin, 5, reach});
    return entry ? entry->verdict.plan : "none";
  };
  EXPECT_EQ(nearest(1, 4), "close");
  EXPECT_EQ(nearest(0.25, 4), "user");
  EXPECT_EQ(nearest(1, 0.25), "user");
  EXPECT_EQ(nearest(INFINITY, 0.25), "none");
  EXPECT_EQ(nearest(INFINITY, 4, "no kin"), "none");
}

TEST_F(LayersWithPacks, OneThatCannotBeUsedIsReportedAndTheOthersServe) {
  write(pack_a, {plan("from a", here)});
  write(pack_b, {plan("from b", here)});
  fs::resize_file(pack_a, fs::file_size(pack_a) / 2);
  const Lookup lookup = load();
  EXPECT_FALSE(lookup.layers()[1].usable);
  EXPECT_NE(lookup.layers()[1].reason, "");
  EXPECT_EQ(lookup.winner(kProblem, here)->verdict.plan, "from b");
}

TEST_F(LayersWithPacks, BytesInMemoryAreALayer) {
  write(pack_a, {plan("from memory", here)});
  const std::string bytes = bytes_of(pack_a);
  const PlanSource source{"embedded", std::as_bytes(std::span(bytes))};
  const Lookup lookup = Lookup::load({}, std::vector{source});
  ASSERT_TRUE(lookup.winner(kProblem, here));
  EXPECT_EQ(lookup.layers()[1].path, "embedded");
}

TEST_F(Layers, TheLatestWinsAndItsWisdomComesAlong) {
  add(user, "first", here);
  add(user, "second", here);
  const Lookup lookup = load();
  const FoundEntry entry = lookup.winner(kProblem, here);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->verdict.plan, "second");
  EXPECT_EQ(entry->wisdom, "wisdom of second");
  EXPECT_EQ(entry->layer, 0u);
  EXPECT_EQ(lookup.winner(kOtherProblem, here), nullptr);
}

TEST_F(Layers, AnEarlierVerdictServesWhereTheLatestIsNotValid) {
  add(user, "for few points", here);
  add(user, "for many points", here);
  const Lookup lookup = load();
  const FoundEntry entry = lookup.winner(
      kProblem, here, [](const LookupEntry& candidate) { return candidate.verdict.plan != "for many points"; });
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->verdict.plan, "for few points");
  EXPECT_EQ(lookup.winner(kProblem, here, [](const LookupEntry&) { return false; }), nullptr);
}

TEST_F(Layers, AWithdrawnVerdictIsNotLoaded) {
  add(user, "good", here);
  add(user, "bad", here);
  {
    auto store = TuningStore::open_for_writing(user);
    store.withdraw_verdict(store.winner(kProblem, here)->id, "wrong result");
  }
  EXPECT_EQ(winning_plan(), "good");
}

TEST_F(Layers, ForeignEntriesAreFoundWhenTheyAreAskedFor) {
  constexpr auto kForeign = Lookup::Whose::foreign;
  Environment other = here, unlike = here;
  other.isa = unlike.isa = "another";
  other.traits = R"({"cores":2})", unlike.traits = R"({"cores":64})";
  add(user, "ours", here);
  add(user, "unlike", unlike);
  add(pack_a, "alike", other);
  add(pack_b, "another backend", changed(&Environment::backend));
  Environment asked = here;
  asked.traits = R"({"cores":3})";
  const Lookup lookup = load();
  const auto plan = [](const FoundEntry& entry) { return entry ? entry->verdict.plan : "none"; };
  EXPECT_EQ(plan(lookup.winner(kProblem, asked, {}, kForeign)), "alike");
  EXPECT_EQ(plan(lookup.winner(
                kProblem, asked, [](const LookupEntry& e) { return e.verdict.plan != "alike"; }, kForeign)),
            "unlike");
  EXPECT_EQ(plan(lookup.winner(kOtherProblem, asked, {}, kForeign)), "none");
  EXPECT_EQ(plan(lookup.nearest(
                asked, [](const LookupEntry&) { return 1.0; }, {}, kForeign)),
            "alike");
  EXPECT_EQ(plan(lookup.winner(kProblem, asked)), "ours");
}

TEST_F(Layers, TheNearestHasTheLeastFiniteDistance) {
  add(user, "far", here, kOtherProblem);
  add(pack_a, "near", here, kProblem);
  add(pack_b, "also near", here, kProblem);
  add(user, "nearest but foreign", changed(&Environment::isa), "fft:type=c2c,n=8,prec=f32");
  const Lookup lookup = load();
  const auto by_name = [](const LookupEntry& entry) {
    return entry.verdict.problem == kOtherProblem ? 5.0 : entry.verdict.problem == kProblem ? 1.0 : 0.0;
  };
  ASSERT_TRUE(lookup.nearest(here, by_name));
  EXPECT_EQ(lookup.nearest(here, by_name)->verdict.plan, "near");
  EXPECT_EQ(lookup.nearest(here, [](const LookupEntry&) { return std::numeric_limits<double>::infinity(); }), nullptr);
  EXPECT_EQ(lookup.nearest(here, [](const LookupEntry&) { return std::nan(""); }), nullptr);
}

TEST_F(Layers, ABadPackIsSkippedAndReported) {
  add(pack_b, "from b", here);
  write_bytes(pack_a, "not a database at all");
  const Lookup lookup = load();
  EXPECT_EQ(lookup.winner(kProblem, here)->verdict.plan, "from b");
  ASSERT_EQ(lookup.layers().size(), 3u);
  EXPECT_TRUE(lookup.layers()[0].usable) << "a missing user database is an empty one";
  EXPECT_FALSE(lookup.layers()[1].usable);
  EXPECT_NE(lookup.layers()[1].reason.find("a.db"), std::string::npos) << lookup.layers()[1].reason;
  EXPECT_EQ(lookup.layers()[2].verdicts, 1u);
  write_bytes(pack_a, "");
  const Lookup with_empty = load();
  EXPECT_FALSE(with_empty.layers()[1].usable) << "SQLite takes it for a database without tables";
  EXPECT_NE(with_empty.layers()[1].reason.find("is empty"), std::string::npos) << with_empty.layers()[1].reason;
  fs::remove(pack_a);
  EXPECT_FALSE(load().layers()[1].usable) << "a missing pack is an error, unlike a missing user database";
}

TEST_F(Layers, WithoutAnyFileTheLookupIsEmpty) {
  const Lookup lookup = Lookup::load({});
  EXPECT_TRUE(lookup.entries().empty());
  EXPECT_TRUE(lookup.layers()[0].usable);
  EXPECT_EQ(lookup.winner(kProblem, here), nullptr);
  EXPECT_EQ(Lookup().nearest(here, [](const LookupEntry&) { return 0.0; }), nullptr);
}

TEST_F(Layers, HoldNoFileOpenAfterLoading) {
  add(user, "plan", here);
  const Lookup lookup = load();
  fs::remove(user);
  EXPECT_TRUE(lookup.winner(kProblem, here));
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    EXPECT_EQ(fs::read_symlink(entry.path(), ignored).string().find(user.string()), std::string::npos);
  }
}

TEST_F(Layers, AreReadByManyThreads) {
  for (int i = 0; i < 10; ++i) add(user, "plan " + std::to_string(i), here);
  const Lookup lookup = load();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j) EXPECT_EQ(lookup.winner(kProblem, here)->verdict.plan, "plan 9");
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace fourtune::db::testing
