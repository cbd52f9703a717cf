#include "runtime/distributed/nccl.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <string>

#include "fourtune/status.h"

namespace fourtune::runtime::distributed {
namespace {

// ncclUniqueId: what the ranks of a communicator have to know of the first one.
struct UniqueId {
  char bytes[128];
};
using Result = int;                                   // 0: success
constexpr int kBytes = 0, kFloats = 7, kDoubles = 8;  // ncclInt8, ncclFloat32, ncclFloat64
constexpr int kSum = 0;                               // ncclSum

struct Library {
  Result (*ncclGetUniqueId)(UniqueId*) = nullptr;
  Result (*ncclCommInitRank)(ncclComm**, int, UniqueId, int) = nullptr;
  Result (*ncclCommDestroy)(ncclComm*) = nullptr;
  Result (*ncclGroupStart)() = nullptr;
  Result (*ncclGroupEnd)() = nullptr;
  Result (*ncclSend)(const void*, std::size_t, int, int, ncclComm*, void*) = nullptr;
  Result (*ncclRecv)(void*, std::size_t, int, int, ncclComm*, void*) = nullptr;
  Result (*ncclReduce)(const void*, void*, std::size_t, int, int, int, ncclComm*, void*) = nullptr;
  const char* (*ncclGetErrorString)(Result) = nullptr;
  std::string why;  // empty when usable
};

// The library's file where somebody names it.
std::string forced() {
  const char* const name = std::getenv("FOURTUNE_NCCL");
  return name != nullptr ? name : "";
}

// Never closed, as it keeps threads that run its code.
Library load() {
  Library library;
  const std::string name = forced().empty() ? "libnccl.so.2" : forced();
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const error = ::dlerror();
    library.why = fmt::format("no NCCL: {} cannot be loaded ({}); install libnccl2, or set FOURTUNE_NCCL to its file",
                              name, error != nullptr ? error : "no reason is given");
    return library;
  }
  const auto find = [&](const char* symbol, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, symbol));
    if (function == nullptr && library.why.empty())
      library.why = fmt::format("NCCL at {} has no {}; version 2.8 or later is needed", name, symbol);
  };
  find("ncclGetUniqueId", library.ncclGetUniqueId);
  find("ncclCommInitRank", library.ncclCommInitRank);
  find("ncclCommDestroy", library.ncclCommDestroy);
  find("ncclGroupStart", library.ncclGroupStart);
  find("ncclGroupEnd", library.ncclGroupEnd);
  find("ncclSend", library.ncclSend);
  find("ncclRecv", library.ncclRecv);
  find("ncclReduce", library.ncclReduce);
  find("ncclGetErrorString", library.ncclGetErrorString);
  return library;
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

void require(Result result, const char* what) {
  if (result == 0) return;
  throw Error(Status::communication, fmt::format("{}: {}", what, library().ncclGetErrorString(result)));
}

}  // namespace

std::string why_no_nccl(bool device_memory) {
  if (!device_memory && forced().empty())
    return "NCCL moves arrays between GPUs, and those of this backend are in memory of the host";
  return library().why;
}

NcclRanks::NcclRanks(const Communicator& ranks, const DeviceStreams& device) : device_(device) {
  const auto current = device.current();
  std::string id(sizeof(UniqueId), '\0');
  ranks.together([&] {
    if (!library().why.empty()) throw Error(Status::backend_unavailable, library().why);
    if (ranks.rank() == 0)
      require(library().ncclGetUniqueId(reinterpret_cast<UniqueId*>(id.data())), "ncclGetUniqueId");
  });
  ranks.take_first(id);
  UniqueId shared{};
  id.copy(shared.bytes, sizeof shared.bytes);
  const Result result = library().ncclCommInitRank(&comm_, ranks.size(), shared, ranks.rank());
  ranks.together([&] { require(result, "ncclCommInitRank"); });
}

NcclRanks::~NcclRanks() {
  if (comm_ == nullptr) return;
  try {
    const auto current = device_.current();
    library().ncclCommDestroy(comm_);
  } catch (const Error&) {  // the driver is shutting down
  }
}

void NcclRanks::add_up(std::span<const DeviceMessage> parts, void* own, Precision precision,
                       DeviceStreams::Lane lane) const {
  const Library& nccl = library();
  const auto current = device_.current();
  require(nccl.ncclGroupStart(), "ncclGroupStart");
  Result first = 0;
  for (const DeviceMessage& part : parts) {
    const Result result =
        nccl.ncclReduce(part.at, own, static_cast<std::size_t>(part.bytes / real_bytes(precision)),
                        precision == Precision::f32 ? kFloats : kDoubles, kSum, part.rank, comm_, device_.stream(lane));
    first = first != 0 ? first : result;
  }
  const Result end = nccl.ncclGroupEnd();
  require(first != 0 ? first : end, "the sum by NCCL");
}

void NcclRanks::begin(std::span<const DeviceMessage> send, std::span<const DeviceMessage> receive,
                      DeviceStreams::Lane lane) const {
  const auto current = device_.current();
  void* const stream = device_.stream(lane);
  const Library& nccl = library();
  require(nccl.ncclGroupStart(), "ncclGroupStart");
  Result first = 0;
  const auto keep = [&](Result result) { first = first != 0 ? first : result; };
  for (const DeviceMessage& one : receive)
    keep(nccl.ncclRecv(one.at, static_cast<std::size_t>(one.bytes), kBytes, one.rank, comm_, stream));
  for (const DeviceMessage& one : send)
    keep(nccl.ncclSend(one.at, static_cast<std::size_t>(one.bytes), kBytes, one.rank, comm_, stream));
  keep(nccl.ncclGroupEnd());
  require(first, "the exchange by NCCL");
}

}  // namespace fourtune::runtime::distributed
