// Runs kernels emitted from the paper's plans on the emulator, and checks the transform in the paper's order and in
// natural order. Whole volumes take the emulator a microsecond per value and kernel. Therefore only the smallest one is
// run whole; the others are represented by planes through two dimensions, which have the same sub-FFTs side by side.
#include <gtest/gtest.h>

#include "generator/plan/fft/geometry.h"
#include "tests/generator/fft_reference.h"
#include "tests/support/paper_plans.h"
#include "tests/support/turns.h"

namespace fourtune::test {
namespace {

using namespace generator::fft;
using Values = std::vector<std::complex<float>>;

Values noise(const EmitOptions& o) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Values values(static_cast<std::size_t>(o.n[0] * o.n[1] * o.n[2]));
  for (auto& value : values) value = {uniform(random), uniform(random)};
  return values;
}

// One result by its direct sum, with exact phases; `k` is its index.
std::complex<double> direct_sum(const Values& in, const EmitOptions& o, const std::array<std::int64_t, 3>& k) {
  std::vector<std::complex<double>> wave[3];
  for (std::size_t d = 0; d < 3; ++d)
    for (std::int64_t j = 0; j < o.n[d]; ++j)
      wave[d].push_back(std::polar(
          1.0, o.sign * 2 * std::numbers::pi * static_cast<double>(j * k[d] % o.n[d]) / static_cast<double>(o.n[d])));
  std::complex<double> sum = 0;
  auto from = in.begin();
  for (const auto& wz : wave[2])
    for (const auto& wy : wave[1]) {
      std::complex<double> row = 0;
      for (const auto& wx : wave[0]) row += std::complex<double>(*from++) * wx;
      sum += row * wy * wz;
    }
  return sum;
}

// Relative l2 error over sampled results; NaN if one was not written.
double sampled_error(const FftPlan& plan) {
  EmitOptions o;
  o.n = lengths(plan);
  Values in = noise(o), out(in.size());
  runtime::emulated::run_program(emit_program(plan, o), std::as_writable_bytes(std::span(in)),
                                 std::as_writable_bytes(std::span(out)));
  std::complex<double> all = 0;  // Parseval: no result is missing or duplicated
  for (const auto& value : out) all += std::norm(std::complex<double>(value));
  double energy = 0;
  for (const auto& value : in) energy += std::norm(std::complex<double>(value));
  EXPECT_NEAR(all.real() / (energy * static_cast<double>(in.size())), 1, 1e-5);
  const auto place = placing(plan);
  std::mt19937_64 random(9);
  double error = 0, norm = 0;
  for (int sample = 0; sample < 12; ++sample) {
    std::array<std::int64_t, 3> k{};
    std::int64_t element = 0, stride = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      k[d] = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(o.n[d]));
      element += stride * place(static_cast<int>(d), k[d]);
      stride *= o.n[d];
    }
    const std::complex<double> want = direct_sum(in, o, k);
    error += std::norm(std::complex<double>(out[static_cast<std::size_t>(element)]) - want);
    norm += std::norm(want);
  }
  return std::sqrt(error / norm);
}

TEST(EmulatedFftPaper, ItsSmallestVolumeInItsOrderAndInNaturalOrder) {
  for (const PaperPlan& paper : published_plans())
    for (const DigitOrder order : {DigitOrder::reversed, DigitOrder::natural}) {
      if (paper.section != std::string("A.1.4") || !next_has_turn()) continue;
      const FftPlan plan = made_ready(parse_fft_plan(corrected(paper)), order, *generator::known_device("h200"));
      SCOPED_TRACE(to_text(plan));
      EXPECT_LT(sampled_error(plan), 8e-7);
    }
}

TEST(EmulatedFftPaper, PlanesOfEveryPlan) {
  int number = 0;
  for (const PaperPlan& paper : published_plans()) {
    // Alternates between planes X and Y or X and Z, and between reversed and natural order.
    const Dim gone = number % 2 ? Dim::y : Dim::z;
    const DigitOrder order = number / 2 % 2 ? DigitOrder::natural : DigitOrder::reversed;
    ++number;
    if (!next_has_turn()) continue;
    const FftPlan plane = without(parse_fft_plan(corrected(paper)), gone);
    const FftPlan plan = made_ready(plane, order, *generator::known_device("h200"));
    SCOPED_TRACE(std::string(paper.section) + " " + to_text(plan));
    EXPECT_LT(sampled_error(plan), 8e-7);
  }
}

}  // namespace
}  // namespace fourtune::test
