// Remembering what ran untuned: counted right, bounded, safe between processes, and never harmful to the caller.
#include "runtime/misses.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/random.h"
#include "fourtune/fourtune.h"
#include "fourtune/transform.h"
#include "tests/support/program.h"

namespace fourtune::runtime {
namespace {

namespace fs = std::filesystem;
constexpr const char* kProblem = "fft:type=c2c,n=8,prec=f64";

class Misses : public ::testing::Test {
 protected:
  ~Misses() override { ::unsetenv("FOURTUNE_RECORD_MISSES"); }
  std::string file() const { return (folder_ / "misses").string(); }
  std::vector<Miss> found() const { return read_misses(file()); }
  Options options() const {
    Options options;
    options.default_databases = false;
    options.misses = file();
    return options;
  }
  static void execute(Transform& transform, int times) {
    double in[16] = {1}, out[16];
    for (int i = 0; i < times; ++i) transform.execute(in, out);
  }

  test::ScratchFolder folder_;
};

TEST_F(Misses, CountTransformsAndExecutesOfWhatRunsUntuned) {
  for (int times : {3, 4}) {
    Transform transform(kProblem, options());
    execute(transform, times);
  }
  EXPECT_EQ(found(), (std::vector<Miss>{{"cpu", kProblem, 2, 7}}));
  struct stat status {};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(Misses, AreWrittenWhenThePlanIsChosenAndNotByExecute) {
  Transform transform(kProblem, options());
  EXPECT_EQ(found(), (std::vector<Miss>{{"cpu", kProblem, 1, 0}})) << "a program may end without ending it";
  const auto before = fs::last_write_time(file());
  const auto size = fs::file_size(file());
  execute(transform, 1000);
  EXPECT_EQ(fs::last_write_time(file()), before);
  EXPECT_EQ(fs::file_size(file()), size);
}

TEST_F(Misses, NeedPermissionAndAForcedPlanIsNone) {
  Options silent = options();
  silent.misses.clear();
  { Transform transform(kProblem, silent); }
  EXPECT_FALSE(fs::exists(file()));
  Options forced = options();
  forced.plan = Transform(kProblem, silent).plan();
  { Transform transform(kProblem, forced); }
  EXPECT_FALSE(fs::exists(file()));
  ::setenv("FOURTUNE_RECORD_MISSES", file().c_str(), 1);
  { Transform transform(kProblem, silent); }
  EXPECT_EQ(found().size(), 1u);
}

TEST_F(Misses, OfPointsAreThoseOfTheirNumberWhichChanges) {
  constexpr const char* token = "nufft:type=1,n=8,prec=f64,tol=1e-6";
  {
    Transform transform(token, options());
    EXPECT_FALSE(fs::exists(file())) << "no plan is chosen yet";
    const double x[] = {0.5, 1, 2};
    double values[6] = {1}, modes[16];
    for (const std::int64_t m : {3, 3, 2}) {
      transform.set_points({m, x});
      transform.execute(values, modes);
    }
  }
  EXPECT_EQ(found(), (std::vector<Miss>{{"cpu", "nufft:type=1,n=8,m=2,prec=f64,tol=1e-6", 1, 1},
                                        {"cpu", "nufft:type=1,n=8,m=3,prec=f64,tol=1e-6", 1, 2}}));
}

TEST_F(Misses, AreAnOptionOfTheCInterface) {
  fourtune_options options;
  ASSERT_EQ(fourtune_options_init(&options), 0);
  const char* none = nullptr;
  options.databases = &none;
  const std::string path = file();
  options.misses = path.c_str();
  fourtune_transform* transform = nullptr;
  ASSERT_EQ(fourtune_create(kProblem, &options, &transform), 0);
  fourtune_destroy(transform);
  EXPECT_EQ(found(), (std::vector<Miss>{{"cpu", kProblem, 1, 0}}));
}

TEST_F(Misses, AFileThatCannotBeUsedFailsNoCallAndIsLeftAlone) {
  test::write_text(folder_ / "misses", "somebody's own notes\n");
  Transform transform(kProblem, options());
  EXPECT_NE(transform.explain().find("miss: not recorded"), std::string::npos) << transform.explain();
  execute(transform, 2);
  EXPECT_EQ(test::read_text(file()), "somebody's own notes\n");
  EXPECT_THROW(found(), Error);

  fs::remove(file());
  test::write_text(folder_ / "other", "");
  fs::create_symlink(folder_ / "other", file());
  EXPECT_NE(add_miss(file(), {"cpu", kProblem, 1, 1}), "") << "a link is not followed";
  EXPECT_EQ(fs::file_size(folder_ / "other"), 0u);
  fs::remove(file());
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  EXPECT_NE(add_miss(file(), {"cpu", kProblem, 1, 1}), "") << "nobody waits for a pipe";
  EXPECT_NE(add_miss((folder_ / "other/below").string(), {"cpu", kProblem, 1, 1}), "");
  EXPECT_THROW(read_misses((folder_ / "nowhere").string()), Error);
}

TEST_F(Misses, LinesThatMakeNoSenseArePassedOver) {
  ASSERT_EQ(add_miss(file(), {"cpu", "a", 1, 2}), "");
  std::ofstream(file(), std::ios::app)
      << "1 2 cpu\n-1 2 cpu b\n1 x cpu b\n\n1 99999999999999999999 cpu b\n1 2 cpu b c\n5 6 cpu a";
  EXPECT_EQ(found(), (std::vector<Miss>{{"cpu", "a", 1, 2}})) << "the last line was cut off";
  ASSERT_EQ(add_miss(file(), {"cpu", "b", 1, 1}), "");
  EXPECT_EQ(found(), (std::vector<Miss>{{"cpu", "a", 6, 8}, {"cpu", "b", 1, 1}}));
}

TEST_F(Misses, AnyBytesBehindTheFirstLineAreRead) {
  ASSERT_EQ(add_miss(file(), {"cpu", "a", 1, 2}), "");
  const std::string good = test::read_text(file());
  tuner::Random random(3);
  const std::string_view letters("0123456789 -\n\n\0\xff x", 18);
  for (int round = 0; round < 300; ++round) {
    std::string text = good;
    for (std::uint64_t i = 0, size = random.next() % 300; i < size; ++i)
      text += random.next() % 4 ? letters[random.next() % letters.size()] : static_cast<char>(random.next());
    test::write_text(folder_ / "misses", text);
    for (const Miss& miss : found()) {
      EXPECT_GE(miss.transforms, 0);
      EXPECT_GE(miss.executes, 0);
      EXPECT_FALSE(miss.problem.empty());
    }
    ASSERT_EQ(add_miss(file(), {"cpu", "b", 1, 1}), "");
    const auto all = found();
    EXPECT_NE(std::find(all.begin(), all.end(), Miss{"cpu", "b", 1, 1}), all.end()) << text;
  }
}

TEST_F(Misses, TheFileIsBoundedAndKeepsWhatIsUsedMost) {
  for (int i = 0; i < 6000; ++i) ASSERT_EQ(add_miss(file(), {"cpu", "often", 1, 5}), "");
  ASSERT_EQ(add_miss(file(), {"cpu", "dear", 1, 1000}), "");
  for (int i = 0; i < 9000; ++i) {
    ASSERT_EQ(add_miss(file(), {"cpu", "problem-with-a-long-token-" + std::to_string(i), 1, 1}), "");
    ASSERT_LE(fs::file_size(file()), kMostMissBytes + 1000);
  }
  const auto all = found();
  const auto of = [&](const std::string& problem) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const Miss& m) { return m.problem == problem; });
    return at == all.end() ? Miss{} : *at;
  };
  EXPECT_EQ(of("often"), (Miss{"cpu", "often", 6000, 30000}));
  EXPECT_EQ(of("dear"), (Miss{"cpu", "dear", 1, 1000}));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1) << "nothing is left";
}

TEST_F(Misses, ProcessesCountTogetherAlsoWhileTheFileIsShortened) {
  constexpr int processes = 4, each = 1500;
  const std::string token(60, 'x');
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      int failures = 0;
      for (int i = 0; i < each; ++i) failures += !add_miss(file(), {"cpu", token, 1, 2}).empty();
      ::_exit(failures ? 1 : 0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(found(), (std::vector<Miss>{{"cpu", token, processes * each, 2 * processes * each}}));
}

TEST_F(Misses, AProcessThatIsKilledLosesOneLineAtMost) {
  std::int64_t before = 0;
  for (int round = 0; round < 5; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;)
        if (add_miss(file(), {"cpu", std::string(200, 'y'), 1, 1}).empty() && ::write(ends[1], "x", 1) != 1) ::_exit(1);
    }
    ::close(ends[1]);
    char bytes[1 << 16];
    std::int64_t acknowledged = ::read(ends[0], bytes, 1);  // it has begun
    std::this_thread::sleep_for(std::chrono::milliseconds(30 + 10 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (ssize_t got; (got = ::read(ends[0], bytes, sizeof bytes)) > 0;) acknowledged += got;
    ::close(ends[0]);
    ASSERT_GT(acknowledged, 0);
    const auto all = found();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_GE(all[0].executes, before + acknowledged);
    EXPECT_LE(all[0].executes, before + acknowledged + 1);
    before = all[0].executes;
  }
}

}  // namespace
}  // namespace fourtune::runtime
