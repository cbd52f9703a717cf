// Correlations of length 3, 5 and 6 with few products (Winograd), for the codelets 7, 9, 11 and 13.
#pragma once

#include <vector>

#include "generator/codegen/fft/codelet/dag.h"

namespace fourtune::generator::fft {

// y_k = offset + sum_j x_j c_(j-k mod h) for h = 3, 5 or 6 values of x and c, in 4, 10 or 8 products. `total` receives
// sum x_j.
std::vector<NodeId> cyclic_correlation(Dag& dag, const std::vector<NodeId>& x, const std::vector<double>& c,
                                       NodeId offset, NodeId* total);
// y_k = sum_j x_j c_(j-k), where c changes sign after h = 3, 5 or 6 values, in 4, 10 or 16 products.
std::vector<NodeId> negacyclic_correlation(Dag& dag, const std::vector<NodeId>& x, const std::vector<double>& c);

// DFT of 9 real values: X[k] = even[k] - i odd[k], k <= 4 (odd[0] is zero and absent). It takes 10 products and 42
// additions, including those that form the X[k] from the result. The units mod 9 are a cyclic group, so k = 1, 2, 4 are
// correlations of length 3. cosine[k], sine[k] are those of 2 pi k / 9, k <= 4.
struct Halves {
  std::vector<NodeId> even, odd;
};
Halves halves_of_9(Dag& dag, const std::vector<NodeId>& x, const std::vector<double>& cosine,
                   const std::vector<double>& sine);

}  // namespace fourtune::generator::fft
