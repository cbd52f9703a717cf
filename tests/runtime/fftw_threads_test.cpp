// Transforms and the library's threads: how many, fewer than planned, none, and after fork.
#include <fftw3.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cmath>
#include <complex>
#include <functional>
#include <thread>
#include <vector>

#include "base/usable_threads.h"
#include "fourtune/transform.h"
#include "runtime/backends/cpu/base/team.h"

namespace fourtune {
namespace {

using Complex = std::complex<double>;

Options plain(const std::string& plan = {}) {
  Options options;
  options.default_databases = false;
  options.backend = "cpu";
  options.plan = plan;
  return options;
}

// A transform with its arrays. run() returns the result.
class Case {
 public:
  explicit Case(const std::string& token, const Options& options) : transform_(token, options) {
    const Problem& p = transform_.problem();
    const auto modes = static_cast<std::size_t>(p.n[0] * p.n[1] * p.n[2] * p.batch);
    const auto m = static_cast<std::size_t>(p.kind == Kind::nufft ? p.m.value() : 0);
    first_.resize(p.kind == Kind::nufft ? m : modes);
    second_.resize(modes);
    for (std::size_t j = 0; j < first_.size(); ++j) {
      const auto t = static_cast<double>(j);
      first_[j] = {std::cos(5 * t), std::sin(7 * t)};
      if (p.kind == Kind::fft) continue;
      x_.push_back(3.1 * std::sin(1 + t));
      y_.push_back(3.1 * std::cos(2 + 3 * t));
    }
    if (p.kind == Kind::nufft)
      transform_.set_points({static_cast<std::int64_t>(m), x_.data(), p.dim > 1 ? y_.data() : nullptr});
  }
  const std::vector<Complex>& run() {
    std::fill(second_.begin(), second_.end(), Complex(-1, -1));
    transform_.execute(first_.data(), second_.data());
    return second_;
  }
  Transform& transform() { return transform_; }

 private:
  Transform transform_;
  std::vector<double> x_, y_;
  std::vector<Complex> first_, second_;
};

constexpr const char* kNufft = "nufft:type=1,n=40x36,m=30000,prec=f64,tol=1e-8";
constexpr const char* kFft = "fft:type=c2c,n=96x80,prec=f64";
constexpr const char* kThreeThreads = "cpu;threads=3;fft=fftw(rigor=estimate)";

Status status_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::success;
}

// The exit code of a child that returns `work`; a child that hangs is killed.
int exit_code_of(const std::function<int()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(100);
    int code = 9;
    try {
      code = work();
    } catch (...) {
    }
    ::_exit(code);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class Threads : public ::testing::Test {
 protected:
  void TearDown() override { force_usable_threads(0); }
  // ThreadSanitizer does not support threads of forked children.
  static bool forks() {
#if defined(__SANITIZE_THREAD__)
    return false;
#else
    return true;
#endif
  }
};

TEST_F(Threads, AnOptionAboveWhatIsUsableIsAsManyAsAreUsable) {
  force_usable_threads(3);
  for (const auto& [asked, planned] : {std::pair{0, 3}, {1, 1}, {2, 2}, {3, 3}, {4, 3}, {100000, 3}, {INT_MAX, 3}}) {
    Options options = plain();
    options.threads = asked;
    Case c(kNufft, options);
    EXPECT_NE(c.transform().plan().find("threads=" + std::to_string(planned) + ";"), std::string::npos)
        << asked << ": " << c.transform().plan();
    c.run();
  }
  for (const int asked : {-1, INT_MIN}) {
    Options options = plain();
    options.threads = asked;
    EXPECT_EQ(status_of([&] { Case c(kNufft, options); }), Status::invalid_option);
  }
}

TEST_F(Threads, OfAPlanTextAreCheckedAndNeverMoreThanAreUsable) {
  for (const char* bad : {"0", "4097", "100000", "2147483647", "99999999999", "-1"})
    EXPECT_EQ(status_of([&] {
                Case c(kFft, plain(std::string("cpu;threads=") + bad + ";fft=rows(block=16,rigor=estimate)"));
              }),
              Status::invalid_plan)
        << bad;
  force_usable_threads(2);
  Case few(kNufft, plain());
  std::string text = few.transform().plan();
  text.replace(text.find("threads=2"), 9, "threads=4096");
  Case many(kNufft, plain(text));
  EXPECT_EQ(many.transform().plan(), text);
  many.run();
  EXPECT_LT(many.transform().memory().held, 2 * few.transform().memory().held);
}

TEST_F(Threads, ResultsOfAPlanDoNotDependOnHowManyThreadsCome) {
  for (const bool nufft : {true, false}) {
    force_usable_threads(4);
    Options options = plain(nufft ? "" : "cpu;threads=4;fft=fftw(rigor=estimate)");
    options.deterministic = true;
    const char* token = nufft ? kNufft : kFft;
    options.plan = Case(token, options).transform().plan();
    ASSERT_NE(options.plan.find("threads=4"), std::string::npos);
    std::vector<std::vector<Complex>> results;
    for (const int usable : {4, 3, 2, 1}) {
      force_usable_threads(usable);
      Case c(token, options);
      for (int i = 0; i < 3; ++i) results.push_back(c.run());
    }
    for (const auto& result : results) EXPECT_EQ(result, results[0]) << token;
    if (!forks()) continue;
    EXPECT_EQ(exit_code_of([&] {  // no thread can be created
                runtime::cpu::fail_team_threads(EAGAIN);
                force_usable_threads(4);
                Case c(token, options);
                return c.run() == results[0] && runtime::cpu::team_threads_made() == 0 ? 0 : 1;
              }),
              0);
  }
}

TEST_F(Threads, AProcessThatMayMakeNoneWorksAlone) {
  if (!forks() || ::geteuid() != 0) GTEST_SKIP() << "only root may become a user that has no threads left";
  const auto nufft = Case(kNufft, plain()).run();
  EXPECT_EQ(exit_code_of([&] {
              const rlimit one{1, 1};
              if (::setrlimit(RLIMIT_NPROC, &one) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0) return 2;
              force_usable_threads(4);
              Case fft(kFft, plain(kThreeThreads)), points(kNufft, plain());
              fft.run();
              points.run();
              return runtime::cpu::team_threads_made() == 0 ? 0 : 1;
            }),
            0);
}

TEST_F(Threads, AChildGoesOnWithItsParentsTransformsAndMakesItsOwn) {
  if (!forks()) GTEST_SKIP() << "not under ThreadSanitizer";
  force_usable_threads(3);
  Options options = plain();
  options.deterministic = true;
  Case nufft(kNufft, options), fft(kFft, plain(kThreeThreads));
  const auto points = nufft.run();
  const auto modes = fft.run();
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(exit_code_of([&] {
                if (nufft.run() != points || fft.run() != modes) return 1;
                Case own(kNufft, options), other(kFft, plain(kThreeThreads));
                return own.run() == points && other.run() == modes && runtime::cpu::team_threads_made() > 0 ? 0 : 2;
              }),
              0);
    EXPECT_EQ(nufft.run(), points);
  }
}

// As multiprocessing does: forks several children, while other threads of the parent create and execute transforms.
TEST_F(Threads, ChildrenForkedWhileOthersCreateAndExecuteWork) {
  if (!forks()) GTEST_SKIP() << "not under ThreadSanitizer";
  force_usable_threads(2);
  Options options = plain();
  options.deterministic = true;
  const auto points = Case(kNufft, options).run();
  std::atomic<bool> stop{false};
  std::thread executes([&] {
    Case c(kNufft, options);
    while (!stop) c.run();
  });
  std::thread creates([&] {
    for (int n = 60; !stop; n = n < 90 ? n + 1 : 60)
      Case("fft:type=c2c,n=" + std::to_string(n) + "x64,prec=f64", plain(kThreeThreads)).run();
  });
  for (int round = 0; round < 4; ++round) {
    std::vector<pid_t> children;
    for (int i = 0; i < 3; ++i) {
      children.push_back(::fork());
      if (children.back() != 0) continue;
      ::alarm(100);
      try {
        Case own(kNufft, options), other(kFft, plain(kThreeThreads));
        other.run();
        ::_exit(own.run() == points ? 0 : 1);
      } catch (...) {
        ::_exit(9);
      }
    }
    for (const pid_t child : children) {
      int status = 0;
      EXPECT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
  }
  stop = true;
  executes.join();
  creates.join();
}

TEST_F(Threads, AnApplicationsOwnPlansWithThreadsStayRight) {
  force_usable_threads(3);
  Case ours(kFft, plain(kThreeThreads));
  const auto expected = ours.run();
  std::vector<Complex> in(expected.size()), out(expected.size());
  fftw_plan_with_nthreads(4);
  fftw_plan theirs = fftw_plan_dft_2d(80, 96, reinterpret_cast<fftw_complex*>(in.data()),
                                      reinterpret_cast<fftw_complex*>(out.data()), FFTW_FORWARD, FFTW_ESTIMATE);
  for (std::size_t j = 0; j < in.size(); ++j) {
    const auto t = static_cast<double>(j);
    in[j] = {std::cos(5 * t), std::sin(7 * t)};
  }
  fftw_execute(theirs);
  fftw_destroy_plan(theirs);
  fftw_plan_with_nthreads(1);
  double error = 0, norm = 0;
  for (std::size_t j = 0; j < out.size(); ++j) error += std::norm(out[j] - expected[j]), norm += std::norm(expected[j]);
  EXPECT_LT(error, 1e-28 * norm);
}

TEST_F(Threads, TransformsOfManyThreadsShareTheTeam) {
  force_usable_threads(4);
  Options options = plain();
  options.deterministic = true;
  const auto points = Case(kNufft, options).run();
  std::atomic<int> right{0};
  std::vector<std::thread> application;
  for (int t = 0; t < 5; ++t) {
    application.emplace_back([&] {
      Case c(kNufft, options);
      for (int i = 0; i < 4; ++i) right += c.run() == points ? 1 : 0;
    });
  }
  for (auto& thread : application) thread.join();
  EXPECT_EQ(right, 20);
}

}  // namespace
}  // namespace fourtune
