// Nonuniform transforms in slabs through an emulated device, whose copies land late, against direct sums; and that what
// they hold there stays below what is allowed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "fourtune/transform.h"
#include "runtime/backends/emulated/counted_memory.h"
#include "tests/runtime/emulated_devices_support.h"

namespace fourtune::test::slabs {
namespace {

using runtime::emulated::forget_most_held;
using runtime::emulated::held_bytes;
using runtime::emulated::most_held_bytes;
using Complex = std::complex<double>;

using EmulatedSlabs = ThreeEmulatedDevices;

// Where points lie along the last dimension; elsewhere they are drawn evenly.
enum class Place { anywhere, far, folded, one_slab, two_places, cuts };

struct Drawn {
  std::array<std::vector<double>, 3> points;  // set after set
  std::vector<Complex> values, modes;
};

Drawn draw(const Problem& p, Place place, std::int64_t sets) {
  Drawn drawn;
  tuner::Random random(7);
  const auto unit = [&] { return 2 * random.uniform() - 1; };
  const auto real = [&](double value) {
    return p.precision == Precision::f32 ? static_cast<double>(static_cast<float>(value)) : value;
  };
  for (std::size_t d = 0; d < static_cast<std::size_t>(p.dim); ++d)
    for (std::int64_t i = 0; i < sets * *p.m; ++i) {
      double x = std::numbers::pi * unit();
      const bool last = d + 1 == static_cast<std::size_t>(p.dim);
      if (last && place == Place::one_slab) x = 0.3 + 0.01 * unit();
      if (last && place == Place::two_places) x = i % 2 == 0 ? -2.5 : 1;
      if (last && place == Place::cuts) x = std::numbers::pi * (static_cast<double>(i % 16) / 8 - 1) + 1e-3 * unit();
      if (place == Place::far) x += 2 * std::numbers::pi * static_cast<double>(i % 41 - 20);
      if (place == Place::folded) x = i % 3 == 0 ? x + 2 * std::numbers::pi : x;
      drawn.points[d].push_back(real(x));
    }
  const auto complex = [&] { return Complex(real(unit()), real(unit())); };
  for (std::int64_t i = 0; i < p.batch * *p.m; ++i) drawn.values.push_back(complex());
  for (std::int64_t i = 0; i < p.batch * mode_count(p); ++i) drawn.modes.push_back(complex());
  return drawn;
}

// exp(i sign k x) of all modes of one dimension, in ascending order.
std::vector<Complex> phases(double x, std::int64_t n, int sign) {
  std::vector<Complex> all;
  for (std::int64_t k = 0; k < n; ++k) all.push_back(std::polar(1.0, sign * static_cast<double>(k - n / 2) * x));
  return all;
}

std::vector<Complex> direct(const Problem& p, const Drawn& drawn, bool adjoint, bool distinct) {
  const bool to_modes = (p.type == 1) != adjoint;
  const int sign = adjoint ? -p.sign : p.sign;
  const std::int64_t m = *p.m, modes = mode_count(p);
  std::vector<Complex> sums(static_cast<std::size_t>(p.batch * (to_modes ? modes : m)));
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t j = 0; j < m; ++j) {
      const auto point = static_cast<std::size_t>((distinct ? b * m : 0) + j);
      std::array<std::vector<Complex>, 3> e;
      for (std::size_t d = 0; d < 3; ++d)
        e[d] = d < static_cast<std::size_t>(p.dim) ? phases(drawn.points[d][point], p.n[d], sign)
                                                   : std::vector<Complex>{1};
      const auto value = static_cast<std::size_t>(b * m + j);
      auto mode = static_cast<std::size_t>(b * modes);
      for (const Complex& z : e[2])
        for (const Complex& y : e[1])
          for (const Complex& x : e[0]) {
            if (to_modes)
              sums[mode] += drawn.values[value] * x * y * z;
            else
              sums[value] += drawn.modes[mode] * x * y * z;
            ++mode;
          }
    }
  return sums;
}

template <class T, class From>
std::vector<T> as(const std::vector<From>& values) {
  std::vector<T> out;
  for (const From& value : values) out.push_back(static_cast<T>(value));
  return out;
}

template <class T>
std::vector<Complex> run_in(const Problem& p, const Drawn& drawn, bool adjoint, Transform& transform) {
  std::array<std::vector<T>, 3> points;
  for (std::size_t d = 0; d < 3; ++d) points[d] = as<T>(drawn.points[d]);
  Points given;
  given.m = *p.m;
  if (given.m > 0) given.x = points[0].data(), given.y = points[1].data();
  if (given.m > 0 && p.dim == 3) given.z = points[2].data();
  transform.set_points(given);
  for (auto& coordinate : points) std::fill(coordinate.begin(), coordinate.end(), std::numeric_limits<T>::quiet_NaN());
  auto values = as<std::complex<T>>(drawn.values), modes = as<std::complex<T>>(drawn.modes);
  const auto before_values = values, before_modes = modes;
  const bool to_modes = (p.type == 1) != adjoint;
  void* const first = values.empty() ? nullptr : values.data();
  adjoint ? transform.execute_adjoint(first, modes.data()) : transform.execute(first, modes.data());
  EXPECT_TRUE(to_modes ? values == before_values : modes == before_modes) << "the input has changed";
  return to_modes ? as<Complex>(modes) : as<Complex>(values);
}

std::vector<Complex> run(const Problem& p, const Drawn& drawn, bool adjoint, Transform& transform) {
  return p.precision == Precision::f32 ? run_in<float>(p, drawn, adjoint, transform)
                                       : run_in<double>(p, drawn, adjoint, transform);
}

double error_of(const std::vector<Complex>& result, const std::vector<Complex>& right) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < right.size(); ++i)
    difference += std::norm(result[i] - right[i]), size += std::norm(right[i]);
  return size > 0 ? std::sqrt(difference / size) : std::sqrt(difference);
}

// The least that would do, as the refusal of a byte says.
std::int64_t least_bytes(const std::string& token) {
  const auto [status, message] = thrown([&] { const Transform one(token, on_emulated("0:1")); });
  EXPECT_EQ(status, Status::out_of_memory) << message;
  const std::size_t at = message.rfind(' ');
  return at == std::string::npos ? 0 : std::stoll(message.substr(at + 1));
}

std::string limit(std::int64_t bytes) { return "0:" + std::to_string(bytes); }

struct Case {
  const char* token;
  Place place;
  double of_least;  // what is allowed
};
const Case kCases[] = {
    {"nufft:type=1,n=12x60,m=700,prec=f64,tol=1e-6", Place::anywhere, 1},
    {"nufft:type=1,n=12x60,m=700,prec=f64,tol=1e-6,batch=3,sign=1", Place::one_slab, 1},
    {"nufft:type=2,n=12x60,m=700,prec=f64,tol=1e-6,batch=5", Place::far, 1.3},
    {"nufft:type=2,n=12x60,m=700,prec=f64,tol=1e-6,sign=-1", Place::two_places, 1},
    {"nufft:type=1,n=6x5x40,m=900,prec=f32,tol=1e-3", Place::cuts, 1},
    {"nufft:type=1,n=6x5x40,m=900,prec=f32,tol=1e-3,batch=2", Place::folded, 1.5},
    {"nufft:type=2,n=6x5x40,m=900,prec=f32,tol=1e-3,batch=2", Place::cuts, 1.2},
    {"nufft:type=2,n=6x5x40,m=1,prec=f32,tol=1e-3", Place::anywhere, 1},
    {"nufft:type=1,n=6x5x40,m=0,prec=f32,tol=1e-3", Place::anywhere, 1},
    {"nufft:type=1,n=12x60,m=700,prec=f64,tol=1e-6,batch=2", Place::one_slab, 1.4},
    {"nufft:type=2,n=12x60,m=700,prec=f64,tol=1e-6,batch=2", Place::far, 1.7},
    {"nufft:type=2,n=6x5x40,m=900,prec=f32,tol=1e-3", Place::folded, 1.15},
    {"nufft:type=2,n=12x60,m=700,prec=f64,tol=1e-6,batch=5", Place::anywhere, 1.7},
};

TEST_F(EmulatedSlabs, SlabsComputeDirectSumsWithinWhatIsAllowed) {
  int resident = 0, kept = 0;
  for (const Case& one : kCases) {
    const Problem p = parse_problem(one.token);
    const auto allowed = static_cast<std::int64_t>(static_cast<double>(least_bytes(one.token)) * one.of_least);
    const Drawn drawn = draw(p, one.place, 1);
    const std::int64_t before = held_bytes();
    forget_most_held();
    Transform transform(one.token, on_emulated(limit(allowed)));
    for (const bool adjoint : {false, true}) {
      SCOPED_TRACE(std::string(one.token) + (adjoint ? " adjoint" : ""));
      EXPECT_LE(error_of(run(p, drawn, adjoint, transform), direct(p, drawn, adjoint, false)), allowed_error(p));
      EXPECT_NE(transform.explain().find(" slabs of up to"), std::string::npos) << transform.explain();
      EXPECT_LE(most_held_bytes() - before, allowed);
      EXPECT_EQ(transform.memory().held, held_bytes() - before);
      EXPECT_LE(transform.memory().needed, allowed);
    }
    resident += transform.explain().find("all values") != std::string::npos ? 1 : 0;
    kept += transform.explain().find("all columns") != std::string::npos ? 1 : 0;
  }
  // Both ways of values: all on the device, and by parts.
  EXPECT_GT(resident, 2);
  EXPECT_LT(resident, static_cast<int>(std::size(kCases)) - 2);
  EXPECT_GT(kept, 2);  // likewise columns
  EXPECT_LT(kept, static_cast<int>(std::size(kCases)) - 2);
}

// The narrowest and the widest windows, whose rows of bins are as thick as they reach.
TEST_F(EmulatedSlabs, AnyWidthOfWindow) {
  for (const char* token :
       {"nufft:type=1,n=9x80,m=400,prec=f32,tol=0.1", "nufft:type=2,n=9x80,m=400,prec=f64,tol=1e-13"}) {
    SCOPED_TRACE(token);
    const Problem p = parse_problem(token);
    const Drawn drawn = draw(p, Place::cuts, 1);
    Transform transform(token, on_emulated(limit(least_bytes(token))));
    for (const bool adjoint : {false, true})
      EXPECT_LE(error_of(run(p, drawn, adjoint, transform), direct(p, drawn, adjoint, false)), allowed_error(p));
  }
}

// From the least on, more memory means fewer slabs, and in the end none.
TEST_F(EmulatedSlabs, ALimitIsObeyedOrRefusedByTheLeastThatWouldDo) {
  const std::string token = "nufft:type=1,n=6x5x40,m=900,prec=f32,tol=1e-3";
  const Problem p = parse_problem(token);
  const Drawn drawn = draw(p, Place::anywhere, 1);
  const std::vector<Complex> right = direct(p, drawn, false, false);
  const std::int64_t least = least_bytes(token);
  const auto [status, message] = thrown([&] { const Transform one(token, on_emulated(limit(least - 1))); });
  EXPECT_EQ(status, Status::out_of_memory);
  EXPECT_NE(message.find(std::to_string(least - 1) + " bytes are allowed"), std::string::npos) << message;
  EXPECT_NE(message.find("need " + std::to_string(least)), std::string::npos) << message;
  std::int64_t slabs = 1000;
  for (const double more : {1.0, 1.4, 2.0, 100.0}) {
    const auto allowed = static_cast<std::int64_t>(more * static_cast<double>(least));
    SCOPED_TRACE(allowed);
    const std::int64_t before = held_bytes();
    forget_most_held();
    Transform transform(token, on_emulated(limit(allowed)));
    EXPECT_LE(error_of(run(p, drawn, false, transform), right), allowed_error(p));
    EXPECT_LE(most_held_bytes() - before, allowed);
    const std::size_t at = transform.explain().find(" slab");
    const std::int64_t now =
        at == std::string::npos ? 0 : std::stoll(transform.explain().substr(transform.explain().rfind(' ', at - 1)));
    EXPECT_LE(now, slabs);
    slabs = now;
  }
  EXPECT_EQ(slabs, 0);
}

TEST_F(EmulatedSlabs, PointsMayChangeAndNeedNotBeCountedBefore) {
  const std::string token = "nufft:type=2,n=12x60,prec=f64,tol=1e-6";
  Transform transform(token, on_emulated("0:64000"));
  EXPECT_NE(transform.explain().find("chosen in set_points"), std::string::npos);
  for (const std::int64_t m : {700, 90, 700}) {
    Problem p = parse_problem(token);
    p.m = m;
    const Drawn drawn = draw(p, Place::anywhere, 1);
    EXPECT_LE(error_of(run(p, drawn, false, transform), direct(p, drawn, false, false)), allowed_error(p));
    EXPECT_EQ(transform.problem().m, m);
    EXPECT_NE(transform.explain().find(" slabs of up to"), std::string::npos) << transform.explain();
  }
}

TEST_F(EmulatedSlabs, EachTransformMayHaveItsPoints) {
  const std::string token = "nufft:type=1,n=12x60,m=300,prec=f64,tol=1e-6,batch=3";
  const Problem p = parse_problem(token);
  const Drawn drawn = draw(p, Place::anywhere, 3);
  for (const char* devices : {"0:70000", "1:70000,2:80000", "0:1e8"}) {
    SCOPED_TRACE(devices);
    Options options = on_emulated(devices);
    options.distinct_points = true;
    Transform transform(token, options);
    for (const bool adjoint : {false, true})
      EXPECT_LE(error_of(run(p, drawn, adjoint, transform), direct(p, drawn, adjoint, true)), allowed_error(p));
  }
}

// A batch that does not fit as a whole goes by its transforms before any of them is cut.
TEST_F(EmulatedSlabs, ABatchGoesInPiecesBeforeSlabs) {
  const std::string token = "nufft:type=1,n=12x60,m=300,prec=f64,tol=1e-6,batch=12";
  const Problem p = parse_problem(token);
  const Drawn drawn = draw(p, Place::anywhere, 1);
  const std::int64_t before = held_bytes();
  forget_most_held();
  Transform transform(token, on_emulated("0:300000"));
  EXPECT_NE(transform.explain().find("of 300000 bytes of device memory: in 4 pieces"), std::string::npos)
      << transform.explain();
  for (const bool adjoint : {false, true})
    EXPECT_LE(error_of(run(p, drawn, adjoint, transform), direct(p, drawn, adjoint, false)), allowed_error(p));
  EXPECT_LE(most_held_bytes() - before, 300'000);
}

TEST_F(EmulatedSlabs, ModesMayBeInTheOrderOfFfts) {
  const std::string token = "nufft:type=1,n=12x60,m=300,prec=f64,tol=1e-6";
  const Problem p = parse_problem(token);
  const Drawn drawn = draw(p, Place::anywhere, 1);
  Options options = on_emulated("0:70000");
  Transform centred(token, options);
  options.mode_order = ModeOrder::fft;
  Transform wrapped(token, options);
  const std::vector<Complex> one = run(p, drawn, false, centred), other = run(p, drawn, false, wrapped);
  for (std::int64_t y = 0; y < 60; ++y)
    for (std::int64_t x = 0; x < 12; ++x)
      EXPECT_EQ(one[static_cast<std::size_t>(y * 12 + x)],
                other[static_cast<std::size_t>((y + 30) % 60 * 12 + (x + 6) % 12)]);
}

TEST_F(EmulatedSlabs, WhatCannotBeDoneIsNamed) {
  const auto refused = [](const std::string& token, const Options& options, const char* words) {
    const auto [status, message] = thrown([&] { const Transform one(token, options); });
    EXPECT_NE(message.find(words), std::string::npos) << message;
    return status;
  };
  const std::string token = "nufft:type=1,n=12x60,m=300,prec=f64,tol=1e-6";
  Options options = on_emulated("0:70000");
  options.deterministic = true;
  EXPECT_EQ(refused(token, options, "not deterministic"), Status::unsupported);
  EXPECT_EQ(refused("nufft:type=1,n=1000,m=300,prec=f64,tol=1e-6", on_emulated("0:9000"), "not one dimension"),
            Status::unsupported);
  EXPECT_EQ(refused("nufft:type=3,dim=2,m=30000,k=300,prec=f64,tol=1e-6", on_emulated("0:9000"), "type 3"),
            Status::unsupported);
  // A point that is none, by its place in the array, and a number of points that was not promised.
  Transform transform(token, on_emulated("0:70000"));
  std::vector<double> x(300, 0.5), y(300, 0.5);
  y[290] = std::numeric_limits<double>::infinity();
  const Points points{.m = 300, .x = x.data(), .y = y.data()};
  const auto [status, message] = thrown([&] { transform.set_points(points); });
  EXPECT_EQ(status, Status::invalid_point);
  EXPECT_NE(message.find("point 290: coordinate y"), std::string::npos) << message;
  EXPECT_EQ(thrown([&] { transform.execute(x.data(), y.data()); }).first, Status::points_not_set);
  y[290] = 0.5;
  EXPECT_EQ(thrown([&] { transform.set_points({.m = 299, .x = x.data(), .y = y.data()}); }).first,
            Status::contradiction);
  transform.set_points(points);
}

}  // namespace
}  // namespace fourtune::test::slabs
