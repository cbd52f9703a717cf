// `fourtune pack` as a user runs it: every subcommand on small tuned databases, and what is refused.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/known_devices.h"
#include "db/pack.h"
#include "db/pack_writer.h"
#include "db/signature.h"
#include "db/tuning_store.h"
#include "runtime/backends/cuda/nvrtc_api.h"
#include "runtime/environment.h"
#include "tests/support/program.h"

namespace fourtune::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

constexpr const char* kFft = "fft:type=c2c,n=20x12,prec=f64";
constexpr const char* kNufft = "nufft:type=1,n=32x32,m=1000,prec=f32,tol=1e-3";
constexpr const char* kFast = "cpu;threads=1;fft=fftw(rigor=patient)";
constexpr const char* kSlow = "cpu;threads=1;fft=fftw(rigor=estimate)";
constexpr const char* kGridder = "cpu;threads=1;window=pswf(width=4)";

struct Tuned {
  std::string problem, plan;
  std::int64_t ns = 1000;
  double gain = 1.5;
  std::string runner_up{};  // takes twice the time
};

class PackCommand : public testing::Test {
 protected:
  Finished run(const Words& words) {
    Words all{fourtune_program(), "pack"};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all, folder.path(), {{"FOURTUNE_DB", (folder / "own.db").string()}, {"CC", compiler}});
  }
  std::string done(const Words& words) {
    const Finished result = run(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }
  Json json(Words words) {
    words.insert(words.end(), {"--format", "json"});
    return Json::parse(done(words), nullptr, false);
  }
  // One line of error with the reason, perhaps a hint, and nothing else.
  void expect_refused(const Words& words, const std::string& reason, int code) {
    const Finished result = run(words);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_EQ(result.err.rfind("fourtune: error: ", 0), 0u) << result.err;
    EXPECT_NE(result.err.find(reason), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
    const auto end = result.err.find('\n');
    EXPECT_TRUE(end + 1 == result.err.size() || result.err.compare(end + 1, 6, "hint: ") == 0) << result.err;
  }
  static db::Environment environment(const std::string& device = {}) {
    db::Environment here = runtime::environment_here(cpu_traits());
    if (!device.empty()) here.device = device;
    return here;
  }
  void database(const std::string& name, const std::vector<Tuned>& all,
                const db::Environment& where = environment()) const {
    auto store = db::TuningStore::open_for_writing(folder / name, 1000, db::Journal::rollback);
    db::SessionStart start;
    start.environment = where;
    const auto session = store.begin_session(start);
    for (const Tuned& one : all) {
      for (const std::string& plan : {one.plan, one.runner_up}) {
        if (plan.empty()) continue;
        db::Run run;
        run.problem = one.problem, run.plan = plan, run.error = 1e-9;
        run.samples_ns = {plan == one.plan ? one.ns : 2 * one.ns};
        store.record_run(session, run);
      }
      db::Verdict verdict;
      verdict.problem = one.problem, verdict.plan = one.plan, verdict.winner_ns = static_cast<double>(one.ns);
      verdict.incumbent_ns = verdict.winner_ns * one.gain, verdict.rounds = 9;
      verdict.ratio_low = one.gain * 0.99, verdict.ratio_high = one.gain * 1.01;
      store.record_verdict(session, verdict);
    }
    store.finish_session(session, db::SessionEnd::complete);
  }
  void sql(const std::string& file, const std::string& statement) const {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open((folder / file).c_str(), &connection), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << statement;
    sqlite3_close(connection);
  }
  db::PackContents contents(const std::string& file) const {
    std::size_t damaged = 0;
    return db::Pack::open(folder / file)->contents(damaged);
  }
  void write(const std::string& file, const db::PackContents& contents) const {
    db::write_file(folder / file, db::pack_bytes(contents));
  }
  // A pack of this many plans; a database would take a write to the disk for each.
  void many(const std::string& file, int count) const {
    db::PackContents all = contents("a.pack");
    db::PackPlan plan = all.plans.at(0);
    all.plans.clear();
    for (int n = 0; n < count; ++n) {
      plan.verdict.problem = "fft:type=c2c,n=" + std::to_string(8 + n) + ",prec=f64";
      all.plans.push_back(plan);
    }
    write(file, all);
  }
  std::string text(const std::string& file) const { return read_text(folder / file); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
      names.push_back(fs::relative(entry.path(), folder.path()).generic_string());
    std::sort(names.begin(), names.end());
    return names;
  }
  // own.db and a.pack
  void make_a() {
    database("own.db", {{kFft, kFast, 1000, 1.5, kSlow}, {kNufft, kGridder, 5000, 1.2, {}}});
    done({"build", "a.pack", "--licence", "CC0"});
  }

  ScratchFolder folder;
  std::string compiler = "cc";
};

// ---- build
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
  expect_refused({"build", "c.pack", "--kernels", "hopper"}, "'hopper' is no target", 2);
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

// ---- show
TEST_F(PackCommand, ShowPrintsTheManifestAndThePlans) {
  make_a();
  const std::string table = done({"show", "a.pack"});
  for (const std::string word : {"a 1", "CC0", "own.db", kFft, kFast, "winner", "1.50", "2 winners, 0 runners-up"})
    EXPECT_NE(table.find(word), std::string::npos) << word << " in\n" << table;
  EXPECT_NE(done({"show", "a.pack", "--limit", "1"}).find("and 1 more"), std::string::npos);
  const std::string csv = done({"show", "a.pack", "--format", "csv"});
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  EXPECT_NE(csv.find("\"" + std::string(kFft) + "\",0,0.000001000,1.50,"), std::string::npos) << csv;
  const Json all = json({"show", "a.pack"});
  EXPECT_EQ(all["plans"].size(), 2u);
  EXPECT_EQ(all["plans"][0]["gain"], 1.5);
  EXPECT_EQ(all["devices"].size(), 1u);
  EXPECT_EQ(json({"show", "a.pack", "--limit", "1"})["plans"].size(), 1u);
}

TEST_F(PackCommand, TextsOfAPackSendNothingToTheTerminal) {
  make_a();
  db::PackContents hostile = contents("a.pack");
  hostile.manifest.licence = "\x1b[2Jlicence";
  hostile.manifest.sources = {"\x1b]0;owned\x07"};
  hostile.plans[0].verdict.plan = "cpu;\x1b[31m\r";
  write("h.pack", hostile);
  for (const Words& words : std::vector<Words>{{"show", "h.pack"},
                                               {"show", "h.pack", "--format", "csv"},
                                               {"show", "h.pack", "--format", "json"},
                                               {"diff", "a.pack", "h.pack"},
                                               {"merge", "m.pack", "a.pack", "h.pack"},
                                               {"embed", "h.pack", "h.c", "--as", "c"}}) {
    const Finished result = run(words);
    EXPECT_EQ(result.code, 0) << result.err;
    for (const char letter : result.out + result.err)
      EXPECT_TRUE(letter == '\n' || static_cast<unsigned char>(letter) >= 0x20) << words[0];
  }
}

// ---- verify
TEST_F(PackCommand, SignedPacksAreVerifiedByTheirKey) {
  make_a();
  done({"keygen", "maker"});
  done({"keygen", "other", "--into", "keys"});
  const Json built = json({"build", "signed.pack", "--sign", "maker.secret"});
  EXPECT_EQ(built["signer"], db::bare_public_key(db::read_key(folder / "maker.public")));
  EXPECT_NE(done({"verify", "signed.pack"}).find("signed by"), std::string::npos);
  const Json right = json({"verify", "signed.pack", "--key", "maker.public"});
  EXPECT_TRUE(right["right"]);
  EXPECT_EQ(right["plans"], 2);
  EXPECT_NE(done({"verify", "a.pack"}).find("not signed"), std::string::npos);
  expect_refused({"verify", "a.pack", "--key", "maker.public"}, "it is not signed", 1);
  expect_refused({"verify", "signed.pack", "--key", "keys/other.public"}, "not by the key that was given", 1);
  expect_refused({"verify", "signed.pack", "--key", "maker.secret"}, "secret key where a public key", 2);
  expect_refused({"verify", "signed.pack", "--key", "a.pack"}, "--key a.pack", 2);
  expect_refused({"build", "x.pack", "--sign", "maker.public"}, "public key where a secret key", 2);
}

TEST_F(PackCommand, DamageIsCountedAndAWrongSignatureIsRefused) {
  make_a();
  done({"keygen", "maker"});
  done({"build", "signed.pack", "--sign", "maker.secret"});
  fs::copy_file(folder / "a.pack", folder / "damaged.pack");
  sql("damaged.pack", "UPDATE plan SET winner_ns = winner_ns + 1 WHERE id = 1");
  expect_refused({"verify", "damaged.pack"}, "1 plans or kernels are not what was written", 1);
  const Finished said = run({"verify", "damaged.pack", "--format", "json"});
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(Json::parse(said.out)["damaged"], 1);
  EXPECT_FALSE(Json::parse(said.out)["complete"]);
  expect_refused({"embed", "damaged.pack", "x.c", "--as", "c"}, "is not what was written", 1);
  const Finished shown = run({"show", "damaged.pack", "--format", "csv"});
  EXPECT_EQ(shown.code, 0);
  EXPECT_NE(shown.err.find("1 of its 2 plans"), std::string::npos) << shown.err;

  fs::copy_file(folder / "a.pack", folder / "fewer.pack");
  sql("fewer.pack", "DELETE FROM plan WHERE id = 1");
  expect_refused({"verify", "fewer.pack"}, "1 plans are missing", 1);

  sql("signed.pack", "UPDATE manifest SET value = 'MIT' WHERE key = 'licence'");
  expect_refused({"verify", "signed.pack"}, "does not fit the contents", 1);
  for (const Words& words : std::vector<Words>{{"show", "signed.pack"},
                                               {"merge", "m.pack", "signed.pack"},
                                               {"build", "m.pack", "--from", "signed.pack"},
                                               {"prune", "signed.pack", "m.pack", "--gain-below", "1"}})
    expect_refused(words, "does not fit the contents", 1);
}

TEST_F(PackCommand, FilesThatAreNoPacksAreNamed) {
  make_a();
  const std::string whole = text("a.pack");
  write_text(folder / "cut.pack", whole.substr(0, whole.size() / 2));
  write_text(folder / "foreign.pack", "not a pack");
  fs::copy_file(folder / "a.pack", folder / "newer.pack");
  sql("newer.pack", "PRAGMA user_version = 99");
  fs::copy_file(folder / "a.pack", folder / "hostile.pack");
  sql("hostile.pack", "CREATE VIEW more AS SELECT * FROM plan");
  const auto each = [&](const std::string& file, const std::string& reason, int code) {
    for (const Words& words : std::vector<Words>{{"show", file},
                                                 {"verify", file},
                                                 {"diff", "a.pack", file},
                                                 {"diff", file, "a.pack"},
                                                 {"merge", "x.pack", "a.pack", file},
                                                 {"split", file, "--by", "device", "--into", "x"},
                                                 {"prune", file, "x.pack", "--gain-below", "1"},
                                                 {"embed", file, "x.c", "--as", "c"}})
      expect_refused(words, reason, code);
    EXPECT_FALSE(fs::exists(folder / "x") || fs::exists(folder / "x.pack") || fs::exists(folder / "x.c"));
  };
  each("cut.pack", "cut.pack", 1);
  each("foreign.pack", "is not a pack", 1);
  each("own.db", "is not a pack", 1);
  each("newer.pack", "has version 99", 1);
  each("hostile.pack", "something that packs have not", 1);
  each("none.pack", "no such pack", 2);
  each(".", "not a regular file", 1);
}

// ---- diff and merge
TEST_F(PackCommand, DiffListsWhatChangedWithGains) {
  make_a();
  database("b.db", {{kFft, kSlow, 500}, {"fft:type=c2c,n=7,prec=f32", kSlow, 500}});
  done({"build", "b.pack", "--from", "b.db"});
  const Json all = json({"diff", "a.pack", "b.pack"});
  EXPECT_EQ(all["changed"][0]["gain"], 2.0);
  EXPECT_EQ(all["changed"][0]["before"]["plan"], kFast);
  EXPECT_EQ(all["added"].size(), 1u);
  EXPECT_EQ(all["removed"][0]["problem"], kNufft);
  const std::string table = done({"diff", "a.pack", "b.pack"});
  for (const char* word : {"changed", "2.00", "1 added, 1 removed, 1 changed, 0 with the same winner"})
    EXPECT_NE(table.find(word), std::string::npos) << word << " in\n" << table;
  EXPECT_NE(done({"diff", "a.pack", "a.pack"}).find("0 changed, 2 with the same winner"), std::string::npos);
}

TEST_F(PackCommand, MergeIsTheSameInAnyOrderAndListsConflicts) {
  make_a();
  database("b.db", {{kFft, kSlow, 500}});
  done({"build", "b.pack", "--from", "b.db"});
  const auto merged = [&](const std::string& out, const Words& inputs, const std::string& policy) {
    Words words{"merge", out, "--name", "all", "--force", "--policy", policy};
    words.insert(words.end(), inputs.begin(), inputs.end());
    return json(words);
  };
  const Json result = merged("x.pack", {"a.pack", "b.pack"}, "fastest");
  EXPECT_EQ(result["conflicts"].size(), 1u);
  EXPECT_EQ(result["conflicts"][0]["chosen"]["plan"], kSlow);
  EXPECT_EQ(result["winners"], 2);
  EXPECT_EQ(result["runners_up"], 1);
  merged("y.pack", {"b.pack", "a.pack"}, "fastest");
  EXPECT_EQ(text("x.pack"), text("y.pack"));
  EXPECT_EQ(merged("z.pack", {"a.pack", "b.pack"}, "first")["conflicts"][0]["chosen"]["plan"], kFast);
  EXPECT_EQ(contents("x.pack").manifest.licence, "CC0");
  EXPECT_EQ(contents("x.pack").manifest.sources.size(), 2u);
  const std::string table = done({"merge", "t.pack", "a.pack", "b.pack", "--runners-up", "0"});
  EXPECT_NE(table.find("1 problem with different winners"), std::string::npos) << table;
  EXPECT_EQ(contents("t.pack").plans.size(), 2u);
}

// ---- split and prune
TEST_F(PackCommand, SplitMakesAPackForEachPart) {
  database("a.db", {{kFft, kFast}}, environment("Some GPU (A)"));
  database("b.db", {{kFft, kSlow}}, environment("some-gpu-a"));
  done({"build", "both.pack", "--from", "a.db", "b.db"});
  EXPECT_EQ(json({"split", "both.pack", "--by", "device", "--into", "parts/of"}).size(), 2u);
  EXPECT_EQ(contents("parts/of/both-some-gpu-a.pack").plans.at(0).environment.device, "Some GPU (A)");
  EXPECT_EQ(contents("parts/of/both-some-gpu-a-2.pack").plans.at(0).environment.device, "some-gpu-a");
  EXPECT_EQ(json({"split", "both.pack", "--by", "arch", "--into", "arch", "--name", "x"}).size(), 1u);
  EXPECT_EQ(run({"verify", "arch/x-" + environment().isa + ".pack"}).code, 0);
  expect_refused({"split", "both.pack", "--by", "device", "--into", "parts/of"}, "exists", 2);
  done({"split", "both.pack", "--by", "device", "--into", "parts/of", "--force"});
  expect_refused({"split", "both.pack", "--by", "mood", "--into", "x"}, "mood", 2);
  expect_refused({"split", "both.pack", "--by", "device", "--into", "a.db/x"}, "a.db/x", 1);
}

TEST_F(PackCommand, PruneDropsByGainAgeAndSize) {
  make_a();
  const Json pruned = json({"prune", "a.pack", "b.pack", "--gain-below", "1.3"});
  EXPECT_EQ(pruned["dropped_plans"], 1);
  EXPECT_EQ(contents("b.pack").plans.at(0).verdict.problem, kFft);
  EXPECT_EQ(json({"prune", "a.pack", "c.pack", "--older-than", "90"})["dropped_plans"], 0);
  EXPECT_EQ(json({"prune", "a.pack", "d.pack", "--older-than", "2020-01-31"})["dropped_plans"], 0);
  expect_refused({"prune", "a.pack", "x.pack", "--older-than", "2999-01-01"}, "no plan is left", 1);
  for (const char* when : {"soon", "-3", "2020-02-30", "2020-1", ""})
    expect_refused({"prune", "a.pack", "x.pack", "--older-than", when}, when[0] ? when : "--older-than", 2);
  expect_refused({"prune", "a.pack", "x.pack"}, "nothing to prune by", 2);
  expect_refused({"prune", "a.pack", "x.pack", "--max-bytes", "-5"}, "--max-bytes", 2);
  expect_refused({"prune", "a.pack", "x.pack", "--max-bytes", "100"}, "an empty pack has", 2);

  many("many.pack", 300);
  const auto bytes = fs::file_size(folder / "many.pack");
  done({"keygen", "maker"});
  done({"prune", "many.pack", "few.pack", "--max-bytes", std::to_string(bytes - 10'000), "--sign", "maker.secret"});
  EXPECT_LE(fs::file_size(folder / "few.pack"), bytes - 10'000);
  EXPECT_GT(contents("few.pack").plans.size(), 50u);
  EXPECT_EQ(run({"verify", "few.pack", "--key", "maker.public"}).code, 0);
}

// ---- embed
TEST_F(PackCommand, EmbeddedPacksAreLinkedByCAndCpp) {
  if (!has_program("cc") || !has_program("c++")) GTEST_SKIP() << "no C compiler";
  make_a();
  const std::string program =
      "#include <stddef.h>\n#include <stdio.h>\n"
      "extern const unsigned char my_plans[];\nextern const size_t my_plans_size;\n"
      "int main(void) { return fwrite(my_plans, 1, my_plans_size, stdout) == my_plans_size ? 0 : 1; }\n";
  write_text(folder / "main.c", program);
  const auto output_of = [&](const std::string& build) {
    EXPECT_EQ(run_program({"bash", "-c", build + " && ./main > out"}, folder.path()).code, 0) << build;
    return text("out");
  };
  const std::string said = done({"embed", "a.pack", "plans.c", "--as", "c", "--symbol", "my_plans"});
  EXPECT_NE(said.find("extern const unsigned char my_plans[];"), std::string::npos);
  EXPECT_EQ(output_of("cc -Wall -Wextra -Werror -pedantic -std=c99 main.c plans.c -o main"), text("a.pack"));
  EXPECT_EQ(output_of("c++ -Wall -Wextra -Werror -c -x c++ plans.c -o cpp.o && cc main.c cpp.o -o main"),
            text("a.pack"));
  EXPECT_EQ(json({"embed", "a.pack", "plans.o", "--as", "o", "--symbol", "my_plans"})["bytes"], text("a.pack").size());
  EXPECT_EQ(output_of("cc -Wall main.c plans.o -o main"), text("a.pack"));
  expect_refused({"embed", "a.pack", "plans.c", "--as", "c"}, "exists", 2);
  done({"embed", "a.pack", "plans.c", "--as", "c", "--force"});
  EXPECT_NE(text("plans.c").find("fourtune_pack_a_size"), std::string::npos);
}

TEST_F(PackCommand, EmbedNamesTheMissingToolAndBadNames) {
  make_a();
  compiler = "no-such-compiler";
  expect_refused({"embed", "a.pack", "x.o", "--as", "o"}, "no C compiler was found (no-such-compiler)", 1);
  compiler = "false";
  expect_refused({"embed", "a.pack", "x.o", "--as", "o"}, "false -c ended with 1", 1);
  EXPECT_FALSE(fs::exists(folder / "x.o"));
  for (const char* symbol : {"1a", "a b", "a;b", "ä"})
    expect_refused({"embed", "a.pack", "x.c", "--as", "c", "--symbol", symbol}, "no name of C", 2);
  expect_refused({"embed", "a.pack", "x.c", "--as", "rust"}, "rust", 2);
  expect_refused({"embed", "a.pack", "x.c"}, "--as", 2);
}

// ---- keygen
TEST_F(PackCommand, KeysAreNeverOverwrittenAndTheSecretIsTheUsersAlone) {
  const std::string said = done({"keygen", "maker", "--into", "my/keys"});
  EXPECT_NE(said.find("fourtune-public-key "), std::string::npos);
  EXPECT_EQ(said.find("fourtune-secret-key "), std::string::npos);
  struct stat status {};
  ASSERT_EQ(::stat((folder / "my/keys/maker.secret").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const std::string secret = text("my/keys/maker.secret");
  EXPECT_EQ(db::public_key_of(secret.substr(0, secret.find('\n'))),
            db::bare_public_key(db::read_key(folder / "my/keys/maker.public")));
  expect_refused({"keygen", "maker", "--into", "my/keys"}, "exists", 1);
  fs::remove(folder / "my/keys/maker.public");
  expect_refused({"keygen", "maker", "--into", "my/keys"}, "maker.secret: exists", 1);
  EXPECT_EQ(text("my/keys/maker.secret"), secret);
  for (const char* name : {"", "a b", "../maker", ".hidden"}) expect_refused({"keygen", name}, "name of a key", 2);
  EXPECT_EQ(json({"keygen", "second"})["secret"], "./second.secret");
}

}  // namespace
}  // namespace fourtune::test
