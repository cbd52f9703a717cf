// What a Transform is made of: a plan and its executor on one device (one_device.cpp), or such a core for each of
// several devices (many_devices.cpp). transform.h says what the functions do and throw.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fourtune/transform.h"

namespace fourtune::runtime {

class TransformCore {
 public:
  virtual ~TransformCore() = default;
  virtual void set_points(const Points& points) = 0;
  virtual void set_bounds(const Bounds& bounds) = 0;
  virtual void execute(void* first, void* second, bool adjoint) = 0;
  virtual void set_stream(void* stream) = 0;
  virtual const Problem& problem() const = 0;
  virtual MemoryUse memory() const = 0;
  virtual const std::string& plan() const = 0;
  virtual const std::string& explain() const = 0;
  virtual const std::string& warnings() const = 0;
  virtual std::vector<StageTime> stage_times() const = 0;
};

// On options.device. options.devices is not looked at.
std::unique_ptr<TransformCore> on_one_device(const Problem& problem, const Options& options);
void prepare_on_one_device(const Problem& problem, const Options& options);

// On the devices that options.devices names.
std::unique_ptr<TransformCore> on_many_devices(const Problem& problem, const Options& options);
void prepare_on_many_devices(const Problem& problem, const Options& options);

}  // namespace fourtune::runtime
