// The transforms of a rank's planes within an fft on GPUs, as plane_ffts.h on processors: between its part of the array
// in space and the array in the middle, from which columns travel. gpu_whole_planes.cpp and gpu_split_planes.cpp.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/backends/device_copy.h"
#include "runtime/distributed/device_middle.h"
#include "runtime/distributed/fft_geometry.h"
#include "runtime/distributed/pipeline.h"
#include "runtime/distributed/rank_executor.h"

namespace fourtune::runtime::distributed {

template <class T>
class DevicePlaneFfts {
 public:
  virtual ~DevicePlaneFfts() = default;
  // Memory for what travels within planes. Throws Error{out_of_memory}; does not communicate.
  virtual void reserve(bool to_columns) { (void)to_columns; }
  // `space`: this rank's part of one transform. `work`: the rank's planes of it. Work is put on Lane::work. Collective
  // among the ranks that share planes; failures are kept in `local`.
  virtual void run(char* space, std::complex<T>* work, cpu::LineRange which, bool adjoint, LocalWork& local) = 0;
  // As those of DeviceExchange.
  virtual void settle() {}
  virtual void rethrow() {}
  virtual std::int64_t bytes() const = 0;
};

// What both kinds need. All but the options and the geometry outlive them.
struct DevicePlaneSpec {
  const Communicator& ranks;
  const Problem& problem;
  const RankPlan& plan;
  const RankDevice& device;
  const DeviceCopy& memory;
  FftGeometry of;
  ExecutorOptions options;
  cpu::StageClock& clock;
};

// Marks of the streams that exchanges within planes take, of at most two slots; others begin behind them.
inline constexpr int kMarksInPlanes = 4;

// `pipeline` is the one in which they run. Throws as executors do; does not communicate.
template <class T>
std::unique_ptr<DevicePlaneFfts<T>> make_gpu_whole_planes(const DevicePlaneSpec& spec,
                                                          const PipelineOf<DeviceMiddle<T>>& pipeline);
template <class T>
std::unique_ptr<DevicePlaneFfts<T>> make_gpu_split_planes(const DevicePlaneSpec& spec,
                                                          const PipelineOf<DeviceMiddle<T>>& pipeline);

}  // namespace fourtune::runtime::distributed
