#include "runtime/distributed/communicator.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>

#include "fourtune/status.h"

namespace fourtune::runtime::distributed {
namespace {

// What went wrong on this rank, in a form that can be sent.
struct Fault {
  Status status = Status::success;
  std::string message;
};

Fault fault_of(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    return {error.status(), error.what()};
  } catch (const std::bad_alloc&) {
    return {Status::out_of_memory, "not enough memory for this problem and its plan"};
  } catch (const std::length_error&) {
    return {Status::out_of_memory, "the tables of this problem's plan are larger than any memory"};
  } catch (const std::exception& error) {
    return {Status::internal, error.what()};
  }
}

const char* name_of(Call call) {
  constexpr const char* kNames[] = {"nothing", "set_points", "execute", "execute_adjoint"};
  return kNames[static_cast<int>(call)];
}

MPI_Comm communicator_of(int handle) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  if (begun != 0) MPI_Finalized(&ended);
  if (begun == 0 || ended != 0)
    throw Error(Status::invalid_argument, begun == 0 ? "MPI is not initialised: call MPI_Init first"
                                                     : "MPI has ended: make transforms before MPI_Finalize");
  MPI_Comm comm = MPI_Comm_f2c(static_cast<MPI_Fint>(handle));
  if (comm == MPI_COMM_NULL)
    throw Error(Status::invalid_argument,
                fmt::format("{} is the handle of no communicator; pass MPI_Comm_c2f(comm)", handle));
  return comm;
}

constexpr int kTag = 1;
constexpr std::int64_t kMostElements = std::numeric_limits<int>::max();

int count_of(const Message& message) {
  if (message.count > kMostElements)
    throw Error(Status::size_overflow, fmt::format("{} elements for rank {}; one message has at most {}", message.count,
                                                   message.rank, kMostElements));
  return static_cast<int>(message.count);
}

DataType owned(MPI_Datatype type) {
  check(MPI_Type_commit(&type), "MPI_Type_commit");
  return {new MPI_Datatype(type), [](MPI_Datatype* last) {
            int ended = 0;
            MPI_Finalized(&ended);
            if (ended == 0) MPI_Type_free(last);
            delete last;
          }};
}

}  // namespace

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(Status::communication, fmt::format("{}: {}", what, std::string(text, static_cast<std::size_t>(length))));
}

Communicator::Communicator(int handle) {
  MPI_Comm given = communicator_of(handle);
  check(MPI_Comm_dup(given, &comm_), "MPI_Comm_dup");
  // Errors are returned and become statuses; what MPI itself cannot survive still ends the program.
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  find_sharing();
}

bool Communicator::over() {
  int ended = 0;
  MPI_Finalized(&ended);
  return ended != 0;
}

Communicator::~Communicator() {
  if (!over() && comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

// Ranks of one machine with the same set of processors share it; others have been bound to separate ones.
void Communicator::find_sharing() {
  MPI_Comm machine = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine), "MPI_Comm_split_type");
  int ranks = 1;
  MPI_Comm_size(machine, &ranks);
  MPI_Comm_rank(machine, &rank_on_machine_);
  cpu_set_t own;
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(ranks));
  const int code = MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, machine);
  MPI_Comm_free(&machine);
  check(code, "MPI_Allgather");
  sharing_ = static_cast<int>(
      std::count_if(all.begin(), all.end(), [&](const cpu_set_t& other) { return CPU_EQUAL(&own, &other) != 0; }));
  machines_ = static_cast<int>(sum(rank_on_machine_ == 0 ? 1 : 0));
}

void Communicator::together(const std::function<void()>& work, Call call) const {
  const Fault fault = fault_of(work);
  const int number = static_cast<int>(call);
  const int mine[] = {fault.status == Status::success ? size_ : rank_, number, -number};
  int least[3] = {};
  check(MPI_Allreduce(mine, least, 3, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  const auto [first, lowest, highest] = std::array{least[0], least[1], -least[2]};
  if (lowest != highest)
    throw Error(Status::contradiction,
                fmt::format("some ranks call {} and others {}; all ranks make the same calls in the same order",
                            name_of(static_cast<Call>(lowest)), name_of(static_cast<Call>(highest))));
  if (first == size_) return;
  std::int64_t head[2] = {static_cast<std::int64_t>(fault.status), static_cast<std::int64_t>(fault.message.size())};
  check(MPI_Bcast(head, 2, MPI_INT64_T, first, comm_), "MPI_Bcast");
  std::string message = fault.message;
  message.resize(static_cast<std::size_t>(head[1]));
  check(MPI_Bcast(message.data(), static_cast<int>(head[1]), MPI_CHAR, first, comm_), "MPI_Bcast");
  throw Error(static_cast<Status>(head[0]), size_ == 1 ? message : fmt::format("rank {}: {}", first, message));
}

void Communicator::take_first(std::string& text) const {
  std::int64_t length = static_cast<std::int64_t>(text.size());
  check(MPI_Bcast(&length, 1, MPI_INT64_T, 0, comm_), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  check(MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, comm_), "MPI_Bcast");
}

void Communicator::require_same(const std::string& text, const char* what) const {
  std::string first = text;
  take_first(first);
  together([&] {
    if (first != text)
      throw Error(Status::contradiction,
                  fmt::format("{} is '{}', but '{}' on rank 0; all ranks pass the same", what, text, first));
  });
}

void Communicator::barrier() const { check(MPI_Barrier(comm_), "MPI_Barrier"); }

std::int64_t Communicator::sum(std::int64_t value) const { return sum(std::vector<std::int64_t>{value})[0]; }

std::vector<std::int64_t> Communicator::sum(const std::vector<std::int64_t>& values) const {
  std::vector<std::int64_t> all(values.size());
  check(MPI_Allreduce(values.data(), all.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_SUM, comm_),
        "MPI_Allreduce");
  return all;
}

double Communicator::largest(double value) const {
  double most = value;
  check(MPI_Allreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, comm_), "MPI_Allreduce");
  return most;
}

std::vector<std::int64_t> Communicator::of_all(std::int64_t value) const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(size_));
  check(MPI_Allgather(&value, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, comm_), "MPI_Allgather");
  return all;
}

std::vector<std::int64_t> Communicator::swap(const std::vector<std::int64_t>& values) const {
  std::vector<std::int64_t> other(values.size());
  check(MPI_Alltoall(values.data(), 1, MPI_INT64_T, other.data(), 1, MPI_INT64_T, comm_), "MPI_Alltoall");
  return other;
}

void Communicator::exchange(const std::vector<Message>& send, const std::vector<Message>& receive,
                            const std::function<void()>& meanwhile) const {
  Transfer transfer;
  begin(send, receive, transfer);
  if (meanwhile) meanwhile();
  transfer.wait();
}

void Communicator::begin(const std::vector<Message>& send, const std::vector<Message>& receive,
                         Transfer& transfer) const {
  std::vector<MPI_Request>& requests = transfer.requests_;
  requests.clear();
  requests.reserve(send.size() + receive.size());
  const auto one = [&](const Message& message, bool sends) {
    if (message.count == 0) return;
    requests.push_back(MPI_REQUEST_NULL);
    const int count = count_of(message);
    check(sends ? MPI_Isend(message.at, count, message.type, message.rank, kTag, comm_, &requests.back())
                : MPI_Irecv(message.at, count, message.type, message.rank, kTag, comm_, &requests.back()),
          sends ? "MPI_Isend" : "MPI_Irecv");
  };
  for (const Message& message : receive) one(message, false);
  for (const Message& message : send) one(message, true);
}

void Transfer::poll() {
  int arrived = 0;
  check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &arrived, MPI_STATUSES_IGNORE),
        "MPI_Testall");
}

void Transfer::wait() {
  check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

DataType run_type(std::int64_t bytes) {
  if (bytes > kMostElements)
    throw Error(Status::size_overflow, fmt::format("a row of {} bytes; at most {} can be sent", bytes, kMostElements));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type), "MPI_Type_contiguous");
  return owned(type);
}

DataType rows_type(std::int64_t rows, std::int64_t bytes, std::int64_t stride) {
  if (rows > kMostElements || bytes > kMostElements)
    throw Error(Status::size_overflow,
                fmt::format("{} rows of {} bytes; at most {} of each can be sent", rows, bytes, kMostElements));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_create_hvector(static_cast<int>(rows), static_cast<int>(bytes), stride, MPI_BYTE, &type),
        "MPI_Type_create_hvector");
  return owned(type);
}

DataType repeated(const DataType& type, std::int64_t bytes) {
  MPI_Datatype longer = MPI_DATATYPE_NULL;
  check(MPI_Type_create_resized(*type, 0, bytes, &longer), "MPI_Type_create_resized");
  return owned(longer);
}

DataType planes_type(std::int64_t planes, std::int64_t plane_stride, std::int64_t rows, std::int64_t bytes,
                     std::int64_t stride) {
  const DataType plane = rows_type(rows, bytes, stride);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_create_hvector(static_cast<int>(planes), 1, plane_stride, *plane, &type), "MPI_Type_create_hvector");
  return owned(type);
}

}  // namespace fourtune::runtime::distributed
