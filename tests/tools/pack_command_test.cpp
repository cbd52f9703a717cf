// `fourtune pack` on packs that exist: show, verify, diff, merge, split, prune, embed and keygen, and what is refused.
#include "tests/tools/pack_command.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "db/pack.h"
#include "db/pack_index.h"
#include "db/pack_writer.h"
#include "db/signature.h"

namespace fourtune::test {
namespace {

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

TEST_F(PackCommand, ShowAndExplainSayWhichPlansWonByEnergy) {
  constexpr const char* kOther = "fft:type=c2c,n=30x20x14,prec=f64";
  database("own.db", {{kFft, kFast, 1000, 1.5, kSlow, db::Objective::energy}, {kOther, kFast, 5000, 1.2, {}}});
  done({"build", "a.pack", "--licence", "CC0"});
  done({"merge", "m.pack", "a.pack", "a.pack"});
  for (const std::string pack : {"a.pack", "m.pack"}) {
    const std::string table = done({"show", pack});
    EXPECT_NE(table.find("(by energy: 1.49 to 1.51 times less)"), std::string::npos) << table;
    EXPECT_EQ(table.find("(by "), table.rfind("(by ")) << "the other one won by its time: " << table;
    EXPECT_NE(done({"show", pack, "--format", "csv"}).find("," + std::string(kFast) + ",energy\n"), std::string::npos);
    const Json all = json({"show", pack});
    EXPECT_EQ(all["plans"][0]["objective"], "energy");
    EXPECT_EQ(all["plans"][1]["objective"], "time");
  }
  done({"build", "r.pack", "--runners-up", "1"});
  const Json with_runner_up = json({"show", "r.pack"});
  EXPECT_EQ(with_runner_up["plans"][1]["plan"], kSlow);
  EXPECT_EQ(with_runner_up["plans"][1]["objective"], "time") << "it has won nothing";
  // From the pack alone, and from the database.
  for (const std::string& source : {(folder / "none.db").string(), (folder / "own.db").string()}) {
    const auto explained = [&](const std::string& token, Words more) {
      Words words{fourtune_program(), "explain", token, "--threads", "1"};
      words.insert(words.end(), more.begin(), more.end());
      const Finished result = run_program(words, folder.path(),
                                          {{"FOURTUNE_DB", source}, {"FOURTUNE_PACKS", (folder / "a.pack").string()}});
      EXPECT_EQ(result.code, 0) << result.err;
      return result.out;
    };
    EXPECT_NE(explained(kFft, {}).find("won by energy"), std::string::npos) << explained(kFft, {});
    EXPECT_EQ(explained(kOther, {}).find("won by"), std::string::npos) << explained(kOther, {});
    EXPECT_EQ(Json::parse(explained(kFft, {"--json"}))["objective"], "energy");
    EXPECT_EQ(Json::parse(explained(kOther, {"--json"}))["objective"], "time");
    EXPECT_TRUE(Json::parse(explained("fft:type=c2c,n=7,prec=f32", {"--json"}))["objective"].is_null());
  }
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

// ---- index
TEST_F(PackCommand, AnIndexIsOfThePackBesideIt) {
  make_a();
  const Json written = json({"index", "a.pack"});
  EXPECT_EQ(written["index"], "a.pack.index");
  const auto index = db::index_beside(folder / "a.pack");
  ASSERT_TRUE(index);
  EXPECT_EQ(index->plans, 2u);
  EXPECT_FALSE(index->places.empty());
  done({"index", "a.pack"});  // again
  fs::copy_file(folder / "a.pack", folder / "damaged.pack");
  fs::copy_file(folder / "a.pack.index", folder / "damaged.pack.index");
  sql("damaged.pack", "UPDATE plan SET winner_ns = winner_ns + 1 WHERE id = 1");
  EXPECT_FALSE(db::index_beside(folder / "damaged.pack"));
  expect_refused({"index", "none.pack"}, "no such pack", 2);
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
  done({"embed", "a.pack", "digits.c", "--as", "c", "--symbol", "_a09z"});
  EXPECT_NE(text("digits.c").find("_a09z_size"), std::string::npos);
  for (const char* symbol : {"1a", "9a", "a b", "a;b", "ä"})
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
