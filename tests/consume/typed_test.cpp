// What a C++ program gets from the public headers: the default standard of g++ 12, and arrays of a known type.
#include "fourtune/typed.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace fourtune {
namespace {

using Complex = std::complex<double>;
constexpr const char* kToken = "nufft:type=1,n=8x8,prec=f64,tol=1e-9";

// The first message of the compiler for this program; empty: it compiles.
std::string complaint(const std::string& body, const std::string& standard) {
  const test::ScratchFolder folder;
  test::write_text(folder / "program.cpp",
                   "#include <complex>\n#include <vector>\n#include <fourtune/typed.h>\n"
                   "int main() {\n" +
                       body + "\n}\n");
  return test::run_program(
             {"c++", standard, "-I", std::string(FOURTUNE_SOURCE_DIR) + "/include", "-fsyntax-only", "program.cpp"},
             folder.path())
      .err;
}

TEST(PublicHeaders, AreCpp17) {
  for (const char* standard : {"-std=c++17", "-std=gnu++17", "-std=c++20"})
    EXPECT_EQ(complaint("fourtune::Problem a, b; return a == b && !(a != b) ? 0 : 1;", standard), "") << standard;
}

TEST(TypedTransform, ArraysOfAnotherTypeDoNotCompile) {
  const std::string begin = std::string("fourtune::TypedTransform<double> t(\"") + kToken + "\");\n";
  const std::string arrays = "std::vector<std::complex<double>> c(9), f(64); std::vector<double> x(9);\n";
  EXPECT_EQ(complaint(begin + arrays + "t.set_points(x, x); t.execute(c, f);", "-std=c++17"), "");
  EXPECT_NE(complaint(begin + arrays + "std::vector<std::complex<float>> g(64); t.execute(c, g);", "-std=c++17")
                .find("arrays have the type of the transform"),
            std::string::npos);
  EXPECT_NE(complaint(begin + "std::vector<float> x(9); t.set_points(x, x);", "-std=c++17")
                .find("coordinates have the type of the transform"),
            std::string::npos);
}

TEST(TypedTransform, ComputesAsTransformDoes) {
  std::vector<double> x{0.1, 1.5, -2.0}, y{0.3, -1.0, 2.5};
  std::vector<Complex> c{1.0, {0, 2}, -1.5}, typed(64), plain(64);
  TypedTransform<double> transform(kToken);
  transform.set_points(x, y);
  transform.execute(c, typed);
  Transform same(kToken);
  Points points;
  points.m = 3, points.x = x.data(), points.y = y.data();
  same.set_points(points);
  same.execute(c.data(), plain.data());
  EXPECT_EQ(typed, plain);
  EXPECT_NE(typed[0], Complex());
}

TEST(TypedTransform, Type3TakesSourcesAndThenTargets) {
  std::vector<double> x{0.1, 1.5}, s{3, 4, 5};
  std::vector<Complex> c{1.0, 2.0}, f(3);
  TypedTransform<double> transform("nufft:type=3,dim=1,prec=f64,tol=1e-9");
  transform.set_points(x, s);
  transform.execute(c, f);
  for (std::size_t j = 0; j < 3; ++j)
    EXPECT_LT(std::abs(f[j] - (std::polar(1.0, -x[0] * s[j]) + 2.0 * std::polar(1.0, -x[1] * s[j]))), 1e-8);
}

void expect_refused(const std::function<void()>& call, Status status, const std::string& words) {
  try {
    call();
    ADD_FAILURE() << "not refused: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(TypedTransform, DistinctPointsAreAsManyForEachTransform) {
  Options options;
  options.distinct_points = true;
  TypedTransform<double> transform("nufft:type=1,n=8,prec=f64,tol=1e-9,batch=3", options);
  std::vector<double> nine(9), ten(10);
  transform.set_points(nine);
  EXPECT_EQ(transform.plain().problem().m, 3);
  expect_refused([&] { transform.set_points(ten); }, Status::contradiction, "10 points for 3 transforms");
  TypedTransform<double> third("nufft:type=3,dim=1,prec=f64,tol=1e-9,batch=3", options);
  expect_refused([&] { third.set_points(nine, ten); }, Status::contradiction, "10 points for 3 transforms");
}

TEST(TypedTransform, RefusesByName) {
  expect_refused([] { TypedTransform<float> wrong(kToken); }, Status::invalid_problem,
                 "TypedTransform<double> is right");
  TypedTransform<double> transform(kToken);
  std::vector<double> x(9), shorter(8);
  std::vector<Complex> c(9), f(64), small(63);
  expect_refused([&] { transform.set_points(x); }, Status::contradiction, "1 arrays of coordinates");
  expect_refused([&] { transform.set_points(x, shorter); }, Status::contradiction, "8 points beside those of 9");
  transform.set_points(x, x);
  expect_refused([&] { transform.execute(c, small); }, Status::invalid_argument, "the second array holds 126 real");
  std::vector<Complex> few(8);
  expect_refused([&] { transform.execute_adjoint(few, f); }, Status::invalid_argument, "the first array holds 16 real");
}

TEST(TypedTransform, InPlaceRealTransformsNeedTheirPadding) {
  TypedTransform<float> transform("fft:type=r2c,n=8x4,prec=f32,place=in");
  std::vector<float> padded(10 * 4, 1.0F), dense(8 * 4);
  transform.execute(padded);
  EXPECT_FLOAT_EQ(padded[0], 32);
  expect_refused([&] { transform.execute(dense); }, Status::invalid_argument, "array holds 32 real numbers");
}

}  // namespace
}  // namespace fourtune
