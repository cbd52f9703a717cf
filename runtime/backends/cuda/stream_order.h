// Keeps calls that share work memory apart when they come on different streams.
#pragma once

#include <memory>

#include "runtime/backends/cuda/device.h"

namespace fourtune::runtime::cuda {

// True when the application records the stream's work into a graph (or when this cannot be determined).
bool is_capturing(CUstream stream);

// While it lives, this thread may allocate, free and load although another thread of the application records a graph,
// which would else end that recording with an error. Does nothing without a driver.
class RelaxedCapture {
 public:
  RelaxedCapture() noexcept;
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture();

 private:
  int before_ = -1;  // the thread's mode; -1: it stays
};

// A call puts its work on the stream between begin and end. Work of a later call then starts after it, whatever the
// later call's stream is. What precedes and follows captured work belongs to the application: events do not cross that
// border. The device's context must be current. One thread at a time.
class StreamOrder {
 public:
  explicit StreamOrder(const std::shared_ptr<const Device>& device) : last_(device, false) {}
  void begin(CUstream stream);
  void end() noexcept;
  CUstream stream() const { return stream_; }  // of the present call
  bool capturing() const { return capturing_; }

 private:
  Event last_;  // marks the end of the last call that was not captured
  CUstream recorded_on_ = nullptr, stream_ = nullptr;
  bool used_ = false, capturing_ = false;
};

}  // namespace fourtune::runtime::cuda
