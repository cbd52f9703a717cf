// The public C++ interface: its promises beyond the numbers.
#include "fourtune/transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/runtime/transform_support.h"

namespace fourtune {
namespace {

struct Data {
  std::vector<double> x, y;
  std::vector<Complex> c, f;
};
Data small(std::int64_t m, std::int64_t modes) {
  Data data;
  for (std::int64_t j = 0; j < m; ++j) {
    data.x.push_back(3.1 * std::sin(1.0 + static_cast<double>(j)));
    data.y.push_back(3.1 * std::cos(2.0 + 3.0 * static_cast<double>(j)));
    data.c.emplace_back(std::cos(5.0 * static_cast<double>(j)), std::sin(7.0 * static_cast<double>(j)));
  }
  data.f.resize(static_cast<std::size_t>(modes));
  return data;
}

Complex direct(const Data& data, int k1, int k2, int sign) {
  Complex sum = 0;
  for (std::size_t j = 0; j < data.x.size(); ++j)
    sum += data.c[j] * std::polar(1.0, sign * (k1 * data.x[j] + k2 * data.y[j]));
  return sum;
}

TEST(Transform, CountsMayBeLeftOutAtCreateAndAreResolvedInSetPoints) {
  Transform transform("nufft:type=1,n=10x9,prec=f64,tol=1e-9", plain());
  EXPECT_TRUE(transform.plan().empty());
  EXPECT_NE(transform.explain().find("set_points"), std::string::npos);
  Data data = small(50, 90);
  transform.set_points({50, data.x.data(), data.y.data()});
  EXPECT_EQ(transform.problem().m, 50);
  EXPECT_FALSE(transform.plan().empty());
  transform.execute(data.c.data(), data.f.data());
  EXPECT_LT(std::abs(data.f[3 + 10 * 2] - direct(data, 3 - 5, 2 - 4, -1)), 1e-7);
  // Another number of points on the same transform.
  Data more = small(70, 90);
  transform.set_points({70, more.x.data(), more.y.data()});
  transform.execute(more.c.data(), more.f.data());
  EXPECT_LT(std::abs(more.f[3 + 10 * 2] - direct(more, 3 - 5, 2 - 4, -1)), 1e-7);
}

TEST(Transform, ModeOrderIsCentredOrThatOfFfts) {
  Data data = small(30, 90);
  Options options = plain();
  Transform centred("nufft:type=1,n=10x9,m=30,prec=f64,tol=1e-9,sign=1", options);
  options.mode_order = ModeOrder::fft;
  Transform fft("nufft:type=1,n=10x9,m=30,prec=f64,tol=1e-9,sign=1", options);
  std::vector<Complex> other(90);
  centred.set_points({30, data.x.data(), data.y.data()});
  fft.set_points({30, data.x.data(), data.y.data()});
  centred.execute(data.c.data(), data.f.data());
  fft.execute(data.c.data(), other.data());
  for (int k2 = -4; k2 <= 4; ++k2)
    for (int k1 = -5; k1 <= 4; ++k1) {
      const Complex want = direct(data, k1, k2, 1);
      EXPECT_LT(std::abs(data.f[(k1 + 5) + 10 * (k2 + 4)] - want), 1e-7);
      EXPECT_LT(std::abs(other[(k1 + 10) % 10 + 10 * ((k2 + 9) % 9)] - want), 1e-7);
    }
}

TEST(Transform, ContradictionsAreNamed) {
  Data data = small(30, 90);
  Transform transform("nufft:type=1,n=10x9,m=20,prec=f64,tol=1e-9", plain());
  const auto [status, message] = failure([&] { transform.set_points({30, data.x.data(), data.y.data()}); });
  EXPECT_EQ(status, Status::contradiction);
  EXPECT_NE(message.find("m=20"), std::string::npos) << message;
  Transform third("nufft:type=3,dim=1,prec=f64,tol=1e-6,extent=2", plain());
  EXPECT_EQ(failure([&] {
              third.set_points({30, data.x.data(), nullptr, nullptr, 30, data.y.data()});
            }).first,
            Status::contradiction);
}

TEST(Transform, MisuseIsRefusedByName) {
  Data data = small(30, 90);
  Transform transform("nufft:type=1,n=10x9,prec=f64,tol=1e-9", plain());
  EXPECT_EQ(failure([&] { transform.execute(data.c.data(), data.f.data()); }).first, Status::points_not_set);
  EXPECT_EQ(failure([&] { transform.set_points({30, data.x.data()}); }).first, Status::invalid_argument);
  EXPECT_EQ(failure([&] { transform.set_points({-1, data.x.data(), data.y.data()}); }).first, Status::invalid_argument);
  EXPECT_EQ(failure([&] {
              transform.set_points({30, data.x.data(), data.y.data(), data.x.data()});
            }).first,
            Status::invalid_argument);
  EXPECT_EQ(failure([&] {
              transform.set_points({30, data.x.data(), data.y.data(), nullptr, 3, data.x.data()});
            }).first,
            Status::invalid_argument);
  transform.set_points({30, data.x.data(), data.y.data()});
  EXPECT_EQ(failure([&] { transform.execute(nullptr, data.f.data()); }).first, Status::invalid_argument);
  EXPECT_EQ(failure([&] { transform.execute(data.f.data(), data.f.data()); }).first, Status::invalid_argument);
  EXPECT_EQ(failure([&] { transform.set_stream(&data); }).first, Status::invalid_argument);
  Transform fft("fft:type=c2c,n=16,prec=f64", plain());
  EXPECT_EQ(failure([&] { fft.set_points({30, data.x.data()}); }).first, Status::invalid_argument);
  EXPECT_EQ(failure([&] { fft.execute(data.f.data(), data.f.data()); }).first, Status::invalid_argument);
  Transform in("fft:type=c2c,n=16,prec=f64,place=in", plain());
  EXPECT_EQ(failure([&] { in.execute(data.c.data(), data.f.data()); }).first, Status::invalid_argument);
}

TEST(Transform, BadOptionsAreRefusedByName) {
  const auto status = [](auto change, const char* token = "nufft:type=1,n=10x9,m=5,prec=f64,tol=1e-9") {
    Options options = plain();
    change(options);
    return failure([&] { Transform transform(token, options); }).first;
  };
  EXPECT_EQ(status([](Options& o) { o.backend = "quantum"; }), Status::backend_unavailable);
  EXPECT_EQ(status([](Options& o) { o.threads = -1; }), Status::invalid_option);
  EXPECT_EQ(status([](Options& o) { o.device = 3; }), Status::invalid_option);
  EXPECT_EQ(status([](Options& o) { o.plan = "cpu;threads=1"; }), Status::invalid_plan);
  EXPECT_EQ(status([](Options& o) { o.only = Only::interpolate; }), Status::invalid_option);
  EXPECT_EQ(status([](Options&) {}, "nufft:type=1,n=10,prec=f32,tol=1e-9"), Status::tolerance_unreachable);
  EXPECT_EQ(status([](Options& o) { o.clamp_tolerance = true; }, "nufft:type=1,n=10,prec=f32,tol=1e-9"),
            Status::success);
}

TEST(Transform, ABadPointIsNamedByItsFirstIndexAndTheTransformRecovers) {
  Data data = small(5000, 90);
  Transform transform("nufft:type=1,n=10x9,prec=f64,tol=1e-9", plain());
  const double keep = data.y[1234];
  for (const double poison : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    data.y[1234] = data.y[4000] = poison;
    const auto [status, message] = failure([&] { transform.set_points({5000, data.x.data(), data.y.data()}); });
    EXPECT_EQ(status, Status::invalid_point);
    EXPECT_NE(message.find("1234"), std::string::npos) << message;
    EXPECT_EQ(failure([&] { transform.execute(data.c.data(), data.f.data()); }).first, Status::points_not_set);
  }
  data.y[1234] = data.y[4000] = keep;
  transform.set_points({5000, data.x.data(), data.y.data()});
  transform.execute(data.c.data(), data.f.data());
  EXPECT_LT(std::abs(data.f[0] - direct(data, -5, -4, -1)), 1e-5);
}

TEST(Transform, AForcedPlanIsTheOneThatRuns) {
  Options options = plain();
  const std::string text =
      "cpu;threads=1;window=kb(sigma=2,width=9,fine=20x18);sort=none;spread=atomic;interp=direct;"
      "fft=pruned(rigor=estimate,block=4)";
  options.plan = text;
  Transform transform("nufft:type=1,n=10x9,m=30,prec=f64,tol=1e-6", options);
  EXPECT_EQ(transform.plan(), text);
  EXPECT_NE(transform.explain().find("forced"), std::string::npos);
  Data data = small(30, 90);
  transform.set_points({30, data.x.data(), data.y.data()});
  transform.execute(data.c.data(), data.f.data());
  EXPECT_LT(std::abs(data.f[0] - direct(data, -5, -4, -1)), 1e-4);
  // A narrower window on the same problem must make a difference: the forced one is really used.
  options.plan =
      "cpu;threads=1;window=kb(sigma=2,width=2,fine=20x18);sort=none;spread=atomic;interp=direct;"
      "fft=pruned(rigor=estimate,block=4)";
  Transform coarse("nufft:type=1,n=10x9,m=30,prec=f64,tol=1e-6", options);
  coarse.set_points({30, data.x.data(), data.y.data()});
  coarse.execute(data.c.data(), data.f.data());
  EXPECT_GT(std::abs(data.f[0] - direct(data, -5, -4, -1)), 1e-4);
}

TEST(Transform, MemoryIsReportedBeforeAndAfterPoints) {
  Transform transform("nufft:type=1,n=64x64,m=10000,prec=f64,tol=1e-6", plain());
  const MemoryUse before = transform.memory();
  EXPECT_GT(before.held, 64 * 64 * 16);
  EXPECT_GT(before.needed, before.held);
  Data data = small(10000, 4096);
  transform.set_points({10000, data.x.data(), data.y.data()});
  const MemoryUse after = transform.memory();
  EXPECT_EQ(after.needed, after.held);
  EXPECT_GT(after.held, before.held);
  Transform open("nufft:type=1,n=64x64,prec=f64,tol=1e-6", plain());
  EXPECT_EQ(open.memory().held, 0);
  EXPECT_GT(open.memory().needed, 64 * 64 * 16);
}

TEST(Transform, EmptyPointSetsGiveZeroModesAndSingleModesWork) {
  for (const char* token : {"nufft:type=1,n=5x4,prec=f64,tol=1e-6", "nufft:type=1,n=1,prec=f64,tol=1e-6"}) {
    Transform transform(token, plain());
    const bool two = transform.problem().dim == 2;
    std::vector<Complex> f(20, Complex(7, 7));
    const double nothing = 0;
    transform.set_points({0, &nothing, two ? &nothing : nullptr});
    transform.execute(nullptr, f.data());
    for (int i = 0; i < (two ? 20 : 1); ++i) EXPECT_EQ(f[i], Complex(0));
    Data data = small(9, 1);
    transform.set_points({9, data.x.data(), two ? data.y.data() : nullptr});
    transform.execute(data.c.data(), f.data());
    if (!two) {
      Complex sum = 0;
      for (const Complex c : data.c) sum += c;
      EXPECT_LT(std::abs(f[0] - sum), 1e-5);
    }
  }
}

TEST(Transform, SpreadOnlyThenInterpolateOnlyAreAdjoint) {
  Options options = plain();
  options.only = Only::spread;
  Transform spread("nufft:type=1,n=32x24,m=40,prec=f64,tol=1e-6", options);
  options.only = Only::interpolate;
  Transform interpolate("nufft:type=2,n=32x24,m=40,prec=f64,tol=1e-6", options);
  Data data = small(40, 32 * 24);
  for (Transform* t : {&spread, &interpolate}) t->set_points({40, data.x.data(), data.y.data()});
  std::vector<Complex> grid(32 * 24), back(40);
  for (std::size_t i = 0; i < data.f.size(); ++i) data.f[i] = Complex(std::sin(i * 1.0), std::cos(i * 2.0));
  spread.execute(data.c.data(), grid.data());
  interpolate.execute(back.data(), data.f.data());
  Complex left = 0, right = 0;
  for (std::size_t i = 0; i < grid.size(); ++i) left += grid[i] * std::conj(data.f[i]);
  for (std::size_t j = 0; j < back.size(); ++j) right += data.c[j] * std::conj(back[j]);
  EXPECT_GT(std::abs(left), 1e-3);
  EXPECT_LT(std::abs(left - right), 1e-12 * std::abs(left));
}

TEST(Transform, DeterministicResultsAreBitIdenticalForEveryThreadCount) {
  Data data = small(20000, 50 * 40);
  std::vector<Complex> first;
  for (const int threads : {1, 2, 3}) {
    Options options = plain();
    options.deterministic = true;
    options.plan = "cpu;threads=" + std::to_string(threads) +
                   ";window=pswf(sigma=2,width=7,fine=100x80);sort=tiles(tile=16x16);spread=subgrid(cap=512,add=lock);"
                   "interp=tile(cap=512);fft=pruned(rigor=estimate,block=16)";
    Transform transform("nufft:type=1,n=50x40,m=20000,prec=f64,tol=1e-6", options);
    transform.set_points({20000, data.x.data(), data.y.data()});
    std::vector<Complex> modes(50 * 40);
    for (int run = 0; run < 2; ++run) {
      transform.execute(data.c.data(), modes.data());
      if (first.empty()) first = modes;
      EXPECT_EQ(first, modes) << threads << " threads";
    }
  }
}

// For the lines that FFTW transforms it has kernels for aligned and for other arrays; soak found that they round
// differently.
TEST(Transform, DeterministicUniformResultsAreBitIdenticalForEveryAlignmentAndThreadCount) {
  for (const char* problem : {"fft:type=r2c,n=1482,prec=f32", "fft:type=c2r,n=1406,prec=f32,sign=1",
                              "fft:type=c2c,n=30x28,prec=f32", "fft:type=r2c,n=51,prec=f32,batch=3"}) {
    for (const std::string family : {"", "rows(rigor=measure,block=16)", "fftw(rigor=measure)"}) {
      constexpr std::size_t kRoom = 4096;
      std::vector<float> first;
      for (const int threads : {1, 2}) {
        Options options = plain();
        options.deterministic = true;
        options.threads = threads;
        if (!family.empty()) options.plan = "cpu;threads=" + std::to_string(threads) + ";fft=" + family;
        std::optional<Transform> transform;
        try {
          transform.emplace(problem, options);
        } catch (const Error& error) {
          ASSERT_NE(std::string(error.what()).find("no FFTW"), std::string::npos) << error.what();
          break;  // not in this build
        }
        for (const std::size_t shift : {0, 2, 4, 6}) {
          std::vector<float> in(kRoom + 8), out(kRoom + 8);
          for (std::size_t i = 0; i < kRoom; ++i) in[i + shift] = std::sin(0.37F * static_cast<float>(i * i % 1009));
          transform->execute(in.data() + shift, out.data() + shift);
          const std::vector<float> result(out.begin() + static_cast<std::ptrdiff_t>(shift),
                                          out.begin() + static_cast<std::ptrdiff_t>(shift + kRoom));
          if (first.empty()) first = result;
          EXPECT_EQ(first, result) << problem << ' ' << family << ' ' << threads << " threads, shifted by " << shift;
        }
      }
    }
  }
}

TEST(Transform, TwoTransformsRunAtTheSameTimeOnTwoThreads) {
  const auto work = [](int n, int m) {
    Transform transform("nufft:type=1,n=" + std::to_string(n) + "x9,prec=f64,tol=1e-9", plain());
    Data data = small(m, n * 9);
    for (int i = 0; i < 5; ++i) {
      transform.set_points({m, data.x.data(), data.y.data()});
      transform.execute(data.c.data(), data.f.data());
      EXPECT_LT(std::abs(data.f[0] - direct(data, -n / 2, -4, -1)), 1e-5);
    }
  };
  std::thread a(work, 10, 3000), b(work, 16, 4000);
  a.join();
  b.join();
}

}  // namespace
}  // namespace fourtune
