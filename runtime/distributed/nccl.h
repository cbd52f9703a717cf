// NVIDIA's library for exchanges between GPUs, opened at run time: libnccl.so.2, or $FOURTUNE_NCCL. Types and values
// are those of its documentation (versions 2.8 and later).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fourtune/problem.h"
#include "runtime/backends/device_streams.h"
#include "runtime/distributed/communicator.h"

namespace fourtune::runtime::distributed {

// Why it cannot be used; empty when it can. Opens it on first use. Without device memory, which an emulated GPU has
// not, only a file that FOURTUNE_NCCL names is used.
std::string why_no_nccl(bool device_memory);

// Bytes in the device's memory that go to, or come from, a rank.
struct DeviceMessage {
  int rank = 0;
  void* at = nullptr;
  std::int64_t bytes = 0;
};

// The same ranks as those of a Communicator, each with a device that no other rank has.
class NcclRanks {
 public:
  // Collective. The device's streams outlive this. Throws the same Error on every rank: backend_unavailable without the
  // library, else communication.
  NcclRanks(const Communicator& ranks, const DeviceStreams& device);
  ~NcclRanks();  // collective
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;
  // Puts on the lane that all ranks add up their copies of some parts, each on its rank, which finds the sum at `own`.
  // The parts are the same on all ranks. Does not wait. Throws Error{communication}.
  void add_up(std::span<const DeviceMessage> parts, void* own, Precision precision, DeviceStreams::Lane lane) const;
  // Puts all of these on the lane, as one exchange. All ranks begin the same exchanges in the same order. Does not
  // wait. Throws Error{communication}.
  void begin(std::span<const DeviceMessage> send, std::span<const DeviceMessage> receive,
             DeviceStreams::Lane lane) const;

 private:
  const DeviceStreams& device_;
  struct ncclComm* comm_ = nullptr;
};

}  // namespace fourtune::runtime::distributed
