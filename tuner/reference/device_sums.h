// Direct sums on a device, by a kernel, of arrays that are there already. A few outputs of every call are summed on the
// host as well, so that a device that computes wrongly cannot approve itself.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/backends/backend.h"
#include "tuner/reference/nufft_sums.h"

namespace fourtune::tuner {

// Where a device has the points and the input of one transform (NufftSums::points, input): the arrays that an executor
// takes. x is not read for type 2, whose terms are modes.
struct DeviceInput {
  std::array<const void*, 3> x{};
  const void* values = nullptr;
};

// Not thread-safe.
class DeviceSums {
 public:
  // The environment variable FOURTUNE_REFERENCES says who computes: "host", "device", or, unset, the device where it is
  // a GPU and the host would need longer than host_seconds. Null: the host always does, as also where the backend runs
  // no programs but those of transforms. Throws Error{invalid_option} for another value. The backend must outlive the
  // result.
  static std::unique_ptr<DeviceSums> make(const runtime::Backend& backend, int device);
  static constexpr double host_seconds = 20e-3;
  ~DeviceSums();

  // Whether it would compute so many terms, of all outputs together, of this type.
  bool takes(int type, double terms) const;
  // The sums, or false where the device has none to give: coordinates so large that turns would lose digits, no
  // compiler, no memory (then why() says so, and takes() is false from now on). Throws Error{internal} that names an
  // output where the device and the host differ by more than rounding.
  template <typename T>
  bool sums(const NufftSums<T>& job, const DeviceInput& at, ComplexSpan out);
  // Why the device does not compute any more; empty: it does.
  const std::string& why() const;

 private:
  DeviceSums();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The sums by the device if there is one that takes them, else by the host. True: by the device.
template <typename T>
bool direct_sums(const NufftSums<T>& job, DeviceSums* device, const DeviceInput& at, ComplexSpan out) {
  const double terms = static_cast<double>(job.terms()) * static_cast<double>(job.outputs());
  if (device && device->takes(job.type, terms) && device->sums(job, at, out)) return true;
  host_sums(job, out);
  return false;
}

}  // namespace fourtune::tuner
