#include "runtime/backends/cuda/stream_order.h"

#include "runtime/backends/cuda/driver_api.h"

namespace fourtune::runtime::cuda {

bool is_capturing(CUstream stream) {
  const DriverApi& api = driver();
  if (!api.cuStreamIsCapturing) return false;
  int status = 0;
  return api.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS || status != 0;
}

RelaxedCapture::RelaxedCapture() noexcept try {
  constexpr int kRelaxed = 2;
  if (!why_no_driver().empty() || !driver().cuThreadExchangeStreamCaptureMode) return;
  int mode = kRelaxed;
  if (driver().cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS) before_ = mode;
} catch (...) {  // no memory for the reason why there is no driver
}

RelaxedCapture::~RelaxedCapture() {
  if (before_ >= 0) driver().cuThreadExchangeStreamCaptureMode(&before_);
}

void StreamOrder::begin(CUstream stream) {
  capturing_ = is_capturing(stream);
  if (used_ && stream != recorded_on_ && !capturing_) last_.hold_back(stream);
  stream_ = stream;
}

void StreamOrder::end() noexcept {
  if (capturing_) return;
  try {
    last_.record(stream_);
    recorded_on_ = stream_, used_ = true;
  } catch (const Error&) {  // the device is lost, as every later call reports
  }
}

}  // namespace fourtune::runtime::cuda
