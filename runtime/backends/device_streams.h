// Streams of a device and copies on them, for work and copies that overlap. process_streams.cpp: without a device.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace fourtune::runtime {

// How another process of this machine finds a byte in a device's memory. It is passed on as it is, as bytes.
struct SharedPlace {
  std::array<unsigned char, 64> handle{};  // of the allocation
  std::uint64_t allocation = 0;            // a number that its process gives to this one alone
  std::int64_t process = 0;
  std::int64_t offset = 0;  // bytes, from the begin of the allocation
};

// Everything that is put on a lane runs in order, and nothing here waits unless it says so. Use from one thread at a
// time. Where a device's work is done when a call returns, so is everything here.
class DeviceStreams {
 public:
  enum class Lane { work, copies, exchange };
  // Rows of an array: where the first one begins, and the bytes from one to the next.
  struct Rows {
    void* at = nullptr;
    std::int64_t stride = 0;
  };

  virtual ~DeviceStreams() = default;
  // The lane as executors and libraries of the device take it; null is the device's default stream.
  virtual void* stream(Lane lane) const = 0;
  // Copies `rows` rows of `bytes` bytes, each side in memory of a device or the host. The caller waits where the host's
  // is not that of allocate_host.
  virtual void copy(Lane lane, const Rows& to, const Rows& from, std::int64_t bytes, std::int64_t rows) = 0;
  // What is put on `later` from now on runs after all that has been put on `earlier`.
  virtual void follow(Lane later, Lane earlier) = 0;
  // Remembers, by a small number, the place that a lane has reached; later work of a lane waits for it, or the caller.
  virtual void mark(int number, Lane lane) = 0;
  virtual void follow_mark(Lane later, int number) = 0;
  virtual void wait_for_mark(int number) = 0;
  virtual void wait(Lane lane) = 0;
  // Waits for all that is on a stream of the application, of any device.
  virtual void wait_for_stream(void* stream) const { (void)stream; }

  // Host memory that the device reads and writes by itself. Throws Error{out_of_memory}. release_host takes what
  // allocate_host returned, or null.
  virtual void* allocate_host(std::int64_t bytes) = 0;
  virtual void release_host(void* memory) noexcept = 0;

  // Whether the device can work on an array where it is.
  virtual bool reaches(const void* array) const = 0;
  // Bytes per second of copies to another device of the process, in each direction while both are busy, where that is
  // known without measuring it; 0: it is not (device_link.h).
  virtual double known_link(int device) const { return (void)device, 0; }
  // Where other processes of this machine find this byte of an array of the device. Throws Error{unsupported}.
  virtual SharedPlace share(const void* array) const;
  // The byte that another process has shared, for copy(); valid until forget_shared(). Throws Error{unsupported}.
  virtual void* reach(const SharedPlace& place);
  // Lets go of the memory of other processes; nothing copies there any more. Theirs may end only after this.
  virtual void forget_shared() noexcept {}
  // A text that only this device has, on any machine.
  virtual std::string identity() const = 0;
  // Makes the device's context current on this thread while the result lives.
  virtual std::shared_ptr<void> current() const = 0;
};

// For backends that work in the memory of this process.
std::unique_ptr<DeviceStreams> process_streams();

}  // namespace fourtune::runtime
