// The progress line of long commands, on a terminal and in a file.
#include "tools/common/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace fourtune::tools {
namespace {

constexpr const char* kErase = "\r\x1b[K";

// A terminal of so many columns that keeps what is written.
class Terminal {
 public:
  explicit Terminal(unsigned short columns) : screen_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    if (::grantpt(screen_) != 0 || ::unlockpt(screen_) != 0) return;
    out_ = std::fopen(::ptsname(screen_), "w");
    const winsize size{24, columns, 0, 0};
    if (out_) ::ioctl(fileno(out_), TIOCSWINSZ, &size);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    if (out_) std::fclose(out_);
    ::close(screen_);
  }
  std::FILE* out() const { return out_; }
  std::string shown() const {
    char text[4096];
    const auto size = ::read(screen_, text, sizeof text);
    return {text, static_cast<std::size_t>(size > 0 ? size : 0)};
  }

 private:
  int screen_;
  std::FILE* out_ = nullptr;
};

TEST(ProgressLine, IsRedrawnOnATerminalWithABar) {
  const Terminal terminal(60);
  ASSERT_NE(terminal.out(), nullptr);
  ProgressLine line(terminal.out());
  line.show(0, 0, "begins");
  EXPECT_EQ(terminal.shown(), std::string(kErase) + "[............] begins");
  line.show(30, 90, "goes on");
  EXPECT_EQ(terminal.shown(), std::string(kErase) + "[###.........] goes on");
  line.show(2, 0, "ends");
  EXPECT_EQ(terminal.shown(), std::string(kErase) + "[############] ends");
  line.show(3, -1, "late");
  EXPECT_EQ(terminal.shown(), std::string(kErase) + "[############] late") << "never longer than itself";
  line.close();
  EXPECT_EQ(terminal.shown(), kErase);
}

TEST(ProgressLine, IsCutBeforeTheLastColumn) {
  const Terminal terminal(30);
  ASSERT_NE(terminal.out(), nullptr);
  ProgressLine line(terminal.out());
  line.show(1, 1, std::string(100, 'x'));
  EXPECT_EQ(terminal.shown(), std::string(kErase) + "[######......] " + std::string(14, 'x'));
}

TEST(ProgressLine, IsALineEveryTenSecondsInAFile) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ProgressLine line(file);
  line.show(9, 1, "too early");
  line.show(10, 1, "ten");
  line.show(19.5, 1, "again too early");
  line.show(20, 1, "twenty");
  tuner::Progress step;
  step.problems = 3, step.elapsed = 21;
  line.update(step);  // a new problem does not wait
  step.elapsed = 22;
  line.update(step);
  line.close();
  std::rewind(file);
  char text[1000];
  const std::string written(text, std::fread(text, 1, sizeof text, file));
  std::fclose(file);
  EXPECT_EQ(written, "ten\ntwenty\n" + progress_text(step) + "\n");
}

TEST(ProgressLine, SaysWhatIsKnown) {
  tuner::Progress step;
  step.problem = 1, step.problems = 5, step.step = tuner::Step::search;
  step.evaluations = 30, step.reused = 4, step.candidates = 120;
  const std::string begin = std::string("[2/5] ") + tuner::to_string(tuner::Step::search) + " 34/120";
  EXPECT_EQ(progress_text(step).rfind(begin, 0), 0u) << progress_text(step);
  EXPECT_EQ(progress_text(step).find("best"), std::string::npos);
  step.best_seconds = 1e-3, step.untuned_seconds = 2.1e-3, step.failures = 2;
  const std::string all = progress_text(step);
  for (const char* part : {"best 1.00 ms", "(2.10x untuned)", "2 failed"})
    EXPECT_NE(all.find(part), std::string::npos) << part << " in " << all;
}

}  // namespace
}  // namespace fourtune::tools
