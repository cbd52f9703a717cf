// A machine with a GPU and no compiler, simulated by a driver that takes any kernel and only counts: what has its
// kernels in a trusted pack or in the user's store runs, and everything else says what to install.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/known_devices.h"
#include "db/kernel_store.h"
#include "db/lookup.h"
#include "db/pack_writer.h"
#include "db/signature.h"
#include "fourtune/transform.h"
#include "generator/candidates.h"
#include "runtime/backend_table.h"
#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/gpu/listing_queue.h"
#include "runtime/backends/gpu/nufft_executor.h"
#include "runtime/backends/gpu/program_backend.h"
#include "runtime/environment.h"
#include "runtime/neighbour.h"
#include "runtime/resolve.h"
#include "tests/support/program.h"

namespace fourtune::runtime::cuda {
namespace {

// Set before anything looks for the driver, its libraries or a database.
const test::ScratchFolder& folder = *new test::ScratchFolder;
const int chosen = ::setenv("FOURTUNE_CUDA_DRIVER", FOURTUNE_FAKE_CUDA, 1) |
                   ::setenv("FOURTUNE_NVRTC", "/no/such/nvrtc.so", 1) |
                   ::setenv("FOURTUNE_DB", (folder / "user.db").c_str(), 1);

const char* const kToken = "fft:type=c2c,n=60x60,prec=f32";

// The kernels of a plan, with images that the driver takes.
std::vector<db::NamedKernel> kernels_of(const Problem& problem, const generator::Plan& plan, KernelTarget target) {
  const auto program = gpu::generated_programs()(problem, plan, find_backend("cuda").traits(0));
  std::vector<db::NamedKernel> kernels;
  for (const generator::KernelSource& source : program->kernels)
    kernels.push_back(
        {db::kernel_digest({source.entry, source.text, compile_options(source, target), "any", to_text(target)}),
         source.entry,
         to_text(target),
         "any",
         {{std::byte{1}, std::byte{2}}, ""}});
  return kernels;
}

// With the kernels of the plan that the model chooses for the problem.
std::vector<std::byte> pack_of(const char* token, std::string_view key) {
  const Problem problem = parse_problem(token);
  const DeviceTraits traits = find_backend("cuda").traits(0);
  return db::pack_bytes({{"kernels", "1.0", "", "test", "plan texts 1", {}},
                         {},
                         kernels_of(problem, generator::default_plan(problem, traits), traits.compute_capability)},
                        key);
}

// A plan of other kernels than those of the model's plan.
std::string another_plan(const char* token) {
  const Problem problem = parse_problem(token);
  const DeviceTraits traits = find_backend("cuda").traits(0);
  const auto programs = gpu::generated_programs();
  const auto models = programs(problem, generator::default_plan(problem, traits), traits);
  for (const generator::Candidate& candidate : generator::candidates(problem, traits).candidates)
    if (const auto program = programs(problem, candidate.plan, traits))
      if (program->kernels.front() != models->kernels.front()) return generator::to_text(candidate.plan, problem);
  ADD_FAILURE() << "no other plan";
  return {};
}

// With one plan measured on an A100 and the PTX of its kernels.
std::vector<std::byte> foreign_pack(const char* token, const std::string& plan, KernelTarget target,
                                    std::string_view key) {
  const Problem problem = parse_problem(token);
  db::PackPlan one;
  one.verdict.problem = token, one.verdict.plan = plan, one.verdict.winner_ns = 1000;
  one.environment = environment_here(*generator::known_device("a100"));
  const Neighbourhood where = neighbourhood_of(problem);
  one.kin = where.kin, one.size = where.size;
  return db::pack_bytes({{"a100", "1.0", "", "test", "plan texts 1", {}},
                         {one},
                         kernels_of(problem, generator::parse_plan(plan, problem), target)},
                        key);
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
  EXPECT_NE(failure("fft:type=c2c,n=60x48,prec=f32"), "") << "the pack has other kernels";
  // A forced plan takes its kernels from there, too.
  const Problem problem = parse_problem(kToken);
  options_.plan = generator::to_text(generator::default_plan(problem, find_backend("cuda").traits(0)), problem);
  EXPECT_EQ(failure(kToken), "");
}

TEST_F(NoCompilerHere, PtxOfAnEarlierArchitectureRunsWithItsPlan) {
  const db::KeyPair keys = db::make_keys("maker");
  const char* const token = "fft:type=c2c,n=256x256,prec=f64";
  const std::string plan = another_plan(token);
  const auto tried = [&](KernelTarget target, const char* asked) {
    const auto bytes = foreign_pack(token, plan, target, keys.secret_key);
    options_.packs = {{bytes.data(), bytes.size(), "embedded"}};
    return failure(asked);
  };
  EXPECT_NE(tried({80, true}, token), "") << "nobody trusts the pack";
  options_.trusted_keys = {keys.public_key};
  EXPECT_EQ(tried({80, true}, token), "");
  EXPECT_NE(explained_.find("plan: " + plan), std::string::npos) << explained_;
  EXPECT_NE(explained_.find("measured on NVIDIA A100"), std::string::npos) << explained_;
  EXPECT_NE(explained_.find("tuned for another architecture; there is no compiler"), std::string::npos) << explained_;
  EXPECT_EQ(tried({90, true}, token), "") << "PTX of this architecture";
  for (const KernelTarget target : {KernelTarget(80), KernelTarget(100, true)}) {
    const std::string why = tried(target, token);
    EXPECT_NE(why.find("no NVRTC"), std::string::npos) << to_text(target) << ": " << why;
  }
  EXPECT_NE(tried({80, true}, "fft:type=c2c,n=256x128,prec=f64"), "") << "the pack has other kernels";
}

TEST_F(NoCompilerHere, PlansOfOtherArchitecturesServeNobodyElse) {
  const std::string plan = another_plan(kToken);
  const auto bytes = foreign_pack(kToken, plan, {80, true}, {});
  options_.packs = {{bytes.data(), bytes.size(), "embedded"}};
  EXPECT_NE(failure(kToken).find("no NVRTC"), std::string::npos) << "its kernels are not trusted";
  const DeviceTraits traits = find_backend("cuda").traits(0);
  db::PlanSource source;
  source.path = "embedded", source.bytes = bytes;
  const db::Lookup lookup = db::Lookup::load({}, std::span(&source, 1));
  const Problem problem = parse_problem(kToken);
  EXPECT_EQ(resolve(problem, traits, &lookup, {}).source, Source::model);
  const auto foreign = resolve_foreign(problem, traits, lookup);
  ASSERT_TRUE(foreign);
  EXPECT_EQ(generator::to_text(foreign->plan, problem), plan);
  const Refusal refused{plan, "no"};
  EXPECT_FALSE(resolve_foreign(problem, traits, lookup, std::span(&refused, 1)));
  EXPECT_FALSE(resolve_foreign(parse_problem("fft:type=c2c,n=60x61,prec=f32"), traits, lookup));
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

// Their kernels are others, which packs that were made for usual transforms lack.
TEST_F(NoCompilerHere, ExactPointsGiveWayToKernelsThatAreThere) {
  const char* const token = "nufft:type=1,n=30x28,m=1000,prec=f64,tol=1e-3";
  const Problem problem = parse_problem(token);
  const DeviceTraits traits = find_backend("cuda").traits(0);
  options_.exact_points = true;
  EXPECT_NE(failure(token).find("no NVRTC"), std::string::npos);
  std::vector<generator::KernelSource> kernels;
  gpu::make_gpu_nufft_executor(problem, generator::default_plan(problem, traits), {},
                               gpu::make_listing_queue(traits, kernels));
  ASSERT_FALSE(kernels.empty());
  {
    db::KernelStore store(folder / "user.db");
    for (const generator::KernelSource& source : kernels)
      EXPECT_TRUE(store.put({source.entry, source.text, compile_options(source, traits.compute_capability),
                             "nvrtc 99.0", "sm_" + std::to_string(traits.compute_capability)},
                            {{std::byte{1}}, ""}))
          << store.why();
  }
  EXPECT_EQ(failure(token), "");
  EXPECT_NE(explained_.find("points: not exact"), std::string::npos) << explained_;
  options_.exact_points = false;
  EXPECT_EQ(failure(token), "");
  EXPECT_EQ(explained_.find("points: not exact"), std::string::npos) << explained_;
}

}  // namespace
}  // namespace fourtune::runtime::cuda
