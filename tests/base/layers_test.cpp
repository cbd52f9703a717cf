// Which folder may include which: the layers of docs/design.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace fourtune::test {
namespace {

namespace fs = std::filesystem;

struct Include {
  std::string file;  // relative to the source tree
  int line = 0;
  std::string name;
  bool quoted = false;
};

std::vector<Include> includes_of(const fs::path& path, const std::string& file) {
  static const std::regex pattern("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"]");
  std::vector<Include> found;
  std::istringstream text(read_text(path));
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    std::smatch match;
    if (std::regex_search(line, match, pattern)) found.push_back({file, number, match[2], match[1] == "\""});
  }
  return found;
}

const std::vector<Include>& all_includes() {
  static const std::vector<Include> all = [] {
    std::vector<Include> list;
    const fs::path root = FOURTUNE_SOURCE_DIR;
    for (const char* top : {"runtime", "generator", "db", "tuner", "tools", "examples", "tests"})
      for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
        const std::string extension = entry.path().extension().string();
        if (extension != ".cpp" && extension != ".h" && extension != ".c" && extension != ".in") continue;
        const auto some = includes_of(entry.path(), fs::relative(entry.path(), root).generic_string());
        list.insert(list.end(), some.begin(), some.end());
      }
    return list;
  }();
  return all;
}

bool starts_with_any(const std::string& text, const std::vector<std::string>& starts) {
  return std::any_of(starts.begin(), starts.end(), [&](const std::string& start) { return text.starts_with(start); });
}

// A folder, and what its files may include of ours; the first row that fits a file counts.
struct Layer {
  std::string folder;
  std::vector<std::string> may;
};
const std::vector<Layer> kLayers{
    {"runtime/include/", {"fourtune/"}},
    {"runtime/base/", {"fourtune/", "runtime/base/"}},
    {"generator/", {"fourtune/", "runtime/base/", "generator/", "fft_", "nufft_", "launch_order_text.h"}},
    {"db/", {"fourtune/", "runtime/base/", "db/", "schema_text.h"}},
    {"runtime/emulated/", {"fourtune/", "runtime/", "generator/", "db/", "embedded_texts.h"}},
    {"runtime/", {"fourtune/", "runtime/", "generator/", "db/"}},
    {"tuner/", {"fourtune/", "runtime/", "generator/", "db/", "tuner/"}},
    {"examples/", {"fourtune/", "examples/"}},
    {"tools/", {"fourtune/", "runtime/", "generator/", "db/", "tuner/", "tools/"}},
    {"tests/", {"fourtune/", "runtime/", "generator/", "db/", "tuner/", "tools/", "examples/", "tests/"}},
};

// Headers of others, and the only folders that may know them.
struct Stranger {
  std::regex header;
  std::vector<std::string> folders;
};
const std::vector<Stranger> kStrangers{
    {std::regex("fftw3.*"), {"runtime/", "tests/", "tools/bench"}},
    {std::regex("sqlite3\\.h"), {"db/", "tools/", "tests/"}},
    {std::regex("(cuda|nvrtc|cufft|cu_|nvJitLink).*"), {"runtime/cuda/"}},
    {std::regex("boost/.*"), {"runtime/emulated/"}},
    {std::regex("(sodium|zstd).*"), {"db/"}},
    {std::regex("hwy/.*"), {"runtime/", "tests/"}},
    {std::regex("CLI/.*"), {"tools/", "examples/"}},
    {std::regex("nlohmann/.*"), {"db/", "runtime/", "tools/", "tuner/", "tests/"}},
    {std::regex("gtest/.*"), {"tests/"}},
};

// Some quote the headers of others too; those live in folders that are not ours.
bool is_ours(const Include& include) {
  if (include.name.starts_with("fourtune/")) return true;
  return include.quoted && !starts_with_any(include.name, {"hwy/", "fmt/", "CLI/", "nlohmann/", "gtest/"});
}

bool generated(const std::string& name) { return name.ends_with("_text.h") || name == "embedded_texts.h"; }

std::string place(const Include& include) {
  return include.file + ":" + std::to_string(include.line) + " includes " + include.name;
}

TEST(Layers, AFolderIncludesOnlyTheFoldersBelowIt) {
  ASSERT_GT(all_includes().size(), 200u);
  for (const Include& include : all_includes()) {
    if (!is_ours(include)) continue;
    const auto layer = std::find_if(kLayers.begin(), kLayers.end(),
                                    [&](const Layer& row) { return include.file.starts_with(row.folder); });
    ASSERT_NE(layer, kLayers.end()) << place(include);
    EXPECT_TRUE(starts_with_any(include.name, layer->may)) << place(include) << ", which its layer may not";
  }
}

TEST(Layers, ForeignHeadersStayInTheirFolders) {
  for (std::size_t i = 0; i < kStrangers.size(); ++i) {
    int seen = 0;
    for (const Include& include : all_includes())
      if (!is_ours(include) && std::regex_match(include.name, kStrangers[i].header)) {
        ++seen;
        EXPECT_TRUE(starts_with_any(include.file, kStrangers[i].folders)) << place(include);
      }
    // CUDA's headers are nowhere: its functions are declared by us and found at run time.
    if (!std::regex_match("cuda", kStrangers[i].header))
      EXPECT_GT(seen, 0) << "stranger " << i << " is misspelt or gone";
  }
}

TEST(Layers, PublicHeadersUseTheStandardLibraryOnly) {
  const std::regex standard("[a-z_]+|stddef\\.h|stdint\\.h");
  int seen = 0;
  for (const Include& include : all_includes()) {
    if (!include.file.starts_with("runtime/include/")) continue;
    ++seen;
    if (!include.quoted) EXPECT_TRUE(std::regex_match(include.name, standard)) << place(include);
  }
  EXPECT_GT(seen, 10);
}

TEST(Layers, TheShippedLibraryHasNothingOfTheEmulator) {
  int seen = 0;
  for (const Include& include : all_includes())
    if (include.name.starts_with("runtime/emulated/")) {
      ++seen;
      EXPECT_TRUE(starts_with_any(include.file, {"runtime/emulated/", "tools/", "tests/"})) << place(include);
    }
  EXPECT_GT(seen, 10);
}

TEST(Layers, EveryIncludeOfOursExists) {
  const fs::path root = FOURTUNE_SOURCE_DIR;
  for (const Include& include : all_includes()) {
    if (!is_ours(include) || generated(include.name)) continue;
    const bool there = fs::exists(root / include.name) || fs::exists(root / "runtime/include" / include.name);
    EXPECT_TRUE(there) << place(include) << " by a path that is not from the root";
  }
}

}  // namespace
}  // namespace fourtune::test
