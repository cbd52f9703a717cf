// What a device says of itself while it works: clocks, power, temperature, and why it is slower than it could be.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fourtune::runtime {

// A value that the device does not tell is absent.
struct DeviceState {
  std::optional<int> clock_mhz;         // of the multiprocessors
  std::optional<int> memory_clock_mhz;  // of the device's memory
  std::optional<double> watts;          // of the whole board, as the device averages it (a second on recent GPUs)
  std::optional<int> celsius;
  // Why the clocks are held below what was asked for, by others or by heat: "heat", "hardware", "brake". A limit of
  // power that the plan itself reaches is "power" and does not make slowed() true.
  std::vector<std::string> limits;

  // Whether the clocks are lower than those at which the plan will be used, so that its times say too little.
  bool slowed() const;
};

// The most that the device may reach; a value that it does not tell is absent.
struct DeviceMaxima {
  std::optional<int> clock_mhz;
  std::optional<int> memory_clock_mhz;
  std::optional<double> watts;  // the limit that is in force
};

// The sensors of one device. Use from one thread at a time. Nothing throws: a sensor that fails is absent.
class DeviceSensors {
 public:
  virtual ~DeviceSensors() = default;
  virtual DeviceState read() = 0;
  virtual DeviceMaxima maxima() { return {}; }
  // The same as read().slowed(), with one question to the device.
  virtual bool slowed() { return read().slowed(); }
  // Energy that the device has used since some moment in the past; absent where it has no such counter. It moves in
  // steps: tens of milliseconds pass between two of them.
  virtual std::optional<double> joules() { return std::nullopt; }
};

// The state as the row of a run stores it: JSON as {"clock_mhz":1980,...}; empty when nothing is known.
std::string state_text(const DeviceState& state);

}  // namespace fourtune::runtime
