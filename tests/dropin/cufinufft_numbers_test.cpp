// What libcufinufft computes, on a build of it whose GPU kernels the processor runs (emulated_cufinufft): arrays are in
// host memory. gpu_spreadinterponly beside libfinufft, and whole transforms beside direct sums.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <thread>
#include <vector>

#include "tests/dropin/library.h"

namespace fourtune::test {
namespace {

constexpr double kPi = std::numbers::pi;

const Library& gpu() {
  static const Library library(std::string(FOURTUNE_BUILD_DIR) + "/tests/peers/emulated_cufinufft.so");
  return library;
}
const Library& cpu() {
  static const Library library("finufft", "");
  return library;
}

// The structures of options of release 2.6, and where the fields that are used here lie.
struct Options {
  alignas(8) unsigned char bytes[128] = {};
  template <class T>
  void set(std::size_t offset, T value) {
    std::memcpy(bytes + offset, &value, sizeof value);
  }
};
Options gpu_options(bool only, double upsampling = 0, int at_once = 0) {
  Options out;
  gpu().call<void>("cufinufft_default_opts", static_cast<void*>(&out));
  out.set<double>(0, upsampling);
  out.set<std::int32_t>(48, only ? 1 : 0);  // gpu_spreadinterponly
  out.set<std::int32_t>(52, at_once);       // gpu_maxbatchsize
  return out;
}
Options cpu_options(double upsampling) {
  Options out;
  cpu().call<void>("finufft_default_opts", static_cast<void*>(&out));
  out.set<std::int32_t>(4, 1);  // spreadinterponly
  out.set<double>(40, upsampling);
  return out;
}

template <class T>
struct Problem {
  using Complex = std::complex<T>;
  int dim, count;
  std::int64_t n[3] = {1, 1, 1}, m;
  std::vector<T> x[3];
  std::vector<Complex> c, f;

  // Coordinates from three periods, some of them on cells and at the ends of the period.
  Problem(std::vector<std::int64_t> sizes, std::int64_t points, int transforms)
      : dim(static_cast<int>(sizes.size())), count(transforms), m(points) {
    std::mt19937 random(7);
    std::uniform_real_distribution<T> at(static_cast<T>(-3 * kPi), static_cast<T>(3 * kPi)), value(-1, 1);
    std::int64_t cells = 1;
    for (int d = 0; d < dim; ++d) {
      n[d] = sizes[static_cast<std::size_t>(d)];
      cells *= n[d];
      for (std::int64_t j = 0; j < m; ++j) x[d].push_back(at(random));
      x[d][0] = static_cast<T>(kPi), x[d][1] = static_cast<T>(-kPi), x[d][2] = 0;
      x[d][3] = static_cast<T>(2 * kPi * 5 / static_cast<double>(n[d]));
    }
    for (std::int64_t j = 0; j < m * count; ++j) c.emplace_back(value(random), value(random));
    for (std::int64_t k = 0; k < cells * count; ++k) f.emplace_back(value(random), value(random));
  }

  // Makes a plan, sets points, executes it once and destroys it.
  int run(const Library& library, int type, double tol, const Options& options, std::vector<Complex>& values,
          std::vector<Complex>& modes) const {
    const bool on_gpu = &library == &gpu();
    const std::string name = std::string(on_gpu ? "cufinufft" : "finufft") + (sizeof(T) == 4 ? "f" : "");
    const auto coordinates = [&](int d) { return d < dim ? x[d].data() : static_cast<const T*>(nullptr); };
    const T* const none = nullptr;
    void* plan = nullptr;
    int status = library.call(name + "_makeplan", type, dim, &n[0], 1, count, static_cast<T>(tol), &plan,
                              static_cast<const void*>(&options));
    if (status > 1) return status;
    status = on_gpu ? library.call(name + "_setpts", plan, m, coordinates(0), coordinates(1), coordinates(2), 0, none,
                                   none, none)
                    : library.call(name + "_setpts", plan, m, coordinates(0), coordinates(1), coordinates(2),
                                   std::int64_t{0}, none, none, none);
    if (status == 0)
      status =
          library.call(name + "_execute", plan, static_cast<void*>(values.data()), static_cast<void*>(modes.data()));
    library.call(name + "_destroy", plan);
    return status;
  }
};

template <class T>
double difference(const std::vector<std::complex<T>>& a, const std::vector<std::complex<T>>& b) {
  double off = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    off += std::norm(std::complex<double>(a[i] - b[i])), norm += std::norm(std::complex<double>(b[i]));
  return std::sqrt(off / norm);
}

// Both libraries have one window and one grid: the sums differ by rounding and by the polynomials of the window.
template <class T>
void expect_as_on_the_processor(std::vector<std::int64_t> sizes, double tol, double upsampling, int at_once) {
  const Problem<T> p(std::move(sizes), 150, 4);
  for (const int type : {1, 2}) {
    SCOPED_TRACE(::testing::Message() << p.dim << "D type " << type << " n " << p.n[0] << " tol " << tol
                                      << " upsampfac " << upsampling << (sizeof(T) == 4 ? " f32" : " f64"));
    auto c = p.c, right_c = p.c, f = p.f, right_f = p.f;
    ASSERT_EQ(p.run(gpu(), type, tol, gpu_options(true, upsampling, at_once), c, f), 0);
    ASSERT_EQ(p.run(cpu(), type, tol, cpu_options(upsampling), right_c, right_f), 0);
    EXPECT_LE(type == 1 ? difference(f, right_f) : difference(c, right_c), 2 * tol);
    const bool same = type == 1 ? c == p.c : f == p.f;
    EXPECT_TRUE(same) << "the input was written";
  }
}

TEST(CufinufftNumbers, SpreadOnlyIsThatOfTheProcessorsLibrary) {
  expect_as_on_the_processor<double>({64}, 1e-9, 0, 0);
  expect_as_on_the_processor<float>({63}, 1e-4, 0, 1);
  expect_as_on_the_processor<float>({40, 33}, 1e-4, 2, 2);
  expect_as_on_the_processor<double>({31, 36}, 1e-6, 1.25, 3);
  expect_as_on_the_processor<double>({24, 25, 26}, 1e-5, 0, 0);
  expect_as_on_the_processor<float>({20, 21, 16}, 1e-3, 3, 2);
}

// The usual plan, which was chosen for another window, is fitted to the one that is asked for.
TEST(CufinufftNumbers, WindowsOfEveryWidthSpreadAlone) {
  expect_as_on_the_processor<double>({96, 40}, 1e-1, 4, 0);
  expect_as_on_the_processor<double>({96, 40}, 1e-9, 1.25, 0);
  expect_as_on_the_processor<double>({96, 40}, 1e-12, 4, 0);
}

// The checks of cuFINUFFT's test: a kernel's mass, the mass of what is spread, and a constant that is interpolated.
TEST(CufinufftNumbers, SpreadOnlyKeepsTheMassAndConstants) {
  Problem<double> one({1000}, 4, 1), p({1000}, 300, 1);
  for (double& x : one.x[0]) x = 0;
  one.c = {1.0, 0.0, 0.0, 0.0};
  ASSERT_EQ(one.run(gpu(), 1, 1e-6, gpu_options(true, 2), one.c, one.f), 0);
  std::complex<double> kernel = 0, mass = 0, strength = 0;
  for (const auto cell : one.f) kernel += cell;
  EXPECT_GT(one.f[500].real(), one.f[501].real()) << "0 is in the middle of the grid";
  EXPECT_NEAR(one.f[499].real(), one.f[501].real(), 1e-6);
  ASSERT_EQ(p.run(gpu(), 1, 1e-6, gpu_options(true, 2), p.c, p.f), 0);
  for (const auto cell : p.f) mass += cell;
  for (const auto value : p.c) strength += value;
  EXPECT_LE(std::abs(mass - kernel * strength), 1e-5 * std::abs(mass));
  std::fill(p.f.begin(), p.f.end(), 1.0);
  ASSERT_EQ(p.run(gpu(), 2, 1e-6, gpu_options(true, 2), p.c, p.f), 0);
  for (const auto value : p.c) EXPECT_LE(std::abs(value - kernel), 1e-5 * std::abs(kernel));
}

TEST(CufinufftNumbers, SpreadOnlyOfAType3AndOfGridsBelowTheWindowIsRefused) {
  Problem<float> p({16}, 5, 1), tiny({3}, 5, 1);
  EXPECT_EQ(p.run(gpu(), 3, 1e-4, gpu_options(true), p.c, p.f), 21);
  EXPECT_EQ(tiny.run(gpu(), 1, 1e-6, gpu_options(true), tiny.c, tiny.f), 21);
}

TEST(CufinufftNumbers, WholeTransformsAreTheirSums) {
  const Problem<double> p({12, 9}, 60, 2);
  std::vector<std::complex<double>> sums(p.f.size());
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t k = 0; k < 12 * 9; ++k)
      for (std::size_t j = 0; j < 60; ++j) {
        const double k0 = static_cast<double>(k % 12) - 6, k1 = static_cast<double>(k / 12) - 4;
        sums[b * 108 + k] += p.c[b * 60 + j] * std::polar(1.0, k0 * p.x[0][j] + k1 * p.x[1][j]);
      }
  auto c = p.c, f = p.f;
  ASSERT_EQ(p.run(gpu(), 1, 1e-7, gpu_options(false), c, f), 0);
  EXPECT_LE(difference(f, sums), 1e-7);
}

// As FINUFFT's test threadsafe_execute does it.
TEST(CufinufftNumbers, ThreadsCanExecuteOnePlanAtOnce) {
  const Problem<double> p({20, 18}, 80, 1);
  const Options options = gpu_options(false);
  auto c = p.c, right = p.f;
  ASSERT_EQ(p.run(gpu(), 1, 1e-7, options, c, right), 0);
  void* plan = nullptr;
  const double* const none = nullptr;
  ASSERT_EQ(gpu().call("cufinufft_makeplan", 1, 2, &p.n[0], 1, 1, 1e-7, &plan, static_cast<const void*>(&options)), 0);
  ASSERT_EQ(gpu().call("cufinufft_setpts", plan, p.m, p.x[0].data(), p.x[1].data(), none, 0, none, none, none), 0);
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      auto values = p.c, modes = p.f, expected = right;
      for (auto& value : values) value *= t;
      for (auto& mode : expected) mode *= t;
      for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(
            gpu().call("cufinufft_execute", plan, static_cast<void*>(values.data()), static_cast<void*>(modes.data())),
            0);
        EXPECT_LE(difference(modes, expected), 1e-12);
      }
    });
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(gpu().call("cufinufft_destroy", plan), 0);
}

}  // namespace
}  // namespace fourtune::test
