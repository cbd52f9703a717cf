// Runs the built command line as a user does.
#include <chrono>
#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <numbers>
#include <string>
#include <thread>
#include <vector>

#include "fourtune/fourtune.h"
#include "tests/tools/command_line.h"

namespace fourtune::test {
namespace {

using Json = nlohmann::json;

// A .npy file of doubles in the format of numpy.save.
std::string npy(const std::string& descr, const std::string& shape, const std::vector<double>& numbers,
                const std::string& order = "False") {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  std::string text = "\x93NUMPY";
  text += '\x01';
  text += '\0';
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  text += header;
  text.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  return text;
}

std::vector<std::complex<double>> npy_values(const std::string& text) {
  const std::size_t start = 10 + static_cast<unsigned char>(text[8]) + 256u * static_cast<unsigned char>(text[9]);
  std::vector<std::complex<double>> values((text.size() - start) / 16);
  std::memcpy(values.data(), text.data() + start, values.size() * 16);
  return values;
}

TEST_F(CommandLine, HelpOfEverySubcommandHasAnExample) {
  const Finished top = run({"--help"});
  EXPECT_EQ(top.code, 0);
  for (const char* name :
       {"tune", "show", "explain", "plan", "emit", "run", "soak", "doctor", "bench", "pack", "version", "completion"}) {
    EXPECT_NE(top.out.find(name), std::string::npos) << name;
    const Finished help = run({name, "--help"});
    EXPECT_EQ(help.code, 0) << name;
    EXPECT_NE(help.out.find("Example"), std::string::npos) << name;
    EXPECT_NE(help.out.find(std::string("fourtune ") + name), std::string::npos) << name;
  }
  EXPECT_EQ(top.out.find("worker"), std::string::npos) << "the worker is not for people";
  const Finished pack = run({"pack", "--help"});
  for (const char* name : {"build", "show", "verify", "diff", "merge", "split", "prune", "index", "embed", "keygen"}) {
    EXPECT_NE(pack.out.find(name), std::string::npos) << name;
    const Finished help = run({"pack", name, "--help"});
    EXPECT_EQ(help.code, 0) << name;
    EXPECT_NE(help.out.find(std::string("Example:\n  fourtune pack ") + name), std::string::npos) << name;
  }
}

TEST_F(CommandLine, HelpIsASubcommandToo) {
  EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
  EXPECT_EQ(run({"help", "tune"}).out, run({"tune", "--help"}).out);
  EXPECT_EQ(run({"help", "pack", "build"}).out, run({"pack", "build", "--help"}).out);
  EXPECT_EQ(run({"help", "tun"}).code, 2);
}

TEST_F(CommandLine, MisspelledWordsAreAnsweredWithTheRightOnes) {
  const std::string token = "fft:type=c2c,n=8,prec=f64";
  const auto expect = [&](const std::vector<std::string>& words, const std::string& message, const std::string& hint) {
    const Finished result = run(words);
    EXPECT_EQ(result.code, 2) << words[0];
    EXPECT_EQ(result.err, "fourtune: error: " + message + "\nhint: " + hint + "\n");
    EXPECT_EQ(result.out, "");
  };
  expect({"tun"}, "there is no subcommand 'tun'", "did you mean tune?");
  expect({"pack", "bulid"}, "there is no subcommand 'bulid'", "did you mean build?");
  expect({"run", token, "--thread", "1"}, "fourtune run has no option '--thread'", "did you mean --threads?");
  expect({"run", token, "--repat=3"}, "fourtune run has no option '--repat'", "did you mean --repeat?");
  expect({"run", token, "--zzzzzz"}, "fourtune run has no option '--zzzzzz'", "`fourtune run --help` has an example");
  const Finished typed = run({"run", "nufft:n=20,20,type=1,m=1e3,prec=f32,tol=1e-3"});
  EXPECT_EQ(typed.code, 0) << typed.err;
  EXPECT_NE(typed.out.find("nufft:type=1,n=20x20,m=1000,prec=f32,tol=1e-3\n"), std::string::npos) << typed.out;
  const Finished wrong = run({"explain", "nufft:type=1,n=20x20,precision=single,eps=1e-3"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("did you mean nufft:type=1,n=20x20,prec=f32,tol=1e-3?"), std::string::npos) << wrong.err;
}

TEST_F(CommandLine, NumbersAreTakenUpToTheirLimitsAndNamedBeyond) {
  const std::string token = "fft:type=c2c,n=8,prec=f64";
  for (const std::vector<std::string>& words : {std::vector<std::string>{"explain", token, "--threads", "4096"},
                                                {"run", token, "--repeat", "1", "--no-check", "--threads", "4096"},
                                                {"soak", "--list", "--count", "1", "--threads", "4096"},
                                                {"soak", "--repeat", token, "--count", "1000000000"}})
    EXPECT_EQ(run(words).code, 0) << words[0] << ' ' << words.back();
  for (const std::vector<std::string>& words : {std::vector<std::string>{"explain", token, "--threads", "4097"},
                                                {"run", token, "--threads", "4097"},
                                                {"soak", "--list", "--threads", "4097"},
                                                {"soak", "--repeat", token, "--count", "1000000001"},
                                                {"soak", "--repeat", token, "--count", "0"}}) {
    const Finished refused = run(words);
    EXPECT_EQ(refused.code, 2) << words[0] << ' ' << words.back();
    EXPECT_NE(refused.err.find(words.back() + " is outside "), std::string::npos) << refused.err;
  }
  expect_refused({"run", token, "--threads", "1.5"},
                 "--threads: '1.5' is not a whole number; one from 0 to 4096 is needed");
  expect_refused({"bench", token, "--scale", "big"}, "--scale: 'big' is not a number; one from 1e-06 to 16 is needed");
}

TEST_F(CommandLine, TimesMayHaveAUnit) {
  const std::string token = "fft:type=c2c,n=8,prec=f64";
  for (const char* time : {"0.3", "300ms", "0.3s", "0.005m", "0.005min", "1e-4h"})
    EXPECT_EQ(tune({token, "--quiet", "--seconds", time}).code, 0) << time;
  expect_refused({"tune", token, "--seconds", "5 apples"},
                 "'5 apples' is not a time; one such as 5, 500ms, 5s, 2min or 1h");
  expect_refused({"tune", token, "--seconds", "-1s"}, "-1s is outside 0 to 1e+07 seconds");
  expect_refused({"tune", token, "--seconds", "nan"}, "nan is outside 0 to 1e+07 seconds");
  expect_refused({"soak", "--timeout", "0h"}, "0h is outside 0.001 to 1e+07 seconds");
}

TEST_F(CommandLine, VersionIsThatOfTheLibrary) {
  const std::string version = fourtune_version();
  EXPECT_NE(
      read_text(std::string(FOURTUNE_SOURCE_DIR) + "/CMakeLists.txt").find("project(fourtune VERSION " + version + " "),
      std::string::npos)
      << version;
  for (const char* way : {"version", "--version"}) {
    const Finished said = run({way});
    EXPECT_EQ(said.code, 0) << way;
    EXPECT_EQ(said.out.substr(0, said.out.find('\n')), "fourtune " + version) << way;
  }
}

TEST_F(CommandLine, BadUsageIsRefusedWithTheReason) {
  expect_refused({}, "subcommand");
  expect_refused({"dance"}, "'dance'");
  expect_refused({"run"}, "PROBLEM is required");
  expect_refused({"show", "--format", "xml"}, "xml");
  expect_refused({"tune"}, "nothing to tune");
  expect_refused({"tune", "fft:type=c2c,n=8,prec=f32", "--seconds", "-1"}, "--seconds");
  expect_refused({"tune", "fft:type=c2c,n=8,prec=f32", "--strategy", "luck"}, "luck");
  expect_refused({"run", "fft:type=c2c,n=8,prec=f32", "--repeat", "0"}, "--repeat");
  expect_refused({"run", "fft:type=c2c,n=8,prec=f32", "--threads", "x"}, "--threads");
  expect_refused({"run", "fft:type=c2c,n=8,prec=f32", "--wings", "2"}, "--wings");
  expect_refused({"completion", "tcsh"}, "tcsh");
  expect_refused({"pack", "dance"}, "'dance'");
  expect_refused({"pack", "show"}, "fourtune pack show --help");
}

TEST_F(CommandLine, BadProblemsAreRefusedWithTheKey) {
  expect_refused({"run", "fourier"}, "fourier");
  expect_refused({"run", "nufft:type=1,n=64,prec=f32"}, "tol");
  expect_refused({"explain", "fft:type=c2c,n=0,prec=f32"}, "n");
  expect_refused({"explain", "fft:type=c2c,n=99999999999999999999,prec=f32"}, "n");
  expect_refused({"run", "nufft:type=1,n=64,m=10,prec=f32,tol=1e-12"}, "f32");
  expect_refused({"run", "nufft:type=3,dim=2,prec=f64,tol=1e-6"}, "m and k");
  expect_refused({"run", "fft:type=c2c,n=8,prec=f32", "--plan", "cpu;fft=magic"}, "magic");
  expect_refused({"run", "fft:type=c2c,n=99999x99999x999,prec=f32"}, "this machine has", 1);
  expect_refused({"run", "fft:type=c2c,n=8,prec=f32", "--backend", "abacus"}, "abacus", 1);
}

TEST_F(CommandLine, BadProblemFilesAreRefusedWithFileAndLine) {
  const std::string bad = file("bad.txt", "# comment\n\nfft:type=c2c,n=8,prec=f32\n  nufft:type=9,n=8 # no\n");
  expect_refused({"tune", "--problems", bad}, bad + ":4: ");
  expect_refused({"tune", "--problems", file("empty.txt", "# nothing\n")}, "holds no problem");
  expect_refused({"tune", "--problems", (folder / "none.txt").string()}, "no such file");
  expect_refused({"tune", "--problems", folder.path().string()}, "is a folder");
  expect_refused({"tune", "--problems", "builtin:../cases/quick"}, "no built-in problem list");
  expect_refused({"tune", "--problems", "builtin:"}, "no built-in problem list");
  expect_refused({"tune", "--problems", file("binary.txt", std::string("\0\xff\x01zz\n", 6))}, "binary.txt:1: ");
}

TEST_F(CommandLine, NamedDatabasesMustBeThereAndBeDatabases) {
  const std::string foreign = file("foreign.db", "not a database");
  for (const char* command : {"run", "explain", "show"}) {
    const std::string token = "fft:type=c2c,n=8,prec=f32";
    expect_refused({command, token, "--db", (folder / "none.db").string()}, "no such database");
    expect_refused({command, token, "--db", foreign}, "foreign.db", 1);
  }
  expect_refused({"tune", "fft:type=c2c,n=8,prec=f32", "--db", foreign}, "foreign.db", 1);
  EXPECT_EQ(read_text(foreign), "not a database") << "a foreign file is never overwritten";
}

TEST_F(CommandLine, RunChecksEveryKindOfTransformAndItsAdjoint) {
  for (const char* token :
       {"nufft:type=1,n=20x18,m=500,prec=f64,tol=1e-9", "nufft:type=2,n=33,m=200,prec=f32,tol=1e-4,batch=3",
        "nufft:type=3,dim=2,m=300,k=200,prec=f64,tol=1e-7", "nufft:type=1,n=12x10x8,prec=f32,tol=1e-3,points=radial",
        "fft:type=c2c,n=16x15,prec=f64,batch=2", "fft:type=c2c,n=24x10,prec=f32,place=in",
        "fft:type=r2c,n=15x8,prec=f64", "fft:type=c2r,n=16x6,prec=f64", "fft:type=r2c,n=14x9,prec=f32,place=in"})
    for (const bool adjoint : {false, true}) {
      std::vector<std::string> words{"run", token, "--json", "--repeat", "1"};
      if (adjoint) words.push_back("--adjoint");
      const Json result = run_json(words);
      ASSERT_TRUE(result.is_object()) << token;
      EXPECT_TRUE(result["right"]) << token << (adjoint ? " adjoint: " : ": ") << result["error"];
      EXPECT_FALSE(result["stages"].empty()) << token;
      EXPECT_GE(result["execute_seconds"].size(), 1u);
      EXPECT_LE(result["execute_seconds"].size(), 2u) << "a disturbed one is repeated once";
    }
}

TEST_F(CommandLine, RunTakesThePlanThatIsForced) {
  const Json result = run_json({"run", "fft:type=c2c,n=32,prec=f64", "--plan", "cpu;threads=1;fft=fftw(rigor=estimate)",
                                "--json", "--repeat", "1"});
  const std::string plan = result["plan"];
  EXPECT_NE(plan.find("rigor=estimate"), std::string::npos) << plan;
}

TEST_F(CommandLine, RunPrintsStageByStage) {
  const Finished result = run({"run", "nufft:type=1,n=16x16,m=300,prec=f64,tol=1e-6", "--repeat", "3"});
  EXPECT_EQ(result.code, 0) << result.err;
  for (const char* word : {"create", "set_points", "execute", "sort", "spread", "fft", "error", "right"})
    EXPECT_NE(result.out.find(word), std::string::npos) << word << " in\n" << result.out;
}

TEST_F(CommandLine, RunReadsAndWritesNpyFiles) {
  const std::vector<double> x{0.5, -1.25, 3.0}, y{2.0, 0.25, -3.0};
  const std::string rows = file("rows.npy", npy("<f8", "(3, 2)", {x[0], y[0], x[1], y[1], x[2], y[2]}));
  const std::string columns = file("columns.npy", npy("<f8", "(2, 3)", {x[0], x[1], x[2], y[0], y[1], y[2]}));
  const std::string fortran = file("fortran.npy", npy("<f8", "(3, 2)", {x[0], x[1], x[2], y[0], y[1], y[2]}, "True"));
  const std::string values = file("c.npy", npy("<c16", "(3,)", {1, 0, 0, 1, -2, 0.5}));
  const std::vector<std::complex<double>> c{{1, 0}, {0, 1}, {-2, 0.5}};
  for (const std::string& points : {rows, columns, fortran}) {
    const std::string out = (folder / "f.npy").string();
    const Finished result = run({"run", "nufft:type=1,n=6x4,prec=f64,tol=1e-12", "--points", points, "--values", values,
                                 "--output", out, "--repeat", "1"});
    ASSERT_EQ(result.code, 0) << result.err;
    const auto f = npy_values(read_text(out));
    ASSERT_EQ(f.size(), 24u);
    EXPECT_NE(read_text(out).find("(4, 6)"), std::string::npos);
    for (int ky = -2; ky < 2; ++ky)
      for (int kx = -3; kx < 3; ++kx) {
        std::complex<double> sum;
        for (std::size_t j = 0; j < 3; ++j) sum += c[j] * std::polar(1.0, -(kx * x[j] + ky * y[j]));
        EXPECT_LT(std::abs(f[static_cast<std::size_t>((ky + 2) * 6 + kx + 3)] - sum), 1e-10) << kx << ' ' << ky;
      }
  }
}

TEST_F(CommandLine, RecordedPointsAreTunedAndFoundAgain) {
  const std::string app = "nufft:type=1,n=20x20,m=900,prec=f64,tol=1e-5";
  const auto points = folder / "recorded";
  ::setenv("FOURTUNE_RECORD_POINTS", points.c_str(), 1);
  const auto recorded = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(points))
      files[entry.path().filename().string()] = read_text(entry.path());
    return files;
  };
  const Finished first = run({"run", app + ",points=radial"});
  const auto once = recorded();
  const Finished again = run({"run", app + ",points=radial", "--seed", "9"});
  EXPECT_EQ(recorded(), once) << "the first ones stay, whatever points come later";
  const Finished third = run({"run", "nufft:type=3,dim=2,m=300,k=200,prec=f32,tol=1e-3"});
  ::unsetenv("FOURTUNE_RECORD_POINTS");
  ASSERT_EQ(first.code + again.code + third.code, 0) << first.err << again.err << third.err;
  ASSERT_EQ(once.size(), 2u);
  const std::string stem = once.begin()->first.substr(0, once.begin()->first.find(".points.npy"));
  EXPECT_EQ(once.at(stem + ".txt"), app + ",points=recorded\n");
  const std::string coordinates = once.at(stem + ".points.npy");
  for (const char* part : {"'<f8'", "(900, 2)"}) EXPECT_NE(coordinates.find(part), std::string::npos) << part;
  EXPECT_EQ(npy_values(coordinates).size(), 900u);  // pairs of doubles
  for (const auto& point : npy_values(coordinates)) EXPECT_LE(std::abs(point), std::numbers::pi * 1.0001) << "radial";
  const auto all = recorded();
  EXPECT_EQ(all.size(), 5u);
  for (const auto& [name, text] : all)
    if (!once.contains(name) && name.find(".npy") != name.npos) {
      EXPECT_NE(text.find(name.find(".points.") != name.npos ? "(300, 2)" : "(200, 2)"), std::string::npos) << name;
    }

  const std::string db = (folder / "own.db").string();
  const Finished tuned = tune({"--recorded", points.string(), "--seconds", "3", "--db", db});
  EXPECT_EQ(tuned.code, 0) << tuned.err;
  // The winner for the recorded points has priority, for a token of any class or none.
  for (const std::string& token : {app, app + ",points=radial", app + ",points=cluster"}) {
    const Finished why = run({"explain", token, "--db", db, "--threads", "1"});
    EXPECT_NE(why.out.find("points=recorded"), std::string::npos) << why.out << why.err;
    EXPECT_NE(why.out.find("why: verdict"), std::string::npos) << why.out;
  }
  const Finished other = run({"explain", "nufft:type=1,n=20x20,m=100,prec=f64,tol=1e-5", "--db", db, "--threads", "1"});
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_NE(other.out.find("why: "), std::string::npos) << other.out;
  EXPECT_EQ(other.out.find("why: verdict"), std::string::npos) << other.out;

  // Points that do not fit their token, a missing folder and missing points are named, and nothing is tuned.
  for (const auto& entry : std::filesystem::directory_iterator(points))
    if (entry.path().string().find("type_1") != std::string::npos && entry.path().extension() == ".npy")
      std::ofstream(entry.path(), std::ios::binary) << npy("<f8", "(2, 2)", {1, 2, 3, 0.5});
  const Finished changed = tune({"--recorded", points.string(), "--seconds", "2", "--db", db});
  EXPECT_NE(changed.code, 0);
  EXPECT_NE((changed.out + changed.err).find("holds 2 points where the problem says 900"), std::string::npos)
      << changed.out << changed.err;
  expect_refused({"tune", "--recorded", (folder / "nowhere").string()}, "FOURTUNE_RECORD_POINTS");
  expect_refused({"run", "nufft:type=1,n=20x20,m=9,prec=f64,tol=1e-5,points=recorded"}, "--recorded");
}

TEST_F(CommandLine, BadNpyFilesAreRefused) {
  const std::string token = "nufft:type=1,n=6x4,prec=f64,tol=1e-6";
  const auto refuse = [&](const std::string& text, const std::string& reason) {
    expect_refused({"run", token, "--points", file("points.npy", text)}, reason);
  };
  const std::string good = npy("<f8", "(3, 2)", {1, 2, 3, 4, 5, 6});
  refuse("", "not a .npy file");
  refuse("PK\x03\x04 something else", "not a .npy file");
  refuse(good.substr(0, 9), "cut short");
  refuse(good.substr(0, 40), "cut short");
  refuse(good.substr(0, good.size() - 1), "cut short");
  refuse(npy("<i8", "(3, 2)", {1, 2, 3, 4, 5, 6}), "<i8");
  refuse(npy(">f8", "(3, 2)", {1, 2, 3, 4, 5, 6}), ">f8");
  refuse(npy("<f8", "(3, x)", {1, 2, 3, 4, 5, 6}), "shape");
  refuse(npy("<f8", "(-3, 2)", {1, 2, 3, 4, 5, 6}), "shape");
  refuse(npy("<f8", "(4611686018427387904, 4)", {1}), "too large");
  refuse(npy("<f8", "(300000000000, 2)", {1}), "cut short");
  refuse(npy("<f8", "(6,)", {1, 2, 3, 4, 5, 6}), "(count, 2)");
  refuse(npy("<c16", "(3, 2)", std::vector<double>(12)), "real");
  refuse(npy("<f8", "(2, 2)", {1, 2, std::nan(""), 4}), "1");
  expect_refused({"run", "nufft:type=1,n=6x4,m=5,prec=f64,tol=1e-6", "--points", file("three.npy", good)}, "m=5");
  expect_refused({"run", "nufft:type=1,n=6x4,m=5,prec=f64,tol=1e-6", "--values", file("values.npy", good)}, "5");
  expect_refused({"run", "fft:type=c2c,n=8,prec=f64", "--points", file("three.npy", good)}, "nufft");
}

TEST_F(CommandLine, ValuesOfAnotherShapeAreRefused) {
  const std::vector<double> image(48, 0.5);
  const auto ends_with = [&](const char* problem, const char* shape) {
    return run({"run", problem, "--values", file("image.npy", npy("<c16", shape, image)), "--repeat", "1"}).code;
  };
  for (const char* problem : {"nufft:type=2,n=6x4,m=5,prec=f64,tol=1e-6", "fft:type=c2c,n=6x4,prec=f64"}) {
    for (const char* right : {"(4, 6)", "(1, 4, 6)", "(24,)", "(1, 24)"})
      EXPECT_EQ(ends_with(problem, right), 0) << right;
    for (const char* wrong : {"(6, 4)", "(4, 2, 3)", "(2, 12)"}) EXPECT_EQ(ends_with(problem, wrong), 2) << wrong;
  }
  EXPECT_EQ(ends_with("fft:type=c2c,n=6,batch=4,prec=f64", "(6, 4)"), 2) << "the batch comes first";
  EXPECT_EQ(ends_with("fft:type=c2c,n=6,batch=4,prec=f64", "(4, 6)"), 0);
}

TEST_F(CommandLine, ExplainSaysWhichPlanAndWhy) {
  const Finished text = run({"explain", "nufft:type=1,n=32x32,m=1000,prec=f32,tol=1e-3"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("cpu;"), std::string::npos);
  const Json result = run_json({"explain", "fft:type=c2c,n=32,prec=f64", "--json"});
  EXPECT_EQ(result["source"], "model");
  const Json forced = run_json({"explain", "fft:type=c2c,n=32,prec=f64", "--json", "--plan", result["plan"]});
  EXPECT_EQ(forced["source"], "forced");
  EXPECT_EQ(forced["plan"], result["plan"]);
}

TEST_F(CommandLine, TunedPlansAreShownExplainedAndRun) {
  const std::string token = "fft:type=c2c,n=20x12,prec=f64";
  const Finished nothing = run({"show"});
  EXPECT_EQ(nothing.code, 0);
  EXPECT_NE(nothing.out.find("nothing tuned yet"), std::string::npos);

  const Finished tuned = tune({token, "--seconds", "2"});
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_NE(tuned.out.find(token), std::string::npos) << tuned.out;
  EXPECT_NE(tuned.err.find("left"), std::string::npos) << "progress in plain lines with an ETA:\n" << tuned.err;
  EXPECT_EQ(tuned.err.find('\r'), std::string::npos) << "no redrawing where there is no terminal";

  const Json rows = run_json({"show", "--format", "json"});
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0]["problem"], token);
  const std::string csv = run({"show", token, "--format", "csv"}).out;
  EXPECT_NE(csv.find('\n'), csv.size() - 1) << "a heading and at least one row";
  EXPECT_NE(csv.find("\"" + token + "\""), std::string::npos) << csv;
  EXPECT_NE(run({"show"}).out.find("winner"), std::string::npos);

  const Json explained = run_json({"explain", token, "--json"});
  EXPECT_EQ(explained["source"], "verdict");
  EXPECT_EQ(explained["measured_execute_seconds"], rows[0]["seconds"]) << "not the cost model's guess";
  const std::string words = run({"explain", token}).out;
  for (const char* part : {" (measured), memory", "(1 winner)", "(measured on such a machine, "})
    EXPECT_NE(words.find(part), std::string::npos) << part << words;
  EXPECT_TRUE(run_json({"explain", "fft:type=c2c,n=500x12,prec=f64", "--json"})["measured_execute_seconds"].is_null());
  const Finished other = run({"show", "fft:type=c2c,n=20x13,prec=f64"});
  EXPECT_EQ(other.out.rfind("1 problem is tuned in ", 0), 0u) << other.out;
  EXPECT_NE(other.err.find("near: " + token), std::string::npos) << other.err;
  EXPECT_NE(other.err.find("hint: fourtune tune fft:type=c2c,n=20x13,prec=f64 "), std::string::npos) << other.err;
  EXPECT_EQ(run_json({"run", token, "--json", "--repeat", "1"})["plan"], rows[0]["plan"]);
}

TEST_F(CommandLine, RecordedSpacesHoldEveryCandidate) {
  const std::string spaces = (folder / "spaces").string();
  const Finished result =
      tune({"fft:type=c2c,n=16,prec=f64", "--seconds", "0", "--record", spaces, "--quiet", "--format", "csv"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string text = read_text(folder / "spaces/fft_type_c2c_n_16_prec_f64.jsonl");
  EXPECT_NE(text.find("fourtune_space"), std::string::npos);
  EXPECT_NE(text.find("rigor=estimate"), std::string::npos);
}

TEST_F(CommandLine, InterruptedTuningKeepsWhatIsFinishedAndResumes) {
  const std::string token = "nufft:type=1,n=40x40,m=20000,prec=f32,tol=1e-3";
  // The shell sends the signal of Ctrl-C to the program only, as soon as the progress shows a measurement.
  const std::string script = "'" + fourtune_program() + "' tune " + token +
                             " --seconds 120 --threads 1 2> err & pid=$!\n"
                             "for i in $(seq 600); do grep -q 'search [1-9]' err && break; sleep 0.1; done\n"
                             "kill -INT $pid; wait $pid; code=$?; cat err >&2; exit $code\n";
  write_text(folder / "interrupt.sh", script);
  // An asynchronous command of a non-interactive shell ignores SIGINT unless job control is on.
  const Finished result =
      run_program({"bash", "-m", "interrupt.sh"}, folder.path(), {{"FOURTUNE_DB", (folder / "own.db").string()}});
  EXPECT_EQ(result.code, 130) << "it went on to its end: " << result.err;
  EXPECT_NE(result.err.find("interrupted; everything finished is kept"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("\nhint: " + fourtune_program() + " tune " + token + " --seconds 120 --threads 1\n"),
            std::string::npos)
      << result.err;

  const Finished again = tune({token, "--seconds", "3", "--format", "json"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find(token), std::string::npos);
}

TEST_F(CommandLine, WarmPreparesWhatItIsGivenAndNamesWhatFails) {
  const Finished one = run({"warm", "fft:type=c2c,n=16,prec=f64", "--backend", "cpu"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.out.rfind("1 problem is ready", 0), 0u) << one.out;
  const Finished list = run({"warm", "--problems", "builtin:quick", "--backend", "emulated", "--quiet"});
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_EQ(list.err, "");
  const Finished without = run({"warm", "--backend", "cpu"});
  EXPECT_EQ(without.code, 2);
  EXPECT_NE(without.err.find("no problem is given"), std::string::npos) << without.err;
  const Finished pointless =
      run({"warm", "nufft:type=1,n=16,prec=f64,tol=1e-6", "fft:type=c2c,n=16,prec=f64", "--backend", "cpu", "--quiet"});
  EXPECT_EQ(pointless.code, 2);
  EXPECT_NE(pointless.err.find("add m"), std::string::npos) << pointless.err;
}

TEST_F(CommandLine, APackMayStandInThePlaceOfTheUsersDatabase) {
  const std::string token = "fft:type=c2c,n=16,prec=f64";
  ASSERT_EQ(tune({token, "--seconds", "2", "--db", "tuned.db", "--quiet"}).code, 0);
  ASSERT_EQ(run({"pack", "build", "tuned.pack", "--from", "tuned.db"}).code, 0);
  EXPECT_EQ(run_json({"explain", token, "--json", "--db", "tuned.pack"})["source"], "verdict");
  EXPECT_EQ(run({"run", token, "--db", "tuned.pack"}).code, 0);
  const Finished shown = run({"show", "--db", "tuned.pack"});
  EXPECT_EQ(shown.code, 2);
  EXPECT_NE(shown.err.find("fourtune pack show tuned.pack"), std::string::npos) << shown.err;
  const Finished tuned = tune({token, "--db", "tuned.pack"});
  EXPECT_NE(tuned.code, 0) << "a pack is only read";
}

}  // namespace
}  // namespace fourtune::test
