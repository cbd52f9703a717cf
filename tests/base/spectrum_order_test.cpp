// The order key of an fft, the position of a frequency, and the tokens that name the same problem.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "base/layout.h"
#include "fourtune/problem.h"
#include "tests/base/token_status.h"

namespace fourtune {
namespace {

std::string canonical(const std::string& token) { return to_token(parse_problem(token)); }

std::vector<std::int64_t> positions(std::int64_t n) {
  std::vector<std::int64_t> out;
  for (std::int64_t k = 0; k < n; ++k) out.push_back(reversed_position(prime_factors(n), k));
  return out;
}

TEST(SpectrumOrder, TheReversalOfPowersOfTwoReversesBits) {
  EXPECT_EQ(positions(8), (std::vector<std::int64_t>{0, 4, 2, 6, 1, 5, 3, 7}));
  for (std::int64_t k = 0; k < 1024; ++k) {
    std::int64_t bits = 0;
    for (int bit = 0; bit < 10; ++bit) bits |= (k >> bit & 1) << (9 - bit);
    EXPECT_EQ(reversed_position(prime_factors(1024), k), bits);
  }
}

TEST(SpectrumOrder, TheReversalIsAPermutationOfTheDigitsOfAscendingPrimes) {
  EXPECT_EQ(positions(6), (std::vector<std::int64_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(positions(12), (std::vector<std::int64_t>{0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11}));
  EXPECT_EQ(positions(7), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
  for (const std::int64_t n : {1, 2, 30, 97, 360, 1001, 2 * 1009, 4096}) {
    std::vector<std::int64_t> all = positions(n), sorted(all.size());
    std::sort(all.begin(), all.end());
    std::iota(sorted.begin(), sorted.end(), 0);
    EXPECT_EQ(all, sorted) << n;
  }
}

TEST(SpectrumOrder, TokensAreCanonical) {
  for (const char* token :
       {"fft:type=c2c,n=64x12,prec=f32,order=reversed", "fft:type=c2c,n=64,prec=f64,batch=2,place=in,order=unreversed",
        "fft:type=c2c,n=16x8,prec=f64,order=reversed,layout=2x40/3x50",
        "fft:type=c2c,n=64x12x5,prec=f32,batch=3,sign=1,order=transposed",
        "fft:type=c2c,n=64x12x5,prec=f32,place=in,order=untransposed", "fft:type=r2c,n=9x8,prec=f32,order=transposed",
        "fft:type=c2r,n=9x8x7x6,prec=f64,batch=2,place=in,order=transposed"}) {
    EXPECT_EQ(canonical(token), token);
    EXPECT_EQ(parse_problem(to_token(parse_problem(token))), parse_problem(token)) << token;
  }
}

TEST(SpectrumOrder, EveryProblemHasOneSpelling) {
  EXPECT_EQ(canonical("fft:type=c2c,n=16x8,prec=f64,order=natural"), "fft:type=c2c,n=16x8,prec=f64");
  EXPECT_EQ(canonical("fft:type=c2c,n=16x8,prec=f64,layout=1x16/8x1"), "fft:type=c2c,n=16x8,prec=f64,order=transposed");
  EXPECT_EQ(canonical("fft:type=c2c,n=16x8,prec=f64,batch=2,layout=8x1+128/1x16+128"),
            "fft:type=c2c,n=16x8,prec=f64,batch=2,order=untransposed");
  EXPECT_EQ(canonical("fft:type=r2c,n=16x8,prec=f64,layout=1x16/8x1"), "fft:type=r2c,n=16x8,prec=f64,order=transposed");
  // These permutations change nothing.
  EXPECT_EQ(canonical("fft:type=c2c,n=16,prec=f64,order=transposed"), "fft:type=c2c,n=16,prec=f64");
  EXPECT_EQ(canonical("fft:type=c2c,n=7x1x13,prec=f64,order=reversed"), "fft:type=c2c,n=7x1x13,prec=f64");
  EXPECT_EQ(canonical("fft:type=c2c,n=7x4,prec=f64,order=reversed"), "fft:type=c2c,n=7x4,prec=f64,order=reversed");
}

TEST(SpectrumOrder, WhatHasNoSuchOrderIsRefusedWithTheReason) {
  const auto refused = [](const std::string& token, const std::string& reason) {
    std::string message;
    EXPECT_EQ(status_of(token, &message), Status::invalid_problem) << token;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  };
  refused("fft:type=c2c,n=64,prec=f32,order=bits", "natural, reversed, unreversed, transposed, untransposed");
  refused("fft:type=r2c,n=64,prec=f32,order=reversed", "no digits to reverse");
  refused("fft:type=c2r,n=64x8,prec=f32,order=unreversed", "no digits to reverse");
  refused("fft:type=c2r,n=64x8,prec=f32,order=untransposed", "use transposed");
  refused("fft:type=c2c,n=8x8,prec=f32,order=transposed,layout=1x8/8x1", "give one of the two keys");
  refused("fft:type=c2c,n=8x8,prec=f32,layout=1x9,order=reversed", "comes too late");
  refused("fft:type=c2c,n=8x6,prec=f32,place=in,layout=1x8/7x1", "order=transposed");
  refused("nufft:type=1,n=8,prec=f32,tol=1e-3,order=reversed", "unknown for nufft");
  Problem problem = parse_problem("nufft:type=1,n=8,prec=f32,tol=1e-3");
  problem.order = SpectrumOrder::reversed;
  EXPECT_THROW(validate(problem), Error);
}

TEST(SpectrumOrder, TypedWordsForOrdersAreUnderstood) {
  std::string message;
  try {
    parse_typed_problem("fft:type=c2c,n=64,prec=f32,order=bit-reversed");
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("did you mean fft:type=c2c,n=64,prec=f32,order=reversed?"), std::string::npos) << message;
}

TEST(SpectrumOrder, TheIndexOfAFrequencyFollowsOrderAndLayout) {
  const auto at = [](const char* token, std::array<std::int64_t, 4> k) {
    return spectrum_index(parse_problem(token), k);
  };
  EXPECT_EQ(at("fft:type=c2c,n=8x6,prec=f32", {3, 2, 0, 0}), 3 + 8 * 2);
  EXPECT_EQ(at("fft:type=c2c,n=8x6,prec=f32", {-1, -3, 0, 0}), 7 + 8 * 3);
  EXPECT_EQ(at("fft:type=c2c,n=8x6,prec=f32,order=transposed", {3, 2, 0, 0}), 3 * 6 + 2);
  EXPECT_EQ(at("fft:type=c2c,n=8x6,prec=f32,order=untransposed", {3, 2, 0, 0}), 3 * 6 + 2);
  EXPECT_EQ(at("fft:type=c2c,n=8x6,prec=f32,order=reversed", {3, 2, 0, 0}), 6 + 8 * 1);
  EXPECT_EQ(at("fft:type=c2c,n=8x6,prec=f32,order=unreversed,layout=2x40/3x50", {3, 2, 0, 0}), 2 * 6 + 40 * 1);
  EXPECT_EQ(at("fft:type=c2c,n=8x6,prec=f32,order=reversed,layout=2x40/3x50", {3, 2, 0, 0}), 3 * 6 + 50 * 1);
  EXPECT_EQ(at("fft:type=r2c,n=8x6,prec=f32", {4, -1, 0, 0}), 4 + 5 * 5);
  EXPECT_EQ(at("fft:type=c2r,n=8x6,prec=f32,order=transposed", {4, -1, 0, 0}), 4 * 6 + 5);
  EXPECT_EQ(at("fft:type=r2c,n=8x6x5x4,prec=f32,order=transposed", {1, 2, 3, 1}), 1 + 4 * (3 + 5 * (2 + 6 * 1)));
  for (const auto& k : {std::array<std::int64_t, 4>{8, 0, 0, 0}, {-5, 0, 0, 0}, {0, 6, 0, 0}, {0, 0, 1, 0}})
    EXPECT_THROW(at("fft:type=c2c,n=8x6,prec=f32", k), Error);
  EXPECT_THROW(at("fft:type=r2c,n=8x6,prec=f32", {-1, 0, 0, 0}), Error);
  EXPECT_THROW(at("nufft:type=1,n=8,prec=f32,tol=1e-3", {0, 0, 0, 0}), Error);
}

}  // namespace
}  // namespace fourtune
