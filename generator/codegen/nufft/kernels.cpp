// Parameters, geometry and the shared prelude.
#include "generator/codegen/nufft/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "fourtune/status.h"
#include "launch_order_text.h"
#include "nufft_common_text.h"
#include "nufft_record_text.h"

namespace fourtune::generator::nufft {
namespace {

int bits_of(std::int64_t n) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1))); }

// Writes a constant so that the compiler reads back the same value.
std::string constant(double value, Precision precision) {
  if (precision == Precision::f32) value = static_cast<float>(value);
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value < 0 ? -value : value, std::chars_format::hex).ptr;
  return fmt::format("{}0x{}{}", value < 0 ? "-" : "", std::string_view(text, static_cast<std::size_t>(end - text)),
                     precision == Precision::f32 ? "f" : "");
}

void refuse(const std::string& why) { throw Error(Status::invalid_plan, "nufft kernels: " + why); }

}  // namespace

std::string window_text(const PiecewisePolynomial& window, Precision precision) {
  const int w = window.width, degree = window.degree;
  std::string text =
      "NUFFT_DEVICE_FUNCTION void nufft_window(real z, real* v) {\n  const real t = z * z;\n  real e, o;\n";
  for (int p = 0; p <= (w - 1) / 2; ++p) {
    const bool middle = 2 * p == w - 1;
    for (const int parity : {0, 1}) {
      if (middle && parity == 1) continue;  // the middle piece is even
      const char* name = parity == 0 ? "e" : "o";
      const int top = degree % 2 == parity ? degree : degree - 1;
      if (top < parity) {
        text += fmt::format("  {} = 0;\n", name);
        continue;
      }
      for (int power = top; power >= parity; power -= 2) {
        const std::string c = constant(window.coefficient(degree - power, p), precision);
        text += power == top ? fmt::format("  {} = {};\n", name, c)
                             : fmt::format("  {0} = nufft_fma({0}, t, {1});\n", name, c);
      }
    }
    if (middle)
      text += fmt::format("  v[{}] = e;\n", p);
    else
      text += fmt::format("  v[{}] = nufft_fma(z, o, e);\n  v[{}] = nufft_fma(-z, o, e);\n", p, w - 1 - p);
  }
  return text + "}\n";
}

Kernels::Kernels(const Shape& shape, const Parameters& parameters, const PiecewisePolynomial& window)
    : shape_(shape), parameters_(parameters), window_(window) {
  const int w = shape.width;
  if (shape.dim < 1 || shape.dim > 3) refuse(fmt::format("dimension {}, allowed are 1 to 3", shape.dim));
  if (w < kMinWidth || w > kMaxGaussianWidth)
    refuse(fmt::format("width {}, allowed are {} to {}", w, kMinWidth, kMaxGaussianWidth));
  if (window.width != w) refuse(fmt::format("polynomial of width {} for width {}", window.width, w));
  std::array<int, 3> whole{}, inside{};  // bits of a first cell, and of its place in its bin
  for (int d = 0; d < 3; ++d) {
    const std::int64_t n = shape.fine[d];
    if (d >= shape.dim ? n != 1 : n < w)
      refuse(fmt::format("{} cells in dimension {}, at least the width {} are needed (1 where absent)", n, d, w));
    if (n >= std::int64_t{1} << 30) refuse(fmt::format("{} cells in dimension {}, less than 2^30 are allowed", n, d));
    if (parameters.bin[d] < 1) refuse(fmt::format("bin of {} cells in dimension {}", parameters.bin[d], d));
    if (d >= shape.dim) parameters_.bin[d] = 1;
    bins_[d] = (n + parameters_.bin[d] - 1) / parameters_.bin[d];
    whole[d] = bits_of(n), inside[d] = bits_of(parameters_.bin[d]);
  }
  if (shape.fine[0] * shape.fine[1] >= std::int64_t{1} << 31) refuse("a plane of 2^31 cells or more");
  if (parameters.cap < 1) refuse("cap below 1");
  if (parameters.segment < 0 || parameters.segment > 16384 || parameters.segment % 512 != 0)
    refuse(fmt::format("segments of {} points, allowed are multiples of 512 up to 16384", parameters.segment));
  const int lanes = parameters.lanes;
  if (lanes < 1 || lanes > 16 || (lanes & (lanes - 1)) != 0)
    refuse(fmt::format("{} lanes, allowed are 1, 2, 4, 8, 16", lanes));
  if (parameters.warps < 1 || parameters.warps > 16)
    refuse(fmt::format("{} warps, allowed are 1 to 16", parameters.warps));
  if (parameters.slice < 0) refuse(fmt::format("slices of {} points", parameters.slice));
  const int group = parameters.group, most = shape.precision == Precision::f32 ? 32 : 16;
  if (group < 1 || group > most || (group & (group - 1)) != 0)
    refuse(fmt::format("groups of {} transforms, allowed are powers of two up to {}", group, most));
  if (bins() >= std::int64_t{1} << (shape.large_counts ? 40 : 31)) refuse(fmt::format("{} bins are too many", bins()));
  // Slices have separate bins, which may be more than a coarse bin's number has bits for.
  const bool relative =
      !shape.whole_cells && !shape.large_counts && parameters.order != Order::caller && parameters.slice == 0;
  layout_ = make_record_layout(shape.dim, shape.precision, shape.unit, relative ? inside : whole, !relative,
                               bits_of(bins() / groups()), most_coarse_bits());
}

int Kernels::slide() const { return parameters_.order == Order::slide && shape_.dim > 1 ? shape_.dim - 1 : 0; }
std::int64_t Kernels::bins() const { return bins_[0] * bins_[1] * bins_[2]; }
std::int64_t Kernels::groups() const {
  return slide() == 0 ? bins() : bins() / bins_[static_cast<std::size_t>(slide())];
}
std::int64_t Kernels::slices(std::int64_t m) const {
  if (parameters_.slice == 0 || parameters_.order == Order::caller) return 1;
  return std::max<std::int64_t>(1, (m + parameters_.slice - 1) / parameters_.slice);
}
std::int64_t Kernels::most_tasks(std::int64_t m) const {
  return std::min(m, groups() * slices(m) + m / parameters_.cap);
}

std::string Kernels::suffix() const {
  return fmt::format("{}d_{}_w{}", shape_.dim, shape_.precision == Precision::f32 ? "f32" : "f64", shape_.width);
}

std::string Kernels::prelude(const std::string& entry, const std::string& more, bool with_window) const {
  const bool f32 = shape_.precision == Precision::f32;
  const char *real = f32 ? "float" : "double", *fma = f32 ? "__fmaf_rn" : "__fma_rn";
  std::string text = fmt::format("typedef {0} real;\ntypedef {0}2 real2;\ntypedef {1} count;\n", real,
                                 shape_.large_counts ? "unsigned long long" : "unsigned");
  text += fmt::format("#define NUFFT_ENTRY {}\n#define NUFFT_DOUBLE {}\n#define NUFFT_DIM {}\n#define NUFFT_W {}\n",
                      entry, f32 ? 0 : 1, shape_.dim, shape_.width);
  for (int d = 0; d < 3; ++d)
    text += fmt::format(
        "#define NUFFT_N{0} {1}\n#define NUFFT_B{0} {2}\n#define NUFFT_NB{0} {3}\n#define NUFFT_CELL{0} {4}\n", d,
        shape_.fine[d], parameters_.bin[d], bins_[d], layout_.cell[d]);
  text += fmt::format(
      "#define NUFFT_FRACTION {}\n#define NUFFT_RECORD_WORDS {}\n#define NUFFT_RELATIVE {}\n#define NUFFT_GROUP_BITS "
      "{}\n#define NUFFT_LOW_BITS {}\n#define NUFFT_STOLEN {}\n",
      layout_.fraction, layout_.words, layout_.whole ? 0 : 1, layout_.group_bits, layout_.low_bits, layout_.stolen);
  text += fmt::format("#define NUFFT_PLANE_CELLS {}ll\n#define NUFFT_SLIDE {}\n",
                      shape_.dim == 3 ? shape_.fine[0] * shape_.fine[1] : shape_.fine[0], slide());
  text += fmt::format("#define NUFFT_SLICE {}u\n#define NUFFT_SLICE_BINS {}ll\n", parameters_.slice, bins());
  text += fmt::format("#define NUFFT_GROUP_BINS {}ll\n#define NUFFT_CAP {}u\n",
                      slide() == 0 ? 1 : bins_[static_cast<std::size_t>(slide())], parameters_.cap);
  text += more;
  text +=
      "#if defined(FOURTUNE_EMULATED)\n#define NUFFT_DEVICE_FUNCTION inline\n#else\n"
      "#define NUFFT_DEVICE_FUNCTION __device__ __forceinline__\n#endif\n";
  text +=
      fmt::format("NUFFT_DEVICE_FUNCTION {0} nufft_fma({0} a, {0} b, {0} c) {{ return {1}(a, b, c); }}\n", real, fma);
  if (f32)
    text += "NUFFT_DEVICE_FUNCTION double nufft_fma(double a, double b, double c) { return __fma_rn(a, b, c); }\n";
  return with_window ? text + window_text(window_, shape_.precision) : text;
}

KernelSource Kernels::kernel(const std::string& entry, const std::string& body, const std::string& more, int threads,
                             std::int64_t shared_bytes, bool with_window) const {
  KernelSource source;
  source.entry = fmt::format("nufft_{}_{}", entry, suffix());
  source.text =
      prelude(source.entry, more, with_window) + launch_order_text + nufft_common_text + nufft_record_text + body;
  source.block = {static_cast<std::uint32_t>(threads), 1, 1};
  if (shared_bytes > shape_.shared_bytes)
    refuse(fmt::format("{} needs {} bytes of shared memory, {} are allowed", source.entry, shared_bytes,
                       shape_.shared_bytes));
  source.shared_bytes = static_cast<std::uint32_t>(shared_bytes);
  return source;
}

void on_device(Shape& shape, const DeviceTraits& traits) {
  if (traits.shared_per_block > 0) shape.shared_bytes = traits.shared_per_block;
  if (traits.multiprocessors > 0) shape.multiprocessors = traits.multiprocessors;
}

}  // namespace fourtune::generator::nufft
