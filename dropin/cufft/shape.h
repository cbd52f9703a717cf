// What a plan of cuFFT describes, and the problems of ours that it stands for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "dropin/cufft/interface.h"
#include "fourtune/problem.h"

namespace fourtune::dropin {

// One array of cuFFT's advanced layout. The element (z, y, x) lies at ((z embed[1] + y) embed[2] + x) stride, where x
// is the last dimension; transforms of a batch are `distance` apart, both in elements.
struct EmbeddedArray {
  std::array<std::int64_t, 3> embed{};  // the slowest dimension first, as all of cuFFT's sizes
  std::int64_t stride = 1, distance = 0;
};

struct CufftShape {
  FftType type = FftType::c2c;
  Precision precision = Precision::f32;
  int rank = 1;
  std::array<std::int64_t, 3> n{};  // the slowest dimension first
  std::int64_t batch = 1;
  std::optional<EmbeddedArray> input, output;  // absent: dense, with padded rows of a real transform in place
};

struct KindOfFft {
  FftType type;
  Precision precision;
};
// Of the CufftType; nullopt for any other number.
std::optional<KindOfFft> kind_of(int cufft_type) noexcept;
// Of the types of input, output and arithmetic; nullopt for half precision and what else we do not do.
std::optional<KindOfFft> kind_of(int input, int output, int execution) noexcept;

// The shape of cufft..Many. Null arrays `in` or `out` of embeds: the default layout. nullopt where ranks or pointers
// make no sense, which the real library has refused or knows better.
struct ManyArguments {
  int rank;
  const Long* n;
  const Long* in_embed;
  Long in_stride, in_distance;
  const Long* out_embed;
  Long out_stride, out_distance;
  Long batch;
};
std::optional<CufftShape> shape_of(KindOfFft kind, const ManyArguments& many) noexcept;

// The problem of an execute with this direction (complex transforms only; others have one). Throws Error for layouts
// that we do not do.
Problem problem_of(const CufftShape& shape, Place place, int direction);

}  // namespace fourtune::dropin
