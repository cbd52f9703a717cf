// Tests of transforms that several emulated devices share.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "fourtune/transform.h"
#include "runtime/backend_table.h"
#include "runtime/backends/emulated/emulated_backend.h"

namespace fourtune::test {

// There are three devices.
class ThreeEmulatedDevices : public ::testing::Test {
 protected:
  ThreeEmulatedDevices() { ::setenv("FOURTUNE_EMULATED_DEVICES", "3", 1); }
  ~ThreeEmulatedDevices() override { ::unsetenv("FOURTUNE_EMULATED_DEVICES"); }
};

// The status and message of what is thrown.
inline std::pair<Status, std::string> thrown(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::success, ""};
}

// Of a transform on these devices; adds the backend to the table.
inline Options on_emulated(const std::string& devices) {
  static const bool added = [] {
    static const runtime::emulated::EmulatedBackend backend(runtime::gpu::generated_programs());
    runtime::add_backend(backend);
    return true;
  }();
  (void)added;
  Options options;
  options.default_databases = false;
  options.backend = "emulated";
  options.devices = devices;
  return options;
}

}  // namespace fourtune::test
