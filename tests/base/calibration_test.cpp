// Files of calibrations: what is written is read; what is damaged, of another device or of a later program is named.
#include "base/calibration.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "fourtune/status.h"
#include "tests/support/program.h"

namespace fourtune {
namespace {

namespace fs = std::filesystem;
using test::ScratchFolder;

Calibration made_calibration() {
  Calibration out;
  out.traits.backend = "cpu";
  out.traits.name = "Some(R) Processor @ 3 GHz";
  out.traits.isa = "avx2";
  out.traits.cores = 12;
  out.traits.l2_bytes = (std::int64_t{1} << 40) + 1;
  out.traits.clock_hz = 1.98e9;
  double value = 1.1e9;
  for (const RateField& field : rate_fields) {
    out.traits.rates.*field.value = field.unit == "s" ? 1.3e-6 : value;
    out.spread.*field.value = 0.01 * value / 1e9;
    value *= 1.7;
  }
  out.date = "2026-11-25";
  out.program = "fourtune 9.9";
  return out;
}

// Sets FOURTUNE_CALIBRATIONS for one test.
struct Folder {
  Folder() { ::setenv("FOURTUNE_CALIBRATIONS", scratch.path().c_str(), 1); }
  ~Folder() { ::setenv("FOURTUNE_CALIBRATIONS", "", 1); }
  fs::path file(const DeviceTraits& traits) const { return scratch / calibration_name(traits); }
  ScratchFolder scratch;
};

TEST(Calibration, AFileHoldsEverythingThatWasWritten) {
  const ScratchFolder folder;
  const Calibration made = made_calibration();
  const fs::path file = folder / "new" / "folder" / "a.json";
  save(made, file);
  const Calibration read = load_calibration(file);
  EXPECT_EQ(read.date, made.date);
  EXPECT_EQ(read.program, made.program);
  EXPECT_EQ(read.traits.name, made.traits.name);
  EXPECT_EQ(read.traits.cores, made.traits.cores);
  EXPECT_EQ(read.traits.l2_bytes, made.traits.l2_bytes);
  EXPECT_EQ(read.traits.clock_hz, made.traits.clock_hz);
  for (const RateField& field : rate_fields) {
    EXPECT_EQ(read.traits.rates.*field.value, made.traits.rates.*field.value) << field.name;
    EXPECT_EQ(read.spread.*field.value, made.spread.*field.value) << field.name;
  }
  EXPECT_EQ(to_json(read), to_json(made));
  for (const auto& entry : fs::directory_iterator(file.parent_path())) EXPECT_EQ(entry.path(), file);
}

TEST(Calibration, RatesThatWereNotMeasuredStayZero) {
  const ScratchFolder folder;
  Calibration made = made_calibration();
  made.traits.rates.atomics32 = 0;
  save(made, folder / "a.json");
  EXPECT_EQ(test::read_text(folder / "a.json").find("atomics32"), std::string::npos);
  EXPECT_EQ(load_calibration(folder / "a.json").traits.rates.atomics32, 0);
}

TEST(Calibration, RefusesWhatIsNoneAndSaysWhy) {
  const ScratchFolder folder;
  const std::string whole = to_json(made_calibration());
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  };
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "no calibration"},
      {"[1, 2]", "no calibration"},
      {"{\"version\": 1}", "no calibration"},
      {whole.substr(0, whole.size() / 2), "no calibration"},
      {std::string(60000, '['), "no calibration"},
      {std::string(100000, ' '), "more than"},
      {changed("\"fourtune_calibration\": 1", "\"fourtune_calibration\": 2"), "version 2"},
      {changed("\"fourtune_calibration\": 1", "\"fourtune_calibration\": 0"), "first one is 1"},
      {changed("\"fourtune_calibration\": 1", "\"fourtune_calibration\": \"1\""), "version is not a number"},
      {changed("\"date\"", "\"dote\""), "'date'"},
      {changed("\"rates\"", "\"rotes\""), "'rates'"},
      {changed("\"cores\": 12", "\"cores\": -1"), "'cores'"},
      {changed("\"cores\": 12", "\"cores\": 1e300"), "'cores'"},
      {changed("\"cores\": 12", "\"cores\": 0"), "'cores'"},
      {changed("\"backend\": \"cpu\"", "\"backend\": \"cuda\""), "'memory_bytes'"},
      {changed("\"backend\": \"cpu\"", "\"backend\": \"abacus\""), "'abacus'"},
      {changed("\"value\": 1.3e-06", "\"value\": 100"), "'value' of launch"},
      {changed("\"value\": 1.3e-06", "\"value\": -1"), "'value' of launch"},
      {changed("\"value\": 1.3e-06", "\"value\": null"), "'value' of launch"},
      {changed("Some(R) Processor", std::string(300, 'x')), "longer than"}};
  for (const auto& [text, reason] : cases) {
    test::write_text(folder / "bad.json", text);
    try {
      load_calibration(folder / "bad.json");
      ADD_FAILURE() << "accepted: " << text.substr(0, 100);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument);
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("bad.json"), std::string::npos) << error.what();
    }
  }
}

TEST(Calibration, AnyDamageIsEitherHarmlessOrRefused) {
  const ScratchFolder folder;
  const std::string whole = to_json(made_calibration());
  const std::string letters = "{}[]\",:0-9eE.\x80\xff\n";
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); i += 3) {
    std::string text = whole;
    text[i] = letters[i % letters.size()];
    test::write_text(folder / "bad.json", text);
    try {
      const Calibration read = load_calibration(folder / "bad.json");
      EXPECT_GE(read.traits.cores, 1);
      for (const RateField& field : rate_fields) EXPECT_GE(read.traits.rates.*field.value, 0);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(Calibration, FilesThatCannotBeReadOrWrittenAreNamed) {
  const ScratchFolder folder;
  EXPECT_THROW(load_calibration(folder / "none.json"), Error);
  EXPECT_THROW(load_calibration(folder.path()), Error) << "a folder";
  test::write_text(folder / "file", "");
  try {
    save(made_calibration(), folder / "file" / "a.json");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::io);
    EXPECT_NE(std::string(error.what()).find("a.json"), std::string::npos) << error.what();
  }
}

TEST(Calibration, NamesAreOfDeviceAndInstructionSet) {
  DeviceTraits traits = made_calibration().traits;
  EXPECT_EQ(calibration_name(traits), "cpu-some-r-processor-3-ghz-avx2.json");
  traits.name = "../../etc/passwd";
  EXPECT_EQ(calibration_name(traits).find('/'), std::string::npos);
  traits.name = std::string(10000, 'n');
  EXPECT_LT(calibration_name(traits).size(), 255u);
}

TEST(KnownCalibration, IsThatOfTheSameDevice) {
  const Folder folder;
  const Calibration made = made_calibration();
  EXPECT_EQ(known_calibration(made.traits).date, "") << "there is none";
  save(made, folder.file(made.traits));
  EXPECT_EQ(known_calibration(made.traits).date, made.date) << "what was saved is seen";
  EXPECT_EQ(known_calibration(made.traits).rates.load, made.traits.rates.load);
  DeviceTraits other = made.traits;
  other.isa = "avx512";
  EXPECT_EQ(known_calibration(other).rates.load, 0);
  EXPECT_EQ(known_calibration(other).why, "");
}

TEST(KnownCalibration, WhatIsOfNoUseCostsNothingButAReason) {
  const Folder folder;
  Calibration made = made_calibration();
  test::write_text(folder.file(made.traits), "damaged");
  const KnownCalibration damaged = known_calibration(made.traits);
  EXPECT_EQ(damaged.rates.load, 0);
  EXPECT_NE(damaged.why.find("no calibration"), std::string::npos) << damaged.why;
  DeviceTraits second = made.traits;
  second.name = "Other";
  save(made, folder.scratch / calibration_name(second));
  const KnownCalibration foreign = known_calibration(second);
  EXPECT_EQ(foreign.rates.load, 0);
  EXPECT_NE(foreign.why.find("of another device"), std::string::npos) << foreign.why;
}

TEST(KnownCalibration, AnEmptyVariableTurnsThemOff) {
  ::setenv("FOURTUNE_CALIBRATIONS", "", 1);
  EXPECT_TRUE(calibration_folder().empty());
  const KnownCalibration known = known_calibration(made_calibration().traits);
  EXPECT_EQ(known.date + known.why, "");
}

TEST(KnownCalibration, ManyThreadsMayAsk) {
  const Folder folder;
  const Calibration made = made_calibration();
  save(made, folder.file(made.traits));
  std::vector<std::thread> threads;
  std::vector<double> seen(8);
  for (std::size_t i = 0; i < seen.size(); ++i)
    threads.emplace_back([&, i] { seen[i] = known_calibration(made.traits).rates.flops32; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen, std::vector<double>(8, made.traits.rates.flops32));
}

}  // namespace
}  // namespace fourtune
