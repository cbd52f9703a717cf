// Whole uniform transforms by generated plans: from problem and plan text to a checked result, through the executor
// that GPUs use.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "fourtune/transform.h"
#include "generator/candidates.h"
#include "runtime/backend_table.h"
#include "runtime/backends/emulated/emulated_backend.h"
#include "runtime/backends/gpu/gpu_executor.h"
#include "tests/support/turns.h"
#include "tuner/measure/validate.h"

namespace fourtune::runtime::emulated {
namespace {

const EmulatedBackend& emulated() {
  static const EmulatedBackend backend(gpu::generated_programs());
  return backend;
}

constexpr const char* kProblems[] = {
    "fft:type=c2c,n=16x16x16,prec=f32",
    "fft:type=c2c,n=12x10x6,prec=f64,place=in,sign=1",
    "fft:type=c2c,n=256,prec=f32,batch=3",
    "fft:type=c2c,n=1x20x9,prec=f64",
    "fft:type=c2c,n=32x24,prec=f32,batch=2,place=in",
    "fft:type=r2c,n=24x10,prec=f64,batch=2",
    "fft:type=r2c,n=16x12x8,prec=f32,place=in",
    "fft:type=c2r,n=20x16,prec=f32,place=in",
    "fft:type=c2r,n=15x8x6,prec=f64",
    "fft:type=c2c,n=12x10,prec=f32,batch=2,layout=2x30+310/1x13+140",
};

void expect_right(const Problem& problem, tuner::ProblemData& data, const generator::Plan& plan) {
  const std::string text = generator::to_text(plan, problem);
  SCOPED_TRACE(text);
  const auto executor = emulated().bind(problem, generator::parse_plan(text, problem), {});
  const tuner::Validation validation = data.validate(*executor);
  EXPECT_TRUE(validation.right) << validation.message;
}

// The default, the plain plan, and randomly drawn candidates.
TEST(EmulatedGpuFft, CandidatesComputeTheTransformAndItsAdjoint) {
  std::mt19937 random(11);
  for (const char* token : kProblems) {
    SCOPED_TRACE(token);
    const Problem problem = parse_problem(token);
    tuner::ProblemData data(problem, 5);
    const auto space = generator::candidates(problem, emulated().traits());
    ASSERT_GT(space.candidates.size(), 3u);
    expect_right(problem, data, generator::default_plan(problem, emulated().traits()));
    for (int drawn = 0; drawn < 2; ++drawn) {
      const generator::Plan& plan = space.candidates[random() % space.candidates.size()].plan;
      if (test::next_has_turn()) expect_right(problem, data, plan);
    }
  }
}

// A kernel would fault, because bulk copies start at multiples of 16 bytes, and all moves are of whole complex values.
TEST(EmulatedGpuFft, ArraysThatStartInBetweenAreRefusedByName) {
  const Problem problem = parse_problem("fft:type=c2c,n=64,prec=f32,batch=8");
  const auto bound = [&](const char* fft) {
    return emulated().bind(problem, generator::parse_plan(std::string("emulated;fft=") + fft, problem), {});
  };
  const auto bulk =
      bound("interleaved{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=64,tile=1x8,load=bulk,pipeline=1]:order=natural");
  const auto plain = bound("plain");
  alignas(16) std::array<std::byte, 8 * 512 + 32> in{}, out{};
  const auto message = [&](Executor& executor, std::size_t past_in, std::size_t past_out) -> std::string {
    try {
      executor.execute(in.data() + past_in, out.data() + past_out, false);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(*bulk, 16, 8), "");
  EXPECT_NE(message(*bulk, 8, 0).find("read starts 8 bytes past a multiple of 16"), std::string::npos);
  EXPECT_EQ(message(*plain, 8, 24), "");
  EXPECT_NE(message(*plain, 0, 4).find("written starts 4 bytes past a multiple of 8"), std::string::npos);
}

TEST(EmulatedGpuFft, ThePublicTransformRunsAForcedAndAResolvedPlan) {
  add_backend(emulated());
  Options options;
  options.backend = "emulated";
  options.default_databases = false;
  const std::string token = "fft:type=c2c,n=8x4,prec=f64";
  std::vector<std::complex<double>> in(32), out(32), forced_out(32);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = {static_cast<double>(i % 5), 1.0 - static_cast<double>(i % 3)};
  Transform resolved(token, options);
  EXPECT_EQ(resolved.plan(), "emulated;fft=plain");
  EXPECT_NE(resolved.explain().find("model"), std::string::npos);
  resolved.execute(in.data(), out.data());

  options.plan =
      "emulated;fft=interleaved{Y(1,4,1,4,no-tw)}[threads=32,tile=8]{X(1,8,1,8,no-tw)}[threads=32,tile=1x4]:order="
      "natural,prec=f64";
  Transform forced(token, options);
  EXPECT_EQ(forced.plan(), options.plan);
  forced.execute(in.data(), forced_out.data());
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    EXPECT_LT(std::abs(out[i] - forced_out[i]), 1e-13) << i;
    sum += in[i];
  }
  EXPECT_LT(std::abs(out[0] - sum), 1e-13);  // unnormalised

  std::vector<std::complex<double>> back(32);
  resolved.execute_adjoint(back.data(), out.data());
  for (std::size_t i = 0; i < in.size(); ++i) EXPECT_LT(std::abs(back[i] / 32.0 - in[i]), 1e-14) << i;

  options.plan = "emulated;fft=interleaved{X(1,8,1,8,no-tw)}[threads=32,tile=1x4]:order=natural,prec=f64";
  EXPECT_THROW(Transform(token, options), Error);  // these are not this problem's lengths
  options.plan = "cuda;fft=plain";
  EXPECT_THROW(Transform(token, options), Error);
}

// Re sum conj(A x) y = Re sum conj(x) A* y for real transforms, with the half spectrum as it is stored.
TEST(EmulatedGpuFft, AdjointsOfRealTransforms) {
  add_backend(emulated());
  Options options;
  options.backend = "emulated";
  options.default_databases = false;
  for (const char* token : {"fft:type=r2c,n=16x6,prec=f64", "fft:type=c2r,n=15x4,prec=f64,batch=2",
                            "fft:type=r2c,n=12x8,prec=f64,place=in", "fft:type=c2r,n=67x3,prec=f64"}) {
    SCOPED_TRACE(token);
    const Problem problem = parse_problem(token);
    const std::size_t first = gpu::input_bytes(problem) / 8, second = gpu::output_bytes(problem) / 8;
    const bool in_place = problem.place == Place::in;
    const std::size_t size = std::max(first, second);
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> x(size), y(size);
    for (double& value : x) value = uniform(random);
    for (double& value : y) value = uniform(random);
    if (in_place)  // rows are padded: their last two values do not belong to the array
      for (std::size_t i = 0; i < size; ++i)
        if (i % 14 >= 12) x[i] = 0;
    Transform transform(token, options);
    std::vector<double> ax = in_place ? x : std::vector<double>(second),
                        aty = in_place ? y : std::vector<double>(first);
    if (in_place) {
      transform.execute(ax.data(), ax.data());
      transform.execute_adjoint(aty.data(), aty.data());
    } else {
      std::vector<double> from = x, back = y;
      transform.execute(from.data(), ax.data());
      transform.execute_adjoint(aty.data(), back.data());
    }
    double left = 0, right = 0, norm = 0;
    for (std::size_t i = 0; i < second; ++i) left += ax[i] * y[i], norm += ax[i] * ax[i];
    for (std::size_t i = 0; i < first; ++i) right += x[i] * aty[i];
    EXPECT_LT(std::abs(left - right), 1e-13 * std::sqrt(norm) * static_cast<double>(size));
  }
}

}  // namespace
}  // namespace fourtune::runtime::emulated
