// Turns "these DFTs on this tile" into rounds: which values of a tile are in registers in each round, and which thread
// holds them.
#pragma once

#include <string>
#include <vector>

#include "generator/codegen/fft/lower/pass.h"

namespace fourtune::generator::fft {

// Fills pass.rounds for the transforms, in this order; each names one whole tile atom. Atoms are split where registers
// must be filled, and joined again if the split was not needed. Consecutive transforms share a round if the number of
// values per thread, tile / pass.threads, allows it. Loads and stores are coalesced: in the first round, neighbouring
// threads hold neighbouring values of the load address; in the last round, of the store address. Returns
// the refusal ("rule cluster") of a tile that a cluster's blocks cannot share; a pass of one block is never refused.
[[nodiscard]] std::string arrange(PassSpec& pass, const std::vector<Dft>& transforms);
// The same for a pass of one block; throws Error{internal} if it is refused.
void assert_arranged(PassSpec& pass, const std::vector<Dft>& transforms);

}  // namespace fourtune::generator::fft
