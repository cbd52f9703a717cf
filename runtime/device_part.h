// A device's part of a batch that several devices share.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/backends/backend.h"
#include "runtime/backends/device_copy.h"
#include "runtime/transform_core.h"

namespace fourtune::runtime {

// An array with one transform of a batch after the other.
struct BatchArray {
  char* at = nullptr;
  std::int64_t bytes = 0;  // of one transform
};

// Consecutive transforms of a batch, which a device works on in equal pieces.
struct DeviceShare {
  int device = 0;
  std::int64_t first = 0;  // the first transform
  std::int64_t pieces = 1;
  std::int64_t per_piece = 1;  // transforms
  std::int64_t bytes = 0;      // of both arrays of one transform, as far as they are known
  // What may be allocated there, by a core that sees to that: a single fft whose arrays go through the device in blocks
  // (streamed_fft.h), or nonuniform transforms (bounded_nufft.h). 0: the share is known to fit.
  std::int64_t stream_bytes = 0;
};

// Its core is bound to a piece. Arrays that the device reaches are used where they are; others are copied, and while a
// piece is computed the next one comes and the last one leaves. Use from one thread at a time.
class DevicePart {
 public:
  DevicePart(const Problem& problem, const Options& options, const DeviceShare& share);
  // The problem of a piece, and the options of a core on that device.
  static Problem piece_of(const Problem& problem, const DeviceShare& share);
  static Options options_of(const Options& options, int device);

  // Waits for what the application has queued: on the device's default stream, or on this one.
  void wait_for_application(void* stream) const;
  // Points and arrays are those of the whole batch. set_points and execute return when the device is done.
  void set_points(const Points& points);
  void execute(const BatchArray& first, const BatchArray& second, bool reads_first, bool adjoint);
  // execute in steps, for arrays that the device uses where they are: the pieces are queued in order, then waited for.
  bool works_in_place(const BatchArray& first, const BatchArray& second) const;
  void queue_piece(std::int64_t i, const BatchArray& first, const BatchArray& second, bool reads_first, bool adjoint);
  void finish();
  void set_bounds(const Bounds& bounds) { core_->set_bounds(bounds); }

  const DeviceShare& share() const { return share_; }
  const TransformCore& core() const { return *core_; }
  double seconds() const { return seconds_; }  // of the last execute
  // Copies count as needed, as arrays may be anywhere.
  MemoryUse memory() const;

 private:
  struct Passage;  // of an execute
  static std::unique_ptr<TransformCore> core_of(const Problem& problem, const Options& options,
                                                const DeviceShare& share);
  std::int64_t piece_bytes(const BatchArray& array) const { return share_.per_piece * array.bytes; }
  char* piece(const BatchArray& array, std::int64_t i) const;
  bool reaches(const void* array) const;
  bool reaches_pieces(const BatchArray& array) const;
  void use_work_lane();
  void settle() noexcept;

  DeviceShare share_;
  bool distinct_points_;
  std::int64_t real_;
  std::unique_ptr<DeviceStreams> streams_;
  DeviceCopy memory_;
  void* lane_ = nullptr;  // that the core uses
  std::unique_ptr<TransformCore> core_;
  DeviceArray first_[2], second_[2];  // copies of two pieces
  std::int64_t copied_bytes_ = 0;
  std::chrono::steady_clock::time_point start_;
  double seconds_ = 0;
};

}  // namespace fourtune::runtime
