// `fourtune tune --devices`: several devices tune one list of problems. Each has a session, on a thread, with
// its own worker process and database; the databases are joined at the end.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "tuner/session/session.h"

namespace fourtune::runtime {
class Backend;
}

namespace fourtune::tools {

// "all", or numbers as "0,2". Throws UsageError for anything else, for a device that is named twice, and for devices of
// different kinds; Error{invalid_option} for one that does not exist.
std::vector<int> devices_from(const std::string& text, const runtime::Backend& backend);

struct DevicesTuning {
  std::string backend;
  std::vector<int> devices;
  std::filesystem::path database;
  std::filesystem::path recorded;  // the folder of recorded points, if any
  tuner::SessionOptions session;  // its problems are shared out; progress and trace are called for one device at a time
  bool quiet = false;
  const std::atomic<bool>* stop = nullptr;
};

// Returns when every device has ended, and what they measured is in the database, also after a stop. The report has the
// problems in their order. A device whose session fails costs its problems, which are missing in the report, and the
// warnings say why. The parts' databases lie beside the database while it works ("my.device-1.db"); what a killed run
// left in them is used by the next one.
tuner::Report tune_on_devices(const DevicesTuning& tuning);

}  // namespace fourtune::tools
