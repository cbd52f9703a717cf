// Invalid arguments of the public interface, each refused by name, and problems with extreme numbers, which never
// crash.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fourtune/transform.h"
#include "tests/runtime/transform_support.h"

namespace fourtune {
namespace {

bool says(const std::pair<Status, std::string>& failed, const char* words) {
  return failed.second.find(words) != std::string::npos;
}

TEST(Arguments, TheArrayThatIsNullIsTheOneThatIsNamed) {
  Complex values[4] = {}, modes[8];
  const double x[4] = {0.1, 0.2, 0.3, 0.4};
  Transform transform("nufft:type=1,n=8,prec=f64,tol=1e-6", plain());
  transform.set_points({4, x});
  EXPECT_TRUE(says(failure([&] { transform.execute(nullptr, modes); }), "point_values"));
  EXPECT_TRUE(says(failure([&] { transform.execute(values, nullptr); }), "mode_values"));
  EXPECT_EQ(failure([&] { transform.execute(values, nullptr); }).first, Status::invalid_argument);
  transform.set_points({0, x});
  const auto failed = failure([&] { transform.execute(nullptr, nullptr); });
  EXPECT_EQ(failed.first, Status::invalid_argument);
  EXPECT_TRUE(says(failed, "mode_values")) << "no points need no values: " << failed.second;
  transform.execute(nullptr, modes);
  EXPECT_EQ(modes[3], Complex(0));
  Transform third("nufft:type=3,dim=1,prec=f64,tol=1e-6", plain());
  third.set_points({4, x, nullptr, nullptr, 0, x});
  EXPECT_TRUE(says(failure([&] { third.execute(nullptr, nullptr); }), "point_values")) << "no targets need no values";
}

TEST(Arguments, ArraysWithoutElementsMayHaveOneAddress) {
  const double x[4] = {0.1, 0.2, 0.3, 0.4};
  Complex values[4] = {};
  Transform third("nufft:type=3,dim=1,prec=f64,tol=1e-6", plain());
  third.set_points({0, x, nullptr, nullptr, 0, x});
  third.execute(values, values);
  third.execute_adjoint(values, values);
  third.execute(nullptr, nullptr);
  third.set_points({4, x, nullptr, nullptr, 0, x});
  EXPECT_TRUE(says(failure([&] { third.execute(values, values); }), "same array")) << "one of them has elements";
}

// Memory that begins `shift` bytes after a multiple of 16.
struct Shifted {
  explicit Shifted(std::size_t shift) : bytes(4096 + 16) {
    void* at = bytes.data();
    std::size_t room = bytes.size();
    std::align(16, 4096 - shift, at, room);
    array = static_cast<std::byte*>(at) + shift;
  }
  std::vector<std::byte> bytes;
  void* array;
};

TEST(Arguments, ArraysOffTheirElementsAlignmentAreRefusedByName) {
  for (const std::string prec : {"f32", "f64"}) {
    const std::size_t real = prec == "f32" ? 4 : 8;
    Transform transform("nufft:type=2,n=8,m=4,prec=" + prec + ",tol=1e-4", plain());
    Transform third("nufft:type=3,dim=1,m=4,k=4,prec=" + prec + ",tol=1e-4", plain());
    Transform fft("fft:type=c2c,n=8,prec=" + prec, plain());
    Shifted good(0), also(0);
    for (std::size_t shift = 0; shift < 16; ++shift) {
      Shifted bad(shift);
      const Status want = shift % real == 0 ? Status::success : Status::invalid_argument;
      EXPECT_EQ(failure([&] { transform.set_points({4, bad.array}); }).first, want) << prec << " " << shift;
      EXPECT_EQ(failure([&] {
                  third.set_points({4, good.array, nullptr, nullptr, 4, bad.array});
                }).first,
                want)
          << shift;
      transform.set_points({4, good.array});
      EXPECT_EQ(failure([&] { transform.execute(bad.array, also.array); }).first, want) << prec << " " << shift;
      EXPECT_EQ(failure([&] { transform.execute(also.array, bad.array); }).first, want) << prec << " " << shift;
      EXPECT_EQ(failure([&] { fft.execute(bad.array, also.array); }).first, want) << prec << " " << shift;
      const auto failed = failure([&] { fft.execute_adjoint(also.array, bad.array); });
      EXPECT_EQ(failed.first, want) << prec << " " << shift;
      if (want != Status::success) {
        EXPECT_TRUE(says(failed, "mode_values starts ")) << failed.second;
      }
    }
  }
}

TEST(Arguments, BoundsAreFiniteAndInOrder) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  Transform transform("nufft:type=3,dim=2,prec=f64,tol=1e-6", plain());
  const Bounds good{{-1, -1, 9, -1, -1, 9}, {1, 1, -9, 1, 1, -9}};  // z and u are not checked
  EXPECT_EQ(failure([&] { transform.set_bounds(good); }).first, Status::success);
  for (const std::size_t i : {0u, 1u, 3u, 4u})
    for (const double bad : {kNan, kInfinity, -kInfinity, 2.0}) {
      Bounds bounds = good;
      bounds.low[i] = bad;
      auto failed = failure([&] { transform.set_bounds(bounds); });
      EXPECT_EQ(failed.first, Status::invalid_argument) << i << " " << bad;
      EXPECT_TRUE(says(failed, std::string(1, "xyzstu"[i]).c_str())) << failed.second;
      bounds = good;
      bounds.high[i] = -bad;
      failed = failure([&] { transform.set_bounds(bounds); });
      EXPECT_EQ(failed.first, Status::invalid_argument) << i << " " << -bad;
    }
}

TEST(Arguments, PointsOutsideTheirBoundsAreAContradiction) {
  const double x[3] = {-1, 0.5, 1}, s[3] = {-4, 2, 4};
  Complex values[3] = {1, 2, 3}, results[3];
  Transform transform("nufft:type=3,dim=1,prec=f64,tol=1e-6", plain());
  transform.set_bounds({{-1, 0, 0, -4, 0, 0}, {1, 0, 0, 4, 0, 0}});
  transform.set_points({3, x, nullptr, nullptr, 3, s});  // the bounds apply to these points
  transform.execute(values, results);
  const auto sum = [&](double at) {
    return values[0] * std::polar(1.0, -at * x[0]) + values[1] * std::polar(1.0, -at * x[1]) +
           values[2] * std::polar(1.0, -at * x[2]);
  };
  EXPECT_LT(std::abs(results[1] - sum(s[1])), 1e-4);
  for (const auto& [bounds, name] : {std::pair{Bounds{{-0.9, 0, 0, -4, 0, 0}, {1, 0, 0, 4, 0, 0}}, "x"},
                                     std::pair{Bounds{{-1, 0, 0, -4, 0, 0}, {0.9, 0, 0, 4, 0, 0}}, "x"},
                                     std::pair{Bounds{{-1, 0, 0, -3.9, 0, 0}, {1, 0, 0, 4, 0, 0}}, "s"},
                                     std::pair{Bounds{{-1, 0, 0, -4, 0, 0}, {1, 0, 0, 3.9, 0, 0}}, "s"}}) {
    transform.set_bounds(bounds);
    const auto failed = failure([&] { transform.set_points({3, x, nullptr, nullptr, 3, s}); });
    EXPECT_EQ(failed.first, Status::contradiction) << failed.second;
    EXPECT_TRUE(says(failed, (std::string(name) + " lies from").c_str())) << failed.second;
    EXPECT_EQ(failure([&] { transform.execute(values, results); }).first, Status::points_not_set);
  }
  // Bounds set before the points are known also apply.
  Transform later("nufft:type=3,dim=1,prec=f64,tol=1e-6", plain());
  later.set_bounds({{-1, 0, 0, -4, 0, 0}, {0.9, 0, 0, 4, 0, 0}});
  EXPECT_EQ(failure([&] { later.set_points({3, x, nullptr, nullptr, 3, s}); }).first, Status::contradiction);
}

// Without sources, or without targets, nothing is computed; the coordinates of the other side are looked at still.
TEST(Arguments, BadPointsAreNamedWhereTheOtherSideIsEmpty) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const double good[2] = {0.5, 1}, bad[2] = {1, kNan};
  Transform transform("nufft:type=3,dim=3,prec=f64,tol=1e-6", plain());
  const double* of[6];
  for (std::size_t which = 0; which < 6; ++which) {
    std::fill_n(of, 6, good);
    of[which] = bad;
    const std::int64_t m = which < 3 ? 2 : 0, k = which < 3 ? 0 : 2;
    const auto failed = failure([&] { transform.set_points({m, of[0], of[1], of[2], k, of[3], of[4], of[5]}); });
    EXPECT_EQ(failed.first, Status::invalid_point);
    EXPECT_TRUE(says(failed, (std::string(1, "xyzstu"[which]) + "[1] is nan").c_str())) << failed.second;
  }
}

// Points within the least numbers, and at the greatest one.
TEST(Arguments, CoordinatesOfAType3AreLeastAndGreatestNumbers) {
  constexpr double kLeast = std::numeric_limits<double>::denorm_min(), kMost = std::numeric_limits<double>::max();
  struct Points {
    double x[2], s[2];
  };
  for (const Points& p : {Points{{-kLeast, kLeast}, {-kLeast, kLeast}}, Points{{-kLeast, kLeast}, {0, 0}},
                          Points{{0, 0}, {-kLeast, kLeast}}, Points{{-kLeast, kLeast}, {-1e300, 1e300}},
                          Points{{-1e300, 1e300}, {-1e-303, 1e-303}}, Points{{-1e-200, 1e-200}, {1e199, -1e199}},
                          Points{{-1e306, 1e306}, {0, kLeast}}, Points{{kMost, kMost}, {0, 1e-308}},
                          Points{{0.5e306, 1e306}, {0, 0}}, Points{{1e-310, 2e-310}, {1e300, 1.5e300}}}) {
    SCOPED_TRACE(testing::Message() << p.x[0] << " " << p.x[1] << ", " << p.s[0] << " " << p.s[1]);
    Transform transform("nufft:type=3,dim=1,prec=f64,tol=1e-9", plain());
    transform.set_points({2, p.x, nullptr, nullptr, 2, p.s});
    const Complex c[2] = {{1, 0.5}, {-0.25, 2}};
    Complex in[2] = {c[0], c[1]}, out[2] = {};
    transform.execute(in, out);
    for (int l = 0; l < 2; ++l) {
      const Complex right = c[0] * std::polar(1.0, -p.x[0] * p.s[l]) + c[1] * std::polar(1.0, -p.x[1] * p.s[l]);
      EXPECT_LE(std::abs(out[l] - right), 1e-8) << l;
    }
  }
}

// As those of a plane are, computed with rounding: in two dimensions, as one alone has a grid of few cells.
TEST(Arguments, TargetsOfAType3MayBeNeighbouringNumbers) {
  constexpr int kCount = 300;
  for (const double at : {0.5, 0.1 + 0.2, -1000.3, 1e6})
    for (const int ulps : {1, 3, 7}) {
      SCOPED_TRACE(testing::Message() << at << " and " << ulps << " ulps");
      std::vector<double> x, y, s, t;
      std::vector<Complex> c, found(kCount);
      const double step = std::nextafter(at, INFINITY) - at;
      for (int j = 0; j < kCount; ++j) {
        x.push_back(-1 + 2.0 * j / (kCount - 1)), y.push_back(2 * std::sin(7.0 * j));
        s.push_back(at + step * (j % (ulps + 1))), t.push_back(2 * std::cos(5.0 * j));
        c.emplace_back(std::cos(3.0 * j), std::sin(11.0 * j));
      }
      Transform transform("nufft:type=3,dim=2,prec=f64,tol=1e-7", plain());
      Points points;
      points.m = points.k = kCount;
      points.x = x.data(), points.y = y.data(), points.s = s.data(), points.t = t.data();
      transform.set_points(points);
      transform.execute(c.data(), found.data());
      double wrong = 0, random = 0;  // to what random signs of the strengths would give
      for (std::size_t l = 0; l < kCount; ++l) {
        Complex sum;
        for (std::size_t j = 0; j < kCount; ++j)
          sum += c[j] * std::polar(1.0, -s[l] * x[j]) * std::polar(1.0, -t[l] * y[j]);
        wrong += std::norm(found[l] - sum);
        for (const Complex& one : c) random += std::norm(one);
      }
      EXPECT_LE(std::sqrt(wrong / random), 3e-7);
    }
}

TEST(Arguments, AnInputThatOverlapsItselfHasNoAdjoint) {
  Transform transform("fft:type=c2c,n=4x3,prec=f64,layout=1x1/1x4", plain());
  Complex in[6] = {}, out[12];
  transform.execute(in, out);
  const auto failed = failure([&] { transform.execute_adjoint(in, out); });
  EXPECT_EQ(failed.first, Status::unsupported);
  EXPECT_TRUE(says(failed, "overlaps itself")) << failed.second;
}

// ---- extreme numbers ----
// Small, or so large that some product with it overflows, but nothing that a machine would compute for a long time.
std::string number(std::mt19937_64& random) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  switch (random() % 10) {
    case 0:
      return std::to_string(kMost - static_cast<std::int64_t>(random() % 3));
    case 1:
      return std::to_string((std::int64_t{1} << (40 + random() % 23)) - 1 + static_cast<std::int64_t>(random() % 3));
    case 2:
      return std::to_string(static_cast<std::int64_t>(random() >> (1 + random() % 20)));
    case 3:
      return random() % 4 == 0 ? "-1" : random() % 2 ? "0" : "9223372036854775808";
    default:
      return std::to_string(1 + random() % 24);
  }
}
std::string numbers(std::mt19937_64& random, const char* between, std::size_t count) {
  std::string out = number(random);
  for (std::size_t i = 1; i < count; ++i) out += between + number(random);
  return out;
}
std::string side(std::mt19937_64& random, std::size_t dim) {
  return numbers(random, "x", dim) + (random() % 2 ? "+" + number(random) : "");
}
std::string real_number(std::mt19937_64& random) {
  constexpr const char* kNumbers[] = {"0", "1e308", "1e-308", "1e19", "3", "1e9", "-1", "nan", "inf", "2.5"};
  return kNumbers[random() % std::size(kNumbers)];
}
std::string token(std::mt19937_64& random) {
  const std::size_t dim = 1 + random() % 3;
  const std::string prec = random() % 2 ? ",prec=f32" : ",prec=f64";
  if (random() % 2) {
    constexpr const char* kTypes[] = {"c2c", "r2c", "c2r"};
    std::string out = std::string("fft:type=") + kTypes[random() % 3] + ",n=" + numbers(random, "x", dim) + prec;
    if (random() % 2) out += ",batch=" + number(random);
    if (random() % 3 == 0) out += ",place=in";
    if (random() % 2) out += ",layout=" + side(random, dim) + (random() % 2 ? "/" + side(random, dim) : "");
    return out;
  }
  const bool third = random() % 8 == 0;
  std::string out = third ? "nufft:type=3,dim=" + std::to_string(dim)
                          : "nufft:type=" + std::to_string(1 + random() % 2) + ",n=" + numbers(random, "x", dim);
  if (random() % 3) out += ",m=" + number(random);
  if (third && random() % 3) out += ",k=" + number(random);
  out += prec + ",tol=1e-" + std::to_string(1 + random() % 16);
  if (random() % 2) out += ",batch=" + number(random);
  if (third && random() % 2) {
    out += ",extent=" + real_number(random);
    for (std::size_t d = 1; d < dim; ++d) out += "x" + real_number(random);
  }
  return out;
}

// Leaves 8 GB to the process while it lives, so that a machine with much memory does not spend minutes on filling it.
class SmallMemory {
 public:
  SmallMemory() {
    ::getrlimit(RLIMIT_AS, &before_);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they reserve terabytes
    rlimit small = before_;
    small.rlim_cur = std::min<rlim_t>(before_.rlim_cur, rlim_t{8} << 30);
    ::setrlimit(RLIMIT_AS, &small);
#endif
  }
  SmallMemory(const SmallMemory&) = delete;
  SmallMemory& operator=(const SmallMemory&) = delete;
  ~SmallMemory() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

TEST(ExtremeProblems, TenThousandTokensAreTakenOrRefusedByName) {
  const SmallMemory small;
  std::mt19937_64 random(20261122);
  const std::set<Status> names{Status::success,        Status::invalid_problem, Status::size_overflow,
                               Status::out_of_memory,  Status::unsupported,     Status::tolerance_unreachable,
                               Status::invalid_option, Status::invalid_plan};
  std::set<Status> seen;
  for (int i = 0; i < 10000; ++i) {
    const std::string text = token(random);
    Options options = plain();
    options.threads = 1 + static_cast<int>(random() % 2);
    options.distinct_points = random() % 8 == 0;
    options.mode_order = random() % 2 ? ModeOrder::fft : ModeOrder::centred;
    try {
      Transform transform(text, options);
      EXPECT_GE(transform.memory().needed, 0) << text;
      seen.insert(Status::success);
    } catch (const Error& error) {
      EXPECT_TRUE(names.contains(error.status())) << text << ": " << status_name(error.status()) << " " << error.what();
      EXPECT_NE(std::string(error.what()), "") << text;
      seen.insert(error.status());
    } catch (const std::exception& error) {
      ADD_FAILURE() << text << ": not by name: " << error.what();
    }
  }
  for (const Status status : {Status::success, Status::invalid_problem, Status::size_overflow, Status::out_of_memory})
    EXPECT_TRUE(seen.contains(status)) << status_name(status) << " was never drawn";
}

}  // namespace
}  // namespace fourtune
