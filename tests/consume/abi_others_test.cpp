// The binary interfaces of the libraries beside libfourtune: their sonames and symbols, as tests/golden/abi_*.txt have
// them. libfourtune_mpi's changes as libfourtune's does (abi_test.cpp). Those of the others are what programs were
// compiled for that are not ours, so nothing may ever leave them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "fourtune/distributed.h"
#include "fourtune/fourtune.h"
#include "fourtune/fourtune_mpi.h"
#include "tests/support/program.h"

namespace fourtune::test {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

fs::path library(const std::string& name) { return fs::path(FOURTUNE_BUILD_DIR) / "lib" / name; }

Names symbols(const fs::path& file) {
  std::istringstream text(run_program({"nm", "-D", "--defined-only", "--format=posix", file.string()}).out);
  Names names;
  for (std::string line; std::getline(text, line);) names.insert(line.substr(0, line.find(' ')));
  return names;
}

// "" where a library has none.
std::string soname(const fs::path& file) {
  const std::string dynamic = run_program({"readelf", "-d", file.string()}).out, word = "soname: [";
  const std::size_t at = dynamic.find(word);
  if (at == std::string::npos) return "";
  return dynamic.substr(at + word.size(), dynamic.find(']', at) - at - word.size());
}

void expect_golden(const std::string& name, const std::string& head, const Names& names) {
  std::string text = head;
  for (const std::string& one : names) text += "symbol " + one + "\n";
  const fs::path expected = fs::path(FOURTUNE_SOURCE_DIR) / "tests/golden" / ("abi_" + name + ".txt");
  if (std::getenv("FOURTUNE_UPDATE_GOLDEN")) write_text(expected, text);
  EXPECT_EQ(read_text(expected), text) << "the binary interface of " << name
                                       << " changed; if it is meant, run this test once with FOURTUNE_UPDATE_GOLDEN=1";
}

// Like libfourtune's, which it contains, it belongs to a minor version.
TEST(BinaryInterfaceOf, TheLibraryForRanksIsThatOfItsVersion) {
  const fs::path file = library("libfourtune_mpi.so");
  if (!fs::exists(file)) GTEST_SKIP() << "no MPI, so no libfourtune_mpi";
  const std::string version = fourtune_version(), minor = version.substr(0, version.rfind('.'));
  EXPECT_EQ(soname(file), "libfourtune_mpi.so." + minor);
  const Names inside = symbols(library("libfourtune.so")), all = symbols(file);
  ASSERT_FALSE(inside.empty());
  EXPECT_TRUE(std::includes(all.begin(), all.end(), inside.begin(), inside.end()));
  Names more;
  std::set_difference(all.begin(), all.end(), inside.begin(), inside.end(), std::inserter(more, more.end()));
  std::ostringstream head;
  head << "version " << minor << "\n"
       << "struct fourtune_mpi_part " << sizeof(fourtune_mpi_part) << "\n"
       << "struct Part " << sizeof(Part) << "\n"
       << "struct DistributedTransform " << sizeof(DistributedTransform) << "\n";
  expect_golden("mpi", head.str(), more);
}

// The library of each release has the newest one's functions, and the file name as soname, like the peer's.
void expect_dropin(const std::string& name) {
  const std::string file = "lib" + name + ".so";
  const Names newest = symbols(library("dropin/" + file));
  expect_golden(name, "soname " + file + "\n", newest);
  for (const char* release : {"", "2.2", "2.3", "2.4", "2.5"}) {
    const fs::path path = library(fs::path("dropin") / release / file);
    EXPECT_EQ(soname(path), file) << path;
    EXPECT_EQ(symbols(path), newest) << path;
  }
}
TEST(BinaryInterfaceOf, LibfinufftStaysInEveryRelease) { expect_dropin("finufft"); }
TEST(BinaryInterfaceOf, LibcufinufftStaysInEveryRelease) { expect_dropin("cufinufft"); }

// It is loaded by its path, so it has no soname.
TEST(BinaryInterfaceOf, ThePreloadedLibraryStays) {
  const fs::path file = library("libfourtune_cufft.so");
  if (!fs::exists(file)) GTEST_SKIP() << "not built with sanitizers";
  EXPECT_EQ(soname(file), "");
  expect_golden("cufft", "", symbols(file));
}

}  // namespace
}  // namespace fourtune::test
