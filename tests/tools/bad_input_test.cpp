// Each command answers bad input with one line that names it and a line that says what would be right.
#include <string>
#include <vector>

#include "db/tuning_store.h"
#include "tests/tools/command_line.h"

namespace fourtune::test {
namespace {

class BadInput : public CommandLine {
 protected:
  // One line of error with `named` and one line of hint with `right`, and nothing on stdout but where work had begun.
  void expect_hint(const std::vector<std::string>& words, const std::string& named, const std::string& right,
                   int code = 2) {
    const Finished said = run(words);
    const std::string shown = testing::PrintToString(words) + "\n" + said.err;
    EXPECT_EQ(said.code, code) << shown;
    const std::size_t error = said.err.find("fourtune: error: "), hint = said.err.find("\nhint: ");
    ASSERT_NE(error, std::string::npos) << shown;
    ASSERT_NE(hint, std::string::npos) << shown;
    EXPECT_EQ(said.err.substr(error, hint - error).find('\n'), std::string::npos) << shown;
    EXPECT_EQ(said.err.find('\n', hint + 1), said.err.size() - 1) << shown;
    EXPECT_NE(said.err.substr(error, hint - error).find(named), std::string::npos) << shown;
    EXPECT_NE(said.err.substr(hint).find(right), std::string::npos) << shown;
  }
  const std::string token = "fft:type=c2c,n=16,prec=f32";
};

TEST_F(BadInput, SizesAreQuotedAsTheyWereTyped) {
  for (const char* n : {"8x", "8xx8", "8x0", "8xq"}) {
    const std::string typed = std::string("fft:type=c2c,prec=f32,n=") + n;
    for (const char* command : {"explain", "run", "tune", "plan"})
      expect_hint({command, typed}, "n=" + std::string(n) + ": whole numbers from 1 to 2^63-1 joined by x", "--help`");
  }
  expect_hint({"run", "fft:type=c2c,prec=f32,n="}, "n= has no value: a whole number from 1", "--help`");
  expect_hint({"run", token + ",batch="}, "batch= has no value: a whole number from 1", "--help`");
  expect_hint({"run", token + ",batch=-2"}, "batch=-2: a whole number from 1", "--help`");
  expect_hint({"run", token + ",layout=1+"}, "layout=1+: after + comes the distance", "--help`");
}

TEST_F(BadInput, AProblemIsNoPlan) {
  expect_hint({"plan", token}, token + ": this is a problem", "fourtune plan --list " + token);
  const std::string points = "nufft:type=1,n=16,m=100,prec=f32,tol=1e-3";
  expect_hint({"plan", points}, points + ": this is a problem", "fourtune explain " + points);
}

TEST_F(BadInput, EachCommandNamesItAndSaysWhatIsRight) {
  const std::string junk = file("junk.txt", "hello\n"), there = folder.path().string(),
                    nowhere = (folder / "no" / "file").string();
  expect_hint({"tune", token, "--seconds", "1", "--trace", there}, there + ": cannot be written", "may write", 1);
  expect_hint({"tune", token, "--seed", "abc"}, "--seed: 'abc' is not a whole number", "fourtune tune --help");
  expect_hint({"merge", nowhere, nowhere}, nowhere, "fourtune tune --shard");
  expect_hint({"merge", "--out"}, "no option '--out'", "fourtune merge --help");
  expect_hint({"report", "--out", nowhere, "--db", junk}, "no option '--db'", "fourtune report --help");
  expect_hint({"report"}, "--out is required", "fourtune report --help");
  expect_hint({"export", "--format", "kt", "--out", nowhere}, "kt", "fourtune export --help");
  expect_hint({"import", junk}, junk, "fourtune");
  expect_hint({"import", there}, there, "fourtune export");
  expect_hint({"show", token, "--runner-ups", "-1"}, "--runner-ups: -1 is outside", "fourtune show --help");
  expect_hint({"show", ""}, "'' is not a problem token", "fourtune show --help");
  expect_hint({"explain", token, "--device", "99"}, "device=99", "fourtune explain --help");
  expect_hint({"explain", token, "--plan", "cpu;threads=2"}, "'fft' is missing", "fourtune explain");
  expect_hint({"plan", "{X(16,16,16,256,tw)}", "--n", "0"}, "--n 0", "--n 256x256x64");
  expect_hint({"plan", "--list", token, "--count", "-1"}, "--count: -1", "fourtune plan --help");
  expect_hint({"emit", "{X(1,4,1,4,no-tw)}", "--device", "abacus"}, "'abacus'", "fourtune emit --help");
  expect_hint({"emit", token, "--stage", "curtain"}, "curtain", "fourtune emit --help");
  expect_hint({"run", token, "--seed", "-1"}, "--seed: '-1'", "fourtune run --help");
  expect_hint({"run", token, "--values", nowhere}, nowhere, "fourtune run --help");
  expect_hint({"warm"}, "no problem is given", "--problems FILE");
  expect_hint({"warm", token, "--backend", "abacus"}, "'abacus'", "fourtune doctor", 1);
  expect_hint({"calibrate", "--device", "9"}, "device=9", "fourtune calibrate --help");
  expect_hint({"calibrate", "--backend", "abacus"}, "'abacus'", "fourtune doctor", 1);
  expect_hint({"soak", "--seed", "abc"}, "--seed: 'abc'", "fourtune soak --help");
  expect_hint({"soak", "--repeat", "fourier"}, "'fourier' is not a problem token", "fourtune soak --help");
  expect_hint({"doctor", "extra"}, "extra", "fourtune doctor --help");
  expect_hint({"doctor", "--format", "xml"}, "xml", "fourtune doctor --help");
  expect_hint({"bench", "--problems", nowhere}, nowhere, "fourtune bench --help");
  expect_hint({"bench", token, "--rounds", "0"}, "--rounds: 0", "fourtune bench --help");
  expect_hint({"pack", "show", junk}, junk, "fourtune pack build", 1);
  expect_hint({"pack", "merge", junk}, "is required", "fourtune pack merge --help");
  expect_hint({"worker", "--nosuch"}, "'--nosuch'", "fourtune worker --help");
  expect_hint({"worker", "extra"}, "extra", "fourtune worker --help");
  expect_hint({"version", "extra"}, "extra", "fourtune version --help");
  expect_hint({"version", "--format", "xml"}, "'--format'", "fourtune version --help");
  expect_hint({"completion"}, "shell", "fourtune completion --help");
  expect_hint({"completion", "tcsh"}, "tcsh", "fourtune completion --help");
}

TEST_F(BadInput, WhereTuningWasStoppedShowRepeatsTheUsersCommand) {
  const std::string command = "fourtune tune " + token + " --seconds 300 --threads 1";
  {
    auto store = db::TuningStore::open_for_writing(folder / "own.db");
    db::SessionStart start;
    start.command = command;
    store.finish_session(store.begin_session(start), db::SessionEnd::interrupted);
    EXPECT_EQ(run({"show"}).err, "hint: " + command + "\n");
    EXPECT_EQ(run({"show", "fft:type=c2c,n=17,prec=f32"}).err.find(command), std::string::npos) << "of another problem";
    start.command = "fourtune-ranks tune " + token + " --seconds 300";
    store.finish_session(store.begin_session(start), db::SessionEnd::interrupted);
  }
  EXPECT_EQ(run({"show"}).err, "hint: fourtune tune --problems builtin:quick --seconds 60\n")
      << "mpirun starts fourtune-ranks";
}

}  // namespace
}  // namespace fourtune::test
