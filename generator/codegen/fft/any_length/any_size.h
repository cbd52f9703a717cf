// Programs for every size without a plan from the tuner: known-good plans where lengths are products of codelet sizes,
// Bluestein's algorithm for lengths with a larger prime factor.
#pragma once

#include <optional>

#include "generator/codegen/fft/emit/emit.h"

namespace fourtune::generator::fft {

// n is a product of primes up to 61 (codelets do it).
bool has_codelets(std::int64_t n);

// A bound plan in natural order, one kernel a dimension (two or three where a line is longer than a block holds). Every
// length must pass has_codelets, else Error{invalid_plan}.
FftPlan plain_plan(const EmitOptions& options);

// The plan with a first kernel (to_first: else a last one) whose tiles also carry transforms of the batch: for an array
// in which the transforms lie side by side.
void carry_batch(FftPlan& plan, const EmitOptions& options, bool to_first);

// The same for one dimension alone: the others only pass by (their lengths are options.n's). emit_program takes it;
// as a plan of its own it may lack a dimension.
FftPlan line_plan(const EmitOptions& options, int dimension);
// Two dimensions, one after the other in the arrays, in one kernel; nothing where its tiles would be too large.
std::optional<FftPlan> joined_plan(const EmitOptions& options, int dimension);

// n-point DFTs as convolutions,
//   X[k] = c_k sum_j (x_j c_j) conj(c_(k-j)),  c_j = exp(sign pi i j^2 / n),
// by kernels of their own (bluestein.h), or, where they are too long for these, by two plans of length
// convolution_length(n), the least multiple of 16 from 2n - 1 on with factors up to 7.
std::int64_t convolution_length(std::int64_t n);

// Any lengths, complex or real; with windows or complex factors every length must pass has_codelets. A length that does
// not is at most 2^23: its convolution has at most 2^24 values. Throws Error{unsupported} where a rule is broken.
GpuProgram emit_any_size(const EmitOptions& options);

}  // namespace fourtune::generator::fft
