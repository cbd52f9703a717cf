// `fourtune tune --objective`: what it refuses where a device has no sensors, and what the database says afterwards.
#include "tests/tools/command_line.h"

namespace fourtune::test {
namespace {

class ObjectiveCommand : public CommandLine {};

constexpr const char* kSmall = "fft:type=c2c,n=24,prec=f64";

TEST_F(ObjectiveCommand, EnergyIsRefusedByNameWhereTheBackendHasNoSensors) {
  for (const char* backend : {"cpu", "emulated"})
    expect_refused({"tune", kSmall, "--backend", backend, "--objective", "energy", "--seconds", "1"},
                   std::string("--objective energy: the backend ") + backend + " has no sensors of energy");
  expect_refused({"tune", kSmall, "--ranks", "2", "--objective", "energy"}, "--ranks: not with");
  expect_refused({"tune", kSmall, "--objective", "speed"}, "--objective");
}

TEST_F(ObjectiveCommand, ADeviceWithoutSensorsIsTunedAsBefore) {
  ASSERT_EQ(tune({kSmall, "--objective", "time", "--seconds", "1", "--quiet"}).code, 0);
  const auto rows = run_json({"show", "--format", "json"});
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0]["objective"], "time");
  EXPECT_TRUE(rows[0]["joules"].is_null());
  EXPECT_EQ(rows[0]["state"], "");
}

}  // namespace
}  // namespace fourtune::test
