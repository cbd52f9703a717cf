// The state that several processes, a kill and a full disk leave behind.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "db/database.h"
#include "db/lookup.h"
#include "tests/db/support.h"

namespace fourtune::db::testing {
namespace {

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(int end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }
  bool put(std::int64_t value) { return ::write(ends_[1], &value, sizeof value) == sizeof value; }
  // Returns false at the end, when no writer is left.
  bool get(std::int64_t& value) { return ::read(ends_[0], &value, sizeof value) == sizeof value; }

 private:
  std::array<int, 2> ends_{-1, -1};
};

Run numbered_run(std::int64_t number) {
  Run run = sample_run("plan " + std::to_string(number));
  run.memory_bytes = number;
  run.wisdom = std::string(3000, 'w');  // a row larger than a page is not written at once
  return run;
}

std::multiset<std::int64_t> numbers_in(const fs::path& path) {
  std::multiset<std::int64_t> numbers;
  for (const StoredRun& run : TuningStore::open_for_reading(path).runs(kProblem)) numbers.insert(run.memory_bytes);
  return numbers;
}

class Durability : public ::testing::TestWithParam<Journal> {
 protected:
  TempFolder folder;
  fs::path path = folder / "tuning.db";
};

INSTANTIATE_TEST_SUITE_P(Journals, Durability, ::testing::Values(Journal::write_ahead, Journal::rollback),
                         [](const auto& journal) {
                           return journal.param == Journal::rollback ? "rollback" : "write_ahead";
                         });

TEST_P(Durability, KeepsEveryRowThatWasRecordedBeforeAKill) {
  std::mt19937 random(2);
  std::set<std::int64_t> acknowledged;
  std::int64_t next = 0;
  for (int round = 0; round < 12; ++round) {
    Pipe pipe;
    const pid_t child = start_child([&] {
      auto store = TuningStore::open_for_writing(path, 10000, GetParam());
      const SessionId session = store.begin_session(sample_session());
      for (std::int64_t number = next;; ++number) {
        store.record_run(session, numbered_run(number));
        if (!pipe.put(number)) return 1;
      }
    });
    pipe.close_end(1);
    std::int64_t number = -1;
    ASSERT_TRUE(pipe.get(number)) << "the child ended before its first row";
    acknowledged.insert(number);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
    ::kill(child, SIGKILL);
    EXPECT_EQ(wait_for(child), -SIGKILL);
    while (pipe.get(number)) acknowledged.insert(number);
    next = *acknowledged.rbegin() + 2;  // the row in flight may be there too

    const auto kept = numbers_in(path);
    for (const std::int64_t wanted : acknowledged) ASSERT_EQ(kept.count(wanted), 1u) << "row " << wanted << " is lost";
    EXPECT_LE(kept.size(), acknowledged.size() + static_cast<std::size_t>(round) + 1);
  }
  EXPECT_NO_THROW(TuningStore::open_for_writing(path)) << "the file does not pass the check";
}

TEST_P(Durability, LosesNoRowOfFourProcessesAtOnce) {
  constexpr int kProcesses = 4;
  constexpr int kRows = 30;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(start_child([&] {
      // Reopens now and then: the last connection to close removes the log, which must not disturb the others.
      for (int row = 0; row < kRows;) {
        auto store = TuningStore::open_for_writing(path, 60000, GetParam());
        const SessionId session = store.begin_session(sample_session());
        for (int i = 0; i < 10; ++i, ++row) store.record_run(session, numbered_run(process * kRows + row));
        store.record_verdict(session, sample_verdict());
        Lookup::load(path);
        store.record_verdict(session, sample_verdict());
        store.finish_session(session, SessionEnd::complete);
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  const auto kept = numbers_in(path);
  EXPECT_EQ(kept.size(), std::size_t{kProcesses * kRows});
  for (int number = 0; number < kProcesses * kRows; ++number) EXPECT_EQ(kept.count(number), 1u);
  const auto store = TuningStore::open_for_reading(path);
  EXPECT_EQ(store.environments().size(), 1u);
  EXPECT_EQ(store.verdicts().size(), std::size_t{kProcesses * kRows / 10 * 2});
}

TEST_P(Durability, LetsProcessesCreateTheSameFileAtOnce) {
  for (int round = 0; round < 25; ++round) {
    const fs::path fresh = folder / ("new" + std::to_string(round)) / "tuning.db";
    Pipe gate;
    std::vector<pid_t> children;
    for (int process = 0; process < 4; ++process) {
      children.push_back(start_child([&] {
        gate.close_end(1);
        std::int64_t ignored;
        gate.get(ignored);  // until the parent opens the gate by closing it
        TuningStore::open_for_writing(fresh, 60000, GetParam()).begin_session(sample_session());
        return 0;
      }));
    }
    gate.close_end(1);
    for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
    EXPECT_EQ(TuningStore::open_for_reading(fresh).sessions().size(), 4u);
  }
}

TEST_P(Durability, ServesTwoThreadsWithStoresOfTheirOwn) {
  const auto work = [&](int first) {
    auto store = TuningStore::open_for_writing(path, 60000, GetParam());
    const SessionId session = store.begin_session(sample_session());
    for (int number = first; number < first + 20; ++number) {
      store.record_run(session, numbered_run(number));
      Lookup::load(path);  // opens and closes the file, which the store's locks must survive
    }
  };
  std::thread other(work, 100);
  work(0);
  other.join();
  EXPECT_EQ(numbers_in(path).size(), 40u);
}

TEST_P(Durability, ReportsAWriterThatHoldsTheFileTooLong) {
  auto store = TuningStore::open_for_writing(path, 50, GetParam());
  const SessionId session = store.begin_session(sample_session());
  {
    const Database other = Database::open(path, OpenMode::write, 0);
    const Transaction transaction(other);
    EXPECT_EQ(fault_of([&] { store.record_run(session, sample_run()); }), StoreFault::busy);
    EXPECT_EQ(TuningStore::open_for_reading(path).sessions().size(), 1u) << "readers do not wait";
  }
  store.record_run(session, sample_run());
  EXPECT_EQ(store.runs(kProblem).size(), 1u);
}

// Writes until the store reports that it cannot, then checks what it kept. Returns the fault, or -1 when something is
// wrong.
int fill_up(const fs::path& path, Journal journal, const std::function<void()>& shrink,
            const std::function<void()>& relieve) {
  auto store = TuningStore::open_for_writing(path, 1000, journal);
  const SessionId session = store.begin_session(sample_session());
  shrink();
  std::size_t kept = 0;
  int fault = -1;
  while (fault < 0 && kept < 5000) {
    try {
      store.record_run(session, numbered_run(static_cast<std::int64_t>(kept)));
      ++kept;
    } catch (const StoreError& error) {
      fault = static_cast<int>(error.fault());
    }
  }
  if (kept == 0 || store.runs(kProblem).size() != kept) return 90;
  relieve();
  store.record_run(session, numbered_run(-1));
  return store.runs(kProblem).size() == kept + 1 ? fault : 91;
}

TEST_P(Durability, KeepsEarlierRowsWhenTheFileMayNotGrow) {
  const int end = wait_for(start_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit small{256 * 1024, limit.rlim_max};
    return fill_up(
        path, GetParam(), [&] { ::setrlimit(RLIMIT_FSIZE, &small); }, [&] { ::setrlimit(RLIMIT_FSIZE, &limit); });
  }));
  EXPECT_EQ(end, static_cast<int>(StoreFault::full));
  EXPECT_GT(numbers_in(path).size(), 4u);
}

TEST_P(Durability, KeepsEarlierRowsOnAFullDisk) {
  constexpr int kNotAllowed = 97;
  const int end = wait_for(start_child([&] {
    // A small file system that only this child sees and that disappears with it.
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=400k") != 0) {
      return kNotAllowed;
    }
    const fs::path ballast = folder / "ballast";
    write_bytes(ballast, std::string(100'000, 'b'));
    return fill_up(
        path, GetParam(), [] {}, [&] { fs::remove(ballast); });
  }));
  if (end == kNotAllowed) GTEST_SKIP() << "mounting a small file system needs root";
  EXPECT_EQ(end, static_cast<int>(StoreFault::full));
}

TEST(KilledWriter, IsRolledBackByTheNextReader) {
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  {
    auto store = TuningStore::open_for_writing(path, 1000, Journal::rollback);
    const SessionId session = store.begin_session(sample_session());
    for (int number = 0; number < 20; ++number) store.record_run(session, numbered_run(number));
  }
  // The smallest cache makes SQLite write pages of the open transaction, so the kill leaves a file that is half new.
  const int end = wait_for(start_child([&] {
    const Database database = Database::open(path, OpenMode::write, 1000);
    database.execute(
        "PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE run SET memory_bytes = -1, message = wisdom;"
        "INSERT INTO plan (text) VALUES (hex(zeroblob(50000)))");
    ::raise(SIGKILL);
    return 0;
  }));
  ASSERT_EQ(end, -SIGKILL);
  ASSERT_GT(fs::file_size(path.string() + "-journal"), 0u);
  const auto kept = numbers_in(path);
  EXPECT_EQ(kept.size(), 20u);
  EXPECT_EQ(kept.count(-1), 0u);
}

TEST(KilledWriter, IsReportedToAReaderThatCannotRollBack) {
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  { TuningStore::open_for_writing(path, 1000, Journal::rollback).begin_session(sample_session()); }
  ASSERT_EQ(wait_for(start_child([&] {
              const Database database = Database::open(path, OpenMode::write, 1000);
              database.execute(
                  "PRAGMA cache_size = 1; BEGIN IMMEDIATE;"
                  "INSERT INTO plan (text) VALUES (hex(zeroblob(50000)));"
                  "UPDATE session SET command = hex(zeroblob(50000))");
              ::raise(SIGKILL);
              return 0;
            })),
            -SIGKILL);
  ASSERT_GT(fs::file_size(path.string() + "-journal"), 0u);
  EXPECT_EQ(run_unprivileged([&] {
              return fault_of([&] { TuningStore::open_for_reading(path); }) == StoreFault::unreadable ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace fourtune::db::testing
