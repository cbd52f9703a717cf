#include "runtime/device_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace fourtune::runtime {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Error(Status::invalid_option, fmt::format("devices={}: {}", text::shown(text), why));
}

// The bytes behind a colon, which is cut off with them.
std::int64_t cut_bytes(const std::string& text, std::string_view& word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) return 0;
  const std::string_view digits = word.substr(colon + 1);
  const auto bytes = text::number<double>(digits);
  if (!bytes || !(*bytes >= 1 && *bytes <= 9e18))
    refuse(text, fmt::format("'{}' is not a number of bytes; 0:20e9 would be right", text::shown(std::string(digits))));
  word = word.substr(0, colon);
  return static_cast<std::int64_t>(*bytes);
}

}  // namespace

std::vector<ListedDevice> device_list(const std::string& text, const Backend& backend) {
  std::vector<ListedDevice> devices;
  std::string_view whole = text;
  if (whole == "all" || whole.starts_with("all:")) {
    const std::int64_t bytes = cut_bytes(text, whole);
    for (int device = 0; device < backend.device_count(); ++device) devices.push_back({device, bytes});
    return devices;
  }
  for (std::string_view word : text::split(text, ',')) {
    const std::int64_t bytes = cut_bytes(text, word);
    const auto number = text::number<int>(word);
    if (!number)
      refuse(text,
             fmt::format("'{}' is no device's number; all or 0,1 would be right", text::shown(std::string(word))));
    backend.check_device(*number);
    const auto same = [&](const ListedDevice& known) { return known.number == *number; };
    if (std::any_of(devices.begin(), devices.end(), same)) refuse(text, fmt::format("names device {} twice", *number));
    devices.push_back({*number, bytes});
  }
  return devices;
}

}  // namespace fourtune::runtime
