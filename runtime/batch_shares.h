// How the transforms of a batch are distributed over devices, and a device's share over pieces.
#pragma once

#include <cstdint>
#include <vector>

namespace fourtune::runtime {

// A number of transforms for each device, as near to proportional to its speed as whole numbers can be. Equal speeds
// give numbers that differ by one at most. Speeds are positive and finite.
std::vector<std::int64_t> batch_shares(std::int64_t batch, const std::vector<double>& speeds);

// What a device would take for the whole batch, in seconds: to compute it, and to copy its arrays one way.
struct DeviceCost {
  double compute = 0, copies = 0;
};
// The same where all arrays are in the memory of device `home`, which uses them there, while the others copy what is
// theirs, both ways beside their work. These copies also take from the bandwidth of home's memory. `home` gets all
// where sharing would save less than a quarter.
std::vector<std::int64_t> shares_from_home(std::int64_t batch, std::size_t home, const std::vector<DeviceCost>& costs);

// The number of equal pieces that a device works on one after the other, so that copies of one go on beside the next
// one's computation. `bytes`: of the arrays of one transform. Small shares are one piece.
std::int64_t batch_pieces(std::int64_t share, std::int64_t bytes);

}  // namespace fourtune::runtime
