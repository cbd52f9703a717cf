// The ranks of a distributed transform: agreement on errors, and the exchange of arrays. Everything here is collective:
// every rank calls the same functions in the same order.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fourtune::runtime::distributed {

// A datatype of MPI, freed with the last copy.
using DataType = std::shared_ptr<MPI_Datatype>;

// What one rank sends to, or receives from, another: `count` elements of `type` at `at`.
struct Message {
  int rank = 0;
  void* at = nullptr;
  std::int64_t count = 0;
  MPI_Datatype type = MPI_BYTE;
};

// The call of the application that a step begins, if any.
enum class Call : int { none, set_points, execute, execute_adjoint };

class Communicator {
 public:
  // Duplicates the communicator with this Fortran handle, so that our messages never meet the application's. Throws
  // Error{invalid_argument} when MPI is not initialised or has ended, or the handle is that of no communicator.
  explicit Communicator(int handle);
  ~Communicator();  // collective, as MPI_Comm_free is; does nothing once MPI has ended
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // MPI has ended, and nothing below may be called.
  static bool over();
  int rank() const { return rank_; }
  int size() const { return size_; }
  // Ranks that share this rank's processors; 1 where every rank has been given separate ones.
  int sharing() const { return sharing_; }
  // This rank's number among those of its machine.
  int rank_on_machine() const { return rank_on_machine_; }
  int machines() const { return machines_; }

  // Runs `work`, which must not communicate, on this rank. When it throws on any rank, every rank throws the error of
  // the lowest one of those, with that rank's number in the message. Where ranks have come to begin different calls,
  // every rank throws Error{contradiction}.
  void together(const std::function<void()>& work, Call call = Call::none) const;
  // Throws Error{contradiction} on every rank unless all pass the same text. `what` names it.
  void require_same(const std::string& text, const char* what) const;
  // Replaces the text by that of rank 0.
  void take_first(std::string& text) const;

  // Returns when all ranks have called it.
  void barrier() const;
  std::int64_t sum(std::int64_t value) const;
  std::vector<std::int64_t> sum(const std::vector<std::int64_t>& values) const;
  double largest(double value) const;
  // One value of each rank, by rank.
  std::vector<std::int64_t> of_all(std::int64_t value) const;
  // values[r] goes to rank r; the result's entry r came from rank r.
  std::vector<std::int64_t> swap(const std::vector<std::int64_t>& values) const;

  // Sends and receives at once, runs `meanwhile`, and waits until all messages have arrived. Messages between two ranks
  // are matched in the order in which exchange() and begin() are called.
  void exchange(const std::vector<Message>& send, const std::vector<Message>& receive,
                const std::function<void()>& meanwhile = {}) const;
  // Begins such messages; the arrays must stay as they are until transfer.wait() returns. Allocates nothing when the
  // transfer has had as many messages before.
  void begin(const std::vector<Message>& send, const std::vector<Message>& receive, class Transfer& transfer) const;

 private:
  void find_sharing();

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, sharing_ = 1, rank_on_machine_ = 0, machines_ = 1;
};

// Some of the ranks, at equal distances: all of them, or a row or a column of a grid of ranks.
class RankGroup {
 public:
  RankGroup() = default;
  RankGroup(const Communicator& all) : all_(&all), size_(all.size()), own_(all.rank()) {}
  // Ranks first, first + step, ..; this rank is one of them.
  RankGroup(const Communicator& all, int first, int step, int size)
      : all_(&all), first_(first), step_(step), size_(size), own_((all.rank() - first) / step) {}
  const Communicator& all() const { return *all_; }
  int size() const { return size_; }
  int rank() const { return own_; }  // of this rank, in the group
  int in_all(int member) const { return first_ + member * step_; }

 private:
  const Communicator* all_ = nullptr;
  int first_ = 0, step_ = 1, size_ = 1, own_ = 0;
};

// Messages under way. Must not end before they have arrived: see wait().
class Transfer {
 public:
  // Lets messages proceed, and returns at once. Most MPIs move large messages only inside their functions.
  void poll();
  // Returns when all have arrived.
  void wait();

 private:
  friend class Communicator;
  std::vector<MPI_Request> requests_;
};

// Throws Error{communication} with MPI's words unless `code` says success. `what` names the call.
void check(int code, const char* what);

// `count` elements of `bytes` bytes that follow each other.
DataType run_type(std::int64_t bytes);
// `rows` runs of `bytes` bytes, `stride` bytes apart.
DataType rows_type(std::int64_t rows, std::int64_t bytes, std::int64_t stride);

// The same type, of which one follows the other after `bytes` bytes.
DataType repeated(const DataType& type, std::int64_t bytes);

// `planes` groups of such rows, `plane_stride` bytes apart.
DataType planes_type(std::int64_t planes, std::int64_t plane_stride, std::int64_t rows, std::int64_t bytes,
                     std::int64_t stride);

}  // namespace fourtune::runtime::distributed
