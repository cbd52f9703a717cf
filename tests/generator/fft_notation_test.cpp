// The text of GPU FFT plans: one canonical spelling, the paper's typography, and refusals that name the rule, the
// sub-FFT and the right value.
#include <gtest/gtest.h>

#include <random>

#include "generator/plan/fft/geometry.h"
#include "generator/plan/fft/notation.h"
#include "tests/support/fft_plans.h"
#include "tests/support/golden.h"
#include "tests/support/turns.h"

namespace fourtune::generator::fft {
namespace {

const char* const kTwoPass =
    "{X(32,8,32,256,tw),X(32,8,4,32,tw),X(64,4,1,4,no-tw),Y(32,8,32,256,tw),Y(32,8,4,32,tw)}"
    "[threads=512,tile=1,parts=apart,banks=swizzle,store=sorted]"
    "{Y(64,4,1,4,no-tw),Z(16,16,16,256,tw),Z(16,16,1,16,no-tw)}"
    "[threads=512,tile=16,parts=apart,banks=swizzle,load=bulk,pipeline=1]:order=natural";

std::string refusal(const std::string& text) {
  try {
    parse_fft_plan(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_plan) << text;
    return error.what();
  }
  return "accepted";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(FftNotation, CanonicalTextsPrintBackUnchanged) {
  for (
      const std::string& text : {
          std::string(kTwoPass),
          std::string("{X(1,2,1,2,no-tw)}"),
          std::string("{X(1,64,1,64,no-tw)}[threads=32,tile=1x4,exchange=shared]:prec=f64,place=in"),
          std::string(
              "{X(64,4,64,256,tw)}{X(32,8,8,64,tw),X(32,8,1,8,no-tw)}[exchange=shuffle,twiddle=fast]:order=grouped"),
          std::string("{Y(16,16,16,256,tw)}[threads=64,tile=64,blocks=yxz,registers=64]{X(4,4,1,4,no-tw),Y(16,16,1,16,"
                      "no-tw)}"),
          std::string(
              "{X(1,4,1,4,no-tw),W(1,2,1,2,no-tw)}[threads=32,tile=1x3x1x1x5,cache=stream,blocks=wyxz]{Y(1,3,1,3,no-tw),Z(1,5,1,"
              "5,no-tw)}[threads=32,tile=4x1x1x2,blocks=yxz]"),
      }) {
    if (text.find("X(4,4") != std::string::npos) {
      EXPECT_EQ(to_text(parse_notation(text)), text);  // grammar only: its X is wrong on purpose
      EXPECT_NE(refusal(text), "accepted");
      continue;
    }
    EXPECT_EQ(to_text(parse_fft_plan(text)), text);
  }
}

TEST(FftNotation, WComesLastWhereABlockOrderDoesNotNameIt) {
  const std::string cube = "{X(1,2,1,2,no-tw),Y(1,2,1,2,no-tw),Z(1,2,1,2,no-tw),W(1,2,1,2,no-tw)}";
  EXPECT_EQ(to_text(parse_fft_plan(cube + "[blocks=yxzw]")), cube + "[blocks=yxz]");
  EXPECT_EQ(to_text(parse_fft_plan(cube + "[blocks=xyzw]")), cube);
  EXPECT_EQ(to_text(parse_fft_plan(cube + "[blocks=xywz]")), cube + "[blocks=xywz]");
}

TEST(FftNotation, ThePapersTypographyIsRead) {
  const auto plan = parse_fft_plan(
      "\xe2\x80\xa2 {Y (1, 16, 1, 16, no\xe2\x88\x92tw)}\n\xe2\x80\xa2 {X(1, 8, 1, 8,\nno\xe2\x88\x92tw)};");
  EXPECT_EQ(to_text(plan), "{Y(1,16,1,16,no-tw)}{X(1,8,1,8,no-tw)}");
}

TEST(FftNotation, SubFftsWithoutBracesAreKernelsOfTheirOwn) {
  const auto plan = parse_fft_plan("X(16,16,16,256,tw)X(64,4,4,16,tw) X(64,4,1,4,no-tw)");
  ASSERT_EQ(plan.kernels.size(), 3U);
  EXPECT_EQ(to_text(plan), "{X(16,16,16,256,tw)}{X(64,4,4,16,tw)}{X(64,4,1,4,no-tw)}");
}

TEST(FftNotation, DefaultsAreReadButNeverPrinted) {
  const auto plan = parse_fft_plan(
      "{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[tile=1x1x1,to=out,cluster=1,blocks=xyz,twiddle=table,threads=64,"
      "exchange=shared,parts=together,banks=pad,store=place,load=plain]:order=reversed,prec=f32,place=out");
  EXPECT_EQ(to_text(plan), "{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=64,tile=1]");
}

TEST(FftNotation, SyntaxErrorsSayWhereAndWhatIsExpected) {
  const struct {
    const char *text, *expected;
  } cases[] = {
      {"", "at character 1 (the end): a plan begins with a kernel"},
      {"{}", "at character 2 ('}'): expected a sub-FFT"},
      {"{V(1,2,1,2,no-tw)}", "expected a sub-FFT: X, Y, Z or W"},
      {"{X(1,2,1,2)}", "expected ',' after n"},
      {"{X(1,2,1,2,tv)}", "expected tw or no-tw"},
      {"{X(1,2,1,2,no-tw)", "expected '}'"},
      {"{X(01,2,1,2,no-tw)}", "count is a whole number from 1 to"},
      {"{X(0,2,1,2,no-tw)}", "count is a whole number from 1 to"},
      {"{X(-1,2,1,2,no-tw)}", "count is a whole number from 1 to"},
      {"{X(1,99999999999999999999,1,2,no-tw)}", "radix is a whole number from 1 to"},
      {"{X(1,2,1,2,no-tw)}[thread=32]", "no such parameter here"},
      {"{X(1,2,1,2,no-tw)}[order=natural]", "no such parameter here"},
      {"{X(1,2,1,2,no-tw)}[threads=32,threads=32]", "given twice"},
      {"{X(1,2,1,2,no-tw)}[store=sideways]", "allowed are place, grouped, sorted"},
      {"{X(1,2,1,2,no-tw)}[cache=l1]", "allowed are all, l2, stream"},
      {"{X(1,2,1,2,no-tw)}[coalesce=all]", "allowed are none, load, store, both"},
      {"{X(1,2,1,2,no-tw)}[tile=1x1x1x1x1x1]", "at most five numbers"},
      {"{X(1,2,1,2,no-tw)}[blocks=xxz]", "blocks is an order of x, y and z"},
      {"{X(1,2,1,2,no-tw)}[threads=32", "expected ']'"},
      {"{X(1,2,1,2,no-tw)}:", "expected '='"},
      {"{X(1,2,1,2,no-tw)}:order=up", "allowed are reversed, grouped, natural"},
      {"{X(1,2,1,2,no-tw)}:prec=f16", "allowed are f32, f64"},
      {"{X(1,2,1,2,no-tw)}:order=natural{X(1,2,1,2,no-tw)}", "the plan ends before this"},
  };
  for (const auto& c : cases) {
    const auto message = refusal(c.text);
    EXPECT_EQ(message.rfind("syntax: ", 0), 0U) << c.text << " -> " << message;
    EXPECT_NE(message.find(c.expected), std::string::npos) << c.text << " -> " << message;
  }
  EXPECT_NE(refusal(std::string(20000, 'X')).find("at most 16384 bytes"), std::string::npos);
}

TEST(FftNotation, CountsAndExtentsEndWhereTheirErrorsSay) {
  const auto refused = [](const std::string& text, const char* words) {
    try {
      parse_notation(text);
    } catch (const Error& error) {
      return std::string(error.what()).find(words) != std::string::npos;
    }
    return false;
  };
  const std::string sub = "X(1,2,1,2,no-tw)";
  std::string kernels, subs = sub;
  for (int i = 0; i < 16; ++i) kernels += "{" + sub + "}";
  for (int i = 1; i < 24; ++i) subs += "," + sub;
  EXPECT_FALSE(refused(kernels, "at most 16 kernels"));
  EXPECT_TRUE(refused(kernels + "{" + sub + "}", "at most 16 kernels"));
  EXPECT_FALSE(refused("{" + subs + "}", "at most 24 sub-FFTs"));
  EXPECT_TRUE(refused("{" + subs + "," + sub + "}", "at most 24 sub-FFTs"));
  EXPECT_FALSE(refused("{" + sub + "}[tile=1x1x1x1x1048576]", "tile"));
  EXPECT_TRUE(refused("{" + sub + "}[tile=1048577]", "a tile's extent"));
  EXPECT_TRUE(refused("{" + sub + "}[tile=1x1x1x1x1x1]", "at most five numbers"));
}

TEST(FftNotation, EveryRuleOfTheNotationHasItsOwnErrorThatSaysWhatWouldBeRight) {
  const std::string good = "{X(32,4,32,128,tw),Y(4,32,4,128,tw)}{X(16,8,4,32,tw),Y(32,4,1,4,no-tw)}{X(32,4,1,4,no-tw)}";
  ASSERT_EQ(refusal(good), "accepted");
  const struct {
    const char *from, *to, *rule, *right;
  } cases[] = {
      {"X(32,4,32,128,tw)", "X(32,4,32,156,tw)", "first-n: kernel 1, X(32,4,32,156,tw)",
       "X(32,4,32,128,tw) would be right"},
      {"X(16,8,4,32,tw)", "X(16,8,4,64,tw)", "chain: kernel 2, X(16,8,4,64,tw)", "X(16,8,4,32,tw) would be right"},
      {"X(16,8,4,32,tw)", "X(16,8,8,32,tw)", "stride: kernel 2", "X(16,8,4,32,tw) would be right"},
      {"X(16,8,4,32,tw)", "X(32,8,4,32,tw)", "count: kernel 2", "X(16,8,4,32,tw) would be right"},
      {"X(16,8,4,32,tw)", "X(16,4,4,32,tw)", "stride: kernel 2", "X(16,8,4,32,tw) would be right"},
      {"X(16,8,4,32,tw)", "X(16,5,4,32,tw)", "product: kernel 2", "X(16,8,4,32,tw) would be right"},
      {"X(16,8,4,32,tw)", "X(16,8,4,32,no-tw)", "last: kernel 2", "X(16,8,4,32,tw) would be right"},
      {"X(32,4,1,4,no-tw)", "X(32,4,1,4,tw)", "last: kernel 3", "X(32,4,1,4,no-tw) would be right"},
      {"{X(32,4,1,4,no-tw)}", "", "last: kernel 2, X(16,8,4,32,tw)", "X(32,4,1,4,no-tw) has to follow"},
      {"{X(32,4,1,4,no-tw)}", "{X(32,4,1,4,no-tw),X(32,4,1,4,no-tw)}", "finished: kernel 3",
       "X is already finished by"},
      {"Y(32,4,1,4,no-tw)", "X(32,4,1,4,no-tw)", "finished: kernel 3, X(32,4,1,4,no-tw)",
       "Y(32,4,1,4,no-tw) would be right"},
      {"X(32,4,32,128,tw)", "X(1,128,1,128,no-tw)", "radix: kernel 1", "between 2 and 64"},
      {"X(32,4,1,4,no-tw)", "X(32,4,1,4,no-tw),Y(32,4,1,4,no-tw)", "finished: kernel 3, Y(32,4,1,4,no-tw)",
       "Y is already finished"},
      {"X(32,4,1,4,no-tw)", "Y(32,4,1,4,no-tw)", "finished: kernel 3, Y(32,4,1,4,no-tw)",
       "X(32,4,1,4,no-tw) would be right"},
  };
  for (const auto& c : cases) {
    const auto message = refusal(replaced(good, c.from, c.to));
    EXPECT_EQ(message.rfind(std::string("rule ") + c.rule, 0), 0U) << c.from << " -> " << c.to << ": " << message;
    EXPECT_NE(message.find(c.right), std::string::npos) << message;
  }
  EXPECT_EQ(refusal("{Y(1,16,1,16,no-tw)}").rfind("rule dimensions: kernel 1: the plan transforms Y but not X", 0), 0U);
  EXPECT_EQ(refusal("{X(1,2,1,2,no-tw)}{Z(1,2,1,2,no-tw)}").rfind("rule dimensions", 0), 0U);
  EXPECT_EQ(refusal("{X(1,2,1,2,no-tw),Y(1,2,1,2,no-tw),W(1,2,1,2,no-tw)}").rfind("rule dimensions", 0), 0U);
  EXPECT_EQ(check(FftPlan{}).front().rule, Rule::dimensions);
  const auto asked = check(parse_notation(good), Lengths{128, 64, 1});
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].rule, Rule::length);
  EXPECT_NE(asked[0].message.find("the plan's Y has length 128, asked for is 64"), std::string::npos);
  EXPECT_EQ(check(parse_notation("{X(34359738368,32,34359738368,1099511627776,tw)}")).front().rule, Rule::last);
}

TEST(FftNotation, EveryRuleOfTheParametersHasItsOwnError) {
  ASSERT_EQ(refusal(kTwoPass), "accepted");
  const struct {
    const char *from, *to, *message;
  } cases[] = {
      {"threads=512,tile=1,", "threads=48,tile=1,", "rule threads: kernel 1: threads=48"},
      {"threads=512,tile=1,", "threads=2048,tile=1,", "rule threads: kernel 1"},
      {"threads=512,tile=1,", "threads=512,tile=2,", "rule tile: kernel 1: the tile carries 2 along X, there are 1"},
      {"threads=512,tile=1,", "threads=512,tile=1x3,", "rule tile: kernel 1: the tile carries 3 along Y"},
      {"threads=512,tile=1,", "threads=512,tile=1x1x257,", "rule tile: kernel 1: the tile carries 257 along Z"},
      {"tile=16,parts=apart", "tile=16,exchange=none", "rule exchange: kernel 2"},
      {"tile=16,parts=apart", "tile=16,exchange=shuffle,parts=apart", "rule parts: kernel 2"},
      {"threads=512,tile=16,parts=apart,banks=swizzle", "threads=1024,tile=16,exchange=shuffle",
       "rule exchange: kernel 2: exchange=shuffle: 1024 values"},
      {"load=bulk,pipeline=1", "load=bulk", "rule load: kernel 2: pipeline=0"},
      {"load=bulk,pipeline=1", "pipeline=1", "rule load: kernel 2: pipeline=1 without"},
      {"load=bulk,pipeline=1", "load=async,pipeline=1,cluster=2", "rule cluster: kernel 2: load=async lands"},
      {"load=bulk,pipeline=1", "cluster=3", "rule cluster: kernel 2: cluster=3"},
      {"load=bulk,pipeline=1", "load=bulk,pipeline=1,coalesce=both",
       "rule coalesce: kernel 2: coalesce=both: load=bulk"},
      {"load=bulk,pipeline=1", "load=bulk,pipeline=1,coalesce=store", "accepted"},
      {"load=bulk,pipeline=1", "coalesce=load,cluster=2", "rule coalesce: kernel 2: coalesce=load: a cluster"},
      {"load=bulk,pipeline=1", "registers=8", "rule registers: kernel 2: registers=8"},
      {"load=bulk,pipeline=1", "to=work", "rule target: kernel 2: the last kernel writes to=out"},
      {"store=sorted", "store=place", "rule target: kernel 2: it writes the array that it reads, but Y changes"},
      {":order=natural", ":order=natural,place=in",
       "rule target: kernel 1: it writes the array that it reads, but Y changes"},
      {"[threads=512,tile=1,parts=apart", "[threads=512,tile=1,twiddle=fast,parts=apart", "accepted"},
  };
  for (const auto& c : cases) {
    const auto message = refusal(replaced(kTwoPass, c.from, c.to));
    EXPECT_EQ(message.rfind(c.message, 0), 0U) << c.to << ": " << message;
  }
  EXPECT_EQ(
      refusal(replaced(kTwoPass, "[threads=512,tile=1,parts=apart", "[threads=512,tile=1,twiddle=fast,parts=apart") +
              ",prec=f64")
          .rfind("rule twiddle: kernel 1", 0),
      0U);
  EXPECT_EQ(refusal("{X(1,8,1,8,no-tw)}[blocks=yxz]").rfind("rule blocks: kernel 1", 0), 0U);
  EXPECT_EQ(
      refusal("{X(1,8,1,8,no-tw),Y(1,8,1,8,no-tw),Z(1,8,1,8,no-tw)}[blocks=wxyz]").rfind("rule blocks: kernel 1", 0),
      0U);
  EXPECT_EQ(refusal("{X(1,8,1,8,no-tw)}[coalesce=load]").rfind("rule coalesce: kernel 1", 0), 0U);
  EXPECT_EQ(refusal("{X(1,8,1,8,no-tw)}[exchange=shared,coalesce=load]"), "accepted");
  EXPECT_EQ(refusal("{X(1,8,1,8,no-tw)}[blocks=xyzv]").rfind("syntax", 0), 0U);
  EXPECT_EQ(refusal("{X(1,8,1,8,no-tw)}[banks=plain]").rfind("rule banks: kernel 1", 0), 0U);
  EXPECT_EQ(refusal("{X(1,8,1,8,no-tw)}[parts=apart]").rfind("rule parts: kernel 1", 0), 0U);
  EXPECT_EQ(refusal("{X(8,6,8,48,tw),X(6,8,1,8,no-tw)}[banks=swizzle]").rfind("rule banks: kernel 1", 0), 0U);
  EXPECT_EQ(refusal("{X(8,6,8,48,tw),X(6,8,1,8,no-tw)}[exchange=shuffle]").rfind("rule exchange: kernel 1", 0), 0U);
  // In-place plans in natural order need a workspace; either kernel may write to it.
  EXPECT_EQ(refusal(replaced(kTwoPass, "store=sorted", "store=sorted,to=work") + ",place=in"), "accepted");
  EXPECT_EQ(refusal(replaced(kTwoPass, "store=sorted", "to=work") + ",place=in"), "accepted");
}

// Two plans, each number of theirs and some words changed in turn. tests/golden/refusals.txt has what is said of each.
TEST(FftNotation, RefusalsAreAsRecorded) {
  test::GoldenFile("refusals.txt", [](const std::string& text) {
    return text + "\n  " + refusal(text) + "\n";
  }).compare(0, 1);
}

TEST(FftNotation, APlanIsCheckedAgainstTheProblem) {
  const auto plan = parse_fft_plan("{X(4,16,4,64,tw),X(16,4,1,4,no-tw),Y(1,8,1,8,no-tw)}:order=natural");
  EXPECT_TRUE(check(plan, parse_problem("fft:type=c2c,n=64x8,prec=f32")).empty());
  EXPECT_TRUE(check(plan, parse_problem("fft:type=c2c,n=64x1x8,prec=f32,batch=3")).empty());
  EXPECT_EQ(check(plan, parse_problem("fft:type=c2c,n=8x64,prec=f32")).front().rule, Rule::length);
  EXPECT_EQ(check(plan, parse_problem("fft:type=c2c,n=64x8x2,prec=f32")).front().rule, Rule::length);
  const auto found = check(plan, parse_problem("fft:type=c2c,n=64x8,prec=f64,place=in"));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].message, "rule problem: the plan has prec=f32, the problem f64");
  EXPECT_EQ(found[1].message, "rule problem: the plan has place=out, the problem in");
  const auto reversed = check(plan, parse_problem("fft:type=c2c,n=64x8,prec=f32,order=reversed"));
  ASSERT_EQ(reversed.size(), 1U);
  EXPECT_EQ(reversed[0].message, "rule problem: the plan has order=natural, the problem needs order=primes");
  const auto unreversed = check(plan, parse_problem("fft:type=c2c,n=64x8,prec=f32,order=unreversed"));
  ASSERT_EQ(unreversed.size(), 1U);
  EXPECT_EQ(unreversed[0].message, "rule problem: the plan has from=natural, the problem needs from=primes");
}

TEST(FftNotation, EveryRuleHasANameAndASentence) {
  for (int rule = 0; rule <= static_cast<int>(Rule::capability); ++rule) {
    EXPECT_STRNE(rule_name(static_cast<Rule>(rule)), "?") << rule;
    EXPECT_STRNE(rule_text(static_cast<Rule>(rule)), "?") << rule;
  }
}

TEST(FftNotation, RandomPlansParseBackAsTheyPrint) {
  std::mt19937 random(20261);
  for (int i = 0; i < 2000; ++i) {
    const auto plan = test::random_plan(random, {.dims = 3, .elements = 1 << 20, .bound = i % 4 != 0});
    const auto text = to_text(plan);
    ASSERT_TRUE(check(plan).empty()) << text << "\n" << check(plan).front().message;
    ASSERT_EQ(parse_fft_plan(text), plan) << text;
  }
}

TEST(FftNotation, MutilatedTextIsRefusedOrReadNeverACrash) {
  std::mt19937 random(20262);
  const std::string letters = "XYZ{}()[],:;=0123456789xtwno-abcdefghijklmnprsu \n\xe2\x80\xa2\x88\x92";
  int accepted = 0;
  for (int i = 0; i < 6000; ++i) {
    auto text = to_text(test::random_plan(random, {.dims = 3, .elements = 1 << 20}));
    const int edits = 1 + static_cast<int>(random() % 4);
    for (int e = 0; e < edits && !text.empty(); ++e) {
      const auto at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text.erase(at, 1 + random() % 8);
          break;
        case 1:
          text.insert(at, 1, letters[random() % letters.size()]);
          break;
        case 2:
          text[at] = letters[random() % letters.size()];
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 40));
          break;
      }
    }
    if (!test::next_has_turn_under_sanitizers()) continue;
    try {
      const auto plan = parse_fft_plan(text);
      ASSERT_EQ(parse_fft_plan(to_text(plan)), plan) << text;
      ++accepted;
    } catch (const Error& error) {
      ASSERT_EQ(error.status(), Status::invalid_plan) << text;
      ASSERT_TRUE(std::string(error.what()).rfind("syntax: ", 0) == 0 ||
                  std::string(error.what()).rfind("rule ", 0) == 0);
    }
  }
  EXPECT_GT(accepted, 0);  // some edits change only a parameter
}

}  // namespace
}  // namespace fourtune::generator::fft
