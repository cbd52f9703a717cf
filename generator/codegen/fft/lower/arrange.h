// From "these DFTs on this tile" to rounds: which values of a tile sit in registers when, and who holds what.
#pragma once

#include <vector>

#include "generator/codegen/fft/lower/pass.h"

namespace fourtune::generator::fft {

// Fills pass.rounds for the transforms, in this order; each names one whole tile atom. Atoms are split where registers
// need filling, and joined again where the split was not needed. Consecutive transforms share a round when the values
// of one thread, tile / pass.threads, allow it. Loads and stores are coalesced: in the first round neighbouring threads
// hold neighbouring values of the load address, in the last of the store address.
// Throws Error{invalid_plan} when a transform has more values than a thread holds.
void arrange(PassSpec& pass, const std::vector<Transform>& transforms);

}  // namespace fourtune::generator::fft
