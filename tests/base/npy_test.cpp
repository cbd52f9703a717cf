// Arrays of NumPy: every type comes back, its last element too, and what cannot be written is an error.
#include "base/npy.h"

#include <gtest/gtest.h>

#include <complex>
#include <filesystem>
#include <fstream>
#include <vector>

#include "fourtune/status.h"
#include "tests/support/program.h"

namespace fourtune {
namespace {

template <class T>
void comes_back(const char* descr, const std::vector<T>& values) {
  const test::ScratchFolder folder;
  const auto path = folder / "array.npy";
  write_npy(path, descr, {static_cast<std::int64_t>(values.size())}, values.data(), values.size() * sizeof(T));
  EXPECT_EQ(std::filesystem::file_size(path) % 64, (values.size() * sizeof(T)) % 64);
  const NpyArray array = read_npy(path);
  ASSERT_EQ(array.values.size(), values.size()) << descr;
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(array.values[i], std::complex<double>(std::complex<T>(values[i]))) << descr << " " << i;
}
template <class T>
void complex_comes_back(const char* descr, const std::vector<std::complex<T>>& values) {
  const test::ScratchFolder folder;
  const auto path = folder / "array.npy";
  write_npy(path, descr, {static_cast<std::int64_t>(values.size())}, values.data(), values.size() * sizeof(values[0]));
  const NpyArray array = read_npy(path);
  ASSERT_EQ(array.values.size(), values.size()) << descr;
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(array.values[i], std::complex<double>(values[i])) << descr;
}

TEST(Npy, EveryTypeComesBack) {
  comes_back<float>("<f4", {1.5F, -2.25F, 7});
  comes_back<double>("<f8", {0.1, -1e300});
  complex_comes_back<float>("<c8", {{1.5F, -2}, {0, 3.25F}});
  complex_comes_back<double>("<c16", {{0.1, -0.2}, {1e-300, 4}});
}

TEST(Npy, ADeviceWithoutRoomIsAnError) {
  const std::filesystem::path full = "/dev/full";
  if (!std::filesystem::exists(full)) GTEST_SKIP() << "NOT TESTED: there is no /dev/full";
  const double value = 1;
  try {
    write_npy(full, "<f8", {1}, &value, sizeof value);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::io);
  }
}

}  // namespace
}  // namespace fourtune
