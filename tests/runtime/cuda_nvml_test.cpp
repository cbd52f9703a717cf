// A GPU's sensors, with a driver and an NVML that say what the test wants (fake_cuda_driver.c, fake_nvml.c).
#include <gtest/gtest.h>

#include <cstdlib>

#include "runtime/backends/cuda/cuda_backend.h"
#include "runtime/backends/cuda/nvml_api.h"
#include "tests/runtime/fake_driver.h"

namespace fourtune::runtime::cuda {
namespace {

const int chosen = use_fake_driver() | ::setenv("FOURTUNE_NVML", FOURTUNE_FAKE_NVML, 1) |
                   ::setenv("FOURTUNE_FAKE_GPUS", "h200,rtx4090", 1);

class Nvml : public FakeDriver {
 protected:
  void SetUp() override {
    FakeDriver::SetUp();
    ASSERT_EQ(chosen, 0);
    set<int>("fake_nvml_result", 0);
    set<int>("fake_nvml_handle_result", 0);
    set<unsigned long long>("fake_nvml_reasons", 0);
  }
  template <class T>
  static void set(const char* name, T value) {
    at<T>(name) = value;
  }
  template <class T>
  static T& at(const char* name) {
    static void* const library = ::dlopen(FOURTUNE_FAKE_NVML, RTLD_NOW);
    return *static_cast<T*>(::dlsym(library, name));
  }
};

TEST_F(Nvml, TellsClocksPowerAndTemperature) {
  ASSERT_EQ(why_no_nvml(), "");
  const DeviceState state = nvml_sensors(0)->read();
  EXPECT_EQ(state.clock_mhz, 1980);
  EXPECT_EQ(state.memory_clock_mhz, 2619);
  EXPECT_EQ(state.watts, 312.5);
  EXPECT_EQ(state.celsius, 48);
  EXPECT_FALSE(state.slowed());
  EXPECT_EQ(state_text(state), R"({"clock_mhz":1980,"memory_clock_mhz":2619,"watts":312.5,"celsius":48})");
  EXPECT_EQ(nvml_sensors(0)->joules(), 5.0);
}

TEST_F(Nvml, TellsTheHighestClocksAndTheLimitOfPower) {
  const DeviceMaxima most = nvml_sensors(0)->maxima();
  EXPECT_EQ(most.clock_mhz, 2040);
  EXPECT_EQ(most.memory_clock_mhz, 3201);
  EXPECT_EQ(most.watts, 700.0);
}

TEST_F(Nvml, FindsTheDeviceByItsPlaceOnTheBus) {
  nvml_sensors(1);
  EXPECT_STREQ(&at<char>("fake_nvml_bus"), "00000000:18:00.0");
  nvml_sensors(0);
  EXPECT_STREQ(&at<char>("fake_nvml_bus"), "00000000:17:00.0");
}

TEST_F(Nvml, HeatHardwareAndBrakesSlowClocksButAnIdleOrAPowerLimitDoNot) {
  const auto sensors = nvml_sensors(0);
  const struct {
    unsigned long long reasons;
    std::vector<std::string> limits;
    bool slowed;
  } cases[] = {{0x1, {}, false},          // idle
               {0x2 | 0x100, {}, false},  // clocks that somebody chose
               {0x4, {"power"}, false},   // the plan draws that much
               {0x8, {"hardware"}, true}, {0x20, {"heat"}, true},  {0x40, {"heat"}, true},
               {0x60, {"heat"}, true},    {0x80, {"brake"}, true}, {0x84, {"power", "brake"}, true}};
  for (const auto& one : cases) {
    set<unsigned long long>("fake_nvml_reasons", one.reasons);
    EXPECT_EQ(sensors->read().limits, one.limits) << one.reasons;
    EXPECT_EQ(sensors->slowed(), one.slowed) << one.reasons;
  }
}

TEST_F(Nvml, WhatADeviceDoesNotTellIsAbsent) {
  const auto sensors = nvml_sensors(0);
  set<int>("fake_nvml_result", 3);  // NVML_ERROR_NOT_SUPPORTED
  EXPECT_EQ(state_text(sensors->read()), "");
  EXPECT_FALSE(sensors->slowed());
  EXPECT_EQ(sensors->joules(), std::nullopt);
  EXPECT_EQ(sensors->maxima().clock_mhz, std::nullopt);
  EXPECT_EQ(sensors->maxima().watts, std::nullopt);
}

TEST_F(Nvml, ADeviceThatNvmlDoesNotKnowIsANamedError) {
  set<int>("fake_nvml_handle_result", 6);
  const auto [status, message] = failure([] { CudaBackend({}).sensors(0); });
  EXPECT_EQ(status, Status::backend_unavailable);
  EXPECT_NE(message.find("00000000:17:00.0: Not Found"), std::string::npos) << message;
}

TEST_F(Nvml, OneQuestionSaysWhetherTheDeviceIsSlowed) {
  const auto sensors = nvml_sensors(0);
  const int before = at<int>("fake_nvml_questions");
  sensors->slowed();
  EXPECT_EQ(at<int>("fake_nvml_questions"), before + 1);
}

}  // namespace
}  // namespace fourtune::runtime::cuda
