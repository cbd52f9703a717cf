#include "generator/planner/gpu_fft/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/codegen/fft/emit/pass_memory.h"
#include "generator/codegen/fft/lower/reach.h"
#include "generator/planner/gpu_fft/fitted_plan.h"

namespace fourtune::generator {
namespace {

// A half spectrum is completed along x when its values are loaded, from mirrored positions. Each of the other
// dimensions must be finished by then, or be transformed as a whole by that kernel.
bool completes_too_early(const fft::FftPlan& plan) {
  std::set<fft::Dim> before;
  bool loaded = false;
  for (const fft::Kernel& kernel : plan.kernels) {
    const auto of_x = [](const fft::SubFft& sub) { return sub.dim == fft::Dim::x; };
    const bool completes = !loaded && std::any_of(kernel.subs.begin(), kernel.subs.end(), of_x);
    for (const fft::SubFft& sub : kernel.subs) {
      if (of_x(sub)) continue;
      if (loaded || (completes && before.contains(sub.dim))) return true;
      if (!completes) before.insert(sub.dim);
    }
    loaded = loaded || completes;
  }
  return false;
}

// The output array may hold intermediate values if it is dense, complex and as long as they are.
bool output_may_hold(const fft::EmitOptions& options) {
  return options.type == FftType::c2c && !options.output && !(options.in_place && options.input);
}

bool fits(const fft::AnySizePasses& passes, const DeviceTraits& traits) {
  return traits.shared_per_block <= 0 || fft::block_bytes(passes) <= traits.shared_per_block;
}

// The passes of a program that nobody tuned.
fft::AnySizePasses plain_passes(fft::EmitOptions options, const DeviceTraits& traits) {
  options.device = traits;
  fft::AnySizePasses passes = fft::any_size_passes(options);
  if (passes.program.passes.empty())
    throw Error(Status::unsupported, "fft=plain: a transform of one value has no kernel");
  if (fits(passes, traits)) return passes;
  for (const std::int64_t n : options.n)
    if (!fft::has_codelets(n))
      throw Error(Status::unsupported,
                  fmt::format("fft=plain: length {} needs more shared memory than a block of {} has", n, traits.name));
  return {fft::plan_passes(fft::fitted_plan(options, traits), options), options, std::nullopt};
}
GpuProgram plain_program(const fft::EmitOptions& options, const DeviceTraits& traits) {
  return fft::emit_any_size(plain_passes(options, traits));
}

}  // namespace

fft::EmitOptions emit_options(const Problem& problem) {
  fft::EmitOptions options;
  options.n = problem.n;
  options.type = problem.fft_type;
  options.precision = problem.precision;
  options.sign = problem.sign;
  options.batch = problem.batch;
  options.in_place = problem.place == Place::in;
  options.input = problem.input_layout;
  options.output = problem.output_layout;
  if (problem.order == SpectrumOrder::reversed) options.order = fft::DigitOrder::primes;
  if (problem.order == SpectrumOrder::unreversed) options.from = fft::DigitOrder::primes;
  return options;
}

fft::EmitOptions notation_options(const Problem& problem) {
  fft::EmitOptions options = emit_options(problem);
  if (problem.fft_type != FftType::c2c && problem.n[0] == 1 && mode_count(problem) > 1)
    throw Error(Status::invalid_plan, "fft: a real transform whose x has length 1 takes cufft or plain");
  const auto moved = [&](auto& values, auto rest) {
    std::size_t to = 0;
    for (std::size_t d = 0; d < problem.n.size(); ++d)
      if (problem.n[d] > 1) values[to++] = values[d];
    for (; to < values.size(); ++to) values[to] = rest;
  };
  if (options.input) moved(options.input->stride, 0);
  if (options.output) moved(options.output->stride, 0);
  moved(options.n, 1);
  return options;
}

std::string why_not_emitted(const fft::FftPlan& plan, const fft::EmitOptions& options) {
  const auto [planned, refusal] = fft::lower(plan, options);
  if (!refusal.empty()) return refusal;
  if (options.type == FftType::c2r && completes_too_early(plan))
    return "a half spectrum needs the other dimensions finished before x begins, or whole in its first kernel";
  const bool hold = output_may_hold(options);
  for (std::size_t k = 0; k < planned.passes.size(); ++k) {
    const bool last = k + 1 == planned.passes.size();
    if (!last && !hold && planned.passes[k].to != BufferRef::Where::workspace)
      return fmt::format("kernel {}: the output array cannot hold values between kernels; to=work", k + 1);
    if (const std::string why = fft::broken_rule(planned.passes[k].spec); !why.empty())
      return fmt::format("kernel {}: {}", k + 1, why);
    // fft::check_device takes the buffers of copies ahead of time to be as large as a tile; threads that do not divide
    // it make them larger. Padding is not counted: it is searched when a kernel is written, which takes too long here.
    if (const std::int64_t bytes = fft::least_bytes(planned.passes[k].spec); bytes > options.device.shared_per_block)
      return fmt::format(
          "kernel {}: a block needs {} bytes of shared memory, the device has {}; load=plain, a smaller tile or fewer "
          "threads",
          k + 1, bytes, options.device.shared_per_block);
  }
  return fft::beyond_reach(planned, options);
}

namespace {

GpuProgram lines_program(fft::EmitOptions options, int dimension, const DeviceTraits& traits) {
  options.device = traits;
  const fft::AnySizePasses passes = fft::one_dimension_passes(options, dimension);
  if (!fits(passes, traits))
    throw Error(Status::unsupported, fmt::format("lines of {} values need more shared memory than a block of {} has",
                                                 options.n[static_cast<std::size_t>(dimension)], traits.name));
  return fft::emit_any_size(passes);
}

}  // namespace

GpuProgram gpu_fft_lines_program(const Problem& problem, int dimension, const DeviceTraits& traits) {
  return lines_program(emit_options(problem), dimension, traits);
}

GpuProgram gpu_fft_steady_lines_program(const Problem& problem, int dimension, const DeviceTraits& traits) {
  fft::EmitOptions options = emit_options(problem);
  options.by_length = true;
  return lines_program(options, dimension, traits);
}

GpuProgram gpu_fft_ranks_lines_program(const Problem& problem, int dimension, const RankPorts& ranks,
                                       const DeviceTraits& traits) {
  fft::EmitOptions options = emit_options(problem);
  options.input_ranks = ranks.input, options.output_ranks = ranks.output;
  return lines_program(options, dimension, traits);
}

GpuProgram gpu_fft_ranks_program(const Problem& problem, bool weighted, const RankPorts& ranks,
                                 const DeviceTraits& traits) {
  fft::EmitOptions options = emit_options(problem);
  if (weighted) fft::weigh_half_spectrum(options);
  options.input_ranks = ranks.input, options.output_ranks = ranks.output;
  return plain_program(options, traits);
}

GpuProgram gpu_fft_adjoint_program(const Problem& adjoint, const DeviceTraits& traits) {
  fft::EmitOptions options = emit_options(adjoint);
  fft::weigh_half_spectrum(options);
  return plain_program(options, traits);
}

namespace {

// The passes of a plan; nullopt: the device's FFT library (cufft) runs it. Throws as gpu_fft_program does.
std::optional<fft::AnySizePasses> passes_of(const Problem& problem, const Plan& plan, const DeviceTraits& traits,
                                            bool tables) {
  if (problem.kind != Kind::fft) throw Error(Status::invalid_plan, "this plan is of a uniform transform");
  if (!is_gpu(plan.backend))
    throw Error(Status::invalid_plan, "the plan is for backend '" + plan.backend + "', not for a GPU");
  fft::EmitOptions options = emit_options(problem);
  switch (plan.gpu().fft.family) {
    case GpuFftFamily::cufft:
      if (problem.order != SpectrumOrder::natural)
        throw Error(Status::invalid_plan, fmt::format("fft=cufft: cuFFT knows the natural order only, the problem asks "
                                                      "for order={}; plain and interleaved have it",
                                                      to_string(problem.order)));
      return std::nullopt;
    case GpuFftFamily::plain:
      options.tables = tables;
      return plain_passes(options, traits);
    case GpuFftFamily::interleaved:
      break;
  }
  const fft::FftPlan notation = fft::facing(plan.gpu().fft.plan, problem.order);  // mirrored for the adjoint
  if (const auto wrong = fft::check(notation, problem); !wrong.empty())
    throw Error(Status::invalid_plan, "fft: " + wrong.front().message);
  options = notation_options(problem);
  options.device = traits;
  if (const std::string why = why_not_emitted(notation, options); !why.empty())
    throw Error(Status::invalid_plan, "fft: " + why);
  return fft::AnySizePasses{fft::plan_passes(notation, options), options, std::nullopt};
}

}  // namespace

std::optional<GpuProgram> gpu_fft_program(const Problem& problem, const Plan& plan, const DeviceTraits& traits) {
  const std::optional<fft::AnySizePasses> passes = passes_of(problem, plan, traits, true);
  return passes ? std::optional(fft::emit_any_size(*passes)) : std::nullopt;
}

void check_gpu_fft(const Problem& problem, const Plan& plan, const DeviceTraits& traits) {
  const std::optional<fft::AnySizePasses> passes = passes_of(problem, plan, traits, false);
  if (!passes) return;
  if (const std::string why = fft::why_not_written(*passes); !why.empty()) throw Error(Status::invalid_plan, why);
}

}  // namespace fourtune::generator
