// Programs for every size without a plan from the tuner: known-good plans (plain_plan.cpp) for lengths that are
// products of codelet sizes, also one kernel for a whole small array (whole_plan.cpp), and Bluestein's algorithm for
// lengths with a larger prime factor (convolved.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "generator/codegen/fft/emit/emit.h"

namespace fourtune::generator::fft {

// Whether n is a product of primes up to 61, so that codelets can transform it.
bool has_codelets(std::int64_t n);

// A bound plan in natural order, with one kernel per dimension (two or three where a line is longer than a block
// holds). Every length must pass has_codelets, else Error{invalid_plan}.
FftPlan plain_plan(const EmitOptions& options);

// A bound plan of one kernel for a dense complex transform of several dimensions that a block holds; nothing for
// others.
std::optional<FftPlan> whole_plan(const EmitOptions& options);

// Changes the first kernel (to_first) or the last kernel so that its tiles also carry transforms of the batch. This is
// for an array in which the transforms are interleaved.
void carry_batch(FftPlan& plan, const EmitOptions& options, bool to_first);

// The plan for one dimension alone: the other dimensions are only carried (options.n has their lengths). emit_program
// accepts it, but it may lack a dimension and is then not a valid plan by itself.
FftPlan line_plan(const EmitOptions& options, int dimension);
// One kernel for two dimensions that are adjacent in memory; nothing if its tiles would be too large.
std::optional<FftPlan> joined_plan(const EmitOptions& options, int dimension);

// Whether the lines along x of a real transform are transformed as complex ones of half the length (pass.h,
// Values::pairs), which emit_any_size does where it is worth it; then the plan of these lines, where they have one.
bool takes_half_lines(const EmitOptions& options);
std::optional<FftPlan> half_line_plan(const EmitOptions& options);
// Whether the half spectrum of an r2c that takes_half_lines is made by a kernel behind those of the lines.
bool unfolds_apart(const EmitOptions& options);

// Any lengths, complex or real. With windows or complex factors, every length must pass has_codelets. A length that
// does not pass is at most 2^23: its convolution has at most 2^24 values. Throws Error{unsupported} where one of these
// rules is broken.
GpuProgram emit_any_size(const EmitOptions& options);

// The same before its text is written.
struct AnySizePasses {
  PlannedProgram program;
  EmitOptions options;
  // Where one array has to be copied to a workspace before the passes, or from one behind them.
  struct Copy {
    PlannedProgram program;
    EmitOptions options;
    bool ahead = true;
    std::int64_t bytes = 0;  // of the workspace
  };
  std::optional<Copy> copy;
};
AnySizePasses any_size_passes(const EmitOptions& options);
// Complex transforms along one dimension, of any length; the others are only carried. Out of place. Throws as
// emit_any_size does.
AnySizePasses one_dimension_passes(const EmitOptions& options, int dimension);
// The rule that keeps them from being written (emit.h); empty: they can be.
std::string why_not_written(const AnySizePasses& passes);
// The most shared memory that a block of one of them takes.
std::int64_t block_bytes(const AnySizePasses& passes);
// Throws Error{invalid_plan} if they cannot be written.
GpuProgram emit_any_size(const AnySizePasses& passes);

}  // namespace fourtune::generator::fft
