// The problem token: one spelling per problem, and errors that point at the key.
#include "fourtune/problem.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/base/token_status.h"
#include "tests/support/turns.h"

namespace fourtune {
namespace {

TEST(ProblemToken, ExamplesOfTheGrammarAreCanonical) {
  for (const char* token :
       {"fft:type=c2c,n=256x256x256,prec=f32", "fft:type=c2c,n=1009,prec=f32,batch=64",
        "fft:type=r2c,n=250x250x250,prec=f64,batch=4,place=in,sign=1",
        "fft:type=c2c,n=16x8,prec=f64,layout=2x40+700/3x50+900",
        "fft:type=c2c,n=16x8,prec=f64,place=in,layout=1x20+160", "fft:type=r2c,n=8x7x6x5,prec=f32,batch=3,place=in",
        "fft:type=c2c,n=4x3x2x1,prec=f64,batch=2,layout=1x8x24x48+96/6x2x1x30+31",
        "nufft:type=1,n=256x256x256,m=16777216,prec=f32,tol=1e-5,batch=8,points=cluster",
        "nufft:type=2,n=7,prec=f64,tol=2.5e-3,sign=-1", "nufft:type=3,dim=2,prec=f64,tol=1e-10",
        "nufft:type=3,dim=2,m=1048576,k=1048576,prec=f64,tol=1e-10,extent=3000x3000"})
    EXPECT_EQ(to_token(parse_problem(token)), token);
}

TEST(ProblemToken, OtherSpellingsBecomeTheCanonicalOne) {
  EXPECT_EQ(to_token(parse_problem("nufft:type=1,n=8,m=9,prec=f32,tol=0.001,batch=1,sign=-1,points=uniform")),
            "nufft:type=1,n=8,m=9,prec=f32,tol=1e-3");
  EXPECT_EQ(to_token(parse_problem("fft:type=c2c,n=16x8,prec=f64,batch=2,place=out,sign=-1,layout=1x16+128/1x16+128")),
            "fft:type=c2c,n=16x8,prec=f64,batch=2");
  EXPECT_EQ(to_token(parse_problem("nufft:type=2,n=8,prec=f32,tol=1.0e-03,sign=1")),
            "nufft:type=2,n=8,prec=f32,tol=1e-3");
}

TEST(ProblemToken, DefaultSignDependsOnTheType) {
  EXPECT_EQ(parse_problem("nufft:type=1,n=8,prec=f32,tol=1e-3").sign, -1);
  EXPECT_EQ(parse_problem("nufft:type=2,n=8,prec=f32,tol=1e-3").sign, 1);
  EXPECT_EQ(parse_problem("nufft:type=3,dim=1,prec=f32,tol=1e-3").sign, -1);
  EXPECT_EQ(parse_problem("fft:type=c2c,n=8,prec=f32").sign, -1);
}

TEST(ProblemToken, ErrorsPointAtTheKeyAndSayWhatIsAllowed) {
  const struct {
    const char *token, *key, *allowed;
  } cases[] = {
      {"nufft:type=4,n=8,prec=f32,tol=1e-3", "type=4", "1, 2, 3"},
      {"nufft:type=1,n=8,prec=f16,tol=1e-3", "prec=f16", "f32, f64"},
      {"nufft:type=1,n=8x8x8x8,prec=f32,tol=1e-3", "n=8x8x8x8", "one to three"},
      {"fft:type=c2c,n=8x8x8x8x8,prec=f32", "n=8x8x8x8x8", "one to four"},
      {"fft:type=c2c,n=8x8x8x8,prec=f32,layout=1x8x64", "layout", "the input stride of dimension w is 0"},
      {"fft:type=c2c,n=8x8x8,prec=f32,layout=1x8x64x512", "layout", "strides for 3 dimensions"},
      {"nufft:type=1,n=0,prec=f32,tol=1e-3", "n=0", "from 1"},
      {"nufft:type=1,n=8,prec=f32,tol=2", "tol=2", "between 0 and 1"},
      {"nufft:type=1,n=8,prec=f32,tol=nan", "tol=nan", "between 0 and 1"},
      {"nufft:type=1,n=8,prec=f32", "'tol'", "tol=1e-5"},
      {"nufft:type=1,n=8,m=-1,prec=f32,tol=1e-3", "m=-1", "from 0"},
      {"nufft:type=1,n=8,m=1,m=2,prec=f32,tol=1e-3", "m=2", "twice"},
      {"nufft:n=8,type=1,prec=f32,tol=1e-3", "type=1", "too late"},
      {"nufft:type=1,n=8,size=3,prec=f32,tol=1e-3", "'size'", "type, n, dim"},
      {"nufft:type=1,n=8,prec=f32,tol=1e-3,points=grid", "grid", "uniform, cluster"},
      {"nufft:type=3,n=8,dim=1,prec=f32,tol=1e-3", "n:", "dim"},
      {"nufft:type=3,dim=2,prec=f32,tol=1e-3,extent=3", "extent=3", "2 numbers"},
      {"nufft:type=1,n=8,m,prec=f32,tol=1e-3", "'m'", "m="},
      {"fft:type=c2c,n=8,prec=f32,tol=1e-3", "'tol'", "fft"},
      {"fft:type=c2c,n=8x8,prec=f32,layout=1", "layout", "at least 1"},
      {"convolution:n=3", "convolution", "fft: or nufft:"},
      {"", "''", "fft: or nufft:"},
  };
  for (const auto& c : cases) {
    std::string message;
    EXPECT_EQ(status_of(c.token, &message), Status::invalid_problem) << c.token;
    EXPECT_NE(message.find(c.key), std::string::npos) << c.token << " -> " << message;
    EXPECT_NE(message.find(c.allowed), std::string::npos) << c.token << " -> " << message;
  }
}

TEST(ProblemToken, SizesThatOverflowAreNamed) {
  EXPECT_EQ(status_of("fft:type=c2c,n=3000000x3000000x3000000,prec=f32"), Status::size_overflow);
  EXPECT_EQ(status_of("fft:type=c2c,n=60000x60000x60000x60000,prec=f32"), Status::size_overflow);
  EXPECT_EQ(status_of("nufft:type=1,n=8,m=9223372036854775807,prec=f32,tol=1e-3"), Status::size_overflow);
  EXPECT_EQ(status_of("nufft:type=1,n=9223372036854775808,prec=f32,tol=1e-3"), Status::invalid_problem);
}

Problem random_problem(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % n); };
  Problem problem;
  problem.kind = below(2) ? Kind::fft : Kind::nufft;
  problem.dim = 1 + below(most_dimensions_of(problem.kind));
  problem.precision = below(2) ? Precision::f32 : Precision::f64;
  problem.batch = below(2) ? 1 : 1 + below(40);
  problem.sign = below(2) ? 1 : -1;
  const bool type3 = problem.kind == Kind::nufft && below(3) == 0;
  if (!type3)
    for (int d = 0; d < problem.dim; ++d) problem.n[d] = 1 + below(problem.dim < 4 ? 1000 : 100);
  if (problem.kind == Kind::fft) {
    problem.fft_type = static_cast<FftType>(below(3));
    problem.place = below(2) ? Place::in : Place::out;
    if (below(3) == 0 && problem.place == Place::out) {
      ArrayLayout layout = resolved_output_layout(problem);
      for (int d = 0; d < problem.dim; ++d) layout.stride[d] *= 3;
      layout.distance *= 3;
      problem.output_layout = layout;
      problem.input_layout = resolved_input_layout(problem);
    }
  } else {
    problem.type = type3 ? 3 : 1 + below(2);
    problem.tol = std::ldexp(1.0 + below(1000) / 1000.0, -1 - below(45));
    if (below(2)) problem.m = below(1 << 30);
    if (type3 && below(2)) problem.k = below(1 << 30);
    if (type3 && below(2)) {
      problem.extent.emplace();
      for (int d = 0; d < problem.dim; ++d) (*problem.extent)[d] = below(100000) / 7.0;
    }
    if (below(2)) problem.points = static_cast<PointClass>(1 + below(5));
  }
  return problem;
}

TEST(ProblemToken, PrintThenParseGivesTheSameProblem) {
  std::mt19937 random(20261120);
  for (int i = 0; i < 5000; ++i) {
    const Problem problem = random_problem(random);
    ASSERT_NO_THROW(validate(problem)) << to_token(problem);
    const std::string token = to_token(problem);
    const Problem again = parse_problem(token);
    EXPECT_EQ(again, problem) << token << " vs " << to_token(again);
    EXPECT_EQ(to_token(again), token);
  }
}

TEST(ProblemToken, MutilatedTokensAreRefusedOrCanonicalAndNeverCrash) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string token = to_token(random_problem(random));
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0 && !token.empty(); --edits) {
      const std::size_t at = random() % token.size();
      const int what = random() % 3;
      if (what == 0) token.erase(at, 1);
      if (what == 1) token[at] = static_cast<char>(random() % 256);
      if (what == 2) token.insert(at, 1, "x=,:+/-0189e."[random() % 13]);
    }
    if (!test::next_has_turn_under_sanitizers()) continue;
    try {
      const Problem problem = parse_problem(token);
      const std::string canonical = to_token(problem);
      EXPECT_EQ(to_token(parse_problem(canonical)), canonical) << token;
    } catch (const Error& error) {
      EXPECT_TRUE(error.status() == Status::invalid_problem || error.status() == Status::size_overflow) << token;
    }
  }
}

TEST(Problem, InPlaceRealTransformsHavePaddedRows) {
  const Problem problem = parse_problem("fft:type=r2c,n=7x5x3,prec=f32,batch=2,place=in");
  EXPECT_EQ(resolved_input_layout(problem).stride, (std::array<std::int64_t, 4>{1, 8, 40}));
  EXPECT_EQ(resolved_input_layout(problem).distance, 120);
  EXPECT_EQ(resolved_output_layout(problem).stride, (std::array<std::int64_t, 4>{1, 4, 20}));
}

TEST(Problem, FourDimensionsAreDenseWithXFastest) {
  const Problem problem = parse_problem("fft:type=c2r,n=6x5x4x3,prec=f64");
  EXPECT_EQ(problem.dim, 4);
  EXPECT_EQ(mode_count(problem), 360);
  EXPECT_EQ(input_sizes(problem), Sizes(4, 5, 4, 3));
  EXPECT_EQ(resolved_input_layout(problem), (ArrayLayout{{1, 4, 20, 80}, 240}));
  EXPECT_EQ(resolved_output_layout(problem), (ArrayLayout{{1, 6, 30, 120}, 360}));
}

// A structure is filled by hand.
TEST(Problem, OnlyAnFftHasFourDimensions) {
  Problem problem = parse_problem("nufft:type=1,n=8x8x8,prec=f32,tol=1e-3");
  problem.n = {8, 8, 8, 8};
  EXPECT_THROW(validate(problem), Error) << "four sizes for three dimensions";
  problem.dim = 4;
  EXPECT_THROW(validate(problem), Error);
  problem.kind = Kind::fft, problem.tol = 0;
  EXPECT_NO_THROW(validate(problem));
  problem.dim = 5;
  EXPECT_THROW(validate(problem), Error);
}

TEST(Problem, AllowedErrorIsThreeTolerancesOrThirtyEpsilons) {
  EXPECT_DOUBLE_EQ(allowed_error(parse_problem("nufft:type=1,n=8,prec=f32,tol=1e-3")), 3e-3);
  EXPECT_DOUBLE_EQ(allowed_error(parse_problem("nufft:type=1,n=8,prec=f32,tol=1e-7")), 30 * std::ldexp(1.0, -23));
}

TEST(Status, EveryValueHasANameAndAText) {
  for (int value = 0; value <= static_cast<int>(Status::communication); ++value) {
    EXPECT_STRNE(status_name(static_cast<Status>(value)), "unknown");
    EXPECT_STRNE(status_text(static_cast<Status>(value)), "unknown status");
  }
}

// Structures filled by hand pass the same checks as tokens.
TEST(Problem, AToleranceLiesStrictlyBetweenZeroAndOne) {
  Problem problem = parse_problem("nufft:type=1,n=8,m=9,prec=f32,tol=1e-3");
  for (const double tol : {1e-15, 0.5, 0.999}) {
    problem.tol = tol;
    EXPECT_NO_THROW(validate(problem)) << tol;
  }
  for (const double tol : {0.0, -1e-3, 1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    problem.tol = tol;
    EXPECT_THROW(validate(problem), Error) << tol;
  }
}

}  // namespace
}  // namespace fourtune
