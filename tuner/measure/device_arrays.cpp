#include "tuner/measure/device_arrays.h"

#include <algorithm>
#include <cmath>

namespace fourtune::tuner {

DeviceArray::DeviceArray(runtime::ArrayMemory& memory, std::size_t bytes)
    : memory_(&memory), data_(bytes > 0 ? memory.allocate(bytes) : nullptr), bytes_(bytes) {}
DeviceArray& DeviceArray::operator=(DeviceArray&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
DeviceArray::~DeviceArray() {
  if (data_) memory_->release(data_);
}
void DeviceArray::upload(const void* host) const {
  if (data_) memory_->upload(data_, host, bytes_);
}
void DeviceArray::download(void* host) const {
  if (data_) memory_->download(host, data_, bytes_);
}

DeviceArrays::DeviceArrays(std::unique_ptr<runtime::ArrayMemory> memory, std::size_t input_bytes,
                           std::size_t output_bytes, int sets)
    : memory_(std::move(memory)), input_bytes_(input_bytes), output_bytes_(output_bytes), kept_(*memory_, input_bytes) {
  for (int set = 0; set < std::max(1, sets); ++set) {
    try {
      DeviceArray input(*memory_, input_bytes_), output(*memory_, output_bytes_);
      inputs_.push_back(std::move(input));
      outputs_.push_back(std::move(output));
    } catch (const Error& error) {
      if (error.status() != Status::out_of_memory || set == 0) throw;
      break;  // fewer sets are enough
    }
  }
}

void DeviceArrays::set_input(const void* host, std::size_t bytes) {
  kept_bytes_ = std::min(bytes, input_bytes_);
  memory_->upload(kept_.data(), host, kept_bytes_);
  restore_inputs();
}

void DeviceArrays::restore_inputs() const {
  for (const DeviceArray& array : inputs_) memory_->copy(array.data(), kept_.data(), kept_bytes_);
  memory_->wait();
}

void DeviceArrays::poison_output() const {
  if (output_bytes_) memory_->fill(output(), 0xff, output_bytes_);
  memory_->wait();
}

void DeviceArrays::fetch_input(void* host, std::size_t bytes) const {
  memory_->wait();
  memory_->download(host, input(), bytes);
}
void DeviceArrays::fetch_output(void* host, std::size_t bytes, std::size_t offset) const {
  memory_->wait();
  memory_->download(host, static_cast<char*>(output()) + offset, bytes);
}

std::vector<Piece> pieces_of(std::size_t bytes) {
  constexpr std::size_t most = 256, longest = std::size_t{1} << 14, grain = 64, part_of_all = 1024;
  const std::size_t length = std::clamp(bytes / part_of_all / grain * grain, grain, longest);
  const std::size_t count = std::clamp<std::size_t>(bytes / (2 * length), 1, most), stride = bytes / count;
  std::vector<Piece> out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t room = (stride - std::min(stride, length)) / grain * grain;
    const std::size_t shift = i == 0 ? 0 : i + 1 == count ? room : (i * 2654435761U % (room + 1)) / grain * grain;
    const std::size_t first = i * stride / grain * grain + shift;
    out.push_back({first, std::min(length, bytes - first)});
  }
  if (out.back().first + out.back().bytes < bytes)
    out.push_back({bytes - std::min(bytes, grain), std::min(bytes, grain)});
  return out;
}

int sets_past_cache(std::size_t set_bytes, std::int64_t cache_bytes, int most) {
  if (set_bytes == 0 || cache_bytes <= 0) return 1;
  const double sets = 2 * static_cast<double>(cache_bytes) / static_cast<double>(set_bytes);
  return static_cast<int>(std::clamp(std::ceil(sets), 1.0, static_cast<double>(most)));
}

}  // namespace fourtune::tuner
