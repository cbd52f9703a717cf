// A host with two different GPUs, simulated by a driver that only counts: a transform uses the requested device, and no
// part of it the other one.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/kernel_store.h"
#include "db/tuning_store.h"
#include "fourtune/fourtune.h"
#include "fourtune/transform.h"
#include "generator/candidates.h"
#include "runtime/backend_table.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cuda/nvrtc_api.h"
#include "runtime/device_link.h"
#include "runtime/environment.h"
#include "tests/runtime/transform_support.h"
#include "tests/support/program.h"
#include "tests/support/stored_winner.h"
#include "tuner/measure/evaluate.h"

namespace fourtune::runtime::cuda {
namespace {

// Set before anything uses the driver.
const int chosen =
    ::setenv("FOURTUNE_CUDA_DRIVER", FOURTUNE_FAKE_CUDA, 1) | ::setenv("FOURTUNE_FAKE_GPUS", "h200,rtx4090", 1);

class TwoGpus : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(chosen, 0);
    // The process has one backend, which keeps its first database.
    static const test::ScratchFolder folder;
    kernels_ = folder / "kernels.db";
    ::setenv("FOURTUNE_DB", kernels_.c_str(), 1);
    before_ = usage(0);
  }
  static const Backend& backend() { return find_backend("cuda"); }
  static Options on(int device) {
    Options options;
    options.backend = "cuda";
    options.device = device;
    options.default_databases = false;
    return options;
  }
  static bool no_compiler() {
    const auto none = [](int target) {
      const auto& known = nvrtc().architectures;
      return std::find(known.begin(), known.end(), target) == known.end();
    };
    return !why_no_nvrtc().empty() || none(89) || none(90);
  }
  static int& number(const char* name, int device = 0) {
    static void* const library = ::dlopen(FOURTUNE_FAKE_CUDA, RTLD_NOW);
    return static_cast<int*>(::dlsym(library, name))[device];
  }
  // Counts of everything that a device has had: contexts, arrays, kernels started.
  static std::vector<int> usage(int device) {
    return {number("fake_all_contexts_of", device), number("fake_all_allocations_of", device),
            number("fake_all_launches_of", device)};
  }
  void expect_first_gpu_untouched() const { EXPECT_EQ(usage(0), before_) << "contexts, arrays, kernels of GPU 0"; }
  static std::string text_of(const generator::Plan& plan, const Problem& problem) {
    return generator::to_text(plan, problem);
  }
  // Adds a plan that was tuned on that device.
  static void add_verdict(db::TuningStore& store, int device, const std::string& token, const std::string& plan) {
    test::store_winner(store, environment_here(backend().traits(device)), test::right_run(token, plan));
  }
  std::int64_t kernels_for(const std::string& target) const {
    if (!std::filesystem::exists(kernels_)) return 0;
    const std::string count = "SELECT count(*) FROM kernel WHERE target = '" + target + "'";
    return db::Database::open(kernels_, db::OpenMode::read, 100).integer(count.c_str());
  }

  std::filesystem::path kernels_;

 private:
  std::vector<int> before_;
};

TEST_F(TwoGpus, TraitsAreToldOfEachWithoutAContext) {
  const std::vector<int> other = usage(1);
  EXPECT_EQ(backend().device_count(), 2);
  EXPECT_EQ(backend().traits().name, "Fake H200");
  const DeviceTraits second = backend().traits(1);
  EXPECT_EQ(second.name, "Fake RTX 4090");
  EXPECT_EQ(second.isa, "sm_89");
  EXPECT_EQ(second.multiprocessors, 128);
  EXPECT_EQ(second.cluster_blocks, 1);
  EXPECT_EQ(second.memory_bytes, std::int64_t{24} << 30);
  EXPECT_EQ(backend().traits(0).memory_bytes, std::int64_t{140} << 30);
  expect_first_gpu_untouched();
  EXPECT_EQ(usage(1), other);
}

TEST_F(TwoGpus, ADeviceThatIsNotThereIsRefusedWithTheNumberThatAre) {
  for (const int device : {2, -1, 1 << 30}) {
    const std::function<void()> calls[] = {[&] { backend().traits(device); }, [&] { backend().check_device(device); },
                                           [&] { Transform("fft:type=c2c,n=16,prec=f32", on(device)); }};
    for (const auto& call : calls) {
      const auto [status, words] = failure(call);
      EXPECT_EQ(status, Status::invalid_option);
      EXPECT_NE(words.find("device=" + std::to_string(device)), std::string::npos) << words;
      EXPECT_NE(words.find("2 devices here, numbers 0 to 1"), std::string::npos) << words;
    }
  }
  const auto [status, words] = failure([] { find_backend("cpu").check_device(1); });
  EXPECT_EQ(status, Status::invalid_option);
  EXPECT_NE(words.find("the cpu backend has one device here, number 0"), std::string::npos) << words;
  expect_first_gpu_untouched();
}

TEST_F(TwoGpus, AnUntunedTransformTakesThePlanOfItsOwnDevice) {
  if (no_compiler()) GTEST_SKIP() << "NOT TESTED: no NVRTC for sm_89 and sm_90";
  const Problem problem = parse_problem("nufft:type=2,n=160x160x160,m=1500000,prec=f64,tol=1e-4");
  const std::string first = text_of(generator::default_plan(problem, backend().traits(0)), problem),
                    second = text_of(generator::default_plan(problem, backend().traits(1)), problem);
  ASSERT_NE(first, second) << "this problem shows nothing";
  EXPECT_EQ(Transform(to_token(problem), on(1)).plan(), second);
  expect_first_gpu_untouched();
  EXPECT_EQ(Transform(to_token(problem), on(0)).plan(), first);
}

TEST_F(TwoGpus, ATunedTransformTakesTheRowOfItsOwnDevice) {
  if (no_compiler()) GTEST_SKIP() << "NOT TESTED: no NVRTC for sm_89 and sm_90";
  const char* const token = "fft:type=c2c,n=64,prec=f32";
  const Problem problem = parse_problem(token);
  const std::string untuned = text_of(generator::default_plan(problem, backend().traits(1)), problem);
  std::vector<std::string> plans;  // plans that run on both devices
  for (const auto& candidate : generator::candidates(problem, backend().traits(1)).candidates) {
    const std::string text = text_of(candidate.plan, problem);
    if (text != untuned && text.find("cufft") == text.npos && plans.size() < 2) plans.push_back(text);
  }
  ASSERT_EQ(plans.size(), 2u);
  const test::ScratchFolder folder;
  for (const bool both : {false, true}) {
    const std::filesystem::path path = folder / (both ? "both.db" : "first.db");
    {
      auto store = db::TuningStore::open_for_writing(path);
      add_verdict(store, 0, token, plans[0]);
      if (both) add_verdict(store, 1, token, plans[1]);
    }
    Options options = on(1);
    options.databases = {path.string()};
    const Transform transform(token, options);
    EXPECT_EQ(transform.plan(), both ? plans[1] : untuned) << transform.explain();
    EXPECT_EQ(transform.explain().find("why: verdict") != std::string::npos, both) << transform.explain();
    expect_first_gpu_untouched();
    options.device = 0;
    EXPECT_EQ(Transform(token, options).plan(), plans[0]);
    SetUp();  // starts counting here
  }
}

TEST_F(TwoGpus, ATransformOnTheSecondLeavesNothingOnTheFirst) {
  if (no_compiler()) GTEST_SKIP() << "NOT TESTED: no NVRTC for sm_89 and sm_90";
  const auto memory = backend().memory(1);
  void* arrays[4];
  for (void*& array : arrays) array = memory->allocate(1 << 16);
  const int held = number("fake_allocations_of", 1);
  for (const char* token : {"fft:type=c2c,n=60,prec=f32,batch=3", "fft:type=r2c,n=24x10,prec=f32",
                            "nufft:type=1,n=12x10,m=100,prec=f32,tol=1e-2,batch=2",
                            "nufft:type=2,n=40,prec=f32,tol=1e-2", "nufft:type=3,dim=1,m=100,k=100,prec=f32,tol=1e-2"})
    for (const bool distinct : {false, true}) {
      const Problem problem = parse_problem(token);
      if (distinct && problem.kind == Kind::fft) continue;
      const std::vector<int> before = usage(1);
      {
        Options options = on(1);
        options.distinct_points = distinct;
        options.trust_points = true;
        Transform transform(token, options);
        if (problem.kind == Kind::nufft) {
          if (problem.type == 3) {
            Bounds bounds;
            bounds.high.fill(2);
            transform.set_bounds(bounds);
          }
          Points points;
          points.m = 100, points.x = arrays[0], points.y = problem.dim > 1 ? arrays[1] : nullptr;
          if (problem.type == 3) points.k = 100, points.s = arrays[1];
          transform.set_points(points);
        }
        transform.execute(arrays[2], arrays[3]);
        transform.execute_adjoint(arrays[2], arrays[3]);
      }
      const std::vector<int> after = usage(1);
      EXPECT_GT(after[1], before[1]) << token;
      EXPECT_GT(after[2], before[2]) << token;
      EXPECT_EQ(number("fake_allocations_of", 1), held) << token;
      expect_first_gpu_untouched();
    }
  for (void* array : arrays) memory->release(array);
  EXPECT_EQ(number("fake_contexts_of", 1), 1) << "the backend keeps the one that it works in";
  EXPECT_EQ(number("fake_pushed"), 0);
}

TEST_F(TwoGpus, KernelsAreCompiledForTheirDeviceAndNeedNoContextForThat) {
  if (no_compiler()) GTEST_SKIP() << "NOT TESTED: no NVRTC for sm_89 and sm_90";
  const Problem problem = parse_problem("nufft:type=2,n=18x14,m=90,prec=f32,tol=1e-2");
  const auto plan = generator::default_plan(problem, backend().traits(1));
  const std::int64_t first = kernels_for("sm_90"), second = kernels_for("sm_89");
  const std::vector<int> before = usage(1);
  ExecutorOptions options;
  options.device = 1;
  backend().prepare(problem, plan, options);
  EXPECT_EQ(kernels_for("sm_90"), first);
  EXPECT_GT(kernels_for("sm_89"), second);
  EXPECT_EQ(usage(1), before);
  const auto executor = backend().bind(problem, plan, options);
  for (const KernelReport& kernel : executor->kernels()) EXPECT_FALSE(kernel.compiled) << kernel.entry;
  expect_first_gpu_untouched();
}

TEST_F(TwoGpus, WhatIsPreparedIsFoundByTheTransform) {
  if (no_compiler()) GTEST_SKIP() << "NOT TESTED: no NVRTC for these GPUs";
  const auto kernels = [&] { return db::KernelStore(kernels_).size().kernels; };
  const std::vector<std::string> problems{"fft:type=c2c,n=84,prec=f32,order=reversed",
                                          "nufft:type=1,n=14x10,m=100,prec=f32,tol=1e-2",
                                          "fft:type=c2c,n=90,prec=f64,order=reversed"};
  const auto before = kernels();
  Options options = on(1);
  options.threads = 2;
  prepare(problems, options);
  const auto prepared = kernels();
  EXPECT_GE(prepared, before + 4);
  for (const std::string& problem : problems) const Transform transform(problem, on(1));
  EXPECT_EQ(kernels(), prepared) << "nothing else was compiled";
  expect_first_gpu_untouched();
}

TEST_F(TwoGpus, ArraysOfTheOtherAreRefusedUnlessTheyCanBeReached) {
  if (no_compiler()) GTEST_SKIP() << "NOT TESTED: no NVRTC for sm_89 and sm_90";
  const auto here = backend().memory(1), there = backend().memory(0);
  void *const mine = here->allocate(4096), *const other = there->allocate(4096);
  Transform fft("fft:type=c2c,n=64,prec=f32", on(1));
  Transform nufft("nufft:type=1,n=40,m=100,prec=f32,tol=1e-2", on(1));
  const std::pair<const char*, std::function<void()>> calls[] = {{"input", [&] { fft.execute(other, mine); }},
                                                                 {"output", [&] { fft.execute(mine, other); }},
                                                                 {"points", [&] {
                                                                    nufft.set_points({100, other});
                                                                  }}};
  for (const auto& [what, call] : calls) {
    const auto [status, words] = failure(call);
    EXPECT_EQ(status, Status::invalid_argument) << what;
    EXPECT_NE(words.find("in the memory of GPU 0 and the transform is on GPU 1"), std::string::npos) << what << words;
    EXPECT_EQ(number("fake_pushed"), 0) << what;
  }
  number("fake_peers") = 1;
  for (const auto& [what, call] : calls) EXPECT_EQ(failure(call).first, Status::success) << what;
  number("fake_peers") = 0;
  here->release(mine);
  there->release(other);
}

TEST_F(TwoGpus, PlansAreMeasuredOnTheDeviceThatTheEvaluatorWasGiven) {
  if (no_compiler()) GTEST_SKIP() << "NOT TESTED: no NVRTC for sm_89 and sm_90";
  tuner::LocalEvaluator evaluator(backend(), {}, 1);
  EXPECT_EQ(evaluator.traits().name, "Fake RTX 4090");
  for (const char* token : {"fft:type=c2c,n=32,prec=f32,batch=2", "nufft:type=1,n=30,m=60,prec=f32,tol=1e-2"}) {
    const Problem problem = parse_problem(token);
    const std::vector<int> before = usage(1);
    evaluator.load(problem, 1);
    tuner::EvaluationRequest request;
    request.plan = text_of(generator::default_plan(problem, evaluator.traits()), problem);
    evaluator.prepare({request.plan});
    const tuner::Evaluation result = evaluator.evaluate(request);
    EXPECT_EQ(result.status, db::RunStatus::wrong_result) << "nothing is computed here: " << result.message;
    EXPECT_FALSE(evaluator.device_lost());
    EXPECT_GT(usage(1)[2], before[2]) << token;
    expect_first_gpu_untouched();
  }
}

TEST_F(TwoGpus, ShareABatchByTheirSpeed) {
  if (no_compiler()) GTEST_SKIP() << "NOT TESTED: no NVRTC for sm_89 and sm_90";
  const int peers = number("fake_peers_of", 0) + number("fake_peers_of", 1);
  Options options = on(0);
  options.devices = "1,0";
  const Transform transform("nufft:type=1,n=160x160x160,m=100000,prec=f64,tol=1e-4,batch=16", options);
  EXPECT_EQ(number("fake_peers_of", 0) + number("fake_peers_of", 1), peers + 2)
      << "each reaches the other one's memory";
  const std::string& explain = transform.explain();
  int share[2] = {0, 0}, first[2] = {-1, -1};
  for (const int device : {0, 1}) {
    const auto at = explain.find("device " + std::to_string(device) + ": ");
    ASSERT_NE(at, std::string::npos) << explain;
    std::sscanf(explain.c_str() + at + 10, "%d transforms from number %d", &share[device], &first[device]);
  }
  EXPECT_GT(share[0], share[1]) << "the H200's memory is faster: " << explain;
  EXPECT_EQ(share[0] + share[1], 16);
  EXPECT_EQ(first[1], 0) << "in the order of the option";
  EXPECT_EQ(first[0], share[1]);
}

TEST_F(TwoGpus, TheirLinkIsMeasuredOnceForBothDirections) {
  const runtime::Backend& cuda = runtime::find_backend("cuda");
  const double link = runtime::device_link(cuda, 0, 1);
  EXPECT_GT(link, 0);
  EXPECT_EQ(runtime::device_link(cuda, 1, 0), link);
}

// The caller's arrays may be anywhere, so a GPU is used only on request, and its driver is not started otherwise.
TEST_F(TwoGpus, WithoutANameTheProcessorRuns) {
  const int starts = number("fake_starts");
  const std::vector<int> other = usage(1);
  std::vector<float> in(32), out(32);
  in[0] = 1;
  Options options;
  options.default_databases = false;
  Transform transform("fft:type=c2c,n=16,prec=f32", options);
  EXPECT_EQ(transform.plan().rfind("cpu;", 0), 0u) << transform.plan();
  transform.execute(in.data(), out.data());
  EXPECT_EQ(out[30], 1);
  fourtune_options c_options;
  ASSERT_EQ(fourtune_options_init(&c_options), FOURTUNE_SUCCESS);
  EXPECT_EQ(c_options.backend, nullptr);
  for (const fourtune_options* given : {static_cast<const fourtune_options*>(nullptr), &std::as_const(c_options)}) {
    fourtune_transform* made = nullptr;
    ASSERT_EQ(fourtune_create("fft:type=c2c,n=16,prec=f32", given, &made), FOURTUNE_SUCCESS) << fourtune_last_error();
    EXPECT_NE(std::string(fourtune_explain(made)).find("plan: cpu;"), std::string::npos) << fourtune_explain(made);
    EXPECT_EQ(fourtune_execute(made, in.data(), out.data()), FOURTUNE_SUCCESS);
    fourtune_destroy(made);
  }
  EXPECT_EQ(number("fake_starts"), starts);
  EXPECT_EQ(usage(1), other);
  expect_first_gpu_untouched();
}

}  // namespace
}  // namespace fourtune::runtime::cuda
