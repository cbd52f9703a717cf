// Compiling ahead: what is shared, in which order, and what becomes of errors. And compilers as separate processes.
// This program is also the compiler: "compile" runs compiler_main on a backend that does what a kernel's text says.
#include "tuner/measure/compile_ahead.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tuner/worker/compiler_process.h"

namespace fourtune::tuner {
namespace {

runtime::KernelJob job(const std::string& key, std::size_t weight = 1) {
  runtime::KernelJob one;
  one.key = one.entry = one.text = key;
  one.weight = weight;
  return one;
}

// Whether a thread of this process waits for something.
bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto name_end = text.rfind(") ");
  return name_end != std::string::npos && text[name_end + 2] == 'S';
}

// Plans are lists of kernels: "ab" has the kernels a and b. Kernel x does not compile.
class Ahead : public ::testing::Test {
 protected:
  CompileAhead::ListKernels list = [this](const std::string& plan) {
    if (plan == "!") throw Error(Status::invalid_plan, "no such plan");
    std::vector<runtime::KernelJob> jobs;
    for (const char kernel : plan) jobs.push_back(job(std::string(1, kernel), static_cast<std::size_t>(kernel)));
    ++listed;
    return jobs;
  };
  runtime::KernelImage compile(const runtime::KernelJob& one) {
    ++begun;
    while (held) std::this_thread::yield();
    if (one.text == "x") throw runtime::CompileError("kernel x does not compile", true);
    return {{std::byte{1}}, one.text};
  }
  CompileAhead make(int threads) {
    return CompileAhead(
        threads,
        [this]() -> KernelCompiler {
          ++compilers;
          return [this](const runtime::KernelJob& one) { return compile(one); };
        },
        [this](const runtime::KernelJob& one, const runtime::KernelImage& image) {
          const std::lock_guard lock(mutex);
          EXPECT_EQ(one.text, image.log);
          kept += one.text;
        });
  }
  std::string kept_now() {
    const std::lock_guard lock(mutex);
    return kept;
  }
  std::atomic<bool> held{false};
  std::atomic<int> listed{0}, compilers{0}, begun{0};
  std::mutex mutex;
  std::string kept;
};

TEST_F(Ahead, CompilesAKernelOnceForAllPlansThatHaveIt) {
  CompileAhead ahead = make(3);
  ahead.begin("p", list);
  ahead.add({"abc", "bcd", "abc", "ad"});
  for (const char* plan : {"abc", "bcd", "ad", "never added"}) ahead.finish(plan);
  std::string all = kept_now();
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, "abcd");
  EXPECT_EQ(listed, 3);
  EXPECT_LE(compilers, 3);
}

TEST_F(Ahead, WorksOnTheFirstPlanAndItsSlowestKernelFirst) {
  CompileAhead ahead = make(1);
  ahead.begin("p", list);
  ahead.add({"abc", "d"});
  ahead.finish("abc");
  ahead.finish("d");
  EXPECT_EQ(kept_now(), "cbad");
}

TEST_F(Ahead, APlanThatIsWaitedForComesBeforeAllOthers) {
  held = true;
  CompileAhead ahead = make(1);
  ahead.begin("p", list);
  ahead.add({"a", "b", "c", "d"});
  while (begun == 0) std::this_thread::yield();
  std::thread release([this, waiting = gettid()] {
    while (!sleeps(waiting)) std::this_thread::yield();
    held = false;
  });
  ahead.finish("d");
  release.join();
  for (const char* plan : {"a", "b", "c"}) ahead.finish(plan);
  EXPECT_LE(kept_now().find('d'), 2u) << "after the one in progress, and at most one more: " << kept_now();
}

TEST_F(Ahead, SaysWhichPlansNeedNoWaiting) {
  held = true;
  CompileAhead ahead = make(1);
  ahead.begin("p", list);
  ahead.add({"ab", "c", "x", "!"});
  EXPECT_FALSE(ahead.ready("ab"));
  EXPECT_FALSE(ahead.ready("c"));
  EXPECT_TRUE(ahead.ready("never added"));
  held = false;
  for (const char* plan : {"ab", "c", "x", "!"}) {
    while (!ahead.ready(plan)) std::this_thread::yield();  // what failed is ready, too: nobody has to wait for it
    if (plan[0] == 'x' || plan[0] == '!')
      EXPECT_THROW(ahead.finish(plan), Error);
    else
      ahead.finish(plan);
    EXPECT_TRUE(ahead.ready(plan));
  }
}

TEST_F(Ahead, HandsErrorsToThoseWhoWaitForThemAndGoesOn) {
  CompileAhead ahead = make(2);
  ahead.begin("p", list);
  ahead.add({"ax", "!", "bx", "ab"});
  for (const char* plan : {"ax", "bx"}) {
    try {
      ahead.finish(plan);
      ADD_FAILURE() << plan;
    } catch (const runtime::CompileError& error) {
      EXPECT_TRUE(error.timed_out());
    }
  }
  EXPECT_THROW(ahead.finish("!"), Error);
  EXPECT_NO_THROW(ahead.finish("ab"));
}

TEST_F(Ahead, AnotherProblemForgetsThePlansOfTheOneBefore) {
  CompileAhead ahead = make(2);
  ahead.begin("p", list);
  ahead.add({"ab"});
  ahead.finish("ab");
  ahead.begin("q", [this](const std::string&) { return list("c"); });
  ahead.finish("ab");  // unknown now
  ahead.add({"ab"});
  ahead.finish("ab");
  EXPECT_EQ(kept_now().back(), 'c');
}

TEST_F(Ahead, EndsWithPlansThatNobodyWaitsFor) {
  CompileAhead ahead = make(2);
  ahead.begin("p", list);
  for (int i = 0; i < 200; ++i) ahead.add({std::string(static_cast<std::size_t>(i % 20 + 1), 'a') + "bc"});
}

// ---- compilers as processes

class Scripted final : public runtime::Backend {
 public:
  std::string_view name() const override { return "scripted"; }
  std::unique_ptr<runtime::Executor> bind(const Problem&, const generator::Plan&,
                                          const runtime::ExecutorOptions&) const override {
    return nullptr;
  }
  runtime::KernelImage compile_kernel(const runtime::KernelJob& one, double) const override {
    if (one.text == "crash") std::abort();
    if (one.text == "exit") _exit(7);
    while (one.text == "hang") std::this_thread::sleep_for(std::chrono::seconds(1));
    if (one.text == "slow") throw runtime::CompileError("kernel k took too long", true);
    if (one.text == "bad") throw runtime::CompileError("kernel k does not compile:\nline 2", false);
    if (one.text == "unsupported") throw Error(Status::unsupported, "no such target");
    runtime::KernelImage made;
    for (int i = 0; i < 1000; ++i) made.image.push_back(static_cast<std::byte>(i));
    made.log = one.entry + " " + one.target + " " + std::to_string(one.max_registers) + "\n\xff";
    return made;
  }

 protected:
  DeviceTraits traits_of(int) const override { return {}; }
};

runtime::KernelJob with_text(const std::string& text) {
  runtime::KernelJob one;
  one.entry = "k", one.text = text, one.max_registers = 64, one.target = "sm_90";
  return one;
}

TEST(CompilerProcess, ReturnsWhatTheBackendCompiles) {
  CompilerProcess process({"/proc/self/exe", "compile"});
  for (int again = 0; again < 2; ++again) {
    const runtime::KernelImage made = process.compile(with_text("right"), 30);
    ASSERT_EQ(made.image.size(), 1000u);
    for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(made.image[i], static_cast<std::byte>(i)) << i;
    EXPECT_EQ(made.log.substr(0, 11), "k sm_90 64\n");
  }
}

TEST(CompilerProcess, FailuresKeepTheirKind) {
  CompilerProcess process({"/proc/self/exe", "compile"});
  const auto late = [&](const char* text, double seconds = 30) -> std::string {
    try {
      process.compile(with_text(text), seconds);
    } catch (const runtime::CompileError& error) {
      return (error.timed_out() ? "late: " : "not late: ") + std::string(error.what());
    } catch (const Error& error) {
      return status_name(error.status()) + std::string(": ") + error.what();
    }
    return "none";
  };
  EXPECT_EQ(late("bad"), "not late: kernel k does not compile:\nline 2");
  EXPECT_EQ(late("slow"), "late: kernel k took too long");
  EXPECT_EQ(late("unsupported"), "unsupported: no such target");
  EXPECT_EQ(late("crash").substr(0, 36), "not late: kernel k: the compiler was");
  EXPECT_NE(late("exit").find("exit code 7"), std::string::npos);
  EXPECT_EQ(late("right"), "none") << "a lost compiler is replaced";
}

TEST(CompilerProcess, OneThatHangsIsReplaced) {
  CompilerProcess process({"/proc/self/exe", "compile"});
  EXPECT_THROW(process.compile(with_text("hang"), 0.01), runtime::CompileError);
  EXPECT_NO_THROW(process.compile(with_text("right"), 30));
}

TEST(CompilerProcess, AMissingProgramIsAnError) {
  CompilerProcess process({"/no/such/program"});
  EXPECT_THROW(process.compile(with_text("right"), 30), runtime::CompileError);
}

}  // namespace
}  // namespace fourtune::tuner

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "compile") return fourtune::tuner::compiler_main(fourtune::tuner::Scripted());
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
