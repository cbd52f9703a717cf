// tools/make_pack: lists and drawn problems in, a pack out; interrupted, it goes on. And FOURTUNE_ISA, by which packs
// of narrower instruction sets are made.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "db/pack.h"
#include "tests/support/program.h"

namespace fourtune::test {
namespace {

namespace fs = std::filesystem;

class MakePack : public testing::Test {
 protected:
  MakePack() {
    std::ofstream(folder_ / "list.txt") << "# two\n"
                                        << "fft:type=c2c,n=8,prec=f32\n"
                                        << "nufft:type=1,n=8x8,m=50,prec=f32,tol=1e-2\n";
  }
  Finished make(std::vector<std::string> words,
                const std::vector<std::pair<std::string, std::string>>& environment = {}) {
    words.insert(words.begin(), {FOURTUNE_SOURCE_DIR "/tools/make_pack", "--fourtune", fourtune_program()});
    return run_program(words, folder_, environment);
  }
  std::vector<db::PackPlan> plans() const {
    std::size_t damaged = 0;
    return db::Pack::open(folder_ / "out.pack")->contents(damaged).plans;
  }

  ScratchFolder scratch_;
  fs::path folder_ = scratch_.path();
};

TEST_F(MakePack, TunesListsAndDrawnProblemsAndKeepsTheWinners) {
  const std::vector<std::string> words{"out.pack", "--backend", "cpu",     "--cpu-time", "--problems",
                                       "list.txt", "--drawn",   "fft:3:1", "--seconds",  "2",
                                       "--",       "--licence", "CC0"};
  const Finished first = make(words, {{"FOURTUNE_ISA", "portable"}});
  ASSERT_EQ(first.code, 0) << first.err;
  ASSERT_EQ(plans().size(), 3u) << first.out;
  for (const db::PackPlan& plan : plans()) EXPECT_EQ(plan.environment.isa, "portable");
  EXPECT_EQ(db::Pack::open(folder_ / "out.pack")->manifest().licence, "CC0");
  // The same command goes on with what was measured, here for the best instruction set as well.
  const Finished second = make(words);
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_GE(plans().size(), 3u);
}

TEST_F(MakePack, NamesWhatItCannotDo) {
  const Finished none = make({"out.pack", "--backend", "cpu"});
  EXPECT_NE(none.code, 0);
  EXPECT_NE(none.err.find("no problems; name a file"), std::string::npos) << none.err;
  std::ofstream(folder_ / "bad.txt") << "fft:type=c2c,n=0,prec=f32\n";
  const Finished bad = make({"out.pack", "--backend", "cpu", "--problems", "bad.txt", "--seconds", "1"});
  EXPECT_NE(bad.code, 0);
  EXPECT_NE(bad.err.find("no pack is made"), std::string::npos) << bad.err;
  EXPECT_FALSE(fs::exists(folder_ / "out.pack"));
  for (const char* drawn : {"fft", "fft:x:2", "dft:1:2", "fft:1:2:3"}) {
    const Finished wrong = make({"out.pack", "--backend", "cpu", "--drawn", drawn});
    EXPECT_EQ(wrong.code, 1);
    EXPECT_EQ(wrong.err,
              std::string("error: --drawn ") + drawn + ": it is KIND:SEED:COUNT, such as fft:7:40 or nufft:7:40\n");
  }
  const Finished unread = make({"out.pack", "--problems", "none.txt"});
  EXPECT_EQ(unread.err.find("error: --problems none.txt: "), 0u) << unread.err;
  const Finished missing = make({"out.pack", "--fourtune", "/nowhere/fourtune", "--problems", "list.txt"});
  EXPECT_NE(missing.err.find("/nowhere/fourtune is not there"), std::string::npos) << missing.err;
}

TEST_F(MakePack, AnInstructionSetThatNobodyKnowsIsRefusedByName) {
  const Finished bad =
      run_program({fourtune_program(), "run", "fft:type=c2c,n=8,prec=f32"}, folder_, {{"FOURTUNE_ISA", "avx1024"}});
  EXPECT_NE(bad.code, 0);
  EXPECT_NE(bad.err.find("FOURTUNE_ISA is 'avx1024'; it can be avx512, avx2 or portable"), std::string::npos)
      << bad.err;
  const Finished portable = run_program({fourtune_program(), "doctor"}, folder_, {{"FOURTUNE_ISA", "portable"}});
  EXPECT_NE(portable.out.find("portable code for spreading"), std::string::npos) << portable.out;
}

}  // namespace
}  // namespace fourtune::test
