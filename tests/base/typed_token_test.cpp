// Tokens as people type them: what is clear is read, what is wrong is answered with the nearest right token.
#include <gtest/gtest.h>

#include <string>

#include "base/spelling.h"
#include "fourtune/problem.h"

namespace fourtune {
namespace {

std::string read(const std::string& typed) {
  try {
    return to_token(parse_typed_problem(typed));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_problem) << typed;
    return error.what();
  }
}

// What the error asks whether it was meant; "nothing": it does not ask.
std::string suggested(const std::string& typed) {
  const std::string said = read(typed);
  const auto at = said.find("; did you mean ");
  return at == std::string::npos ? "nothing: " + said : said.substr(at + 15);
}

constexpr const char* kNufft = "nufft:type=1,n=64x64,m=1000000,prec=f32,tol=1e-5";

TEST(TypedToken, IsReadInAnyOrderWithBlanksAndCapitals) {
  for (const char* typed :
       {kNufft, "nufft:tol=1e-5,prec=f32,m=1000000,n=64x64,type=1",
        " NUFFT: Type = 1, n = 64 x 64,\tM = 1e6, prec = F32, tol = 1E-5 \n",
        "nufft:type=1,n=64,64,m=1e6,prec=f32,tol=0.00001", "nufft:type=1,n=64*64,m=1_000_000,prec=f32,tol=1e-5,",
        "nufft:n=2^6x64,type=1,m=1000e3,prec=f32,tol=1e-5"})
    EXPECT_EQ(read(typed), kNufft) << typed;
  EXPECT_EQ(read("fft:prec=f64,n=2^20,type=r2c,batch=1e3"), "fft:type=r2c,n=1048576,prec=f64,batch=1000");
  EXPECT_EQ(read("nufft:type=3,dim=2,extent=30,2.5,prec=f64,tol=1e-6"),
            "nufft:type=3,dim=2,prec=f64,tol=1e-6,extent=30x2.5");
  EXPECT_EQ(read("fft:type=c2c,prec=f32,n=8x8,layout=1x9+80/1x10+90,batch=2"),
            "fft:type=c2c,n=8x8,prec=f32,batch=2,layout=1x9+80/1x10+90");
}

TEST(TypedToken, OfWhatIsWrongTheNearestRightOneIsNamed) {
  const std::string mean = std::string(kNufft) + "?";
  for (const char* typed :
       {"nuft:type=1,n=64x64,m=1e6,prec=f32,tol=1e-5", "type=1,n=64x64,m=1e6,prec=f32,tol=1e-5",
        "nufft:type=1,n=64x64,m=1e6,precision=single,eps=1e-5", "nufft:1,64x64,m=1e6,float32,tol=1e-5",
        "nufft:n=64x64,m=1e6,prec=f32,tol=1e-5", "nufft:type=1,n=64x64,m=1e6,prec=f32",
        "nufft:tpye=1,shape=64,64,npoints=1e6,perc=f32,tl=1e-5"})
    EXPECT_EQ(suggested(typed), mean) << typed;
  EXPECT_EQ(suggested("fft:type=real,n=128,prec=double"), "fft:type=r2c,n=128,prec=f64?");
  EXPECT_EQ(suggested("c2c,n=128"), "fft:type=c2c,n=128,prec=f64?");
  EXPECT_EQ(suggested("fft:type=c2c,n=128,prec=f64,inplace=true,direction=inverse"),
            "fft:type=c2c,n=128,prec=f64,place=in,sign=1?");
  EXPECT_EQ(suggested("nufft:type=1,n=8,prec=f64,tol=1e-6,points=sprial"),
            "nufft:type=1,n=8,prec=f64,tol=1e-6,points=spiral?");
}

TEST(TypedToken, WhatResemblesNothingIsRefusedWithTheReasonAlone) {
  for (const char* typed :
       {"", ":", ",", "=", "hello", "fft:type=c2c,prec=f64", "fft:type=c2c,n=0,prec=f64", "fft:type=c2c,n=1.5,prec=f64",
        "fft:type=c2c,n=-8,prec=f64", "fft:type=c2c,n=8,n=9,prec=f64", "fft:type=c2c,n=2^2000,prec=f64",
        "nufft:type=1,n=8,prec=f64,tol=2", "fft:type=c2c,n=1e300,prec=f64"})
    EXPECT_EQ(suggested(typed).rfind("nothing: ", 0), 0u) << typed << ": " << suggested(typed);
  EXPECT_EQ(suggested("fft:type=c2c,n=" + std::string(5000, '8')).rfind("nothing: ", 0), 0u);
}

// Databases and plans hold canonical texts only.
TEST(TypedToken, ExactParsingStaysExact) {
  for (const char* typed : {"fft:n=8,type=c2c,prec=f64", "fft:type=C2C,n=8,prec=f64", "fft:type=c2c,n=1e3,prec=f64"})
    EXPECT_THROW(parse_problem(typed), Error) << typed;
}

TEST(Spelling, DistancesCountLetters) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", "abc"), 0u);
  EXPECT_EQ(edit_distance("tpye", "type"), 1u) << "neighbours swapped";
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  const std::vector<std::string> words{"tune", "show", "run"};
  EXPECT_EQ(nearest_word("tun", words), "tune");
  EXPECT_EQ(nearest_word("rnu", words), "run");
  EXPECT_EQ(nearest_word("help", words), "");
  EXPECT_EQ(nearest_word("", words), "");
}

TEST(Spelling, OneHasNoS) {
  EXPECT_EQ(counted(0, "plan"), "0 plans");
  EXPECT_EQ(counted(1, "plan"), "1 plan");
  EXPECT_EQ(counted(12, "drawn problem"), "12 drawn problems");
}

}  // namespace
}  // namespace fourtune
