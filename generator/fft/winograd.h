// Correlations of length 3 and 6 with few products (Winograd), for the prime codelets 7 and 13.
#pragma once

#include <vector>

#include "generator/fft/dag.h"

namespace fourtune::generator::fft {

// y_k = offset + sum_j x_j c_(j-k mod h), h = 3 or 6 values of x and c; 4 or 8 products. `total` receives sum x_j.
std::vector<NodeId> cyclic_correlation(Dag& dag, const std::vector<NodeId>& x, const std::vector<double>& c,
                                       NodeId offset, NodeId* total);
// y_k = sum_j x_j c_(j-k) where c changes sign after h = 3 or 6 values; 4 or 16 products.
std::vector<NodeId> negacyclic_correlation(Dag& dag, const std::vector<NodeId>& x, const std::vector<double>& c);

}  // namespace fourtune::generator::fft
