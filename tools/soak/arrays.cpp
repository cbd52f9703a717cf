#include "tools/soak/arrays.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "tools/soak/data.h"
#include "tuner/measure/device_arrays.h"

namespace fourtune::tools {
namespace {

bool all_unwritten(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == kUnwritten; });
}

class HostArray final : public WatchedArray {
 public:
  HostArray(std::size_t bytes, tuner::Guard guard, std::size_t alignment)
      : bytes_(bytes), memory_((bytes + alignment - 1) / alignment * alignment, guard) {}
  void* data() const override { return memory_.data(); }
  std::size_t bytes() const override { return bytes_; }
  void write(std::span<const std::byte> values) override {
    if (!values.empty()) std::memcpy(data(), values.data(), values.size());
    std::fill(memory_.as<std::byte>() + values.size(), memory_.as<std::byte>() + memory_.bytes(), kUnwritten);
  }
  void read(std::span<std::byte> values) const override {
    if (!values.empty()) std::memcpy(values.data(), data(), values.size());
  }
  bool touched_outside() const override {
    const std::span<const std::byte> all(memory_.as<const std::byte>(), memory_.bytes());
    return !memory_.slack_intact() || !all_unwritten(all.subspan(bytes_));
  }

 private:
  std::size_t bytes_;
  tuner::GuardedArray memory_;
};

class DeviceCanaries final : public WatchedArray {
 public:
  DeviceCanaries(runtime::ArrayMemory& memory, std::size_t bytes)
      : memory_(memory), bytes_(bytes), array_(memory, bytes + 2 * kCanary) {
    write({});
  }
  void* data() const override { return start() + kCanary; }
  std::size_t bytes() const override { return bytes_; }
  void write(std::span<const std::byte> values) override {
    std::vector<std::byte> image(array_.bytes(), kUnwritten);
    std::copy(values.begin(), values.end(), image.begin() + kCanary);
    array_.upload(image.data());
  }
  void read(std::span<std::byte> values) const override {
    if (!values.empty()) memory_.download(values.data(), data(), values.size());
  }
  bool touched_outside() const override {
    std::vector<std::byte> before(kCanary), behind(kCanary);
    memory_.download(before.data(), start(), kCanary);
    memory_.download(behind.data(), start() + kCanary + bytes_, kCanary);
    return !all_unwritten(before) || !all_unwritten(behind);
  }

 private:
  static constexpr std::size_t kCanary = 65536;
  std::byte* start() const { return static_cast<std::byte*>(array_.data()); }
  runtime::ArrayMemory& memory_;
  std::size_t bytes_;
  tuner::DeviceArray array_;
};

}  // namespace

std::unique_ptr<WatchedArray> make_host_array(std::size_t bytes, tuner::Guard guard, std::size_t alignment) {
  return std::make_unique<HostArray>(bytes, guard, alignment);
}
std::unique_ptr<WatchedArray> make_device_array(runtime::ArrayMemory& memory, std::size_t bytes) {
  return std::make_unique<DeviceCanaries>(memory, bytes);
}

}  // namespace fourtune::tools
