#include "tuner/device_arrays.h"

#include <algorithm>

namespace fourtune::tuner {

DeviceArrays::DeviceArrays(std::unique_ptr<runtime::ArrayMemory> memory, std::size_t input_bytes,
                           std::size_t output_bytes, int sets)
    : memory_(std::move(memory)), input_bytes_(input_bytes), output_bytes_(output_bytes) {
  try {
    kept_ = memory_->allocate(input_bytes_);
    for (int set = 0; set < std::max(1, sets); ++set) {
      inputs_.push_back(memory_->allocate(input_bytes_));
      if (output_bytes_) outputs_.push_back(memory_->allocate(output_bytes_));
    }
  } catch (const Error& error) {
    if (error.status() != Status::out_of_memory || inputs_.empty()) throw;
    if (output_bytes_ && outputs_.size() < inputs_.size()) {  // fewer sets do
      memory_->release(inputs_.back());
      inputs_.pop_back();
    }
    if (inputs_.empty()) throw;
  }
}

DeviceArrays::~DeviceArrays() {
  for (void* array : inputs_) memory_->release(array);
  for (void* array : outputs_) memory_->release(array);
  if (kept_) memory_->release(kept_);
}

void DeviceArrays::set_input(const void* host, std::size_t bytes) {
  kept_bytes_ = std::min(bytes, input_bytes_);
  memory_->upload(kept_, host, kept_bytes_);
  restore_inputs();
}

void DeviceArrays::restore_inputs() const {
  for (void* array : inputs_) memory_->copy(array, kept_, kept_bytes_);
  memory_->wait();
}

void DeviceArrays::poison_output() const {
  if (output_bytes_) memory_->fill(outputs_[0], 0xff, output_bytes_);
  memory_->wait();
}

void DeviceArrays::fetch_input(void* host, std::size_t bytes) const {
  memory_->wait();
  memory_->download(host, inputs_[0], bytes);
}
void DeviceArrays::fetch_output(void* host, std::size_t bytes, std::size_t offset) const {
  memory_->wait();
  memory_->download(host, static_cast<char*>(output()) + offset, bytes);
}

std::vector<Piece> pieces_of(std::size_t bytes) {
  constexpr std::size_t most = 512, longest = std::size_t{1} << 17, grain = 64, part_of_all = 1024;
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

int sets_past_cache(std::size_t set_bytes, std::int64_t cache_bytes) {
  const std::int64_t bytes = std::max<std::int64_t>(1, static_cast<std::int64_t>(set_bytes));
  return static_cast<int>(std::clamp<std::int64_t>((2 * cache_bytes + bytes - 1) / bytes, 1, 16));
}

}  // namespace fourtune::tuner
