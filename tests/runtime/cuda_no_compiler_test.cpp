// A machine with a GPU and no compiler, simulated by a driver that takes any kernel and only counts: what has its kernels
// in a trusted pack or in the user's store runs, and everything else says what to install.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "db/kernel_store.h"
#include "db/pack_writer.h"
#include "db/signature.h"
#include "fourtune/transform.h"
#include "generator/candidates.h"
#include "runtime/backend_table.h"
#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/gpu/program_backend.h"
#include "tests/support/program.h"

namespace fourtune::runtime::cuda {
namespace {

// Set before anything looks for the driver, its libraries or a database.
const test::ScratchFolder& folder = *new test::ScratchFolder;
const int chosen = ::setenv("FOURTUNE_CUDA_DRIVER", FOURTUNE_FAKE_CUDA, 1) |
                   ::setenv("FOURTUNE_NVRTC", "/no/such/nvrtc.so", 1) |
                   ::setenv("FOURTUNE_DB", (folder / "user.db").c_str(), 1);

const char* const kToken = "fft:type=c2c,n=60x60,prec=f32";

// The kernels of the plan that the model chooses for the problem, with images that the driver takes.
std::vector<db::NamedKernel> kernels_of(const char* token) {
  const Problem problem = parse_problem(token);
  const DeviceTraits traits = find_backend("cuda").traits(0);
  const generator::Plan plan = generator::default_plan(problem, traits);
  const auto program = gpu::generated_programs()(problem, plan, traits);
  std::vector<db::NamedKernel> kernels;
  for (const generator::KernelSource& source : program->kernels) {
    const std::string target = "sm_" + std::to_string(traits.compute_capability);
    kernels.push_back({db::kernel_digest({source.entry, source.text, compile_options(source, traits.compute_capability),
                                          "any", target}),
                       source.entry,
                       target,
                       "any",
                       {{std::byte{1}, std::byte{2}}, ""}});
  }
  return kernels;
}

std::vector<std::byte> pack_of(const char* token, std::string_view key) {
  return db::pack_bytes({{"kernels", "1.0", "", "test", "plan texts 1", {}}, {}, kernels_of(token)}, key);
}

class NoCompilerHere : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(chosen, 0); }
  Options options_ = [] {
    Options options;
    options.backend = "cuda";
    return options;
  }();
  // What creating the transform throws; empty: nothing.
  std::string failure(const char* token) {
    try {
      const Transform transform(token, options_);
      explained_ = transform.explain(), warnings_ = transform.warnings();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::backend_unavailable) << error.what();
      return error.what();
    }
    return {};
  }
  std::string explained_, warnings_;
};

TEST_F(NoCompilerHere, WithoutKernelsAnythingSaysWhatToInstall) {
  EXPECT_NE(failure("nufft:type=1,n=32x32,m=1000,prec=f32,tol=1e-3").find("no NVRTC"), std::string::npos);
  // An fft would be the library's, which is not there either.
  const std::string why = failure(kToken);
  EXPECT_NE(why.find("no NVRTC"), std::string::npos) << why;
  EXPECT_NE(why.find("cuFFT"), std::string::npos) << why;
}

TEST_F(NoCompilerHere, KernelsOfATrustedPackRun) {
  const db::KeyPair keys = db::make_keys("maker");
  const auto bytes = pack_of(kToken, keys.secret_key);
  options_.packs = {{bytes.data(), bytes.size(), "embedded"}};
  EXPECT_NE(failure(kToken), "") << "nobody trusts the pack";
  options_.trusted_keys = {keys.public_key};
  EXPECT_EQ(failure(kToken), "");
  EXPECT_EQ(warnings_, "");
  EXPECT_NE(failure("fft:type=c2c,n=60x61,prec=f32"), "") << "the pack has other kernels";
  // A forced plan takes its kernels from there, too.
  const Problem problem = parse_problem(kToken);
  options_.plan = generator::to_text(generator::default_plan(problem, find_backend("cuda").traits(0)), problem);
  EXPECT_EQ(failure(kToken), "");
}

TEST_F(NoCompilerHere, KernelsOfTheUsersStoreRunWhateverCompilerMadeThem) {
  const char* const token = "fft:type=c2c,n=72x72,prec=f64";
  EXPECT_NE(failure(token), "");
  {
    const Problem problem = parse_problem(token);
    const DeviceTraits traits = find_backend("cuda").traits(0);
    const auto program = gpu::generated_programs()(problem, generator::default_plan(problem, traits), traits);
    db::KernelStore store(folder / "user.db");
    for (const generator::KernelSource& source : program->kernels)
      EXPECT_TRUE(store.put({source.entry, source.text, compile_options(source, traits.compute_capability),
                             "nvrtc 99.0", "sm_" + std::to_string(traits.compute_capability)},
                            {{std::byte{1}}, ""}))
          << store.why();
  }
  EXPECT_EQ(failure(token), "");
}

}  // namespace
}  // namespace fourtune::runtime::cuda
