// Parameters, geometry and the shared prelude.
#include "generator/codegen/nufft/kernels.h"

#include <fmt/format.h>

#include <charconv>

#include "fourtune/status.h"
#include "generator/codegen/nufft/launches.h"
#include "generator/plan/nufft/rules.h"
#include "launch_order_text.h"
#include "nufft_block_sums_text.h"
#include "nufft_clear_text.h"
#include "nufft_common_text.h"
#include "nufft_device_text.h"
#include "nufft_record_text.h"
#include "nufft_task_text.h"
#include "nufft_tasks_text.h"

namespace fourtune::generator::nufft {
namespace {

// Writes a constant so that the compiler reads back the same value.
std::string constant(double value, Precision precision) {
  if (precision == Precision::f32) value = static_cast<float>(value);
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value < 0 ? -value : value, std::chars_format::hex).ptr;
  return fmt::format("{}0x{}{}", value < 0 ? "-" : "", std::string_view(text, static_cast<std::size_t>(end - text)),
                     precision == Precision::f32 ? "f" : "");
}

// The rules come before everything that follows from the parameters.
const Parameters& checked(const Shape& shape, const Parameters& parameters) {
  require(broken_rule(shape, parameters));
  return parameters;
}

}  // namespace

std::string window_text(const PiecewisePolynomial& window, Precision precision) {
  const int w = window.width, degree = window.degree;
  std::string text = "NUFFT_DEVICE void nufft_window(real z, real* v) {\n  const real t = z * z;\n  real e, o;\n";
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

StageKernels::StageKernels(const Shape& shape, const Parameters& parameters, const PiecewisePolynomial& window)
    : shape_(shape), parameters_(checked(shape, parameters)), window_(window), bins_(shape, parameters) {
  if (window.width != shape.width)
    throw Error(Status::invalid_plan,
                fmt::format("nufft kernels: polynomial of width {} for width {}", window.width, shape.width));
  for (auto d = static_cast<std::size_t>(shape.dim); d < 3; ++d) parameters_.bin[d] = 1;
}

void require(const std::string& broken_rule) {
  if (!broken_rule.empty()) throw Error(Status::invalid_plan, "nufft kernels: " + broken_rule);
}

std::string StageKernels::suffix() const {
  return fmt::format("{}d_{}_w{}", shape_.dim, shape_.precision == Precision::f32 ? "f32" : "f64", shape_.width);
}

std::string StageKernels::prelude(const std::string& entry, const std::string& more, bool with_window) const {
  const RecordLayout& layout = bins_.layout();
  const bool f32 = shape_.precision == Precision::f32;
  const char *real = f32 ? "float" : "double", *fma = f32 ? "__fmaf_rn" : "__fma_rn";
  std::string text = fmt::format("typedef {0} real;\ntypedef {0}2 real2;\ntypedef {1} count;\n", real,
                                 shape_.large_counts ? "unsigned long long" : "unsigned");
  text += fmt::format("#define NUFFT_ENTRY {}\n#define NUFFT_DOUBLE {}\n#define NUFFT_DIM {}\n#define NUFFT_W {}\n",
                      entry, f32 ? 0 : 1, shape_.dim, shape_.width);
  for (int d = 0; d < 3; ++d)
    text += fmt::format(
        "#define NUFFT_N{0} {1}\n#define NUFFT_B{0} {2}\n#define NUFFT_NB{0} {3}\n#define NUFFT_CELL{0} {4}\n", d,
        shape_.fine[d], parameters_.bin[d], bins_.along(d), layout.cell[d]);
  text += fmt::format(
      "#define NUFFT_FRACTION {}\n#define NUFFT_RECORD_WORDS {}\n#define NUFFT_RELATIVE {}\n#define NUFFT_GROUP_BITS "
      "{}\n#define NUFFT_LOW_BITS {}\n#define NUFFT_STOLEN {}\n",
      layout.fraction, layout.words, layout.whole ? 0 : 1, layout.group_bits, layout.low_bits, layout.stolen);
  text += fmt::format("#define NUFFT_PLANE_CELLS {}ll\n#define NUFFT_SLIDE {}\n",
                      shape_.dim == 3 ? shape_.fine[0] * shape_.fine[1] : shape_.fine[0], bins_.slide());
  text += fmt::format("#define NUFFT_SLICE {}u\n#define NUFFT_SLICE_BINS {}ll\n", parameters_.slice, bins_.count());
  text += fmt::format("#define NUFFT_GROUP_BINS {}ll\n#define NUFFT_CAP {}u\n", bins_.count() / bins_.groups(),
                      parameters_.cap);
  if (shape_.period > 0)
    text += fmt::format("#define NUFFT_SLAB {}\n#define NUFFT_BINS_BEFORE {}ll\n", shape_.period,
                        shape_.before / parameters_.bin[static_cast<std::size_t>(shape_.dim - 1)]);
  if (shape_.agreed) text += "#define NUFFT_AGREED 1\n";
  text += more;
  text += nufft_device_text;
  text += fmt::format("NUFFT_DEVICE {0} nufft_fma({0} a, {0} b, {0} c) {{ return {1}(a, b, c); }}\n", real, fma);
  if (f32) text += "NUFFT_DEVICE double nufft_fma(double a, double b, double c) { return __fma_rn(a, b, c); }\n";
  return with_window ? text + window_text(window_, shape_.precision) : text;
}

KernelSource StageKernels::kernel(const std::string& entry, const std::string& body, const std::string& more,
                                  const Block& block, bool with_window) const {
  KernelSource source;
  source.entry = fmt::format("nufft_{}_{}", entry, suffix());
  source.text = prelude(source.entry, more, with_window) + launch_order_text + nufft_task_text + nufft_common_text;
  // Every text that a kernel does not need takes time to read, for one thread of a process at a time.
  if (body.find("Record") != body.npos || body.find("Located") != body.npos) source.text += nufft_record_text;
  source.text += body;
  source.block = {static_cast<std::uint32_t>(block.threads()), 1, 1};
  if (block.shared_bytes > shape_.shared_bytes)
    throw Error(Status::internal, fmt::format("{}: no rule excludes {} bytes of shared memory, {} are allowed",
                                              source.entry, block.shared_bytes, shape_.shared_bytes));
  source.shared_bytes = static_cast<std::uint32_t>(block.shared_bytes);
  return source;
}

KernelSource StageKernels::clear_kernel() const {
  KernelSource source;
  source.entry = "nufft_clear";
  source.text =
      fmt::format("#define NUFFT_ENTRY {}\n", source.entry) + nufft_device_text + launch_order_text + nufft_clear_text;
  source.block = {256, 1, 1};
  return source;
}

KernelSource StageKernels::offsets_kernel() const {
  constexpr int kThreads = 512;
  const bool large = shape_.large_counts;
  KernelSource source;
  source.entry = fmt::format("nufft_offsets_{}", large ? 64 : 32);
  source.text =
      fmt::format("typedef {} count;\n#define NUFFT_ENTRY {}\n#define NUFFT_THREADS {}\n#define NUFFT_TILE {}\n",
                  large ? "unsigned long long" : "unsigned", source.entry, kThreads, kTileOfOffsets) +
      fmt::format("#define NUFFT_ITEMS {}\n", kLongGroup / kThreads);
  source.text +=
      std::string(nufft_device_text) + launch_order_text + nufft_block_sums_text + nufft_task_text + nufft_tasks_text;
  source.block = {kThreads, 1, 1};
  source.shared_bytes = static_cast<std::uint32_t>(4 * 8 + (32 + 2 * (kTileOfOffsets + 1)) * (large ? 8 : 4));
  return source;
}

}  // namespace fourtune::generator::nufft
