// `fourtune tune --backend cuda` on a machine without a GPU: NVRTC really compiles the kernels, and a driver that only
// counts "runs" them, so that every result is wrong. Without NVRTC the test is skipped with a message.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "db/kernel_store.h"
#include "db/tuning_store.h"
#include "runtime/backends/cuda/nvrtc_api.h"
#include "tests/support/program.h"

namespace fourtune::test {
namespace {

constexpr const char* kToken = "fft:type=c2c,n=32,prec=f32";

class GpuCommand : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = runtime::cuda::why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  }
  Finished run(std::vector<std::string> words) {
    words.insert(words.begin(), fourtune_program());
    words.insert(words.end(), {"--backend", "cuda"});
    return run_program(words, folder.path(),
                       {{"FOURTUNE_CUDA_DRIVER", FOURTUNE_FAKE_CUDA}, {"FOURTUNE_DB", (folder / "user.db").string()}});
  }
  std::int64_t kernels_in(const char* name) { return db::KernelStore(folder / name).size().kernels; }

  ScratchFolder folder;
};

TEST_F(GpuCommand, TuneKeepsKernelsInTheDatabaseOfItsSession) {
  const Finished tuned = run({"tune", kToken, "--max-evaluations", "6", "--seconds", "60", "--db", "session.db"});
  EXPECT_EQ(tuned.code, 1) << tuned.out << tuned.err;
  EXPECT_NE(tuned.out.find("wrong_result"), std::string::npos) << tuned.out << tuned.err;
  EXPECT_GT(kernels_in("session.db"), 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "user.db"));
  // Without another name they go to the user's database.
  const Finished own = run({"tune", kToken, "--max-evaluations", "2", "--seconds", "60", "--quiet"});
  EXPECT_EQ(own.code, 1) << own.err;
  EXPECT_GT(kernels_in("user.db"), 0);
}

TEST_F(GpuCommand, TuneStoresWhatTheCompilerSaidOfEveryKernel) {
  run({"tune", kToken, "--max-evaluations", "8", "--seconds", "60", "--db", "session.db"});
  const auto runs = db::TuningStore::open_for_reading(folder / "session.db").runs(kToken);
  int told = 0;
  for (const db::Run& one : runs) {
    if (one.plan.find("fft=cufft") != std::string::npos || one.kernels.empty()) continue;
    ++told;
    EXPECT_EQ(one.status, db::RunStatus::wrong_result) << one.plan;
    for (const char* key : {"\"entry\":", "\"registers\":", "\"spill_bytes\":", "\"shared_bytes\":", "\"blocks\":"})
      EXPECT_NE(one.kernels.find(key), std::string::npos) << one.kernels;
  }
  EXPECT_GT(told, 3);
  // The library is always one of the candidates.
  EXPECT_TRUE(std::any_of(runs.begin(), runs.end(), [](const db::Run& one) { return one.plan == "cuda;fft=cufft"; }));
}

}  // namespace
}  // namespace fourtune::test
