#include "runtime/device_link.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <mutex>
#include <tuple>

#include "runtime/backends/device_copy.h"
#include "runtime/backends/device_streams.h"

namespace fourtune::runtime {
namespace {

using Lane = DeviceStreams::Lane;

double measure(DeviceStreams& streams, const Backend& backend, int one, int other) {
  constexpr std::int64_t kBytes = 32 << 20;
  constexpr int kCopies = 4;
  const DeviceCopy here(backend, one), there(backend, other);
  std::array<DeviceArray, 2> mine, theirs;
  for (DeviceArray& array : mine) here.resize(array, kBytes);
  for (DeviceArray& array : theirs) there.resize(array, kBytes);
  const auto both_ways = [&] {
    streams.copy(Lane::copies, {mine[0].data(), kBytes}, {theirs[0].data(), kBytes}, kBytes, 1);
    streams.copy(Lane::exchange, {theirs[1].data(), kBytes}, {mine[1].data(), kBytes}, kBytes, 1);
  };
  const auto wait = [&] { streams.wait(Lane::copies), streams.wait(Lane::exchange); };
  both_ways();  // the first copies also map memory
  wait();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kCopies; ++i) both_ways();
  wait();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return static_cast<double>(kBytes) * kCopies / std::max(seconds, 1e-9);
}

}  // namespace

double device_link(const Backend& backend, int one, int other) {
  static std::mutex mutex;
  static std::map<std::tuple<const Backend*, int, int>, double> known;
  const auto streams = backend.streams(one);
  if (const double link = streams->known_link(other); link > 0) return link;
  const std::lock_guard lock(mutex);
  const std::tuple key{&backend, std::min(one, other), std::max(one, other)};
  if (const auto found = known.find(key); found != known.end()) return found->second;
  try {
    const double link = measure(*streams, backend, one, other);
    known.emplace(key, link);
    return link;
  } catch (const Error& error) {
    if (error.status() != Status::out_of_memory) throw;
    return 0;
  }
}

}  // namespace fourtune::runtime
