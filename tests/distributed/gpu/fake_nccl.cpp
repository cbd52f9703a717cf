// A library with NCCL's functions for memory of processes: messages go through MPI_COMM_WORLD. It fails where NCCL's
// rules are broken: calls outside a group, and messages to a rank that gets none.
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#define FAKE extern "C" __attribute__((visibility("default")))

struct UniqueId {
  char bytes[128];
};
struct ncclComm {
  std::vector<int> world;  // of each rank, its number in MPI_COMM_WORLD
  int tag = 0;
};

namespace {

constexpr int kWrongUse = 5;  // ncclInvalidUsage
struct Pending {
  bool sends;
  void* at;
  int bytes, rank, tag;
};
std::vector<Pending> pending;
bool in_group = false;
int made = 0;  // by this rank

int add(bool sends, void* at, std::size_t bytes, int type, int rank, const ncclComm* comm) {
  if (!in_group || type != 0 || rank < 0 || rank >= static_cast<int>(comm->world.size())) return kWrongUse;
  pending.push_back({sends, at, static_cast<int>(bytes), comm->world[static_cast<std::size_t>(rank)], comm->tag});
  return 0;
}

}  // namespace

FAKE int ncclGetUniqueId(UniqueId* id) {
  int words[2] = {0, 1000 + 1000 * ++made};
  MPI_Comm_rank(MPI_COMM_WORLD, &words[0]);
  std::memcpy(id->bytes, words, sizeof words);
  return 0;
}

// The first rank gets everybody's number in the world and tells all.
FAKE int ncclCommInitRank(ncclComm** comm, int count, UniqueId id, int rank) {
  int words[2], own = 0;
  std::memcpy(words, id.bytes, sizeof words);
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  auto made_now = new ncclComm{std::vector<int>(static_cast<std::size_t>(count)), words[1]};
  std::vector<int>& world = made_now->world;
  if (rank == 0) {
    world[0] = own;
    for (int i = 1; i < count; ++i) {
      int pair[2];
      MPI_Recv(pair, 2, MPI_INT, MPI_ANY_SOURCE, words[1], MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      world[static_cast<std::size_t>(pair[0])] = pair[1];
    }
    for (int i = 1; i < count; ++i)
      MPI_Send(world.data(), count, MPI_INT, world[static_cast<std::size_t>(i)], words[1] + 1, MPI_COMM_WORLD);
  } else {
    const int pair[2] = {rank, own};
    MPI_Send(pair, 2, MPI_INT, words[0], words[1], MPI_COMM_WORLD);
    MPI_Recv(world.data(), count, MPI_INT, words[0], words[1] + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  *comm = made_now;
  return 0;
}
FAKE int ncclCommDestroy(ncclComm* comm) {
  delete comm;
  return 0;
}
FAKE int ncclGroupStart() {
  if (in_group) return kWrongUse;
  in_group = true;
  return 0;
}
FAKE int ncclSend(const void* at, std::size_t bytes, int type, int rank, ncclComm* comm, void*) {
  return add(true, const_cast<void*>(at), bytes, type, rank, comm);
}
FAKE int ncclRecv(void* at, std::size_t bytes, int type, int rank, ncclComm* comm, void*) {
  return add(false, at, bytes, type, rank, comm);
}
FAKE int ncclGroupEnd() {
  if (!in_group) return kWrongUse;
  in_group = false;
  std::vector<MPI_Request> requests(pending.size());
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const Pending& one = pending[i];
    one.sends ? MPI_Isend(one.at, one.bytes, MPI_BYTE, one.rank, one.tag + 2, MPI_COMM_WORLD, &requests[i])
              : MPI_Irecv(one.at, one.bytes, MPI_BYTE, one.rank, one.tag + 2, MPI_COMM_WORLD, &requests[i]);
  }
  std::vector<MPI_Status> statuses(requests.size());
  const int result = MPI_Waitall(static_cast<int>(requests.size()), requests.data(), statuses.data());
  bool right = result == MPI_SUCCESS;
  for (std::size_t i = 0; right && i < pending.size(); ++i) {
    int got = 0;
    if (pending[i].sends) continue;
    MPI_Get_count(&statuses[i], MPI_BYTE, &got);
    right = got == pending[i].bytes;
  }
  pending.clear();
  return right ? 0 : kWrongUse;
}
// Rank 0's memory is the only one that it has, as NCCL may have none.
FAKE int ncclMemAlloc(void** memory, std::size_t bytes) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  *memory = rank == 0 ? std::aligned_alloc(64, (bytes + 63) / 64 * 64) : nullptr;
  return *memory == nullptr ? kWrongUse : 0;
}
FAKE int ncclMemFree(void* memory) {
  std::free(memory);
  return 0;
}
FAKE int ncclCommRegister(const ncclComm*, void* memory, std::size_t, void** handle) {
  *handle = memory;
  return 0;
}
FAKE int ncclCommDeregister(const ncclComm*, void*) { return 0; }
FAKE const char* ncclGetErrorString(int code) { return code == kWrongUse ? "invalid usage" : "no error"; }
