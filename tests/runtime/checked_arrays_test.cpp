// FOURTUNE_CHECK: arrays that are too short, overlap or hold no numbers are refused by name, right ones compute as
// ever.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "fourtune/transform.h"

namespace fourtune::test {
namespace {

using Complex = std::complex<double>;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
template <class T>
using Malloced = std::unique_ptr<T[], Free>;
template <class T>
Malloced<T> malloced(std::size_t count) {
  Malloced<T> array(static_cast<T*>(std::malloc(count * sizeof(T))));
  for (std::size_t i = 0; i < count; ++i) array[i] = T(0.5);
  return array;
}

class CheckedArrays : public ::testing::Test {
 protected:
  CheckedArrays() {
    ::setenv("FOURTUNE_CHECK", "1", 1);
    ::mallopt(M_MMAP_THRESHOLD, 128 << 10);  // large arrays have separate pages, whatever was freed before
    options_.default_databases = false;
    options_.threads = 1;
  }
  ~CheckedArrays() override { ::unsetenv("FOURTUNE_CHECK"); }

  template <class Call>
  void expect_refused(const Call& call, const std::string& words) {
    try {
      call();
      ADD_FAILURE() << "nothing is refused; expected: " << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }

  Options options_;
};

TEST_F(CheckedArrays, FloatsWhereTheProblemSaysDoubles) {
  constexpr std::int64_t kPoints = 200000;
  Transform transform("nufft:type=1,n=64x64,prec=f64,tol=1e-6", options_);
  const auto x = malloced<float>(kPoints), y = malloced<float>(kPoints);
  Points floats;
  floats.m = kPoints, floats.x = x.get(), floats.y = y.get();
  expect_refused([&] { transform.set_points(floats); },
                 "set_points: x needs 1600000 bytes, and its memory ends after ");
  const auto u = malloced<double>(kPoints), v = malloced<double>(kPoints);
  Points doubles;
  doubles.m = kPoints, doubles.x = u.get(), doubles.y = v.get();
  transform.set_points(doubles);
  const auto values = malloced<float>(2 * kPoints);
  std::vector<Complex> modes(64 * 64);
  expect_refused([&] { transform.execute(values.get(), modes.data()); },
                 "execute: point_values needs 3200000 bytes, and its memory ends after ");
}

TEST_F(CheckedArrays, MemoryThatEndsOrMayNotBeWritten) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  char* const pages =
      static_cast<char*>(::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ::mprotect(pages + page, page, PROT_NONE);
  Transform transform("fft:type=c2c,n=64,prec=f64", options_);
  std::vector<Complex> other(64, 1.0);
  char* const last = pages + page - 64 * sizeof(Complex);
  transform.execute(other.data(), last);  // it fits, to the last byte
  expect_refused([&] { transform.execute(other.data(), last + 16); },
                 "the second array needs 1024 bytes, and its memory ends after 1008");
  expect_refused([&] { transform.execute(pages + page, other.data()); }, "where there is no memory that can be read");
  ::mprotect(pages, page, PROT_READ);
  transform.execute(last, other.data());
  expect_refused([&] { transform.execute(other.data(), last); }, "where there is no memory that can be written");
  ::munmap(pages, 2 * page);
}

TEST_F(CheckedArrays, Overlaps) {
  Transform transform("fft:type=c2c,n=16,prec=f64,batch=2", options_);
  std::vector<Complex> array(80, 1.0);
  expect_refused([&] { transform.execute(array.data(), array.data() + 31); }, "the arrays overlap");
  expect_refused([&] { transform.execute(array.data() + 31, array.data()); }, "the arrays overlap");
  transform.execute(array.data(), array.data() + 32);
}

TEST_F(CheckedArrays, ValuesThatAreNoNumbersWhereTheyAreRead) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Transform transform("fft:type=c2c,n=8,prec=f64,batch=2,layout=2+20/1+8", options_);
  std::vector<Complex> in(40, 1.0), out(16, 1.0);
  in[21] = nan;  // a gap
  out[3] = nan;  // is written
  transform.execute(in.data(), out.data());
  in[24] = {0, std::numeric_limits<double>::infinity()};
  expect_refused([&] { transform.execute(in.data(), out.data()); },
                 "the first array: element 2 of transform 1 is inf (found by FOURTUNE_CHECK)");
  out[3] = nan;
  expect_refused([&] { transform.execute_adjoint(in.data(), out.data()); },
                 "the second array: element 3 of transform 0");
}

TEST_F(CheckedArrays, RightArraysComputeAsWithoutIt) {
  for (const char* token : {"nufft:type=3,dim=1,prec=f32,tol=1e-4,batch=2", "nufft:type=2,n=9x7,prec=f32,tol=1e-4",
                            "fft:type=c2r,n=6x5,prec=f32,place=in", "fft:type=r2c,n=12,prec=f32,batch=3"}) {
    const auto run = [&] {
      Transform transform(token, options_);
      std::vector<float> x(50), a(400, 0.5F), b(400, 0.25F);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
      if (transform.problem().kind == Kind::nufft) {
        Points points;
        points.m = 50, points.x = x.data();
        if (transform.problem().dim == 2) points.y = x.data();
        if (transform.problem().type == 3) points.k = 50, points.s = x.data();
        transform.set_points(points);
      }
      transform.execute(a.data(), transform.problem().place == Place::in ? a.data() : b.data());
      a.insert(a.end(), b.begin(), b.end());
      return a;
    };
    const auto checked = run();
    ::setenv("FOURTUNE_CHECK", "0", 1);
    EXPECT_EQ(run(), checked) << token;
    ::setenv("FOURTUNE_CHECK", "1", 1);
  }
}

}  // namespace
}  // namespace fourtune::test
