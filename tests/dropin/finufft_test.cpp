// libfinufft: results against direct sums, and what FINUFFT documents of statuses, options, threads and forks.
#include <sys/wait.h>

#include <array>
#include <cmath>
#include <complex>
#include <fstream>
#include <numbers>
#include <random>
#include <thread>
#include <vector>

#include "tests/dropin/library.h"
#include "tests/support/program.h"

namespace fourtune::test {
namespace {

const Library& finufft() {
  static const Library library("finufft", "");
  return library;
}

template <class T>
const char* prefix() {
  return sizeof(T) == 4 ? "finufftf" : "finufft";
}

// finufft_opts of release 2.6.
struct Opts {
  std::int32_t modeord = -1, spreadinterponly = -1, debug = -1, spread_debug = -1, showwarn = -1, nthreads = -1;
  std::int32_t fftw = -1, spread_sort = -1, spread_kerevalmeth = -1, spread_kerpad = -1;
  double upsampfac = -1;
  std::int32_t spread_thread = -1, maxbatchsize = -1, spread_nthr_atomic = 0, spread_max_sp_size = -1;
  std::int32_t spread_kerformula = -1, allow_eps_too_small = -1;
  void (*fftw_lock_fun)(void*) = nullptr;
  void (*fftw_unlock_fun)(void*) = nullptr;
  void* fftw_lock_data = nullptr;

  Opts() { finufft().call<void>("finufft_default_opts", static_cast<void*>(this)); }
};

template <class T>
struct Problem {
  using Complex = std::complex<T>;
  int type, dim, sign = 1, count = 2;
  std::int64_t m = 60, k = 40;
  std::array<std::int64_t, 3> n{9, 6, 5};
  std::array<std::vector<T>, 3> x, s;
  std::vector<Complex> c, f;

  Problem(int type_, int dim_) : type(type_), dim(dim_) {
    std::mt19937 random(static_cast<unsigned>(10 * type + dim));
    std::uniform_real_distribution<T> anywhere(-7, 7), small(-1, 1);  // points fold
    for (int d = dim; d < 3; ++d) n[d] = 1;
    for (int d = 0; d < dim; ++d) {
      for (int j = 0; j < m; ++j) x[d].push_back(anywhere(random));
      for (int j = 0; j < k; ++j) s[d].push_back(4 * small(random));
    }
    for (int j = 0; j < count * m; ++j) c.emplace_back(small(random), small(random));
    for (int j = 0; j < count * targets(); ++j) f.emplace_back(small(random), small(random));
  }
  std::int64_t targets() const { return type == 3 ? k : n[0] * n[1] * n[2]; }
  const T* source(int d) const { return x[d].empty() ? nullptr : x[d].data(); }
  const T* target(int d) const { return type != 3 || s[d].empty() ? nullptr : s[d].data(); }

  // Frequency of target l in dimension d.
  double frequency(std::int64_t l, int d, bool fft_order) const {
    if (type == 3) return s[d][l];
    for (int e = 0; e < d; ++e) l /= n[e];
    l %= n[d];
    if (!fft_order) return static_cast<double>(l - n[d] / 2);
    return static_cast<double>(l <= (n[d] - 1) / 2 ? l : l - n[d]);
  }
  std::complex<double> factor(std::int64_t j, std::int64_t l, int i, bool fft_order) const {
    double phase = 0;
    for (int d = 0; d < dim; ++d) phase += frequency(l, d, fft_order) * static_cast<double>(x[d][j]);
    return std::polar(1.0, i * phase);
  }
  // The direct sums of all transforms: to the targets, or to the points.
  std::vector<std::complex<double>> sums(bool to_targets, int i, bool fft_order) const {
    const std::int64_t all = targets();
    std::vector<std::complex<double>> out(count * (to_targets ? all : m));
    for (int b = 0; b < count; ++b)
      for (std::int64_t j = 0; j < m; ++j)
        for (std::int64_t l = 0; l < all; ++l) {
          const auto e = factor(j, l, i, fft_order);
          if (to_targets)
            out[b * all + l] += e * std::complex<double>(c[b * m + j]);
          else
            out[b * m + j] += e * std::complex<double>(f[b * all + l]);
        }
    return out;
  }
};

template <class T>
double error(const std::vector<std::complex<T>>& got, const std::vector<std::complex<double>>& right) {
  double difference = 0, norm = 0;
  EXPECT_EQ(got.size(), right.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    difference += std::norm(std::complex<double>(got[i]) - right[i]);
    norm += std::norm(right[i]);
  }
  return std::sqrt(difference / norm);
}

template <class T>
struct Plan {
  void* handle = nullptr;
  int status = 0;
  Plan(const Problem<T>& p, double tol, const void* opts) {
    status = finufft().call(std::string(prefix<T>()) + "_makeplan", p.type, p.dim, p.n.data(), p.sign, p.count,
                            static_cast<T>(tol), &handle, opts);
  }
  ~Plan() {
    if (handle) finufft().call(std::string(prefix<T>()) + "_destroy", handle);
  }
  int set(const Problem<T>& p) const {
    return finufft().call(std::string(prefix<T>()) + "_setpts", handle, p.m, p.source(0), p.source(1), p.source(2), p.k,
                          p.target(0), p.target(1), p.target(2));
  }
  int execute(std::vector<std::complex<T>>& c, std::vector<std::complex<T>>& f, bool adjoint = false) const {
    return finufft().call(std::string(prefix<T>()) + (adjoint ? "_execute_adjoint" : "_execute"), handle,
                          static_cast<void*>(c.data()), static_cast<void*>(f.data()));
  }
};

// Calls finufft2d1 or finufft2d1many, say; `underscore`: the Fortran function, whose arguments are all pointers.
template <class T>
int call_simple(Problem<T>& p, bool many, bool underscore, T tol, const void* opts) {
  const std::string name = prefix<T>() + std::to_string(p.dim) + "d" + std::to_string(p.type) + (many ? "many" : "") +
                           (underscore ? "_" : "");
  int status = -1;
  // Passes an argument by value to C, and its address to Fortran.
  const auto with = [&](auto... numbers_and_arrays) {
    if (!underscore) {
      status = many ? finufft().call(name, p.count, numbers_and_arrays..., opts)
                    : finufft().call(name, numbers_and_arrays..., opts);
      return;
    }
    const auto pass = [](auto& argument) {
      if constexpr (std::is_pointer_v<std::remove_reference_t<decltype(argument)>>)
        return argument;
      else
        return &argument;
    };
    if (many)
      finufft().call<void>(name, &p.count, pass(numbers_and_arrays)..., opts, &status);
    else
      finufft().call<void>(name, pass(numbers_and_arrays)..., opts, &status);
  };
  void *c = p.c.data(), *f = p.f.data();
  const T *x = p.x[0].data(), *y = p.x[1].data(), *z = p.x[2].data();
  const T *s = p.s[0].data(), *t = p.s[1].data(), *u = p.s[2].data();
  const auto [n1, n2, n3] = p.n;
  if (p.dim == 1) p.type == 3 ? with(p.m, x, c, p.sign, tol, p.k, s, f) : with(p.m, x, c, p.sign, tol, n1, f);
  if (p.dim == 2)
    p.type == 3 ? with(p.m, x, y, c, p.sign, tol, p.k, s, t, f) : with(p.m, x, y, c, p.sign, tol, n1, n2, f);
  if (p.dim == 3)
    p.type == 3 ? with(p.m, x, y, z, c, p.sign, tol, p.k, s, t, u, f)
                : with(p.m, x, y, z, c, p.sign, tol, n1, n2, n3, f);
  return status;
}

template <class T>
void expect_right(const std::vector<std::complex<T>>& got, const std::vector<std::complex<double>>& right) {
  EXPECT_LT(error(got, right), sizeof(T) == 4 ? 3e-5 : 3e-10);
}
template <class T>
constexpr T kTol = sizeof(T) == 4 ? T(1e-5) : T(1e-10);

template <class T>
void check_simple(int type, int dim, bool underscore) {
  for (const bool many : {false, true}) {
    Problem<T> p(type, dim);
    if (!many) p.count = 1, p.c.resize(p.m), p.f.resize(p.targets());
    p.sign = many ? -1 : 1;
    const auto right = p.sums(type != 2, p.sign, false);
    ASSERT_EQ(call_simple<T>(p, many, underscore, kTol<T>, nullptr), 0) << type << dim << many;
    expect_right(type == 2 ? p.c : p.f, right);
  }
}

template <class T>
void check_plan(int type, int dim) {
  for (const bool fft_order : {false, true})
    for (const bool adjoint : {false, true}) {
      Problem<T> p(type, dim);
      Opts opts;
      opts.modeord = fft_order;
      p.sign = fft_order ? -5 : 3;  // any number; its sign counts
      const bool to_targets = (type != 2) != adjoint;
      const auto right = p.sums(to_targets, (fft_order ? -1 : 1) * (adjoint ? -1 : 1), fft_order);
      const Plan<T> plan(p, kTol<T>, &opts);
      ASSERT_EQ(plan.status, 0);
      ASSERT_EQ(plan.set(p), 0);
      ASSERT_EQ(plan.execute(p.c, p.f, adjoint), 0);
      expect_right(to_targets ? p.f : p.c, right);
    }
}

TEST(Finufft, EveryCFunctionAgreesWithDirectSums) {
  for (int type = 1; type <= 3; ++type)
    for (int dim = 1; dim <= 3; ++dim) {
      check_simple<float>(type, dim, false);
      check_simple<double>(type, dim, false);
      check_plan<float>(type, dim);
      check_plan<double>(type, dim);
    }
}

TEST(Finufft, EverySimpleFortranFunctionAgreesWithDirectSums) {
  for (int type = 1; type <= 3; ++type)
    for (int dim = 1; dim <= 3; ++dim) {
      check_simple<float>(type, dim, true);
      check_simple<double>(type, dim, true);
    }
}

TEST(Finufft, FortransPlansAgreeWithDirectSums) {
  Problem<double> p(1, 2);
  const auto forward = p.sums(true, 1, false);
  void *plan = nullptr, *opts = nullptr;
  int status = -1;
  const double tol = 1e-10;
  const Library& library = finufft();
  library.call<void>("finufft_makeplan_", &p.type, &p.dim, p.n.data(), &p.sign, &p.count, &tol, &plan, opts, &status);
  ASSERT_EQ(status, 0);
  const double* none = nullptr;
  const std::int64_t* no_targets = nullptr;
  library.call<void>("finufft_setpts_", &plan, &p.m, p.source(0), p.source(1), none, no_targets, none, none, none,
                     &status);
  ASSERT_EQ(status, 0);
  library.call<void>("finufft_execute_", &plan, p.c.data(), p.f.data(), &status);
  ASSERT_EQ(status, 0);
  expect_right(p.f, forward);
  const auto back = p.sums(false, -1, false);
  library.call<void>("finufft_execute_adjoint_", &plan, p.c.data(), p.f.data(), &status);
  ASSERT_EQ(status, 0);
  expect_right(p.c, back);
  library.call<void>("finufft_destroy_", &plan, &status);
  EXPECT_EQ(status, 0);
}

TEST(Finufft, PointsCanBeSetAgain) {
  Problem<double> p(1, 2), q(1, 2);
  q.m = 30;
  for (int d = 0; d < 2; ++d) q.x[d].erase(q.x[d].begin(), q.x[d].begin() + 30);
  q.c.resize(60);
  const Plan<double> plan(p, 1e-10, nullptr);
  for (Problem<double>* one : {&p, &q, &p}) {
    const auto right = one->sums(true, 1, false);
    ASSERT_EQ(plan.set(*one), 0);
    ASSERT_EQ(plan.execute(one->c, one->f), 0);
    expect_right(one->f, right);
  }
}

TEST(Finufft, NothingToDoGivesZeros) {
  for (int type = 1; type <= 3; ++type) {
    Problem<double> no_points(type, 2);
    no_points.m = 0;
    ASSERT_EQ(call_simple<double>(no_points, true, false, 1e-6, nullptr), 0);
    for (const auto& value : no_points.f) EXPECT_TRUE(type == 2 || value == 0.0);
    Problem<double> no_targets(type, 2);
    no_targets.k = 0;
    no_targets.n = {4, 0, 1};
    ASSERT_EQ(call_simple<double>(no_targets, true, false, 1e-6, nullptr), 0);
    for (const auto& value : no_targets.c) EXPECT_EQ(value == 0.0, type == 2);
  }
}

TEST(Finufft, StatusesHaveTheDocumentedNumbers) {
  Problem<double> p(1, 1);
  const auto status_of = [&](auto change, double tol = 1e-6) {
    Problem<double> changed = p;
    Opts opts;
    opts.showwarn = 0;
    change(changed, opts);
    return Plan<double>(changed, tol, &opts).status;
  };
  const auto nothing = [](auto&, auto&) {};
  EXPECT_EQ(status_of(nothing), 0);
  EXPECT_EQ(status_of([](auto& q, auto&) { q.type = 4; }), 10);
  EXPECT_EQ(status_of([](auto& q, auto&) { q.dim = 0; }), 12);
  EXPECT_EQ(status_of([](auto& q, auto&) { q.count = 0; }), 9);
  EXPECT_EQ(status_of([](auto& q, auto&) { q.n[0] = -1; }), 14);
  EXPECT_EQ(status_of([](auto& q, auto&) { q.n[0] = std::int64_t{1} << 61; }), 2);
  EXPECT_EQ(status_of(nothing, 1e-17), 26);
  EXPECT_EQ(status_of(nothing, NAN), 21);
  EXPECT_EQ(status_of([](auto&, auto& o) { o.allow_eps_too_small = 1; }, 0), 0);
  EXPECT_EQ(status_of([](auto&, auto& o) { o.upsampfac = 1; }), 7);
  EXPECT_EQ(status_of([](auto&, auto& o) { o.spread_kerformula = 3; }), 24);
  EXPECT_EQ(status_of([](auto&, auto& o) { o.maxbatchsize = -1; }), 21);
  EXPECT_EQ(status_of([](auto&, auto& o) { o.fftw_lock_fun = [](void*) {}; }), 22);
  EXPECT_EQ(status_of([](auto& q, auto& o) { q.type = 3, o.spreadinterponly = 1; }), 21);
  EXPECT_EQ(status_of([](auto&, auto& o) { o.spreadinterponly = 1, o.spread_kerformula = 8; }), 24);

  const Plan<double> plan(p, 1e-6, nullptr);
  EXPECT_EQ(plan.execute(p.c, p.f), 21);  // no points yet
  EXPECT_EQ(finufft().call("finufftf_execute", plan.handle, p.c.data(), p.f.data()), 16);
  Problem<double> wrong = p;
  wrong.m = -1;
  EXPECT_EQ(plan.set(wrong), 20);
  wrong = p, wrong.x[0][7] = NAN;
  EXPECT_EQ(plan.set(wrong), 4);
  wrong = p, wrong.x[0].clear();
  EXPECT_EQ(plan.set(wrong), 21);
  EXPECT_EQ(plan.set(p), 0);
  EXPECT_EQ(finufft().call("finufft_destroy", static_cast<void*>(nullptr)), 16);
}

TEST(Finufft, AToleranceOutOfReachGivesTheBestAccuracyWhereThatIsAllowed) {
  Opts opts;
  opts.allow_eps_too_small = 1;
  opts.showwarn = 0;
  for (int type = 1; type <= 3; ++type) {
    Problem<double> p(type, 1);
    const auto right = p.sums(type != 2, 1, false);
    const Plan<double> plan(p, 0, &opts);
    ASSERT_EQ(plan.status, 0);
    ASSERT_EQ(plan.set(p), 0) << type;
    ASSERT_EQ(plan.execute(p.c, p.f), 0);
    EXPECT_LT(error(type == 2 ? p.c : p.f, right), 1e-13);
  }
}

TEST(Finufft, AdviceChangesNoResult) {
  Problem<double> p(1, 2);
  p.count = 6;
  p.c.resize(6 * p.m, {0.5, -1});
  p.f.resize(6 * p.targets());
  const auto right = p.sums(true, 1, false);
  Opts opts;
  opts.maxbatchsize = 4;  // 3 at a time
  opts.nthreads = 1;
  opts.upsampfac = 1.25;
  opts.fftw = 0;
  opts.spread_sort = opts.spread_nthr_atomic = 0;
  opts.spread_max_sp_size = 17;
  const Plan<double> plan(p, 1e-10, &opts);
  ASSERT_EQ(plan.set(p), 0);
  ASSERT_EQ(plan.execute(p.c, p.f), 0);
  expect_right(p.f, right);
}

TEST(Finufft, WhatIsIgnoredIsSaidUnlessWarningsAreOff) {
  Problem<double> p(1, 1);
  Opts opts;
  opts.spread_thread = 2;
  for (const int shown : {1, 0}) {
    opts.showwarn = shown;
    ::testing::internal::CaptureStderr();
    { const Plan<double> plan(p, 1e-6, &opts); }
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(said, shown ? "finufft_makeplan warning: opts.spread_thread is deprecated and ignored\n" : "");
  }
}

TEST(Finufft, TheCallersPlannerLockIsHeldAndOpened) {
  static int held, taken;
  held = taken = 0;
  Problem<double> p(1, 2);
  Opts opts;
  opts.fftw_lock_fun = [](void*) { ++held, ++taken; };
  opts.fftw_unlock_fun = [](void*) { --held; };
  {
    const Plan<double> plan(p, 1e-6, &opts);
    EXPECT_EQ(plan.set(p), 0);
    EXPECT_EQ(plan.execute(p.c, p.f, true), 0);
    p.x[0][3] = INFINITY;
    EXPECT_EQ(plan.set(p), 4);
  }
  EXPECT_EQ(held, 0);
  EXPECT_GE(taken, 3);
}

// What a single point at the middle of a grid spreads to.
std::vector<double> kernel_of(int cells, double upsampling) {
  Opts opts;
  opts.spreadinterponly = 1;
  opts.upsampfac = upsampling;
  Problem<double> p(1, 1);
  p.m = p.count = 1;
  p.n = {cells, 1, 1};
  p.x[0] = {0};
  p.c = {1.0};
  p.f.assign(cells, 0.0);
  const Plan<double> plan(p, 1e-6, &opts);
  EXPECT_EQ(plan.set(p), 0);
  EXPECT_EQ(plan.execute(p.c, p.f), 0);
  std::vector<double> kernel;
  for (int j = 0; j < 12; ++j) kernel.push_back(p.f[cells / 2 + j].real());
  return kernel;
}

TEST(Finufft, TheSpreadingKernelIsThatOfTheUpsamplingAskedFor) {
  const auto wide = kernel_of(64, 1.25), narrow = kernel_of(64, 2), usual = kernel_of(200, 0);
  EXPECT_GT(wide[4], 1e-6);
  EXPECT_EQ(narrow[4], 0);
  for (int j = 0; j < 12; ++j) EXPECT_NEAR(usual[j], narrow[j], 1e-6) << "0 is 2, and sizes do not matter";
}

// The spreading kernel is ours, but the grid is FINUFFT's: it begins at -pi.
TEST(Finufft, SpreadOnlyPutsAPointInTheMiddleOfItsKernel) {
  constexpr int kCells = 32, kCell = 9;
  Opts opts;
  opts.spreadinterponly = 1;
  Problem<double> p(1, 1);
  p.m = p.count = 1;
  p.n = {kCells, 1, 1};
  p.x[0] = {-std::numbers::pi + 2 * std::numbers::pi * kCell / kCells};
  p.c = {1.0};
  p.f.assign(kCells, 0.0);
  const Plan<double> spread(p, 1e-6, &opts);
  ASSERT_EQ(spread.set(p), 0);
  ASSERT_EQ(spread.execute(p.c, p.f), 0);
  const auto kernel = p.f;
  for (int j = 1; j < kCells / 2; ++j) {
    EXPECT_NEAR(kernel[(kCell + j) % kCells].real(), kernel[(kCell - j + kCells) % kCells].real(), 1e-6);
    EXPECT_LE(kernel[kCell + j].real(), kernel[kCell + j - 1].real());
  }
  EXPECT_GT(kernel[kCell].real(), 0.1);
  p.type = 2;  // interpolation has the same weights
  for (int j = 0; j < kCells; ++j) p.f[j] = j == kCell + 1 ? 1.0 : 0.0;
  const Plan<double> interpolate(p, 1e-6, &opts);
  ASSERT_EQ(interpolate.set(p), 0);
  ASSERT_EQ(interpolate.execute(p.c, p.f), 0);
  EXPECT_NEAR(p.c[0].real(), kernel[kCell + 1].real(), 1e-12);
}

TEST(Finufft, ThreadsCanExecuteOnePlanAtOnce) {
  Problem<double> p(1, 2);
  const auto right = p.sums(true, 1, false);
  Opts opts;
  opts.nthreads = 1;
  const Plan<double> plan(p, 1e-10, &opts);
  ASSERT_EQ(plan.set(p), 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      auto c = p.c, f = p.f;
      for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(plan.execute(c, f), 0);
        expect_right(f, right);
      }
    });
  for (auto& thread : threads) thread.join();
}

TEST(Finufft, AForkedChildUsesItsParentsPlanAndItsOwn) {
  Problem<double> p(1, 2);
  const auto right = p.sums(true, 1, false);
  const Plan<double> plan(p, 1e-10, nullptr);
  ASSERT_EQ(plan.set(p), 0);
  ASSERT_EQ(plan.execute(p.c, p.f), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    bool good = plan.execute(p.c, p.f) == 0 && error(p.f, right) < 1e-9;
    good = good && call_simple<double>(p, true, false, 1e-10, nullptr) == 0 && error(p.f, right) < 1e-9;
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Finufft, MemoryDoesNotGrowWithPlansMadeAndDestroyed) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer holds freed memory back";
#endif
  Problem<float> p(1, 1);
  const auto make = [&](int times) {
    for (int i = 0; i < times; ++i) {
      p.n[0] = 9 + i % 24;  // more sizes than are kept
      const Plan<float> plan(p, 1e-3, nullptr);
      ASSERT_EQ(plan.status || (i % 64 == 0 && plan.set(p) != 0), false);
    }
  };
  make(5000);
  const long before = resident_pages();
  make(100000);
  EXPECT_LT(resident_pages() - before, 256) << "pages";
}

}  // namespace
}  // namespace fourtune::test
