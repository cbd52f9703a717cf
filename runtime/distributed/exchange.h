// What moves data between the ranks of a crew: which ways there are, and which one is the default.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/distributed/rank_plan.h"

namespace fourtune::runtime {
class Backend;
class DeviceStreams;
}  // namespace fourtune::runtime

namespace fourtune::runtime::distributed {

class Communicator;

// Why a way cannot be taken, the same on every rank; empty: it can. Staging in host memory always can.
struct ExchangeMeans {
  std::string no_nccl = "the ranks have no GPUs", no_mpi = no_nccl, no_peer = no_nccl;
  bool gpus = false;   // every rank has one
  bool mixed = false;  // some ranks have one, and others have none
  std::string no_shared = "the ranks have GPUs";
  const std::string& why_not(RankExchange way) const;
  RankExchange best() const;
};

// Collective, of ranks on processors.
ExchangeMeans find_host_means(const Communicator& ranks);
// Collective. `streams`: of this rank's device, which has this number in its process.
ExchangeMeans find_means(const Communicator& ranks, const Backend& backend, int device, DeviceStreams& streams);
// Collective. The least that ranks can allocate on their GPUs, which some may share; 0: unknown.
std::int64_t least_device_bytes(const Communicator& ranks, const Backend& backend, int device, DeviceStreams& streams);

}  // namespace fourtune::runtime::distributed
