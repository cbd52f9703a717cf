#include "runtime/device_part.h"

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/backend_table.h"
#include "runtime/bounded_nufft.h"
#include "runtime/streamed_fft.h"

namespace fourtune::runtime {
namespace {

using Lane = DeviceStreams::Lane;
// Marks of the two pieces that are under way, by number.
enum Mark : int { uploaded = 0, computed = 2, downloaded = 4 };

}  // namespace

Problem DevicePart::piece_of(const Problem& problem, const DeviceShare& share) {
  Problem piece = problem;
  piece.batch = share.per_piece;
  return piece;
}

Options DevicePart::options_of(const Options& options, int device) {
  Options own = options;
  own.devices.clear();
  own.device = device;
  own.stream = nullptr;
  return own;
}

std::unique_ptr<TransformCore> DevicePart::core_of(const Problem& problem, const Options& options,
                                                   const DeviceShare& share) {
  const Problem piece = piece_of(problem, share);
  const Options own = options_of(options, share.device);
  if (share.stream_bytes > 0 && problem.kind == Kind::nufft) return on_bounded_device(piece, own, share.stream_bytes);
  if (share.stream_bytes > 0) return on_streamed_device(piece, own, share.stream_bytes);
  return on_one_device(piece, own);
}

DevicePart::DevicePart(const Problem& problem, const Options& options, const DeviceShare& share)
    : share_(share),
      distinct_points_(options.distinct_points),
      real_(real_bytes(problem.precision)),
      streams_(find_backend(options.backend).streams(share.device)),
      memory_(find_backend(options.backend), share.device),
      core_(core_of(problem, options, share)) {}

bool DevicePart::reaches(const void* array) const {
  constexpr std::uintptr_t kAligned = 64;  // kernels read whole runs of values; an allocation begins with one
  return reinterpret_cast<std::uintptr_t>(array) % kAligned == 0 && streams_->reaches(array);
}

char* DevicePart::piece(const BatchArray& array, std::int64_t i) const {
  const std::int64_t before = (share_.first + i * share_.per_piece) * array.bytes;
  return array.at == nullptr ? nullptr : array.at + before;
}

bool DevicePart::reaches_pieces(const BatchArray& array) const {
  if (piece_bytes(array) == 0) return true;
  for (std::int64_t i = 0; i < share_.pieces; ++i)
    if (!reaches(piece(array, i))) return false;
  return true;
}

void DevicePart::use_work_lane() {
  void* const lane = streams_->stream(Lane::work);
  if (lane != lane_) core_->set_stream(lane);
  lane_ = lane;
}

// After a failure: nothing may use arrays of the application any more.
void DevicePart::settle() noexcept {
  for (const Lane lane : {Lane::copies, Lane::work, Lane::exchange}) try {
      streams_->wait(lane);
    } catch (...) {  // what failed first is what the caller gets
    }
}

void DevicePart::wait_for_application(void* stream) const {
  stream != nullptr ? streams_->wait_for_stream(stream) : memory_.wait();
}

void DevicePart::set_points(const Points& points) {
  Points own = points;
  std::vector<DeviceArray> copies;
  const auto bring = [&](const void*& coordinate, std::int64_t count) {
    if (coordinate == nullptr || count == 0) return;
    const std::int64_t bytes = count * real_ * (distinct_points_ ? share_.pieces * share_.per_piece : 1);
    const auto* const from =
        static_cast<const char*>(coordinate) + (distinct_points_ ? share_.first * count * real_ : 0);
    coordinate = from;
    if (share_.stream_bytes > 0 || reaches(from)) return;
    memory_.resize(copies.emplace_back(), bytes);
    coordinate = copies.back().data();
    streams_->copy(Lane::work, {copies.back().data(), bytes}, {const_cast<char*>(from), bytes}, bytes, 1);
  };
  try {
    bring(own.x, own.m), bring(own.y, own.m), bring(own.z, own.m);
    bring(own.s, own.k), bring(own.t, own.k), bring(own.u, own.k);
    use_work_lane();
    core_->set_points(own);
    streams_->wait(Lane::work);
  } catch (...) {
    settle();
    throw;
  }
}

// The pieces' way through the device.
struct DevicePart::Passage {
  DevicePart& part;
  BatchArray read, written;
  bool reads_first;
  bool in_place = false, copies_in = false, copies_out = false;

  std::int64_t bytes(const BatchArray& array) const { return part.piece_bytes(array); }
  char* piece(const BatchArray& array, std::int64_t i) const { return part.piece(array, i); }
  bool has_to_be_copied(const BatchArray& array) const {
    return part.share_.stream_bytes == 0 && !part.reaches_pieces(array);
  }
  // Each array has its own, so that both directions together hold no more than one of them.
  DeviceArray* copies_of(bool first) const { return first || in_place ? part.first_ : part.second_; }
  void make_room(DeviceArray* copies, std::int64_t bytes) const {
    for (std::int64_t i = 0; i < std::min<std::int64_t>(2, part.share_.pieces); ++i)
      part.memory_.resize(copies[i], bytes);
  }
  void begin() {
    in_place = read.at == written.at && read.at != nullptr;
    copies_in = has_to_be_copied(read);
    copies_out = in_place ? copies_in : has_to_be_copied(written);
    if (copies_in) make_room(copies_of(reads_first), bytes(read));
    if (copies_out && !in_place) make_room(copies_of(!reads_first), bytes(written));
    const std::int64_t held = (copies_in ? bytes(read) : 0) + (copies_out && !in_place ? bytes(written) : 0);
    part.copied_bytes_ = std::max(part.copied_bytes_, held * std::min<std::int64_t>(2, part.share_.pieces));
  }
  void* input(std::int64_t i) const { return copies_in ? copies_of(reads_first)[i % 2].data() : piece(read, i); }
  void* output(std::int64_t i) const {
    if (in_place) return input(i);
    return copies_out ? copies_of(!reads_first)[i % 2].data() : piece(written, i);
  }
  void upload(std::int64_t i) const {
    if (!copies_in || i >= part.share_.pieces) return;
    const int slot = static_cast<int>(i % 2);
    if (i >= 2) part.streams_->follow_mark(Lane::copies, (in_place ? downloaded : computed) + slot);
    part.streams_->copy(Lane::copies, {input(i), bytes(read)}, {piece(read, i), bytes(read)}, bytes(read), 1);
    part.streams_->mark(uploaded + slot, Lane::copies);
  }
  void compute(std::int64_t i, bool adjoint) const {
    const int slot = static_cast<int>(i % 2);
    if (copies_in) part.streams_->follow_mark(Lane::work, uploaded + slot);
    if (copies_out && i >= 2) part.streams_->follow_mark(Lane::work, downloaded + slot);
    part.use_work_lane();
    part.core_->execute(reads_first ? input(i) : output(i), reads_first ? output(i) : input(i), adjoint);
    part.streams_->mark(computed + slot, Lane::work);
  }
  void download(std::int64_t i) const {
    if (!copies_out) return;
    const int slot = static_cast<int>(i % 2);
    part.streams_->follow_mark(Lane::exchange, computed + slot);
    part.streams_->copy(Lane::exchange, {piece(written, i), bytes(written)}, {output(i), bytes(written)},
                        bytes(written), 1);
    part.streams_->mark(downloaded + slot, Lane::exchange);
  }
};

void DevicePart::execute(const BatchArray& first, const BatchArray& second, bool reads_first, bool adjoint) {
  start_ = std::chrono::steady_clock::now();
  Passage passage{*this, reads_first ? first : second, reads_first ? second : first, reads_first};
  try {
    passage.begin();
    passage.upload(0);
    for (std::int64_t i = 0; i < share_.pieces; ++i) {
      // In this order, as copies of pageable memory keep this thread until they are done.
      passage.compute(i, adjoint);
      passage.upload(i + 1);
      passage.download(i);
    }
  } catch (...) {
    settle();
    throw;
  }
  finish();
}

bool DevicePart::works_in_place(const BatchArray& first, const BatchArray& second) const {
  return share_.stream_bytes == 0 && reaches_pieces(first) && reaches_pieces(second);
}

void DevicePart::queue_piece(std::int64_t i, const BatchArray& first, const BatchArray& second, bool reads_first,
                             bool adjoint) {
  if (i == 0) start_ = std::chrono::steady_clock::now();
  try {
    Passage{*this, reads_first ? first : second, reads_first ? second : first, reads_first}.compute(i, adjoint);
  } catch (...) {
    settle();
    throw;
  }
}

void DevicePart::finish() {
  try {
    streams_->wait(Lane::work);
    streams_->wait(Lane::exchange);
  } catch (...) {
    settle();
    throw;
  }
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

MemoryUse DevicePart::memory() const {
  MemoryUse use = core_->memory();
  if (share_.stream_bytes > 0) return use;
  use.held += copied_bytes_;
  use.needed += std::max(copied_bytes_, std::min<std::int64_t>(2, share_.pieces) * share_.per_piece * share_.bytes);
  return use;
}

}  // namespace fourtune::runtime
