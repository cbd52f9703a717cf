// What a call through the drop-in libfinufft costs beside the same call of our interface, on small problems, where it
// shows: executes of one plan, and making a plan with its points and destroying it. One thread; blocks of calls in
// turns, medians of the thread's CPU time, and of the ratio the middle 90 %. Exit code 1: the two results differ.
//
//   dropin_call_cost LIBRARY [BLOCKS]
#include <dlfcn.h>
#include <fourtune/fourtune.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace {

struct Case {
  const char* token;
  int type, dim;
  std::array<std::int64_t, 3> n;
  std::int64_t m, k;
  double tolerance;
};
constexpr Case kDouble[] = {
    {"nufft:type=1,sign=1,n=64,m=100,prec=f64,tol=1e-6", 1, 1, {64, 1, 1}, 100, 0, 1e-6},
    {"nufft:type=2,sign=1,n=64,m=100,prec=f64,tol=1e-6", 2, 1, {64, 1, 1}, 100, 0, 1e-6},
    {"nufft:type=3,sign=1,dim=1,m=100,k=100,prec=f64,tol=1e-6", 3, 1, {1, 1, 1}, 100, 100, 1e-6},
    {"nufft:type=1,sign=1,n=32x32,m=1000,prec=f64,tol=1e-6", 1, 2, {32, 32, 1}, 1000, 0, 1e-6},
    {"nufft:type=2,sign=1,n=8x8x8,m=500,prec=f64,tol=1e-6", 2, 3, {8, 8, 8}, 500, 0, 1e-6},
};
constexpr Case kSingle[] = {
    {"nufft:type=1,sign=1,n=64,m=100,prec=f32,tol=1e-3", 1, 1, {64, 1, 1}, 100, 0, 1e-3},
    {"nufft:type=2,sign=1,n=32x32,m=1000,prec=f32,tol=1e-4", 2, 2, {32, 32, 1}, 1000, 0, 1e-4},
    {"nufft:type=3,sign=1,dim=2,m=500,k=500,prec=f32,tol=1e-4", 3, 2, {1, 1, 1}, 500, 500, 1e-4},
};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "dropin_call_cost: %s\n", what.c_str());
  std::exit(2);
}
void require(bool right, const char* what) {
  if (!right) fail(std::string(what) + " failed: " + fourtune_last_error());
}

double seconds() {
  timespec now;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

// The functions of one precision.
template <class Real>
struct Finufft {
  int (*makeplan)(int, int, const std::int64_t*, int, int, Real, void**, void*);
  int (*setpts)(void*, std::int64_t, const Real*, const Real*, const Real*, std::int64_t, const Real*, const Real*,
                const Real*);
  int (*execute)(void*, std::complex<Real>*, std::complex<Real>*);
  int (*destroy)(void*);
  std::array<std::int32_t, 64> options{};

  explicit Finufft(void* library) {
    const std::string start = sizeof(Real) == 4 ? "finufftf_" : "finufft_";
    const auto load = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(library, (start + name).c_str()));
      if (!function) fail("the library has no " + start + name);
    };
    load(makeplan, "makeplan"), load(setpts, "setpts"), load(execute, "execute"), load(destroy, "destroy");
    void (*defaults)(void*) = nullptr;
    load(defaults, "default_opts");
    defaults(options.data());
    options[5] = 1;  // nthreads
  }
};

// Times of both, in turns.
struct Cost {
  std::vector<double> ours, theirs, ratio;
  void measure(int blocks, int calls, const std::function<void()>& our, const std::function<void()>& their) {
    const auto time = [calls](const std::function<void()>& run) {
      const double start = seconds();
      for (int call = 0; call < calls; ++call) run();
      return (seconds() - start) / calls;
    };
    for (int block = 0; block < blocks; ++block) {
      const bool first = block % 2 == 0;
      double one = first ? time(our) : 0;
      const double other = time(their);
      if (!first) one = time(our);
      ours.push_back(one), theirs.push_back(other), ratio.push_back(other / one);
    }
  }
  void print() const {
    std::printf("  %9.3f %9.3f %7.3f [%.3f, %.3f]", quantile(ours, 0.5) * 1e6, quantile(theirs, 0.5) * 1e6,
                quantile(ratio, 0.5), quantile(ratio, 0.05), quantile(ratio, 0.95));
  }
};

template <class Real>
bool compare(const Case& one, Finufft<Real>& library, int blocks) {
  const auto count = static_cast<std::size_t>(std::max(one.m, one.k));
  std::array<std::vector<Real>, 6> points;
  std::array<const Real*, 6> at{};
  for (std::size_t d = 0; d < 6; ++d) {
    for (std::size_t j = 0; j < count; ++j)
      points[d].push_back(static_cast<Real>((d < 3 ? 3.0 : 30.0) * (2.0 * std::rand() / RAND_MAX - 1)));
    if (d % 3 < static_cast<std::size_t>(one.dim) && (d < 3 || one.type == 3)) at[d] = points[d].data();
  }
  const auto modes = static_cast<std::size_t>(one.type == 3 ? one.k : one.n[0] * one.n[1] * one.n[2]);
  using Values = std::vector<std::complex<Real>>;
  Values strengths(static_cast<std::size_t>(one.m), {Real(0.5), Real(0.25)}),
      coefficients(modes, {Real(1), Real(-0.5)});
  fourtune_options options;
  fourtune_options_init(&options);
  options.threads = 1;
  const auto ours = [&] {
    fourtune_transform* plan = nullptr;
    require(fourtune_create(one.token, &options, &plan) == FOURTUNE_SUCCESS, "fourtune_create");
    require(fourtune_set_points(plan, one.m, at[0], at[1], at[2], one.k, at[3], at[4], at[5]) == FOURTUNE_SUCCESS,
            "fourtune_set_points");
    return plan;
  };
  const auto theirs = [&] {
    void* plan = nullptr;
    require(library.makeplan(one.type, one.dim, one.n.data(), 1, 1, static_cast<Real>(one.tolerance), &plan,
                             library.options.data()) == 0,
            "makeplan");
    require(library.setpts(plan, one.m, at[0], at[1], at[2], one.k, at[3], at[4], at[5]) == 0, "setpts");
    return plan;
  };
  fourtune_transform* const our_plan = ours();
  void* const their_plan = theirs();
  Values our_strengths = strengths, our_coefficients = coefficients;
  require(fourtune_execute(our_plan, our_strengths.data(), our_coefficients.data()) == FOURTUNE_SUCCESS, "execute");
  require(library.execute(their_plan, strengths.data(), coefficients.data()) == 0, "execute");
  const Values &a = one.type == 2 ? our_strengths : our_coefficients, &b = one.type == 2 ? strengths : coefficients;
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference += std::norm(a[i] - b[i]), norm += std::norm(a[i]);
  const bool right = std::sqrt(difference / norm) <= 2 * one.tolerance;

  Cost execute, plan;
  execute.measure(
      blocks, 500, [&] { fourtune_execute(our_plan, strengths.data(), coefficients.data()); },
      [&] { library.execute(their_plan, strengths.data(), coefficients.data()); });
  plan.measure(
      blocks, 20, [&] { fourtune_destroy(ours()); }, [&] { library.destroy(theirs()); });
  std::printf("%-50s", one.token);
  execute.print();
  plan.print();
  std::printf("%s\n", right ? "" : "  RESULTS DIFFER");
  std::fflush(stdout);
  fourtune_destroy(our_plan);
  library.destroy(their_plan);
  return right;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) fail("name the library");
  void* const library = ::dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(::dlerror());
  const int blocks = count > 2 ? std::max(1, std::atoi(words[2])) : 101;
  Finufft<double> in_double(library);
  Finufft<float> in_single(library);
  std::printf("%-50s  execute: ours, drop-in (us), ratio [90 %%]  plan with points: the same\n", "problem");
  bool right = true;
  for (const Case& one : kDouble) right = compare(one, in_double, blocks) && right;
  for (const Case& one : kSingle) right = compare(one, in_single, blocks) && right;
  return right ? 0 : 1;
}
