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
using Result = int;        // 0: success
constexpr int kBytes = 0;  // ncclInt8

struct Library {
  Result (*ncclGetUniqueId)(UniqueId*) = nullptr;
  Result (*ncclCommInitRank)(ncclComm**, int, UniqueId, int) = nullptr;
  Result (*ncclCommDestroy)(ncclComm*) = nullptr;
  Result (*ncclGroupStart)() = nullptr;
  Result (*ncclGroupEnd)() = nullptr;
  Result (*ncclSend)(const void*, std::size_t, int, int, ncclComm*, void*) = nullptr;
  Result (*ncclRecv)(void*, std::size_t, int, int, ncclComm*, void*) = nullptr;
  const char* (*ncclGetErrorString)(Result) = nullptr;
  // These may be null: version 2.19 and later have them.
  Result (*ncclMemAlloc)(void**, std::size_t) = nullptr;
  Result (*ncclMemFree)(void*) = nullptr;
  Result (*ncclCommRegister)(const ncclComm*, void*, std::size_t, void**) = nullptr;
  Result (*ncclCommDeregister)(const ncclComm*, void*) = nullptr;
  std::string why;  // empty when usable
};

// Never closed, as it keeps threads of its own.
Library load() {
  Library library;
  const char* const forced = std::getenv("FOURTUNE_NCCL");
  const std::string name = forced != nullptr && *forced != 0 ? forced : "libnccl.so.2";
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const error = ::dlerror();
    library.why = fmt::format("no NCCL: {} cannot be loaded ({}); install libnccl2, or set FOURTUNE_NCCL to its file",
                              name, error != nullptr ? error : "no reason is given");
    return library;
  }
  const auto look = [&](const char* symbol, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, symbol));
  };
  const auto find = [&](const char* symbol, auto& function) {
    look(symbol, function);
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
  find("ncclGetErrorString", library.ncclGetErrorString);
  look("ncclMemAlloc", library.ncclMemAlloc);
  look("ncclMemFree", library.ncclMemFree);
  look("ncclCommRegister", library.ncclCommRegister);
  look("ncclCommDeregister", library.ncclCommDeregister);
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

// What NCCL has allocated and registered; released with the device current.
class RegisteredMemory final : public NcclMemory {
 public:
  RegisteredMemory(const DeviceStreams& device, const ncclComm* comm) : device_(device), comm_(comm) {}
  ~RegisteredMemory() override {
    if (data_ == nullptr) return;
    try {
      const auto current = device_.current();
      if (handle_ != nullptr) library().ncclCommDeregister(comm_, handle_);
      library().ncclMemFree(data_);
    } catch (const Error&) {  // the driver is shutting down
    }
  }
  bool allocate(std::int64_t bytes) {
    const auto current = device_.current();
    const auto size = static_cast<std::size_t>(bytes);
    if (library().ncclMemAlloc(&data_, size) != 0) data_ = nullptr;
    return data_ != nullptr && library().ncclCommRegister(comm_, data_, size, &handle_) == 0;
  }
  void* data() const override { return data_; }

 private:
  const DeviceStreams& device_;
  const ncclComm* comm_;
  void *data_ = nullptr, *handle_ = nullptr;
};

}  // namespace

std::string why_no_nccl() { return library().why; }

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

std::unique_ptr<NcclMemory> NcclRanks::allocate(std::int64_t bytes) const {
  const Library& nccl = library();
  if (!nccl.ncclMemAlloc || !nccl.ncclMemFree || !nccl.ncclCommRegister || !nccl.ncclCommDeregister) return nullptr;
  auto memory = std::make_unique<RegisteredMemory>(device_, comm_);
  if (!memory->allocate(bytes)) return nullptr;
  return memory;
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
