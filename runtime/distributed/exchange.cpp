#include "runtime/distributed/exchange.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/backends/device_copy.h"
#include "runtime/distributed/communicator.h"
#include "runtime/distributed/machine_memory.h"
#include "runtime/distributed/nccl.h"
#include "runtime/distributed/peer_writes.h"

namespace fourtune::runtime::distributed {
namespace {

// The message of the first rank for which `why` says something.
std::string agreed(const Communicator& ranks, const std::function<std::string()>& why) {
  try {
    ranks.together([&] {
      if (const std::string text = why(); !text.empty()) throw Error(Status::unsupported, text);
    });
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

// An extension of Open MPI, MPICH and others.
bool mpi_takes_device_pointers() {
  const auto query = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
  return query != nullptr && query() == 1;
}

// FNV-1a; of texts that differ anyway.
std::int64_t digest(const std::string& text) {
  std::uint64_t sum = 14695981039346656037u;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return static_cast<std::int64_t>(sum);
}

// Every rank writes its number into the memory of every other one, and looks at what has come. Which devices see each
// other's memory, and whether a machine's settings let processes share it, nobody says reliably.
std::string why_no_peers(const Communicator& ranks, const DeviceCopy& memory, DeviceStreams& streams) {
  if (ranks.size() == 1) return "there is one rank";
  if (ranks.machines() > 1) return "the ranks are on several machines";
  const std::size_t count = static_cast<std::size_t>(ranks.size());
  std::vector<std::int64_t> numbers(count, -1);
  numbers[static_cast<std::size_t>(ranks.rank())] = ranks.rank();
  const auto item = static_cast<std::int64_t>(sizeof numbers[0]), bytes = item * ranks.size();
  DeviceArray array;
  std::string why = agreed(ranks, [&] {
    memory.resize(array, bytes);
    memory.upload(array.data(), numbers.data(), bytes);
    return std::string();
  });
  if (!why.empty()) return why;
  DeviceBlocks blocks;
  const auto block = [&](int rank, int number) {
    return DeviceBlock{rank, static_cast<char*>(array.data()), Slice{number * item, 1, item, item}};
  };
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (rank == ranks.rank()) continue;
    blocks.send.push_back(block(rank, ranks.rank()));
    blocks.receive.push_back(block(rank, rank));
  }
  PeerWrites writes(ranks, streams);
  writes.begin(0, blocks, 0);
  writes.wait(0, 0);
  why = agreed(ranks, [&] {
    writes.rethrow();
    memory.download(numbers.data(), array.data(), bytes);
    for (std::size_t i = 0; i < count; ++i)
      if (numbers[i] != static_cast<std::int64_t>(i))
        return std::string("what one GPU writes does not arrive in another");
    return std::string();
  });
  writes.forget();
  return why;
}

}  // namespace

const std::string& ExchangeMeans::why_not(RankExchange way) const {
  static const std::string none;
  switch (way) {
    case RankExchange::nccl:
      return no_nccl;
    case RankExchange::mpi:
      return no_mpi;
    case RankExchange::peer:
    case RankExchange::kernels:
      return no_peer;
    case RankExchange::shared:
      return no_shared;
    case RankExchange::host:
      break;
  }
  return none;
}

RankExchange ExchangeMeans::best() const {
  if (no_peer.empty()) return RankExchange::peer;
  return no_nccl.empty() ? RankExchange::nccl : no_mpi.empty() ? RankExchange::mpi : RankExchange::host;
}

ExchangeMeans find_host_means(const Communicator& ranks) {
  ExchangeMeans means;
  means.no_shared = why_no_machine_memory(ranks);
  return means;
}

std::int64_t least_device_bytes(const Communicator& ranks, const Backend& backend, int device, DeviceStreams& streams) {
  std::int64_t free = 0;
  std::string identity;
  ranks.together([&] { free = backend.memory(device)->free_bytes(), identity = streams.identity(); });
  const std::int64_t own = digest(identity);
  const std::vector<std::int64_t> devices = ranks.of_all(own);
  free /= std::count(devices.begin(), devices.end(), own);
  const std::vector<std::int64_t> all = ranks.of_all(free);
  return *std::min_element(all.begin(), all.end());
}

ExchangeMeans find_means(const Communicator& ranks, const Backend& backend, int device, DeviceStreams& streams) {
  ExchangeMeans means;
  means.gpus = true;
  const bool on_device = backend.capabilities().arrays == MemoryKind::device;
  means.no_mpi = agreed(ranks, [&] {
    return !on_device || mpi_takes_device_pointers() ? std::string()
                                                     : "this MPI does not say that it takes pointers of a GPU";
  });
  std::string identity;
  ranks.together([&] { identity = streams.identity(); });
  std::vector<std::int64_t> devices = ranks.of_all(digest(identity));
  std::sort(devices.begin(), devices.end());
  const bool shared = std::adjacent_find(devices.begin(), devices.end()) != devices.end();
  means.no_nccl = agreed(ranks, [&] {
    return ranks.size() == 1 ? std::string("there is one rank")
           : shared          ? std::string("some ranks share a GPU, and NCCL needs one for each")
                             : why_no_nccl(on_device);
  });
  means.no_peer = why_no_peers(ranks, DeviceCopy(backend, device), streams);
  return means;
}

}  // namespace fourtune::runtime::distributed
