#include "runtime/device_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace fourtune::runtime {

std::vector<int> device_list(const std::string& text, const Backend& backend) {
  std::vector<int> devices;
  if (text == "all") {
    for (int device = 0; device < backend.device_count(); ++device) devices.push_back(device);
    return devices;
  }
  for (const std::string_view word : text::split(text, ',')) {
    const auto number = text::number<int>(word);
    if (!number)
      throw Error(Status::invalid_option,
                  fmt::format("devices={}: '{}' is no device's number; all or 0,1 would be right", text::shown(text),
                              text::shown(word)));
    backend.check_device(*number);
    if (std::find(devices.begin(), devices.end(), *number) != devices.end())
      throw Error(Status::invalid_option, fmt::format("devices={}: names device {} twice", text::shown(text), *number));
    devices.push_back(*number);
  }
  return devices;
}

}  // namespace fourtune::runtime
