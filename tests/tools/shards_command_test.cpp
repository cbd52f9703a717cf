// Campaigns that several processes share: shards, devices, what survives when they are killed, and `fourtune merge`.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "base/random.h"
#include "db/tuning_store.h"
#include "tests/tools/command_line.h"
#include "tools/cli/shards.h"

namespace fourtune::test {
namespace {

const std::vector<std::string> kList{"fft:type=c2c,n=8,prec=f32", "fft:type=c2c,n=9,prec=f32",
                                     "fft:type=c2c,n=12,prec=f32", "fft:type=c2c,n=15,prec=f32"};

class Shards : public CommandLine {
 protected:
  std::filesystem::path path(const std::string& name) const { return folder / name; }
  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }

  std::vector<std::string> tune(const std::vector<std::string>& more, const std::string& database = "my.db") {
    std::vector<std::string> words{"tune"};
    words.insert(words.end(), kList.begin(), kList.end());
    words.insert(words.end(), {"--backend", "emulated", "--seconds", "0", "--quiet", "--db", database});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // Each problem, plan pair that a database has a right measurement of, with the number of times.
  std::map<std::pair<std::string, std::string>, int> measured(const std::string& name) {
    std::map<std::pair<std::string, std::string>, int> pairs;
    const auto store = db::TuningStore::open_for_reading(path(name));
    for (const std::string& problem : kList)
      for (const db::StoredRun& run : store.runs(problem))
        if (run.round == 0 && run.status == db::RunStatus::ok) ++pairs[{problem, run.plan}];
    return pairs;
  }
  // The pairs that traces say were measured, and stored before that was said.
  std::set<std::pair<std::string, std::string>> acknowledged(const std::vector<std::string>& traces) {
    std::set<std::pair<std::string, std::string>> pairs;
    for (const std::string& trace : traces) {
      if (!exists(trace)) continue;
      std::istringstream lines(read_text(path(trace)));
      for (std::string line; std::getline(lines, line);)
        for (const std::string& problem : kList)
          if (const auto plan = line.find("emulated;");
              line.find(problem) != line.npos && plan != line.npos && line.find(",ok,") != line.npos)
            pairs.emplace(problem, line.substr(plan, line.find(line[plan - 1], plan) - plan));
    }
    return pairs;
  }
  // Starts the command in the folder, its output in a file.
  pid_t start(const std::vector<std::string>& words) {
    std::vector<std::string> all{fourtune_program()};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (std::string& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string where = folder.path().string(), output = (folder / "output").string();
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ::dup2(file, 1), ::dup2(file, 2);
    if (::chdir(where.c_str()) == 0) ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  static int wait(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // Ends the command by a signal as soon as its trace has that many lines. Returns its exit code.
  int end_at(pid_t pid, const std::string& trace, int lines, int signal) {
    const auto written = [&] {
      const std::string text = exists(trace) ? read_text(path(trace)) : "";
      return std::count(text.begin(), text.end(), '\n') >= lines;
    };
    for (int i = 0; i < 30000 && !written(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ::kill(pid, signal);
    return wait(pid);
  }
};

TEST_F(Shards, ShareTheProblemsWhateverTheirOrder) {
  std::vector<Problem> problems, reversed;
  for (int n = 2; n < 40; ++n) problems.push_back(parse_problem("fft:type=c2c,n=" + std::to_string(n) + ",prec=f32"));
  reversed.assign(problems.rbegin(), problems.rend());
  std::map<std::string, int> owners;
  for (int i = 1; i <= 4; ++i) {
    const auto share = tools::share_of(problems, {i, 4});
    EXPECT_GE(share.size(), 9u);
    EXPECT_LE(share.size(), 10u);
    for (const Problem& problem : share) EXPECT_TRUE(owners.emplace(to_token(problem), i).second);
    for (const Problem& problem : tools::share_of(reversed, {i, 4})) EXPECT_EQ(owners[to_token(problem)], i);
  }
  EXPECT_EQ(owners.size(), problems.size());
  EXPECT_EQ(to_token(tools::share_of(problems, {1, 1}).front()), to_token(problems.front())) << "their order stays";
}

TEST_F(Shards, TwoProcessesTuneAndTheirShardsMergeInBothOrdersToTheSameBytes) {
  const pid_t first = start(tune({"--shard", "1/2", "--max-evaluations", "3"}));
  const pid_t second = start(tune({"--shard", "2/2", "--max-evaluations", "3"}));
  EXPECT_EQ(wait(first), 0);
  EXPECT_EQ(wait(second), 0);
  EXPECT_FALSE(exists("my.db")) << "nobody has merged yet";
  const std::vector<std::string> shards{"my.shard-1-of-2.db", "my.shard-2-of-2.db"};
  const auto result = run_json({"merge", "a.db", shards[0], shards[1], "--format", "json"});
  EXPECT_EQ(result["sessions"], 2);
  EXPECT_EQ(result["verdicts"], 4);
  EXPECT_EQ(run({"merge", "b.db", shards[1], shards[0]}).code, 0);
  EXPECT_EQ(read_text(path("a.db")), read_text(path("b.db")));
  const Finished shown = run({"show", "--db", "a.db", "--format", "csv", "--runner-ups", "0"});
  EXPECT_EQ(std::count(shown.out.begin(), shown.out.end(), '\n'), 5) << shown.out;

  // A shard begins with what the database knows, so what was measured is not measured again.
  EXPECT_EQ(run({"merge", "my.db", shards[0], shards[1]}).code, 0);
  for (const std::string& shard : shards) std::filesystem::remove(path(shard));
  EXPECT_EQ(run(tune({"--shard", "1/2", "--max-evaluations", "2"})).code, 0);
  EXPECT_GT(measured(shards[0]).size(), measured("a.db").size());
  for (const auto& [pair, count] : measured(shards[0])) EXPECT_EQ(count, 1) << pair.second;
}

TEST_F(Shards, ACampaignThatIsKilledFiveTimesIsResumedAndLosesNothingThatWasSaid) {
  tuner::Random random(5);
  const std::string shard = "my.shard-1-of-1.db";
  std::vector<std::string> traces;
  for (int kill = 0; kill < 5; ++kill) {
    traces.push_back("trace" + std::to_string(kill));
    const pid_t victim = start(tune({"--shard", "1/1", "--trace", traces.back()}));
    EXPECT_EQ(end_at(victim, traces.back(), 3 + static_cast<int>(9 * random.uniform()), SIGKILL), 137)
        << "it ended before it was killed";
    const auto there = measured(shard);
    for (const auto& pair : acknowledged(traces)) EXPECT_TRUE(there.contains(pair)) << pair.first << pair.second;
  }
  ASSERT_GT(acknowledged(traces).size(), 5u);
  EXPECT_EQ(run(tune({"--shard", "1/1", "--max-evaluations", "2"})).code, 0);
  for (const auto& [pair, count] : measured(shard)) EXPECT_EQ(count, 1) << pair.second << " was measured again";
  EXPECT_EQ(run({"merge", "my.db", shard}).code, 0);
  EXPECT_EQ(measured("my.db"), measured(shard));
}

TEST_F(Shards, MergeNamesWhatIsWrongAndLeavesTheOutput) {
  ASSERT_EQ(run(tune({"--max-evaluations", "1"})).code, 0);
  ASSERT_EQ(run({"merge", "out.db", "my.db"}).code, 0);
  ASSERT_EQ(run({"pack", "build", "my.pack", "--from", "my.db"}).code, 0);
  const std::string before = read_text(path("out.db")), whole = read_text(path("my.db"));
  file("cut.db", whole.substr(0, whole.size() - 5000));
  file("words.db", "no database at all");
  expect_refused({"merge", "out.db", "my.db", "cut.db"}, "cut.db' is cut short", 1);
  expect_refused({"merge", "out.db", "words.db", "my.db"}, "words.db' is not a SQLite file", 1);
  expect_refused({"merge", "out.db", "my.db", "nowhere.db"}, "nowhere.db: no such database");
  expect_refused({"merge", "out.db", "my.db", "my.pack"}, "my.pack: is a pack");
  expect_refused({"merge", "my.pack", "my.db"}, "my.pack: is a pack");
  expect_refused({"merge", "out.db", "my.db", "./out.db"}, "is the output and an input");
  EXPECT_EQ(read_text(path("out.db")), before);
  for (const char* part : {"0/2", "3/2", "2", "a/b", "1/2/3", "-1/2", "1/20000"})
    expect_refused(tune({"--shard", part}), "is not a share such as 1/4");
  expect_refused(tune({"--shard", "9/100"}), "no problem is left for it");
}

class Devices : public Shards {
 protected:
  Devices() { ::setenv("FOURTUNE_EMULATED_DEVICES", "2", 1); }
  ~Devices() override { ::unsetenv("FOURTUNE_EMULATED_DEVICES"); }
  void expect_tidy() {
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      EXPECT_EQ(entry.path().filename().string().find("device-"), std::string::npos) << entry.path();
  }
};

TEST_F(Devices, ShareAListAndFillOneDatabase) {
  const Finished done = run(tune({"--devices", "all", "--max-evaluations", "2", "--format", "csv"}));
  EXPECT_EQ(done.code, 0) << done.err;
  std::size_t at = 0;  // the problems are in the order of the command
  for (const std::string& problem : kList) {
    const auto place = done.out.find(problem);
    ASSERT_NE(place, std::string::npos) << done.out;
    EXPECT_GT(place, at);
    at = place;
  }
  const auto store = db::TuningStore::open_for_reading(path("my.db"));
  EXPECT_EQ(store.sessions().size(), 2u);
  EXPECT_EQ(store.winners().size(), kList.size());
  for (const db::StoredSession& session : store.sessions()) EXPECT_EQ(session.end, db::SessionEnd::complete);
  expect_tidy();
  EXPECT_EQ(run(tune({"--devices", "1", "--max-evaluations", "1"})).code, 0);
  for (const auto& [pair, count] : measured("my.db")) EXPECT_EQ(count, 1) << pair.second << " was measured again";
  expect_tidy();
}

TEST_F(Devices, SayHowFarEachIs) {
  std::vector<std::string> words = tune({"--devices", "all", "--max-evaluations", "2"});
  std::erase(words, "--quiet");
  const Finished done = run(words);
  EXPECT_EQ(done.code, 0) << done.err;
  for (const char* part : {"device 0: [1/2] ", "device 0: [2/2] done", "device 1: [1/2] ", "device 1: [2/2] done"})
    EXPECT_NE(done.err.find(part), std::string::npos) << part << " in " << done.err;
}

TEST_F(Devices, CtrlCMergesWhatWasMeasured) {
  const pid_t tuning = start(tune({"--devices", "0,1", "--trace", "trace"}));
  EXPECT_EQ(end_at(tuning, "trace", 8, SIGINT), 130) << read_text(path("output"));
  const auto there = measured("my.db");
  for (const auto& pair : acknowledged({"trace"})) EXPECT_TRUE(there.contains(pair)) << pair.first << pair.second;
  EXPECT_FALSE(acknowledged({"trace"}).empty());
  expect_tidy();
}

TEST_F(Devices, WhatAKilledRunLeftIsUsedByTheNextOneWhateverItsDevices) {
  const pid_t tuning = start(tune({"--devices", "0,1", "--trace", "trace"}));
  EXPECT_EQ(end_at(tuning, "trace", 8, SIGKILL), 137);
  EXPECT_TRUE(exists("my.device-0.db"));
  EXPECT_TRUE(exists("my.device-1.db"));
  const Finished next = run(tune({"--devices", "1", "--max-evaluations", "1"}));
  EXPECT_EQ(next.code, 0) << next.err;
  const auto there = measured("my.db");
  for (const auto& pair : acknowledged({"trace"})) EXPECT_TRUE(there.contains(pair)) << pair.first << pair.second;
  for (const auto& [pair, count] : there) EXPECT_EQ(count, 1) << pair.second << " was measured again";
}

TEST_F(Devices, ARunWithTheSameDeviceAndDatabaseIsRefused) {
  const pid_t tuning = start(tune({"--devices", "0", "--trace", "trace"}));
  for (int i = 0; i < 2000 && !exists("my.device-0.db"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  expect_refused(tune({"--devices", "0,1"}), "device 0 is being tuned by another run", 1);
  ::kill(tuning, SIGKILL);
  wait(tuning);
}

TEST_F(Devices, WrongListsAreRefused) {
  expect_refused(tune({"--devices", "0,2"}), "the emulated backend has 2 devices here, numbers 0 to 1");
  expect_refused(tune({"--devices", "0,0"}), "names device 0 twice");
  expect_refused(tune({"--devices", "both"}), "'both' is no device's number");
  expect_refused(tune({"--devices", "all", "--device", "1"}), "--device");
}

}  // namespace
}  // namespace fourtune::test
