// Real lines along x as complex ones of half the length (pass.h, Values::pairs): which transforms take them, and how
// the ports of the complex lines' kernels become those of the real ones.
#pragma once

#include "generator/codegen/fft/lower/lower.h"
#include "generator/codegen/fft/lower/split_stride.h"

namespace fourtune::generator::fft {

// The complex lines in a real transform's arrays; the real array's strides are in real values. Only x is transformed.
EmitOptions half_lines(const EmitOptions& options);

// The first kernel's loads and the last one's stores, where the complex lines are windows of n values along x.
void load_pairs(Port& load, std::int64_t pair);
void store_pairs(Port& store, std::int64_t pair);
void load_folded(Port& load, std::int64_t n);
// Lets a kernel of whole lines, the only one, load each value once: threads make opposite DFTs, if these are in pairs,
// or find opposite values in shared memory, if a block has enough of it.
void load_once(PassSpec& spec, const DeviceTraits& device);
// The plan of the complex lines (half_lines) in a real transform of this type.
FftPlan plan_of_half_lines(const EmitOptions& half, FftType type);
void store_unfolded(PassSpec& spec, std::int64_t n);

// Makes the half spectra, in an array with the strides `to`, of n[0] + 1 values, of the complex lines' spectra in an
// array with the strides `from`, of n[0] values.
PlannedPass unfolding_pass(const EmitOptions& options, const AxisNumbers& n, const AxisNumbers& from,
                           const AxisNumbers& to);

}  // namespace fourtune::generator::fft
