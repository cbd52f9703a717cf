// The binary interface of the shared library: its symbols and the layouts of its structures, as tests/golden/abi.txt
// has them. A change needs a new minor version while the major one is 0, since SOVERSION follows it
// (cmake/library.cmake).
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include "fourtune/device_traits.h"
#include "fourtune/fourtune.h"
#include "fourtune/problem.h"
#include "fourtune/transform.h"
#include "tests/support/program.h"

namespace fourtune::test {
namespace {

namespace fs = std::filesystem;

// NOLINTBEGIN(bugprone-sizeof-expression,bugprone-sizeof-container): the sizes of pointers and containers are meant
// "field offset size" of every field, in order.
std::string layouts() {
  std::ostringstream text;
#define FIELD(type, field) text << "  " #field " " << offsetof(type, field) << " " << sizeof(type::field) << "\n"
#define STRUCT(type) text << "struct " #type " " << sizeof(type) << "\n"
  STRUCT(fourtune_options);
  FIELD(fourtune_options, size);
  FIELD(fourtune_options, databases);
  FIELD(fourtune_options, database_count);
  FIELD(fourtune_options, backend);
  FIELD(fourtune_options, device);
  FIELD(fourtune_options, threads);
  FIELD(fourtune_options, plan);
  FIELD(fourtune_options, deterministic);
  FIELD(fourtune_options, stream);
  FIELD(fourtune_options, mode_order);
  FIELD(fourtune_options, clamp_tolerance);
  FIELD(fourtune_options, trust_points);
  FIELD(fourtune_options, only);
  FIELD(fourtune_options, distinct_points);
  FIELD(fourtune_options, packs);
  FIELD(fourtune_options, pack_count);
  FIELD(fourtune_options, trusted_keys);
  FIELD(fourtune_options, trusted_key_count);
  FIELD(fourtune_options, default_databases);
  FIELD(fourtune_options, misses);
  FIELD(fourtune_options, devices);
  FIELD(fourtune_options, exact_points);
  STRUCT(fourtune_pack);
  FIELD(fourtune_pack, data);
  FIELD(fourtune_pack, size);
  FIELD(fourtune_pack, name);
  STRUCT(Options);
  FIELD(Options, default_databases);
  FIELD(Options, databases);
  FIELD(Options, backend);
  FIELD(Options, device);
  FIELD(Options, threads);
  FIELD(Options, plan);
  FIELD(Options, deterministic);
  FIELD(Options, stream);
  FIELD(Options, mode_order);
  FIELD(Options, clamp_tolerance);
  FIELD(Options, trust_points);
  FIELD(Options, exact_points);
  FIELD(Options, only);
  FIELD(Options, distinct_points);
  STRUCT(Points);
  FIELD(Points, m);
  FIELD(Points, x);
  FIELD(Points, y);
  FIELD(Points, z);
  FIELD(Points, k);
  FIELD(Points, s);
  FIELD(Points, t);
  FIELD(Points, u);
  STRUCT(Bounds);
  FIELD(Bounds, low);
  FIELD(Bounds, high);
  STRUCT(StageTime);
  STRUCT(MemoryUse);
  STRUCT(Transform);
  STRUCT(ArrayLayout);
  STRUCT(Problem);
  STRUCT(DeviceTraits);
  STRUCT(Error);
#undef FIELD
#undef STRUCT
  // NOLINTEND(bugprone-sizeof-expression,bugprone-sizeof-container)
  return text.str();
}

std::set<std::string> symbols() {
  const fs::path library = fs::path(FOURTUNE_BUILD_DIR) / "lib" / "libfourtune.so";
  std::istringstream text(run_program({"nm", "-D", "--defined-only", "--format=posix", library.string()}).out);
  std::set<std::string> names;
  for (std::string line; std::getline(text, line);) names.insert("symbol " + line.substr(0, line.find(' ')));
  return names;
}

TEST(BinaryInterface, IsThatOfItsVersion) {
  std::string text = std::string("version ") + fourtune_version() + "\n" + layouts();
  text.replace(text.find('\n') - 2, 2, "");  // the patch level may change
  for (const std::string& name : symbols()) text += name + "\n";
  const fs::path expected = fs::path(FOURTUNE_SOURCE_DIR) / "tests/golden/abi.txt";
  if (std::getenv("FOURTUNE_UPDATE_GOLDEN")) write_text(expected, text);
  EXPECT_EQ(read_text(expected), text)
      << "the binary interface changed: raise the minor version, say so in CHANGELOG.md, and run this test once with "
         "FOURTUNE_UPDATE_GOLDEN=1";
}

TEST(BinaryInterface, ProgramsAskForTheLibraryOfTheirMinorVersion) {
  const fs::path library = fs::path(FOURTUNE_BUILD_DIR) / "lib" / "libfourtune.so";
  const std::string version = fourtune_version();
  const std::string name = "libfourtune.so." + version.substr(0, version.rfind('.'));
  const std::string dynamic = run_program({"readelf", "-d", library.string()}).out;
  EXPECT_NE(dynamic.find("soname: [" + name + "]"), std::string::npos) << dynamic;
}

}  // namespace
}  // namespace fourtune::test
