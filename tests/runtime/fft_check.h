// Compares transforms of this library with direct sums.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/layout.h"
#include "runtime/backends/cpu/fft/fft.h"
#include "runtime/backends/families.h"
#include "tests/support/direct_dft.h"

namespace fourtune::runtime::cpu::fft_check {

using generator::FftFamily;
using generator::Plan;
using generator::Rigor;
using Long = long double;
using test::LongComplex;

inline std::int64_t volume(const Sizes& n) { return n[0] * n[1] * n[2] * n[3]; }

// Direct DFT of a dense array, dimension by dimension.
inline std::vector<LongComplex> direct_dft(std::vector<LongComplex> data, const Sizes& n, int sign) {
  std::int64_t stride = 1;
  for (int d = 0; d < most_dimensions; stride *= n[d++]) {
    if (n[d] == 1) continue;
    for (std::int64_t start = 0; start < volume(n); ++start) {
      if (start / stride % n[d] != 0) continue;
      const auto line = test::direct_dft(&data[start], n[d], stride, sign);
      for (std::int64_t k = 0; k < n[d]; ++k) data[start + k * stride] = line[k];
    }
  }
  return data;
}

// One side of a problem: an array with its layout, real or complex.
struct Side {
  bool real = false;
  Sizes sizes;
  ArrayLayout layout;
  std::int64_t at(std::int64_t element, std::int64_t b) const {
    return place_of(layout, sizes, element) + b * layout.distance;
  }
  std::int64_t span(std::int64_t batch) const { return at(volume(sizes) - 1, batch - 1) + 1; }
};

inline Side input_side(const Problem& p) {
  return {p.fft_type == FftType::r2c, input_sizes(p), resolved_input_layout(p)};
}
inline Side output_side(const Problem& p) {
  return {p.fft_type == FftType::c2r, output_sizes(p), resolved_output_layout(p)};
}

template <class T>
std::vector<LongComplex> read(const Side& side, const std::vector<T>& array, std::int64_t b) {
  const std::int64_t elements = volume(side.sizes);
  std::vector<LongComplex> values;
  values.reserve(static_cast<std::size_t>(elements));
  for (std::int64_t element = 0; element < elements; ++element) {
    const std::int64_t i = side.at(element, b);
    values.push_back(side.real ? LongComplex(array[i]) : LongComplex(array[2 * i], array[2 * i + 1]));
  }
  return values;
}

// The expected output, from dense input values of one transform.
inline std::vector<LongComplex> expected(const Problem& p, const std::vector<LongComplex>& in) {
  if (p.fft_type == FftType::c2c) return direct_dft(in, p.n, p.sign);
  const std::int64_t half = p.n[0] / 2 + 1, rows = volume(p.n) / p.n[0];
  std::vector<LongComplex> result;
  if (p.fft_type == FftType::r2c) {
    const auto full = direct_dft(in, p.n, p.sign);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t x = 0; x < half; ++x) result.push_back(full[r * p.n[0] + x]);
    return result;
  }
  // c2r: the real part of the sum over stored entries, where those with a mirror image count twice.
  std::vector<LongComplex> full(volume(p.n));
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t x = 0; x < half; ++x)
      full[r * p.n[0] + x] = in[r * half + x] * (x == 0 || 2 * x == p.n[0] ? Long(1) : Long(2));
  for (const LongComplex& v : direct_dft(full, p.n, p.sign)) result.push_back(v.real());
  return result;
}

inline Long norm(const std::vector<LongComplex>& v) {
  Long sum = 0;
  for (const auto& x : v) sum += std::norm(x);
  return std::sqrt(sum);
}
inline Long distance(const std::vector<LongComplex>& a, const std::vector<LongComplex>& b) {
  EXPECT_EQ(a.size(), b.size());
  std::vector<LongComplex> d(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) d[i] = a[i] - b[i];
  return norm(d);
}
inline Long inner(const std::vector<LongComplex>& a, const std::vector<LongComplex>& b) {
  Long sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (std::conj(a[i]) * b[i]).real();
  return sum;
}

template <class T>
std::vector<T> random_array(std::mt19937_64& random, std::int64_t size) {
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<T> array(size);
  for (T& x : array) x = static_cast<T>(value(random));
  return array;
}

template <class T>
Long tolerance(const Problem& p) {
  return 8 * std::numeric_limits<T>::epsilon() * (1 + std::log2(static_cast<Long>(volume(p.n))));
}

// Runs problem and adjoint on random data; checks values, adjointness and that inputs and gaps are unchanged.
template <class T>
void check(const Problem& p, const Plan& plan, std::mt19937_64& random, std::int64_t shift = 0) {
  SCOPED_TRACE(to_token(p) + " " + to_text(plan, p));
  const auto executor = make_fft_executor(p, plan, {});
  const Side in = input_side(p), out = output_side(p);
  const std::int64_t in_reals = in.span(p.batch) * (in.real ? 1 : 2),
                     out_reals = out.span(p.batch) * (out.real ? 1 : 2);
  const bool in_place = p.place == Place::in;
  const std::int64_t reals = std::max(in_reals, out_reals);
  const auto x = random_array<T>(random, (in_place ? reals : in_reals) + shift);
  const auto y = random_array<T>(random, (in_place ? reals : out_reals) + shift);
  const auto shifted = [shift](const std::vector<T>& v) { return std::vector<T>(v.begin() + shift, v.end()); };

  auto input = x, output = y;
  executor->execute(input.data() + shift, (in_place ? input : output).data() + shift, false);
  if (in_place) {
    output = input;
  } else {
    EXPECT_EQ(input, x) << "input changed";
  }
  // The adjoint goes from the output side of fresh data to the input side.
  auto back = x, forth = y;
  executor->execute((in_place ? forth : back).data() + shift, forth.data() + shift, true);
  if (in_place) {
    back = forth;
  } else {
    EXPECT_EQ(forth, y) << "input of the adjoint changed";
  }
  const auto x_array = shifted(x), y_array = shifted(y), ax_array = shifted(output), aty_array = shifted(back);
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const auto xs = read(in, x_array, b), ys = read(out, y_array, b);
    const auto ax = read(out, ax_array, b), aty = read(in, aty_array, b);
    const auto reference = expected(p, xs);
    EXPECT_LE(distance(ax, reference), tolerance<T>(p) * norm(reference)) << "transform " << b;
    EXPECT_NEAR(inner(ys, ax), inner(aty, xs), 4 * tolerance<T>(p) * norm(ys) * norm(ax))
        << "adjoint of transform " << b;
  }
  if (!in_place) {  // elements between those of the layout must not change
    std::vector<char> touched(out_reals, 0);
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t element = 0; element < volume(out.sizes); ++element) {
        const std::int64_t at = out.at(element, b);
        if (out.real) {
          touched[at] = 1;
        } else {
          touched[2 * at] = touched[2 * at + 1] = 1;
        }
      }
    for (std::int64_t i = 0; i < out_reals; ++i) {
      if (!touched[i]) {
        ASSERT_EQ(output[i + shift], y[i + shift]) << "gap element " << i;
      }
    }
  }
}

inline void check(const Problem& p, const Plan& plan, std::mt19937_64& random, std::int64_t shift = 0) {
  p.precision == Precision::f32 ? check<float>(p, plan, random, shift) : check<double>(p, plan, random, shift);
}

// The families of this build.
inline std::vector<FftFamily> families() {
  if (!has_fftw()) return {FftFamily::rows};
  return {FftFamily::fftw, FftFamily::rows};
}

inline Plan plan_of(FftFamily family, Rigor rigor = Rigor::estimate, int threads = 1, int block = 16) {
  Plan plan;
  plan.cpu().threads = threads;
  plan.cpu().fft = {family, rigor, block};
  return plan;
}

inline Problem problem_of(const std::string& token) { return parse_problem("fft:" + token); }

}  // namespace fourtune::runtime::cpu::fft_check
