// What ranks hear of a way into another rank's memory that fails.
#include "runtime/distributed/peer_writes.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <span>
#include <string>

#include "runtime/distributed/communicator.h"
#include "runtime/distributed/peer_arrays.h"
#include "tests/distributed/support.h"

namespace fourtune::test {
namespace {

using runtime::DeviceStreams;
using runtime::SharedPlace;
namespace distributed = runtime::distributed;

// Those of this process, where the memory of others is one scratch array, or cannot be reached.
class ScratchStreams final : public DeviceStreams {
 public:
  bool reachable = true;
  std::array<char, 64> scratch{};

  void* stream(Lane lane) const override { return own_->stream(lane); }
  void copy(Lane lane, const Rows& to, const Rows& from, std::int64_t bytes, std::int64_t rows) override {
    own_->copy(lane, to, from, bytes, rows);
  }
  void follow(Lane, Lane) override {}
  void mark(int, Lane) override {}
  void follow_mark(Lane, int) override {}
  void wait_for_mark(int) override {}
  void wait(Lane) override {}
  void* allocate_host(std::int64_t bytes) override { return own_->allocate_host(bytes); }
  void release_host(void* memory) noexcept override { own_->release_host(memory); }
  bool reaches(const void* array) const override { return own_->reaches(array); }
  SharedPlace share(const void*) const override { return {{}, 1, 1, 0}; }
  void* reach(const SharedPlace&) override {
    if (!reachable) throw Error(Status::unsupported, "no way there");
    return scratch.data();
  }
  std::string identity() const override { return own_->identity(); }
  std::shared_ptr<void> current() const override { return nullptr; }

 private:
  std::unique_ptr<DeviceStreams> own_ = runtime::process_streams();
};

// Every rank sends a row to every other one, by copies or by work that `make` stands for.
void send_to_all(distributed::PeerWrites& peers, const distributed::Communicator& ranks, bool makes) {
  static std::array<char, 64> row{}, got{};
  distributed::DeviceBlocks blocks;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (rank == ranks.rank()) continue;
    blocks.send.push_back({rank, row.data(), {0, 1, 8, 8}, 1, 8});
    blocks.receive.push_back({rank, got.data(), {0, 1, 8, 8}, 1, 8});
  }
  if (makes)
    peers.begin(0, blocks, 0, [&](std::span<char* const> there) { EXPECT_EQ(there.size(), blocks.send.size()); });
  else
    peers.begin(0, blocks, 0);
  peers.wait(0, 0);
  peers.settle();
}

TEST(DistributedGpuPeerWrites, AFailureIsToldOnceToThoseThatItConcerns) {
  const distributed::Communicator ranks(MPI_Comm_c2f(MPI_COMM_WORLD));
  if (ranks.size() == 1) return;
  ScratchStreams streams;
  distributed::PeerWrites peers(ranks, streams);
  for (const bool makes : {false, true}) {
    streams.reachable = ranks.rank() != 1;
    send_to_all(peers, ranks, makes);
    std::string said;
    try {
      peers.rethrow();
    } catch (const Error& error) {
      said = error.what();
    }
    EXPECT_EQ(said, ranks.rank() == 1 ? "no way there" : "exchange=peer: rank 1 could not write its part");
    streams.reachable = true;
    send_to_all(peers, ranks, makes);
    EXPECT_NO_THROW(peers.rethrow());
  }
}

TEST(DistributedGpuPeerArrays, AFailureIsToldOnceToThoseWhoShare) {
  const distributed::Communicator ranks(MPI_Comm_c2f(MPI_COMM_WORLD));
  if (ranks.size() == 1) return;
  ScratchStreams streams;
  distributed::PeerArrays arrays(ranks, streams);
  const auto said_after = [&](bool reachable) {
    streams.reachable = reachable;
    arrays.open(streams.scratch.data());
    EXPECT_EQ(arrays.all().size(), reachable ? static_cast<std::size_t>(ranks.size()) : 0);
    arrays.meet();
    try {
      arrays.rethrow();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(said_after(ranks.rank() != 1),
            ranks.rank() == 1 ? "no way there" : "kernels of rank 1 failed, whose GPU this one reads");
  EXPECT_EQ(said_after(true), "");
  // Pairs that share leave the others alone.
  if (ranks.size() % 2 != 0) return;
  arrays.with({ranks.rank() ^ 1});
  EXPECT_EQ(said_after(ranks.rank() != 1), ranks.rank() == 1   ? "no way there"
                                           : ranks.rank() == 0 ? "kernels of rank 1 failed, whose GPU this one reads"
                                                               : "");
  EXPECT_EQ(said_after(true), "");
  EXPECT_EQ(arrays.all()[static_cast<std::size_t>(ranks.rank())], streams.scratch.data());
}

}  // namespace
}  // namespace fourtune::test
