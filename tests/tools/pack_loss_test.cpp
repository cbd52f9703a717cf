// tools/pack_loss: problems that borrow a pack's plans are timed beside plans tuned for them, and the pack is told.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "db/pack.h"
#include "tests/support/program.h"

namespace fourtune::test {
namespace {

namespace fs = std::filesystem;

class PackLoss : public testing::Test {
 protected:
  PackLoss() {
    std::ofstream(folder_ / "lent.txt") << "nufft:type=1,n=32x32,m=1000,prec=f32,tol=1e-3\n";
    const Finished made = run_program({tool("make_pack"), "lender.pack", "--fourtune", fourtune_program(), "--backend",
                                       "cpu", "--cpu-time", "--problems", "lent.txt", "--seconds", "2"},
                                      folder_);
    EXPECT_EQ(made.code, 0) << made.err;
  }
  Finished loss(std::vector<std::string> words) {
    words.insert(words.begin(), {tool("pack_loss"), "lender.pack", "--fourtune", fourtune_program(), "--backend", "cpu",
                                 "--cpu-time"});
    return run_program(words, folder_);
  }
  static std::string tool(const char* name) { return std::string(FOURTUNE_SOURCE_DIR "/tools/") + name; }
  std::string text_of(const char* name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  ScratchFolder scratch_;
  fs::path folder_ = scratch_.path();
};

TEST_F(PackLoss, OfANeighbourIsMeasuredAndGoesIntoThePack) {
  // The first borrows from a neighbour, and its tolerance is not spelt as in tables; the second is in the pack; nobody
  // in it is like the third.
  std::ofstream(folder_ / "here.txt") << "nufft:type=1,n=30x32,m=900,prec=f32,tol=1.0e-03\n"
                                      << "nufft:type=1,n=32x32,m=1000,prec=f32,tol=1e-3\n"
                                      << "fft:type=c2c,n=64,prec=f32\n";
  const Finished first = loss({"--problems", "here.txt", "--seconds", "2", "--out", "loss"});
  ASSERT_EQ(first.code, 0) << first.out << first.err;
  EXPECT_NE(first.out.find("1 of 3 problems borrow a plan of lender.pack"), std::string::npos) << first.out;
  const std::string text = text_of("loss");
  ASSERT_TRUE(text.ends_with('\n')) << first.out << first.err;
  const db::Borrowing one = db::parse_borrowing(text.substr(0, text.size() - 1));
  EXPECT_EQ(one.kind, "nufft");
  EXPECT_EQ(one.problems, 1);
  EXPECT_TRUE(one.of_neighbours()) << text;
  EXPECT_EQ(one.speed, one.least);
  const Finished built = run_program(
      {fourtune_program(), "pack", "build", "told.pack", "--from", "lender.pack", "--borrowings", "loss"}, folder_);
  ASSERT_EQ(built.code, 0) << built.err;
  EXPECT_EQ(db::Pack::open(folder_ / "told.pack")->manifest().borrowings, std::vector{one});
}

TEST_F(PackLoss, WithoutBorrowersNothingIsWritten) {
  const Finished none = loss({"--problems", "lent.txt", "--seconds", "1", "--out", "loss"});
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_NE(none.out.find("0 of 1 problems borrow a plan"), std::string::npos) << none.out;
  EXPECT_FALSE(fs::exists(folder_ / "loss"));
  const Finished nothing = loss({});
  EXPECT_NE(nothing.err.find("no problems; name a file"), std::string::npos) << nothing.err;
  const Finished missing = run_program({FOURTUNE_SOURCE_DIR "/tools/pack_loss", "other.pack"}, folder_);
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.err.rfind("error: other.pack: no such file", 0), 0u) << missing.err;
}

}  // namespace
}  // namespace fourtune::test
