// Whole transforms on the emulated backend, with the executor that GPUs use.
#include <gtest/gtest.h>

#include <string>

#include "runtime/backend_table.h"
#include "runtime/backends/emulated/emulated_backend.h"
#include "runtime/backends/gpu/gpu_executor.h"
#include "runtime/backends/gpu/launch_arguments.h"
#include "tests/runtime/gpu_programs.h"

namespace fourtune::runtime::emulated {
namespace {

using runtime::testing::Complex32;
using runtime::testing::direct_program;
using runtime::testing::direct_programs;
using runtime::testing::made_values;
using runtime::testing::relative_error;

generator::Plan plan_of(const char* backend = "emulated") { return generator::plan_for(backend); }

std::vector<RunOptions> ways() {
  std::vector<RunOptions> list(4);
  list[1].threads = list[1].blocks = ExecutionOrder::reverse;
  list[2].threads = list[2].blocks = ExecutionOrder::random;
  list[3].instrumented = true;
  return list;
}

TEST(EmulatedExecutor, TransformsAndItsAdjointGoesBack) {
  for (const RunOptions& options : ways()) {
    const EmulatedBackend backend(direct_programs(), options);
    const Problem problem = parse_problem("fft:type=c2c,n=60,prec=f32,batch=3");
    const auto executor = backend.bind(problem, plan_of(), {});
    std::vector<Complex32> in = made_values(180), out(180), back(180);
    executor->execute(in.data(), out.data(), false);
    EXPECT_LT(relative_error(problem, in, out), 1e-6);
    EXPECT_EQ(executor->memory().held, 8 * 180 + 8 * 60);
    executor->execute(back.data(), out.data(), true);
    for (std::size_t i = 0; i < in.size(); ++i) EXPECT_LT(std::abs(back[i] / 60.0f - in[i]), 1e-5) << i;
    EXPECT_EQ(executor->memory().held, 2 * (8 * 180 + 8 * 60));
    ASSERT_EQ(executor->stage_times().size(), 1u);
    EXPECT_EQ(executor->stage_times()[0].stage, "fft");
  }
}

TEST(EmulatedExecutor, TransformsInPlace) {
  const EmulatedBackend backend(direct_programs());
  const Problem problem = parse_problem("fft:type=c2c,n=31,prec=f32,batch=2,place=in,sign=1");
  const auto executor = backend.bind(problem, plan_of(), {});
  const std::vector<Complex32> in = made_values(62);
  std::vector<Complex32> data = in;
  executor->execute(data.data(), data.data(), false);
  EXPECT_LT(relative_error(problem, in, data), 1e-6);
  EXPECT_THROW(executor->execute(data.data(), data.data() + 1, false), Error);
}

TEST(EmulatedExecutor, KeepsWhatLiesBetweenStridedElements) {
  const EmulatedBackend backend(direct_programs());
  Problem problem = parse_problem("fft:type=c2c,n=16,prec=f32,batch=2");
  problem.input_layout = ArrayLayout{{3, 0, 0}, 50};
  problem.output_layout = ArrayLayout{{2, 0, 0}, 40};
  const auto executor = backend.bind(problem, plan_of(), {});
  std::vector<Complex32> in = made_values(50 + 46), out(40 + 31, Complex32(7, 7));
  executor->execute(in.data(), out.data(), false);
  EXPECT_LT(relative_error(problem, in, out), 1e-6);
  for (std::size_t i = 1; i < 31; i += 2) EXPECT_EQ(out[i], Complex32(7, 7)) << i;
  EXPECT_EQ(out[35], Complex32(7, 7));
}

TEST(EmulatedExecutor, AFaultOfAKernelReachesTheCaller) {
  const EmulatedBackend backend([](const Problem& problem, const generator::Plan&, const DeviceTraits&) {
    auto program = direct_program(problem);
    program.workspace_bytes[0] -= 16;
    return std::optional(program);
  });
  const auto executor = backend.bind(parse_problem("fft:type=c2c,n=60,prec=f32"), plan_of(), {});
  std::vector<Complex32> in = made_values(60), out(60);
  EXPECT_THROW(executor->execute(in.data(), out.data(), false), KernelFault);
}

Status status_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::success;
}

TEST(EmulatedExecutor, RefusesWhatItCannotDo) {
  const EmulatedBackend backend(direct_programs());
  const Problem problem = parse_problem("fft:type=c2c,n=8,prec=f32");
  const auto bind = [&](const char* token, const EmulatedBackend& with, const char* name) {
    return status_of([&] { with.bind(parse_problem(token), plan_of(name), {}); });
  };
  EXPECT_EQ(bind("fft:type=c2c,n=8,prec=f32", backend, "cpu"), Status::invalid_plan);
  EXPECT_EQ(bind("nufft:type=1,n=8x8,m=10,prec=f32,tol=1e-3", backend, "emulated"), Status::invalid_plan);
  EXPECT_EQ(bind("fft:type=c2c,n=8,prec=f32", EmulatedBackend(gpu::library_programs()), "emulated"),
            Status::unsupported);
  const auto executor = backend.bind(problem, plan_of(), {});
  std::vector<Complex32> a(8), b(8);
  EXPECT_EQ(status_of([&] { executor->execute(a.data(), nullptr, false); }), Status::invalid_argument);
  EXPECT_EQ(status_of([&] { executor->execute(a.data(), a.data(), false); }), Status::invalid_argument);
  EXPECT_EQ(status_of([&] { executor->set_points({}); }), Status::invalid_argument);
  EXPECT_EQ(gpu::adjoint_problem(parse_problem("fft:type=r2c,n=8,prec=f32")).fft_type, FftType::c2r);
}

TEST(EmulatedExecutor, CanBeAddedToTheTableOfBackends) {
  static const EmulatedBackend backend(direct_programs());
  EXPECT_THROW(find_backend("emulated"), Error);
  add_backend(backend);
  EXPECT_EQ(&find_backend("emulated"), &backend);
  EXPECT_EQ(backends().back(), &backend);
  EXPECT_EQ(backend.traits().backend, "emulated");
  EXPECT_EQ(backend.traits().compute_capability, 90);
}

TEST(GpuArrays, SpansFollowTheLayouts) {
  EXPECT_EQ(gpu::input_bytes(parse_problem("fft:type=c2c,n=8x4,prec=f32,batch=3")), 8u * 96);
  EXPECT_EQ(gpu::input_bytes(parse_problem("fft:type=r2c,n=8x4,prec=f64")), 8u * 32);
  EXPECT_EQ(gpu::output_bytes(parse_problem("fft:type=r2c,n=8x4,prec=f64")), 16u * 20);
  EXPECT_EQ(gpu::output_bytes(parse_problem("fft:type=c2r,n=8x4,prec=f32")), 4u * 32);
}

TEST(GpuKernels, AreToldAsJson) {
  EXPECT_EQ(kernels_text({}), "");
  const KernelReport reports[] = {{"a", 40, 0, 1024, 8, true}, {"b", 128, 16, 0, 2, false}};
  EXPECT_EQ(kernels_text(reports), R"([{"entry":"a","registers":40,"spill_bytes":0,"shared_bytes":1024,"blocks":8},)"
                                   R"({"entry":"b","registers":128,"spill_bytes":16,"shared_bytes":0,"blocks":2}])");
}

TEST(GpuProgram, ReferencesAreChecked) {
  const Problem problem = parse_problem("fft:type=c2c,n=8,prec=f32");
  const generator::GpuProgram good = direct_program(problem);
  EXPECT_NO_THROW(gpu::check_program(good));
  const auto refused = [&](const std::function<void(generator::GpuProgram&)>& damage) {
    generator::GpuProgram bad = good;
    damage(bad);
    return status_of([&] { gpu::check_program(bad); }) == Status::internal;
  };
  using generator::BufferRef;
  EXPECT_TRUE(refused([](auto& p) { p.launches[1].kernel = 2; }));
  EXPECT_TRUE(refused([](auto& p) { p.launches[1].kernel = -1; }));
  EXPECT_TRUE(refused([](auto& p) { p.workspace_bytes.clear(); }));
  EXPECT_TRUE(refused([](auto& p) { p.constants.clear(); }));
  EXPECT_TRUE(refused([](auto& p) { p.workspace_bytes[0] = -1; }));
  EXPECT_TRUE(refused([](auto& p) { p.launches[0].arguments[1] = BufferRef{BufferRef::Where::workspace, 0, 65}; }));
  EXPECT_TRUE(refused([](auto& p) { p.launches[0].arguments[1] = BufferRef{BufferRef::Where::first, 0, -8}; }));
}

}  // namespace
}  // namespace fourtune::runtime::emulated
