// Standard output and error that are closed, or on a full disk.
#include "tools/common/standard_files.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/tools/command_line.h"

namespace fourtune::test {
namespace {

class StandardFiles : public CommandLine {
 protected:
  // The program with these words of the shell.
  Finished run_by_shell(const std::string& words) {
    return run_program({"/bin/bash", "-c", "exec '" + fourtune_program() + "' " + words}, folder.path(),
                       {{"FOURTUNE_DB", (folder / "own.db").string()}});
  }
};

const std::string kTune = "tune fft:type=c2c,n=12,prec=f64 --seconds 0 --threads 1 --cpu-time ";

TEST_F(StandardFiles, ALogThatCannotBeWrittenDoesNotEndTuning) {
  for (const std::string log : {"2>/dev/full", "2>&-"}) {
    const Finished tuned = run_by_shell(kTune + log);
    EXPECT_EQ(tuned.code, 0) << log;
    EXPECT_NE(tuned.out.find("n=12"), std::string::npos) << log << ": " << tuned.out;
    EXPECT_NE(run({"show"}).out.find("n=12"), std::string::npos) << log;
  }
}

TEST_F(StandardFiles, ErrorsThatCannotBePrintedKeepTheirExitCode) {
  file("own.db", "no pack");
  for (const std::string log : {"2>/dev/full", "2>&-"}) {
    EXPECT_EQ(run_by_shell("run nosuch " + log).code, 2) << log;
    EXPECT_EQ(run_by_shell("pack verify own.db " + log).code, 1) << log;
  }
}

TEST_F(StandardFiles, OutputThatCannotBeWrittenIsAFailureOfEveryCommand) {
  for (const std::string& words : {kTune, std::string("show "), std::string("--help "), std::string("help tune "),
                                   std::string("--version "), std::string("version ")})
    for (const std::string out : {">/dev/full", ">&-"}) {
      const Finished lost = run_by_shell(words + out);
      EXPECT_EQ(lost.code, 1) << words << out;
      EXPECT_NE(lost.err.find("output could not be written"), std::string::npos) << words << out << ": " << lost.err;
    }
  EXPECT_NE(run({"show"}).out.find("n=12"), std::string::npos) << "what was tuned is kept";
}

TEST_F(StandardFiles, TablesThatWereAskedForAndCannotBeWrittenAreAFailure) {
  const Finished hunted = run({"soak", "--count", "1", "--seed", "7", "--megabytes", "1", "--csv", "/dev/full"});
  EXPECT_EQ(hunted.code, 1);
  EXPECT_NE(hunted.out.find("1 problems"), std::string::npos) << hunted.out;
  EXPECT_NE(hunted.err.find("/dev/full: cannot be written"), std::string::npos) << hunted.err;
}

// Else it would get their texts, too.
TEST_F(StandardFiles, NoFileGetsTheNumberOfAClosedOne) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int file : {0, 1, 2}) ::close(file);
    tools::occupy_standard_files();
    char letter = 'x';
    const bool right = ::open("/dev/null", O_RDONLY) > 2 && ::read(0, &letter, 1) == 0 && ::write(1, &letter, 1) < 0 &&
                       ::write(2, &letter, 1) < 0;
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace fourtune::test
