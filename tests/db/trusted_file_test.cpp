// The files from which machine code may be loaded.
#include "db/trusted_file.h"

#include <sys/stat.h>

#include "db/kernel_store.h"
#include "tests/db/support.h"

namespace fourtune::db::testing {
namespace {

class TrustedFile : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(path.parent_path());
    write_bytes(path, "x");
    mode(path, 0644);
    ASSERT_EQ(why_untrusted(path), "") << "the folder for temporary files is itself writable by others";
  }
  static void mode(const fs::path& at, int bits) { ASSERT_EQ(::chmod(at.c_str(), static_cast<mode_t>(bits)), 0); }
  void expect_untrusted(const std::string& reason) const {
    const std::string why = why_untrusted(path);
    EXPECT_NE(why.find(reason), std::string::npos) << "said: '" << why << "'";
  }

  TempFolder folder;
  fs::path path = folder / "data/tuning.db";
};

TEST_F(TrustedFile, BelongsToTheUserOrRootAndNobodyElseWritesIt) {
  for (const int bits : {0600, 0644, 0444, 0755}) {
    mode(path, bits);
    EXPECT_EQ(why_untrusted(path), "") << bits;
  }
  for (const int bits : {0664, 0646, 0666, 0620, 0602}) {
    mode(path, bits);
    expect_untrusted("tuning.db' can be written by others");
  }
}

TEST_F(TrustedFile, IsInAFolderThatNobodyElseWrites) {
  for (const int bits : {0775, 0757, 0777, 01777}) {  // sticky or not: a journal beside the file is read too
    mode(path.parent_path(), bits);
    expect_untrusted("data' can be written by others");
  }
  mode(path.parent_path(), 0755);
  EXPECT_EQ(why_untrusted(path), "");
}

TEST_F(TrustedFile, IsBelowFoldersThatNobodyElseWritesUnlessTheyAreSticky) {
  mode(folder.path(), 0777);
  expect_untrusted("can be written by others");
  mode(folder.path(), 01777);
  EXPECT_EQ(why_untrusted(path), "");
}

TEST_F(TrustedFile, HasNoJournalThatOthersWrite) {
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    const fs::path beside = path.string() + suffix;
    write_bytes(beside, "x");
    mode(beside, 0644);
    EXPECT_EQ(why_untrusted(path), "");
    mode(beside, 0666);
    expect_untrusted(suffix);
    fs::remove(beside);
  }
}

TEST_F(TrustedFile, IsWhatALinkLeadsTo) {
  fs::create_directory(folder / "open");
  mode(folder / "open", 01777);
  const fs::path link = folder / "open/link.db";
  fs::create_symlink(path, link);
  EXPECT_EQ(why_untrusted(link), "") << "real_path leads past the folder that others write";
  EXPECT_EQ(real_path(link), fs::canonical(path));
  mode(path, 0666);
  EXPECT_NE(why_untrusted(link), "");
  fs::remove(path);
  EXPECT_NE(why_untrusted(link), "") << "a link to nothing";
}

TEST_F(TrustedFile, IsAFile) {
  fs::remove(path);
  fs::create_directory(path);
  expect_untrusted("is not a regular file");
}

TEST_F(TrustedFile, ThatIsNotThereIsJudgedByItsFolders) {
  EXPECT_EQ(why_untrusted(folder / "new/deep/tuning.db"), "");
  fs::remove(path);
  EXPECT_EQ(why_untrusted(path), "");
  mode(path.parent_path(), 0777);
  EXPECT_NE(why_untrusted(path), "");
}

TEST_F(TrustedFile, OfAnotherUserIsNot) {
  if (::getuid() != 0) GTEST_SKIP() << "NOT TESTED: giving files away needs root";
  constexpr unsigned kStranger = 4242;
  EXPECT_EQ(run_unprivileged([&] { return why_untrusted(path).empty() ? 0 : 1; }), 0) << "root's file serves everybody";
  ASSERT_EQ(::chown(path.c_str(), kStranger, kStranger), 0);
  expect_untrusted("belongs to user 4242");
  ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(path.parent_path().c_str(), kStranger, kStranger), 0);
  expect_untrusted("belongs to user 4242");
}

TEST_F(TrustedFile, IsWhatTheStoreMakesWhateverTheUmask) {
  const mode_t before = ::umask(0);
  const fs::path made = folder / "new/deep/tuning.db";
  const KernelOrigin origin{"entry", "text", {}, "nvrtc 13.0", "sm_90"};
  KernelStore store(made);
  const bool kept = store.put(origin, {{std::byte{1}}, "log"});
  ::umask(before);
  EXPECT_TRUE(kept) << store.why();
  EXPECT_EQ(why_untrusted(made), "");
  EXPECT_TRUE(store.find(origin));
}

// The kernel store applies the same rule.
TEST_F(TrustedFile, IsAllThatKernelsAreTakenFrom) {
  fs::remove(path);
  const KernelOrigin origin{"entry", "text", {"-arch=sm_90"}, "nvrtc 13.0", "sm_90"};
  const StoredKernel kernel{{std::byte{1}, std::byte{2}}, "log"};
  KernelStore store(path);
  ASSERT_TRUE(store.put(origin, kernel)) << store.why();
  ASSERT_EQ(store.find(origin), kernel);
  mode(path, 0666);
  EXPECT_EQ(store.find(origin), std::nullopt);
  EXPECT_NE(store.why().find("can be written by others"), std::string::npos) << store.why();
  int compiled = 0;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(store.get(origin, [&] { return ++compiled, kernel; }), kernel);
  EXPECT_EQ(compiled, 1) << "and kept in memory";
  EXPECT_FALSE(store.put(origin, kernel));
  mode(path, 0644);
  EXPECT_EQ(store.find(origin), kernel);
}

}  // namespace
}  // namespace fourtune::db::testing
