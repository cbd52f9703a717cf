// Kernels of packs, which NVRTC compiles here for GPUs that are not in this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "base/known_devices.h"
#include "runtime/backends/cuda/nvrtc_api.h"
#include "runtime/backends/cuda/pack_kernels.h"

namespace fourtune::runtime::cuda {
namespace {

db::PackPlan plan_of(const std::string& token, const std::string& text, const std::string& device = "NVIDIA H200",
                     const std::string& target = "sm_90") {
  db::PackPlan one;
  one.verdict.problem = token, one.verdict.plan = text, one.verdict.winner_ns = 1000;
  one.environment.backend = "cuda", one.environment.device = device, one.environment.isa = target;
  one.environment.traits = db::traits_text(*generator::known_device("h200"));
  one.environment.generator = "plan texts 1";
  one.kin = "any";
  return one;
}

const char* const kFft = "fft:type=c2c,n=60,prec=f32,batch=3";

class PackKernels : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
    const auto& known = nvrtc().architectures;
    if (std::find(known.begin(), known.end(), 90) == known.end()) GTEST_SKIP() << "NOT TESTED: no sm_90";
  }
};

TEST_F(PackKernels, AreOfThePlansOfTheirTargetOnly) {
  const std::vector<db::PackPlan> plans{
      plan_of(kFft, "cuda;fft=plain"),
      plan_of("fft:type=c2c,n=64,prec=f32", "cuda;fft=plain", "NVIDIA A100 80GB", "sm_80"),
      plan_of("fft:type=c2c,n=64,prec=f32", "cuda;fft=cufft"),
      plan_of("fft:type=c2c,n=72,prec=f32", "cuda;no such plan"), plan_of("no problem", "cuda;fft=plain")};
  std::atomic<int> steps{0};
  const CompiledForPack made = compile_for_pack(plans, "sm_90", 2, [&](std::size_t done, std::size_t all) {
    EXPECT_EQ(all, 4u);
    EXPECT_EQ(static_cast<int>(done), ++steps);
  });
  EXPECT_EQ(steps, 4);
  ASSERT_FALSE(made.kernels.empty());
  for (const db::NamedKernel& kernel : made.kernels) {
    EXPECT_EQ(kernel.target, "sm_90");
    EXPECT_FALSE(kernel.kernel.image.empty());
    EXPECT_NE(kernel.compiler.find("nvrtc"), std::string::npos);
  }
  EXPECT_EQ(made.left_out.size(), 2u);
  const CompiledForPack unnamed =
      compile_for_pack(std::vector{plan_of(kFft, "cuda;fft=plain", "NVIDIA H200 NVL")}, "sm_90", 1, {});
  EXPECT_EQ(unnamed.kernels.size(), made.kernels.size()) << "with the numbers of the nearest GPU of this target";
}

TEST_F(PackKernels, PtxIsOfThePlansOfItsArchitecture) {
  const std::vector<db::PackPlan> plans{
      plan_of(kFft, "cuda;fft=plain"),
      plan_of("nufft:type=1,n=200x200,m=1000,prec=f32,tol=1e-2",
              "cuda;window=pswf(sigma=2,width=4,fine=400x400);sort=bins(bin=32x32);spread=points;interp=points;"
              "fft=plain;chunk=1"),
      plan_of("fft:type=c2c,n=64,prec=f32", "cuda;fft=plain", "NVIDIA A100 80GB", "sm_80")};
  const CompiledForPack made = compile_for_pack(plans, "compute_90", 2, {});
  EXPECT_TRUE(made.left_out.empty()) << made.left_out.front();
  EXPECT_EQ(made.kernels.size(), compile_for_pack(plans, "sm_90", 2, {}).kernels.size());
  for (const db::NamedKernel& kernel : made.kernels) {
    EXPECT_EQ(kernel.target, "compute_90");
    const auto& image = kernel.kernel.image;
    ASSERT_FALSE(image.empty());
    EXPECT_EQ(image.back(), std::byte{0}) << "drivers read it as a string";
    const std::string text(reinterpret_cast<const char*>(image.data()));
    EXPECT_EQ(text.size() + 1, image.size());
    EXPECT_NE(text.find(".target sm_90"), text.npos) << text.substr(0, 500);
    EXPECT_NE(text.find(kernel.entry), text.npos);
  }
}

TEST_F(PackKernels, TargetsAreCheckedByName) {
  for (const char* target : {"", "90", "sm_", "sm_9x", "compute", "compute_", "compute_9x", "compute90"}) try {
      compile_for_pack({}, target, 1, {});
      ADD_FAILURE() << target;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument) << target;
    }
  for (const char* target : {"sm_35", "compute_35"}) try {
      compile_for_pack({}, target, 1, {});
      ADD_FAILURE() << target;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::unsupported);
      EXPECT_NE(std::string(error.what()).find("90"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace fourtune::runtime::cuda
