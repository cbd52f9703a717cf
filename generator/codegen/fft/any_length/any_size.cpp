// Transforms with some length that has a prime factor above 61, of real lines that are made of half ones, and, with the
// copies of arrays that they need, of orders and places that no pass reads or writes.
#include "generator/codegen/fft/any_length/any_size.h"

#include <algorithm>
#include <optional>

#include "fourtune/status.h"
#include "generator/codegen/at.h"
#include "generator/codegen/fft/any_length/by_dimension.h"
#include "generator/codegen/fft/any_length/convolved.h"
#include "generator/codegen/fft/emit/pass_memory.h"
#include "generator/codegen/fft/lower/copy_pass.h"
#include "generator/codegen/fft/lower/reach.h"

namespace fourtune::generator::fft {
namespace {

PlannedProgram separate_passes(const EmitOptions& options) {
  if (dense(options.n).distance == 1) {
    PlannedProgram one;
    one.passes.push_back(whole_copy(options));
    return one;
  }
  const bool codelets = !convolves(options);
  bool hooks = false;
  for (int d = 0; d < most_dimensions; ++d) {
    const auto& hook = options.hooks[at(d)];
    hooks = hooks || hook.input || hook.output || !hook.input_turns.empty() || !hook.output_turns.empty();
  }
  if (codelets && !takes_half_lines(options)) return plan_passes(plain_plan(options), options);
  if (hooks) throw Error(Status::unsupported, "a length with a prime factor above 61 takes real factors only as hooks");
  return passes_by_dimension(options);
}

ArrayLayout as_layout(const AxisNumbers& s) { return {{s[0], s[1], s[2], s[3]}, s[batch_axis]}; }

// Replaces an array of some launches by a workspace.
void use_workspace(std::vector<Launch>& launches, BufferRef::Where array, int workspace) {
  for (Launch& launch : launches)
    for (LaunchArgument& argument : launch.arguments)
      if (auto* ref = std::get_if<BufferRef>(&argument); ref && ref->where == array)
        ref->where = BufferRef::Where::workspace, ref->index = workspace;
}

// A program that copies its first array to a workspace, from which the other one takes its input, or that copies the
// other one's results from a workspace.
GpuProgram with_copy(GpuProgram program, GpuProgram copy, bool ahead, std::int64_t bytes) {
  const int work = static_cast<int>(program.workspace_bytes.size()), kernel = static_cast<int>(program.kernels.size());
  use_workspace(program.launches, ahead ? BufferRef::Where::first : BufferRef::Where::second, work);
  use_workspace(copy.launches, ahead ? BufferRef::Where::second : BufferRef::Where::first, work);
  program.workspace_bytes.push_back(bytes);
  program.kernels.push_back(std::move(copy.kernels.front()));
  copy.launches.front().kernel = kernel;
  program.launches.insert(ahead ? program.launches.begin() : program.launches.end(), std::move(copy.launches.front()));
  program.alignment[ahead ? 0 : 1] = 1;
  return program;
}

// The copy of an array that one side of `options` describes, to or from a dense one.
AnySizePasses::Copy copy_of(const EmitOptions& options, bool input, bool by_primes) {
  const auto n = array_sizes(options, input);
  const bool real = options.type == (input ? FftType::r2c : FftType::c2r);
  const Values values = real ? Values::real : Values::complex;
  EmitOptions copy = options;
  copy.n = n, copy.in_place = false;
  copy.type = FftType::c2c;
  (input ? copy.input : copy.output) = as_layout(array_strides(options, input));
  (input ? copy.output : copy.input) = dense(n);
  PlannedProgram one;
  const CopySide array{values, array_strides(copy, input), by_primes}, other{values, array_strides(copy, !input)};
  one.passes.push_back(copy_pass(copy, with_batch(n, options.batch), input ? array : other, input ? other : array, 1));
  return {std::move(one), std::move(copy), input, 0};
}

// In place, where values that some block has yet to read would be overwritten, the input is first copied to a
// workspace; and so it is where the copy has to bring it in natural order.
AnySizePasses from_copy(const EmitOptions& options) {
  EmitOptions apart = options;
  apart.in_place = false;
  apart.from = DigitOrder::natural;
  apart.input = dense(array_sizes(options, true));
  apart.output = as_layout(array_strides(options, false));
  AnySizePasses out{separate_passes(apart), apart, copy_of(options, true, options.from == DigitOrder::primes)};
  out.copy->bytes = array_bytes(apart, true);
  return out;
}

// The results are copied from a workspace, in which they are in natural order.
AnySizePasses to_copy(const EmitOptions& options) {
  EmitOptions apart = options;
  apart.in_place = false;
  apart.order = DigitOrder::natural;
  apart.input = as_layout(array_strides(options, true));
  apart.output = dense(array_sizes(options, false));
  AnySizePasses out{separate_passes(apart), apart, copy_of(options, false, true)};
  out.copy->bytes = array_bytes(apart, false);
  return out;
}

// Whether an in-place transform reads places of its array that other blocks write.
bool moves_in_place(const EmitOptions& options) {
  if (!options.in_place) return false;
  if (options.type != FftType::c2c) return !same_rows(options);
  return convolves(options) && array_strides(options, true) != array_strides(options, false);
}

}  // namespace

AnySizePasses any_size_passes(const EmitOptions& options) {
  const bool codelets = std::all_of(options.n.begin(), options.n.end(), has_codelets);
  if (options.order == DigitOrder::primes && !codelets) return to_copy(options);
  if ((options.from == DigitOrder::primes && !codelets) || moves_in_place(options)) return from_copy(options);
  return {separate_passes(options), options, std::nullopt};
}

AnySizePasses one_dimension_passes(const EmitOptions& options, int dimension) {
  return {passes_along(options, dimension), options, std::nullopt};
}

std::string why_not_written(const AnySizePasses& passes) {
  if (std::string why = why_not_written(passes.program, passes.options); !why.empty()) return why;
  return passes.copy ? why_not_written(passes.copy->program, passes.copy->options) : std::string();
}

std::int64_t block_bytes(const AnySizePasses& passes) {
  std::int64_t most = 0;
  for (const PlannedPass& pass : passes.program.passes) most = std::max(most, pass_memory(pass.spec).bytes);
  return most;
}

GpuProgram emit_any_size(const AnySizePasses& passes) {
  GpuProgram program = emit_program(passes.program, passes.options);
  if (!passes.copy) return program;
  return with_copy(std::move(program), emit_program(passes.copy->program, passes.copy->options), passes.copy->ahead,
                   passes.copy->bytes);
}

GpuProgram emit_any_size(const EmitOptions& options) { return emit_any_size(any_size_passes(options)); }

}  // namespace fourtune::generator::fft
