// Compiled kernels survive the process, damaged ones are never returned, and the size of the store stays bounded.
#include "db/kernel_store.h"

#include <signal.h>

#include <atomic>
#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "db/digest.h"
#include "db/store_file.h"
#include "tests/db/support.h"

namespace fourtune::db::testing {
namespace {

KernelOrigin origin_of(const std::string& text) {
  return {"entry", text, {"-arch=sm_90", "-std=c++17"}, "nvrtc 13.0", "sm_90"};
}

// Bytes that cannot be compressed, so that sizes are known.
StoredKernel kernel_of(unsigned seed, std::size_t bytes = 5000) {
  std::mt19937 random(seed);
  StoredKernel kernel;
  for (std::size_t i = 0; i < bytes; ++i) kernel.image.push_back(static_cast<std::byte>(random()));
  kernel.log = "ptxas info    : Used " + std::to_string(seed) + " registers";
  return kernel;
}

TEST(Digest, IsSha256) {
  // FIPS 180-2, appendix B.1.
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_NE(sha256({"ab", "c"}), sha256({"a", "bc"}));
  EXPECT_NE(sha256({"ab", ""}), sha256({"ab"}));
}

TEST(KernelDigest, IsOfTextOptionsAndTargetButNotOfTheCompiler) {
  const KernelOrigin base = origin_of("text");
  std::set<std::string> digests{kernel_digest(base)};
  const auto add = [&](auto change) {
    KernelOrigin other = base;
    change(other);
    digests.insert(kernel_digest(other));
  };
  add([](KernelOrigin& o) { o.entry = "entry2"; });
  add([](KernelOrigin& o) { o.text += " "; });
  add([](KernelOrigin& o) { o.options.push_back("-G"); });
  add([](KernelOrigin& o) { o.options = {"-arch=sm_90-std=c++17"}; });
  add([](KernelOrigin& o) { o.options = {"-std=c++17", "-arch=sm_90"}; });
  add([](KernelOrigin& o) { o.target = "sm_80"; });
  EXPECT_EQ(digests.size(), 7u);
  add([](KernelOrigin& o) { o.compiler = "nvrtc 13.1"; });
  add([](KernelOrigin& o) { o.compiler = ""; });
  EXPECT_EQ(digests.size(), 7u);
  EXPECT_EQ(digests.begin()->size(), 64u);
}

TEST(KernelStore, GivesBackWhatWasPutAlsoToALaterProcess) {
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  {
    KernelStore store(path);
    EXPECT_FALSE(store.find(origin_of("a")));
    EXPECT_TRUE(store.put(origin_of("a"), kernel_of(1)));
    EXPECT_EQ(store.find(origin_of("a")), kernel_of(1));
  }
  const int code = wait_for(start_child([&] {
    KernelStore store(path);
    return store.find(origin_of("a")) == kernel_of(1) && !store.find(origin_of("b")) ? 0 : 1;
  }));
  EXPECT_EQ(code, 0);
}

TEST(KernelStore, WhatIsPutLaterIsFoundAtOnceAndInTheDatabaseAfterAFlush) {
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  KernelStore store(path), other(path);
  EXPECT_TRUE(store.flush()) << "nothing to write";
  EXPECT_FALSE(fs::exists(path));
  for (unsigned i = 0; i < 3; ++i) store.put_later(origin_of(std::to_string(i)), kernel_of(i));
  store.put_later(origin_of("empty"), {});
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(store.find(origin_of(std::to_string(i))), kernel_of(i));
  EXPECT_FALSE(store.find(origin_of("empty")));
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(store.flush());
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(other.find(origin_of(std::to_string(i))), kernel_of(i));
  EXPECT_EQ(store.size().kernels, 3);
  store.put_later(origin_of("1"), kernel_of(7));
  EXPECT_TRUE(store.flush());
  EXPECT_EQ(other.find(origin_of("1")), kernel_of(7));
  EXPECT_EQ(store.size().kernels, 3);
}

TEST(KernelStore, WhatCannotBeFlushedStaysInMemory) {
  for (const fs::path& path : {fs::path(), fs::path("/proc/nowhere/tuning.db")}) {
    KernelStore store(path);
    store.put_later(origin_of("a"), kernel_of(1));
    store.put_later(origin_of("b"), kernel_of(2));
    EXPECT_FALSE(store.flush());
    EXPECT_EQ(store.find(origin_of("a")), kernel_of(1)) << path;
    EXPECT_EQ(store.find(origin_of("b")), kernel_of(2)) << path;
    EXPECT_TRUE(store.flush()) << "nothing is left to write";
  }
}

TEST(KernelStore, AFlushOfMoreThanTheLimitKeepsTheLastOnes) {
  const TempFolder folder;
  KernelStore store(folder / "tuning.db", 12000);
  for (unsigned i = 0; i < 5; ++i) store.put_later(origin_of(std::to_string(i)), kernel_of(i));
  EXPECT_TRUE(store.flush());
  EXPECT_LE(store.size().bytes, 12000);
  EXPECT_EQ(store.size().kernels, 2);
  EXPECT_TRUE(store.find(origin_of("3")) && store.find(origin_of("4")));
}

TEST(KernelStore, TheSecondProcessCompilesNothing) {
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  const auto use = [&] {  // returns the number of compilations
    int compiled = 0;
    KernelStore store(path);
    for (unsigned i = 0; i < 5; ++i)
      EXPECT_EQ(store.get(origin_of(std::to_string(i)), [&] { return ++compiled, kernel_of(i); }), kernel_of(i));
    return compiled;
  };
  EXPECT_EQ(wait_for(start_child(use)), 5);
  EXPECT_EQ(wait_for(start_child(use)), 0);
}

TEST(KernelStore, NotesUsesWithoutWritingAtEveryOne) {
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  const auto used = [&] {
    return Database::open(path, OpenMode::read, 100).integer("SELECT max(used_ms) FROM kernel");
  };
  const auto now = [] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  KernelStore(path).put(origin_of("a"), kernel_of(1));
  KernelStore(path).put(origin_of("b"), kernel_of(2));
  // Last used a minute less than a day ago: the entry stays. A minute more: this use is recorded, but no other
  // kernel's.
  constexpr std::int64_t minute = 60'000, day = 24 * 60 * minute;
  for (const std::int64_t ago : {day - minute, day + minute, 2 * day, 400 * day}) {
    const std::int64_t begin = now(), last = begin - ago;
    raw_sql(path, "UPDATE kernel SET used_ms = " + std::to_string(last));
    EXPECT_TRUE(KernelStore(path).find(origin_of("a")));
    if (ago < day) {
      EXPECT_EQ(used(), last) << ago;
    } else {
      EXPECT_GE(used(), begin) << ago;
      EXPECT_LE(used(), now()) << ago;
    }
    EXPECT_EQ(Database::open(path, OpenMode::read, 100).integer("SELECT min(used_ms) FROM kernel"), last) << ago;
  }
}

TEST(KernelStore, StaysWithinItsLimitAndDropsWhatWasUsedLongestAgo) {
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  KernelStore store(path, 21000);  // four kernels of 5000 incompressible bytes
  for (unsigned i = 0; i < 4; ++i) EXPECT_TRUE(store.put(origin_of(std::to_string(i)), kernel_of(i)));
  EXPECT_EQ(store.size().kernels, 4);
  raw_sql(path, "UPDATE kernel SET used_ms = 1000 + id; UPDATE kernel SET used_ms = 5000 WHERE id = 1");
  EXPECT_TRUE(store.put(origin_of("new"), kernel_of(9)));
  EXPECT_LE(store.size().bytes, 21000);
  EXPECT_TRUE(store.find(origin_of("0"))) << "used last";
  EXPECT_FALSE(store.find(origin_of("1"))) << "used longest ago";
  EXPECT_TRUE(store.find(origin_of("new")));
  EXPECT_FALSE(store.put(origin_of("huge"), kernel_of(1, 30000)));
  EXPECT_FALSE(KernelStore(path).put(origin_of("above every limit"), kernel_of(1, 8 << 20)));
  EXPECT_EQ(store.size().kernels, 4);
}

TEST(KernelStore, CompressesWhatCanBe) {
  const TempFolder folder;
  KernelStore store(folder / "tuning.db");
  StoredKernel zeros;
  zeros.image.resize(1 << 20);
  zeros.log = std::string("cut at its\0 NUL", 15);
  EXPECT_TRUE(store.put(origin_of("zeros"), zeros));
  EXPECT_LT(store.size().bytes, 10000);
  zeros.log = "cut at its";
  EXPECT_EQ(store.find(origin_of("zeros")), zeros);
}

TEST(KernelStore, ADamagedRowIsDroppedAndMadeAgain) {
  for (const char* damage : {
           "UPDATE kernel SET image = CAST(zeroblob(length(image)) AS BLOB)",
           "UPDATE kernel SET image = substr(image, 1, length(image) - 1)",
           "UPDATE kernel SET image = CAST(image || x'00' AS BLOB)",
           "UPDATE kernel SET bytes = bytes + 1",
           "UPDATE kernel SET bytes = 4611686018427387904",
           "UPDATE kernel SET checksum = replace(checksum, substr(checksum, 1, 1), 'z')",
           // The whole row of another kernel under this digest.
           ("UPDATE kernel SET (image, bytes, checksum) = (SELECT image, bytes, checksum FROM kernel k WHERE k.id = 2)"
            " WHERE id = 1"),
       }) {
    const TempFolder folder;
    const fs::path path = folder / "tuning.db";
    {
      KernelStore store(path);
      store.put(origin_of("a"), kernel_of(1));
      store.put(origin_of("b"), kernel_of(2));
    }
    raw_sql(path, damage);
    KernelStore store(path);
    EXPECT_FALSE(store.find(origin_of("a"))) << damage;
    EXPECT_EQ(Database::open(path, OpenMode::read, 100).integer("SELECT count(*) FROM kernel WHERE id = 1"), 0)
        << damage;
    EXPECT_EQ(store.get(origin_of("a"), [] { return kernel_of(1); }), kernel_of(1));
    EXPECT_EQ(store.find(origin_of("a")), kernel_of(1)) << damage;
  }
}

TEST(KernelStore, WorksWithoutADatabaseAndSaysWhy) {
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  write_bytes(path, "this is no database at all, and long enough to be looked at by somebody who wonders what it is");
  KernelStore store(path);
  int compiled = 0;
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(store.get(origin_of("a"), [&] { return ++compiled, kernel_of(1); }), kernel_of(1));
  EXPECT_EQ(compiled, 1) << "kept in memory";
  EXPECT_NE(store.why().find("not a SQLite file"), std::string::npos) << store.why();
  KernelStore nowhere("");
  EXPECT_FALSE(nowhere.put(origin_of("a"), kernel_of(1))) << "not in a database";
  EXPECT_EQ(nowhere.find(origin_of("a")), kernel_of(1));
  EXPECT_FALSE(nowhere.find(origin_of("b")));
  // Memory has the limit that the database would have.
  KernelStore small("", 2 * static_cast<std::int64_t>(kernel_of(1).image.size()));
  for (const char* text : {"a", "b", "c"}) small.put(origin_of(text), kernel_of(1));
  EXPECT_TRUE(small.find(origin_of("b")));
  EXPECT_FALSE(small.find(origin_of("c")));
}

TEST(KernelStore, IsMadeBesideThreadsThatLookForKernels) {
  const TempFolder folder;
  const fs::path path = folder / "data" / "tuning.db";
  KernelStore store(path);
  store.put_later(origin_of("a"), kernel_of(1));
  std::atomic<int> wrong = 0;
  {
    std::jthread looking([&] {
      for (int i = 0; i < 50; ++i) wrong += store.find(origin_of("a")) != kernel_of(1) || store.find(origin_of("b"));
    });
    store.open_for_flush();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(fs::exists(path));
  EXPECT_EQ(store.size().kernels, 0);
  EXPECT_TRUE(store.flush()) << store.why();
  EXPECT_EQ(KernelStore(path).find(origin_of("a")), kernel_of(1));
}

TEST(KernelStore, IsNotMadeWhereNothingCanBeKept) {
  const TempFolder folder;
  write_bytes(folder / "file", "not a folder");
  for (const fs::path& path : {fs::path(), folder / "file" / "tuning.db"}) {
    KernelStore store(path);
    store.open_for_flush();
    store.put_later(origin_of("a"), kernel_of(1));
    EXPECT_FALSE(store.flush());
    EXPECT_EQ(store.find(origin_of("a")), kernel_of(1)) << "kept in memory";
  }
}

TEST(KernelStore, ListsWhatItHas) {
  const TempFolder folder;
  KernelStore store(folder / "tuning.db");
  EXPECT_TRUE(store.all().empty());
  store.put(origin_of("a"), kernel_of(1));
  store.put(origin_of("b"), kernel_of(2));
  const auto all = store.all();
  ASSERT_EQ(all.size(), 2u);
  for (const NamedKernel& one : all) {
    const bool is_a = one.digest == kernel_digest(origin_of("a"));
    EXPECT_EQ(one.kernel, kernel_of(is_a ? 1 : 2));
    EXPECT_EQ(one.entry, origin_of("a").entry);
    EXPECT_EQ(one.target, origin_of("a").target);
    EXPECT_EQ(one.compiler, origin_of("a").compiler);
  }
}

TEST(KernelStore, InAReadOnlyFolderIsReadAndNotWritten) {
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  KernelStore(path).put(origin_of("a"), kernel_of(1));
  fs::permissions(folder.path(), fs::perms(0555));
  const int code = run_unprivileged([&] {
    KernelStore store(path);
    if (store.find(origin_of("a")) != kernel_of(1)) return 1;
    if (store.put(origin_of("b"), kernel_of(2))) return 2;
    return store.why().empty() ? 3 : 0;
  });
  EXPECT_EQ(code, 0);
}

TEST(KernelStore, ManyProcessesAndThreadsShareIt) {
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  std::vector<pid_t> children;
  for (unsigned child = 0; child < 4; ++child)
    children.push_back(start_child([&path, child] {
      KernelStore store(path, 60000);  // smaller than all kernels together: eviction runs during reads
      std::atomic<int> wrong = 0;
      std::vector<std::thread> threads;
      for (unsigned t = 0; t < 2; ++t)
        threads.emplace_back([&, t] {
          for (unsigned i = 0; i < 12; ++i) {
            const unsigned which = (i * 7 + child * 3 + t) % 16;
            if (store.get(origin_of(std::to_string(which)), [&] { return kernel_of(which); }) != kernel_of(which))
              ++wrong;
          }
        });
      for (std::thread& thread : threads) thread.join();
      return wrong.load();
    }));
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  KernelStore store(path, 60000);
  EXPECT_GT(store.size().kernels, 5);
  EXPECT_LE(store.size().bytes, 60000);
  EXPECT_EQ(Database::open(path, OpenMode::read, 100).text("PRAGMA quick_check(1)"), "ok");
}

TEST(KernelStore, AKilledWriterLeavesAWholeDatabase) {
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  KernelStore(path).put(origin_of("first"), kernel_of(1));
  for (int trial = 0; trial < 5; ++trial) {
    const pid_t child = start_child([&] {
      KernelStore store(path);
      for (unsigned i = 0;; ++i) store.put(origin_of(std::to_string(i % 50)), kernel_of(i % 50, 20000));
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + 15 * trial));
    ::kill(child, SIGKILL);
    wait_for(child);
    KernelStore store(path);
    EXPECT_EQ(store.find(origin_of("first")), kernel_of(1)) << store.why();
    for (unsigned i = 0; i < 50; ++i) {
      const auto found = store.find(origin_of(std::to_string(i)));
      EXPECT_TRUE(!found || found == kernel_of(i, 20000)) << i;
    }
  }
}

TEST(KernelStore, OldFilesAreUpgradedAndKeepTheirContents) {
  const TempFolder folder;
  const fs::path path = folder / "version1.db";
  raw_sql(path, bytes_of(fs::path(__FILE__).parent_path() / "version1.sql"));
  const std::string before = bytes_of(path);
  KernelStore store(path);
  EXPECT_FALSE(store.find(origin_of("a")));
  EXPECT_EQ(store.why(), "");
  EXPECT_TRUE(bytes_of(path) == before) << "looking changed the file";
  EXPECT_TRUE(store.put(origin_of("a"), kernel_of(1)));
  EXPECT_EQ(store.find(origin_of("a")), kernel_of(1));
  EXPECT_EQ(Database::open(path, OpenMode::read, 100).integer("PRAGMA user_version"), schema_version());
  EXPECT_GE(schema_version(), 3);
  EXPECT_EQ(TuningStore::open_for_reading(path).verdicts().size(), 2u);
}

TEST(KernelStore, FilesOfVersion2AreUpgradedWithTheirRuns) {
  const TempFolder folder;
  const fs::path path = folder / "version2.db";
  raw_sql(path, bytes_of(fs::path(__FILE__).parent_path() / "version1.sql"));
  raw_sql(path, "ALTER TABLE verdict ADD COLUMN withdrawn TEXT CHECK (withdrawn <> ''); PRAGMA user_version = 2");
  EXPECT_EQ(TuningStore::open_for_reading(path).runs(kOtherProblem).at(0).kernels, "");
  KernelStore store(path);
  EXPECT_TRUE(store.put(origin_of("a"), kernel_of(1))) << store.why();
  TuningStore runs = TuningStore::open_for_writing(path);
  EXPECT_EQ(runs.runs(kOtherProblem).size(), 1u);
  runs.record_run(runs.begin_session(sample_session()), sample_run());
  EXPECT_EQ(runs.runs(kProblem).at(0).kernels, sample_run().kernels);
  EXPECT_EQ(store.find(origin_of("a")), kernel_of(1));
}

}  // namespace
}  // namespace fourtune::db::testing
