// Orders of the spectrum on the processor and on the emulated GPU: every transform against a direct sum that knows the
// order by another definition than the library, and its adjoint as the inverse that takes the order it gave.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "fourtune/transform.h"
#include "generator/candidates.h"
#include "generator/plan/fft/notation.h"
#include "generator/planner/gpu_fft/planner.h"
#include "runtime/backend_table.h"
#include "runtime/backends/emulated/emulated_backend.h"
#include "runtime/backends/gpu/gpu_executor.h"
#include "tests/runtime/transform_support.h"
#include "tests/support/turns.h"
#include "tuner/measure/validate.h"

namespace fourtune::runtime {
namespace {

using Values = std::vector<Complex>;

const emulated::EmulatedBackend& emulated_backend() {
  static const emulated::EmulatedBackend backend(gpu::generated_programs());
  return backend;
}

// Frequencies by position: for each prime in turn, ascending, the list has every frequency found so far with each value
// of the next digit behind it.
std::vector<std::int64_t> reversed_frequencies(std::int64_t n) {
  std::vector<std::int64_t> list{0};
  std::int64_t done = 1;
  for (std::int64_t p = 2; done < n; ++p)
    while (n / done % p == 0) {
      std::vector<std::int64_t> longer;
      for (const std::int64_t k : list)
        for (std::int64_t digit = 0; digit < p; ++digit) longer.push_back(k + done * digit);
      list = longer, done *= p;
    }
  return list;
}

// A dense DFT of one dimension of many.
Values along(const Values& in, std::int64_t n, std::int64_t stride, int sign) {
  Values out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i), k = at / stride % n, first = at - k * stride;
    for (std::int64_t j = 0; j < n; ++j)
      out[i] += in[static_cast<std::size_t>(first + j * stride)] *
                std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k * j % n) / static_cast<double>(n));
  }
  return out;
}

// Places of the values of one array, natural and x fastest: where that array is in reversed order, by frequency.
std::vector<std::size_t> places(const Problem& problem, bool input) {
  const ArrayLayout layout = input ? resolved_input_layout(problem) : resolved_output_layout(problem);
  const bool reversed = problem.order == (input ? SpectrumOrder::unreversed : SpectrumOrder::reversed);
  std::vector<std::size_t> out{0};
  for (std::size_t d = 0; d < problem.n.size(); ++d) {
    std::vector<std::int64_t> frequency = reversed_frequencies(problem.n[d]), position(frequency.size());
    for (std::size_t p = 0; p < frequency.size(); ++p)
      position[static_cast<std::size_t>(frequency[p])] = static_cast<std::int64_t>(p);
    std::vector<std::size_t> more;
    for (std::int64_t k = 0; k < problem.n[d]; ++k)
      for (const std::size_t low : out)
        more.push_back(
            low + static_cast<std::size_t>(layout.stride[d] * (reversed ? position[static_cast<std::size_t>(k)] : k)));
    out = more;
  }
  return out;
}

std::size_t span(const Problem& problem, bool input) {
  const ArrayLayout layout = input ? resolved_input_layout(problem) : resolved_output_layout(problem);
  std::int64_t last = layout.distance * (problem.batch - 1);
  for (std::size_t d = 0; d < problem.n.size(); ++d) last += layout.stride[d] * (problem.n[d] - 1);
  return static_cast<std::size_t>(last + 1);
}

double distance(const Values& a, const Values& b) {
  double off = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) off += std::norm(a[i] - b[i]), norm += std::norm(b[i]);
  return std::sqrt(off / norm);
}

template <class T>
void expect_right(const std::string& token, const std::string& backend, unsigned seed) {
  SCOPED_TRACE(backend + " " + token);
  const Problem problem = parse_problem(token);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const std::vector<std::size_t> from = places(problem, true), to = places(problem, false);
  std::vector<std::complex<T>> first(std::max(span(problem, true), span(problem, false))), second(first.size());
  std::vector<Values> in(static_cast<std::size_t>(problem.batch), Values(from.size()));
  const auto start = [&](std::size_t b, bool input) {
    return b * static_cast<std::size_t>(
                   (input ? resolved_input_layout(problem) : resolved_output_layout(problem)).distance);
  };
  for (std::size_t b = 0; b < in.size(); ++b)
    for (std::size_t i = 0; i < from.size(); ++i) {
      in[b][i] = {static_cast<double>(static_cast<T>(uniform(random))),
                  static_cast<double>(static_cast<T>(uniform(random)))};
      first[start(b, true) + from[i]] = std::complex<T>(in[b][i]);
    }
  Options options = plain();
  options.backend = backend;
  Transform transform(token, options);
  const bool in_place = problem.place == Place::in;
  auto& result = in_place ? first : second;
  transform.execute(first.data(), result.data());
  for (std::size_t b = 0; b < in.size(); ++b) {
    Values right = in[b], found;
    std::int64_t stride = 1;
    for (const std::int64_t n : problem.n) right = along(right, n, stride, problem.sign), stride *= n;
    for (const std::size_t place : to) found.emplace_back(result[start(b, false) + place]);
    EXPECT_LT(distance(found, right), allowed_error(problem)) << "transform " << b;
  }
  // The adjoint is the inverse, up to the number of values.
  if (!in_place) std::fill(first.begin(), first.end(), std::complex<T>(7));
  transform.execute_adjoint(first.data(), result.data());
  for (std::size_t b = 0; b < in.size(); ++b) {
    Values found;
    for (const std::size_t place : from)
      found.push_back(Complex(first[start(b, true) + place]) / static_cast<double>(from.size()));
    EXPECT_LT(distance(found, in[b]), 2 * allowed_error(problem)) << "back, transform " << b;
  }
  // The public function finds every frequency where it is.
  if (problem.order == SpectrumOrder::natural) return;
  const bool input = problem.order == SpectrumOrder::unreversed;
  for (int draw = 0; draw < 20; ++draw) {
    std::array<std::int64_t, most_dimensions> k{};
    std::int64_t number = 0, weight = 1;
    for (std::size_t d = 0; d < k.size(); ++d) {
      k[d] = static_cast<std::int64_t>(random() % static_cast<unsigned>(problem.n[d]));
      number += k[d] * weight, weight *= problem.n[d];
    }
    EXPECT_EQ(spectrum_index(problem, k),
              static_cast<std::int64_t>((input ? from : to)[static_cast<std::size_t>(number)]));
  }
}

void expect_right_on(const std::string& token, const std::string& backend, unsigned seed) {
  token.find("prec=f32") != std::string::npos ? expect_right<float>(token, backend, seed)
                                              : expect_right<double>(token, backend, seed);
}

// Lengths of one to four dimensions, primes large and small among them, and what else a token may say.
std::string drawn(std::mt19937& random) {
  const auto one_of = [&](auto... all) {
    const auto list = {std::string(all)...};
    return *(list.begin() + random() % list.size());
  };
  std::string sizes;
  std::int64_t left = 3000;
  for (std::uint32_t dim = 1 + random() % 4, d = 0; d < dim; ++d) {
    static constexpr std::int64_t lengths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 18, 20, 30, 64, 67, 72, 134, 201};
    std::int64_t n = lengths[random() % std::size(lengths)];
    while (n > left) n = lengths[random() % std::size(lengths)];
    sizes += (d ? "x" : "") + std::to_string(n), left /= n;
  }
  Problem problem =
      parse_problem("fft:type=c2c,n=" + sizes + one_of(",prec=f32", ",prec=f64") + one_of("", ",batch=2", ",batch=3") +
                    one_of("", ",place=in") + one_of("", ",sign=1") +
                    ",order=" + one_of("reversed", "reversed", "unreversed", "transposed", "untransposed"));
  if (problem.order != SpectrumOrder::natural && random() % 3 == 0) {  // with gaps, and the last dimension fastest
    ArrayLayout apart = transposed_layout(problem);
    for (std::int64_t& stride : apart.stride) stride *= 2;
    apart.distance = 2 * apart.distance + 1;
    (random() % 2 ? problem.input_layout : problem.output_layout) = apart;
    if (problem.place == Place::in) problem.input_layout = problem.output_layout = apart;
    if (!problem.input_layout) problem.input_layout = resolved_input_layout(problem);
    if (!problem.output_layout) problem.output_layout = resolved_output_layout(problem);
  }
  return to_token(problem);
}

TEST(Orders, TheProcessorGivesTheOrderThatTheTokenNames) {
  std::mt19937 random(3);
  for (unsigned i = 0; i < 400 && !testing::Test::HasFailure(); ++i) expect_right_on(drawn(random), "cpu", i);
  // Two tables of positions, rows cut into pieces, large primes.
  for (const char* token :
       {"fft:type=c2c,n=4096,prec=f64,order=reversed", "fft:type=c2c,n=2018x2,prec=f64,order=reversed",
        "fft:type=c2c,n=3072,prec=f64,place=in,order=unreversed"})
    expect_right_on(token, "cpu", 1);
}

TEST(Orders, TheEmulatedGpuGivesTheSameOrder) {
  add_backend(emulated_backend());
  std::mt19937 random(5);
  for (unsigned i = 0; i < 24 && !testing::Test::HasFailure(); ++i) {
    const std::string token = drawn(random);
    if (test::next_has_turn()) expect_right_on(token, "emulated", i);
  }
  for (const char* token : {"fft:type=c2c,n=134x6,prec=f64,batch=2,order=reversed",
                            "fft:type=c2c,n=6x134,prec=f32,place=in,order=unreversed",
                            "fft:type=c2c,n=67x4,prec=f64,place=in,order=transposed"})  // convolutions and copies
    expect_right_on(token, "emulated", 1);
}

// The rows of the half spectrum, and back to the real array.
TEST(Orders, RealTransformsTransposeTheHalfSpectrum) {
  add_backend(emulated_backend());
  for (const std::string backend : {"cpu", "emulated"})
    for (const std::string rest : {"n=12x10,prec=f64,batch=2", "n=9x5x4,prec=f64", "n=67x6,prec=f64,place=in"}) {
      SCOPED_TRACE(backend + " " + rest);
      Options options = plain();
      options.backend = backend;
      Transform natural("fft:type=r2c," + rest.substr(0, rest.find(",place")), options);
      Transform forward("fft:type=r2c," + rest + ",order=transposed", options);
      Transform back("fft:type=c2r," + rest + ",sign=1,order=transposed", options);
      const Problem &problem = forward.problem(), &plain_problem = natural.problem();
      const ArrayLayout in = resolved_input_layout(problem), dense = resolved_input_layout(plain_problem);
      const bool in_place = problem.place == Place::in;
      const Sizes half = output_sizes(problem);
      std::vector<double> real(4000), plain_real(4000);
      Values spectrum(2000), right(2000);
      std::mt19937 random(9);
      const auto each = [&](const Sizes& sizes, auto&& visit) {
        for (std::int64_t b = 0; b < problem.batch; ++b)
          for (std::int64_t z = 0; z < sizes[2]; ++z)
            for (std::int64_t y = 0; y < sizes[1]; ++y)
              for (std::int64_t x = 0; x < sizes[0]; ++x) visit(std::array{x, y, z, std::int64_t{0}}, b);
      };
      const auto place = [](const ArrayLayout& layout, const std::array<std::int64_t, 4>& at, std::int64_t b) {
        std::int64_t sum = b * layout.distance;
        for (std::size_t d = 0; d < at.size(); ++d) sum += at[d] * layout.stride[d];
        return static_cast<std::size_t>(sum);
      };
      each(problem.n, [&](const auto& at, std::int64_t b) {
        real[place(in, at, b)] = plain_real[place(dense, at, b)] = static_cast<double>(random() % 1000) / 500 - 1;
      });
      natural.execute(plain_real.data(), right.data());
      void* const to = in_place ? static_cast<void*>(real.data()) : spectrum.data();
      forward.execute(real.data(), to);
      const auto* values = static_cast<const Complex*>(to);
      each(half, [&](const auto& at, std::int64_t b) {
        const std::int64_t index = spectrum_index(problem, at) + b * resolved_output_layout(problem).distance;
        const std::int64_t other =
            spectrum_index(plain_problem, at) + b * resolved_output_layout(plain_problem).distance;
        EXPECT_LT(std::abs(values[index] - right[static_cast<std::size_t>(other)]), 1e-12);
        EXPECT_EQ(index, spectrum_index(back.problem(), at) + b * resolved_input_layout(back.problem()).distance);
      });
      if (!in_place) std::fill(real.begin(), real.end(), 5.0);
      back.execute(to, real.data());
      const auto count = static_cast<double>(mode_count(problem));
      each(problem.n, [&](const auto& at, std::int64_t b) {
        EXPECT_LT(std::abs(real[place(in, at, b)] / count - plain_real[place(dense, at, b)]), 1e-13);
      });
    }
}

// Plans with several kernels along a line, several dimensions in a kernel, and radices with several primes; each is
// checked by direct sums and runs mirrored as its adjoint.
TEST(Orders, CandidatesLeaveTheOrderOfTheProblemAndTheirMirroredPlansTakeIt) {
  std::mt19937 random(7);
  for (const char* token :
       {"fft:type=c2c,n=4096,prec=f32,order=reversed", "fft:type=c2c,n=1024,prec=f64,batch=3,place=in,order=unreversed",
        "fft:type=c2c,n=360x12,prec=f32,order=reversed", "fft:type=c2c,n=16x18x30,prec=f64,order=unreversed",
        "fft:type=c2c,n=64x20,prec=f32,order=reversed,layout=1x70/40x2"}) {
    SCOPED_TRACE(token);
    const Problem problem = parse_problem(token);
    tuner::ProblemData data(problem, 5);
    const auto space = generator::candidates(problem, emulated_backend().traits());
    ASSERT_GT(space.candidates.size(), 3u);
    for (int drawn = 0; drawn < 3; ++drawn) {
      const std::string text = generator::to_text(space.candidates[random() % space.candidates.size()].plan, problem);
      if (!test::next_has_turn()) continue;
      SCOPED_TRACE(text);
      const auto executor = emulated_backend().bind(problem, generator::parse_plan(text, problem), {});
      const tuner::Validation validation = data.validate(*executor);
      EXPECT_TRUE(validation.right) << validation.message;
    }
  }
}

}  // namespace
}  // namespace fourtune::runtime
