// A library with NCCL's functions for memory of processes: messages go through MPI_COMM_WORLD. It fails where NCCL's
// rules are broken: calls outside a group, and messages to a rank that gets none.
#include <mpi.h>

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
struct Sum {
  const void* from;
  void* to;
  int count, type, root;
  const ncclComm* comm;
};
std::vector<Pending> pending;
std::vector<Sum> sums;
bool in_group = false;
int made = 0;  // by this rank

int add(bool sends, void* at, std::size_t bytes, int type, int rank, const ncclComm* comm) {
  if (!in_group || type != 0 || rank < 0 || rank >= static_cast<int>(comm->world.size())) return kWrongUse;
  pending.push_back({sends, at, static_cast<int>(bytes), comm->world[static_cast<std::size_t>(rank)], comm->tag});
  return 0;
}

// Adds in the order of the ranks.
template <class T>
void add_up(const Sum& sum) {
  const auto* const own = static_cast<const T*>(sum.from);
  int self = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  const int bytes = sum.count * static_cast<int>(sizeof(T));
  if (sum.comm->world[static_cast<std::size_t>(sum.root)] != self) {
    MPI_Request request;
    MPI_Isend(own, bytes, MPI_BYTE, sum.comm->world[static_cast<std::size_t>(sum.root)], sum.comm->tag + 3,
              MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  std::vector<T> total(static_cast<std::size_t>(sum.count), T(0)), other(total.size());
  for (const int rank : sum.comm->world) {
    if (rank != self)
      MPI_Recv(other.data(), bytes, MPI_BYTE, rank, sum.comm->tag + 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += rank == self ? own[i] : other[i];
  }
  std::memcpy(sum.to, total.data(), static_cast<std::size_t>(bytes));
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
FAKE int ncclReduce(const void* from, void* to, std::size_t count, int type, int op, int root, ncclComm* comm, void*) {
  if (!in_group || (type != 7 && type != 8) || op != 0) return kWrongUse;
  sums.push_back({from, to, static_cast<int>(count), type, root, comm});
  return 0;
}
FAKE int ncclGroupEnd() {
  if (!in_group) return kWrongUse;
  in_group = false;
  for (const Sum& sum : sums) sum.type == 7 ? add_up<float>(sum) : add_up<double>(sum);
  sums.clear();
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
FAKE const char* ncclGetErrorString(int code) { return code == kWrongUse ? "invalid usage" : "no error"; }
