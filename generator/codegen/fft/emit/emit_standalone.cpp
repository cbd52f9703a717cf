// A program as one .cu file with a main function.
#include <fmt/format.h>

#include <cstring>

#include "base/layout.h"
#include "fft_standalone_text.h"
#include "fourtune/status.h"
#include "generator/codegen/fft/codelet/codelet.h"
#include "generator/codegen/fft/emit/emit.h"
#include "generator/plan/fft/geometry.h"

namespace fourtune::generator::fft {
namespace {

// Sizes of the digits of a result's index along a dimension, least significant first, and their places. Without a plan
// there is one digit, in natural order.
std::string dimension_text(const FftPlan* plan, const EmitOptions& options, int d) {
  const std::int64_t n = options.n[static_cast<std::size_t>(d)];
  std::vector<std::int64_t> radix, stride;
  if (options.order == DigitOrder::primes || (plan && plan->order == DigitOrder::primes)) {
    radix = prime_factors(n);
    for (std::int64_t left = n; const std::int64_t p : radix) stride.push_back(left /= p);
  } else if (plan && plan->order != DigitOrder::natural) {
    stride = layout(*plan, static_cast<int>(plan->kernels.size()))[static_cast<std::size_t>(d)];
    for (const Kernel& kernel : plan->kernels)
      for (const SubFft& sub : kernel.subs)
        if (index(sub.dim) == d) radix.push_back(sub.radix);
  }
  if (radix.empty()) radix = {n}, stride = {1};
  std::string radices, strides;
  for (std::size_t i = 0; i < radix.size(); ++i)
    radices += fmt::format("{}{}", i ? ", " : "", radix[i]), strides += fmt::format("{}{}", i ? ", " : "", stride[i]);
  return fmt::format("    {{{}, {}, {{{}}}, {{{}}}}},\n", n, radix.size(), radices, strides);
}

std::string constant_text(const std::vector<std::byte>& bytes, Precision precision, std::size_t i) {
  std::string text = fmt::format("static const Real kConstant{}[] = {{", i);
  const auto size = static_cast<std::size_t>(real_bytes(precision));
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    float single = 0;
    double value = 0;
    if (precision == Precision::f32)
      std::memcpy(&single, bytes.data() + at, sizeof single), value = static_cast<double>(single);
    else
      std::memcpy(&value, bytes.data() + at, sizeof value);
    text += (at / size % 8 == 0 ? "\n    " : " ") + literal(value, precision) + ",";
  }
  return text + "\n};\n";
}

std::string argument_text(const LaunchArgument& argument) {
  const auto* buffer = std::get_if<BufferRef>(&argument);
  if (!buffer) throw Error(Status::unsupported, "a standalone program takes buffers only");
  static const char* where[] = {"'f'", "'s'", "'w'", "'c'"};
  return fmt::format("{{{}, {}, {}ll}}", where[static_cast<int>(buffer->where)], buffer->index, buffer->byte_offset);
}

std::string standalone(const GpuProgram& program, const std::string& title, const FftPlan* plan,
                       const EmitOptions& options) {
  bool plain = options.type == FftType::c2c && !options.input && !options.output;
  for (const auto& hook : options.hooks)
    plain = plain && !hook.input && !hook.output && hook.input_factors.empty() && hook.output_factors.empty();
  if (options.from == DigitOrder::primes || (plan && plan->from == DigitOrder::primes))
    throw Error(Status::unsupported, "a standalone program has its input in natural order");
  if (!plain) throw Error(Status::unsupported, "a standalone program does dense complex transforms without hooks");
  std::string text = fmt::format("// {}\n// nvcc -O3 -arch=sm_XX this.cu && ./a.out\n\n", title);
  for (std::size_t i = 0; i < program.kernels.size(); ++i)
    text += fmt::format("namespace kernel{} {{\n{}}}  // namespace kernel{}\n\n", i, program.kernels[i].text, i);
  text += fmt::format("typedef {} Real;\n", options.precision == Precision::f32 ? "float" : "double");
  text += fmt::format("static const char kPlan[] = \"{}\";\n", title);
  text += fmt::format(
      "static const int kSign = {};\nstatic const long long kBatch = {};\nstatic const bool kInPlace = {};\n",
      options.sign, options.batch, options.in_place);
  text += fmt::format("static const double kScale = {};\n", literal(options.scale, Precision::f64));
  text +=
      "struct Dimension { long long n; int digits; long long radix[40], stride[40]; };\nstatic const Dimension "
      "kDimensions[4] = {\n";
  for (int d = 0; d < most_dimensions; ++d) text += dimension_text(plan, options, d);
  text += "};\n";
  for (std::size_t i = 0; i < program.constants.size(); ++i)
    text += constant_text(program.constants[i], options.precision, i);
  text += "struct Constant { const void* data; long long bytes; };\nstatic const Constant kConstants[] = {\n";
  for (std::size_t i = 0; i < program.constants.size(); ++i)
    text += fmt::format("    {{kConstant{0}, sizeof kConstant{0}}},\n", i);
  if (program.constants.empty()) text += "    {nullptr, 0},\n";
  text += "};\nstatic const long long kWorkspaces[] = {";
  for (const auto bytes : program.workspace_bytes) text += fmt::format("{}ll, ", bytes);
  text += "0};\nenum { max_arguments = 16 };\nstruct Argument { char where; int index; long long offset; };\n";
  text +=
      "struct Launch { const void* kernel; unsigned grid, block, cluster, shared; long long bytes; int arguments; "
      "Argument argument[max_arguments]; };\n";
  text += "static const Launch kLaunches[] = {\n";
  for (const auto& launch : program.launches) {
    const KernelSource& kernel = program.kernels[static_cast<std::size_t>(launch.kernel)];
    std::string arguments;
    for (const auto& argument : launch.arguments)
      arguments += (arguments.empty() ? "" : ", ") + argument_text(argument);
    text += fmt::format("    {{(const void*)kernel{}::{}, {}, {}, {}, {}, {}ll, {}, {{{}}}}},\n", launch.kernel,
                        kernel.entry, launch.grid[0], kernel.block[0], kernel.cluster[0], kernel.shared_bytes,
                        launch.bytes, launch.arguments.size(), arguments);
  }
  return text + "};\n\n" + fft_standalone_text;
}

}  // namespace

std::string emit_standalone(const GpuProgram& program, const FftPlan& plan, const EmitOptions& options) {
  return standalone(program, to_text(plan), &plan, options);
}
std::string emit_standalone(const GpuProgram& program, const std::string& title, const EmitOptions& options) {
  return standalone(program, title, nullptr, options);
}

}  // namespace fourtune::generator::fft
