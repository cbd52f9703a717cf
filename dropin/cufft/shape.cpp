#include "dropin/cufft/shape.h"

#include <algorithm>

namespace fourtune::dropin {
namespace {

ArrayLayout layout_of(const EmbeddedArray& array, int rank) {
  ArrayLayout layout;
  std::int64_t stride = array.stride;
  for (int d = 0; d < rank; ++d) {
    layout.stride[static_cast<std::size_t>(d)] = stride;
    if (d + 1 < rank)
      stride = checked_multiply(stride, array.embed[static_cast<std::size_t>(rank - 1 - d)], "the array's stride");
  }
  layout.distance = array.distance;
  return layout;
}

bool is_positive(const EmbeddedArray& array, int rank) {
  return array.stride > 0 && array.distance >= 0 &&
         std::all_of(array.embed.begin() + 1, array.embed.begin() + rank, [](std::int64_t one) { return one > 0; });
}

// Sets the layout unless it is the default one.
void set_layout(std::optional<ArrayLayout>& of_problem, ArrayLayout wanted, ArrayLayout natural,
                const Problem& problem) {
  if (problem.batch == 1) wanted.distance = natural.distance;
  for (int d = 0; d < problem.dim; ++d)
    if (problem.n[static_cast<std::size_t>(d)] == 1)
      wanted.stride[static_cast<std::size_t>(d)] = natural.stride[static_cast<std::size_t>(d)];
  if (wanted != natural) of_problem = wanted;
}

}  // namespace

std::optional<KindOfFft> kind_of(int cufft_type) noexcept {
  switch (cufft_type) {
    case kC2C:
      return KindOfFft{FftType::c2c, Precision::f32};
    case kZ2Z:
      return KindOfFft{FftType::c2c, Precision::f64};
    case kR2C:
      return KindOfFft{FftType::r2c, Precision::f32};
    case kD2Z:
      return KindOfFft{FftType::r2c, Precision::f64};
    case kC2R:
      return KindOfFft{FftType::c2r, Precision::f32};
    case kZ2D:
      return KindOfFft{FftType::c2r, Precision::f64};
    default:
      return std::nullopt;
  }
}

std::optional<KindOfFft> kind_of(int input, int output, int execution) noexcept {
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    const int real = precision == Precision::f32 ? kReal32 : kReal64;
    const int complex = precision == Precision::f32 ? kComplex32 : kComplex64;
    if (execution != complex) continue;
    if (input == complex && output == complex) return KindOfFft{FftType::c2c, precision};
    if (input == real && output == complex) return KindOfFft{FftType::r2c, precision};
    if (input == complex && output == real) return KindOfFft{FftType::c2r, precision};
  }
  return std::nullopt;
}

std::optional<CufftShape> shape_of(KindOfFft kind, const ManyArguments& many) noexcept {
  if (many.rank < 1 || many.rank > 3 || !many.n || many.batch < 1) return std::nullopt;
  if (!many.in_embed != !many.out_embed) return std::nullopt;  // the documentation does not say what half a layout is
  CufftShape shape;
  shape.type = kind.type, shape.precision = kind.precision;
  shape.rank = many.rank;
  shape.batch = many.batch;
  std::copy_n(many.n, many.rank, shape.n.begin());
  if (std::any_of(shape.n.begin(), shape.n.begin() + many.rank, [](std::int64_t n) { return n < 1; }))
    return std::nullopt;
  if (many.in_embed) {
    shape.input.emplace();
    shape.output.emplace();
    std::copy_n(many.in_embed, many.rank, shape.input->embed.begin());
    std::copy_n(many.out_embed, many.rank, shape.output->embed.begin());
    shape.input->stride = many.in_stride, shape.input->distance = many.in_distance;
    shape.output->stride = many.out_stride, shape.output->distance = many.out_distance;
    if (!is_positive(*shape.input, many.rank) || !is_positive(*shape.output, many.rank)) return std::nullopt;
  }
  return shape;
}

Problem problem_of(const CufftShape& shape, Place place, int direction) {
  Problem problem;
  problem.kind = Kind::fft;
  problem.fft_type = shape.type;
  problem.precision = shape.precision;
  problem.dim = shape.rank;
  for (int d = 0; d < shape.rank; ++d)
    problem.n[static_cast<std::size_t>(d)] = shape.n[static_cast<std::size_t>(shape.rank - 1 - d)];
  problem.batch = shape.batch;
  problem.place = place;
  problem.sign = shape.type == FftType::c2c ? direction : shape.type == FftType::r2c ? kCufftForward : kCufftInverse;
  validate(problem);
  if (shape.input) {
    const ArrayLayout input = resolved_input_layout(problem), output = resolved_output_layout(problem);
    set_layout(problem.input_layout, layout_of(*shape.input, shape.rank), input, problem);
    set_layout(problem.output_layout, layout_of(*shape.output, shape.rank), output, problem);
    validate(problem);
  }
  if (place == Place::in && shape.type != FftType::c2c && (problem.input_layout || problem.output_layout))
    throw Error(Status::unsupported, "a real transform in place has the default layout, with padded rows");
  // Where x has one value, a plane of the spectrum is all of it. cuFFT adds up what the program gives; our kernels take
  // half and rely on its symmetry.
  if (shape.type == FftType::c2r && shape.rank > 1 && problem.n[0] == 1)
    throw Error(Status::unsupported, "a c2r whose fastest dimension has length 1");
  return problem;
}

}  // namespace fourtune::dropin
