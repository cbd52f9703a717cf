// Sessions that are killed at random instants lose nothing that was acknowledged, and four can write one database at
// once.
//
// This program is also the victim: "session DATABASE SEED FIRST LAST" tunes on the fake backend and, after each
// evaluation, writes the number of evaluations so far to standard output.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "runtime/environment.h"
#include "tests/tuner/fake_backend.h"
#include "tuner/measure/evaluate.h"
#include "tuner/session/session.h"
#include "tuner/worker/pipe.h"

namespace fourtune::tuner {
namespace {

constexpr const char* token = "fft:type=c2c,n=8,prec=f64";
const testing::FakeBackend backend;

int session_main(char** argument) {
  auto store = db::TuningStore::open_for_writing(argument[0], 60000);
  LocalEvaluator evaluator(backend);
  auto options = testing::fake_session({token}, std::stoi(argument[2]), std::stoi(argument[3]));
  options.seed = std::stoull(argument[1]);
  options.strategy = "random";
  options.progress = [](const Progress& progress) {
    std::printf("%zu\n", progress.reused + progress.evaluations);
    std::fflush(stdout);
  };
  const Report report = run_session(options, store, evaluator);
  return report.warnings.empty() && !report.problems[0].winner.empty() ? 0 : 1;
}

struct Process {
  pid_t pid;
  LinePipe output;

  static Process start(const std::string& database, int seed, int first, int last) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    std::vector<std::string> words{"/proc/self/exe",      "session",           database, std::to_string(seed),
                                   std::to_string(first), std::to_string(last)};
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    close(ends[1]);
    return {pid, LinePipe(ends[0], -1)};
  }
  // The last count acknowledged before the output ends or `seconds` have passed.
  int listen(double seconds) {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::duration<double>(seconds);
    int last = 0;
    std::string line;
    while (true) {
      const double left = std::chrono::duration<double>(end - clock::now()).count();
      const auto outcome = output.read(line, std::max(0.0, left));
      if (outcome != LinePipe::Read::line) return last;
      last = std::stoi(line);
    }
  }
  // The first count that is not 0; 0 if there is none.
  int first_count() {
    std::string line;
    int count = 0;
    while (count == 0 && output.read(line, -1) == LinePipe::Read::line) count = std::stoi(line);
    return count;
  }
  int wait() const {
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
  }
};

class Killed : public ::testing::Test {
 protected:
  Killed() : folder_(std::filesystem::temp_directory_path() / ("fourtune_killed_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Killed() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string database() const { return folder_ / "tuning.db"; }
  std::filesystem::path folder_;
};

TEST_F(Killed, NoAcknowledgedRowIsLostAndTheRerunResumes) {
  constexpr int first = 25, last = 124;
  Random random(17);
  std::size_t before = 0;
  for (int round = 0; round < 12; ++round) {
    Process victim = Process::start(database(), round, first, last);
    // Every other one is killed after its first row, however long a slow machine takes for them.
    int acknowledged = round % 2 == 0 ? 0 : victim.first_count();
    acknowledged = std::max(acknowledged, victim.listen(0.02 + 0.25 * random.uniform()));
    kill(victim.pid, SIGKILL);
    acknowledged = std::max(acknowledged, victim.listen(5));  // counts written before it died
    victim.wait();
    if (!std::filesystem::exists(database())) continue;  // killed before its first write
    const auto store = db::TuningStore::open_for_reading(database());
    const auto history = store.history(token, runtime::environment_here(backend.traits()));
    EXPECT_GE(history.size(), static_cast<std::size_t>(acknowledged)) << "an acknowledged row is gone";
    EXPECT_GE(history.size(), before);
    before = history.size();
  }
  EXPECT_GT(before, 0u);
  Process finisher = Process::start(database(), 99, first, last);
  finisher.listen(60);
  EXPECT_EQ(finisher.wait(), 0);
  const auto store = db::TuningStore::open_for_reading(database());
  std::map<std::string, int> searched;
  for (const auto& run : store.runs(token)) searched[run.plan] += run.round == 0;
  EXPECT_GE(searched.size(), static_cast<std::size_t>(last - first + 1));
  for (const auto& [plan, count] : searched) EXPECT_EQ(count, 1) << plan << " was measured again";
  EXPECT_TRUE(store.winner(token, runtime::environment_here(backend.traits())));
}

TEST_F(Killed, FourProcessesTuneIntoOneDatabase) {
  std::vector<Process> processes;
  for (int p = 0; p < 4; ++p) processes.push_back(Process::start(database(), p, 25 + 10 * p, 34 + 10 * p));
  for (auto& process : processes) process.listen(60);
  for (auto& process : processes) EXPECT_EQ(process.wait(), 0);
  const auto store = db::TuningStore::open_for_reading(database());
  EXPECT_EQ(store.sessions().size(), 4u);
  for (const auto& session : store.sessions()) EXPECT_EQ(session.end, db::SessionEnd::complete);
  std::map<std::string, int> searched;
  for (const auto& run : store.runs(token)) searched[run.plan] += run.round == 0 && run.status == db::RunStatus::ok;
  const Problem problem = parse_problem(token);
  for (int block = 25; block < 65; ++block) EXPECT_GE(searched[testing::fake_text(problem, block)], 1) << block;
}

}  // namespace
}  // namespace fourtune::tuner

int main(int argc, char** argv) {
  if (argc == 6 && std::string(argv[1]) == "session") return fourtune::tuner::session_main(argv + 2);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
