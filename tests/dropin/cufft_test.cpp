// Results of cuFFT's functions by our kernels, on the emulated backend, against a stand-in for the real library that
// uses direct sums; and what a plan's arguments mean.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include "dropin/cufft/engine.h"
#include "dropin/cufft/plans.h"
#include "dropin/cufft/shape.h"
#include "runtime/backend_table.h"
#include "runtime/backends/emulated/emulated_backend.h"

namespace fourtune::dropin {
namespace {

// Read when the first plan is made.
const int chosen = ::setenv("FOURTUNE_CUFFT", "wait", 1);
void* const library = ::dlopen(FOURTUNE_BUILD_DIR "/tests/peers/fake_cufft.so", RTLD_NOW | RTLD_GLOBAL);

int executes_of_the_library() { return reinterpret_cast<int (*)()>(::dlsym(library, "fake_cufft_executes"))(); }
int library_execute(CufftHandle plan, void* in, void* out, int direction) {
  return reinterpret_cast<int (*)(int, void*, void*, int)>(::dlsym(library, "cufftXtExec"))(plan, in, out, direction);
}

class CufftNumbers : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const runtime::emulated::EmulatedBackend emulated(runtime::gpu::generated_programs());
    runtime::add_backend(emulated);
    use_backend("emulated");
  }
  void SetUp() override {
    ASSERT_EQ(chosen, 0);
    ASSERT_TRUE(library) << ::dlerror();
  }
};

struct Case {
  int type;
  std::vector<int> n;
  std::vector<int> in_embed = {}, out_embed = {};  // empty: none
  int in_stride = 1, in_distance = 1, out_stride = 1, out_distance = 1;
  int batch = 1;
  bool in_place = false;
  int direction = -1;
};

template <class T>
std::vector<T> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> between(-1, 1);
  std::vector<T> values(count);
  for (T& value : values) value = between(random);
  return values;
}

// The whole arrays are compared, with what lies between the elements.
template <class T>
void expect_same(Case c, double most) {
  constexpr std::size_t kCount = 12000;
  CufftHandle plan = 0;
  const auto pointer = [](std::vector<int>& list) { return list.empty() ? nullptr : list.data(); };
  ASSERT_EQ(cufftPlanMany(&plan, static_cast<int>(c.n.size()), c.n.data(), pointer(c.in_embed), c.in_stride,
                          c.in_distance, pointer(c.out_embed), c.out_stride, c.out_distance, c.type, c.batch),
            0);
  std::vector<T> in = random_values<T>(kCount, 1), out = random_values<T>(kCount, 2);
  std::vector<T> right_in = in, right_out = out;
  const int before = executes_of_the_library();
  ASSERT_EQ(cufftXtExec(plan, in.data(), c.in_place ? in.data() : out.data(), c.direction), 0);
  EXPECT_EQ(executes_of_the_library(), before) << "ours did not execute";
  ASSERT_EQ(library_execute(plan, right_in.data(), c.in_place ? right_in.data() : right_out.data(), c.direction), 0);
  double error = 0, size = 0;
  const std::vector<T>&got = c.in_place ? in : out, &right = c.in_place ? right_in : right_out;
  for (std::size_t i = 0; i < kCount; ++i) {
    error += std::pow(static_cast<double>(got[i] - right[i]), 2);
    size += std::pow(static_cast<double>(right[i]), 2);
  }
  EXPECT_LT(std::sqrt(error / size), most);
  if (!c.in_place) {
    EXPECT_EQ(in, right_in) << "the input was written";
  }
  EXPECT_EQ(cufftDestroy(plan), 0);
}

void expect_right(const Case& c) {
  SCOPED_TRACE(::testing::PrintToString(c.n) + " type " + std::to_string(c.type) + " batch " + std::to_string(c.batch) +
               (c.in_place ? " in place" : ""));
  if (c.type & 0x40)
    expect_same<double>(c, 1e-13);
  else
    expect_same<float>(c, 1e-5);
}

TEST_F(CufftNumbers, ComplexTransformsInBothDirections) {
  expect_right({kC2C, {64}, {}, {}, 1, 1, 1, 1, 3});
  expect_right({kC2C, {64}, {}, {}, 1, 1, 1, 1, 3, true, kCufftInverse});
  expect_right({kZ2Z, {12, 10}, {}, {}, 1, 1, 1, 1, 2, false, kCufftInverse});
  expect_right({kZ2Z, {4, 6, 8}, {}, {}, 1, 1, 1, 1, 1, true});
}

TEST_F(CufftNumbers, RealTransforms) {
  expect_right({kR2C, {30}, {}, {}, 1, 1, 1, 1, 4});
  expect_right({kR2C, {30}, {}, {}, 1, 1, 1, 1, 4, true});
  expect_right({kD2Z, {6, 10}, {}, {}, 1, 1, 1, 1, 2});
  expect_right({kD2Z, {6, 10}, {}, {}, 1, 1, 1, 1, 2, true});
  expect_right({kR2C, {4, 6, 9}});
}

// Real spectra: the input of c2r is that of a real array, as cuFFT demands it.
TEST_F(CufftNumbers, ComplexToReal) {
  expect_right({kC2R, {30}, {}, {}, 1, 1, 1, 1, 4});
  expect_right({kZ2D, {6, 10}, {}, {}, 1, 1, 1, 1, 2, false, kCufftForward});
  expect_right({kZ2D, {6, 10}, {}, {}, 1, 1, 1, 1, 2, true});
}

TEST_F(CufftNumbers, AdvancedLayouts) {
  // Rows of columns: transforms along the slow dimension of 16 x 9 values.
  expect_right({kC2C, {16}, {16}, {16}, 9, 1, 9, 1, 9});
  expect_right({kC2C, {16}, {16}, {16}, 9, 1, 9, 1, 9, true});
  expect_right({kZ2Z, {6, 8}, {7, 10}, {6, 9}, 2, 150, 1, 60, 2});
  expect_right({kR2C, {6, 8}, {6, 8}, {6, 5}, 1, 48, 1, 30, 3});
  expect_right({kZ2D, {6, 8}, {6, 5}, {6, 11}, 1, 30, 1, 70, 2});
}

// The side of a layout with rows and strides of other lengths, or none.
void draw_side(std::mt19937& random, const std::vector<int>& size, std::vector<int>& embed, int& stride,
               int& distance) {
  stride = 1 + static_cast<int>(random() % 2);
  distance = stride;
  for (const int length : size) embed.push_back(length + static_cast<int>(random() % 3)), distance *= embed.back();
}

Case drawn(std::mt19937& random) {
  constexpr std::array kTypes{kC2C, kZ2Z, kR2C, kD2Z, kC2R, kZ2D};
  Case c{kTypes[random() % kTypes.size()], {}};
  const bool real = (c.type & 0xf) != 9, from_half = (c.type & 0xf) == 0xc;
  const std::size_t rank = 1 + random() % (from_half ? 2 : 3);
  constexpr int kMost[] = {200, 16, 7};
  for (std::size_t d = 0; d < rank; ++d) c.n.push_back(2 + static_cast<int>(random() % (kMost[rank - 1] - 1)));
  c.batch = 1 + static_cast<int>(random() % 3);
  c.in_place = random() % 3 == 0;
  c.direction = !real && random() % 2 ? kCufftInverse : kCufftForward;
  if ((real && c.in_place) || random() % 2) return c;
  std::vector<int> whole = c.n, half = c.n;
  if (real) half.back() = half.back() / 2 + 1;
  draw_side(random, from_half ? half : whole, c.in_embed, c.in_stride, c.in_distance);
  if (c.in_place)
    c.out_embed = c.in_embed, c.out_stride = c.in_stride, c.out_distance = c.in_distance;
  else
    draw_side(random, from_half ? whole : half, c.out_embed, c.out_stride, c.out_distance);
  return c;
}

// The arrays have room for the largest of them. On a GPU tests/dropin/soak_cufft does the same.
TEST_F(CufftNumbers, DrawnPlans) {
  std::mt19937 random(20261301);
  for (int i = 0; i < 14; ++i) expect_right(drawn(random));
}

Problem problem(int type, const std::vector<Long>& n, Place place, int direction, const ManyArguments& rest) {
  ManyArguments many = rest;
  many.rank = static_cast<int>(n.size()), many.n = n.data();
  const auto shape = shape_of(*kind_of(type), many);
  EXPECT_TRUE(shape);
  return problem_of(*shape, place, direction);
}
constexpr ManyArguments kPlain{0, nullptr, nullptr, 1, 1, nullptr, 1, 1, 1};

TEST(CufftShapes, BecomeTheTokensThatArePlannedAndTuned) {
  EXPECT_EQ(to_token(problem(kC2C, {7, 8, 9}, Place::out, -1, kPlain)), "fft:type=c2c,n=9x8x7,prec=f32");
  EXPECT_EQ(to_token(problem(kZ2Z, {8}, Place::in, 1, kPlain)), "fft:type=c2c,n=8,prec=f64,place=in,sign=1");
  EXPECT_EQ(to_token(problem(kR2C, {7, 8}, Place::in, 1, kPlain)), "fft:type=r2c,n=8x7,prec=f32,place=in");
  EXPECT_EQ(to_token(problem(kZ2D, {8}, Place::out, -1, kPlain)), "fft:type=c2r,n=8,prec=f64,sign=1");
  const Long dense[] = {7, 8}, half[] = {7, 5}, wide[] = {7, 12};
  EXPECT_EQ(to_token(problem(kR2C, {7, 8}, Place::out, -1, {0, nullptr, dense, 1, 56, half, 1, 35, 4})),
            "fft:type=r2c,n=8x7,prec=f32,batch=4")
      << "an advanced layout that is the default one";
  EXPECT_EQ(to_token(problem(kC2C, {7, 8}, Place::out, -1, {0, nullptr, wide, 2, 500, dense, 1, 0, 1})),
            "fft:type=c2c,n=8x7,prec=f32,layout=2x24+56")
      << "a batch of one has no distance";
}

TEST(CufftShapes, WhatWeDoNotDoIsRefused) {
  const Long dense[] = {7, 8}, narrow[] = {7, 3}, zero[] = {7, 0}, n[] = {7, 8}, none[] = {7, -1};
  const auto shape = [](const ManyArguments& many) { return shape_of(*kind_of(kR2C), many); };
  EXPECT_FALSE(shape({2, n, dense, 1, 56, nullptr, 1, 35, 4})) << "half a layout";
  EXPECT_FALSE(shape({2, n, zero, 1, 56, dense, 1, 35, 4}));
  EXPECT_FALSE(shape({2, n, dense, 0, 56, dense, 1, 35, 4}));
  EXPECT_FALSE(shape({4, n, nullptr, 1, 1, nullptr, 1, 1, 1}));
  EXPECT_FALSE(shape({2, none, nullptr, 1, 1, nullptr, 1, 1, 1}));
  EXPECT_FALSE(shape({2, n, nullptr, 1, 1, nullptr, 1, 1, 0}));
  EXPECT_THROW(problem_of(*shape({2, n, dense, 1, 56, narrow, 1, 35, 4}), Place::out, -1), Error) << "rows overlap";
  EXPECT_THROW(problem_of(*shape({2, n, dense, 1, 56, dense, 1, 56, 4}), Place::in, -1), Error)
      << "a real transform in place whose rows have no room for the spectrum";
  const Long thin[] = {8, 1};
  EXPECT_THROW(problem_of(*shape_of(*kind_of(kC2R), {2, thin, nullptr, 1, 1, nullptr, 1, 1, 4}), Place::out, 1), Error);
  EXPECT_FALSE(kind_of(0x55));
  EXPECT_FALSE(kind_of(6, 6, 6)) << "half precision";
  EXPECT_FALSE(kind_of(kComplex64, kComplex64, kComplex32)) << "arithmetic in less than the data's precision";
}

}  // namespace
}  // namespace fourtune::dropin
