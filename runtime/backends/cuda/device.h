// A GPU and what lives on it: one owner per handle of the driver.
//
// Contexts are shared with the application: we retain the device's primary context, the one that the CUDA runtime uses,
// and make it current only while a call of ours runs. Pointers, streams and events are then the same for both.
// Threads: a Device may be used from any thread; the other types by one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
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
  // Retains the primary context. Throws Error{backend_unavailable | invalid_option}: no driver, no device of that
  // number.
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

// How many GPUs this process may use; 0 without a driver.
int device_count();

// What Device::open(ordinal) would say of itself, without a context on it. Throws as open.
DeviceTraits device_traits(int ordinal);

// Makes the device's context current on this thread while it lives, and then again the one before.
class ContextGuard {
 public:
  explicit ContextGuard(const Device& device);
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;
  ~ContextGuard();
};

// Device memory. Move-only; freed with the device's context current.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  // Throws Error{out_of_memory} that tells how much was asked for and how much is free. Contents are undefined.
  DeviceMemory(std::shared_ptr<const Device> device, std::size_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory();
  CUdeviceptr address() const { return address_; }
  void* pointer() const { return reinterpret_cast<void*>(address_); }
  std::size_t size() const { return bytes_; }
  // Both wait until the copy is done. At most size() bytes from its start.
  void upload(const void* host, std::size_t bytes) const;
  void download(void* host, std::size_t bytes) const;

 private:
  std::shared_ptr<const Device> device_;
  CUdeviceptr address_ = 0;
  std::size_t bytes_ = 0;
};

class Event {
 public:
  // An event that is not timed costs the stream less.
  explicit Event(std::shared_ptr<const Device> device, bool timed = true);
  Event(Event&& other) noexcept;
  Event& operator=(Event&&) = delete;
  ~Event();
  void record(CUstream stream) const;
  // What is put on the stream from now on runs after what was recorded. The context must be current.
  void hold_back(CUstream stream) const;
  // Seconds from `earlier` to this one; waits for this one.
  double seconds_since(const Event& earlier) const;

 private:
  std::shared_ptr<const Device> device_;
  CUevent event_ = nullptr;
};

// A stream of our own.
class Stream {
 public:
  explicit Stream(std::shared_ptr<const Device> device);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();
  CUstream get() const { return stream_; }
  void synchronise() const;

 private:
  std::shared_ptr<const Device> device_;
  CUstream stream_ = nullptr;
};

// What a loaded kernel takes of a multiprocessor.
struct KernelResources {
  int registers = 0;                  // per thread
  int local_bytes = 0;                // per thread: stack frame with spills
  int static_shared_bytes = 0;        // of a block
  int blocks_per_multiprocessor = 0;  // resident at most, with the dynamic shared memory of the launch
  friend bool operator==(const KernelResources&, const KernelResources&) = default;
};

// A loaded kernel, ready to launch with the geometry of its source.
class Kernel {
 public:
  // image: a cubin for this device. Throws Error{unsupported} when the driver or the device cannot take it or the
  // shared memory or cluster is larger than the device has.
  Kernel(std::shared_ptr<const Device> device, const generator::KernelSource& source, std::span<const std::byte> image);
  Kernel(Kernel&& other) noexcept;
  Kernel& operator=(Kernel&&) = delete;
  ~Kernel();
  const KernelResources& resources() const { return resources_; }
  CUfunction function() const { return function_; }
  const generator::Extent3& block() const { return block_; }
  const generator::Extent3& cluster() const { return cluster_; }
  unsigned shared_bytes() const { return shared_bytes_; }
  // It may start before the kernel ahead of it ends: its text says how (templates/launch_order.cuh), the device can.
  bool overlaps() const { return overlaps_; }
  // arguments[i] points to the value of parameter i. Does not wait. The device's context must be current. overlap: may
  // start before the kernel ahead of it on the stream ends, which is one of ours and of the same call.
  void launch(const generator::Extent3& grid, void** arguments, CUstream stream, bool overlap = false) const;

 private:
  void prepare(const generator::KernelSource& source);
  std::shared_ptr<const Device> device_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  generator::Extent3 block_{}, cluster_{};
  unsigned shared_bytes_ = 0;
  bool overlaps_ = false;
  std::string entry_;
  KernelResources resources_;
};

}  // namespace fourtune::runtime::cuda
