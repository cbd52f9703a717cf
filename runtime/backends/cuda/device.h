// A GPU and its resources: each handle of the driver has one owner.
//
// Contexts are shared with the application: we retain the device's primary context, which the CUDA runtime also uses,
// and make it current only during our calls. Pointers, streams and events are then valid for both. Threads: a Device
// may be used from any thread; the other types from one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fourtune/device_traits.h"
#include "fourtune/status.h"
#include "generator/codegen/kernel_source.h"
#include "runtime/backends/cuda/driver_api.h"

namespace fourtune::runtime::cuda {

class Device {
 public:
  // Retains the primary context. Throws Error{backend_unavailable | invalid_option} when there is no driver or no
  // device with that number.
  static std::shared_ptr<const Device> open(int ordinal);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  const DeviceTraits& traits() const { return traits_; }
  CUcontext context() const { return context_; }
  CUdevice handle() const { return device_; }
  int ordinal() const { return ordinal_; }

 private:
  explicit Device(int ordinal);
  int ordinal_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  DeviceTraits traits_;
};

// The number of GPUs that this process may use; 0 without a driver.
int device_count();

// The traits that Device::open(ordinal) would report, obtained without creating a context. Throws as open does.
DeviceTraits device_traits(int ordinal);

// Makes the device's context current on this thread during its lifetime, then restores the previous one.
class ContextGuard {
 public:
  explicit ContextGuard(const Device& device);
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;
  ~ContextGuard();
};

// Device memory. Move-only; the destructor makes the device's context current and frees it.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  // Throws Error{out_of_memory} that says how much was requested and how much is free. The contents are undefined.
  DeviceMemory(std::shared_ptr<const Device> device, std::size_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory();
  CUdeviceptr address() const { return address_; }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver gives addresses as integers
  void* pointer() const { return reinterpret_cast<void*>(address_); }
  std::size_t size() const { return bytes_; }
  // Both wait until the copy is done. They copy at most size() bytes, from the start.
  void upload(const void* host, std::size_t bytes, CUstream stream = nullptr) const;
  void download(void* host, std::size_t bytes) const;

 private:
  std::shared_ptr<const Device> device_;
  CUdeviceptr address_ = 0;
  std::size_t bytes_ = 0;
};

class Event {
 public:
  // An event without timing costs the stream less.
  explicit Event(std::shared_ptr<const Device> device, bool timed = true);
  Event(Event&& other) noexcept;
  Event& operator=(Event&&) = delete;
  ~Event();
  void record(CUstream stream) const;
  // Work put on the stream from now on runs after what this event recorded. The context must be current.
  void hold_back(CUstream stream) const;
  // Waits until all that it recorded is done. The context must be current.
  void wait() const;
  // Seconds from `earlier` to this event; waits for this event.
  double seconds_since(const Event& earlier) const;
  // The same without waiting; nullopt where the device has not reached this event.
  std::optional<double> seconds_if_reached(const Event& earlier) const;

 private:
  std::shared_ptr<const Device> device_;
  CUevent event_ = nullptr;
};

// A stream that this object creates and owns.
class Stream {
 public:
  // urgent: blocks of its kernels start before those of other streams that wait for room.
  explicit Stream(std::shared_ptr<const Device> device, bool urgent = false);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();
  CUstream get() const { return stream_; }
  void synchronise() const;

 private:
  std::shared_ptr<const Device> device_;
  CUstream stream_ = nullptr;
};

// The resources that a loaded kernel takes on a multiprocessor.
struct KernelResources {
  int registers = 0;                  // per thread
  int local_bytes = 0;                // per thread: stack frame including spills
  int static_shared_bytes = 0;        // per block
  int blocks_per_multiprocessor = 0;  // most resident blocks, with the dynamic shared memory of the launch
  friend bool operator==(const KernelResources&, const KernelResources&) = default;
};

// A loaded kernel, ready to launch with the geometry of its source.
class LoadedKernel {
 public:
  // image: a cubin for this device. Throws Error{unsupported} when the driver or the device cannot load it, or when the
  // shared memory or the cluster is larger than the device supports.
  LoadedKernel(std::shared_ptr<const Device> device, const generator::KernelSource& source,
               std::span<const std::byte> image);
  LoadedKernel(LoadedKernel&& other) noexcept;
  LoadedKernel& operator=(LoadedKernel&&) = delete;
  ~LoadedKernel();
  const KernelResources& resources() const { return resources_; }
  CUfunction function() const { return function_; }
  const generator::Extent3& block() const { return block_; }
  const generator::Extent3& cluster() const { return cluster_; }
  unsigned shared_bytes() const { return shared_bytes_; }
  // True when it may start before the preceding kernel ends: its text supports this (templates/launch_order.cuh), so
  // does the device, and it is wanted.
  bool overlaps() const { return overlaps_; }
  // For kernels of calls that gain by it, unless the user refuses.
  void let_overlap();
  // arguments[i] points to the value of parameter i. Does not wait. The device's context must be current. overlap: the
  // kernel may start before the preceding kernel on the stream ends; that one must be ours and from the same call.
  void launch(const generator::Extent3& grid, void** arguments, CUstream stream, bool overlap = false) const;

 private:
  void prepare(const generator::KernelSource& source);
  std::shared_ptr<const Device> device_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  generator::Extent3 block_{}, cluster_{};
  unsigned shared_bytes_ = 0;
  bool waits_ = false;  // it can
  bool overlaps_ = false;
  std::string entry_;
  KernelResources resources_;
};

}  // namespace fourtune::runtime::cuda
