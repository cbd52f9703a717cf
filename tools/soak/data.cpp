#include "tools/soak/data.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

#include "tools/soak/points.h"
#include "tuner/reference/phase.h"
#include "tuner/reference/synthetic.h"

namespace fourtune::tools {
namespace {

ArraySide fft_side(const Problem& problem, bool input) {
  const bool real = problem.fft_type == (input ? FftType::r2c : FftType::c2r);
  return {input ? input_sizes(problem) : output_sizes(problem),
          input ? resolved_input_layout(problem) : resolved_output_layout(problem), problem.batch, real ? 1 : 2,
          real_bytes(problem.precision)};
}
ArraySide list_side(const Problem& problem, std::int64_t count) {
  ArraySide side;
  side.size[0] = count;
  side.layout.stride[0] = 1;
  side.layout.distance = count;
  side.batch = problem.batch;
  side.real_size = real_bytes(problem.precision);
  return side;
}

// Generates random values (with Hermitian symmetry if a half spectrum is read as one) and stores them at the layout's
// positions.
template <class T>
void fill_input(CaseData& data) {
  const Problem& problem = data.one.problem;
  const bool real_fft = problem.kind == Kind::fft && problem.fft_type != FftType::c2c;
  const ArraySide& from = data.from;
  const std::int64_t count = element_count(from.size) * from.batch;
  std::vector<T> dense(static_cast<std::size_t>(count * from.parts));
  const std::span<std::complex<T>> pairs(reinterpret_cast<std::complex<T>*>(dense.data()), dense.size() / 2);
  if (from.parts == 1)
    tuner::fill_random<T>(std::span<T>(dense), data.one.seed + 2);
  else if (real_fft)
    tuner::fill_half_spectrum<T>(pairs, problem.n, problem.batch, data.one.seed + 2);
  else
    tuner::fill_random<T>(pairs, data.one.seed + 2);
  auto* to = reinterpret_cast<T*>(data.input.data());
  std::size_t next = 0;
  from.each([&](std::int64_t at) {
    for (int part = 0; part < from.parts; ++part) to[at + part] = dense[next++];
  });
}

template <class T>
void fill_points(CaseData& data) {
  const Problem& problem = data.one.problem;
  const auto append = [&](Bytes& to, const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    to.insert(to.end(), bytes, bytes + values.size() * sizeof(T));
  };
  for (std::int64_t b = 0; b < (data.one.distinct ? problem.batch : 1); ++b) {
    const CasePoints<T> points = make_case_points<T>(data.one, b);
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d) {
      append(data.coordinates[d], points.sources.x[d]);
      if (problem.type == 3) append(data.coordinates[3 + d], points.targets.x[d]);
    }
  }
}

// Calls apply(values of a, values of b) with the right types.
template <class Apply>
auto typed(const ArraySide& side, const Bytes& a, const Bytes& b, Apply apply) {
  return side.real_size == 4
             ? apply(reinterpret_cast<const float*>(a.data()), reinterpret_cast<const float*>(b.data()))
             : apply(reinterpret_cast<const double*>(a.data()), reinterpret_cast<const double*>(b.data()));
}

}  // namespace

std::size_t ArraySide::bytes() const {
  std::int64_t last = layout.distance * (batch - 1);
  for (std::size_t d = 0; d < size.size(); ++d) {
    if (size[d] == 0) return 0;
    last += layout.stride[d] * (size[d] - 1);
  }
  return static_cast<std::size_t>((last + 1) * parts * real_size);
}

CaseData::CaseData(const SoakCase& wanted) : one(wanted) {
  const Problem& problem = one.problem;
  ArraySide first, second;
  if (problem.kind == Kind::fft) {
    first = fft_side(problem, true), second = fft_side(problem, false);
    in_place = problem.place == Place::in;
    reads_first = !one.adjoint;
  } else {
    first = list_side(problem, *problem.m);
    second = list_side(problem, problem.type == 3 ? *problem.k : mode_count(problem));
    reads_first = (problem.type != 2) != one.adjoint;
    problem.precision == Precision::f32 ? fill_points<float>(*this) : fill_points<double>(*this);
  }
  first_bytes = first.bytes(), second_bytes = second.bytes();
  if (in_place) first_bytes = second_bytes = std::max(first_bytes, second_bytes);
  from = reads_first ? first : second;
  to = reads_first ? second : first;
  input.assign(from.bytes(), kUnwritten);
  problem.precision == Precision::f32 ? fill_input<float>(*this) : fill_input<double>(*this);
}

double difference(const ArraySide& side, const Bytes& a, const Bytes& b) {
  return typed(side, a, b, [&](const auto* x, const auto* y) {
    double error = 0, norm = 0;
    side.each([&](std::int64_t at) {
      for (std::int64_t i = at; i < at + side.parts; ++i) {
        const double off = static_cast<double>(x[i]) - static_cast<double>(y[i]);
        error += off * off;
        norm += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      }
    });
    return error == 0 ? 0 : std::sqrt(error / norm);
  });
}

bool same_bits(const ArraySide& side, const Bytes& a, const Bytes& b) {
  bool same = true;
  const auto element = static_cast<std::size_t>(side.parts * side.real_size);
  side.each([&](std::int64_t at) {
    const auto first = static_cast<std::size_t>(at * side.real_size);
    same = same && std::memcmp(a.data() + first, b.data() + first, element) == 0;
  });
  return same;
}

double inner_product(const ArraySide& side, const Bytes& a, const Bytes& b) {
  return typed(side, a, b, [&](const auto* x, const auto* y) {
    tuner::CompensatedSum sum;
    side.each([&](std::int64_t at) {
      for (std::int64_t i = at; i < at + side.parts; ++i)
        sum.add({static_cast<double>(x[i]) * static_cast<double>(y[i]), 0});
    });
    return sum.value().real();
  });
}

bool gaps_unwritten(const ArraySide& side, const Bytes& array) {
  const auto real = static_cast<std::size_t>(side.real_size);
  std::vector<bool> taken(array.size() / real, false);
  side.each([&](std::int64_t at) {
    for (std::int64_t i = at; i < at + side.parts; ++i) taken[static_cast<std::size_t>(i)] = true;
  });
  const auto unwritten = [](std::byte byte) { return byte == kUnwritten; };
  for (std::size_t i = 0; i < taken.size(); ++i)
    if (!taken[i] && !std::all_of(&array[i * real], &array[i * real] + real, unwritten)) return false;
  return true;
}

}  // namespace fourtune::tools
