// Runs emitted FFT programs on the emulator and compares them with sums in extended precision.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "generator/codegen/fft/emit/emit.h"
#include "generator/plan/fft/geometry.h"
#include "runtime/backends/emulated/emulator.h"
#include "tests/support/turns.h"

namespace fourtune::test {

using Wide = std::complex<long double>;
using generator::fft::EmitOptions;
using generator::fft::Pruning;
using Position = std::array<std::int64_t, most_dimensions>;

// What a plan says of the problem that it solves.
inline EmitOptions options_of(const generator::fft::FftPlan& plan, int sign = -1, std::int64_t batch = 1) {
  EmitOptions o;
  o.n = generator::fft::lengths(plan);
  o.precision = plan.precision;
  o.in_place = plan.place == Place::in;
  o.sign = sign;
  o.batch = batch;
  return o;
}

// The position in the transform of value i of an array that holds part of a dimension.
inline std::int64_t kept_position(const std::optional<Pruning>& window, std::int64_t i, std::int64_t n) {
  if (!window || window->kind == Pruning::Kind::head) return i;
  const std::int64_t kept = window->kept;
  if (window->kind == Pruning::Kind::wrapped) return i < (kept + 1) / 2 ? i : i + n - kept;
  const std::int64_t k = i - kept / 2;
  return k < 0 ? k + n : k;
}

// The DFT along every dimension by direct sums. Sizes are n; x is fastest, then the batch.
inline std::vector<Wide> direct_dft(std::vector<Wide> values, const Sizes& n, int sign) {
  std::int64_t stride = 1;
  for (const std::int64_t length : n) {
    std::vector<Wide> turn, line(static_cast<std::size_t>(length));
    for (std::int64_t k = 0; k < length; ++k)
      turn.push_back(std::polar<long double>(1, sign * 2 * std::numbers::pi_v<long double> *
                                                    static_cast<long double>(k) / static_cast<long double>(length)));
    const auto total = static_cast<std::int64_t>(values.size());
    for (std::int64_t i = 0; length > 1 && i < total; ++i) {
      if (i / stride % length) continue;
      for (std::int64_t j = 0; j < length; ++j)
        line[static_cast<std::size_t>(j)] = values[static_cast<std::size_t>(i + j * stride)];
      for (std::int64_t k = 0; k < length; ++k) {
        Wide sum = 0;
        for (std::int64_t j = 0; j < length; ++j)
          sum += line[static_cast<std::size_t>(j)] * turn[static_cast<std::size_t>(j * k % length)];
        values[static_cast<std::size_t>(i + k * stride)] = sum;
      }
    }
    stride *= length;
  }
  return values;
}

// One array of a transform: maps its elements to positions of the full complex transform.
struct ArrayShape {
  Sizes n;
  ArrayLayout layout;
  bool real = false;
  std::int64_t elements = 0;  // allocated
};
inline ArrayShape shape_of(const EmitOptions& o, bool input) {
  ArrayShape shape;
  shape.n = o.n;
  shape.real = o.type == (input ? FftType::r2c : FftType::c2r);
  if (o.type == (input ? FftType::c2r : FftType::r2c)) shape.n[0] = o.n[0] / 2 + 1;
  for (std::size_t d = 0; d < o.n.size(); ++d)
    if (const auto& w = input ? o.hooks[d].input : o.hooks[d].output) shape.n[d] = w->kept;
  const std::int64_t row = shape.real && o.in_place ? 2 * (o.n[0] / 2 + 1) : shape.n[0];
  const std::int64_t plane = row * shape.n[1], volume = plane * shape.n[2];
  shape.layout = {{1, row, plane, volume}, volume * shape.n[3]};
  if (const auto& l = input ? o.input : o.output) shape.layout = *l;
  shape.elements = shape.layout.distance * (o.batch - 1) + 1;
  for (std::size_t d = 0; d < o.n.size(); ++d) shape.elements += shape.layout.stride[d] * (shape.n[d] - 1);
  return shape;
}
template <class F>
void for_elements(const ArrayShape& shape, std::int64_t batch, F use) {
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t w = 0; w < shape.n[3]; ++w)
      for (std::int64_t z = 0; z < shape.n[2]; ++z)
        for (std::int64_t y = 0; y < shape.n[1]; ++y)
          for (std::int64_t x = 0; x < shape.n[0]; ++x)
            use(Position{x, y, z, w}, b,
                x * shape.layout.stride[0] + y * shape.layout.stride[1] + z * shape.layout.stride[2] +
                    w * shape.layout.stride[3] + b * shape.layout.distance);
}

// The position of result k along dimension d, in the plan's order.
inline std::function<std::int64_t(int, std::int64_t)> placing(const generator::fft::FftPlan& plan) {
  return [plan, at = generator::fft::layout(plan, static_cast<int>(plan.kernels.size()))](int d, std::int64_t k) {
    if (plan.order == generator::fft::DigitOrder::natural) return k;
    std::int64_t place = 0;
    std::size_t i = 0;
    for (const auto& kernel : plan.kernels)
      for (const auto& sub : kernel.subs)
        if (index(sub.dim) == d) place += k % sub.radix * at[static_cast<std::size_t>(d)][i++], k /= sub.radix;
    return place;
  };
}

inline std::size_t reals_of(const ArrayShape& shape) {
  return static_cast<std::size_t>(shape.elements) * (shape.real ? 1 : 2);
}
inline std::size_t flat(const EmitOptions& o, const Position& i, std::int64_t b) {
  return static_cast<std::size_t>(i[0] + o.n[0] * (i[1] + o.n[1] * (i[2] + o.n[2] * (i[3] + o.n[3] * b))));
}
// The mirror image of i, but at x along the first dimension.
inline Position mirrored_at(const EmitOptions& o, std::int64_t x, const Position& i) {
  return {x, (o.n[1] - i[1]) % o.n[1], (o.n[2] - i[2]) % o.n[2], (o.n[3] - i[3]) % o.n[3]};
}

// Fills the array with random input and returns the input of the full complex transform that it stands for.
template <class Real>
std::vector<Wide> fill_input(const EmitOptions& o, std::vector<Real>& array) {
  const ArrayShape in = shape_of(o, true);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Wide> full(static_cast<std::size_t>(o.n[0] * o.n[1] * o.n[2] * o.n[3] * o.batch));
  for_elements(in, o.batch, [&](const Position& i, std::int64_t b, std::int64_t at) {
    Wide value(static_cast<Real>(uniform(random)), in.real ? Real(0) : static_cast<Real>(uniform(random)));
    Position p{};
    long double factor = 1;
    bool mirrored = o.type == FftType::c2r;
    for (std::size_t d = 0; d < o.n.size(); ++d) {
      p[d] = kept_position(o.hooks[d].input, i[d], o.n[d]);
      if (!o.hooks[d].input_factors.empty())
        factor *= static_cast<long double>(o.hooks[d].input_factors[static_cast<std::size_t>(i[d])]);
    }
    // For a spectrum of real data the stored half counts; values that are their own mirror image along x are made
    // symmetric.
    if (mirrored && (2 * i[0] == o.n[0] || i[0] == 0)) {
      const Position m = mirrored_at(o, i[0], i);
      if (m == i)
        value = value.real();
      else if (flat(o, m, b) < flat(o, i, b))
        value = std::conj(full[flat(o, m, b)]);
    }
    const auto element = static_cast<std::size_t>(at);
    if (in.real)
      array[element] = static_cast<Real>(value.real());
    else
      array[2 * element] = static_cast<Real>(value.real()), array[2 * element + 1] = static_cast<Real>(value.imag());
    full[flat(o, p, b)] = value * factor;
    if (mirrored && i[0] != 0 && 2 * i[0] != o.n[0])
      full[flat(o, mirrored_at(o, o.n[0] - i[0], i), b)] = std::conj(value * factor);
  });
  return full;
}

using Places = std::function<std::int64_t(int, std::int64_t)>;

// What the program has to leave. `place` maps index k of dimension d to the result's position, which undoes a reversed
// order.
template <class Real>
struct Expected {
  Expected(const EmitOptions& options, const Places& places, const std::vector<Wide>& input, std::size_t size)
      : o(options), place(places), want(direct_dft(input, o.n, o.sign)), gap(size, !o.in_place) {
    for_elements(out, o.batch, [&](const Position&, std::int64_t, std::int64_t at) {
      for (std::int64_t part = 0; part < (out.real ? 1 : 2); ++part)
        gap[static_cast<std::size_t>(out.real ? at : 2 * at + part)] = false;
    });
  }
  // Relative l2 error; infinite if something was written between the outputs of a strided array.
  double error_of(const Real* got) const {
    long double error = 0, norm = 0;
    for (std::size_t i = 0; i < gap.size(); ++i)
      if (gap[i] && got[i] != Real(0)) return std::numeric_limits<double>::infinity();
    for_elements(out, o.batch, [&](const Position& i, std::int64_t b, std::int64_t at) {
      Position k{};
      long double factor = static_cast<long double>(o.scale);
      for (std::size_t d = 0; d < o.n.size(); ++d) {
        k[d] = kept_position(o.hooks[d].output, i[d], o.n[d]);
        if (!o.hooks[d].output_factors.empty())
          factor *= static_cast<long double>(o.hooks[d].output_factors[static_cast<std::size_t>(i[d])]);
      }
      if (place) {
        at = b * out.layout.distance;
        for (std::size_t d = 0; d < o.n.size(); ++d) at += place(static_cast<int>(d), i[d]) * out.layout.stride[d];
      }
      const Wide wanted = want[flat(o, k, b)] * factor;
      const auto element = static_cast<std::size_t>(at);
      const Wide value =
          out.real ? Wide(static_cast<long double>(got[element])) : Wide(got[2 * element], got[2 * element + 1]);
      error += std::norm(out.real ? Wide(value.real() - wanted.real()) : value - wanted);
      norm += std::norm(wanted);
    });
    return static_cast<double>(norm > 0 ? std::sqrt(error / norm) : std::sqrt(error));
  }

  const EmitOptions& o;
  const Places& place;
  ArrayShape out = shape_of(o, false);
  std::vector<Wide> want;
  std::vector<bool> gap;  // elements between the outputs, which must not change
};

// Relative l2 error of the program; infinite if it wrote between the outputs of a strided array. `all` runs every order
// of threads and blocks and the race checker; an error above `most` ends that.
template <class Real>
double program_error(const generator::GpuProgram& program, const EmitOptions& o, bool all, const Places& place = {},
                     double most = std::numeric_limits<double>::infinity()) {
  std::size_t first_size = reals_of(shape_of(o, true)), second_size = reals_of(shape_of(o, false));
  if (o.in_place) first_size = second_size = std::max(first_size, second_size);
  std::vector<Real> first(first_size, Real(0)), second(second_size, Real(0));
  const Expected<Real> expected(o, place, fill_input(o, first), second_size);
  double worst = 0;
  const auto look = [&](std::span<const std::byte>, std::span<const std::byte> result) {
    const double error = expected.error_of(reinterpret_cast<const Real*>(result.data()));
    worst = error > worst || error != error ? error : worst;
    return std::string(worst <= most ? "" : "that is enough");
  };
  const auto a = std::as_bytes(std::span(first)), b = o.in_place ? a : std::as_bytes(std::span(second));
  if (all) {
    try {
      runtime::emulated::run_all_ways(program, a, b, look);
    } catch (const Error&) {
      if (worst <= most) throw;
    }
  } else {
    auto second_bytes =
        o.in_place ? std::as_writable_bytes(std::span(first)) : std::as_writable_bytes(std::span(second));
    runtime::emulated::run_program(program, std::as_writable_bytes(std::span(first)), second_bytes);
    look({}, second_bytes);
  }
  return worst;
}

inline double every_program_error(const generator::GpuProgram& program, const EmitOptions& o, bool all = false,
                                  const Places& place = {}, double most = std::numeric_limits<double>::infinity()) {
  return o.precision == Precision::f32 ? program_error<float>(program, o, all, place, most)
                                       : program_error<double>(program, o, all, place, most);
}
// The same in sweeps over plans and lengths, which successive commits take by turns; 0 for those of another one.
inline double program_error(const generator::GpuProgram& program, const EmitOptions& o, bool all = false,
                            const Places& place = {}) {
  return next_has_turn() ? every_program_error(program, o, all, place) : 0;
}
inline double allowed(const EmitOptions& o) { return o.precision == Precision::f32 ? 8e-7 : 2e-15; }

}  // namespace fourtune::test
