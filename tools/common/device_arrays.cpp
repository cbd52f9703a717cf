#include "tools/common/device_arrays.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/backends/gpu/gpu_executor.h"

namespace fourtune::tools {

ArrayBytes array_bytes(const Problem& problem) {
  ArrayBytes bytes;
  if (problem.kind == Kind::fft) {
    bytes.first = runtime::gpu::input_bytes(problem);
    bytes.second = runtime::gpu::output_bytes(problem);
    bytes.in_place = problem.place == Place::in;
    if (bytes.in_place) bytes.first = bytes.second = std::max(bytes.first, bytes.second);
    return bytes;
  }
  const std::int64_t complex = 2 * real_bytes(problem.precision) * problem.batch;
  const std::int64_t modes = problem.type == 3 ? problem.k.value_or(0) : mode_count(problem);
  bytes.first = static_cast<std::size_t>(checked_multiply(problem.m.value_or(0), complex, "the point values"));
  bytes.second = static_cast<std::size_t>(checked_multiply(modes, complex, "the mode values"));
  return bytes;
}

DevicePoints::DevicePoints(runtime::ArrayMemory& memory, const Problem& problem, const Points& host) : host_(host) {
  const auto real = static_cast<std::size_t>(real_bytes(problem.precision));
  const void* from[] = {host.x, host.y, host.z, host.s, host.t, host.u};
  for (std::size_t i = 0; i < arrays_.size(); ++i)
    if (from[i]) arrays_[i] = DeviceArray(memory, real * static_cast<std::size_t>(i < 3 ? host.m : host.k));
  upload();
}
void DevicePoints::upload() const {
  const void* from[] = {host_.x, host_.y, host_.z, host_.s, host_.t, host_.u};
  for (std::size_t i = 0; i < arrays_.size(); ++i) arrays_[i].upload(from[i]);
}
Points DevicePoints::points() const {
  Points points;
  points.m = host_.m;
  points.k = host_.k;
  points.x = arrays_[0].data();
  points.y = arrays_[1].data();
  points.z = arrays_[2].data();
  points.s = arrays_[3].data();
  points.t = arrays_[4].data();
  points.u = arrays_[5].data();
  return points;
}

bool takes_host_arrays(const runtime::Backend& backend) {
  return backend.capabilities().arrays == runtime::MemoryKind::host;
}

int rotated_sets(std::size_t bytes_a_set, std::int64_t cache_bytes) {
  return tuner::sets_past_cache(bytes_a_set, cache_bytes, 64);
}

double measure_copy(const runtime::Backend& backend, std::size_t bytes, int device) {
  const auto memory = backend.memory(device);
  const auto timer = backend.timer(device);
  std::vector<std::pair<DeviceArray, DeviceArray>> sets;
  for (int i = 0; i < rotated_sets(2 * bytes, backend.traits(device).l2_bytes); ++i)
    sets.emplace_back(DeviceArray(*memory, bytes), DeviceArray(*memory, bytes));
  for (const auto& [from, to] : sets) memory->fill(from.data(), 1, bytes);
  const auto run = [&](int loops) {
    timer->start();
    for (int i = 0; i < loops; ++i) {
      const auto& [from, to] = sets[static_cast<std::size_t>(i) % sets.size()];
      memory->copy(to.data(), from.data(), bytes);
    }
    timer->stop();
    return std::max(timer->seconds(), 1e-9) / loops;
  };
  const double once = run(2);
  const int loops = static_cast<int>(std::clamp(2e-3 / once, 1.0, 1000.0));
  double best = run(loops);
  for (int sample = 0; sample < 5; ++sample) best = std::min(best, run(loops));
  return 2 * static_cast<double>(bytes) / best;
}

}  // namespace fourtune::tools
