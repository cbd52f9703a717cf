// `fourtune pack build`: what it takes from databases, what it writes, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/known_devices.h"
#include "runtime/backends/cuda/nvrtc_api.h"
#include "tests/tools/pack_command.h"

namespace fourtune::test {
namespace {

TEST_F(PackCommand, BuildTakesTheWinnersOfTheUsersDatabase) {
  database("own.db", {{kFft, kFast, 1000, 1.5, kSlow}, {kNufft, kGridder}});
  const Json built = json({"build", "a.pack", "--name", "mine", "--pack-version", "1.2", "--licence", "CC0"});
  EXPECT_EQ(built["winners"], 2);
  EXPECT_EQ(built["runners_up"], 0);
  EXPECT_EQ(built["bytes"], fs::file_size(folder / "a.pack"));
  EXPECT_TRUE(built["signer"].is_null());
  const db::PackContents made = contents("a.pack");
  EXPECT_EQ(made.manifest.name + " " + made.manifest.version + " " + made.manifest.licence, "mine 1.2 CC0");
  EXPECT_EQ(made.manifest.sources.at(0).rfind("database own.db: 2 winners, the last of 2", 0), 0u);
  ASSERT_EQ(made.plans.size(), 2u);
  EXPECT_EQ(made.plans[0].kin, "fft c2c 2d f64");
  EXPECT_NEAR(made.plans[0].size, 3.95, 0.01);
  EXPECT_EQ(made.plans[1].kin, "nufft 1 2d f32");
  EXPECT_EQ(files(), (Words{"a.pack", "own.db"}));
}

TEST_F(PackCommand, BuildCompilesKernelsForGpusThatAreNotHere) {
  if (const std::string why = runtime::cuda::why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  const DeviceTraits h200 = *generator::known_device("h200");
  database("own.db", {{"fft:type=c2c,n=60,prec=f32,batch=3", "cuda;fft=plain", 1000, 1.5, "cuda;fft=cufft"}},
           runtime::environment_here(h200));
  const Finished built = run({"build", "a.pack", "--kernels", "sm_90,sm_80", "--runners-up", "1"});
  EXPECT_EQ(built.code, 0) << built.err;
  EXPECT_NE(built.err.find("no plan of the pack was measured on a GPU of target sm_80"), std::string::npos)
      << built.err;
  const db::PackContents all = contents("a.pack");
  EXPECT_EQ(all.plans.size(), 2u);
  ASSERT_FALSE(all.kernels.empty());
  for (const db::PackKernel& kernel : all.kernels) EXPECT_EQ(kernel.target, "sm_90");
  // Packs as inputs bring theirs, which are not compiled again, and the bytes are the same.
  done({"build", "b.pack", "--from", "a.pack", "--runners-up", "1"});
  EXPECT_EQ(contents("b.pack").kernels, all.kernels);
  done({"build", "later.pack", "--from", "a.pack", "--kernels", "compute_90"});
  const auto both = contents("later.pack").kernels;
  EXPECT_EQ(both.size(), 2 * all.kernels.size());
  EXPECT_EQ(std::count_if(both.begin(), both.end(), [](const auto& one) { return one.target == "compute_90"; }),
            std::ssize(all.kernels));
  expect_refused({"build", "c.pack", "--kernels", "hopper"}, "'hopper' is no target", 2);
  EXPECT_FALSE(fs::exists(folder / "c.pack"));
}

TEST_F(PackCommand, BuildKeepsWhatBorrowedPlansLose) {
  database("own.db", {{kFft, kFast}});
  std::ofstream(folder / "loss") << "Here\tThere\tfft\t3\t0.9\t0.75\t2026-11-26\n";
  done({"build", "a.pack", "--borrowings", "loss"});
  const Json shown = json({"show", "a.pack"});
  ASSERT_EQ(shown["borrowings"].size(), 1u);
  EXPECT_EQ(shown["borrowings"][0]["from"], "There");
  EXPECT_EQ(shown["borrowings"][0]["problems"], 3);
  EXPECT_NE(done({"show", "a.pack"}).find("Here of There: 3 fft problems, 0.9 of the tuned speed, least 0.75"),
            std::string::npos);
  // Packs as inputs bring theirs.
  done({"build", "b.pack", "--from", "a.pack"});
  EXPECT_EQ(contents("b.pack").manifest.borrowings, contents("a.pack").manifest.borrowings);
  EXPECT_EQ(contents("b.pack").manifest.borrowings.size(), 1u);
  std::ofstream(folder / "bad") << "Here\tThere\tfft\tmany\t0.9\t0.75\t2026-11-26\n";
  expect_refused({"build", "c.pack", "--borrowings", "bad"}, "the number of problems is not positive", 2);
  expect_refused({"build", "c.pack", "--borrowings", "none"}, "--borrowings none: cannot be read", 2);
  EXPECT_FALSE(fs::exists(folder / "c.pack"));
}

TEST_F(PackCommand, BuildKeepsRunnersUpAndWhatIsAskedFor) {
  database("a.db", {{kFft, kFast, 1000, 1.5, kSlow}, {kNufft, kGridder}});
  database("b.db", {{kFft, kSlow}}, environment("Another Processor"));
  const Words from{"--from", "a.db", "b.db"};
  const auto built = [&](Words more) {
    more.insert(more.begin(), {"build", "x.pack", "--force"});
    more.insert(more.end(), from.begin(), from.end());
    const Json result = json(more);
    return std::pair<int, int>(result["winners"], result["runners_up"]);
  };
  using Counts = std::pair<int, int>;
  EXPECT_EQ(built({}), Counts(3, 0));
  EXPECT_EQ(built({"--runners-up", "3"}), Counts(3, 1));
  EXPECT_EQ(built({"--device", "another"}), Counts(1, 0));
  EXPECT_EQ(built({"--backend", "cpu"}), Counts(3, 0));
  EXPECT_EQ(built({"--filter", "nufft:"}), Counts(1, 0));
  write_text(folder / "list.txt", std::string(kFft) + "\nfft:type=c2c,n=7,prec=f64\n");
  EXPECT_EQ(built({"--problems", "list.txt"}), Counts(2, 0));
  const Finished noted = run({"build", "y.pack", "--problems", "list.txt", "--from", "a.db"});
  EXPECT_NE(noted.err.find("1 of the 2 problems in list.txt have no winner"), std::string::npos) << noted.err;
  expect_refused({"build", "z.pack", "--device", "h200", "--from", "a.db"}, "there are plans of", 1);
  expect_refused({"build", "z.pack", "--backend", "cuda", "--from", "a.db"}, "no tuned plan", 1);
}

TEST_F(PackCommand, BuildGivesTheSameBytesFromInputsInAnyOrder) {
  database("a.db", {{kFft, kFast, 1000, 1.5, kSlow}, {kNufft, kGridder}});
  database("b.db", {{kFft, kSlow, 900}});
  database("c.db", {{kFft, kSlow, 800}}, environment("Another Processor"));
  done({"build", "c.pack", "--from", "c.db", "--name", "c"});
  for (const char* policy : {"newest", "fastest"}) {
    const auto built = [&](const std::string& out, const Words& inputs) {
      Words words{"build", out, "--force", "--name", "x", "--policy", policy, "--runners-up", "2", "--from"};
      words.insert(words.end(), inputs.begin(), inputs.end());
      done(words);
      return text(out);
    };
    const std::string bytes = built("1.pack", {"a.db", "b.db", "c.pack"});
    EXPECT_EQ(built("2.pack", {"c.pack", "b.db", "a.db"}), bytes) << policy;
    EXPECT_EQ(built("3.pack", {"b.db", "c.pack", "a.db", "a.db"}), bytes) << policy;
  }
}

TEST_F(PackCommand, BuildWorksWhileAnotherProcessWritesTheDatabase) {
  database("own.db", {{kFft, kFast}});
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int n = 8; !stop; ++n) {
      auto store = db::TuningStore::open_for_writing(folder / "own.db");
      db::SessionStart start;
      start.environment = environment();
      const auto session = store.begin_session(start);
      for (int i = 0; i < 20; ++i) {
        db::Verdict verdict;
        verdict.problem = "fft:type=c2c,n=" + std::to_string(n) + ",prec=f64";
        verdict.plan = kFast, verdict.winner_ns = 1000 + i;
        store.record_verdict(session, verdict);
      }
    }
  });
  for (int i = 0; i < 5; ++i) {
    const Json built = json({"build", "a.pack", "--force"});
    EXPECT_GE(built.value("winners", 0), 1);
    EXPECT_EQ(run({"verify", "a.pack"}).code, 0);
  }
  stop = true;
  writer.join();
}

TEST_F(PackCommand, BuildNamesWhatItCannotTake) {
  expect_refused({"build", "a.pack"}, "no such database or pack", 2);
  expect_refused({"build", "a.pack", "--from", "none.db"}, "none.db: no such", 2);
  write_text(folder / "text.txt", "not a database");
  expect_refused({"build", "a.pack", "--from", "text.txt"}, "text.txt", 1);
  db::TuningStore::open_for_writing(folder / "empty.db", 1000, db::Journal::rollback);
  expect_refused({"build", "a.pack", "--from", "empty.db"}, "no tuned plans", 1);
  database("own.db", {{kFft, kFast}});
  expect_refused({"build", "no/such/folder/a.pack"}, "cannot be made", 1);
  expect_refused({"build", "a.pack", "--name", "a b"}, "without blanks", 2);
  expect_refused({"build", "a.pack", "--sign", "none.secret"}, "none.secret", 1);
  expect_refused({"build", "a.pack", "--policy", "luck"}, "luck", 2);
  expect_refused({"build", "a.pack", "--runners-up", "-1"}, "--runners-up", 2);
  expect_refused({"build", ""}, "empty", 2);
  EXPECT_EQ(files(), (Words{"empty.db", "own.db", "text.txt"})) << "nothing is left behind";
}

TEST_F(PackCommand, MixedPlanLanguagesAreNamedAndOneCanBeChosen) {
  db::Environment old = environment();
  old.generator = "plan texts 0";
  database("own.db", {{kFft, kFast}});
  database("own.db", {{kNufft, kGridder}}, old);
  expect_refused({"build", "a.pack"}, "plan languages are mixed: 'plan texts 0', ", 2);
  done({"build", "old.pack", "--plan-language", "plan texts 0"});
  done({"build", "new.pack", "--plan-language", environment().generator});
  EXPECT_EQ(contents("old.pack").plans.at(0).verdict.problem, kNufft);
  expect_refused({"merge", "both.pack", "old.pack", "new.pack"}, "plan languages are mixed", 2);
  EXPECT_FALSE(fs::exists(folder / "both.pack"));
}

TEST_F(PackCommand, PlansThatAreNotOfThisVersionCostThemselvesOnly) {
  database("own.db", {{kFft, kFast}, {"waltz:n=3", kFast}});
  const Finished built = run({"build", "a.pack"});
  EXPECT_EQ(built.code, 0) << built.err;
  EXPECT_NE(built.err.find("1 winners of"), std::string::npos) << built.err;
  EXPECT_EQ(contents("a.pack").plans.size(), 1u);
}

TEST_F(PackCommand, FilesAreReplacedOnlyByForceAndOnlyPacks) {
  make_a();
  const std::string before = text("own.db");
  expect_refused({"build", "a.pack"}, "a.pack: exists", 2);
  done({"build", "a.pack", "--force"});
  expect_refused({"build", "own.db", "--force"}, "own.db: is not a pack", 2);
  expect_refused({"merge", "own.db", "a.pack", "--force"}, "own.db: is not a pack", 2);
  expect_refused({"build", ".", "--force"}, "is a folder", 2);
  EXPECT_EQ(text("own.db"), before);
}

TEST_F(PackCommand, KillingABuildLeavesTheOldPackOrTheNewOne) {
  make_a();
  const std::string before = text("a.pack");
  many("many.pack", 5000);
  for (int ms = 0; ms < 200; ms += 20) {
    const std::string script = "'" + fourtune_program() +
                               "' pack build a.pack --force --from many.pack & pid=$!; sleep " +
                               std::to_string(ms / 1000.0) + "; kill -TERM $pid; wait $pid; exit 0";
    run_program({"bash", "-c", script}, folder.path(), {{"FOURTUNE_DB", (folder / "own.db").string()}});
    if (text("a.pack") == before) continue;
    EXPECT_EQ(run({"verify", "a.pack"}).code, 0);
  }
  EXPECT_EQ(files(), (Words{"a.pack", "many.pack", "own.db"}));
}

}  // namespace
}  // namespace fourtune::test
