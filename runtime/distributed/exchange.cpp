#include "runtime/distributed/exchange.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/distributed/communicator.h"
#include "runtime/distributed/nccl.h"

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

}  // namespace

const std::string& ExchangeMeans::why_not(Exchange way) const {
  static const std::string none;
  return way == Exchange::nccl ? no_nccl : way == Exchange::mpi ? no_mpi : none;
}

Exchange ExchangeMeans::best() const {
  return no_nccl.empty() ? Exchange::nccl : no_mpi.empty() ? Exchange::mpi : Exchange::host;
}

ExchangeMeans find_means(const Communicator& ranks, const Backend& backend, const DeviceStreams& device) {
  ExchangeMeans means;
  means.gpus = true;
  const bool on_device = backend.capabilities().arrays == Arrays::device;
  means.no_mpi = agreed(ranks, [&] {
    return !on_device || mpi_takes_device_pointers() ? std::string()
                                                     : "this MPI does not say that it takes pointers of a GPU";
  });
  std::string identity;
  ranks.together([&] { identity = device.identity(); });
  std::vector<std::int64_t> devices = ranks.of_all(digest(identity));
  std::sort(devices.begin(), devices.end());
  const bool shared = std::adjacent_find(devices.begin(), devices.end()) != devices.end();
  means.no_nccl = agreed(ranks, [&] {
    return ranks.size() == 1 ? std::string("there is one rank")
           : shared          ? std::string("some ranks share a GPU, and NCCL needs one for each")
                             : why_no_nccl();
  });
  return means;
}

}  // namespace fourtune::runtime::distributed
