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
void real_comes_back(const char* descr, const std::vector<T>& values) {
  const test::ScratchFolder folder;
  const auto path = folder / "array.npy";
  write_npy(path, descr, {static_cast<std::int64_t>(values.size())}, values.data(), values.size() * sizeof(T));
  EXPECT_EQ(std::filesystem::file_size(path) % 64, (values.size() * sizeof(T)) % 64);
  const NpyArray array = read_npy(path);
  EXPECT_FALSE(array.is_complex) << descr;
  EXPECT_EQ(array.shape, std::vector<std::int64_t>{static_cast<std::int64_t>(values.size())});
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
  EXPECT_TRUE(array.is_complex) << descr;
  ASSERT_EQ(array.values.size(), values.size()) << descr;
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(array.values[i], std::complex<double>(values[i])) << descr;
}

TEST(Npy, EveryTypeComesBack) {
  real_comes_back<float>("<f4", {1.5F, -2.25F, 7});
  real_comes_back<double>("<f8", {0.1, -1e300});
  complex_comes_back<float>("<c8", {{1.5F, -2}, {0, 3.25F}});
  complex_comes_back<double>("<c16", {{0.1, -0.2}, {1e-300, 4}});
}

// Element (i, j, k) of a 2 x 3 x 4 array, in the order of Fortran: the first index runs fastest.
TEST(Npy, ArraysOfFortranComeBackInTheOrderOfC) {
  const test::ScratchFolder folder;
  std::vector<double> values;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) values.push_back(100 * i + 10 * j + k);
  std::string text = npy_header("<f8", {2, 3, 4});
  text.replace(text.find("False"), 5, "True ");
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  test::write_text(folder / "array.npy", text);
  const NpyArray array = read_npy(folder / "array.npy");
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 3, 4}));
  ASSERT_EQ(array.values.size(), 24u);
  for (std::size_t at = 0; at < 24; ++at)
    EXPECT_EQ(array.values[at], 100.0 * static_cast<double>(at / 12) + 10.0 * static_cast<double>(at / 4 % 3) +
                                    static_cast<double>(at % 4));
  test::write_text(folder / "short.npy", text.substr(0, text.size() - 1));
  EXPECT_THROW(read_npy(folder / "short.npy"), Error);
}

TEST(Npy, OtherVersionsAndDamagedHeadersAreRefusedByName) {
  const test::ScratchFolder folder;
  const double value = 0.5;
  std::string whole = npy_header("<f8", {1});
  whole.append(reinterpret_cast<const char*>(&value), sizeof value);
  const auto said = [&](const std::string& text) -> std::string {
    test::write_text(folder / "array.npy", text);
    try {
      return read_npy(folder / "array.npy").values.at(0) == 0.5 ? "read" : "another value";
    } catch (const Error& error) {
      return error.what();
    }
  };
  const auto holds = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_EQ(said(whole), "read");
  // From version 2 on the header's length has four bytes.
  for (const char version : {2, 3}) {
    std::string later = whole;
    later[6] = version;
    later.insert(10, 2, '\0');
    EXPECT_EQ(said(later), "read") << int{version};
  }
  for (const char version : {0, 4}) {
    std::string other = whole;
    other[6] = version;
    EXPECT_TRUE(holds(said(other), "version")) << said(other);
  }
  EXPECT_TRUE(holds(said("x" + whole.substr(1)), "is not a .npy file"));
  for (const std::size_t size : {std::size_t{9}, std::size_t{10}, std::size_t{40}, whole.size() - 1})
    EXPECT_TRUE(holds(said(whole.substr(0, size)), "is cut short")) << size << ": " << said(whole.substr(0, size));
  std::string longer = whole;
  longer[6] = 2;
  longer.insert(10, "\1\0", 2);  // 65536 bytes and more
  EXPECT_TRUE(holds(said(longer), "too long")) << said(longer);
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
